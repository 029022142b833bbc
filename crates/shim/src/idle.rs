//! How executions end in which nothing happens any more, or nothing but that time passes.

use crate::multi_process;
use crate::region::setup;
use crate::state::{Ending, State, Status, Thread, state};
use crate::worker::KERNEL;
use everypath_shim_abi::{IdleMode, OperationKind, Outcome, Waiting};

/// The exit code of the program that is checked, if it has ended as it should not.
pub(crate) fn failed_before() -> Option<i32> {
    let state = state();
    let is_over = !state.threads().any(|thread| is_alive_in(thread, multi_process::FIRST));
    Some(state.exit_code.get()).filter(|&code| is_over && code != setup().exit_code)
}

/// How an execution ends in which nothing has happened for long but that time passes, if every process
/// waits for clients, or the program that is checked has ended as expected; none if it goes on.
pub(crate) fn idle_in_time(state: &State) -> Option<Ending> {
    let is_over = |process| !state.threads().any(|thread| is_alive_in(thread, process));
    let is_fine = |process| match waits_in_time(state, process) {
        Some(listens) => listens || is_over(multi_process::FIRST),
        None => false,
    };
    let all_are = (0..multi_process::processes()).filter(|&process| !is_over(process)).all(is_fine);
    let exited_well = !is_over(multi_process::FIRST) || state.exit_code.get() == setup().exit_code;
    (all_are && exited_well).then_some(Ending { outcome: Outcome::Quiet, detail: 0 })
}

fn is_alive_in(thread: &Thread, process: usize) -> bool {
    multi_process::owner(thread.number.get()) == process && thread.is_alive()
}

/// How an execution ends in which no step is enabled.
pub(crate) fn stuck(state: &State) -> Ending {
    let is_over = |process| !state.threads().any(|thread| is_alive_in(thread, process));
    let mut listens = true;
    for process in (0..multi_process::processes()).filter(|&process| !is_over(process)) {
        match waits(state, process) {
            Some(also) => listens &= also,
            None => return Ending { outcome: Outcome::Deadlock, detail: 0 },
        }
    }
    let code = state.exit_code.get();
    let is_fine = listens || setup().idle == IdleMode::Fine || code != setup().exit_code;
    if is_over(multi_process::FIRST) && is_fine {
        return Ending { outcome: Outcome::Exited, detail: code };
    }
    Ending { outcome: Outcome::Idle, detail: (listens && !is_over(multi_process::FIRST)).into() }
}

/// The threads of a process that wait.
fn blocked(state: &State, process: usize) -> impl Iterator<Item = &Thread> {
    let is_blocked = move |thread: &&Thread| {
        multi_process::owner(thread.number.get()) == process
            && thread.status() == Status::Blocked
            && !thread.is_unheard.get()
    };
    state.threads().filter(is_blocked)
}

fn waits_for_network(thread: &Thread) -> bool {
    thread.waiting.get() == Waiting::Network
}

/// Whether a thread waits for what the requests of clients would make others do: workers wait so.
fn works_for_clients(thread: &Thread) -> bool {
    use Waiting::{Cond, Futex, Semaphore, Signal};
    matches!(thread.waiting.get(), Cond | Futex | Semaphore | Signal)
}

fn awaits_clients(thread: &Thread) -> bool {
    waits_for_network(thread) && everypath_vkernel::awaits_clients(KERNEL, thread)
}

/// Whether a thread waits to be accepted or for room to send, which whoever listens would have to give.
fn is_kept_waiting(thread: &Thread) -> bool {
    waits_for_network(thread)
        && matches!(thread.kind.get(), OperationKind::Connect | OperationKind::Send)
}

/// Every thread of a process waits, some of them until a moment: whether one of them waits for clients;
/// none if a thread waits for a lock, or for others to take what it sends.
fn waits_in_time(state: &State, process: usize) -> Option<bool> {
    let is_idle = |thread: &Thread| {
        let for_others = matches!(thread.waiting.get(), Waiting::Network | Waiting::Join);
        let may_wait = for_others || works_for_clients(thread) || thread.deadline.get() != 0;
        may_wait && !is_kept_waiting(thread)
    };
    let all_are = blocked(state, process).all(is_idle);
    all_are.then(|| blocked(state, process).any(awaits_clients))
}

/// Everybody waits, and somebody for the network: nothing more can come. Says whether a thread waits for
/// clients, and none to be accepted or for room to send, which whoever listens would have to give; none
/// if a thread waits for anything else but the end of another thread, or, while somebody waits for
/// clients, for what their requests would make others do: workers wait so.
fn waits(state: &State, process: usize) -> Option<bool> {
    let blocked = || blocked(state, process);
    let for_network = blocked().any(waits_for_network);
    let for_clients = blocked().any(awaits_clients);
    let for_nothing_else = blocked().all(|thread| {
        matches!(thread.waiting.get(), Waiting::Network | Waiting::Join)
            || for_clients && works_for_clients(thread)
    });
    if for_nothing_else && blocked().any(works_for_clients) {
        multi_process::note_idle_workers(process);
    }
    (for_network && for_nothing_else).then(|| for_clients && !blocked().any(is_kept_waiting))
}
