//! Nothing is left behind: no process, no file, no shared memory, however a check ends. Ports end
//! with the processes that hold them.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const TRACE: &str = "everypath-trace.json";
const LITTER: &str = "/dev/shm/everypath-litter";
/// The ways to put a program back; the last two make processes all the time.
const RESTARTS: [&str; 4] = ["copy", "tracked", "fork", "exec"];
/// More executions than can be run while a test waits.
const ENDLESS: &str = "1000000000";
/// A process that has not ended after a minute never will.
const PATIENCE: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };
/// So much processor time, in hundredths of a second, is spent in executions, not on starting.
const IN_THE_MIDDLE: u64 = 20;

/// The program in a folder of its own, an empty folder to work in and another for temporary files.
struct Place {
    program: PathBuf,
    work: PathBuf,
    temporary: PathBuf,
    _folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [program, work, temporary] =
            ["program", "work", "temporary"].map(|name| folder.path().join(name));
        fs::create_dir(&work).unwrap();
        fs::create_dir(&temporary).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/littering.c");
        let compiled = Command::new("cc").arg("-o").arg(&program).arg(source).status().unwrap();
        assert!(compiled.success());
        Place { program, work, temporary, _folder: folder }
    }

    fn check(&self, options: &[&str], ending: &str) -> Child {
        Command::new(env!("CARGO_BIN_EXE_everypath"))
            .args(["check", "--strategy", "random", "--threads", "2"])
            .args(options)
            .arg("--")
            .arg(&self.program)
            .arg(ending)
            .current_dir(&self.work)
            .env("TMPDIR", &self.temporary)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap()
    }

    /// The processes with the program on their command line, other than the checker.
    fn processes(&self, checker: &Child) -> Vec<Pid> {
        let ours = |process: &u32| {
            let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).into_owned();
            *process != checker.id() && line.contains(self.program.to_str().unwrap())
        };
        let entries = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().file_name());
        let numbers = entries.filter_map(|name| name.to_str()?.parse().ok());
        numbers.filter(ours).filter_map(|process| Pid::from_raw(process as i32)).collect()
    }

    /// Waits until the executions are well under way.
    fn await_the_middle(&self, checker: &mut Child) {
        loop {
            assert!(checker.try_wait().unwrap().is_none(), "it ended too soon");
            let processes = self.processes(checker);
            let spent = processes.iter().map(|pid| processor_time(pid.as_raw_nonzero().get()));
            let spent: u64 = spent.sum::<u64>() + processor_time(checker.id() as i32);
            if !processes.is_empty() && spent >= IN_THE_MIDDLE {
                return;
            }
            std::thread::yield_now();
        }
    }

    /// Waits until no process is left, however many more are found on the way.
    fn await_the_end_of_all(&self, checker: &Child) {
        loop {
            let processes = self.processes(checker);
            if processes.is_empty() {
                return;
            }
            for process in processes {
                // What cannot be opened has ended.
                if let Ok(process) = pidfd_open(process, PidfdFlags::empty()) {
                    await_end(&process);
                }
            }
        }
    }

    /// No file is there that was not there before, `expected` in the working folder aside.
    fn is_clean(&self, expected: &[&str]) {
        let names = |folder: &Path| -> Vec<_> {
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
        };
        assert_eq!(names(&self.work), expected);
        assert!(names(&self.temporary).is_empty(), "{:?}", names(&self.temporary));
        assert!(!Path::new(LITTER).exists());
    }
}

fn await_end(process: &OwnedFd) {
    let ended = poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&PATIENCE)).unwrap();
    assert_eq!(ended, 1, "a process outlives the checker");
}

/// The processor time of a process and its children that ended, in hundredths of a second.
fn processor_time(process: i32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Behind the name, which may contain anything, come the state and numbers.
    let (_, numbers) = text.rsplit_once(')').unwrap_or_default();
    let times = numbers.split_whitespace().skip(11).take(4);
    times.map(|number| number.parse::<u64>().unwrap()).sum()
}

#[test]
fn whatever_the_verdict_nothing_is_left() {
    let place = Place::new();
    for restart in RESTARTS {
        for (ending, code, files) in
            [("success", 0, &[][..]), ("violation", 1, &[TRACE]), ("inconclusive", 3, &[])]
        {
            let options = ["--max-executions", "20", "--restart", restart];
            let mut checker = place.check(&options, ending);
            let status = checker.wait().unwrap();
            assert_eq!(status.code(), Some(code), "{restart} {ending}");
            // The checker waits for its processes; nobody has to wait for them now.
            assert!(place.processes(&checker).is_empty(), "{restart} {ending}");
            place.is_clean(files);
            files.iter().for_each(|file| fs::remove_file(place.work.join(file)).unwrap());
        }
    }
}

#[test]
fn an_interrupted_check_leaves_nothing() {
    let place = Place::new();
    for restart in RESTARTS {
        for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
            let options = ["--max-executions", ENDLESS, "--restart", restart];
            let mut checker = place.check(&options, "success");
            place.await_the_middle(&mut checker);
            // As a terminal does: the whole group of the checker.
            kill_process_group(Pid::from_child(&checker), signal).unwrap();
            let output = checker.stdout.take().unwrap();
            let text = std::io::read_to_string(output).unwrap();
            assert_eq!(checker.wait().unwrap().code(), Some(3), "{restart} {signal:?} {text}");
            assert!(text.contains("interrupted"), "{restart} {signal:?} {text}");
            assert!(place.processes(&checker).is_empty(), "{restart} {signal:?}");
            place.is_clean(&[]);
        }
    }
}

#[test]
fn an_execution_that_never_ends_is_left_by_an_interrupt() {
    let place = Place::new();
    for restart in RESTARTS {
        // With accesses recorded it would be seen that its state repeats.
        let options = ["--memory", "off", "--watchdog", "86400", "--restart", restart];
        let mut checker = place.check(&options, "forever");
        place.await_the_middle(&mut checker);
        kill_process(Pid::from_child(&checker), Signal::INT).unwrap();
        assert_eq!(checker.wait().unwrap().code(), Some(3), "{restart}");
        // What a worker forked is killed with it, but nobody waits for it.
        place.await_the_end_of_all(&checker);
        place.is_clean(&[]);
    }
}

#[test]
fn a_checker_that_is_killed_while_it_asks_an_oracle_leaves_nothing() {
    let place = Place::new();
    let asked = place.work.join("asked");
    // The oracle says that it runs, and then never ends.
    let oracle = format!("touch '{}'; exec tail -f /dev/null", asked.display());
    for signal in [Signal::KILL, Signal::INT] {
        let mut checker = place.check(&["--oracle", &oracle], "success");
        while !asked.exists() {
            assert!(checker.try_wait().unwrap().is_none(), "it ended too soon");
            std::thread::yield_now();
        }
        kill_process(Pid::from_child(&checker), signal).unwrap();
        checker.wait().unwrap();
        place.await_the_end_of_all(&checker);
        // Another process cleans up, and nobody can wait for it.
        while fs::read_dir(&place.temporary).unwrap().next().is_some() {
            std::thread::yield_now();
        }
        place.is_clean(&["asked"]);
        fs::remove_file(&asked).unwrap();
    }
}

#[test]
fn a_killed_checker_takes_its_processes_along() {
    let place = Place::new();
    for restart in RESTARTS {
        let options = ["--max-executions", ENDLESS, "--restart", restart];
        let mut checker = place.check(&options, "success");
        place.await_the_middle(&mut checker);
        kill_process(Pid::from_child(&checker), Signal::KILL).unwrap();
        checker.wait().unwrap();
        place.await_the_end_of_all(&checker);
        place.is_clean(&[]);
    }
}

/// Neither a checker that is killed nor one that is asked to end leaves a process of a system behind,
/// even if one of them never ends by itself.
#[test]
fn several_processes_end_with_their_checker() {
    let place = Place::new();
    for (other, options) in
        [("success", ["--max-executions", ENDLESS]), ("forever", ["--watchdog", "86400"])]
    {
        // With accesses recorded it would be seen that the state of the second one repeats.
        let options = [&options[..], &["--memory", "off"]].concat();
        for signal in [Signal::KILL, Signal::TERM] {
            let with = format!("{} {other}", place.program.display());
            let options = [&options[..], &["--with", &with]].concat();
            let mut checker = place.check(&options, "success");
            place.await_the_middle(&mut checker);
            kill_process(Pid::from_child(&checker), signal).unwrap();
            let ended = checker.wait().unwrap();
            assert!(signal == Signal::KILL || ended.code() == Some(3), "{other} {ended}");
            place.await_the_end_of_all(&checker);
            place.is_clean(&[]);
        }
    }
}

/// Whatever a checker of several processes does when it is stopped, once they run: repeating an
/// execution, or looking for one that is simpler.
#[test]
fn a_replay_or_a_search_for_less_that_is_stopped_leaves_nothing() {
    let place = Place::new();
    let with = format!("{} success", place.program.display());
    let find = || place.check(&["--with", &with], "violation");
    assert_eq!(find().wait().unwrap().code(), Some(1));
    let repeat = || {
        Command::new(env!("CARGO_BIN_EXE_everypath"))
            .args(["replay", TRACE])
            .current_dir(&place.work)
            .env("TMPDIR", &place.temporary)
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let doing: [&dyn Fn() -> Child; 2] = [&find, &repeat];
    for (what, start) in doing.iter().enumerate() {
        for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
            // Every execution violates: what is done after the first is done to the violation.
            for spent in [0, 2, 8] {
                let mut checker = start();
                while checker.try_wait().unwrap().is_none() {
                    let is_due = processor_time(checker.id() as i32) >= spent;
                    if is_due && !place.processes(&checker).is_empty() {
                        break;
                    }
                    std::thread::yield_now();
                }
                // It may have come to its end before.
                let _ = kill_process(Pid::from_child(&checker), signal);
                let code = checker.wait().unwrap().code();
                assert!(matches!(code, None | Some(1 | 3)), "{what} {signal:?}: {code:?}");
                place.await_the_end_of_all(&checker);
                place.is_clean(&[TRACE]);
            }
        }
    }
}
