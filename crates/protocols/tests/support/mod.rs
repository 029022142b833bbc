//! What the tests of the routing protocols share.

pub(crate) mod paper;

use everypath_explore::{Control, Exploration, Model as _, Search, System as _, Task, explore};
use everypath_net::{Canonical as _, Network, NodeId, Options, Scenario, Topology, World};

/// A chain with bugs.
pub(crate) fn chain<P: Scenario>(nodes: NodeId, bugs: &[&str]) -> Network<P> {
    let bugs = bugs.iter().map(ToString::to_string).collect();
    Network::new(Options { bugs, ..Options::new(Topology::chain(nodes)) })
}

/// The number of an event.
pub(crate) fn event<P: Scenario>(name: &str) -> u16 {
    P::EVENTS.iter().position(|event| event.name == name).expect("an event of this name") as u16
}

/// Explores a model, with a rank if its name is not empty.
pub(crate) fn run<P: Scenario>(model: &Network<P>, rank: &str, search: &Search) -> Exploration {
    let ranks = model.ranks();
    let task = Task {
        system: model,
        properties: &model.properties(),
        rank: ranks.iter().find(|candidate| candidate.name == rank),
        search,
    };
    explore(&task, &Control::default())
}

/// Follows a published counterexample through a model.
///
/// The figure is a list of paragraphs: a step (who, which event), then the state after it. Which
/// of several packets a step acts on is not said, so all states that look right are followed.
pub(crate) fn follow<P: Scenario>(
    model: &Network<P>,
    figure: &str,
    render: impl Fn(&World<P>) -> Vec<String>,
) {
    let text = figure.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    let paragraphs: Vec<&str> = text.split("\n\n").map(str::trim).collect();
    let mut world = model.initial();
    let mut candidates = vec![bytes(&world)];
    for (number, paragraph) in paragraphs.iter().enumerate() {
        let (step, state) = paragraph.split_once('\n').expect("a step and a state");
        let expected: Vec<&str> = state.lines().map(str::trim).collect();
        if number > 0 {
            candidates = candidates.iter().flat_map(|from| successors(model, from, step)).collect();
        }
        let mut seen = Vec::new();
        candidates.retain(|candidate| {
            world.read(&mut &candidate[..]);
            seen.push(render(&world));
            seen.last().is_some_and(|lines| *lines == expected)
        });
        assert!(!candidates.is_empty(), "state {}: {expected:#?} is none of {seen:#?}", number + 1);
        for candidate in &candidates {
            world.read(&mut &candidate[..]);
            let violated =
                model.properties().iter().any(|property| property.check(&world).is_err());
            assert_eq!(violated, number + 1 == paragraphs.len(), "state {}", number + 1);
        }
    }
}

/// The states that a step like `node 1 deliver` can lead to.
fn successors<P: Scenario>(model: &Network<P>, from: &[u8], step: &str) -> Vec<Vec<u8>> {
    let mut world = model.initial();
    world.read(&mut &from[..]);
    let mut steps = Vec::new();
    model.enabled(&world, &mut steps);
    let name = |event: u16| P::EVENTS[event as usize].name;
    steps.retain(|taken| format!("node {} {}", taken.actor, name(taken.event)) == step);
    let take = |taken| {
        world.read(&mut &from[..]);
        model.take(&mut world, taken);
        bytes(&world)
    };
    steps.into_iter().map(take).collect()
}

/// The canonical bytes of a state.
fn bytes<P: Scenario>(world: &World<P>) -> Vec<u8> {
    let mut bytes = Vec::new();
    world.write(&mut bytes);
    bytes
}
