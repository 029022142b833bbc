//! Liveness: what must happen eventually, in every fair execution.
//!
//! - `formula`: *eventually*, *leads to*, *until*; [`Fairness`].
//! - [`StateGraph`]: all states and steps, which are explored once for all formulas.
//! - `tarjan`: strongly connected components. `fair_cycle`: those that contain a fair cycle.
//!
//! A counterexample is a *lasso*: a stem that leads to a loop, which can be repeated for ever. It is
//! confirmed by taking its steps again. States are told apart by equality, whatever the visited set of
//! the search: a simulation relation keeps no obligations, and neither does a partial-order reduction
//! that does not know of them.

mod confirm;
mod fair_cycle;
mod formula;
mod state_graph;
mod tarjan;

pub(crate) use confirm::confirm_lasso;
pub use formula::Fairness;
pub(crate) use formula::Formula;
pub use state_graph::{Edge, StateGraph};

use crate::property::Kind;
use crate::{Control, Ended, Found, Property, Search, System, panic_capture};
use fair_cycle::FairCycles;
use formula::Label;
use std::collections::VecDeque;

/// What was found of properties that speak of infinite executions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Liveness {
    /// How many states and steps there are.
    pub states: u64,
    /// Steps between them.
    pub steps: u64,
    /// For each violated property a counterexample, confirmed.
    pub found: Vec<Found>,
    /// Whether there are states at the depth bound, so that not all executions were seen to their end.
    pub bounded: bool,
    /// Why the search ended.
    pub ended: Ended,
}

/// A property, and its formula.
type Named<'a, T> = (&'a Property<T>, &'a Formula<T>);

/// Looks for fair executions that violate those of `properties` that speak of infinite executions, and
/// stops at the first violated property unless the search keeps going.
pub fn check_liveness<S: System>(
    system: &S,
    properties: &[Property<S::State>],
    (search, fairness): (&Search, &Fairness),
    control: &Control,
) -> Liveness {
    let formulas: Vec<Named<'_, S::State>> = properties
        .iter()
        .filter_map(|property| match &property.kind {
            Kind::Liveness(formula) => Some((property, formula)),
            _ => None,
        })
        .collect();
    let mut labels: Vec<Vec<Label>> = formulas.iter().map(|_| Vec::new()).collect();
    let built = panic_capture::run(|| {
        StateGraph::new(system, search, control, |state| {
            for ((_, formula), labels) in formulas.iter().zip(&mut labels) {
                labels.push(formula.label(state));
            }
        })
    });
    let mut liveness =
        Liveness { states: 0, steps: 0, found: Vec::new(), bounded: false, ended: Ended::Complete };
    let graph = match built {
        Ok(graph) => graph,
        Err(message) => {
            liveness.ended = Ended::Unconfirmed(format!("the model {message}"));
            return liveness;
        }
    };
    (liveness.states, liveness.steps) = (graph.len() as u64, graph.steps() as u64);
    liveness.bounded = !graph.is_expanded(graph.len() as u32 - 1);
    liveness.ended = graph.ended.clone();
    for ((property, formula), labels) in formulas.into_iter().zip(&labels) {
        let Some(lasso) = violate(&graph, formula, labels, fairness) else { continue };
        let schedule = graph.schedule(system, search, &lasso.path);
        let rules = (search, fairness);
        match confirm_lasso(system, property, rules, (&schedule, lasso.loop_start)) {
            Ok(message) => liveness.found.push(Found {
                property: property.name.clone(),
                message,
                schedule,
                loop_start: lasso.loop_start,
            }),
            Err(reason) => liveness.ended = Ended::Unconfirmed(reason),
        }
        if !search.keep_going {
            break;
        }
    }
    liveness
}

/// A path, as edges, and where its loop begins; an execution that ends has none.
struct Lasso {
    path: Vec<u32>,
    loop_start: Option<usize>,
}

/// Where a state with an obligation was first reached from: the state before, with or without one, and
/// the edge.
#[derive(Clone, Copy)]
struct Came {
    from: u32,
    obliged: bool,
    edge: u32,
}

/// The initial state came from nowhere.
const START: u32 = u32::MAX;

/// The states that can be reached with and without an obligation.
struct Obligations {
    /// How each state was first reached with an obligation, and how without.
    with: Vec<Option<Came>>,
    without: Vec<Option<Came>>,
    /// Those with an obligation, in the order of a breadth-first search.
    obliged: Vec<u32>,
    /// The first state in which what must hold until the goal does not.
    broken: Option<u32>,
}

/// Follows the obligation of a formula through the graph.
fn follow<T>(graph: &StateGraph, formula: &Formula<T>, labels: &[Label]) -> Obligations {
    let mut reached = Obligations {
        with: vec![None; graph.len()],
        without: vec![None; if formula.only_at_start() { 0 } else { graph.len() }],
        obliged: Vec::new(),
        broken: None,
    };
    let mut queue = VecDeque::from([(
        0,
        formula.starts_obliged(labels[0]),
        Came { from: START, obliged: false, edge: 0 },
    )]);
    while let Some((state, obliged, came)) = queue.pop_front() {
        let known = if obliged { &mut reached.with } else { &mut reached.without };
        match known.get_mut(state as usize) {
            // Nothing can go wrong any more without an obligation that arises again.
            None => continue,
            Some(Some(_)) => continue,
            Some(known) => *known = Some(came),
        }
        if obliged {
            reached.obliged.push(state);
            if !labels[state as usize].hold() {
                reached.broken = Some(state);
                return reached;
            }
        }
        for (edge, step) in (0..).zip(graph.edges(state)) {
            let next = labels[step.to as usize].obliged(obliged);
            queue.push_back((step.to, next, Came { from: state, obliged, edge }));
        }
    }
    reached
}

impl Obligations {
    /// The way to a state with an obligation.
    fn path(&self, state: u32) -> Vec<u32> {
        let (mut path, mut at, mut obliged) = (Vec::new(), state, true);
        loop {
            let known = if obliged { &self.with } else { &self.without };
            let came = known[at as usize].expect("it was reached");
            if came.from == START {
                path.reverse();
                return path;
            }
            path.push(came.edge);
            (at, obliged) = (came.from, came.obliged);
        }
    }
}

/// A fair execution that violates a formula, if there is one.
fn violate<T>(
    graph: &StateGraph,
    formula: &Formula<T>,
    labels: &[Label],
    fairness: &Fairness,
) -> Option<Lasso> {
    let reached = follow(graph, formula, labels);
    let stuck = |state: u32| graph.is_expanded(state) && graph.edges(state).is_empty();
    let end = reached.broken.or_else(|| reached.obliged.iter().copied().find(|&s| stuck(s)));
    if let Some(end) = end {
        return Some(Lasso { path: reached.path(end), loop_start: None });
    }
    let cycle = FairCycles { graph, fairness }.find(reached.obliged.clone())?;
    let mut path = reached.path(cycle[0].0);
    let loop_start = Some(path.len());
    path.extend(cycle.iter().map(|&(_, edge)| edge));
    Some(Lasso { path, loop_start })
}
