//! Fair cycles: infinite executions in which an obligation is never met.
//!
//! Under weak fairness, a strongly connected component contains a fair cycle if and only if each event
//! is disabled in some state of it or taken inside it. Under strong fairness, an event that is enabled
//! somewhere and never taken inside leaves only those states in which it is disabled, and these are
//! decomposed again:
//!
//! O. Lichtenstein, A. Pnueli: *Checking that finite state concurrent programs satisfy their linear
//! specification*, POPL 1985, section 6; E. A. Emerson, C.-L. Lei: *Modalities for model checking:
//! branching time logic strikes back*, Science of Computer Programming 8(3), 1987.

use super::Fairness;
use super::state_graph::{Edge, StateGraph};
use super::tarjan::Tarjan;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// An event at an actor, of which fairness speaks.
type Unit = (u16, u16);

/// A cycle: its states, and which edge of each leads to the next; the last leads to the first.
pub(crate) type Cycle = Vec<(u32, u32)>;

/// The search for a fair cycle.
pub(crate) struct FairCycles<'a> {
    pub(crate) graph: &'a StateGraph,
    pub(crate) fairness: &'a Fairness,
}

/// What is left of a component when states are taken out.
enum Part {
    /// It contains a fair cycle.
    Fair,
    /// It contains none.
    Unfair,
    /// If there is one, it is among these states.
    Within(Vec<u32>),
}

impl FairCycles<'_> {
    /// A fair cycle through some of these states, if there is one.
    pub(crate) fn find(&self, states: Vec<u32>) -> Option<Cycle> {
        let mut tarjan = Tarjan::new(self.graph.len());
        let mut parts = vec![0u32; self.graph.len()];
        let mut components = vec![0u32; self.graph.len()];
        let mut waiting = vec![states];
        let (mut part_number, mut component_number) = (0, 0);
        while let Some(states) = waiting.pop() {
            part_number += 1;
            states.iter().for_each(|&state| parts[state as usize] = part_number);
            let part = |state: u32| parts[state as usize] == part_number;
            let (mut fair, mut smaller) = (None, Vec::new());
            tarjan.components(self.graph, &states, &part, &mut |component| {
                component_number += 1;
                component.iter().for_each(|&s| components[s as usize] = component_number);
                match self.judge(component, &components, component_number) {
                    Part::Fair => fair = Some(component.to_vec()),
                    Part::Unfair => {}
                    Part::Within(states) => smaller.push(states),
                }
                fair.is_some()
            });
            if let Some(component) = fair {
                return Some(self.cycle(&component));
            }
            waiting.extend(smaller);
        }
        None
    }

    /// The edges from a state of a component that stay in it.
    fn within<'c>(
        &'c self,
        state: u32,
        component: &'c BTreeSet<u32>,
    ) -> impl Iterator<Item = (u32, &'c Edge)> {
        (0..).zip(self.graph.edges(state)).filter(|(_, edge)| component.contains(&edge.to))
    }

    /// Whether a component contains a fair cycle. `part` has the number of the component at the place
    /// of each of its states, and at no other.
    fn judge(&self, component: &[u32], part: &[u32], number: u32) -> Part {
        let inside = |state: u32| part[state as usize] == number;
        let stays = |state: &u32| self.graph.edges(*state).iter().any(|edge| inside(edge.to));
        if !component.iter().any(stays) {
            return Part::Unfair;
        }
        let Fairness { weak, strong } = self.fairness;
        if weak.is_empty() && strong.is_empty() {
            return Part::Fair;
        }
        let mut taken = BTreeSet::new();
        // In how many states of the component each event is enabled.
        let mut enabled: BTreeMap<Unit, usize> = BTreeMap::new();
        let mut here = Vec::new();
        for &state in component {
            here.clear();
            for edge in self.graph.edges(state).iter().filter(|edge| self.speaks_of(edge)) {
                here.push((edge.event, edge.actor));
                if inside(edge.to) {
                    taken.insert((edge.event, edge.actor));
                }
            }
            here.sort_unstable();
            here.dedup();
            here.iter().for_each(|unit| *enabled.entry(*unit).or_default() += 1);
        }
        let starved = |events: &[u16], least: usize| {
            let unit = |(unit, count): (&Unit, &usize)| {
                (events.contains(&unit.0) && *count >= least && !taken.contains(unit))
                    .then_some(*unit)
            };
            enabled.iter().filter_map(unit).collect::<Vec<_>>()
        };
        if !starved(weak, component.len()).is_empty() {
            return Part::Unfair;
        }
        let starved = starved(strong, 1);
        if starved.is_empty() {
            return Part::Fair;
        }
        let rest = component.iter().copied();
        Part::Within(
            rest.filter(|&s| !self.enabled(s).any(|unit| starved.contains(&unit))).collect(),
        )
    }

    /// Whether fairness speaks of the event of an edge.
    fn speaks_of(&self, edge: &Edge) -> bool {
        self.fairness.weak.contains(&edge.event) || self.fairness.strong.contains(&edge.event)
    }

    /// What is enabled in a state.
    fn enabled(&self, state: u32) -> impl Iterator<Item = Unit> {
        self.graph.edges(state).iter().map(|edge| (edge.event, edge.actor))
    }

    /// A cycle through a component that is fair: one that visits, of each event of which fairness
    /// speaks, a step inside, or else a state in which it is disabled.
    fn cycle(&self, component: &[u32]) -> Cycle {
        let members: BTreeSet<u32> = component.iter().copied().collect();
        let start = *members.first().expect("a component has states");
        let units: BTreeSet<Unit> = component
            .iter()
            .flat_map(|&state| self.enabled(state))
            .filter(|(event, _)| {
                self.fairness.weak.contains(event) || self.fairness.strong.contains(event)
            })
            .collect();
        let (mut cycle, mut at) = (Cycle::new(), start);
        for unit in units {
            let strong = self.fairness.strong.contains(&unit.0);
            if self.serves(&cycle, unit, strong) {
                continue;
            }
            // A step of the event, if there is one; else a state that disables it.
            let takes = |(_, edge): (u32, &Edge)| (edge.event, edge.actor) == unit;
            let has_step = component.iter().any(|&state| self.within(state, &members).any(takes));
            let path = if has_step {
                self.walk(at, &members, &|_, edge| (edge.event, edge.actor) == unit)
            } else {
                self.walk(at, &members, &|_, edge| {
                    !self.enabled(edge.to).any(|other| other == unit)
                })
            };
            at = self.append(&mut cycle, path).unwrap_or(at);
        }
        if at != start || cycle.is_empty() {
            let back = self.walk(at, &members, &|_, edge| edge.to == start);
            self.append(&mut cycle, back);
        }
        cycle
    }

    fn append(&self, cycle: &mut Cycle, path: Cycle) -> Option<u32> {
        cycle.extend(path);
        cycle.last().map(|&(state, edge)| self.graph.edges(state)[edge as usize].to)
    }

    /// Whether a cycle under construction is fair to an event already.
    fn serves(&self, cycle: &Cycle, unit: Unit, strong: bool) -> bool {
        cycle.iter().any(|&(state, edge)| {
            let edge = self.graph.edges(state)[edge as usize];
            let taken = (edge.event, edge.actor) == unit;
            taken || !strong && !self.enabled(state).any(|other| other == unit)
        })
    }

    /// The shortest walk inside a component from a state to the end of an edge that `last` accepts.
    fn walk(&self, from: u32, members: &BTreeSet<u32>, last: &dyn Fn(u32, &Edge) -> bool) -> Cycle {
        let mut came: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(state) = queue.pop_front() {
            for (number, edge) in self.within(state, members) {
                if last(state, edge) {
                    let (mut walk, mut at) = (vec![(state, number)], state);
                    while at != from {
                        let step = came[&at];
                        walk.push(step);
                        at = step.0;
                    }
                    walk.reverse();
                    return walk;
                }
                if edge.to != from && !came.contains_key(&edge.to) {
                    came.insert(edge.to, (state, number));
                    queue.push_back(edge.to);
                }
            }
        }
        unreachable!("a component is strongly connected")
    }
}
