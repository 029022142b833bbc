//! Nodes that are alike: the representative of states that differ only in which of them is which.

use crate::choices::Choices;
use crate::{Canonical as _, Cloud as _, Envelope, Network, NodeId, Scenario, World};
use std::collections::BTreeSet;

/// New names for nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renaming {
    names: Vec<NodeId>,
}

impl Renaming {
    /// The new name of a node.
    pub fn of(&self, node: NodeId) -> NodeId {
        self.names[usize::from(node)]
    }

    /// Renames the nodes of a set.
    pub fn set(&self, nodes: &mut BTreeSet<NodeId>) {
        *nodes = nodes.iter().map(|&node| self.of(node)).collect();
    }

    fn identity(nodes: NodeId) -> Self {
        Renaming { names: (0..nodes).collect() }
    }

    fn inverse(&self) -> Self {
        let mut names = vec![0; self.names.len()];
        for (node, &name) in (0..).zip(&self.names) {
            names[usize::from(name)] = node;
        }
        Renaming { names }
    }

    /// This one, and then another.
    fn then(&self, other: &Renaming) -> Self {
        Renaming { names: self.names.iter().map(|&name| other.of(name)).collect() }
    }
}

/// Says why nodes are not alike on a topology, if so.
pub(crate) fn check<P: Scenario>(network: &Network<P>) -> Result<Vec<NodeId>, String> {
    let alike = network.protocol.symmetric();
    if alike.len() < 2 {
        return Err("it does not say which nodes are alike (Scenario::symmetric)".into());
    }
    let topology = &network.options.topology;
    for pair in alike.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let others = |node: NodeId| {
            let heard = topology.neighbours(node).iter().copied();
            heard.filter(move |&other| other != a && other != b)
        };
        if !others(a).eq(others(b)) {
            return Err(format!(
                "nodes {a} and {b} have other neighbours, so they are not alike; \
                 leave --reduction symmetry out or choose a topology such as mesh"
            ));
        }
    }
    Ok(alike)
}

impl<P: Scenario> Network<P> {
    /// Renames the nodes of a world.
    fn rename(&self, world: &mut World<P>, names: &Renaming) {
        let packets: Vec<Envelope<P::Packet>> = world.cloud.envelopes().collect();
        world.cloud.lose(|_| true);
        for Envelope { from, to, mut packet } in packets {
            self.protocol.rename_packet(&mut packet, names);
            world.cloud.put(names.of(from), names.of(to), packet);
        }
        world.nodes.permute(&names.names);
        for id in self.ids() {
            self.protocol.rename_node(world.nodes.change(id), names);
        }
        self.protocol.rename_ghost(&mut world.ghost, names);
        world.faults.rename(&names.names);
    }

    /// Exchanges two nodes.
    pub(crate) fn exchanged(&self, world: &mut World<P>, a: NodeId, b: NodeId) {
        let mut names = Renaming::identity(self.options.topology.nodes());
        names.names.swap(a.into(), b.into());
        self.rename(world, &names);
    }

    /// What can be said of a node without naming others that are alike: equal for nodes that a
    /// renaming exchanges.
    fn signature(&self, world: &World<P>, id: NodeId, scratch: &mut World<P>) -> Vec<u8> {
        // Itself, any other, and the rest as they are.
        let blur = |node| match node {
            _ if node == id => 0,
            _ if self.alike.contains(&node) => 1,
            _ => node + 2,
        };
        let names = Renaming { names: self.ids().map(blur).collect() };
        let mut signature = vec![u8::from(world.faults.is_up(id))];
        let mut bytes = Vec::new();
        world.nodes[usize::from(id)].write(&mut bytes);
        let node = scratch.nodes.change(id);
        node.read(&mut &bytes[..]);
        self.protocol.rename_node(node, &names);
        node.write(&mut signature);
        bytes.clear();
        world.ghost.write(&mut bytes);
        scratch.ghost.read(&mut &bytes[..]);
        self.protocol.rename_ghost(&mut scratch.ghost, &names);
        scratch.ghost.write(&mut signature);
        let own = world.cloud.envelopes().filter(|packet| packet.from == id || packet.to == id);
        let mut packets: Vec<Vec<u8>> = own
            .map(|Envelope { from, to, mut packet }| {
                self.protocol.rename_packet(&mut packet, &names);
                let mut bytes = Vec::new();
                Envelope { from: names.of(from), to: names.of(to), packet }.write(&mut bytes);
                bytes
            })
            .collect();
        packets.sort_unstable();
        signature.extend(packets.into_iter().flatten());
        signature
    }

    /// Makes a world the representative of all that differ from it only in which of the like nodes is
    /// which: the one whose bytes come first, of those in which signatures ascend.
    pub(crate) fn representative_of(&self, world: &mut World<P>) {
        let mut scratch = self.start(&mut Choices::default());
        let sign = |&id: &NodeId| (self.signature(world, id, &mut scratch), id);
        let mut order: Vec<(Vec<u8>, NodeId)> = self.alike.iter().map(sign).collect();
        order.sort_unstable();
        let mut names = Renaming::identity(self.options.topology.nodes());
        for (&name, (_, node)) in self.alike.iter().zip(&order) {
            names.names[usize::from(*node)] = name;
        }
        self.rename(world, &names);
        let signatures: Vec<&Vec<u8>> = order.iter().map(|(signature, _)| signature).collect();
        if signatures.windows(2).all(|pair| pair[0] != pair[1]) {
            return;
        }
        self.settle_ties(world, &signatures);
    }

    /// Tries all renamings among nodes of equal signatures.
    fn settle_ties(&self, world: &mut World<P>, signatures: &[&Vec<u8>]) {
        let identity = Renaming::identity(self.options.topology.nodes());
        let mut candidates = Vec::new();
        permute_ties(signatures, &mut (0..signatures.len()).collect(), 0, &mut |places| {
            let mut names = identity.clone();
            for (&node, &place) in self.alike.iter().zip(places) {
                names.names[usize::from(node)] = self.alike[place];
            }
            candidates.push(names);
        });
        let (mut now, mut best) = (identity, None::<(Vec<u8>, Renaming)>);
        for candidate in candidates {
            self.rename(world, &now.inverse().then(&candidate));
            let mut bytes = Vec::new();
            world.write(&mut bytes);
            if best.as_ref().is_none_or(|(smallest, _)| bytes < *smallest) {
                best = Some((bytes, candidate.clone()));
            }
            now = candidate;
        }
        if let Some((_, best)) = best {
            self.rename(world, &now.inverse().then(&best));
        }
    }
}

/// Calls `each` with all permutations of places that exchange only places of equal signatures.
fn permute_ties(
    signatures: &[&Vec<u8>],
    places: &mut Vec<usize>,
    at: usize,
    each: &mut impl FnMut(&[usize]),
) {
    if at == places.len() {
        return each(places);
    }
    for other in at..places.len() {
        if signatures[places[other]] == signatures[at] {
            places.swap(at, other);
            permute_ties(signatures, places, at + 1, each);
            places.swap(at, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ties_are_permuted() {
        let (a, b) = (vec![0], vec![1]);
        let mut seen = Vec::new();
        permute_ties(&[&a, &a, &b, &b, &b], &mut (0..5).collect(), 0, &mut |places| {
            seen.push(places.to_vec());
        });
        assert_eq!(seen.len(), 12);
        assert!(seen.iter().all(|places| places[..2].iter().all(|place| *place < 2)));
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 12);
    }

    #[test]
    fn a_renaming_and_its_inverse_change_nothing() {
        let names = Renaming { names: vec![2, 0, 1] };
        assert_eq!(names.then(&names.inverse()), Renaming::identity(3));
        let mut set = BTreeSet::from([0, 2]);
        names.set(&mut set);
        assert_eq!(set, BTreeSet::from([1, 2]));
    }
}
