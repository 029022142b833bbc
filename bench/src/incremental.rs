//! Incremental exploration: how much faster than from scratch, and what it takes.

use crate::table::grouped;
use anyhow::{Context, Result, ensure};
use everypath_explore::graph::{About, Baseline, Graph};
use everypath_explore::{
    Config, Control, Exploration, Increment, Incremental, Model, Search, SearchOrder, Task,
    VisitedKind, explore, explore_incrementally,
};
use everypath_mapped::Mapped;
use everypath_protocols::{aodv, arq, diffusion};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

/// How often each row is measured, all kinds of run in turn; the medians are shown.
const ROUNDS: usize = 15;

/// A row: a search, and which events count as modified.
struct Row {
    name: &'static str,
    modified: &'static [&'static [&'static str]],
    search: Search,
    rank: &'static str,
}

/// Measures everything and prints the table.
pub fn run() -> Result<()> {
    println!(
        "| search | modified | events | executed | from scratch s | incremental s | ratio | \
         writing s | file B/transition | memory B/transition, reading | writing |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("graph");
    let hash = |max_depth, order| Search {
        max_depth: Some(max_depth),
        order,
        visited: VisitedKind::Hash,
        keep_going: true,
        ..Search::default()
    };
    let relation =
        |max_depth, order| Search { visited: VisitedKind::Relation, ..hash(max_depth, order) };
    let aodv = Config { bugs: vec!["reboot-forgets".into()], ..Config::new(3) };
    for (name, search) in [
        ("AODV, depth 12, bfs, hash", hash(12, SearchOrder::Bfs)),
        ("AODV, depth 12, dfs, hash", hash(12, SearchOrder::Dfs)),
        ("AODV, depth 12, bfs, relation", relation(12, SearchOrder::Bfs)),
    ] {
        let row = Row { name, modified: AODV, search, rank: "3" };
        measure::<aodv::Model>([&aodv, &aodv], &row, &file)?;
    }
    let both = Config { bugs: vec!["cache-timeout".into(), "reboot".into()], ..Config::new(4) };
    for (name, search) in [
        ("diffusion, depth 12, bfs, hash", hash(12, SearchOrder::Bfs)),
        ("diffusion, depth 12, dfs, hash", hash(12, SearchOrder::Dfs)),
        ("diffusion, depth 12, bfs, relation", relation(12, SearchOrder::Bfs)),
    ] {
        let row = Row { name, modified: DIFFUSION, search, rank: "4" };
        measure::<diffusion::Model>([&both, &both], &row, &file)?;
    }
    // The last row of table 8.8.
    let reboot = Config { bugs: vec!["reboot".into()], ..Config::new(4) };
    let search = Search {
        shuffle: Some(1),
        must_contain: event::<diffusion::Model>("reboot"),
        disabled: event::<diffusion::Model>("data-cache-timeout").into_iter().collect(),
        keep_going: false,
        ..hash(20, SearchOrder::Befs)
    };
    let name = "diffusion, table 8.8, shuffled befs, hash";
    let row = Row { name, modified: DIFFUSION, search, rank: "4" };
    measure::<diffusion::Model>([&reboot, &reboot], &row, &file)?;
    let arq = Config::new(2);
    let bug = Config { bugs: vec!["unchecked-ack".into()], ..Config::new(2) };
    let search = hash(35, SearchOrder::Bfs);
    let row = Row { name: "ARQ, depth 35, bfs, hash", modified: ARQ, search, rank: "1" };
    measure::<arq::Model>([&arq, &arq], &row, &file)?;
    let row = Row { name: "ARQ with the graph of unchecked-ack", modified: &ARQ[1..], ..row };
    measure::<arq::Model>([&bug, &arq], &row, &file)
}

/// The events that count as modified, as in tables 8.1 and 8.8.
const AODV: &[&[&str]] = &[
    &[],
    &["route-timeout"],
    &["route-timeout", "deliver"],
    &["route-timeout", "deliver", "request"],
];
const DIFFUSION: &[&[&str]] = &[&[], &["deliver"], &["deliver", "gradient-timeout"]];
const ARQ: &[&[&str]] = &[&[], &["deliver-ack"]];

/// The number of an event.
fn event<M: Model>(name: &str) -> Option<u16> {
    M::EVENTS.iter().position(|kind| kind.name == name).map(|number| number as u16)
}

/// Measures a row: the graph of the first model is used for the second.
fn measure<M: Model>([old, new]: [&Config; 2], row: &Row, file: &Path) -> Result<()> {
    let (old, model) = (M::build(old), M::build(new));
    let (properties, ranks) = (model.properties(), model.ranks());
    let search = &row.search;
    let rank = ranks.iter().find(|rank| rank.name == row.rank);
    let task = Task { system: &model, properties: &properties, rank, search };
    let old_makeup = old.makeup().context("a model with its source")?;
    let old = Task { system: &old, properties: &properties, rank, search };
    let control = Control::default();
    let makeup = model.makeup().context("a model with its source")?;
    let write = || -> Result<(Exploration, Increment)> {
        let given = Incremental { record: true, ..Incremental::default() };
        let (exploration, mut increment) = explore_incrementally(&old, given, &control);
        let mut out = BufWriter::new(File::create(file)?);
        let ledger = increment.ledger.take().context("it was to be recorded")?;
        let about = About { makeup: &old_makeup, left_out: &search.disabled, counterexamples: &[] };
        ledger.write(&mut out, None, about)?;
        out.flush()?;
        Ok((exploration, increment))
    };
    let (_, writing) = write()?;
    for modified in row.modified {
        let numbers: Vec<u16> = modified.iter().filter_map(|name| event::<M>(name)).collect();
        let read = || -> Result<(Exploration, Increment)> {
            let bytes = Mapped::open(file)?;
            let graph = Graph::open(&bytes)?;
            let baseline = Baseline::new(&graph, &makeup, Some(&numbers))?;
            let given = Incremental { baseline: Some(&baseline), ..Incremental::default() };
            Ok(explore_incrementally(&task, given, &control))
        };
        let mut times = [const { Vec::new() }; 3];
        let (mut scratch, mut increment) = (None, None);
        for _ in 0..ROUNDS {
            let (found, seconds) = timed(|| Ok(explore(&task, &control)))?;
            times[0].push(seconds);
            let ((again, found_more), seconds) = timed(read)?;
            times[1].push(seconds);
            ensure!(found == again, "the incremental search explored something else");
            (scratch, increment) = (Some(found), Some(found_more));
            if modified.is_empty() {
                times[2].push(timed(write)?.1);
            }
        }
        let events = scratch.map_or(0, |found| found.counts.events);
        let increment = increment.context("there are rounds")?;
        let [scratch, incremental, written] = times.map(median);
        let per = |bytes: u64| bytes as f64 / events as f64;
        println!(
            "| {} | {} | {} | {} | {scratch:.4} | {incremental:.4} | {:.2} | {} | {:.1} | {:.1} | {:.1} |",
            row.name,
            if modified.is_empty() { "none".into() } else { modified.join(", ") },
            grouped(events),
            grouped(increment.reuse.executed),
            scratch / incremental,
            if written.is_nan() { String::new() } else { format!("{written:.4}") },
            per(fs::metadata(file)?.len()),
            per(increment.extra_bytes),
            per(writing.extra_bytes),
        );
    }
    Ok(())
}

pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Runs something; returns its result and how many seconds it took.
#[expect(clippy::disallowed_methods, reason = "wall time is what is measured")]
pub fn timed<T>(run: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let start = Instant::now();
    let result = run()?;
    Ok((result, start.elapsed().as_secs_f64()))
}
