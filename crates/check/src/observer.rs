//! Watching a search, and stopping it.

use everypath_machine::memory;
use everypath_report::{memory_reached, time_reached};
use everypath_trace::{CheckConfig, Control, Seconds};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often the use of memory is looked at.
const TICK: Duration = Duration::from_millis(50);

/// What is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// The executions of a program.
    Executions,
    /// The communication histories of several programs.
    Histories,
    /// A violation that was found: it is confirmed, minimised and explained.
    Counterexample,
}

/// When a search is to be stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// After so much time.
    pub seconds: Option<Seconds>,
    /// When so many bytes of memory are used.
    pub memory: Option<u64>,
    /// So much of the time was spent in phases before.
    pub spent: Duration,
    /// Whether a phase before was stopped: then there is a moment left, however that came.
    pub is_over: bool,
}

/// So much time there is at least to confirm a violation that was found.
const MOMENT: Duration = Duration::from_millis(600);

impl Limits {
    pub(crate) fn of(config: &CheckConfig) -> Self {
        let memory = config.max_memory.map(|size| size.0);
        Limits { seconds: config.max_seconds, memory, ..Limits::default() }
    }

    /// How much time there is; none if there is no limit.
    pub fn time(&self) -> Option<Duration> {
        match self.seconds.map(Seconds::duration) {
            _ if self.is_over => Some(MOMENT),
            Some(all) if self.spent.is_zero() => Some(all),
            Some(all) => Some(all.saturating_sub(self.spent).max(MOMENT)),
            None => None,
        }
    }

    /// How many bytes may be used; what a stopped search used is not given back at once.
    pub fn bytes(&self) -> Option<u64> {
        self.memory.filter(|_| !self.is_over)
    }
}

/// Whoever watches the searches of a check.
pub trait Observer {
    /// Runs a search and returns when it has ended. Its [`Control`] says how far it has come, and
    /// stops it when a limit is reached, or for any other reason: the reason is returned then.
    fn watch(
        &mut self,
        search: Search,
        limits: Limits,
        run: &mut dyn FnMut(&Control),
    ) -> Option<String>;
}

/// Watches the limits, and nothing else.
impl Observer for () {
    fn watch(
        &mut self,
        _: Search,
        limits: Limits,
        run: &mut dyn FnMut(&Control),
    ) -> Option<String> {
        let control = &Control::default();
        let (ended, end) = channel::<()>();
        thread::scope(|scope| {
            let watcher = scope.spawn(move || {
                let reason = enforce(limits, &end)?;
                control.stop();
                Some(reason)
            });
            run(control);
            // Dropped also if the search panics, so that the watcher ends.
            drop(ended);
            watcher.join().expect("the watcher does not panic")
        })
    }
}

/// Waits for the end of a search, or until a limit is reached: which one.
fn enforce(limits: Limits, end: &Receiver<()>) -> Option<String> {
    let mut left = limits.time();
    loop {
        let tick = left.unwrap_or(TICK).min(TICK);
        if end.recv_timeout(tick) != Err(RecvTimeoutError::Timeout) {
            return None;
        }
        left = left.map(|left| left.saturating_sub(tick));
        if left.is_some_and(|left| left.is_zero()) {
            return Some(time_reached(limits.seconds.map_or(0.0, f64::from)));
        }
        if let Some(most) = limits.bytes().filter(|most| memory().is_some_and(|used| used > *most))
        {
            return Some(memory_reached(most));
        }
    }
}
