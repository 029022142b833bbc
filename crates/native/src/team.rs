//! Several workers for one search, which does not notice.
//!
//! A search over schedules asks for one execution after the other, and each may change what it asks
//! for next. But most of what is waiting to be explored will be asked for as it is now. So while one
//! worker runs what was asked for, others run what will be, and if that is asked for indeed, word by
//! word, it is there. An execution depends on nothing but what is asked for, so neither the result nor
//! any count depends on the number of workers.

use crate::error::Error;
use crate::execution::Execution;
use crate::exhaustive::{Exhaustive, Order, Performed, Runner, Stop, Touch};
use crate::worker::Modules;
use everypath_explore::reduction::{Alternative, Choice, Executed, Executor, Run};
use everypath_explore::{Control, Progress};
use everypath_shim_abi::{Notice, Outcome};
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread;

/// A search that is shorter is done before others have started.
const SHORT: u64 = 300;
/// Each helper hears of so many executions in advance.
const EACH: usize = 3;
/// So many executions are kept that nobody has asked for.
const KEPT: usize = 256;

/// What is to be run, and what was, ahead of the search.
#[derive(Default)]
struct Board {
    wanted: Vec<Order>,
    running: Vec<Order>,
    done: Vec<(Order, Performed)>,
    closed: bool,
}

/// Shared by the search and its helpers.
struct Shared<'a> {
    exhaustive: &'a Exhaustive,
    control: &'a Control,
    modules: Modules,
    board: Mutex<Board>,
    news: Condvar,
}

impl Shared<'_> {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().expect("nobody panics while holding it")
    }

    fn wait<'b>(&self, board: MutexGuard<'b, Board>) -> MutexGuard<'b, Board> {
        self.news.wait(board).expect("nobody panics while holding it")
    }

    /// Replaces what is wanted, the most urgent first.
    fn want(&self, orders: Vec<Order>) {
        let mut board = self.board();
        let Board { wanted, running, done, .. } = &mut *board;
        *wanted = orders;
        wanted.retain(|order| !running.contains(order) && !done.iter().any(|(of, _)| of == order));
        let superfluous = done.len().saturating_sub(KEPT);
        done.drain(..superfluous);
        if !wanted.is_empty() {
            self.news.notify_all();
        }
    }

    /// An execution, if it was run ahead or is about to be.
    fn take(&self, order: &Order) -> Option<Performed> {
        let mut board = self.board();
        board.wanted.retain(|wanted| wanted != order);
        loop {
            if let Some(at) = board.done.iter().position(|(done, _)| done == order) {
                return Some(board.done.remove(at).1);
            }
            if !board.running.contains(order) {
                return None;
            }
            board = self.wait(board);
        }
    }

    /// The next execution to run ahead; none if the search is over.
    fn next(&self) -> Option<Order> {
        let mut board = self.board();
        while !board.closed && board.wanted.is_empty() {
            board = self.wait(board);
        }
        if board.closed {
            return None;
        }
        let order = board.wanted.remove(0);
        board.running.push(order.clone());
        Some(order)
    }

    /// Runs executions ahead until the search is over. What fails is left to the search, which will
    /// run it itself if it needs it, and say why it fails.
    fn help(&self) {
        let launch = &self.exhaustive.launch;
        let Ok(mut runner) = Runner::join(launch, self.control, &self.modules) else { return };
        while let Some(order) = self.next() {
            let performed = runner.perform(&order, &launch.setup);
            let mut board = self.board();
            board.running.retain(|running| *running != order);
            let failed = performed.is_err();
            board.done.extend(performed.ok().map(|performed| (order, performed)));
            self.news.notify_all();
            if failed {
                return;
            }
        }
    }
}

/// Ends the helpers, however the search ends.
struct Closing<'a>(&'a Shared<'a>);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        // Whoever panicked while holding it is about to end everything anyway.
        if let Ok(mut board) = self.0.board.lock() {
            board.closed = true;
        }
        self.0.news.notify_all();
    }
}

/// What runs the executions of a search.
pub(crate) struct Team<'a> {
    runner: Runner<'a>,
    shared: &'a Shared<'a>,
    /// Starts the helpers.
    start: &'a dyn Fn(),
    helpers: usize,
    runs: u64,
    last: (Outcome, Option<Execution>),
    notices: BTreeSet<Notice>,
}

/// Runs a search with as many workers as it may have.
pub(crate) fn with<R>(
    exhaustive: &Exhaustive,
    control: &Control,
    search: impl FnOnce(&mut Team<'_>) -> Result<R, Error>,
) -> Result<R, Error> {
    let (modules, board, news) = (Modules::default(), Mutex::default(), Condvar::new());
    let shared = Shared { exhaustive, control, modules, board, news };
    let helpers = exhaustive.workers.saturating_sub(1);
    thread::scope(|scope| {
        let shared = &shared;
        let start = || {
            for _ in 0..helpers {
                scope.spawn(|| shared.help());
            }
        };
        let _closing = Closing(shared);
        let runner = Runner::join(&exhaustive.launch, control, &shared.modules)?;
        let last = (Outcome::default(), None);
        let notices = BTreeSet::new();
        search(&mut Team { runner, shared, start: &start, helpers, runs: 0, last, notices })
    })
}

impl Team<'_> {
    /// How many atomic instructions are patched.
    pub(crate) fn sites(&self) -> usize {
        self.runner.worker().sites()
    }

    /// How many messages to peers were answered without asking them.
    pub(crate) fn hits(&self) -> u64 {
        self.runner.worker().counters().cache_hits
    }

    /// What was strange.
    pub(crate) fn notices(&self) -> impl Iterator<Item = Notice> {
        self.notices.iter().copied()
    }

    /// Says how far the search has come.
    pub(crate) fn publish(&self, progress: &Progress) {
        self.shared.control.publish(*progress);
    }

    /// How the last execution ended, and all of it if it is not as expected; told once.
    pub(crate) fn last(&mut self) -> (Outcome, Option<Execution>) {
        (self.last.0, self.last.1.take())
    }
}

impl Executor for Team<'_> {
    type Footprint = Touch;
    type Error = Stop;

    fn run(
        &mut self,
        schedule: &[Choice],
        known: usize,
        sleep: &[Alternative<Touch>],
    ) -> Result<Executed<Touch>, Stop> {
        self.runs += 1;
        let order = Order::new(schedule, known, sleep);
        let setup = &self.shared.exhaustive.launch.setup;
        let Performed { executed, outcome, unexpected, notices } = match self.shared.take(&order) {
            Some(performed) => performed,
            None => self.runner.perform(&order, setup)?,
        };
        self.last = (outcome, unexpected);
        self.notices.extend(notices);
        Ok(executed)
    }

    fn foresight(&self) -> usize {
        if self.runs < SHORT { 0 } else { self.helpers * EACH }
    }

    fn foresee(&mut self, likely: Vec<Run<Touch>>) {
        if self.runs == SHORT {
            (self.start)();
        }
        let order = |run: &Run<Touch>| Order::new(&run.schedule, run.known, &run.sleep);
        self.shared.want(likely.iter().map(order).collect());
    }
}
