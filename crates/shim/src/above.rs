//! What the floor of threads needs of those above it.
//!
//! That floor is contexts, back-ends, the scheduler with its strategies, snapshots and dirty pages. It
//! knows threads, their steps and the program's memory, and nothing of sockets, files, locks or signals:
//! what it needs of them is here. `upcalls` implements it.

use crate::memory::Span;
use crate::state::{Ending, State, Thread};
use everypath_shim_abi::Operation;

/// See the module's documentation.
pub(crate) trait Above {
    /// This process has its place among the threads: others may be added that are no code of its own.
    fn joined(&self, state: &State);

    /// A kernel thread was made, and carries nothing yet.
    fn kernel_thread_begins(&self, number: usize);

    /// In how many ways the pending step of a thread can go, if that is for other floors to say.
    fn outcomes(&self, state: &State, thread: &Thread) -> u32;

    /// What the pending step of a thread turns out to be, now.
    fn refined(&self, thread: &Thread) -> Option<Operation>;

    /// The running thread takes a step: it may have to end instead.
    fn step_begins(&self);

    /// The running thread goes on: what was sent to it is handled first.
    fn goes_on(&self);

    /// The step that was taken may have freed a lock.
    fn hand_over(&self, state: &State);

    /// The same if nobody can run and it was not seen to; says whether there was one.
    fn hand_over_unseen(&self, state: &State) -> bool;

    /// How an execution ends in which no step is enabled.
    fn stuck(&self, state: &State) -> Ending;

    /// How an execution ends in which nothing but time passes; none if it goes on.
    fn idle_in_time(&self, state: &State) -> Option<Ending>;

    /// What can be seen of communication: it changes with whatever happens there.
    fn visible(&self) -> impl Iterator<Item = [u64; 8]>;

    /// Calls `each` for every table that is part of snapshots; those that processes share belong to the
    /// first.
    fn each_table(&self, is_first: bool, each: impl FnMut(Span));
}
