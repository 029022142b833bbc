//! Liveness on random graphs, compared with a search that tries every set of states.

use everypath_explore::{Control, Ended, Fairness, Property, Search, Step, System, check_liveness};
use proptest::prelude::*;

/// A random graph: for each state its edges, each an actor, an event and where it leads.
#[derive(Clone, Debug)]
struct Random {
    edges: Vec<Vec<(u16, u16, u8)>>,
}

impl System for Random {
    type State = u8;

    fn initial(&self) -> u8 {
        0
    }

    fn enabled(&self, state: &u8, steps: &mut Vec<Step>) {
        for (param, &(actor, event, _)) in (0..).zip(&self.edges[usize::from(*state)]) {
            steps.push(Step { actor, event, param });
        }
    }

    fn take(&self, state: &mut u8, step: Step) {
        *state = self.edges[usize::from(*state)][step.param as usize].2;
    }
}

const STATES: u8 = 6;

fn graphs() -> impl Strategy<Value = Random> {
    let edge = (0..2u16, 0..3u16, 0..STATES);
    let edges = prop::collection::vec(prop::collection::vec(edge, 0..4), usize::from(STATES));
    edges.prop_map(|edges| Random { edges })
}

fn fairness() -> impl Strategy<Value = Fairness> {
    let events = || prop::collection::vec(0..3u16, 0..3);
    (events(), events()).prop_map(|(weak, strong)| Fairness { weak, strong })
}

/// Whether a set of states (as bits) is strongly connected by edges within it, with at least one.
fn is_connected(graph: &Random, set: u8) -> bool {
    let inside = |state: u8| set >> state & 1 == 1;
    let reach = |from: u8| {
        let mut reached = 0u8;
        loop {
            let mut next = reached;
            for state in (0..STATES).filter(|&s| inside(s) && (s == from || reached >> s & 1 == 1))
            {
                for &(.., to) in &graph.edges[usize::from(state)] {
                    next |= u8::from(inside(to)) << to;
                }
            }
            if next == reached {
                return reached;
            }
            reached = next;
        }
    };
    (0..STATES).filter(|&state| inside(state)).all(|state| reach(state) & set == set)
}

/// Whether an execution that visits exactly these states for ever can be fair: the more of the edges
/// inside it takes, the fairer.
fn is_fair(graph: &Random, set: u8, fairness: &Fairness) -> bool {
    let states: Vec<usize> = (0..usize::from(STATES)).filter(|s| set >> s & 1 == 1).collect();
    let enabled = |state: usize, unit: (u16, u16)| {
        graph.edges[state].iter().any(|&(actor, event, _)| (actor, event) == unit)
    };
    let taken = |unit: (u16, u16)| {
        let edges = states.iter().flat_map(|&state| &graph.edges[state]);
        edges.clone().any(|&(actor, event, to)| (actor, event) == unit && set >> to & 1 == 1)
    };
    (0..2).all(|actor| {
        let weak = fairness.weak.iter().all(|&event| {
            taken((actor, event)) || !states.iter().all(|&state| enabled(state, (actor, event)))
        });
        let strong = fairness.strong.iter().all(|&event| {
            taken((actor, event)) || !states.iter().any(|&state| enabled(state, (actor, event)))
        });
        weak && strong
    })
}

/// The states that can be reached with an obligation: it arises in `trigger` (or at the start) and is
/// met in `goal`.
fn obliged(graph: &Random, trigger: Option<u8>, goal: u8) -> u8 {
    let is = |set: u8, state: u8| set >> state & 1 == 1;
    let start = !is(goal, 0) && trigger.is_none_or(|trigger| is(trigger, 0));
    let mut seen = std::collections::BTreeSet::new();
    let mut waiting = vec![(0u8, start)];
    while let Some((state, pending)) = waiting.pop() {
        if seen.insert((state, pending)) {
            for &(.., to) in &graph.edges[usize::from(state)] {
                let arises = pending || trigger.is_some_and(|trigger| is(trigger, to));
                waiting.push((to, arises && !is(goal, to)));
            }
        }
    }
    seen.into_iter().filter(|(_, pending)| *pending).fold(0, |set, (state, _)| set | 1 << state)
}

/// Whether the formula is violated, by trying every set of states.
fn violated(graph: &Random, trigger: Option<u8>, goal: u8, fairness: &Fairness) -> bool {
    let obliged = obliged(graph, trigger, goal);
    let stuck =
        (0..STATES).any(|s| obliged >> s & 1 == 1 && graph.edges[usize::from(s)].is_empty());
    stuck
        || (1..1u8 << STATES).any(|set| {
            set & obliged == set && is_connected(graph, set) && is_fair(graph, set, fairness)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Every counterexample that is found was confirmed by taking its steps again, so it is enough that
    /// one is found exactly where there is one.
    #[test]
    fn a_fair_lasso_is_found_where_there_is_one(
        graph in graphs(),
        fairness in fairness(),
        goal in 0..1u8 << STATES,
        trigger in prop::option::of(0..1u8 << STATES),
    ) {
        let is = |set: u8| move |state: &u8| set >> state & 1 == 1;
        let property = match trigger {
            None => Property::eventually("p", is(goal)),
            Some(trigger) => Property::leads_to("p", is(trigger), is(goal)),
        };
        let search = Search::default();
        let found = check_liveness(&graph, &[property], (&search, &fairness), &Control::default());
        prop_assert_eq!(&found.ended, &Ended::Complete);
        prop_assert_eq!(!found.found.is_empty(), violated(&graph, trigger, goal, &fairness));
    }

    /// Until is eventually, and that nothing goes wrong before.
    #[test]
    fn until_is_eventually_and_a_safety_property(
        graph in graphs(),
        goal in 0..1u8 << STATES,
        hold in 0..1u8 << STATES,
    ) {
        let is = |set: u8| move |state: &u8| set >> state & 1 == 1;
        let property = Property::until("p", is(hold), is(goal));
        let none = Fairness::default();
        let search = Search::default();
        let found = check_liveness(&graph, &[property], (&search, &none), &Control::default());
        let broken = obliged(&graph, None, goal) & !hold != 0;
        prop_assert_eq!(&found.ended, &Ended::Complete);
        prop_assert_eq!(!found.found.is_empty(), broken || violated(&graph, None, goal, &none));
    }
}

/// Two philosophers' forks in small: an actor that may always be overtaken is served under strong
/// fairness only.
#[test]
fn weak_fairness_does_not_serve_what_is_disabled_again_and_again() {
    // State 0: the lock is free; 1: actor 1 holds it; 2: actor 0 has had it.
    let edges = vec![vec![(0, 0, 2), (1, 0, 1)], vec![(1, 1, 0)], vec![(0, 2, 2)]];
    let graph = Random { edges };
    let check = |fairness: Fairness| {
        let served = Property::eventually("served", |state: &u8| *state == 2);
        let search = Search::default();
        check_liveness(&graph, &[served], (&search, &fairness), &Control::default()).found
    };
    let found = check(Fairness { weak: vec![0, 1], strong: vec![] });
    assert_eq!(found[0].loop_start, Some(0));
    assert_eq!(found[0].schedule.len(), 2);
    assert!(check(Fairness { weak: vec![1], strong: vec![0] }).is_empty());
}

/// Within a depth bound, a state at the bound is no end.
#[test]
fn the_depth_bound_is_no_deadlock() {
    let graph = Random { edges: vec![vec![(0, 0, 1)], vec![(0, 0, 2)], vec![]] };
    let check = |max_depth| {
        let never = Property::eventually("never", |_: &u8| false);
        let search = Search { max_depth, ..Search::default() };
        let fairness = Fairness::default();
        check_liveness(&graph, &[never], (&search, &fairness), &Control::default())
    };
    let bounded = check(Some(2));
    assert!(bounded.found.is_empty() && bounded.bounded);
    let whole = check(None);
    assert_eq!((whole.found[0].schedule.len(), whole.found[0].loop_start), (2, None));
}
