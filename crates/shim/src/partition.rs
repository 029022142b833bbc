//! Network partitions between two processes, and their healing.
//!
//! The network is a thread without code, as the fault injectors of processes are
//! (`process_faults.rs`). Its steps are dependent on everything, so every placement of them among
//! the steps of all threads is explored. A partition is healed at the latest when nothing else can
//! happen any more; stream data in flight arrives then (`vkernel/src/partition.rs`). Whatever the
//! processes do, the network takes its steps until it comes to rest by itself: the search relies on
//! that.

use crate::multi_process;
use crate::net;
use crate::region::setup;
use crate::scheduler::{complete, withdraw};
use crate::state::{State, Thread, state};
use everypath_shim_abi::{Completion, NetworkChange, OperationKind};

/// Whether the network may be cut.
pub(crate) fn is_possible() -> bool {
    setup().partitions.most > 0 && multi_process::is_one_of_several()
}

/// What may happen to the network next.
fn changes(state: &State) -> impl Iterator<Item = NetworkChange> {
    let is_alive = |process| {
        let is_its = |thread: &Thread| multi_process::owner(thread.number.get()) == process;
        state.threads().any(|it| is_its(it) && it.is_alive() && !it.is_injector())
    };
    let is_left = state.partitions.get() < setup().partitions.most;
    let others =
        move |one: usize| (one + 1..multi_process::processes()).map(move |other| (one, other));
    let change = move |(one, other): (usize, usize)| match net::separates(one, other) {
        true => (is_alive(one) || is_alive(other)).then_some(NetworkChange::Mended(one, other)),
        false => {
            let may_be_cut = setup().partitions.severable[one] >> other & 1 != 0;
            (is_left && may_be_cut && is_alive(one) && is_alive(other))
                .then_some(NetworkChange::Cut(one, other))
        }
    };
    (0..multi_process::processes()).flat_map(others).filter_map(change)
}

/// Whether everything is as it should be, and may stay so for good.
fn may_rest(state: &State) -> bool {
    !changes(state).any(|change| matches!(change, NetworkChange::Mended(..)))
}

/// In how many ways the step of the network can go.
pub(crate) fn ways(state: &State) -> u32 {
    changes(state).count() as u32 + u32::from(may_rest(state))
}

/// The network's step was chosen: lets it happen.
pub(crate) fn meet(network: &Thread) {
    let state = state();
    let outcome = usize::from(network.outcome.get());
    let before = usize::from(may_rest(state));
    let chosen = outcome.checked_sub(before).and_then(|index| changes(state).nth(index));
    let change = chosen.unwrap_or(NetworkChange::None);
    complete(&[OperationKind::Partition], Completion::NetworkChanged(change));
    let set = |one: usize, other: usize, is_cut: bool| {
        for (one, other) in [(one, other), (other, one)] {
            let others = state.kernel.cuts[one].get() & !(1 << other);
            state.kernel.cuts[one].set(others | u16::from(is_cut) << other);
        }
    };
    match change {
        NetworkChange::None => withdraw(network),
        NetworkChange::Cut(one, other) => {
            state.partitions.set(state.partitions.get() + 1);
            set(one, other, true);
        }
        NetworkChange::Mended(one, other) => {
            set(one, other, false);
            net::mended(one, other);
            if changes(state).next().is_none() {
                withdraw(network);
            }
        }
    }
}
