//! Searches on disk against searches in memory, on random graphs; crashes, full disks, wrong folders.

use everypath_explore::disk::{Disk, DiskError, explore_on_disk};
use everypath_explore::{
    Canonical, Control, Ended, Exploration, Property, Search, Step, System, Task, VisitedKind,
    explore,
};
use proptest::prelude::*;
use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A graph whose edges are drawn: most lead a little ahead, some anywhere.
#[derive(Clone, Debug)]
struct Drawn {
    nodes: u64,
    ahead: u64,
    seed: u64,
    /// One node of so many is bad.
    bad: u64,
}

#[derive(Default)]
struct Node(u64);

impl Canonical for Node {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.0.to_le_bytes());
        // States of several lengths.
        bytes.extend((0..self.0 % 7).map(|at| at as u8));
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        self.0 = u64::from_le_bytes(*bytes.first_chunk().unwrap());
        *bytes = &bytes[8 + (self.0 % 7) as usize..];
    }
}

fn mixed(seed: u64, node: u64, salt: u64) -> u64 {
    let mut x = seed ^ node.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt << 32;
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 20
}

impl System for Drawn {
    type State = Node;

    fn initial(&self) -> Node {
        Node(0)
    }
    fn enabled(&self, state: &Node, steps: &mut Vec<Step>) {
        let ways = mixed(self.seed, state.0, 0) % 5;
        let ways = if state.0 == 0 { ways.max(2) } else { ways };
        steps.extend((0..ways).map(|param| Step {
            actor: 0,
            event: (param % 3) as u16,
            param: param as u32,
        }));
    }
    fn take(&self, state: &mut Node, step: Step) {
        let drawn = mixed(self.seed, state.0, 1 + u64::from(step.param));
        state.0 = match drawn % 9 {
            0 => drawn / 9 % self.nodes,
            _ => (state.0 + 1 + drawn / 9 % self.ahead) % self.nodes,
        };
    }
}

impl Drawn {
    fn properties(&self) -> Vec<Property<Node>> {
        let (bad, seed, nodes) = (self.bad, self.seed, self.nodes);
        let good = Property::new("good", move |node: &Node| {
            match bad > 0 && node.0 > nodes / 2 && mixed(seed, node.0, 99).is_multiple_of(bad) {
                true => Err(format!("{} is bad", node.0)),
                false => Ok(()),
            }
        });
        let far = Property::sometimes("far", move |node: &Node| node.0 > nodes / 3 * 2);
        vec![good, far, Property::no_deadlock(|_| true)]
    }

    fn in_memory(&self, search: &Search) -> Exploration {
        let properties = self.properties();
        let search = Search { threads: 1, ..search.clone() };
        let task = Task { system: self, properties: &properties, rank: None, search: &search };
        explore(&task, &Control::default())
    }

    fn on_disk(&self, search: &Search, disk: Disk<'_>) -> Result<Exploration, DiskError> {
        let properties = self.properties();
        let task = Task { system: self, properties: &properties, rank: None, search };
        explore_on_disk(&task, disk, &Control::default())
    }
}

fn never() -> bool {
    false
}

fn disk(folder: &Path, memory: u64) -> Disk<'_> {
    Disk { folder, memory, identity: "graph: drawn", resume: false, due: &never }
}

fn graphs() -> impl Strategy<Value = Drawn> {
    (1u64..8000, 1u64..200, any::<u64>(), prop_oneof![Just(0), 20u64..4000])
        .prop_map(|(nodes, ahead, seed, bad)| Drawn { nodes, ahead, seed: seed >> 1, bad })
}

fn searches() -> impl Strategy<Value = Search> {
    let limit = || prop_oneof![3 => Just(None), 1 => (1u64..6000).prop_map(Some)];
    let depth = prop_oneof![3 => Just(None), 1 => (1u32..60).prop_map(Some)];
    let event = prop_oneof![3 => Just(None), 1 => (0u16..3).prop_map(Some)];
    let shuffle = prop_oneof![Just(None), any::<u64>().prop_map(Some)];
    (limit(), limit(), depth, event, (shuffle, any::<bool>(), 1usize..4)).prop_map(
        |(max_states, max_executions, max_depth, must_contain, (shuffle, keep_going, threads))| {
            Search {
                visited: VisitedKind::Hash,
                max_states,
                max_executions: max_executions
                    .filter(|_| max_states.is_none())
                    .map(|n| n * 1_000_000),
                max_depth,
                must_contain,
                shuffle,
                keep_going,
                threads,
                ..Search::default()
            }
        },
    )
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_result_is_that_of_a_search_in_memory(graph in graphs(), search in searches(), tiny: bool) {
        let folder = tempfile::tempdir().unwrap();
        let memory = if tiny { 0 } else { 1 << 24 };
        let explored = graph.on_disk(&search, disk(folder.path(), memory)).unwrap();
        prop_assert_eq!(explored, graph.in_memory(&search));
    }

    #[test]
    fn a_search_that_was_killed_gives_the_same_result(
        graph in graphs(),
        search in searches(),
        (killed, every) in (0usize..400, 1usize..9),
        threads in 1usize..4,
    ) {
        let (folder, saved) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        // What is in the files at some moment is what is left if the search is killed then; and what
        // was not written through may be anything.
        let calls = AtomicUsize::new(0);
        let due = || {
            let call = calls.fetch_add(1, Ordering::Relaxed);
            if call == killed {
                copy(folder.path(), saved.path());
            }
            call.is_multiple_of(every)
        };
        let whole = graph.on_disk(&search, Disk { due: &due, ..disk(folder.path(), 0) }).unwrap();
        if calls.load(Ordering::Relaxed) <= killed {
            copy(folder.path(), saved.path());
        }
        for entry in fs::read_dir(saved.path()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if name == "parents" || name.starts_with("level") || name.starts_with("duplicates") {
                let mut bytes = fs::read(&path).unwrap();
                bytes.extend([0xee; 100]);
                fs::write(&path, bytes).unwrap();
            }
        }
        let search = Search { threads, ..search };
        let again = Disk { resume: true, ..disk(saved.path(), 1 << 20) };
        let resumed = graph.on_disk(&search, again).unwrap();
        prop_assert_eq!(&resumed, &graph.in_memory(&search));
        prop_assert_eq!(&resumed, &whole);
    }
}

fn large() -> (Drawn, Search) {
    let graph = Drawn { nodes: 6000, ahead: 40, seed: 12, bad: 0 };
    (graph, Search { visited: VisitedKind::Hash, ..Search::default() })
}

#[test]
fn a_file_that_cannot_be_written_ends_the_search_and_is_no_verdict() {
    let (graph, search) = large();
    let folder = tempfile::tempdir().unwrap();
    let obstacle = folder.path().join("level-30");
    let placed = Mutex::new(Cell::new(false));
    let due = || {
        if !placed.lock().unwrap().replace(true) {
            fs::create_dir(&obstacle).unwrap();
        }
        true
    };
    let ended = graph.on_disk(&search, Disk { due: &due, ..disk(folder.path(), 0) }).unwrap();
    let Ended::Failed(why) = &ended.ended else { panic!("{:?}", ended.ended) };
    assert!(why.contains("level-30"), "{why}");
    fs::remove_dir(&obstacle).unwrap();
    let again = Disk { resume: true, ..disk(folder.path(), 0) };
    assert_eq!(graph.on_disk(&search, again).unwrap(), graph.in_memory(&search));
}

/// No room for a sorted run, for the merged one of several, for the next checkpoint: the one before is as
/// good as it was.
#[test]
fn a_disk_that_is_full_while_spilling_or_at_a_checkpoint_is_no_verdict() {
    let (graph, search) = large();
    let graph = Drawn { nodes: 20_000, ..graph };
    for name in ["run-0", "run-8", "manifest.new"] {
        let folder = tempfile::tempdir().unwrap();
        let obstacle = folder.path().join(name);
        let placed = Mutex::new(Cell::new(false));
        let due = || {
            if !placed.lock().unwrap().replace(true) {
                // Whoever writes to it hears that the device is full.
                std::os::unix::fs::symlink("/dev/full", &obstacle).unwrap();
            }
            // A checkpoint removes what is not its own.
            name == "manifest.new"
        };
        let ended = graph.on_disk(&search, Disk { due: &due, ..disk(folder.path(), 0) }).unwrap();
        let Ended::Failed(why) = &ended.ended else { panic!("{name}: {:?}", ended.ended) };
        assert!(why.contains(name.trim_end_matches(".new")), "{name}: {why}");
        fs::remove_file(&obstacle).unwrap();
        let again = Disk { resume: true, ..disk(folder.path(), 0) };
        assert_eq!(graph.on_disk(&search, again).unwrap(), graph.in_memory(&search), "{name}");
    }
}

#[test]
fn a_folder_that_is_not_what_it_should_be_is_refused() {
    let (graph, search) = large();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("search");
    let refused = |disk: Disk<'_>| graph.on_disk(&search, disk).unwrap_err().to_string();
    let again = Disk { resume: true, ..disk(&path, 0) };
    assert!(refused(again).ends_with("is not a folder"));
    fs::write(&path, "a file").unwrap();
    assert!(refused(disk(&path, 0)).ends_with("is not a folder"));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(refused(again).contains("has no checkpoint"));
    fs::write(path.join("notes"), "mine").unwrap();
    assert!(refused(disk(&path, 0)).contains("is not empty"));
    fs::remove_file(path.join("notes")).unwrap();

    let busy = Mutex::new(String::new());
    let due = || {
        *busy.lock().unwrap() = refused(again);
        false
    };
    graph.on_disk(&search, Disk { due: &due, ..disk(&path, 0) }).unwrap();
    assert!(busy.lock().unwrap().contains("is in use by another search"));
    assert!(refused(disk(&path, 0)).contains("go on with --resume"));
    let other = Disk { identity: "graph: another", ..again };
    assert!(refused(other).contains("its graph: drawn; this one's graph: another"));

    let manifest = path.join("manifest");
    let bytes = fs::read(&manifest).unwrap();
    for (at, why) in [(0, "not a checkpoint"), (8, "is of version"), (20, "checksum")] {
        let mut bytes = bytes.clone();
        bytes[at] ^= 2;
        fs::write(&manifest, bytes).unwrap();
        let refusal = refused(again);
        assert!(refusal.contains(why), "{refusal}");
    }
    for len in 0..bytes.len() {
        fs::write(&manifest, &bytes[..len]).unwrap();
        refused(again);
    }
    fs::write(&manifest, &bytes).unwrap();
    assert_eq!(graph.on_disk(&search, again).unwrap(), graph.in_memory(&search));
}
