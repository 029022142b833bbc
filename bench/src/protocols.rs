//! The case studies: how fast they are explored and simulated, and where the time goes.

use crate::table::grouped;
use crate::timed::{Clock, Operation, Timed, empty_operation};
use anyhow::{Result, ensure};
use everypath_explore::{
    Config, Control, Ended, Exploration, Model, Property, Rank, Search, SearchOrder, System, Task,
    VisitedKind, explore,
};
use everypath_net::simulate::{Run, Settings, simulate};
use everypath_net::{Options, Shape, Topology};
use everypath_protocols::{Aodv, aodv, diffusion};
use std::sync::Arc;
use std::time::Instant;

/// How often each row is measured; the median is shown.
const ROUNDS: usize = 3;
/// How often the operations are timed; the fastest run is shown.
const TIMED_ROUNDS: usize = 20;

const AODV_DEPTH: u32 = 10;
const DIFFUSION_DEPTH: u32 = 13;

/// Measures everything and prints the tables.
pub fn run() -> Result<()> {
    println!("## Exploration\n");
    println!("| model | order | visited | states | events | seconds | events/s |");
    println!("|---|---|---|--:|--:|--:|--:|");
    let name = format!("AODV, depth {AODV_DEPTH}");
    exploration::<aodv::Model>(&name, &aodv_config(), AODV_DEPTH)?;
    let name = format!("diffusion, depth {DIFFUSION_DEPTH}");
    let config = Config { bugs: vec!["cache-timeout".into()], ..Config::new(4) };
    exploration::<diffusion::Model>(&name, &config, DIFFUSION_DEPTH)?;
    println!("\n## Where the time goes: AODV, depth {AODV_DEPTH}, bfs, relation\n");
    operations()?;
    println!("\n## Simulation: AODV, 100 simulated seconds\n");
    simulation()
}

fn aodv_config() -> Config {
    Config { bugs: vec!["reboot-forgets".into()], ..Config::new(3) }
}

/// The whole space within a depth bound.
fn to_depth(depth: u32) -> Search {
    Search { max_depth: Some(depth), keep_going: true, ..Search::default() }
}

/// Prints a row for each order and visited set.
fn exploration<M: Model>(name: &str, config: &Config, depth: u32) -> Result<()> {
    let system = M::build(config);
    let (properties, ranks) = (system.properties(), system.ranks());
    for (_, order) in SearchOrder::NAMES {
        for visited in [VisitedKind::Relation, VisitedKind::Equality, VisitedKind::Hash] {
            let search = Search { order, visited, ..to_depth(depth) };
            let rank = ranks.first();
            let (found, seconds) =
                median(ROUNDS, || complete(&system, &properties, rank, &search))?;
            let (states, events) = (found.counts.states, found.counts.events);
            println!(
                "| {name} | {order} | {visited} | {} | {} | {seconds:.3} | {} |",
                grouped(states),
                grouped(events),
                grouped((events as f64 / seconds) as u64),
            );
        }
    }
    Ok(())
}

/// Explores to the end, on one thread.
fn complete<S: System>(
    system: &S,
    properties: &[Property<S::State>],
    rank: Option<&Rank<S::State>>,
    search: &Search,
) -> Result<Exploration> {
    let result = explore(&Task { system, properties, rank, search }, &Control::default());
    ensure!(result.ended == Ended::Complete, "the search ended early: {:?}", result.ended);
    Ok(result)
}

/// Prints how long each operation of the model takes, as in Sobeih (2008), table 4.4.
fn operations() -> Result<()> {
    let search = to_depth(AODV_DEPTH);
    let system = aodv::Model::build(&aodv_config());
    let properties = system.properties();
    let mut plain = f64::INFINITY;
    let mut fastest: Option<(f64, Arc<Clock>)> = None;
    for _ in 0..TIMED_ROUNDS {
        let (expected, seconds) = timed(|| complete(&system, &properties, None, &search))?;
        plain = plain.min(seconds);
        let clock = Arc::new(Clock::default());
        let system = Timed::new(aodv::Model::build(&aodv_config()), Arc::clone(&clock));
        let properties = system.properties(aodv::Model::build(&aodv_config()).properties());
        let (found, seconds) = timed(|| complete(&system, &properties, None, &search))?;
        ensure!(found == expected, "the timed model is explored differently");
        if fastest.as_ref().is_none_or(|(best, _)| seconds < *best) {
            fastest = Some((seconds, clock));
        }
    }
    if let Some((total, clock)) = fastest {
        print_operations(&clock, plain, total, empty_operation());
    }
    Ok(())
}

/// Prints what a clock says of a run that took `total` seconds, and `plain` without the clock; an
/// operation that does nothing seems to take `empty` seconds.
fn print_operations(clock: &Clock, plain: f64, total: f64, empty: f64) {
    println!("| operation | calls | ms on the clock | ms less the clock | share |");
    println!("|---|--:|--:|--:|--:|");
    let (mut measured, mut corrected) = (0.0, 0.0);
    for (operation, name) in Operation::NAMES {
        let (calls, seconds) = (clock.calls(operation), clock.total(operation).as_secs_f64());
        let own = (seconds - calls as f64 * empty).max(0.0);
        println!(
            "| {name} | {} | {:.2} | {:.2} | {:.1} % |",
            grouped(calls),
            seconds * 1e3,
            own * 1e3,
            own / plain * 100.0
        );
        measured += seconds;
        corrected += own;
    }
    let (rest, other) = (total - measured, plain - corrected);
    println!(
        "| everything else | | {:.2} | {:.2} | {:.1} % |",
        rest * 1e3,
        other * 1e3,
        other / plain * 100.0
    );
    println!("| total | | {:.2} | {:.2} | 100.0 % |", total * 1e3, plain * 1e3);
    println!(
        "\nOn the clock: the fastest of {TIMED_ROUNDS} runs with timing. Less the clock: without \
         the {:.0} ns that an empty operation seems to take; the total is the fastest run without \
         timing, the shares are of it, and everything else is what remains of it.",
        empty * 1e9
    );
}

/// Prints how fast AODV is simulated.
fn simulation() -> Result<()> {
    println!("| network | flows | events | delivered | seconds | events/s |");
    println!("|---|--:|--:|--:|--:|--:|");
    let networks = [
        ("grid of 100 nodes", Topology::new(Shape::Grid, 100), 50),
        ("chain of 12 nodes", Topology::chain(12), 5),
    ];
    for (name, topology, flows) in networks {
        let options = Options::new(topology);
        let settings = Settings { flows, ..Settings::default() };
        let (Run { counts, .. }, seconds) =
            median(ROUNDS, || Ok(simulate::<Aodv>(&options, &settings)?))?;
        println!(
            "| {name} | {flows} | {} | {} of {} | {seconds:.4} | {} |",
            grouped(counts.events),
            grouped(counts.delivered),
            grouped(counts.offered),
            grouped((counts.events as f64 / seconds) as u64),
        );
    }
    Ok(())
}

/// Runs something several times; returns its result, always the same, and the median time.
fn median<T: PartialEq>(rounds: usize, run: impl Fn() -> Result<T>) -> Result<(T, f64)> {
    let (first, seconds) = timed(&run)?;
    let mut times = vec![seconds];
    for _ in 1..rounds {
        let (again, seconds) = timed(&run)?;
        ensure!(again == first, "two runs gave different results");
        times.push(seconds);
    }
    times.sort_by(f64::total_cmp);
    Ok((first, times[times.len() / 2]))
}

/// Runs something; returns its result and how many seconds it took.
#[expect(clippy::disallowed_methods, reason = "wall time is what is measured")]
fn timed<T>(run: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let start = Instant::now();
    let result = run()?;
    Ok((result, start.elapsed().as_secs_f64()))
}
