//! Executions that end because only time passes.
//!
//! A server with a periodic timer never ends. A *moment* is a state in which no thread can take a step
//! unless a timeout fires, and the period between two moments is quiet if nothing visible happened in
//! between: nothing at sockets, nothing asked of peers, no output and no files. If every process waits
//! for clients then, the execution ends after some quiet periods; what a timer would have done later is
//! not explored, and the verdict says so. Programs that write to a log at each tick have a limit of
//! their own.
//!
//! The search over all schedules of such a program is finite only if timers do not fire early without
//! end: a thread's timeout fires at most [`Setup::early_timeouts`] times, while another thread could
//! take a step, before something visible happens at sockets.
//!
//! [`Setup::early_timeouts`]: everypath_shim_abi::Setup

use super::{Ending, PEERS, STEPS, can_run};
use crate::above::Above;
use crate::memory::{Span, bytes};
use crate::region::{region, setup};
use crate::run_state::{Common, Quiet, RunState};
use crate::state::{State, Status, Thread};
use crate::worker::KERNEL;
use core::mem::offset_of;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use everypath_shim_abi::quiet::{self, MOST_PERIODS, MOST_WITH_OUTPUT, PERIODS, SECONDS};
use everypath_shim_abi::{IdleMode, MAX_THREADS};
use xxhash_rust::xxh3::xxh3_64_with_seed;

static QUIET: Common<Quiet> = Common::at(offset_of!(RunState, quiet));

/// An execution begins.
pub(super) fn begin() {
    let Quiet { sent, moment, network, all, since, .. } = &*QUIET;
    let Quiet { since_step, periods, periods_with_output, fired, .. } = &*QUIET;
    let counters = [sent, moment, since_step, periods, periods_with_output];
    for counter in counters.into_iter().chain(fired) {
        counter.store(0, Relaxed);
    }
    for value in [network, all, since] {
        value.store(0, Relaxed);
    }
}

/// Something is sent to a peer.
pub(crate) fn note_sent() {
    QUIET.sent.fetch_add(1, Relaxed);
}

/// What can be seen at sockets: everything that happens there changes it, for good.
fn network() -> u64 {
    let sent = u64::from(QUIET.sent.load(Relaxed));
    KERNEL.visible().fold(sent, |sum, words| {
        xxh3_64_with_seed(bytes(words.as_ptr() as usize, size_of_val(&words)), sum)
    })
}

/// The same, and what was written.
fn all(state: &State, network: u64) -> u64 {
    let outputs = region().output.iter().map(|output| output.length.get());
    let sum = outputs.fold(network, |sum, length| xxh3_64_with_seed(&length.to_le_bytes(), sum));
    let Span { address, length } = state.files_span();
    xxh3_64_with_seed(bytes(address, length), sum)
}

/// No thread can take a step unless time passes: ends the execution if that has been so for long.
pub(super) fn look(state: &State) -> Result<(), Ending> {
    // Saved states know nothing of this, and joint exploration ends executions by itself.
    let setup = setup();
    if setup.canonical || setup.joint || setup.idle == IdleMode::Violation {
        return Ok(());
    }
    let step = STEPS.load(Relaxed) + 1;
    if QUIET.moment.swap(step, Relaxed) != step {
        note_moment(state);
    }
    let seconds = (state.clock.get() - QUIET.since.load(Relaxed)) / 1_000_000_000;
    let periods = QUIET.periods.load(Relaxed);
    let steps = step.saturating_sub(QUIET.since_step.load(Relaxed));
    let is_over = periods >= PERIODS && (seconds >= SECONDS || steps >= quiet::STEPS)
        || periods >= MOST_PERIODS
        || QUIET.periods_with_output.load(Relaxed) >= MOST_WITH_OUTPUT;
    let is_last =
        |thread: &Thread| thread.status() == Status::Blocked && thread.deadline.get() >= PEERS;
    if !is_over || state.threads().any(is_last) {
        return Ok(());
    }
    KERNEL.idle_in_time(state).map_or(Ok(()), Err)
}

/// Counts the period that ends here.
fn note_moment(state: &State) {
    let network = network();
    let all = all(state, network);
    let same_network = QUIET.network.swap(network, Relaxed) == network;
    let same = QUIET.all.swap(all, Relaxed) == all;
    let count = |counter: &AtomicU32, goes_on: bool| {
        counter.store(if goes_on { counter.load(Relaxed) + 1 } else { 0 }, Relaxed);
    };
    count(&QUIET.periods, same);
    count(&QUIET.periods_with_output, same_network);
    if !same {
        QUIET.since.store(state.clock.get(), Relaxed);
        QUIET.since_step.store(STEPS.load(Relaxed), Relaxed);
    }
}

/// Whether a thread's timeout may fire although other threads could take a step.
pub(super) fn may_be_early(state: &State, thread: &Thread) -> bool {
    let most = u32::from(setup().early_timeouts);
    let number = usize::from(thread.number.get()) % MAX_THREADS;
    most == 0
        || QUIET.fired[number].load(Relaxed) < most
        || can_run(state) == 0
        || QUIET.seen[number].load(Relaxed) != network()
}

/// A thread's timeout fires.
pub(super) fn note_timeout(state: &State, thread: &Thread) {
    if setup().early_timeouts == 0 || can_run(state) == 0 {
        return;
    }
    let number = usize::from(thread.number.get()) % MAX_THREADS;
    let network = network();
    let goes_on = QUIET.seen[number].swap(network, Relaxed) == network;
    let fired = &QUIET.fired[number];
    fired.store(if goes_on { fired.load(Relaxed) + 1 } else { 1 }, Relaxed);
}
