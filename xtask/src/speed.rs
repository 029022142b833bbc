//! `cargo xtask speed`: how fast results can be looked at, as a table: writing a page of 5,000 steps,
//! stepping through it in a browser, answers of `everypath serve`, and what it costs an exploration that
//! somebody watches it.
//! [docs/performance.md](../../docs/performance.md) has the figures.

#![expect(clippy::print_stdout, reason = "a table is what it is for")]

use crate::browser::Browser;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Two threads, 5,000 steps, and an assertion that fails at the end.
const PROGRAM: &str = "
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void *work(void *unused) {
    for (int i = 0; i < 1250; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(void) {
    pthread_t other;
    pthread_create(&other, 0, work, 0);
    work(0);
    pthread_join(other, 0);
    assert(count < 2500);
}
";
/// Explorations that take some seconds, on one thread.
const WATCHED: [(&str, &str); 2] = [
    ("model", "model aodv --bug reboot-forgets --keep-going --max-depth 15 --threads 1"),
    ("program", "check --strategy random --max-executions 200000 --threads 1 -- ./buffer"),
];
/// How often each is run, in turn with nobody watching and with a terminal and a page.
const ROUNDS: usize = 11;
/// As often as the page of `everypath serve` asks.
const PERIOD: Duration = Duration::from_secs(1);

/// Measures with a built `everypath`, and prints the tables.
pub(crate) fn speed(root: &Path, everypath: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    page(folder, everypath)?;
    served(folder, everypath)?;
    compile(&root.join("programs/buffer.c"), &folder.join("buffer"))?;
    println!("\n| exploration | CPU s, unwatched | CPU s, watched | answers | cost |");
    println!("|---|--:|--:|--:|--:|");
    for (name, words) in WATCHED {
        let answers = AtomicU64::new(0);
        let (mut alone, mut watched) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            alone.push(explored(folder, everypath, words, None)?);
            watched.push(explored(folder, everypath, words, Some(&answers))?);
        }
        let (alone, watched) = (median(alone), median(watched));
        let cost = 100.0 * (watched / alone - 1.0);
        let answers = answers.into_inner() / ROUNDS as u64;
        println!("| {name} | {alone:.2} | {watched:.2} | {answers} | {cost:+.1} % |");
    }
    Ok(())
}

/// Writes the page of a long trace and presses keys in it.
fn page(folder: &Path, everypath: &Path) -> Result<()> {
    let source = folder.join("long.c");
    fs::write(&source, PROGRAM)?;
    compile(&source, &folder.join("long"))?;
    let check = "check --quiet --strategy random --max-executions 1 --max-seconds 10 -- ./long";
    let checked = Command::new(everypath).args(check.split(' ')).current_dir(folder).status()?;
    ensure!(checked.code() == Some(1), "a violation of ./long was expected; it ended {checked}");
    let show = || -> Result<f64> {
        let began = now();
        let show = "show everypath-trace.json --html page.html".split(' ');
        let shown = Command::new(everypath).args(show).current_dir(folder).status()?;
        ensure!(shown.success(), "everypath show: {shown}");
        Ok(began.elapsed().as_secs_f64() * 1000.0)
    };
    let written = median((0..ROUNDS).map(|_| show()).collect::<Result<_>>()?);
    let size = fs::metadata(folder.join("page.html"))?.len() as f64 / 1e6;
    println!("| page | |\n|---|--:|");
    println!("| `everypath show --html`, from start to exit | {written:.0} ms |");
    println!("| size | {size:.2} MB |");
    let Some(mut browser) = Browser::start()? else { return Ok(()) };
    browser.resize((1280, 900), false)?;
    let began = now();
    browser.open_file(&folder.join("page.html"))?;
    println!("| opened in Chromium | {:.0} ms |", began.elapsed().as_secs_f64() * 1000.0);
    println!("| steps | {} |", browser.text("#at")?.rsplit(' ').next().unwrap_or_default());
    for (key, what) in [("k", "the step before"), ("f", "unfolding, folding"), ("g", "first step")]
    {
        let times = format!(
            "(() => {{ const times = []; for (let i = 0; i < 21; i++) {{ \
             const start = performance.now(); document.body.dispatchEvent(new KeyboardEvent( \
             'keydown', {{key: '{key}', bubbles: true}})); document.body.offsetHeight; \
             times.push(performance.now() - start); }} return times.sort((a, b) => a - b); }})()"
        );
        let times = browser.evaluate(&times)?;
        let (half, most) = (times[10].as_f64(), times[20].as_f64());
        let (half, most) = (half.context("a time")?, most.context("a time")?);
        println!(
            "| key `{key}` ({what}) to layout: median, slowest | {half:.1} ms, {most:.1} ms |"
        );
    }
    Ok(())
}

/// Asks the server of the folder with that trace for everything that its page asks for.
fn served(folder: &Path, everypath: &Path) -> Result<()> {
    let mut server = Command::new(everypath)
        .args(["serve", "."])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run everypath serve")?;
    let said = server.stdout.take().context("a pipe")?;
    let answers = BufReader::new(said).lines().next().context("no address")?.map(|line| {
        let address = line.trim_start_matches("Serving at http://");
        let (host, token) = address.split_once('/').context("no address")?;
        println!("| `everypath serve` | |\n|---|--:|");
        for (path, what) in [
            ("api/results", "list of results"),
            ("api/running", "running explorations"),
            ("api/models", "models"),
            ("trace?file=./everypath-trace.json", "page of the trace"),
        ] {
            let times = (0..ROUNDS).map(|_| fetched(host, &format!("/{token}{path}")));
            let times: Vec<f64> = times.collect::<Result<_>>()?;
            let (first, most) = (times[0], times.iter().copied().fold(0.0, f64::max));
            let half = median(times);
            println!("| {what}: first, median, slowest | {first:.1}, {half:.1}, {most:.1} ms |");
        }
        Ok(())
    });
    server.kill()?;
    server.wait()?;
    answers?
}

/// How many milliseconds a page takes to arrive.
fn fetched(host: &str, path: &str) -> Result<f64> {
    let began = now();
    let mut stream = TcpStream::connect(host)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    ensure!(answer.starts_with(b"HTTP/1.1 200"), "{path}: {:?}", answer.get(..40));
    Ok(began.elapsed().as_secs_f64() * 1000.0)
}

fn compile(source: &Path, program: &Path) -> Result<()> {
    let built = Command::new("cc")
        .args(["-g", "-O1", "-pthread"])
        .args([source, Path::new("-o"), program])
        .status()
        .context("cannot run cc")?;
    ensure!(built.success(), "cc {}: {built}", source.display());
    Ok(())
}

/// The processor time of an exploration on a terminal, which `script` makes: with a progress line, and
/// asked as a page does, if answers are counted; else it shows nothing, and nobody asks.
fn explored(
    folder: &Path,
    everypath: &Path,
    words: &str,
    answers: Option<&AtomicU64>,
) -> Result<f64> {
    let before = children()?;
    let (command, rest) = words.split_once(' ').unwrap_or((words, ""));
    let quiet = if answers.is_some() { "" } else { "--quiet" };
    let line = format!("{} {command} {quiet} {rest}", everypath.display());
    let mut running = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .context("cannot run script")?;
    let over = AtomicBool::new(false);
    let done = thread::scope(|scope| {
        if let Some(answers) = answers {
            scope.spawn(|| watch(answers, &over));
        }
        let done = running.wait();
        over.store(true, Ordering::Relaxed);
        done
    })?;
    ensure!(matches!(done.code(), Some(0 | 1)), "{words}: {done}");
    Ok(children()? - before)
}

/// Asks as often as a page does, until it is over.
fn watch(answers: &AtomicU64, over: &AtomicBool) {
    let mut due = now();
    while !over.load(Ordering::Relaxed) {
        if now() >= due {
            answers.fetch_add(ask(), Ordering::Relaxed);
            due = now() + PERIOD;
        }
        thread::park_timeout(Duration::from_millis(20));
    }
}

/// Asks every exploration of this machine how far it has come; how many answered.
fn ask() -> u64 {
    let sockets = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let mut names: Vec<&str> =
        sockets.lines().filter_map(|line| line.split_once("@everypath-")?.1.into()).collect();
    names.sort_unstable();
    names.dedup();
    let answer = |name: &&&str| -> Option<bool> {
        let address = SocketAddr::from_abstract_name(format!("everypath-{name}")).ok()?;
        let mut stream = UnixStream::connect_addr(&address).ok()?;
        stream.set_read_timeout(Some(Duration::from_millis(300))).ok()?;
        let mut line = String::new();
        stream.read_to_string(&mut line).ok()?;
        Some(line.starts_with('{'))
    };
    names.iter().filter(|name| answer(name) == Some(true)).count() as u64
}

/// Seconds of processor time of all children so far, of those that were waited for.
fn children() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit(')').next().context("a name in brackets")?;
    let ticks = |at: usize| -> Result<f64> {
        Ok(fields.split_whitespace().nth(at).context("a field")?.parse::<f64>()?)
    };
    // Fields 16 and 17, counted from 1; the first after the name is the third. A tick is 10 ms.
    Ok((ticks(13)? + ticks(14)?) / 100.0)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[expect(clippy::disallowed_methods, reason = "a clock is what measuring needs")]
fn now() -> Instant {
    Instant::now()
}
