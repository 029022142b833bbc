//! Stateright: the model as a user would write it, and packed into one word.

use crate::contender::{Contender, StateCounts, cores};
use crate::model::{Arq, Bounds, Event};
use crate::natural::NaturalState;
use stateright::{Checker, CheckerBuilder, Model, Property};
use std::fmt::Debug;
use std::hash::Hash;

/// Stateright's rows.
pub const ROWS: [Contender; 6] = [
    Contender::sequential("stateright-natural-bfs", |b| bfs(natural(b).threads(1))),
    Contender::sequential("stateright-natural-dfs", |b| dfs(natural(b).threads(1))),
    Contender::sequential("stateright-packed-bfs", |b| bfs(packed(b).threads(1))),
    Contender::sequential("stateright-packed-dfs", |b| dfs(packed(b).threads(1))),
    Contender::parallel("stateright-natural-bfs-cores", |b| {
        // With several threads the order is not strictly breadth first: no levels to report.
        let outcome = bfs(natural(b).threads(cores()));
        StateCounts { levels: None, ..outcome }
    }),
    Contender::parallel("stateright-natural-dfs-cores", |b| dfs(natural(b).threads(cores()))),
];

/// Prepares a search over [`NaturalState`].
fn natural(bounds: &Bounds) -> CheckerBuilder<Natural> {
    Natural { bounds: *bounds }.checker()
}

/// Prepares a search over packed words.
fn packed(bounds: &Bounds) -> CheckerBuilder<Packed> {
    Packed { bounds: *bounds }.checker()
}

/// Everything that Stateright asks of a model and its types before it checks it.
trait Checkable:
    Model<
        State: Hash + PartialEq + Clone + Debug + Send + Sync + 'static,
        Action: PartialEq + Clone + Debug,
    > + Send
    + Sync
    + 'static
{
}

impl Checkable for Natural {}
impl Checkable for Packed {}

/// Runs Stateright's breadth-first search.
fn bfs<M: Checkable>(builder: CheckerBuilder<M>) -> StateCounts {
    let checker = builder.spawn_bfs().join();
    StateCounts { levels: Some(checker.max_depth() as u64), ..outcome(&checker) }
}

/// Runs Stateright's depth-first search.
fn dfs<M: Checkable>(builder: CheckerBuilder<M>) -> StateCounts {
    outcome(&builder.spawn_dfs().join())
}

/// Reads the counts of a finished search.
///
/// Stateright's state count is one for every transition and one for the initial state.
fn outcome<M: Checkable>(checker: &impl Checker<M>) -> StateCounts {
    checker.assert_properties();
    StateCounts {
        states: checker.unique_state_count() as u64,
        transitions: Some(checker.state_count() as u64 - 1),
        levels: None,
    }
}

/// The model over packed words, with the logic of [`Arq`].
struct Packed {
    bounds: Bounds,
}

impl Model for Packed {
    type State = u64;
    type Action = Event;

    fn init_states(&self) -> Vec<u64> {
        vec![Arq::initial().pack()]
    }

    fn actions(&self, state: &u64, actions: &mut Vec<Event>) {
        actions.extend(Arq::unpack(*state).enabled(&self.bounds));
    }

    fn next_state(&self, state: &u64, event: Event) -> Option<u64> {
        let mut state = Arq::unpack(*state);
        state.perform(event);
        Some(state.pack())
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("in order", |_: &Self, state: &u64| Arq::unpack(*state).in_order)]
    }
}

/// The model as a user of Stateright would write it.
struct Natural {
    bounds: Bounds,
}

impl Model for Natural {
    type State = NaturalState;
    type Action = Event;

    fn init_states(&self) -> Vec<NaturalState> {
        vec![NaturalState::initial()]
    }

    fn actions(&self, state: &NaturalState, actions: &mut Vec<Event>) {
        state.enabled(&self.bounds, |event| actions.push(event));
    }

    fn next_state(&self, last: &NaturalState, event: Event) -> Option<NaturalState> {
        let mut state = last.clone();
        state.apply(event);
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("in order", |_: &Self, state: &NaturalState| state.in_order)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::Tool;
    use crate::model::{QUICK, QUICK_SIZE};

    #[test]
    fn every_row_finds_the_published_size() {
        for row in ROWS {
            let Tool::InProcess(run) = row.tool else {
                unreachable!("all rows of Stateright run in this binary")
            };
            let outcome = run(&QUICK);
            assert!(outcome.agrees_with(&QUICK_SIZE), "{}: {outcome:?}", row.name);
        }
    }
}
