//! Faults: how often packets may be lost and duplicated, nodes reboot and crash, networks be cut.

use crate::{Canonical, NodeId};
use std::collections::BTreeMap;

/// How often each fault may happen in an execution.
///
/// `None` is as often as the model lets it: packets are lost and nodes reboot any number of times, if
/// there are such events. Crashes and partitions happen only within a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Packets are lost.
    pub loss: Option<u32>,
    /// Packets are duplicated; without a budget see [`Options::duplicate`](crate::Options).
    pub duplicate: Option<u32>,
    /// Nodes reboot.
    pub reboot: Option<u32>,
    /// Nodes stop for good.
    pub crash: u32,
    /// The network falls into two parts, one partition after the other.
    pub partition: u32,
}

/// A kind of fault, in the order of [`Faults::NAMES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Loss,
    Duplicate,
    Reboot,
    Crash,
    Partition,
}

/// The most nodes of a network that can be partitioned: there are 2^(n-1) - 1 ways.
pub(crate) const PARTITIONED: NodeId = 12;
/// The most nodes of a network in which nodes can crash.
pub(crate) const CRASHING: NodeId = 64;

impl Faults {
    /// The faults, as people name them.
    pub const NAMES: [&'static str; 5] = ["loss", "duplicate", "reboot", "crash", "partition"];

    /// The budgets of these names, which are all among [`Faults::NAMES`].
    pub fn named(budgets: &BTreeMap<String, u32>) -> Self {
        let budget = |name: &str| budgets.get(name).copied();
        Faults {
            loss: budget("loss"),
            duplicate: budget("duplicate"),
            reboot: budget("reboot"),
            crash: budget("crash").unwrap_or(0),
            partition: budget("partition").unwrap_or(0),
        }
    }

    fn budgets(&self) -> [Option<u32>; 5] {
        [self.loss, self.duplicate, self.reboot, Some(self.crash), Some(self.partition)]
    }

    /// The faults that happen at all, by name, where each has a number.
    pub fn asked(&self) -> impl Iterator<Item = (&'static str, u32)> {
        let budgets = Faults::NAMES.into_iter().zip(self.budgets());
        budgets.filter_map(|(name, budget)| Some((name, budget.filter(|count| *count > 0)?)))
    }

    fn any(&self) -> bool {
        *self != Faults::default()
    }
}

/// What faults have done so far, and how many are left.
///
/// It is part of a state only where it can differ: in networks with budgets, or with several initial
/// states.
#[derive(Clone, Debug, Default)]
pub struct FaultState {
    tracked: bool,
    left: [Option<u32>; 5],
    /// The nodes that have crashed, a bit each.
    down: u64,
    /// One side of the partition, a bit for each node; none if there is no partition.
    apart: u64,
    /// Whether nothing has happened yet, and another initial state may be taken.
    pub(crate) fresh: bool,
}

impl FaultState {
    pub(crate) fn new(faults: &Faults, several_starts: bool) -> Self {
        FaultState {
            tracked: faults.any() || several_starts,
            left: faults.budgets(),
            down: 0,
            apart: 0,
            fresh: several_starts,
        }
    }

    /// Whether a node has not crashed.
    #[inline]
    pub fn is_up(&self, node: NodeId) -> bool {
        self.down == 0 || self.down >> node & 1 == 0
    }

    /// Whether a partition is between two nodes.
    #[inline]
    pub fn parts(&self, a: NodeId, b: NodeId) -> bool {
        self.apart != 0 && (self.apart >> a ^ self.apart >> b) & 1 == 1
    }

    /// Whether there is a partition.
    pub fn is_partitioned(&self) -> bool {
        self.apart != 0
    }

    /// Whether a fault may happen once more.
    #[inline]
    pub(crate) fn may(&self, fault: Fault) -> bool {
        self.left[fault as usize] != Some(0)
    }

    /// Notes that a fault happens.
    pub(crate) fn happens(&mut self, fault: Fault) {
        if let Some(left) = &mut self.left[fault as usize] {
            *left = left.saturating_sub(1);
        }
    }

    pub(crate) fn crash(&mut self, node: NodeId) {
        self.happens(Fault::Crash);
        self.down |= 1 << node;
    }

    /// Cuts the nodes of a mask off from the others.
    pub(crate) fn cut(&mut self, side: u64) {
        self.happens(Fault::Partition);
        self.apart = side;
    }

    pub(crate) fn heal(&mut self) {
        self.apart = 0;
    }

    /// Renames the nodes.
    pub(crate) fn rename(&mut self, names: &[NodeId]) {
        let renamed = |mask: u64| {
            let nodes = (0..).zip(names).filter(|(node, _)| *node < 64 && mask >> node & 1 == 1);
            nodes.fold(0, |renamed, (_, name)| renamed | 1 << name)
        };
        if self.down != 0 {
            self.down = renamed(self.down);
        }
        if self.apart != 0 {
            self.apart = renamed(self.apart);
            if self.apart & 1 == 1 {
                self.apart ^= (1 << names.len()) - 1;
            }
        }
    }

    /// What is to be known of it, in words.
    pub(crate) fn describe(&self, faults: &Faults) -> Option<String> {
        let nodes = |mask: u64| -> String {
            let nodes = (0..64).filter(|node| mask >> node & 1 == 1);
            nodes.map(|node: u16| node.to_string()).collect::<Vec<_>>().join(", ")
        };
        let mut parts = Vec::new();
        if self.down != 0 {
            parts.push(format!("crashed: {}", nodes(self.down)));
        }
        if self.apart != 0 {
            parts.push(format!("cut off: {}", nodes(self.apart)));
        }
        let budgets = faults.budgets().into_iter().zip(Faults::NAMES).zip(self.left);
        let left = budgets.filter_map(|((budget, name), left)| {
            let left = left.filter(|_| budget != Some(0))?;
            Some(format!("{name} {left}"))
        });
        let left: Vec<String> = left.collect();
        if !left.is_empty() {
            parts.push(format!("left: {}", left.join(", ")));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

impl Canonical for FaultState {
    fn write(&self, bytes: &mut Vec<u8>) {
        if self.tracked {
            self.left.iter().flatten().for_each(|left| left.write(bytes));
            self.down.write(bytes);
            self.apart.write(bytes);
            self.fresh.write(bytes);
        }
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        if self.tracked {
            self.left.iter_mut().flatten().for_each(|left| left.read(bytes));
            self.down.read(bytes);
            self.apart.read(bytes);
            self.fresh.read(bytes);
        }
    }
}

/// How many partitions there are whose side without node 0 has `lowest` as its lowest node.
pub(crate) fn partitions(nodes: NodeId, lowest: NodeId) -> u32 {
    if lowest == 0 { 0 } else { 1 << (nodes - 1 - lowest) }
}

/// The side without node 0 of such a partition.
pub(crate) fn side(lowest: NodeId, number: u32) -> u64 {
    (u64::from(number) << 1 | 1) << lowest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_partition_is_numbered_once() {
        let sides =
            (0..4).flat_map(|lowest| (0..partitions(4, lowest)).map(move |n| side(lowest, n)));
        let mut sides: Vec<u64> = sides.collect();
        sides.sort_unstable();
        assert_eq!(sides, [2, 4, 6, 8, 10, 12, 14]);
    }

    #[test]
    fn a_partition_is_between_its_sides_only() {
        let mut state = FaultState::new(&Faults { partition: 1, ..Faults::default() }, false);
        assert!(!state.parts(0, 1) && state.may(Fault::Partition));
        state.cut(0b0110);
        assert!(state.parts(0, 1) && state.parts(2, 3) && !state.parts(1, 2) && !state.parts(0, 3));
        assert!(!state.may(Fault::Partition));
        state.heal();
        assert!(!state.parts(0, 1));
    }
}
