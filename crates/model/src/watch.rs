//! Limits of time and memory, Ctrl-C, and the progress line of a search.

use crate::beacon::Beacon;
use everypath_machine::{available_memory, memory};
use everypath_report::{grouped, memory_reached, time_reached};
use everypath_trace::{Control, Progress};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::cell::Cell;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often limits are looked at.
const TICK: Duration = Duration::from_millis(50);
/// How often the progress line is written: no faster than one can read.
const REDRAWN: Duration = Duration::from_millis(200);
/// Work that is stopped has so much time to say what it knows.
const PATIENCE: Duration = Duration::from_millis(800);
/// What a shell reports of a program that Ctrl-C killed.
const KILLED_BY_INTERRUPT: i32 = 130;

/// Why a search was stopped from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stopped {
    /// After so many seconds.
    Seconds(f64),
    /// When so many bytes were used.
    Memory(u64),
    /// By a signal.
    Interrupted,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopped::Seconds(seconds) => f.write_str(&time_reached(*seconds)),
            Stopped::Memory(bytes) => f.write_str(&memory_reached(*bytes)),
            Stopped::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// What is said of work that does not react when it is stopped: the exit code of the program, which
/// ends then, and with it all that it has started.
pub type GiveUp<'a> = &'a (dyn Fn(Stopped, Progress) -> u8 + Sync);

/// What limits a search from outside, and whether its progress is shown.
pub struct Watch<'a> {
    max_seconds: Option<f64>,
    /// How much of them is left.
    time: Option<Duration>,
    max_memory: Option<u64>,
    quiet: bool,
    /// Whether whoever asks is told how far it has come.
    answers: bool,
    give_up: Option<GiveUp<'a>>,
    interrupted: Arc<AtomicBool>,
    started: Instant,
}

impl<'a> Watch<'a> {
    /// Starts the clock and takes over Ctrl-C, hangup and termination; a second one ends the program
    /// at once.
    pub fn new(max_seconds: Option<f64>, max_memory: Option<u64>, quiet: bool) -> Self {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // Registering fails only for signals that cannot be caught.
            let _ = flag::register_conditional_shutdown(
                signal,
                KILLED_BY_INTERRUPT,
                Arc::clone(&interrupted),
            );
            let _ = flag::register(signal, Arc::clone(&interrupted));
        }
        let max_memory = max_memory.or_else(|| Some((available_memory()? + memory()?) / 10 * 9));
        let time = max_seconds.map(Duration::from_secs_f64);
        let (give_up, started, answers) = (None, now(), true);
        Watch { max_seconds, time, max_memory, quiet, answers, give_up, interrupted, started }
    }

    /// The same, with so much time left of the seconds, and with work that does not react given up.
    #[must_use]
    pub fn giving_up(self, give_up: GiveUp<'a>, time: Option<Duration>) -> Self {
        Watch { give_up: Some(give_up), time, ..self }
    }

    /// The same for a part of a search, of which another process tells how far it has come.
    #[must_use]
    pub(crate) fn of_part(self, is_part: bool) -> Self {
        Watch { answers: !is_part, ..self }
    }

    /// How much memory may still be used, in bytes.
    pub(crate) fn memory_left(&self) -> Option<u64> {
        Some(self.max_memory?.saturating_sub(memory()?))
    }

    /// The same without a limit of memory.
    #[must_use]
    pub fn with_any_memory(self) -> Self {
        Watch { max_memory: None, ..self }
    }

    /// Runs `search` while watching it. Returns its result, how long it took, and why it was
    /// stopped, if it was.
    pub fn run<R: Send>(
        &self,
        search: impl FnOnce(&Control) -> R,
    ) -> (R, Duration, Option<Stopped>) {
        self.run_showing(|control, elapsed| explored(control.progress(), elapsed), search)
    }

    /// The same for any work; `line` tells how far it has come after a time.
    pub fn run_showing<R: Send>(
        &self,
        line: impl Fn(&Control, Duration) -> String + Sync,
        work: impl FnOnce(&Control) -> R,
    ) -> (R, Duration, Option<Stopped>) {
        let control = Control::default();
        let finished = (Mutex::new(false), Condvar::new());
        let started = now();
        let line = |elapsed| line(&control, elapsed);
        thread::scope(|scope| {
            let watcher = scope.spawn(|| self.watch(&control, &line, &finished));
            // Said even by work that panics: the scope waits for the watcher before it passes that on.
            let ending = Ending(&finished);
            let result = work(&control);
            let took = started.elapsed();
            drop(ending);
            let stopped = watcher.join().expect("the watcher does not panic");
            (result, took, stopped)
        })
    }

    /// Waits until the work is finished, looking at the limits in between.
    fn watch(
        &self,
        control: &Control,
        line: &(dyn Fn(Duration) -> String + Sync),
        finished: &(Mutex<bool>, Condvar),
    ) -> Option<Stopped> {
        let shown = ProgressLine::new(self.quiet);
        let (beacon, begun) = (self.answers.then(Beacon::new).flatten(), now());
        let mut stopped: Option<(Stopped, Instant)> = None;
        let mut done = finished.0.lock().expect("the search does not panic while holding it");
        while !*done {
            let tick = self.remaining().unwrap_or(TICK).min(TICK);
            done = finished.1.wait_timeout(done, tick).expect("as above").0;
            if !*done {
                shown.show(line);
                if let Some(beacon) = &beacon {
                    beacon.answer(control.progress(), begun.elapsed());
                }
                stopped = stopped.or_else(|| Some((self.reason()?, now())));
                if let Some((why, since)) = stopped {
                    control.stop();
                    if let Some(give_up) = self.give_up.filter(|_| since.elapsed() > PATIENCE) {
                        shown.clear();
                        exit(give_up(why, control.progress()));
                    }
                }
            }
        }
        stopped.map(|(why, _)| why)
    }

    fn remaining(&self) -> Option<Duration> {
        // Never zero, so that waiting for a search that is just stopping does not spin.
        Some(self.time?.saturating_sub(self.started.elapsed()).max(Duration::from_millis(1)))
    }

    fn reason(&self) -> Option<Stopped> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Some(Stopped::Interrupted);
        }
        if self.time.is_some_and(|time| self.started.elapsed() >= time) {
            return Some(Stopped::Seconds(self.max_seconds.unwrap_or_default()));
        }
        let limit = self.max_memory?;
        (memory()? > limit).then_some(Stopped::Memory(limit))
    }
}

#[expect(clippy::exit, reason = "work that does not react cannot be returned from")]
fn exit(code: u8) -> ! {
    std::process::exit(code.into())
}

/// Tells the watcher that the work has ended, however it did.
struct Ending<'a>(&'a (Mutex<bool>, Condvar));

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let (finished, told) = self.0;
        *finished.lock().unwrap_or_else(PoisonError::into_inner) = true;
        told.notify_all();
    }
}

/// The line that shows how far a search has come, on a terminal only.
///
/// It is written over the one before in one go, and only what is left of that is erased: a line that is
/// erased first would flicker.
struct ProgressLine {
    is_shown: bool,
    started: Instant,
    drawn: Cell<Option<Instant>>,
}

impl ProgressLine {
    fn new(quiet: bool) -> Self {
        let is_shown = !quiet && io::stderr().is_terminal();
        ProgressLine { is_shown, started: now(), drawn: Cell::new(None) }
    }

    fn show(&self, line: &dyn Fn(Duration) -> String) {
        let is_due = self.drawn.get().is_none_or(|drawn| drawn.elapsed() >= REDRAWN);
        if !self.is_shown || !is_due {
            return;
        }
        self.drawn.set(Some(now()));
        let memory = grouped(memory().unwrap_or(0) >> 20);
        let line = format!("{}, {memory} MiB", line(self.started.elapsed()));
        self.write(&format!("\r{}\x1b[K", fitting(&line, columns())));
    }

    fn clear(&self) {
        if self.drawn.take().is_some() {
            self.write("\r\x1b[K");
        }
    }

    fn write(&self, text: &str) {
        // Nothing can be said about a standard error that cannot be written to.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

/// How wide the terminal is now.
fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stderr());
    size.ok().map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0).unwrap_or(80)
}

/// The beginning of a line that fits into so many columns: the last one stays free, since some terminals
/// go on in the next line after it.
fn fitting(line: &str, columns: usize) -> String {
    let width = columns.saturating_sub(1);
    match line.chars().count() > width {
        true => line.chars().take(width.saturating_sub(1)).chain(['…']).take(width).collect(),
        false => line.into(),
    }
}

/// How far a search over the schedules of a program has come.
pub fn executed(progress: Progress, elapsed: Duration) -> String {
    let Progress { states, executions, events, frontier, .. } = progress;
    let mut line = match states {
        0 => String::new(),
        states => format!("{} states, ", grouped(states)),
    };
    let per_second = (executions as f64 / elapsed.as_secs_f64()) as u64;
    line += &format!("{} executions ({}/s)", grouped(executions), grouped(per_second));
    if frontier > 0 {
        line += &format!(", at least {} left", grouped(frontier));
    }
    line + &format!(", {} steps", grouped(events))
}

/// How far a counterexample is.
pub fn concluded(_: Progress, elapsed: Duration) -> String {
    format!("a violation was found; minimising it, {} s", elapsed.as_secs())
}

/// How far a search has come.
pub fn explored(progress: Progress, elapsed: Duration) -> String {
    let Progress { states, events, depth, frontier, .. } = progress;
    format!(
        "{} states, {} events, depth {depth}, frontier {}, {} states/s",
        grouped(states),
        grouped(events),
        grouped(frontier),
        grouped((states as f64 / elapsed.as_secs_f64()) as u64),
    )
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The clock of this program, read here and nowhere else.
#[expect(clippy::disallowed_methods, reason = "limits and durations are what a clock is for")]
pub fn now() -> Instant {
    Instant::now()
}

/// The same clock in nanoseconds, for the engine, which has none.
pub fn clock() -> impl Fn() -> u64 + Sync {
    let start = now();
    move || start.elapsed().as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn a_progress_line_fits_the_terminal() {
        assert_eq!(fitting("7 states", 80), "7 states");
        assert_eq!(fitting("7 states", 9), "7 states");
        assert_eq!(fitting("7 states", 8), "7 stat…");
        assert_eq!(fitting("7 states", 1), "");
        assert_eq!(fitting("7 states", 0), "");
    }

    #[test]
    fn work_that_panics_ends_the_watch() {
        let watch = Watch::new(None, None, true);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            watch.run_showing(|_, _| String::new(), |_| panic!("a defect"));
        }));
        assert!(panicked.is_err(), "the panic is passed on");
    }
}
