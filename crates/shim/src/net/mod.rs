//! Sockets, pipes and events of this worker: what the scheduler, the controller and other modules
//! ask the kernel (`everypath-vkernel`).

pub(crate) mod syscalls;

use crate::kernel::KERNEL;
use crate::multi_process;
use crate::state::{State, Status, Thread};
use everypath_shim_abi::{Object, Operation, OperationKind, Waiting};
use everypath_vkernel::{faults, object, partition};

/// Whether anything may go wrong in this check.
pub(crate) fn faults_are_explored() -> bool {
    faults::are_explored(KERNEL)
}

/// In how many ways the pending step of a thread can go.
pub(crate) fn ways(thread: &Thread) -> u32 {
    faults::ways(KERNEL, thread)
}

/// What the next step of a thread turns out to be, now.
pub(crate) fn refined(thread: &Thread) -> Option<Operation> {
    everypath_vkernel::refined(KERNEL, thread)
}

/// The other end of the only stream that a thread waits at, in footprints, and one more than the
/// number of the process whose end that is; none if it is this process.
pub(crate) fn other_end(thread: &Thread) -> Option<(Object, u16)> {
    partition::other_end(KERNEL, thread)
}

/// Whether nothing gets from one process to another.
pub(crate) fn separates(one: usize, other: usize) -> bool {
    partition::separates(KERNEL, one, other)
}

/// The partition between two processes is healed: data in flight arrives.
pub(crate) fn mended(one: usize, other: usize) {
    partition::mended(KERNEL, one, other);
}

/// Whether an object is an end of a pipe.
pub(crate) fn is_pipe(number: usize) -> bool {
    object::is_pipe(KERNEL, number)
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
pub(crate) fn idle_in_time(state: &State, process: usize) -> Option<bool> {
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
pub(crate) fn idle(state: &State, process: usize) -> Option<bool> {
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
