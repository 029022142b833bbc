//! Faults of a simulation: each happens as often as it was asked for, at random moments.

use super::random::{Random, Stream};
use super::settings::nanos;
use super::{Nanos, Settings};
use crate::faults::Fault;
use crate::{FaultState, Faults, NodeId};

/// The most nodes of a network that is simulated with crashes and partitions.
const MOST: u32 = 64;

/// What happens at one of the moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strike {
    /// The next packet on any link is lost.
    Lose,
    /// The next packet on any link arrives twice.
    Duplicate,
    /// Some node loses its state.
    Reboot,
    /// Some node stops for good.
    Crash,
    /// The network falls into two parts.
    Part,
    /// It is whole again.
    Heal,
}

/// What faults have done, and what they will do.
pub(super) struct Trouble {
    faults: Faults,
    pub(super) state: FaultState,
    random: Random,
    /// How many of the next packets are lost, and how many arrive twice.
    doomed: u32,
    doubled: u32,
}

/// The fate of a packet that is put on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// That of any other: the link decides.
    Usual,
    /// There is a partition between its ends.
    Parted,
    Lost,
    Duplicated,
}

impl Trouble {
    pub(super) fn new(settings: &Settings) -> Self {
        Trouble {
            faults: settings.faults,
            state: FaultState::new(&settings.faults, false),
            random: Random::new(settings.seed, Stream::Faults),
            doomed: 0,
            doubled: 0,
        }
    }

    /// When what happens. Partitions come one after the other: each has an equal part of the time, and
    /// begins and ends within it.
    pub(super) fn plan(&mut self, settings: &Settings) -> Vec<(Nanos, Strike)> {
        let duration = nanos(settings.duration).max(1);
        let mut plan = Vec::new();
        let Faults { loss, duplicate, reboot, crash, partition } = self.faults;
        let kinds = [
            (loss.unwrap_or(0), Strike::Lose),
            (duplicate.unwrap_or(0), Strike::Duplicate),
            (reboot.unwrap_or(0), Strike::Reboot),
            (crash, Strike::Crash),
        ];
        for (count, strike) in kinds {
            plan.extend((0..count).map(|_| (self.random.below(duration), strike)));
        }
        let part = duration / u64::from(partition.max(1));
        for number in 0..u64::from(partition) {
            let moments = [(); 2].map(|()| number * part + self.random.below(part.max(1)));
            let (first, last) = (moments[0].min(moments[1]), moments[0].max(moments[1]));
            plan.extend([(first, Strike::Part), (last, Strike::Heal)]);
        }
        plan
    }

    /// Some node that has not crashed, if there is one.
    pub(super) fn victim(&mut self, nodes: usize) -> Option<NodeId> {
        let up: Vec<NodeId> = (0..nodes as NodeId).filter(|id| self.state.is_up(*id)).collect();
        (!up.is_empty()).then(|| up[self.random.below(up.len() as u64) as usize])
    }

    /// Cuts some nodes off from node 0 and the rest; the lowest of them.
    pub(super) fn part(&mut self, nodes: usize) -> NodeId {
        let ways = (1u64 << (nodes - 1)) - 1;
        let side = (self.random.below(ways) + 1) << 1;
        self.state.cut(side);
        side.trailing_zeros() as NodeId
    }

    /// The next packet on a link is lost, or arrives twice.
    pub(super) fn strike_packet(&mut self, strike: Strike) {
        match strike {
            Strike::Lose => self.doomed += 1,
            _ => self.doubled += 1,
        }
    }

    /// What becomes of a packet between two nodes.
    pub(super) fn fate(&mut self, from: NodeId, to: NodeId) -> Fate {
        if self.state.parts(from, to) {
            return Fate::Parted;
        }
        for (count, fault, fate) in [
            (&mut self.doomed, Fault::Loss, Fate::Lost),
            (&mut self.doubled, Fault::Duplicate, Fate::Duplicated),
        ] {
            if *count > 0 {
                *count -= 1;
                self.state.happens(fault);
                return fate;
            }
        }
        Fate::Usual
    }
}

impl Faults {
    /// Why a network of this many nodes cannot be simulated with these faults, if so. `reboots` and
    /// `duplicates` are what its protocol knows.
    ///
    /// # Errors
    ///
    /// The fault, and why it cannot happen.
    pub fn check_simulated(
        &self,
        nodes: u32,
        (reboots, duplicates): (bool, bool),
    ) -> Result<(), String> {
        let Faults { duplicate, reboot, crash, partition, .. } = *self;
        if reboot.is_some_and(|count| count > 0) && !reboots {
            return Err("reboot: its nodes cannot lose their state".into());
        }
        if duplicate.is_some_and(|count| count > 0) && !duplicates {
            return Err("duplicate: it has no event that duplicates packets".into());
        }
        if (crash > 0 || partition > 0) && nodes > MOST {
            return Err(format!("crash or partition: it must have at most {MOST} nodes"));
        }
        if crash > nodes {
            return Err(format!("crash={crash}: there are {nodes} nodes"));
        }
        if partition > 0 && nodes < 2 {
            return Err("partition: there is one node".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn faults_happen_as_often_as_asked_and_partitions_one_after_the_other() {
        let faults = Faults { loss: Some(3), crash: 2, partition: 4, ..Faults::default() };
        let settings = Settings { faults, duration: Duration::from_secs(8), ..Settings::default() };
        let mut plan = Trouble::new(&settings).plan(&settings);
        plan.sort_unstable();
        let count = |strike| plan.iter().filter(|(_, it)| *it == strike).count();
        assert_eq!([Strike::Lose, Strike::Crash, Strike::Duplicate].map(count), [3, 2, 0]);
        let cuts: Vec<_> = plan.iter().filter(|(_, it)| *it >= Strike::Part).collect();
        assert_eq!(cuts.len(), 8);
        for (number, pair) in (0u64..).zip(cuts.chunks(2)) {
            assert_eq!((pair[0].1, pair[1].1), (Strike::Part, Strike::Heal));
            let part = number * 2_000_000_000..(number + 1) * 2_000_000_000;
            assert!(pair.iter().all(|(at, _)| part.contains(at)), "{pair:?}");
        }
    }

    #[test]
    fn both_sides_of_a_partition_have_a_node_and_packets_do_not_cross_it() {
        let faults = Faults { partition: 1, duplicate: Some(1), ..Faults::default() };
        for seed in 0..50 {
            let settings = Settings { faults, seed, ..Settings::default() };
            let mut trouble = Trouble::new(&settings);
            let lowest = trouble.part(3);
            assert!(lowest == 1 || lowest == 2);
            assert_eq!(trouble.fate(0, lowest), Fate::Parted);
            trouble.state.heal();
            trouble.strike_packet(Strike::Duplicate);
            assert_eq!(trouble.fate(0, lowest), Fate::Duplicated);
            assert_eq!(trouble.fate(0, lowest), Fate::Usual);
        }
    }
}
