//! Runs the search that a configuration asks for.

use crate::assumptions::assumption;
use crate::conclude::conclude;
use crate::exploration::Exploration;
use crate::finding::{Counted, Early, Found, failed};
use crate::host::Host;
use crate::launch::{launch, open, open_only};
use crate::observer::{Observer, Search};
use crate::phases::{now, watched};
use crate::sample_traces::with_sample_traces;
use everypath_native::{
    CrossCheck, Error, Exhaustive, Explored, Launch, Repeated, Sampling, StateSpace,
    repeat_with_fresh_peers, with_served_addresses,
};
use everypath_schedules::reduction::Reduction;
use everypath_trace::{Assumption, CacheName, CheckConfig, Control, Coverage, Verdict};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// How many schedules are sampled if nobody says.
const DEFAULT_EXECUTIONS: u64 = 10_000;
/// How many executions are repeated with fresh peers, if there is time.
const WITH_FRESH_PEERS: u64 = 8;
/// How many executions `--verify` repeats in every other way.
const VERIFIED: u64 = 200;

/// Explores a program, alone or with others, and concludes.
pub(crate) fn explore(
    host: &Host,
    config: &CheckConfig,
    observer: &mut dyn Observer,
) -> Result<Found, Early> {
    let program = match config.with.is_empty() {
        true => open_only(host, &config.program)?,
        false => open(host, &config.program)?,
    };
    let exploration = Exploration::of(config)?;
    let launch = launch(host, config, &program)?;
    let work = |control: &Control| {
        let launch = Launch { control: control.clone(), ..launch.clone() };
        if let Some(port) = config.peer_ready {
            let ready = launch.outside.await_port(port);
            ready.map_err(|error| Early::inconclusive(error.to_string()))?;
        }
        let launch = with_served_addresses(&launch).map_err(|error| failed(&error))?;
        let explored = search(config, exploration, launch.clone());
        Ok((launch, explored.map_err(|error| failed(&error))?))
    };
    let watched = watched(config, observer, Search::Executions, work).successful()?;
    let (launch, explored) = &watched.result;
    let mut counted = Counted::of(explored, watched.seconds).with_options(config, &launch.outside);
    counted.notices = everypath_native::in_words(&explored.notices, launch);
    counted.unsynchronised = everypath_native::unsynchronised(&explored.armed);
    counted.never_reached = launch.reached.missing(launch);
    let (mut found, stopped) = watched.conclude(config, observer, |control| {
        let (armed, control) = (Arc::clone(&explored.armed), control.clone());
        let launch = Launch { armed, control, ..launch.clone() };
        let found = conclude(config, exploration, &program, (&launch, explored));
        match &watched.stopped {
            Some(why) if found.trace.is_none() && explored.first.is_none() => {
                Found::inconclusive(why.clone())
            }
            _ => {
                let found = verified(config, &launch, found);
                let found = repeated(config, (&launch, explored), watched.seconds, found);
                let found = unless_vacuous(config, &launch, found);
                with_sample_traces(config, &program, &launch, found)
            }
        }
    });
    if let Some(why) = stopped {
        found = found.cut_short(&why);
    }
    if found.verdict == Verdict::Inconclusive && matches!(exploration, Exploration::Sampled(_)) {
        found.coverage = Coverage::Sampled;
    }
    counted.assumptions.extend(found.with_fresh_peers.map(peers_are_deterministic));
    found.counted = counted;
    Ok(found)
}

/// Adds what did not happen, if nothing was violated.
fn unless_vacuous(config: &CheckConfig, launch: &Launch, found: Found) -> Found {
    if found.verdict != Verdict::Holds {
        return found;
    }
    match everypath_native::absences(launch, config.seed()) {
        Ok(did_not_happen) => Found { did_not_happen, ..found },
        Err(Error::Stopped) => found,
        Err(error) => Found::failed(&error),
    }
}

/// Runs a few executions again with fresh peers: one whose answers depend on other connections makes
/// a cache of them wrong.
fn repeated(
    config: &CheckConfig,
    (launch, explored): (&Launch, &Explored),
    seconds: f64,
    found: Found,
) -> Found {
    if found.verdict != Verdict::Holds || !launch.outside.remembers_peers() {
        return found;
    }
    let (seed, is_only) = (config.seed(), explored.executions == 1);
    let limit = Duration::from_secs_f64(seconds).max(Duration::from_secs(1));
    let began = now();
    let is_time_left = || now() - began < limit;
    match repeat_with_fresh_peers(launch, (seed, WITH_FRESH_PEERS), is_only, is_time_left) {
        Ok(Repeated::Alike(1)) if is_only => found,
        Ok(Repeated::Alike(_)) if config.verify_peers => found,
        Ok(Repeated::Alike(count)) => Found { with_fresh_peers: Some(count), ..found },
        Ok(Repeated::Differs(difference)) => Found::inconclusive(format!(
            "an execution was not the same with fresh peers ({difference}): what a peer answers \
             depends on its other connections, on time or on chance. Try --cache none, which \
             starts peers anew for every execution"
        )),
        Err(Error::Stopped) => found,
        Err(error) => Found::failed(&error),
    }
}

fn peers_are_deterministic(repeated: u64) -> Assumption {
    let executions = if repeated == 1 { "execution was" } else { "executions were" };
    let text = format!(
        "peers answer the same to the same: {repeated} {executions} repeated with fresh peers \
         (--verify-peers asks again for every answer)"
    );
    assumption("deterministic-peers", text)
}

/// Repeats what `--verify-peers` and `--verify` ask for.
fn verified(config: &CheckConfig, launch: &Launch, found: Found) -> Found {
    if found.verdict != Verdict::Holds {
        return found;
    }
    if config.verify_peers
        && let Err(error) = launch.outside.verify()
    {
        return Found::inconclusive(error.to_string());
    }
    if config.verify { verify(launch, config.seed(), found) } else { found }
}

/// Runs executions as the strategy says.
fn search(
    config: &CheckConfig,
    exploration: Exploration,
    launch: Launch,
) -> Result<Explored, Error> {
    let (control, keep_going) = (&launch.control.clone(), config.keep_going);
    // Peers answer one program at a time.
    let alone = !config.peer.is_empty();
    let workers = if alone { 1 } else { config.threads.map_or_else(cores, usize::from) };
    let executions = config.max_executions;
    let cross_check = cross_check(config, exploration);
    let schedules = |launch, reduction, preemptions| {
        let exhaustive = Exhaustive {
            launch,
            reduction,
            preemptions,
            executions,
            keep_going,
            workers,
            cross_check,
        };
        everypath_native::explore(&exhaustive, control)
    };
    match exploration {
        Exploration::Schedules(reduction) => schedules(launch, reduction, None),
        Exploration::Bounded(most) => schedules(launch, Reduction::None, Some(most)),
        Exploration::States(sleep) => {
            let states = config.max_states;
            let space = StateSpace { launch, sleep, states, executions, keep_going, cross_check };
            everypath_native::explore_states(&space, control)
        }
        Exploration::Sampled(sampler) => {
            let (seed, executions) = (config.seed(), executions.unwrap_or(DEFAULT_EXECUTIONS));
            let sampling = Sampling { launch, sampler, seed, executions, workers, keep_going };
            everypath_native::sample(&sampling, control)
        }
    }
}

/// The sample that a search without a violation is compared with: none if nothing was left out, or
/// if peers would have to answer everything once more.
fn cross_check(config: &CheckConfig, exploration: Exploration) -> Option<CrossCheck> {
    let is_reduced = match exploration {
        Exploration::Schedules(Reduction::None)
        | Exploration::Bounded(_)
        | Exploration::Sampled(_) => false,
        Exploration::Schedules(_) | Exploration::States(_) => true,
    };
    let is_cheap = config.peer.is_empty() || config.cache == CacheName::Branching;
    (is_reduced && is_cheap).then(|| CrossCheck { seed: config.seed(), clock: now })
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Runs the same schedules under every other backend and restore method.
fn verify(launch: &Launch, seed: u64, found: Found) -> Found {
    match everypath_native::compare(launch, seed, VERIFIED) {
        Ok(None) => Found { verified: Some(VERIFIED), ..found },
        Ok(Some(difference)) => Found::inconclusive(format!(
            "--verify: the same schedule does not give the same execution: {difference}"
        )),
        Err(error) => Found::failed(&error),
    }
}
