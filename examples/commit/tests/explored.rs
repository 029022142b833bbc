//! The protocol, explored as a test does it; and the guide, which shows it.

use commit::{Phase, TwoPhaseCommit};
use everypath_model::net::{Network, Options, Property, Shape, Topology, World};
use everypath_model::{Verdict, explore};
use std::fs;
use std::path::{Path, PathBuf};

fn model(bugs: &[&str]) -> Network<TwoPhaseCommit> {
    let bugs = bugs.iter().map(ToString::to_string).collect();
    Network::new(Options { bugs, ..Options::new(Topology::new(Shape::Star, 3)) })
}

#[test]
fn all_commit_or_all_abort() -> everypath_model::Result<()> {
    let explored = explore(&model(&[])).bfs().max_depth(12).run()?;
    explored.assert_holds();
    assert!(explored.events.iter().all(|(_, executed)| *executed > 0));
    Ok(())
}

#[test]
fn an_impatient_participant_breaks_agreement() -> everypath_model::Result<()> {
    let explored = explore(&model(&["impatient"])).bfs().max_depth(12).run()?;
    assert_eq!(explored.verdict, Verdict::Violated);
    let trace = explored.counterexample.as_ref().unwrap();
    assert_eq!((explored.violated(), trace.steps.len()), (Some("agreement"), 4));
    assert!(!trace.messages.is_empty(), "a chart shows the packets");
    Ok(())
}

#[test]
fn names_that_the_model_does_not_have_are_refused() {
    let model = model(&[]);
    let error = explore(&model).disable("loose").run().err().unwrap().to_string();
    assert!(error.contains("did you mean lose?"), "{error}");
    assert!(explore(&model).best_first("none").run().is_err());
    assert!(explore(&model).property("none").run().is_err());
}

/// Whether something is in flight is no property of nodes: the relation would prune what it looks at.
#[test]
fn a_property_that_looks_at_packets_is_checked_by_equality() {
    let quiet =
        Property::new("waiting, and nothing is in flight", |world: &World<TwoPhaseCommit>| {
            let waits = world.nodes.iter().any(|node| node.phase == Phase::Waiting);
            let nothing = everypath_model::net::Cloud::envelopes(&world.cloud).next().is_none();
            if waits && nothing { Err("it waits for nothing".into()) } else { Ok(()) }
        });
    let explored = explore(&model(&[])).also(quiet).max_depth(8).run().unwrap();
    assert_eq!(explored.violated(), Some("waiting, and nothing is in flight"));
}

fn guide() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/protocol.md")
}

#[test]
fn the_sessions_of_the_guide_are_true() {
    xtask::transcript::check(&guide(), Path::new(env!("CARGO_BIN_EXE_commit")));
}

#[test]
fn the_code_of_the_guide_is_that_of_the_example() {
    let page = fs::read_to_string(guide()).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = ["src/lib.rs", "src/main.rs", "tests/explored.rs"];
    let sources = files.map(|file| fs::read_to_string(folder.join(file)).unwrap());
    let blocks = xtask::transcript::blocks(&page, "rust");
    assert!(blocks.len() >= 5);
    for block in blocks {
        assert!(
            sources.iter().any(|source| source.contains(block)),
            "not in the example:\n{block}"
        );
    }
}
