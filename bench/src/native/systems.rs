//! Programs whose peers are explored, too: one after the other with a cache of what the peer says,
//! all of them together, and each on its own.

use super::goals::Goals;
use super::peers::search;
use super::programs::Programs;
use super::{Scale, cost, median};
use crate::table::grouped;
use anyhow::{Context, Result, ensure};
use everypath_native::peers::Cache;
use everypath_native::{Companion, Exhaustive, Goal, JointSearch, Launch, Setup, explore_jointly};
use everypath_schedules::reduction::Reduction;
use everypath_trace::Control;
use std::ffi::OsString;
use std::path::PathBuf;

/// What JPF took for both programs made one, minutes and seconds: Artho et al. (2009), table 2. Of
/// one session there is no row.
fn centralised((sessions, messages): (u32, u32)) -> &'static str {
    match (sessions, messages) {
        (1, _) => "",
        (2, 1) => "112:24, then an error of JPF",
        _ => "> 120:00",
    }
}

/// Prints everything.
pub fn run(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    alphabet(programs, scale)?;
    println!();
    pairs(programs, scale, goals)
}

/// A program and its arguments.
type Command = (PathBuf, Vec<OsString>);

fn command(program: &std::path::Path, arguments: &[String]) -> Command {
    (program.to_path_buf(), arguments.iter().map(OsString::from).collect())
}

fn launch((program, arguments): &Command) -> Launch {
    Launch {
        arguments: arguments.clone(),
        setup: Setup { max_steps: 1 << 20, ..Setup::default() },
        ..Launch::new(program)
    }
}

/// What a search ran, and whether it found something wrong.
struct Ran {
    executions: u64,
    is_wrong: bool,
}

/// Explores all schedules of both programs together.
fn closed(first: &Command, second: &Command) -> Result<Ran> {
    let (program, arguments) = second.clone();
    let launch = Launch { companions: vec![Companion { program, arguments }], ..launch(first) };
    let exhaustive = Exhaustive {
        launch,
        reduction: Reduction::Optimal,
        executions: None,
        keep_going: false,
        preemptions: None,
        workers: 1,
        cross_check: None,
        early_timeouts: 0,
    };
    let explored = everypath_native::explore(&exhaustive, &Control::default())
        .context("failed to explore both programs together")?;
    let is_wrong = explored.first.is_some();
    ensure!(explored.complete || is_wrong, "the search has no end");
    Ok(Ran { executions: explored.executions, is_wrong })
}

/// Explores each program on its own.
fn jointly(first: &Command, second: &Command) -> Result<Ran> {
    let search = JointSearch {
        programs: vec![("first".into(), launch(first)), ("second".into(), launch(second))],
        reduction: Reduction::Optimal,
        executions: None,
        events: None,
        environment: None,
        kills_first: false,
        breaks: 0,
        keep_going: false,
        goal: Goal::Verdict,
    };
    let explored = explore_jointly(&search, &Control::default())
        .context("failed to explore each program on its own")?;
    let is_wrong = explored.found.is_some();
    ensure!(explored.complete || is_wrong, "there is no result: {:?}", explored.reason);
    Ok(Ran { executions: explored.executions.iter().sum(), is_wrong })
}

/// The alphabet client and server of the papers on I/O caches.
fn alphabet(programs: &Programs, scale: Scale) -> Result<()> {
    println!(
        "| alphabet | closed: executions | s | joint: executions | s | cache: executions | s | centralisation, min:s |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for size in (1..=3).flat_map(|sessions| (1..=3).map(move |messages| (sessions, messages))) {
        let (sessions, messages) = size;
        let client = ["7000".into(), sessions.to_string(), messages.to_string()];
        let client = command(&programs.alphabet_client, &client);
        let server = command(&programs.alphabet_server, &["7000".into(), sessions.to_string()]);
        let mut seconds = [const { Vec::new() }; 3];
        let mut executions = [0; 3];
        for _ in 0..scale.rounds {
            let (together, took) = cost(|| closed(&client, &server))?;
            seconds[0].push(took.wall());
            let (apart, took) = cost(|| jointly(&client, &server))?;
            seconds[1].push(took.wall());
            ensure!(!together.is_wrong && !apart.is_wrong, "the alphabet is not as expected");
            // One program at a time, the other being the peer.
            let all = (Reduction::Optimal, None);
            let cached = search(programs, size, Cache::Branching, all)?;
            seconds[2].push(cached.cost.wall());
            executions = [together.executions, apart.executions, cached.explored.executions];
        }
        let seconds = seconds.map(|of| median(of.into_iter()));
        println!(
            "| {sessions} x {messages} | {} | {:.3} | {} | {:.3} | {} | {:.3} | {} |",
            grouped(executions[0]),
            seconds[0],
            grouped(executions[1]),
            seconds[1],
            grouped(executions[2]),
            seconds[2],
            centralised(size)
        );
    }
    Ok(())
}

/// The pairs of Lakatos (2014), who took 2 to 9 seconds for each.
fn pairs(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    println!("| pair | wrong | closed: executions | s | joint: executions | s |");
    println!("|---|---|--:|--:|--:|--:|");
    let port = || "7000".to_string();
    let mut slowest: f64 = 0.0;
    for (name, [client, server], words) in [
        ("Dummy", ["times_ten_client", "times_ten_server"], ["", ""]),
        ("Lucky", ["times_ten_client", "times_ten_server"], ["lucky", ""]),
        ("Buggy", ["times_ten_client", "times_ten_server"], ["lucky", "buggy"]),
        ("two ports", ["two_ports_client", "two_ports_server"], ["", ""]),
        ("figure 10", ["visits_client", "visits_server"], ["", ""]),
    ] {
        let one = |program: &str, word: &str| -> Result<Command> {
            let word = (!word.is_empty()).then(|| word.to_string());
            let arguments: Vec<String> = [port()].into_iter().chain(word).collect();
            Ok(command(&programs.closed(program)?, &arguments))
        };
        let (client, server) = (one(client, words[0])?, one(server, words[1])?);
        let mut seconds = [const { Vec::new() }; 2];
        let mut ran = None;
        for _ in 0..scale.rounds {
            let (together, took) = cost(|| closed(&client, &server))?;
            seconds[0].push(took.wall());
            let (apart, took) = cost(|| jointly(&client, &server))?;
            seconds[1].push(took.wall());
            ensure!(together.is_wrong == apart.is_wrong, "{name}: closed and joint disagree");
            ran = Some((together, apart));
        }
        let (together, apart) = ran.context("nothing was run")?;
        let seconds = seconds.map(|of| median(of.into_iter()));
        slowest = slowest.max(seconds[0]).max(seconds[1]);
        println!(
            "| {name} | {} | {} | {:.3} | {} | {:.3} |",
            if together.is_wrong { "yes" } else { "no" },
            together.executions,
            seconds[0],
            apart.executions,
            seconds[1]
        );
    }
    goals.at_most("the slowest pair of the thesis, seconds (below 1)".into(), slowest, 1.0);
    Ok(())
}
