//! Runs the search that a configuration asks for.

use crate::conclude::conclude;
use crate::exploration::Exploration;
use crate::finding::{Counted, Early, Found, assumption, failed};
use crate::host::Host;
use crate::launch::{launch, open, open_only};
use crate::observer::{Observer, Search};
use crate::parts::{assumption_of_whole, with_parts};
use crate::phases::{now, watched};
use crate::sample_traces::with_sample_traces;
use everypath_native::{
    CrossCheck, Error, Exhaustive, Explored, Launch, Repeated, Sampling, Setup, StateSpace,
    coarsely, repeat_with_fresh_peers, with_learnt_libraries, with_served_addresses,
};
use everypath_perturb::Rules;
use everypath_schedules::reduction::Reduction;
use everypath_trace::{
    Assumption, CacheName, CheckConfig, Control, Coverage, MemoryName, Seconds, Verdict,
};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// How many schedules are sampled if nobody says.
const DEFAULT_EXECUTIONS: u64 = 10_000;
/// How many executions are repeated with fresh peers, if there is time.
const WITH_FRESH_PEERS: u64 = 8;
/// How many executions `--verify` repeats in every other way.
const VERIFIED: u64 = 200;

/// Explores a program, alone or with others, and concludes. If answers of peers turn out to depend on
/// other connections, it is explored once more, with a history for each peer process.
pub(crate) fn explore(
    host: &Host,
    config: &CheckConfig,
    observer: &mut dyn Observer,
) -> Result<Found, Early> {
    let began = now();
    let found = explore_once(host, config, observer)?;
    let spent = began.elapsed().as_secs_f64();
    let left = config.max_seconds.map(|limit| Seconds::try_from(f64::from(limit) - spent));
    let (Some(why), true) = (&found.doubted, config.cache == CacheName::Branching) else {
        return Ok(found);
    };
    let max_seconds = match left.transpose() {
        Ok(left) if !config.state_matching => left,
        _ => return Ok(found),
    };
    let with_histories =
        CheckConfig { cache: CacheName::None, max_seconds, verify_peers: false, ..config.clone() };
    let mut found = explore_once(host, &with_histories, observer)?;
    let text = format!(
        "a peer's answers depend on nothing but what it was sent on all its connections, in the \
         order of sending: {why}, so peers were started anew for every execution (--cache none)"
    );
    found.counted.assumptions.push(assumption("peer-histories", text));
    Ok(found)
}

fn explore_once(
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
        explore_learning(config, exploration, launch).map_err(|error| failed(&error))
    };
    let watched = watched(config, observer, Search::Executions, work).successful()?;
    let (launch, explored) = &watched.result;
    // A replay loads the same libraries.
    let learnt = launch.libraries.iter().map(ToString::to_string).collect();
    let config = &CheckConfig { library: learnt, ..config.clone() };
    let mut counted = Counted::of(explored, watched.seconds).with_options(config, &launch.outside);
    counted.notices = everypath_native::in_words(&explored.notices, launch);
    if everypath_native::generates_code(&explored.notices) {
        counted.unseen.push("code that the program generates while it runs".into());
    }
    counted.unsynchronised = everypath_native::unsynchronised(&explored.armed);
    counted.never_reached = launch.reached.missing(launch);
    let (mut found, stopped) = watched.conclude(config, observer, |control| {
        let (armed, control) = (Arc::clone(&explored.armed), control.clone());
        let mut launch = Launch { armed, control, ..launch.clone() };
        launch.setup.early_timeouts = launch.setup.early_timeouts.max(explored.early_timeouts);
        let mut config = config.clone();
        if explored.is_coarse {
            launch = coarsely(&launch);
            config.memory = Some(MemoryName::Off);
        }
        let config = &config;
        let found = conclude(config, exploration, &program, (&launch, explored));
        match &watched.stopped {
            Some(why)
                if found.trace.is_none()
                    && explored.first.is_none()
                    && explored.within.is_none() =>
            {
                Found::inconclusive(why.clone())
            }
            _ => {
                let found = verified(config, &launch, found);
                let found = repeated(config, (&launch, explored), watched.seconds, found);
                let about = (&launch, explored);
                let found = with_parts(config, &program, about, watched.seconds, found);
                let found = unless_vacuous(config, &launch, found);
                let found = with_unexercised(explored, found);
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
    let (repeated, chance) = (found.with_fresh_peers, found.chance_in_answers);
    let deterministic = |count| peers_are_deterministic(count, chance, config.cache);
    counted.assumptions.extend(repeated.map(deterministic));
    let is_whole = found.verdict != Verdict::Violated && launch.outside.read_whole_messages();
    counted
        .assumptions
        .extend(is_whole.then(|| assumption_of_whole(found.in_parts, !config.peer.is_empty())));
    found.counted = counted;
    Ok(found)
}

/// Adds the faults that no execution of a search had, if nothing was violated.
fn with_unexercised(explored: &Explored, found: Found) -> Found {
    match found.verdict {
        Verdict::Holds => Found { never_exercised: explored.unexercised.clone(), ..found },
        _ => found,
    }
}

/// Explores, and begins again if the program loads a library while it runs, which must be there before.
fn explore_learning(
    config: &CheckConfig,
    exploration: Exploration,
    mut launch: Launch,
) -> Result<(Launch, Explored), Error> {
    loop {
        launch = with_served_addresses(&launch)?;
        let explored = search(config, exploration, launch.clone())?;
        match with_learnt_libraries(&launch, &explored, config.seed()) {
            Ok(Some(learnt)) => launch = learnt,
            Ok(None) | Err(Error::Stopped) => return Ok((launch, explored)),
            Err(error) => return Err(error),
        }
    }
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
    if found.verdict != Verdict::Holds || !launch.outside.has_met_peers() {
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
        Ok(Repeated::AlikeButForChance(count)) => {
            Found { with_fresh_peers: Some(count), chance_in_answers: true, ..found }
        }
        Ok(Repeated::Differs(difference)) if launch.outside.remembers_peers() => {
            Found::of_doubtful_cache(format!(
                "an execution was not the same with fresh peers ({difference})"
            ))
        }
        Ok(Repeated::Differs(difference)) => Found::inconclusive(format!(
            "an execution was not the same when it was repeated ({difference}): what a peer \
             answers depends on time or on chance (fix its clock or its random numbers)"
        )),
        Err(Error::Stopped) => found,
        Err(error) => Found::failed(&error),
    }
}

fn peers_are_deterministic(repeated: u64, but_for_chance: bool, cache: CacheName) -> Assumption {
    let executions = if repeated == 1 { "execution was" } else { "executions were" };
    let chance = match but_for_chance {
        true => " but for what they say by chance or time, with which the program did the same",
        false => "",
    };
    let more = match cache {
        CacheName::None => "",
        CacheName::Branching | CacheName::Linear => " (--verify-peers asks again for every answer)",
    };
    let text = format!(
        "peers answer the same to the same: {repeated} {executions} repeated with fresh peers\
         {chance}{more}"
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
    let schedules = |launch: Launch, reduction, preemptions, executions| {
        // Which packets are lost is known from the messages alone.
        let may_lose = launch.setup.datagrams.all().any(Rules::may_lose);
        let chronicle = may_lose && config.sample_traces.is_some();
        let launch = Launch { setup: Setup { chronicle, ..launch.setup }, ..launch };
        let exhaustive = Exhaustive {
            launch,
            reduction,
            preemptions,
            executions,
            keep_going,
            workers,
            early_timeouts: config.early_timeouts(),
            cross_check,
        };
        everypath_native::explore(&exhaustive, control)
    };
    match exploration {
        Exploration::Schedules(reduction) => schedules(launch, reduction, None, executions),
        Exploration::Bounded(most) => schedules(launch, Reduction::None, Some(most), executions),
        Exploration::Rising => raise_bound(launch, executions, |launch, most, executions| {
            schedules(launch, Reduction::None, Some(most), executions)
        }),
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

/// Explores with no preemption, then with one, and so on, until nothing is left out, something is found, or
/// a limit ends it.
fn raise_bound(
    mut launch: Launch,
    limit: Option<u64>,
    mut explore: impl FnMut(Launch, u32, Option<u64>) -> Result<Explored, Error>,
) -> Result<Explored, Error> {
    let mut before = Explored::default();
    for most in 0.. {
        let left = limit.map(|limit| limit.saturating_sub(before.executions));
        if left == Some(0) {
            return Ok(Explored { complete: false, ..before });
        }
        let level = explore(launch.clone(), most, left)?;
        // What conflicts is known for the next one.
        launch.armed = Arc::clone(&level.armed);
        let within = if level.complete { Some(most) } else { before.within };
        let is_last = !level.complete || level.first.is_some() || !level.is_bounded;
        before = Explored {
            within,
            executions: before.executions + level.executions,
            steps: before.steps + level.steps,
            redundant: before.redundant + level.redundant,
            abandoned: before.abandoned + level.abandoned,
            quiet: before.quiet || level.quiet,
            spins: before.spins || level.spins,
            ..level
        };
        if is_last {
            break;
        }
    }
    Ok(before)
}

/// The sample that a search without a violation is compared with: none if nothing was left out, or
/// if peers would have to answer everything once more.
fn cross_check(config: &CheckConfig, exploration: Exploration) -> Option<CrossCheck> {
    let is_reduced = match exploration {
        Exploration::Schedules(Reduction::None)
        | Exploration::Bounded(_)
        | Exploration::Rising
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
