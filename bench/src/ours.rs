//! Everypath's own rows.

use crate::contender::{Contender, StateCounts, cores};
use crate::model::{Arq, Bounds, Event};
use crate::natural::{NaturalState, Packet};
use everypath_explore::{
    Canonical, Control, Ended, Property, Search, SearchOrder, Step, System, Task, VisitedKind,
    canonical, explore,
};

/// Breadth-first.
pub const BFS: SearchOrder = SearchOrder::Bfs;
const DFS: SearchOrder = SearchOrder::Dfs;
const EXACT: VisitedKind = VisitedKind::Equality;
/// Fingerprints.
pub const HASH: VisitedKind = VisitedKind::Hash;

/// The rows: bfs and dfs, by equality and by hash, packed and natural, on one thread and (bfs,
/// the one search that several threads share) on all cores.
pub const ROWS: [Contender; 8] = [
    Contender::sequential("everypath-packed-bfs", |b| packed(b, BFS, EXACT, 1)),
    Contender::sequential("everypath-packed-dfs", |b| packed(b, DFS, EXACT, 1)),
    Contender::sequential("everypath-packed-bfs-hash", |b| packed(b, BFS, HASH, 1)),
    Contender::sequential("everypath-packed-dfs-hash", |b| packed(b, DFS, HASH, 1)),
    Contender::sequential("everypath-natural-bfs", |b| natural(b, BFS, EXACT, 1)),
    Contender::sequential("everypath-natural-dfs", |b| natural(b, DFS, EXACT, 1)),
    Contender::parallel("everypath-packed-bfs-cores", |b| packed(b, BFS, EXACT, cores())),
    Contender::parallel("everypath-natural-bfs-cores", |b| natural(b, BFS, EXACT, cores())),
];

/// Explores the model over [`Arq`], whose canonical bytes are its packed word.
pub fn packed(
    bounds: &Bounds,
    order: SearchOrder,
    visited: VisitedKind,
    threads: usize,
) -> StateCounts {
    let in_order = |state: &PackedState| state.0.in_order;
    run(&Packed(*bounds), in_order, &Search { order, visited, threads, ..Search::default() })
}

/// Explores the model over [`NaturalState`].
pub fn natural(
    bounds: &Bounds,
    order: SearchOrder,
    visited: VisitedKind,
    threads: usize,
) -> StateCounts {
    let in_order = |state: &NaturalState| state.in_order;
    run(&Natural(*bounds), in_order, &Search { order, visited, threads, ..Search::default() })
}

/// What must hold.
pub fn in_order<T: 'static>(in_order: fn(&T) -> bool) -> Property<T> {
    Property::new("in order", move |state: &T| match in_order(state) {
        true => Ok(()),
        false => Err("messages arrive out of order".into()),
    })
}

fn run<S: System<State: 'static>>(
    system: &S,
    in_order: fn(&S::State) -> bool,
    search: &Search,
) -> StateCounts {
    let property = crate::ours::in_order(in_order);
    let task = Task { system, properties: &[property], rank: None, search };
    let result = explore(&task, &Control::default());
    assert_eq!(result.ended, Ended::Complete, "{:?}", result.found);
    StateCounts {
        states: result.counts.states,
        transitions: Some(result.counts.events),
        levels: (search.order == BFS).then(|| u64::from(result.counts.depth) + 1),
    }
}

/// The model over packed words.
struct Packed(Bounds);

/// A state that is stored as one word.
struct PackedState(Arq);

impl Canonical for PackedState {
    const SIZE: Option<usize> = Some(8);

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.0.pack().to_le_bytes());
    }

    fn read(&mut self, bytes: &mut &[u8]) {
        let (word, rest) = bytes.split_first_chunk().expect("eight bytes were written");
        *bytes = rest;
        self.0 = Arq::unpack(u64::from_le_bytes(*word));
    }
}

/// The step that stands for an event.
fn step(event: Event) -> Step {
    Step { actor: 0, event: event as u16, param: 0 }
}

impl System for Packed {
    type State = PackedState;

    fn initial(&self) -> PackedState {
        PackedState(Arq::initial())
    }

    fn enabled(&self, state: &PackedState, steps: &mut Vec<Step>) {
        steps.extend(state.0.enabled(&self.0).map(step));
    }

    fn take(&self, state: &mut PackedState, step: Step) {
        state.0.perform(Event::ALL[step.event as usize]);
    }

    fn restore(&self, original: &PackedState, _: &[u8], state: &mut PackedState) {
        state.0 = original.0;
    }
}

canonical!(struct Packet { bit, payload });
canonical!(struct NaturalState {
    next, waiting, expected, retransmissions, losses, in_order, data, acks,
});

/// The model over a state with growable channels.
pub struct Natural(pub Bounds);

impl System for Natural {
    type State = NaturalState;

    fn initial(&self) -> NaturalState {
        NaturalState::initial()
    }

    fn enabled(&self, state: &NaturalState, steps: &mut Vec<Step>) {
        state.enabled(&self.0, |event| steps.push(step(event)));
    }

    fn take(&self, state: &mut NaturalState, step: Step) {
        state.apply(Event::ALL[step.event as usize]);
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
                unreachable!("all rows of ours run in this binary")
            };
            let outcome = run(&QUICK);
            assert!(outcome.agrees_with(&QUICK_SIZE), "{}: {outcome:?}", row.name);
        }
    }
}
