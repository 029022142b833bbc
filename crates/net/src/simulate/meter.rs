//! The counters of a running simulation.

use super::{Nanos, Violation};
use crate::{NodeId, Report};
use std::collections::BTreeMap;
use std::time::Duration;

/// What was measured in one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// How long the run was, in simulated time.
    pub duration: Duration,
    /// What was counted.
    pub counts: Counts,
    /// From sending to delivery, of each data that was delivered, ascending, in nanoseconds.
    pub delays: Vec<u64>,
    /// From the start of a search that found a way to its end, ascending, in nanoseconds.
    pub discoveries: Vec<u64>,
    /// Over how many links data came, by how many data did.
    pub hops: BTreeMap<u16, u64>,
    /// The first violation, if properties were checked.
    pub violation: Option<Violation>,
}

/// What is counted in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Data that applications sent.
    pub offered: u64,
    /// Data of these that arrived where it was sent to, each counted once.
    pub delivered: u64,
    /// Data that arrived there again.
    pub duplicates: u64,
    /// Data that the protocol reported as given up and that did not arrive before that.
    pub dropped: u64,
    /// Transmissions of data packets, each hop and each retransmission counted.
    pub data: u64,
    /// Transmissions of other packets; a broadcast is one transmission.
    pub control: u64,
    /// Packets put on links; a broadcast puts one on each.
    pub sent: u64,
    /// Packets of these that arrived at the other end.
    pub arrived: u64,
    /// Packets that were lost on links.
    pub lost: u64,
    /// Packets that were still under way at the end.
    pub in_flight: u64,
    /// Searches for a way that were started.
    pub searches: u64,
    /// Packets that arrived once more because of a fault.
    pub duplicated: u64,
    /// How often a node lost its state.
    pub reboots: u64,
    /// Nodes that stopped for good.
    pub crashes: u64,
    /// How often the network fell into two parts.
    pub partitions: u64,
    /// How often a handler was called.
    pub events: u64,
}

/// Data that an application sent.
struct Offer {
    at: Nanos,
    delivered: bool,
    dropped: bool,
}

/// Counts while the simulation runs.
pub(super) struct Meter {
    pub(super) counts: Counts,
    /// By source and number.
    offers: Vec<Vec<Offer>>,
    /// Since when a node has been looking for a way to another.
    searches: Vec<BTreeMap<NodeId, Nanos>>,
    delays: Vec<Nanos>,
    discoveries: Vec<Nanos>,
    hops: BTreeMap<u16, u64>,
}

impl Meter {
    pub(super) fn new(nodes: usize) -> Self {
        Meter {
            counts: Counts::default(),
            offers: (0..nodes).map(|_| Vec::new()).collect(),
            searches: vec![BTreeMap::new(); nodes],
            delays: Vec::new(),
            discoveries: Vec::new(),
            hops: BTreeMap::new(),
        }
    }

    /// A node transmits a packet, to one neighbour or to all.
    pub(super) fn transmitted(&mut self, data: bool) {
        let count = if data { &mut self.counts.data } else { &mut self.counts.control };
        *count += 1;
    }

    /// An application sends data; returns its number.
    pub(super) fn offer(&mut self, source: NodeId, at: Nanos) -> u32 {
        let offers = &mut self.offers[usize::from(source)];
        offers.push(Offer { at, delivered: false, dropped: false });
        self.counts.offered += 1;
        offers.len() as u32 - 1
    }

    /// A node loses its state, and what it was looking for with it.
    pub(super) fn rebooted(&mut self, node: NodeId) {
        self.counts.reboots += 1;
        self.searches[usize::from(node)].clear();
    }

    /// A handler reports. Inconsistent reports, such as data that was never sent, are not counted.
    pub(super) fn report(&mut self, node: NodeId, report: Report, now: Nanos) {
        match report {
            Report::Offered => {
                self.offer(node, now);
            }
            Report::Delivered { source, number, hops } => {
                let Some(offer) = self.offered(source, number) else { return };
                let (again, delay) = (offer.delivered, now - offer.at);
                offer.delivered = true;
                if again {
                    self.counts.duplicates += 1;
                    return;
                }
                self.counts.delivered += 1;
                self.delays.push(delay);
                if let Some(hops) = hops {
                    *self.hops.entry(hops).or_default() += 1;
                }
            }
            Report::Dropped { source, number } => {
                let Some(offer) = self.offered(source, number) else { return };
                let first = !offer.delivered && !offer.dropped;
                offer.dropped = true;
                self.counts.dropped += u64::from(first);
            }
            Report::Searching(target) => {
                self.counts.searches += 1;
                self.searches[usize::from(node)].insert(target, now);
            }
            Report::Found(target) => {
                let since = self.searches[usize::from(node)].remove(&target);
                self.discoveries.extend(since.map(|since| now - since));
            }
        }
    }

    fn offered(&mut self, source: NodeId, number: u32) -> Option<&mut Offer> {
        self.offers.get_mut(usize::from(source))?.get_mut(number as usize)
    }

    /// What was measured.
    pub(super) fn finish(mut self, duration: Duration, in_flight: u64) -> Run {
        self.counts.in_flight = in_flight;
        self.delays.sort_unstable();
        self.discoveries.sort_unstable();
        Run {
            duration,
            counts: self.counts,
            delays: self.delays,
            discoveries: self.discoveries,
            hops: self.hops,
            violation: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_counted_once_whatever_is_reported_of_it() {
        let mut meter = Meter::new(3);
        assert_eq!([meter.offer(1, 10), meter.offer(1, 20), meter.offer(2, 20)], [0, 1, 0]);
        let arrived = Report::Delivered { source: 1, number: 1, hops: Some(2) };
        meter.report(0, arrived, 50);
        meter.report(0, arrived, 60);
        meter.report(0, Report::Dropped { source: 1, number: 1 }, 70);
        meter.report(0, Report::Dropped { source: 1, number: 0 }, 70);
        meter.report(0, Report::Dropped { source: 1, number: 0 }, 80);
        meter.report(0, Report::Delivered { source: 1, number: 9, hops: None }, 80);
        meter.report(0, Report::Delivered { source: 9, number: 0, hops: None }, 80);
        let run = meter.finish(Duration::from_secs(1), 0);
        let Counts { offered, delivered, duplicates, dropped, .. } = run.counts;
        assert_eq!((offered, delivered, duplicates, dropped), (3, 1, 1, 1));
        assert_eq!((run.delays, run.hops), (vec![30], BTreeMap::from([(2, 1)])));
    }

    #[test]
    fn a_search_lasts_from_its_last_start_to_its_end() {
        let mut meter = Meter::new(2);
        meter.report(0, Report::Searching(1), 5);
        meter.report(0, Report::Searching(1), 8);
        meter.report(1, Report::Found(1), 9);
        meter.report(0, Report::Found(1), 15);
        meter.report(0, Report::Found(1), 16);
        meter.report(0, Report::Searching(1), 20);
        meter.rebooted(0);
        meter.report(0, Report::Found(1), 30);
        let run = meter.finish(Duration::from_secs(1), 0);
        assert_eq!((run.counts.searches, run.discoveries), (3, vec![7]));
    }
}
