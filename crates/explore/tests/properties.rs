//! Kinds of properties: steps, reachability, deadlocks; and what they do to the simulation relation.

use everypath_explore::{
    Canonical, Control, Ended, Exploration, Property, Search, SearchOrder, SimulationRelation,
    Step, System, Task, VisitedKind, explore,
};

/// A counter that goes up by one or two, and stops at `end`.
struct Counter {
    end: u8,
}

impl System for Counter {
    type State = u8;

    fn initial(&self) -> u8 {
        0
    }

    fn enabled(&self, state: &u8, steps: &mut Vec<Step>) {
        let ways = 2.min(self.end - state);
        steps.extend((0..ways).map(|param| Step {
            actor: 0,
            event: param as u16,
            param: param.into(),
        }));
    }

    fn take(&self, state: &mut u8, step: Step) {
        *state += 1 + step.param as u8;
    }
}

fn run<S: System>(system: &S, properties: &[Property<S::State>], search: &Search) -> Exploration {
    explore(&Task { system, properties, rank: None, search }, &Control::default())
}

fn orders() -> impl Iterator<Item = Search> {
    let orders = [SearchOrder::Bfs, SearchOrder::Dfs, SearchOrder::DfsRecursive];
    orders.into_iter().map(|order| Search { order, ..Search::default() })
}

#[test]
fn a_property_of_steps_sees_both_states() {
    for search in orders() {
        let jump = || {
            Property::step("no jump over 3", |before: &u8, after: &u8| match (before, after) {
                (2, 4) => Err("it jumps".into()),
                _ => Ok(()),
            })
        };
        let found = run(&Counter { end: 5 }, &[jump()], &search).found;
        assert_eq!(found[0].message, "it jumps");
        let events: Vec<u16> = found[0].schedule.iter().map(|step| step.event).collect();
        assert_eq!(events.last(), Some(&1));
        assert_eq!(events.iter().map(|event| event + 1).sum::<u16>(), 4);
        assert!(run(&Counter { end: 3 }, &[jump()], &search).found.is_empty());
    }
}

#[test]
fn what_must_be_reachable_has_a_witness_or_none() {
    for search in orders() {
        let reach =
            |goal: u8| Property::sometimes(format!("{goal}"), move |state: &u8| *state == goal);
        let result = run(&Counter { end: 5 }, &[reach(0), reach(4), reach(6)], &search);
        assert_eq!((&result.ended, result.found.len()), (&Ended::Complete, 0));
        let lengths: Vec<_> = result
            .witnesses
            .iter()
            .map(|(name, steps)| {
                (
                    name.as_str(),
                    steps
                        .as_ref()
                        .map(|steps| steps.iter().map(|step| step.event + 1).sum::<u16>()),
                )
            })
            .collect();
        assert_eq!(lengths, [("0", Some(0)), ("4", Some(4)), ("6", None)]);
        assert_eq!(result.by_event.iter().sum::<u64>(), result.counts.events);
        assert_eq!(result.by_event.len(), 2);
    }
}

#[test]
fn a_deadlock_is_an_end_where_none_may_be() {
    for search in orders() {
        let stuck = |may_end: u8| Property::no_deadlock(move |state: &u8| *state == may_end);
        let result = run(&Counter { end: 5 }, &[stuck(4)], &search);
        assert_eq!(result.ended, Ended::Violation);
        assert_eq!(result.found[0].property, "deadlock");
        let result = run(&Counter { end: 5 }, &[stuck(5)], &search);
        assert_eq!((result.ended, result.counts.dead_ends), (Ended::Complete, 1));
    }
}

/// A node, and packets of which the step `use_up` takes one; more packets seem to make more possible.
struct Pouch {
    /// Whether the step `idle` needs an empty network, which breaks the promise.
    needs_empty: bool,
}

#[derive(Default, Clone, Copy)]
struct Pouched {
    node: u8,
    packets: u8,
}

impl Canonical for Pouched {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend([self.node, self.packets]);
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        (self.node, self.packets) = (bytes[0], bytes[1]);
        *bytes = &bytes[2..];
    }
}

impl System for Pouch {
    type State = Pouched;

    fn initial(&self) -> Pouched {
        Pouched { node: 0, packets: 2 }
    }

    fn enabled(&self, state: &Pouched, steps: &mut Vec<Step>) {
        if state.packets > 0 {
            steps.push(Step { actor: 0, event: 0, param: 0 });
        }
        if state.node == 0 && (state.packets == 0 || !self.needs_empty) {
            steps.push(Step { actor: 0, event: 1, param: 0 });
        }
    }

    fn take(&self, state: &mut Pouched, step: Step) {
        match step.event {
            0 => state.packets -= 1,
            _ => state.node = 1,
        }
    }

    fn relation(&self) -> Option<&dyn SimulationRelation> {
        Some(self)
    }
}

impl SimulationRelation for Pouch {
    fn key_len(&self, _bytes: &[u8]) -> usize {
        1
    }
    fn simulates(&self, larger: &[u8], smaller: &[u8]) -> bool {
        larger >= smaller
    }
}

/// The bug was a wrong *holds*: the states in which the property is violated were pruned.
#[test]
fn a_property_of_everything_is_not_checked_by_the_relation() {
    let search = Search { visited: VisitedKind::Relation, ..Search::default() };
    let used_up = |state: &Pouched| match state {
        Pouched { node: 1, packets: 0 } => Err("done, and nothing is in flight".into()),
        _ => Ok(()),
    };
    let pouch = Pouch { needs_empty: false };
    let all = Property::new("in flight", used_up);
    assert_eq!(run(&pouch, &[all], &search).found.len(), 1);
    let nodes = || Property::new("node", |_: &Pouched| Ok(())).respecting_relation();
    let result = run(&pouch, &[nodes()], &search);
    assert_eq!((result.ended, result.counts.states), (Ended::Complete, 2));
    let equality = Search { visited: VisitedKind::Equality, ..search };
    assert_eq!(run(&pouch, &[nodes()], &equality).counts.states, 6);
}

/// A relation is a promise of the model; one that is not kept is found out.
#[test]
fn a_relation_that_is_no_simulation_is_found_out() {
    let nodes = || Property::new("node", |_: &Pouched| Ok(())).respecting_relation();
    let result = run(&Pouch { needs_empty: true }, &[nodes()], &Search::default());
    let Ended::NotSimulated(breach) = result.ended else { panic!("{:?}", result.ended) };
    assert_eq!(breach.larger, [0, 1]);
    assert_eq!(breach.smaller, [0, 0]);
    assert_eq!(breach.step.event, 1);
}
