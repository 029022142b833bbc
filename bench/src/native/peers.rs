//! Programs that talk to real processes: a whole search, what an answer from the cache costs, and
//! what it saves.

use super::goals::Goals;
use super::programs::Programs;
use super::{Cost, Scale, cost, median, on_one_core};
use crate::table::grouped;
use anyhow::{Context, Result, ensure};
use everypath_native::peers::{Cache, Options, Statistics};
use everypath_native::{Environment, Exhaustive, Explored, Launch, Setup};
use everypath_schedules::reduction::Reduction;
use everypath_trace::Control;
use std::ffi::OsStr;
use std::net::TcpListener;
use std::path::Path;

/// A search, and what its peers were asked.
pub(super) struct Searched {
    pub(super) explored: Explored,
    asked: Statistics,
    pub(super) cost: Cost,
}

/// Prints everything.
pub fn run(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    whole(programs, scale, goals)?;
    println!();
    hits(programs, scale, goals)?;
    println!();
    caches(programs, scale)
}

/// Searches the schedules of the alphabet client, as far as is asked for.
pub(super) fn search(
    programs: &Programs,
    (sessions, messages): (u32, u32),
    cache: Cache,
    (reduction, executions): (Reduction, Option<u64>),
) -> Result<Searched> {
    let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|it| it.local_addr());
    let port = port.context("failed to find a free port")?.port();
    let server = format!("{} {port}", programs.alphabet_server.display());
    let outside = Environment::new(Options { commands: vec![server], cache, ..Options::default() })
        .context("failed to name the peer")?;
    let arguments = [u32::from(port), sessions, messages].map(|number| number.to_string());
    let (explored, cost) = cost(|| {
        let extent = (reduction, executions, 1);
        explore(&programs.alphabet_client, &arguments, outside.clone(), extent)
    })?;
    Ok(Searched { explored, asked: outside.statistics(), cost })
}

/// Searches the schedules of a program that is as expected, with so many threads.
pub(super) fn explore(
    program: &Path,
    arguments: &[impl AsRef<OsStr>],
    outside: Environment,
    (reduction, executions, workers): (Reduction, Option<u64>, usize),
) -> Result<Explored> {
    let launch = launch(program, arguments, outside);
    let exhaustive = Exhaustive {
        launch,
        reduction,
        executions,
        keep_going: false,
        preemptions: None,
        workers,
        cross_check: None,
        early_timeouts: 0,
    };
    let explored = everypath_native::explore(&exhaustive, &Control::default())
        .with_context(|| format!("failed to control {}", program.display()))?;
    ensure!(explored.first.is_none(), "{} is not as expected: {explored:?}", program.display());
    Ok(explored)
}

/// How a program is started that talks to peers.
pub(super) fn launch(
    program: &Path,
    arguments: &[impl AsRef<OsStr>],
    outside: Environment,
) -> Launch {
    Launch {
        arguments: arguments.iter().map(Into::into).collect(),
        setup: Setup { max_steps: 1 << 20, ..Setup::default() },
        outside,
        ..Launch::new(program)
    }
}

/// The whole search of the papers' largest alphabet client.
fn whole(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    println!("| alphabet client | executions | connections | misses | seconds |");
    println!("|---|--:|--:|--:|--:|");
    for size in [(2, 5), (3, 1), (3, 5)] {
        let mut seconds = Vec::new();
        for round in 0..scale.rounds {
            let all = (Reduction::Optimal, None);
            let Searched { explored, asked, cost } = search(programs, size, Cache::Branching, all)?;
            ensure!(explored.complete, "the search has no end");
            seconds.push(cost.wall());
            if round + 1 == scale.rounds {
                println!(
                    "| {} x {} | {} | {} | {} | {:.3} |",
                    size.0,
                    size.1,
                    grouped(explored.executions),
                    asked.connections,
                    asked.misses,
                    median(seconds.iter().copied())
                );
            }
        }
        if size == (3, 5) {
            let goal = "alphabet client 3 x 5, branching, seconds (at most 2)".to_string();
            goals.at_most(goal, median(seconds.into_iter()), 2.0);
        }
    }
    Ok(())
}

/// Executions in which every message is answered from the cache, beside those of the same threads
/// that talk to each other through pipes.
fn hits(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    const EXECUTIONS: u64 = 40_000;
    const SIZE: (u32, u32) = (2, 5);
    let some = (Reduction::None, Some(scale.of(EXECUTIONS)));
    let pipe_arguments = [SIZE.0, SIZE.1].map(|number| number.to_string());
    let (mut peers, mut pipes) = (Vec::new(), Vec::new());
    let mut found = 0.0;
    for _ in 0..scale.rounds {
        let searched = on_one_core(|| search(programs, SIZE, Cache::Branching, some))?;
        found = searched.explored.hits as f64 / searched.explored.executions as f64;
        peers.push(searched.cost.cpu() / searched.explored.executions as f64);
        let (explored, cost) = on_one_core(|| {
            cost(|| {
                let extent = (some.0, some.1, 1);
                explore(&programs.alphabet, &pipe_arguments, Environment::default(), extent)
            })
        })?;
        pipes.push(cost.cpu() / explored.executions as f64);
    }
    let (peers, pipes) = (median(peers.into_iter()), median(pipes.into_iter()));
    println!(
        "| alphabet client 2 x 5, schedules in their order | µs an execution | executions/s |"
    );
    println!("|---|--:|--:|");
    for (name, seconds) in [("a real server, answers from the cache", peers), ("pipes", pipes)] {
        println!("| {name} | {:.1} | {} |", seconds * 1e6, grouped((1.0 / seconds) as u64));
    }
    let each = (peers - pipes) / found * 1e6;
    println!("\n{found:.1} messages an execution are answered from the cache.");
    goals.at_least("executions/s when all is cached (10,000)".into(), 1.0 / peers, 10_000.0);
    goals.at_most("a hit beside a pipe, µs (at most 1)".into(), each, 1.0);
    Ok(())
}

/// The same executions with and without a cache.
fn caches(programs: &Programs, scale: Scale) -> Result<()> {
    const EXECUTIONS: u64 = 400;
    println!("| cache | executions | connections | peers started | ms an execution | factor |");
    println!("|---|--:|--:|--:|--:|--:|");
    let some = (Reduction::None, Some(scale.of(EXECUTIONS)));
    let mut slowest = None;
    for (name, cache) in
        [("none", Cache::None), ("linear", Cache::Linear), ("branching", Cache::Branching)]
    {
        let Searched { explored, asked, cost } = search(programs, (2, 2), cache, some)?;
        let each = cost.wall() / explored.executions as f64;
        let factor = *slowest.get_or_insert(each) / each;
        println!(
            "| {name} | {} | {} | {} | {:.3} | {factor:.0} |",
            grouped(explored.executions),
            grouped(asked.connections),
            grouped(asked.starts),
            each * 1e3
        );
    }
    Ok(())
}
