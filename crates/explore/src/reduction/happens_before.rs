//! The order that an execution's steps have among themselves (Lamport 1978; Mattern 1989).
//!
//! One node a part of a step, with a vector clock over actors. Two nodes are ordered if they are of
//! one actor, if the first creates the actor of the second or lets it go on, or if they depend on
//! each other.

use super::{Footprint, Relation, Taken};
use std::collections::BTreeMap;

/// Two nodes that could come in the other order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The node that came first.
    pub earlier: usize,
    /// The node that came second.
    pub later: usize,
}

#[derive(Clone, Debug)]
struct Node<P> {
    part: P,
    step: usize,
    /// Which actor, by the order of creation: numbers are used again, identities are not.
    identity: usize,
    /// How many nodes of its actor there are up to this one.
    local: u32,
    /// For each actor, how many of its nodes come before this one, this one included.
    clock: Vec<u32>,
}

#[derive(Clone, Debug)]
struct StepRecord {
    identity: usize,
    first: usize,
    /// Where the parts begin that would become a step of their own.
    separable: usize,
    end: usize,
    /// What the step's creation of an actor replaced, to be undone.
    replaced: Option<(u16, Option<usize>)>,
}

/// The nodes of an execution.
#[derive(Clone, Debug)]
pub struct HappensBefore<P> {
    nodes: Vec<Node<P>>,
    steps: Vec<StepRecord>,
    /// The identity behind each actor's number.
    identities: BTreeMap<u16, usize>,
    /// For each identity, its last node, or the node that created it.
    last: Vec<Vec<usize>>,
}

impl<P: Copy> Default for HappensBefore<P> {
    fn default() -> Self {
        HappensBefore {
            nodes: Vec::new(),
            steps: Vec::new(),
            identities: BTreeMap::new(),
            last: Vec::new(),
        }
    }
}

impl<P: Copy> HappensBefore<P> {
    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Forgets the steps from `step` on.
    pub fn truncate(&mut self, step: usize) {
        while self.steps.len() > step {
            let record = self.steps.pop().expect("there are more steps");
            if let Some((number, before)) = record.replaced {
                self.last.pop();
                match before {
                    Some(identity) => self.identities.insert(number, identity),
                    None => self.identities.remove(&number),
                };
            }
            self.nodes.truncate(record.first);
            let first = self.nodes.len();
            self.last[record.identity].retain(|&node| node < first);
        }
    }

    /// Adds a step and returns its races with earlier ones.
    pub fn push<F: Footprint<Part = P>>(&mut self, step: &Taken<F>) -> Vec<Race> {
        let identity = self.identity(step.choice.actor);
        let first = self.nodes.len();
        let mut races = Vec::new();
        let mut after = step.after.and_then(|step| self.steps.get(step)).map(|record| record.end);
        for part in step.footprint.parts() {
            let granted = after.take().and_then(|end| end.checked_sub(1));
            self.add_node::<F>(identity, part, granted, &mut races);
        }
        let replaced = step.creates.map(|number| {
            let fresh = self.last.len();
            self.last.push(self.last[identity].last().copied().into_iter().collect());
            (number, self.identities.insert(number, fresh))
        });
        let end = self.nodes.len();
        let separable = (first..end).find(|&node| F::is_separable(self.nodes[node].part));
        let separable = separable.unwrap_or(end);
        self.steps.push(StepRecord { identity, first, separable, end, replaced });
        races
    }

    fn identity(&mut self, actor: u16) -> usize {
        if let Some(&identity) = self.identities.get(&actor) {
            return identity;
        }
        // An actor whose creation was not seen: it was there from the start.
        let fresh = self.last.len();
        self.last.push(Vec::new());
        self.identities.insert(actor, fresh);
        fresh
    }

    fn add_node<F: Footprint<Part = P>>(
        &mut self,
        identity: usize,
        part: P,
        after: Option<usize>,
        races: &mut Vec<Race>,
    ) {
        let mut clock = match self.last[identity].last() {
            Some(&node) => self.nodes[node].clock.clone(),
            None => Vec::new(),
        };
        if let Some(node) = after {
            join(&mut clock, &self.nodes[node].clock);
        }
        let later = self.nodes.len();
        for earlier in (0..later).rev() {
            let node = &self.nodes[earlier];
            if clock.get(node.identity).copied().unwrap_or(0) >= node.local {
                continue;
            }
            match F::relation(node.part, part) {
                Relation::Independent => continue,
                Relation::Ordered => {}
                Relation::Racing => races.push(Race { earlier, later }),
            }
            join(&mut clock, &node.clock);
        }
        let own =
            self.last[identity].iter().rev().find(|&&node| self.nodes[node].identity == identity);
        let local = own.map_or(0, |&node| self.nodes[node].local) + 1;
        if clock.len() <= identity {
            clock.resize(identity + 1, 0);
        }
        clock[identity] = local;
        let step = self.steps.len();
        self.nodes.push(Node { part, step, identity, local, clock });
        self.last[identity].push(later);
    }

    /// What does not depend on how independent steps were mixed: for each actor, by identity, its
    /// parts with their clocks. Executions with equal classes are equivalent.
    pub fn class(&self) -> Vec<Vec<(P, Vec<u32>)>> {
        let mut class = vec![Vec::new(); self.last.len()];
        for node in &self.nodes {
            class[node.identity].push((node.part, node.clock.clone()));
        }
        class
    }

    /// The step that a node is part of.
    pub fn step_of(&self, node: usize) -> usize {
        self.nodes[node].step
    }

    fn node_before(&self, earlier: usize, later: usize) -> bool {
        let node = &self.nodes[earlier];
        self.nodes[later].clock.get(node.identity).copied().unwrap_or(0) >= node.local
    }

    /// Whether a later step could not have been taken before an earlier one. What a later step got
    /// at once because of the earlier one does not count: it could have asked before.
    pub fn is_before(&self, earlier: usize, later: usize) -> bool {
        let (earlier, later) = (&self.steps[earlier], &self.steps[later]);
        let first = earlier.first;
        first < earlier.end
            && (later.first..later.separable).any(|node| self.node_before(first, node))
    }
}

fn join(clock: &mut Vec<u32>, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
