//! Symmetry reduction: one order of first network use among processes with the same command.
//!
//! The shim holds the others back until the first one has used the network (its `symmetry.rs`). To
//! the search that is an order among steps which nothing can reverse.

use everypath_shim_abi::{
    Event, Facet, Global, MAX_PROCESSES, Mode, Object, OperationKind, Part, Setup,
    is_use_of_network,
};

/// For each process, one more than the number of the last one before it with the same command, if
/// there is one. The program that is checked is like no other.
pub fn leaders(companions: &[impl PartialEq]) -> [u8; MAX_PROCESSES] {
    let mut leaders = [0; MAX_PROCESSES];
    for (index, companion) in companions.iter().enumerate() {
        let before = companions[..index].iter().rposition(|before| before == companion);
        // The first companion is process 1.
        leaders[index + 1] = before.map_or(0, |before| before as u8 + 2);
    }
    leaders
}

/// That a step is the first with which a process uses the network, if it is one of several that are
/// just like each other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turn {
    /// One more than its number, and than that of the one before it; 0 if there is none.
    process: u8,
    leader: u8,
}

impl Turn {
    /// What the step touches by that.
    pub(crate) fn parts(self) -> impl Iterator<Item = Part> + Clone {
        let part = |mode, process: u8| {
            let object = Object::global(Global::Turn(process)).facet(Facet::Whole);
            (process != 0).then_some(Part { mode, object })
        };
        [part(Mode::Follow, self.leader), part(Mode::Lead, self.process)].into_iter().flatten()
    }
}

/// Which processes are just like each other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Symmetry {
    leaders: [u8; MAX_PROCESSES],
    threads_each: usize,
}

impl Symmetry {
    /// Those of a system with so many programs beside the first.
    pub(crate) fn of(setup: &Setup, companions: usize) -> Self {
        let setup = Setup { processes: companions as u16 + 1, ..*setup };
        Symmetry { leaders: setup.leaders, threads_each: setup.threads_each() }
    }

    /// The turns of steps; none if no processes are like each other.
    pub(crate) fn turns(&self, events: &[Event]) -> Vec<Turn> {
        if self.leaders == [0; MAX_PROCESSES] {
            return Vec::new();
        }
        let mut seen = [false; MAX_PROCESSES];
        let turn = |event: &Event| {
            let process = usize::from(event.thread) / self.threads_each;
            let is_first = is_use_of_network(event.kind(), event.object)
                || event.kind() == OperationKind::ProcessExit;
            if !is_first || std::mem::replace(&mut seen[process], true) {
                return Turn::default();
            }
            Turn { process: process as u8 + 1, leader: self.leaders[process] }
        };
        events.iter().map(turn).collect()
    }
}
