//! Everypath's rows beyond one core, one memory and one process, and what is asked of them.

use crate::contender::{Contender, StateCounts, cores};
use crate::model::{Bounds, Event, FULL, FULL_SIZE, QUICK};
use crate::natural::NaturalState;
use crate::ours::{self, BFS, HASH, Natural, in_order};
use crate::table::Report;
use anyhow::{Context, Result, ensure};
use everypath_explore::disk::{Disk, explore_on_disk};
use everypath_explore::{
    AnyModel, Cluster, Config, Control, Ended, EventKind, Exploration, Line, Model, ModelKind,
    NodeRange, Parameter, Property, Request, Search, Step, Task,
};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How often a search on disk writes a checkpoint in the row that measures them: sixty times as often as
/// the goal has it.
const EVERY: Duration = Duration::from_secs(1);

/// The rows.
pub const ROWS: [Contender; 8] = [
    Contender::sequential("everypath-natural-bfs-hash", |b| ours::natural(b, BFS, HASH, 1)),
    Contender::parallel("everypath-natural-bfs-hash-cores", |b| {
        ours::natural(b, BFS, HASH, cores())
    }),
    Contender::parallel("everypath-packed-bfs-hash-cores", |b| ours::packed(b, BFS, HASH, cores())),
    Contender::sequential("everypath-disk", |b| on_disk(b, u64::MAX, false)),
    Contender::sequential("everypath-disk-quarter", |b| on_disk(b, QUARTER, false)),
    Contender::sequential("everypath-disk-checkpoints", |b| on_disk(b, u64::MAX, true)),
    Contender::sequential("everypath-timely-1", |b| together(b, 1)),
    Contender::parallel("everypath-timely-2", |b| together(b, 2)),
];

/// A quarter of the memory that the fingerprints of the whole model take.
const QUARTER: u64 = FULL_SIZE.states * 16 / 3;

/// What is asked: a row, another, how many times faster (on the clock) or slower the first may be, and in
/// words.
const GOALS: [(&str, &str, &str, f64, bool); 9] = [
    ("two cores, packed", "everypath-packed-bfs-cores", "everypath-packed-bfs", 1.8, true),
    ("two cores, natural", "everypath-natural-bfs-cores", "everypath-natural-bfs", 1.8, true),
    (
        "two cores, natural, fingerprints",
        "everypath-natural-bfs-hash-cores",
        "everypath-natural-bfs-hash",
        1.8,
        true,
    ),
    (
        "Stateright with as many threads",
        "everypath-packed-bfs-cores",
        "stateright-natural-bfs-cores",
        5.0,
        true,
    ),
    (
        "Stateright with as many threads, the same states",
        "everypath-natural-bfs-cores",
        "stateright-natural-bfs-cores",
        5.0,
        true,
    ),
    ("two processes over timely", "everypath-timely-2", "everypath-timely-1", 1.5, true),
    ("a quarter of the memory", "everypath-disk-quarter", "everypath-natural-bfs-hash", 4.0, false),
    ("on disk with enough memory", "everypath-disk", "everypath-natural-bfs-hash", 4.0, false),
    ("a checkpoint every second", "everypath-disk-checkpoints", "everypath-disk", 1.03, false),
];

/// The goals, of which all rows were measured, as a Markdown table.
pub fn goals(report: &Report) -> String {
    let wall = |name: &str| report.rows.iter().find(|row| row.name == name).map(|row| row.wall());
    let mut text = String::new();
    for (what, row, other, goal, is_faster) in GOALS {
        let (Some(row), Some(other)) = (wall(row), wall(other)) else { continue };
        let (ratio, bound) = match is_faster {
            true => (other / row, "at least"),
            false => (row / other, "at most"),
        };
        let is_reached = if is_faster { ratio >= goal } else { ratio <= goal };
        let reached = if is_reached { "yes" } else { "no" };
        text += &format!("| {what} | {bound} {goal} | {ratio:.2} | {reached} |\n");
    }
    match text.is_empty() {
        true => text,
        false => format!("\n| goal, on the clock | | times | |\n|---|--:|--:|---|\n{text}"),
    }
}

fn counts(result: &Exploration) -> StateCounts {
    assert_eq!(result.ended, Ended::Complete, "{:?}", result.found);
    StateCounts {
        states: result.counts.states,
        transitions: Some(result.counts.events),
        levels: Some(u64::from(result.counts.depth) + 1),
    }
}

fn search() -> Search {
    Search { order: BFS, visited: HASH, threads: 1, ..Search::default() }
}

/// Explores with all states in files, and so many bytes of fingerprints in memory.
#[expect(clippy::disallowed_methods, reason = "checkpoints come after some time")]
fn on_disk(bounds: &Bounds, memory: u64, checkpoints: bool) -> StateCounts {
    let folder = tempfile::tempdir().expect("there is room for files");
    let last = Mutex::new(Instant::now());
    let due = || {
        let mut last = last.lock().expect("nobody panics while holding it");
        let is_due = checkpoints && last.elapsed() >= EVERY;
        if is_due {
            *last = Instant::now();
        }
        is_due
    };
    let disk = Disk { folder: folder.path(), memory, identity: "bench", resume: false, due: &due };
    let (property, search) = (in_order(|state: &NaturalState| state.in_order), search());
    let task =
        Task { system: &Natural(*bounds), properties: &[property], rank: None, search: &search };
    let result = explore_on_disk(&task, disk, &Control::default());
    counts(&result.expect("a new folder can be used"))
}

/// The model as the command line would have it.
impl Model for Natural {
    const NAME: &'static str = "arq";
    const ABOUT: &'static str = "the common model";
    const NODES: NodeRange = NodeRange::exactly(2);
    const PARAMETERS: &'static [Parameter] =
        &[Parameter { name: "quick", about: "the small one", min: 0, max: 1, default: 0 }];
    const EVENTS: &'static [EventKind] = &[EventKind { name: "event", about: "any event" }; 6];

    fn build(config: &Config) -> Self {
        Natural(if Self::PARAMETERS[0].of(config) == 1 { QUICK } else { FULL })
    }

    fn properties(&self) -> Vec<Property<NaturalState>> {
        vec![in_order(|state: &NaturalState| state.in_order)]
    }

    fn describe_step(&self, _: &NaturalState, step: Step) -> String {
        format!("{:?}", Event::ALL[usize::from(step.event)])
    }

    fn describe_state(&self, state: &NaturalState) -> Vec<Line> {
        vec![Line::new("state", format!("{state:?}"))]
    }
}

/// Explores with so many processes, of which this one starts the others.
fn together(bounds: &Bounds, processes: usize) -> StateCounts {
    let folder = tempfile::tempdir().expect("there is room for sockets");
    let program = std::env::current_exe().expect("this program has a path");
    let quick = *bounds == QUICK;
    let others: Vec<_> = (1..processes)
        .map(|process| {
            let mut command = Command::new(&program);
            command.args(["part", &process.to_string(), &processes.to_string()]);
            command.arg(folder.path()).args(quick.then_some("--quick"));
            command.spawn().expect("this program can be started")
        })
        .collect();
    let counts = part(folder.path(), (0, processes), quick).expect("all processes search");
    for mut other in others {
        assert!(other.wait().expect("it was started").success());
    }
    counts
}

/// One of the processes of a search.
pub fn part(
    folder: &Path,
    (process, processes): (usize, usize),
    quick: bool,
) -> Result<StateCounts> {
    let mut config = Config { nodes: 2, ..Config::default() };
    config.set.insert("quick".into(), i64::from(quick));
    let model = ModelKind::of::<Natural>().build(config);
    let model: Box<dyn AnyModel> = model.map_err(anyhow::Error::msg)?;
    let request = Request::new(&*model, search(), None);
    let path = |number: usize| folder.join(number.to_string()).display().to_string();
    let cluster = Cluster {
        hosts: (0..processes).map(path).collect(),
        process,
        threads: 1,
        identity: "bench".into(),
        patience: Duration::from_secs(60),
        failed: &|| None,
    };
    let result =
        everypath_distributed::explore(model.into(), request, &cluster, &Control::default());
    let result = result.context("the processes did not come to an end")?;
    ensure!(result.ended == Ended::Complete, "{:?}", result.ended);
    Ok(counts(&result))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::Tool;
    use crate::model::QUICK_SIZE;

    /// Rows with several processes start this program, which a test is not.
    #[test]
    fn every_row_finds_the_published_size() {
        for row in ROWS.iter().filter(|row| !row.name.contains("timely-2")) {
            let Tool::InProcess(run) = row.tool else {
                unreachable!("all rows of ours run in this binary")
            };
            let outcome = run(&QUICK);
            assert!(outcome.agrees_with(&QUICK_SIZE), "{}: {outcome:?}", row.name);
        }
    }

    #[test]
    fn goals_name_rows_that_there_are() {
        let all = crate::contender::all(2);
        for (_, row, other, ..) in GOALS {
            for name in [row, other] {
                assert!(all.iter().any(|row| row.name == name), "{name}");
            }
        }
    }
}
