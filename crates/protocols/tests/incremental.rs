//! Incremental exploration of the case studies: what counts as modified, and that nothing is lost.

use everypath_explore::graph::{About, Baseline, Graph};
use everypath_explore::{
    Control, Exploration, Increment, Incremental, Model, Search, SearchOrder, Task, VisitedKind,
    explore_incrementally,
};
use everypath_net::{Network, Options, Scenario, Topology};
use everypath_protocols::{Aodv, Arq, Diffusion};
use proptest::prelude::*;
use std::fs;
use std::io::Cursor;

fn version<P: Scenario>(options: &Options) -> Network<P> {
    Network::new(options.clone())
}

fn options(nodes: u16, bugs: &[&str]) -> Options {
    let bugs = bugs.iter().map(ToString::to_string).collect();
    Options { bugs, ..Options::new(Topology::chain(nodes)) }
}

fn explored<P: Scenario>(
    model: &Network<P>,
    search: &Search,
    given: Incremental<'_>,
) -> (Exploration, Increment) {
    let ranks = model.ranks();
    let properties = model.properties();
    let task = Task { system: model, properties: &properties, rank: ranks.last(), search };
    explore_incrementally(&task, given, &Control::default())
}

/// The graph of a version, as the bytes of a file.
fn saved<P: Scenario>(model: &Network<P>, search: &Search) -> Vec<u8> {
    let given = Incremental { record: true, ..Incremental::default() };
    let ledger = explored(model, search, given).1.ledger.unwrap();
    let makeup = model.makeup().unwrap();
    let about = About { makeup: &makeup, left_out: &search.disabled, counterexamples: &[] };
    let mut file = Cursor::new(Vec::new());
    ledger.write(&mut file, None, about).unwrap();
    file.into_inner()
}

/// The names of the events that are modified between two versions.
fn modified<P: Scenario>(before: &Options, after: &Options) -> Vec<&'static str> {
    let search = Search { max_depth: Some(1), ..Search::default() };
    let file = saved(&version::<P>(before), &search);
    let graph = Graph::open(&file).unwrap();
    let makeup = version::<P>(after).makeup().unwrap();
    let baseline = Baseline::new(&graph, &makeup, None).unwrap();
    let names = baseline.modified().into_iter();
    names.map(|event| P::EVENTS[usize::from(event)].name).collect()
}

/// A bug is a change of code: it touches the events whose handlers reach it, and no others.
#[test]
fn a_bug_modifies_the_events_that_it_touches() {
    let none = options(3, &[]);
    let aodv = |bug| modified::<Aodv>(&none, &options(3, &[bug]));
    assert_eq!(modified::<Aodv>(&none, &none), [""; 0]);
    assert_eq!(aodv("delete-route"), ["route-timeout"]);
    assert_eq!(aodv("stale-seqno"), ["route-timeout", "neighbour-timeout"]);
    assert!(aodv("reboot-forgets").contains(&"reboot"));
    assert!(!aodv("reboot-forgets").contains(&"lose"));
    let none = options(4, &[]);
    let diffusion = |bug| modified::<Diffusion>(&none, &options(4, &[bug]));
    assert_eq!(modified::<Diffusion>(&none, &none), [""; 0]);
    assert_eq!(diffusion("cache-timeout"), ["data-cache-timeout"]);
    assert_eq!(diffusion("reboot"), ["reboot"]);
    let none = options(2, &[]);
    assert_eq!(modified::<Arq>(&none, &none), [""; 0]);
    assert_eq!(modified::<Arq>(&none, &options(2, &["unchecked-ack"])), ["deliver-ack"]);
}

/// Another network, and the order in which packets are kept, change what a state means.
#[test]
fn another_network_makes_a_graph_unusable() {
    let search = Search { max_depth: Some(1), ..Search::default() };
    let file = saved(&version::<Aodv>(&options(3, &[])), &search);
    let graph = Graph::open(&file).unwrap();
    let others = [
        options(4, &[]),
        Options { duplicate: true, ..options(3, &[]) },
        Options { order: everypath_net::PacketOrder::Sent, ..options(3, &[]) },
    ];
    for other in others {
        let makeup = version::<Aodv>(&other).makeup().unwrap();
        let refused = Baseline::new(&graph, &makeup, None).err().unwrap();
        assert!(refused.differs.contains(&"the network".into()), "{refused}");
    }
}

/// A file that is not recorded could change unnoticed.
#[test]
fn no_file_of_a_protocol_is_forgotten() {
    fn check<P: Scenario>(model: &Network<P>, folder: &str) {
        let known = model.protocol().anatomy().unwrap().sources;
        for entry in fs::read_dir(format!("{}/src/{folder}", env!("CARGO_MANIFEST_DIR"))).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            // What is said about a state, and how it is simulated, is not explored.
            let left_out = ["words.rs", "simulated.rs"].contains(&name.as_str());
            assert!(left_out || known.iter().any(|source| source.file == name), "{name}");
        }
    }
    check(&version::<Aodv>(&options(3, &[])), "aodv");
    check(&version::<Diffusion>(&options(4, &[])), "diffusion");
}

/// Table 8.13: the shares of events that the graph of ARQ without the check knows, and that are
/// modified, exactly as published.
#[test]
fn the_shares_of_arq_are_the_papers() {
    for (depth, p, q) in [(30, "0.0500", "0.2498"), (35, "0.0239", "0.2499")] {
        let search = Search {
            max_depth: Some(depth),
            visited: VisitedKind::Hash,
            keep_going: true,
            ..Search::default()
        };
        let file = saved(&version::<Arq>(&options(2, &["unchecked-ack"])), &search);
        let model = version::<Arq>(&options(2, &[]));
        let graph = Graph::open(&file).unwrap();
        let baseline = Baseline::new(&graph, &model.makeup().unwrap(), None).unwrap();
        let given =
            Incremental { baseline: Some(&baseline), stubborn: true, ..Incremental::default() };
        let reuse = explored(&model, &search, given).1.reuse;
        assert_eq!(
            (format!("{:.4}", reuse.p()), format!("{:.4}", reuse.q())),
            (p.into(), q.into())
        );
    }
}

/// Saves the graph of one version, loads it for another, and compares with a search from scratch.
fn check<P: Scenario>(
    versions: [&Options; 3],
    searches: [&Search; 3],
) -> Result<(), TestCaseError> {
    let mut file = saved(&version::<P>(versions[0]), searches[0]);
    for (options, search) in versions.into_iter().zip(searches).skip(1) {
        let model = version::<P>(options);
        let makeup = model.makeup().unwrap();
        let graph = Graph::open(&file).unwrap();
        let baseline = Baseline::new(&graph, &makeup, None).unwrap();
        let given = Incremental {
            baseline: Some(&baseline),
            record: true,
            digest: true,
            ..Incremental::default()
        };
        let (exploration, increment) = explored(&model, search, given);
        let plain = Incremental { digest: true, ..Incremental::default() };
        let (expected, scratch) = explored(&model, search, plain);
        prop_assert!(exploration.same_as(&expected), "{exploration:?} {expected:?}");
        prop_assert_eq!(increment.digest, scratch.digest);
        let about = About { makeup: &makeup, left_out: &search.disabled, counterexamples: &[] };
        let mut next = Cursor::new(Vec::new());
        increment.ledger.unwrap().write(&mut next, Some(&baseline), about).unwrap();
        file = next.into_inner();
    }
    Ok(())
}

/// Any of these bugs and features, on or off.
fn modifications(
    nodes: u16,
    bugs: &'static [&'static str],
    features: &'static [&'static str],
) -> impl Strategy<Value = Options> {
    let names = |names: Vec<&str>| names.iter().map(ToString::to_string).collect::<Vec<String>>();
    let bugs = prop::sample::subsequence(bugs, 0..=bugs.len()).prop_map(names);
    let features = prop::sample::subsequence(features, 0..=features.len()).prop_map(names);
    (bugs, prop::option::of(features)).prop_map(move |(bugs, features)| Options {
        bugs,
        features,
        ..Options::new(Topology::chain(nodes))
    })
}

fn searches(events: u16, depths: std::ops::Range<u32>) -> impl Strategy<Value = Search> {
    let orders =
        vec![SearchOrder::Bfs, SearchOrder::Dfs, SearchOrder::DfsRecursive, SearchOrder::Befs];
    let kinds = vec![VisitedKind::Relation, VisitedKind::Equality, VisitedKind::Hash];
    (
        (prop::sample::select(orders), prop::option::of(any::<u64>()), prop::sample::select(kinds)),
        (depths, prop::option::weighted(0.3, 0..events), prop::option::weighted(0.3, 0..events)),
        (1usize..3, prop::bool::weighted(0.8)),
    )
        .prop_map(|((order, shuffle, visited), (depth, must_contain, disabled), rest)| {
            Search {
                order,
                shuffle,
                visited,
                max_depth: Some(depth),
                must_contain,
                disabled: disabled
                    .into_iter()
                    .filter(|event| must_contain != Some(*event))
                    .collect(),
                threads: rest.0,
                keep_going: rest.1,
                ..Search::default()
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn arq_is_explored_as_from_scratch(
        versions in prop::array::uniform3(modifications(2, &["unchecked-ack"], &[])),
        searches in prop::array::uniform3(searches(5, 1..14)),
    ) {
        check::<Arq>(versions.each_ref(), searches.each_ref())?;
    }

    #[test]
    fn aodv_is_explored_as_from_scratch(
        versions in prop::array::uniform3(modifications(
            3,
            &["reboot-forgets", "stale-seqno", "delete-route"],
            &["wait", "hello", "rerr"],
        )),
        searches in prop::array::uniform3(searches(10, 1..8)),
    ) {
        check::<Aodv>(versions.each_ref(), searches.each_ref())?;
    }

    #[test]
    fn diffusion_is_explored_as_from_scratch(
        versions in prop::array::uniform3(modifications(
            3,
            &["cache-timeout", "reboot"],
            &["negative-reinforcement"],
        )),
        searches in prop::array::uniform3(searches(8, 1..9)),
    ) {
        check::<Diffusion>(versions.each_ref(), searches.each_ref())?;
    }
}
