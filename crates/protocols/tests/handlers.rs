//! The timers that protocols say are active are those that their handlers have set.
//!
//! The handlers run in a world where everything happens that can: packets arrive or are lost,
//! timers fire, applications ask, nodes reboot. It knows nothing of exploration, so this is also
//! the smallest example of driving a protocol from elsewhere.

use everypath_net::{Context, NodeId, Options, Protocol, Report, Topology};
use everypath_protocols::{Aodv, Arq, aodv};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::time::Duration;

/// What a handler does to the world.
struct Effects<'a, P: Protocol> {
    id: NodeId,
    topology: &'a Topology,
    timers: &'a mut BTreeSet<P::Timer>,
    packets: &'a mut Vec<(NodeId, NodeId, P::Packet)>,
}

impl<P: Protocol> Context<P> for Effects<'_, P> {
    fn id(&self) -> NodeId {
        self.id
    }

    fn neighbours(&self) -> &[NodeId] {
        self.topology.neighbours(self.id)
    }

    fn send(&mut self, to: NodeId, packet: P::Packet) {
        assert!(self.neighbours().contains(&to), "{} hears {to}", self.id);
        self.packets.push((self.id, to, packet));
    }

    fn broadcast(&mut self, packet: P::Packet) {
        let neighbours = self.topology.neighbours(self.id);
        self.packets.extend(neighbours.iter().map(|&to| (self.id, to, packet.clone())));
    }

    fn set(&mut self, timer: P::Timer, delay: Duration) {
        assert!(delay > Duration::ZERO);
        self.timers.insert(timer);
    }

    fn cancel(&mut self, timer: &P::Timer) {
        self.timers.remove(timer);
    }

    fn report(&mut self, _report: Report) {}
}

/// Lets things happen as `choices` say, and compares the timers after each of them.
fn check<P: Protocol>(
    options: &Options,
    command: impl Fn(NodeId, u16) -> Option<P::Command>,
    choices: &[(u8, NodeId, u16)],
) {
    let topology = &options.topology;
    let protocol = P::build(options);
    let mut packets = Vec::new();
    let (mut nodes, mut timers) = (Vec::new(), Vec::new());
    for id in 0..topology.nodes() {
        let mut active = BTreeSet::new();
        let timers_of = &mut active;
        let mut effects = Effects::<P> { id, topology, timers: timers_of, packets: &mut packets };
        nodes.push(protocol.start(&mut effects));
        timers.push(active);
    }
    for &(what, who, which) in choices {
        let mut id = who % topology.nodes();
        let arrived = match what {
            0..=5 if !packets.is_empty() => {
                let (from, to, packet) = packets.swap_remove(which as usize % packets.len());
                id = to;
                Some((from, packet))
            }
            _ => None,
        };
        let node = &mut nodes[id as usize];
        let active = &mut timers[id as usize];
        let fired = match what {
            6 | 7 if !active.is_empty() => {
                let timer = active.iter().nth(which as usize % active.len()).cloned();
                timer.and_then(|timer| active.take(&timer))
            }
            _ => None,
        };
        if what == 9 {
            active.clear();
        }
        let mut effects = Effects::<P> { id, topology, timers: active, packets: &mut packets };
        match (arrived, fired) {
            // One packet in six is lost.
            (Some((from, packet)), _) if what > 0 => {
                protocol.receive(node, from, packet, &mut effects);
            }
            (_, Some(timer)) => protocol.fire(node, timer, &mut effects),
            _ if what == 8 => {
                if let Some(command) = command(id, which) {
                    protocol.command(node, command, &mut effects);
                }
            }
            _ if what == 9 => protocol.reboot(node, &mut effects),
            _ => {}
        }
        let said: BTreeSet<P::Timer> = protocol.timers(&nodes[id as usize]).collect();
        assert!(said == timers[id as usize], "after {what} at node {id}");
    }
}

fn choices() -> impl Strategy<Value = Vec<(u8, NodeId, u16)>> {
    prop::collection::vec((0..10u8, any::<NodeId>(), any::<u16>()), 0..300)
}

proptest! {
    #[test]
    fn of_arq(choices in choices()) {
        let without_reboots: Vec<_> = choices.into_iter().filter(|choice| choice.0 < 8).collect();
        check::<Arq>(&Options::new(Topology::chain(2)), |_, _| None, &without_reboots);
    }

    #[test]
    fn of_aodv(choices in choices(), seed: u64, bugs in prop::sample::subsequence(
        vec!["reboot-forgets", "stale-seqno", "delete-route"], 0..=3,
    )) {
        let topology = Topology::new(everypath_net::Shape::Random { seed }, 6);
        let bugs = bugs.into_iter().map(String::from).collect();
        let options = Options { bugs, ..Options::new(topology) };
        let command = |_, which: u16| {
            let to = which % 6;
            Some(match which % 2 {
                0 => aodv::Command::Discover(to),
                _ => aodv::Command::Send { to, number: u32::from(which) },
            })
        };
        check::<Aodv>(&options, command, &choices);
    }
}
