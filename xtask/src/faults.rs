//! `cargo xtask faults`: checks that are killed, signalled, flooded and starved at random. Each must end
//! soon, by an exit code that it is allowed, and leave no process, file or port behind.

use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A variable of every process of a round, by which those are found that are left behind.
const MARK: &str = "EVERYPATH_FAULTS_ROUND";
/// Whatever happens to it, a check ends within so much time.
const PATIENCE: Duration = Duration::from_secs(10);
/// What it started ends within so much time after it.
const AFTERMATH: Duration = Duration::from_secs(3);
/// A check that nothing happens to ends by itself after so many seconds.
const SECONDS: &str = "0.7";
/// A signal that comes sooner may come before the checker is ready for it, and before it has started
/// anything.
const READY: Duration = Duration::from_millis(50);
/// The port of programs with a peer.
const PORT: u16 = 7833;
/// The files that a check may leave: what it was asked for.
const RESULTS: [&str; 5] = [
    "everypath-trace.json",
    "everypath-trace.json.old",
    "result.json",
    "results.xml",
    "results.sarif",
];

/// Programs under `programs/`, and the options that they are checked with.
const CHECKS: [(&str, &str); 7] = [
    ("philosophers.c", ""),
    ("philosophers.c", "--strategy random --keep-going --max-executions 1000000"),
    ("buffer.c", "--keep-going"),
    ("buffer.c", "--state-matching --keep-going"),
    ("classics/queue.c", "--keep-going --threads 2 --backend threads"),
    ("deposit.c", "--keep-going --restart fork --reduction none"),
    ("tcp/alphabet_client.c", "--keep-going --peer './alphabet_server 7833'"),
];
/// The peer of the last one.
const PEER: &str = "tcp/alphabet_server.c";

/// What happens to a check.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// A signal to the checker.
    Signal(&'static str),
    /// A signal to one of its descendants.
    Descendant(&'static str),
    /// A limit of the shell's.
    Starved(&'static str),
    /// Nobody reads what it prints.
    Deaf,
    /// An option that limits it.
    Limited(&'static str),
}

const FAULTS: [Fault; 16] = [
    Fault::Signal("INT"),
    Fault::Signal("TERM"),
    Fault::Signal("HUP"),
    Fault::Signal("KILL"),
    Fault::Signal("QUIT"),
    Fault::Descendant("KILL"),
    Fault::Descendant("TERM"),
    Fault::Descendant("STOP"),
    Fault::Descendant("SEGV"),
    Fault::Starved("-n 24"),
    Fault::Starved("-v 2000000"),
    Fault::Starved("-f 1"),
    Fault::Starved("-s 256"),
    Fault::Deaf,
    Fault::Limited("--max-memory 60M"),
    Fault::Limited("--json result.json --junit results.xml --sarif results.sarif"),
];

/// Runs so many rounds with `everypath`; every round follows from the seed.
pub(crate) fn faults(everypath: &Path, programs: &Path, rounds: u64, seed: u64) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let sources = CHECKS.iter().map(|(source, _)| *source).chain([PEER]);
    for source in sources {
        build(&programs.join(source), folder.path())?;
    }
    let mut random = Random(seed);
    for round in 0..rounds {
        let (source, options) = CHECKS[random.below(CHECKS.len())];
        let fault = FAULTS[random.below(FAULTS.len())];
        let delay = Duration::from_millis(random.below(500) as u64);
        let context = || format!("round {round} of seed {seed}: {source} {options}, {fault:?}");
        let round = Round { everypath, built: folder.path(), mark: format!("{seed}-{round}") };
        round.run(source, options, fault, delay).with_context(context)?;
    }
    Ok(())
}

fn build(source: &Path, folder: &Path) -> Result<()> {
    let name = source.file_stem().context("a source has a name")?;
    let built = folder.join(name);
    let status =
        Command::new("cc").args(["-g", "-pthread", "-o"]).arg(built).arg(source).status()?;
    ensure!(status.success(), "cc {}: {status}", source.display());
    Ok(())
}

/// Numbers from a seed: splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}

struct Round<'a> {
    everypath: &'a Path,
    built: &'a Path,
    mark: String,
}

impl Round<'_> {
    fn run(&self, source: &str, options: &str, fault: Fault, delay: Duration) -> Result<()> {
        let (folder, temporary) = (tempfile::tempdir()?, tempfile::tempdir()?);
        for program in fs::read_dir(self.built)? {
            let program = program?;
            fs::hard_link(program.path(), folder.path().join(program.file_name()))?;
        }
        let before = names(folder.path())?;
        let mut child = self.start(source, options, fault, [folder.path(), temporary.path()])?;
        pause(delay);
        match fault {
            Fault::Signal(signal) => send(signal, child.id()),
            Fault::Descendant(signal) => {
                if let Some(descendant) = self.marked().into_iter().find(|pid| *pid != child.id()) {
                    send(signal, descendant);
                }
            }
            Fault::Deaf => drop(child.stdout.take()),
            Fault::Starved(_) | Fault::Limited(_) => {}
        }
        let mut said = String::new();
        let mut stderr = child.stderr.take().context("it is a pipe")?;
        let mut stdout = child.stdout.take();
        let status = ended(&mut child)?;
        // A descendant that is left behind may hold the pipe.
        self.nothing_runs()?;
        stderr.read_to_string(&mut said)?;
        if let Some(stdout) = &mut stdout {
            stdout.read_to_string(&mut said)?;
        }
        let is_unready = delay < READY && matches!(fault, Fault::Signal(_));
        if !(is_unready && status.signal().is_some()) {
            is_allowed(status, fault, &said)?;
        }
        let left: Vec<String> = names(folder.path())?
            .into_iter()
            .filter(|name| !before.contains(name) && !RESULTS.contains(&name.as_str()))
            .chain(names(temporary.path())?)
            .collect();
        ensure!(left.is_empty(), "files are left behind: {}", left.join(", "));
        TcpListener::bind(("127.0.0.1", PORT)).with_context(|| format!("port {PORT} is in use"))?;
        Ok(())
    }

    fn start(
        &self,
        source: &str,
        options: &str,
        fault: Fault,
        [folder, temporary]: [&Path; 2],
    ) -> Result<Child> {
        let name = Path::new(source).file_stem().and_then(|name| name.to_str());
        let name = name.context("a source has a name")?;
        let limit = match fault {
            Fault::Starved(limit) => format!("ulimit {limit}; "),
            _ => String::new(),
        };
        let more = match fault {
            Fault::Limited(option) => option,
            _ => "",
        };
        let arguments = if options.contains("--peer") { " 7833 2 2" } else { "" };
        let everypath = self.everypath.display();
        let command = format!(
            "{limit}exec '{everypath}' check --max-seconds {SECONDS} {options} {more} -- \
             ./{name}{arguments}"
        );
        let child = Command::new("sh")
            .args(["-c", &command])
            .env(MARK, &self.mark)
            .env("TMPDIR", temporary)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        child.with_context(|| format!("cannot run {command}"))
    }

    /// The processes of this round that run.
    fn marked(&self) -> Vec<u32> {
        let mark = format!("{MARK}={}", self.mark);
        let is_marked = |pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|variable| variable == mark.as_bytes())
        };
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let mut marked: Vec<u32> = pids.filter(is_marked).collect();
        marked.sort_unstable();
        marked
    }

    fn nothing_runs(&self) -> Result<()> {
        let deadline = now() + AFTERMATH;
        loop {
            let left = self.marked();
            if left.is_empty() {
                return Ok(());
            }
            if now() > deadline {
                left.iter().for_each(|&pid| send("KILL", pid));
                bail!("processes are left behind: {left:?}");
            }
            pause(Duration::from_millis(20));
        }
    }
}

/// Waits for a process, whose output nobody reads: that fits into a pipe.
fn ended(child: &mut Child) -> Result<ExitStatus> {
    let deadline = now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if now() > deadline {
            send("KILL", child.id());
            bail!("it does not end within {} seconds", PATIENCE.as_secs());
        }
        pause(Duration::from_millis(10));
    }
}

/// Whether a check may end like that: by a verdict, or by the signal that it was sent.
fn is_allowed(status: ExitStatus, fault: Fault, said: &str) -> Result<()> {
    let is_killed = matches!(fault, Fault::Signal("KILL" | "QUIT"));
    match status.code() {
        Some(0 | 1 | 3) | None if is_killed || status.code().is_some() => {}
        // What is printed and read by nobody, or does not fit, is an error of its own.
        Some(2) if matches!(fault, Fault::Deaf | Fault::Starved(_)) => {}
        _ => bail!("{status}: {said}"),
    }
    ensure!(!said.contains("panicked") && !said.contains("internal error"), "{said}");
    Ok(())
}

/// A process that has just ended need not be there any more.
fn send(signal: &str, pid: u32) {
    let kill = format!("-{signal}");
    let _ = Command::new("kill").arg(kill).arg(pid.to_string()).stderr(Stdio::null()).status();
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let paths: std::io::Result<Vec<PathBuf>> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect();
    let name = |path: PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(paths?.into_iter().filter_map(name).collect())
}

#[expect(
    clippy::disallowed_methods,
    reason = "faults come at random moments, and ends are polled for"
)]
fn pause(time: Duration) {
    thread::sleep(time);
}

#[expect(clippy::disallowed_methods, reason = "a check that does not end is a failure")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_and_signals_that_were_sent_are_allowed() {
        let code = |code: i32| ExitStatus::from_raw(code << 8);
        let killed = ExitStatus::from_raw(9);
        let (interrupt, kill) = (Fault::Signal("INT"), Fault::Signal("KILL"));
        for status in [code(0), code(1), code(3)] {
            assert!(is_allowed(status, interrupt, "").is_ok());
        }
        assert!(is_allowed(killed, kill, "").is_ok());
        assert!(is_allowed(killed, interrupt, "").is_err());
        assert!(is_allowed(code(70), interrupt, "").is_err());
        assert!(is_allowed(code(2), interrupt, "").is_err());
        assert!(is_allowed(code(3), interrupt, "internal error: no").is_err());
    }

    #[test]
    fn processes_are_found_by_their_mark() {
        let round = Round {
            everypath: Path::new(""),
            built: Path::new(""),
            mark: format!("test-{}", std::process::id()),
        };
        let mut child = Command::new("sh")
            .args(["-c", "echo; read line"])
            .env(MARK, &round.mark)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is one");
        // A process that was just started has no environment yet: it has one when it speaks.
        let mut spoken = [0];
        let output = child.stdout.as_mut().expect("it is piped");
        output.read_exact(&mut spoken).expect("it speaks");
        assert_eq!(round.marked(), [child.id()]);
        child.kill().expect("it runs");
        child.wait().expect("it was started here");
        assert!(round.nothing_runs().is_ok());
    }
}
