//! Topologies: which nodes are neighbours.

use crate::NodeId;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// A shape that a network can be given by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Every node hears the one before and the one after it.
    Chain,
    /// A chain whose ends hear each other.
    Ring,
    /// Rows of equal length, as close to a square as possible; the last row may be shorter.
    Grid,
    /// Node 0 hears all others, and they hear only it.
    Star,
    /// Every node hears every other.
    Mesh,
    /// Nodes at random places in a square; those within a range hear each other.
    Random {
        /// The seed of the places. The generator is `Pcg64Mcg`.
        seed: u64,
    },
}

impl Shape {
    /// The shapes, as people name them.
    pub const NAMES: [&'static str; 6] = ["chain", "ring", "grid", "star", "mesh", "random"];

    /// The shape of this name; the seed matters to random networks only.
    pub fn named(name: &str, seed: u64) -> Option<Self> {
        match name {
            "chain" => Some(Shape::Chain),
            "ring" => Some(Shape::Ring),
            "grid" => Some(Shape::Grid),
            "star" => Some(Shape::Star),
            "mesh" => Some(Shape::Mesh),
            "random" => Some(Shape::Random { seed }),
            _ => None,
        }
    }
}

/// The links of a network. A link carries packets in both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// For each node those that it hears, in ascending order.
    neighbours: Vec<Vec<NodeId>>,
}

impl Topology {
    /// A network of a shape.
    pub fn new(shape: Shape, nodes: NodeId) -> Self {
        match shape {
            Shape::Chain => Topology::chain(nodes),
            Shape::Ring => {
                let closing = (nodes > 2).then(|| (0, nodes - 1));
                Topology::of(nodes, pairs(nodes).chain(closing))
            }
            Shape::Grid => {
                let width = (f64::from(nodes).sqrt().ceil() as NodeId).max(1);
                let right = pairs(nodes).filter(move |(_, next)| next % width != 0);
                let down = (width..nodes).map(move |node| (node - width, node));
                Topology::of(nodes, right.chain(down))
            }
            Shape::Star => Topology::of(nodes, (1..nodes).map(|node| (0, node))),
            Shape::Mesh => {
                Topology::of(nodes, (0..nodes).flat_map(|b| (0..b).map(move |a| (a, b))))
            }
            Shape::Random { seed } => random(nodes, seed),
        }
    }

    /// A chain.
    pub fn chain(nodes: NodeId) -> Self {
        Topology::of(nodes, pairs(nodes))
    }

    /// The network with these links, each between two different nodes that exist.
    pub(crate) fn of(nodes: NodeId, links: impl IntoIterator<Item = (NodeId, NodeId)>) -> Self {
        let mut neighbours = vec![Vec::new(); nodes as usize];
        for (a, b) in links {
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
        neighbours.iter_mut().for_each(|heard| heard.sort_unstable());
        Topology { neighbours }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> NodeId {
        self.neighbours.len() as NodeId
    }

    /// The nodes that `node` hears, in ascending order.
    pub fn neighbours(&self, node: NodeId) -> &[NodeId] {
        &self.neighbours[node as usize]
    }

    /// The links, each once, the smaller node first.
    pub fn links(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        let from = |node: NodeId| self.neighbours(node).iter().map(move |&other| (node, other));
        (0..self.nodes()).flat_map(from).filter(|(a, b)| a < b)
    }

    /// The nodes that no path leads to from node 0.
    pub fn unreachable(&self) -> Vec<NodeId> {
        let mut reached = vec![false; self.neighbours.len()];
        let mut waiting: Vec<NodeId> = if reached.is_empty() { vec![] } else { vec![0] };
        while let Some(node) = waiting.pop() {
            if !std::mem::replace(&mut reached[node as usize], true) {
                waiting.extend(self.neighbours(node));
            }
        }
        (0..self.nodes()).filter(|&node| !reached[node as usize]).collect()
    }

    /// What a person should know before trusting results from this network.
    pub fn warning(&self) -> Option<String> {
        let unreachable = self.unreachable();
        let list =
            |nodes: &[NodeId]| nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        match &unreachable[..] {
            [] => None,
            [one] => Some(format!("node {one} cannot be reached from node 0")),
            nodes => Some(format!("nodes {} cannot be reached from node 0", list(nodes))),
        }
    }
}

/// Each node and the one after it.
fn pairs(nodes: NodeId) -> impl Iterator<Item = (NodeId, NodeId)> {
    (1..nodes).map(|node| (node - 1, node))
}

/// The golden ratio in 128 bits, an odd number without pattern.
const SPREAD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// A random geometric network that is just connected.
///
/// The range is the longest link of a minimum spanning tree: the smallest with which every node
/// can reach every other. A fixed range would leave some seeds in pieces and make others almost
/// complete. Places are whole numbers, so the network is the same on every machine.
fn random(nodes: NodeId, seed: u64) -> Topology {
    // The generator ignores the two lowest bits of its state and takes long to leave small ones.
    let mut generator = Pcg64Mcg::new((u128::from(seed) + 1).wrapping_mul(SPREAD << 2));
    let places: Vec<(i64, i64)> =
        (0..nodes).map(|_| (coordinate(&mut generator), coordinate(&mut generator))).collect();
    let distance = |a: NodeId, b: NodeId| {
        let ((ax, ay), (bx, by)) = (places[a as usize], places[b as usize]);
        ((ax - bx) * (ax - bx) + (ay - by) * (ay - by)) as u64
    };
    // Prim's algorithm: for each node outside the tree its distance to the tree.
    let mut outside: Vec<(NodeId, u64)> =
        (1..nodes).map(|node| (node, distance(0, node))).collect();
    let mut range = 0;
    while let Some(nearest) = (0..outside.len()).min_by_key(|&at| outside[at].1) {
        let (joining, gap) = outside.swap_remove(nearest);
        range = range.max(gap);
        for (node, nearest) in &mut outside {
            *nearest = (*nearest).min(distance(joining, *node));
        }
    }
    let links = (0..nodes).flat_map(|b| (0..b).map(move |a| (a, b)));
    Topology::of(nodes, links.filter(|&(a, b)| distance(a, b) <= range))
}

/// A coordinate of 30 bits.
fn coordinate(generator: &mut Pcg64Mcg) -> i64 {
    (generator.next_u64() >> 34) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(shape: Shape, nodes: NodeId, links: &[(NodeId, NodeId)]) {
        assert_eq!(Topology::new(shape, nodes).links().collect::<Vec<_>>(), links);
    }

    #[test]
    fn shapes_have_the_links_that_their_names_promise() {
        check(Shape::Chain, 3, &[(0, 1), (1, 2)]);
        check(Shape::Chain, 1, &[]);
        check(Shape::Ring, 3, &[(0, 1), (0, 2), (1, 2)]);
        check(Shape::Ring, 2, &[(0, 1)]);
        check(Shape::Star, 4, &[(0, 1), (0, 2), (0, 3)]);
        check(Shape::Mesh, 3, &[(0, 1), (0, 2), (1, 2)]);
        check(Shape::Mesh, 1, &[]);
        check(Shape::Grid, 4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
        check(Shape::Grid, 5, &[(0, 1), (0, 3), (1, 2), (1, 4), (3, 4)]);
    }

    #[test]
    fn a_random_network_is_connected_and_depends_on_its_seed_alone() {
        for seed in 0..20 {
            let shape = Shape::Random { seed };
            let network = Topology::new(shape, 30);
            assert!(network.unreachable().is_empty());
            assert_eq!(network, Topology::new(shape, 30));
            assert_ne!(network, Topology::new(Shape::Random { seed: seed + 1 }, 30));
        }
        check(Shape::Random { seed: 1 }, 5, &[(0, 2), (1, 2), (1, 3), (1, 4)]);
    }

    #[test]
    fn what_cannot_be_reached_is_named() {
        let pieces = Topology::of(5, [(0, 1), (2, 3)]);
        assert_eq!(pieces.warning().unwrap(), "nodes 2, 3, 4 cannot be reached from node 0");
        let pieces = Topology::of(3, [(0, 1)]);
        assert_eq!(pieces.warning().unwrap(), "node 2 cannot be reached from node 0");
        assert_eq!(Topology::chain(3).warning(), None);
    }
}
