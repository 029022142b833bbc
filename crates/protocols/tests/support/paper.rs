//! The search of Sobeih (2008) as it was done there, to compare models and not tools.
//!
//! Two things differ from ours, and both show in the paper's counts:
//!
//! - Packets are kept in the order of sending ([`PacketOrder::Sent`]).
//! - The relation asks whether each packet of the smaller network is in the larger one, not how
//!   often. (That is no simulation: two copies of a packet can do what one cannot.)

use everypath_explore::{Model as _, Rank, Step, System as _};
use everypath_net::{Canonical as _, Network, Options, PacketOrder, Scenario, World};
use std::collections::BTreeMap;

/// What to search for, and how.
#[derive(Clone, Copy)]
pub(crate) struct Paper<'a> {
    pub(crate) depth: u32,
    /// The name of a rank for best-first search; breadth-first if it is empty.
    pub(crate) rank: &'a str,
    /// Whether the relation prunes, or equality.
    pub(crate) relation: bool,
    pub(crate) must_contain: Option<u16>,
    pub(crate) disabled: Option<u16>,
}

/// What the tables give for finding a violation: visited states, waiting states, events.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) visited: usize,
    pub(crate) waiting: usize,
    pub(crate) events: u64,
}

/// A state that waits to be explored.
struct Waiting {
    bytes: Vec<u8>,
    depth: u32,
    contains: bool,
}

/// Searches until a violation is found (figure 3.2).
pub(crate) fn search<P: Scenario>(options: Options, paper: Paper<'_>) -> Cost {
    let model = Network::<P>::new(Options { order: PacketOrder::Sent, ..options });
    let properties = model.properties();
    let ranks = model.ranks();
    let rank = ranks.iter().find(|rank| rank.name == paper.rank);
    let mut world = model.initial();
    let mut visited = Visited::default();
    let mut frontier: BTreeMap<(Vec<i64>, i64), Waiting> = BTreeMap::new();
    let (mut events, mut pushed) = (0, 0);
    let mut push = |frontier: &mut BTreeMap<_, _>, world: &World<P>, state: Waiting| {
        pushed += 1;
        // The last key is explored next.
        let key = match rank {
            Some(rank) => (Rank::tuple(rank, world), pushed),
            None => (Vec::new(), -pushed),
        };
        frontier.insert(key, state);
    };
    let start =
        Waiting { bytes: written(&world), depth: 0, contains: paper.must_contain.is_none() };
    visited.admit(&start, paper.relation);
    push(&mut frontier, &world, start);
    while let Some((_, state)) = frontier.pop_last() {
        for step in steps(&model, &state.bytes, paper.disabled) {
            events += 1;
            world.read(&mut &state.bytes[..]);
            model.take(&mut world, step);
            let contains = state.contains || paper.must_contain == Some(step.event);
            if properties.iter().any(|property| property.check(&world).is_err()) {
                if contains {
                    return Cost { visited: visited.count, waiting: frontier.len(), events };
                }
                continue;
            }
            let next = Waiting { bytes: written(&world), depth: state.depth + 1, contains };
            if next.depth < paper.depth && visited.admit(&next, paper.relation) {
                push(&mut frontier, &world, next);
            }
        }
    }
    panic!("no violation to depth {}", paper.depth);
}

fn steps<P: Scenario>(model: &Network<P>, bytes: &[u8], disabled: Option<u16>) -> Vec<Step> {
    let mut world = model.initial();
    world.read(&mut &bytes[..]);
    let mut steps = Vec::new();
    model.enabled(&world, &mut steps);
    steps.retain(|step| Some(step.event) != disabled);
    steps
}

fn written<P: Scenario>(world: &World<P>) -> Vec<u8> {
    let mut bytes = Vec::new();
    world.write(&mut bytes);
    bytes
}

/// The visited states, by the bytes of their nodes.
#[derive(Default)]
struct Visited {
    states: BTreeMap<Vec<u8>, Vec<Seen>>,
    count: usize,
}

/// The rest of a visited state.
struct Seen {
    depth: u32,
    /// The bytes of the network.
    network: Vec<u8>,
    /// The packets in it, each once, in ascending order.
    packets: Vec<Vec<u8>>,
}

impl Visited {
    /// Whether no state of the same or a smaller depth stands for this one.
    fn admit(&mut self, state: &Waiting, relation: bool) -> bool {
        let split = usize::from(u16::from_le_bytes([state.bytes[0], state.bytes[1]]));
        let (nodes, network) = state.bytes.split_at(split);
        let packets = packets(network);
        let alike = self.states.entry(nodes.into()).or_default();
        let stands_for_it = |seen: &Seen| match relation {
            true => is_subset(&packets, &seen.packets),
            false => seen.network == network,
        };
        if alike.iter().any(|seen| seen.depth <= state.depth && stands_for_it(seen)) {
            return false;
        }
        alike.push(Seen { depth: state.depth, network: network.into(), packets });
        self.count += 1;
        true
    }
}

/// Whether all of one ascending list is in another.
fn is_subset(smaller: &[Vec<u8>], larger: &[Vec<u8>]) -> bool {
    let mut candidates = larger.iter();
    smaller.iter().all(|wanted| candidates.find(|packet| *packet >= wanted) == Some(wanted))
}

/// The packets in the bytes of a network: after their length in all, each with its own length.
fn packets(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    usize::read(&mut 0, &mut bytes);
    let mut packets = Vec::new();
    while let Some((length, rest)) = bytes.split_first() {
        let (packet, rest) = rest.split_at(usize::from(*length));
        packets.push(packet.to_vec());
        bytes = rest;
    }
    packets.sort_unstable();
    packets.dedup();
    packets
}
