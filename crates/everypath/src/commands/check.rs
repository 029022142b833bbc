//! `everypath check`: explore a native program; and the replay of what it found.

mod closed;
mod confirmation;
mod emission;
mod estimate;
mod failure_file;
mod gdb;
mod joint;
mod report;
mod sample;
mod sandbox;

use super::{program_folders, replay_command};
use crate::cli::{
    CacheName, CheckArgs, DatagramArgs, Exploration, IdleName, NetworkArgs, ReplayArgs,
    RestartName, faults,
};
use crate::output::{self, Json, OutputFile};
use crate::usage::Usage;
use crate::watch::{Watch, executed};
use crate::{DEFECT, HOLDS, INCONCLUSIVE, VIOLATED};
use everypath_native::peers::{Options, PeerError};
use everypath_native::{
    Ending, Environment, Error, Exhaustive, Explored, Launch, Names, Outcome, Program,
    ProgramError, Replayed, Sampler, Sampling, Setup, StateSpace, TimeMode,
};
use everypath_report::grouped;
use everypath_schedules::reduction::Reduction;
use everypath_trace::Control;
use everypath_trace::{
    Coverage, Network, SearchRecord, ShuffleRecord, Target, Trace, Verdict, Violation, file,
};
use report::{Counted, Found, Report};
use sandbox::{Prepared, prepare};
use std::ffi::OsString;
use std::path::Path;
use std::thread;

/// How many schedules are sampled if nobody says.
const DEFAULT_EXECUTIONS: u64 = 10_000;
/// How many steps an execution may have if nobody says.
const DEFAULT_STEPS: u32 = 100_000;
/// How many executions `--verify` repeats in every other way.
const VERIFIED: u64 = 200;

/// Explores a program and reports what was found.
pub(crate) fn run(args: &CheckArgs) -> Result<u8, Usage> {
    let common = &args.common;
    let json = Json::new(common.json.as_deref())?;
    let trace = OutputFile::new("--trace", &common.trace)?;
    if common.json.as_deref() == Some(&common.trace) && !trace.is_special() {
        return Err(Usage::new("--json and --trace name the same file; choose two"));
    }
    args.network.check()?;
    let command =
        args.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let target = [&command].into_iter().chain(&args.network.with).cloned().collect::<Vec<_>>();
    let target = target.join(" with ");
    let found = match open(&args.command[0]) {
        Ok(program) if args.network.is_joint() => joint::explore(args, &program, &trace)?,
        Ok(program) => explore(args, &program, &trace)?,
        Err(error) if error.is_request() => return Err(Usage::new(error.to_string())),
        Err(error) => Found::inconclusive(error.to_string()),
    };
    let report = Report::new(target, &found, &trace.path());
    if let Some(found) = &found.trace {
        trace.write_or_say(&file::to_bytes(found))?;
    }
    json.write(&report.json)?;
    if !common.quiet && !matches!(json, Json::Stdout) {
        output::print(&report.text);
    }
    Ok(match found.verdict {
        Verdict::Holds => HOLDS,
        Verdict::Violated => VIOLATED,
        Verdict::Inconclusive if found.defect => DEFECT,
        Verdict::Inconclusive => INCONCLUSIVE,
    })
}

fn open(name: &OsString) -> Result<Program, ProgramError> {
    Program::open(Path::new(name), &program_folders())
}

/// How a program is started, if it is alone in the world.
fn launch(args: &CheckArgs, program: &Program) -> Result<Launch, Usage> {
    let setup = Setup {
        backend: args.backend.into(),
        restart: args.restart.into(),
        time: args.time.into(),
        exit_code: args.exit_code,
        idle: args.network.idle_mode(),
        kills: args.network.kill,
        faults: args.network.faults(),
        one_tree: args.network.options().alike,
        max_steps: args.common.max_depth.unwrap_or(DEFAULT_STEPS),
        datagrams: args.network.datagrams.rules()?,
        ..Setup::default()
    };
    let Prepared { folder, environment, files, judge } = prepare(&sandbox::of(args))?;
    Ok(Launch {
        program: sandbox::seen_from(folder.as_deref(), &program.path),
        arguments: args.command[1..].to_vec(),
        environment,
        folder,
        setup,
        watchdog: args.watchdog * 10,
        fresh: args.restart == RestartName::Exec,
        files,
        judge,
        outside: Environment::default(),
        companions: Vec::new(),
    })
}

fn explore(args: &CheckArgs, program: &Program, trace: &OutputFile) -> Result<Found, Usage> {
    let common = &args.common;
    let exploration = Exploration::of(args)?;
    let alone = launch(args, program)?;
    let companions = match closed::companions(&args.network.with, alone.folder.as_deref()) {
        Ok(companions) => companions,
        Err(error) if error.is_request() => return Err(Usage::new(error.to_string())),
        Err(error) => return Ok(Found::inconclusive(error.to_string())),
    };
    if !companions.is_empty() && args.restart != RestartName::Automatic {
        return Err(Usage::new(
            "--with: each process copies its own memory back; leave --restart out",
        ));
    }
    let outside = outside(&args.network, alone.folder.as_deref())?;
    let launch = closed::close(Launch { outside, companions, ..alone }, &args.network)?;
    if let Some(port) = args.network.peer_ready
        && let Err(trouble) = launch.outside.await_port(port)
    {
        return Ok(Found::inconclusive(trouble.to_string()));
    }
    let watch = Watch::new(common.max_seconds, common.max_memory, common.quiet);
    let line = |control: &Control, elapsed| executed(control.progress(), elapsed);
    let work = |control: &Control| search(args, exploration, &launch, control);
    let (result, took, stopped) = watch.run_showing(line, work);
    let explored = match result {
        Ok(explored) => explored,
        Err(error) => return Ok(Found::failed(&error)),
    };
    let notices = everypath_native::in_words(&explored.notices, &launch);
    let mut counted = Counted::of(&explored, took.as_secs_f64());
    counted = counted.with_options(args, &launch.outside);
    counted.notices = notices;
    let mut found = conclude(args, program, &launch, &explored);
    if found.trace.is_none()
        && let Some(why) = stopped
    {
        found = Found::inconclusive(why.to_string());
    }
    if found.verdict == Verdict::Holds
        && args.network.verify_peers
        && let Err(trouble) = launch.outside.verify()
    {
        found = Found::inconclusive(trouble.to_string());
    }
    if found.verdict == Verdict::Holds && args.verify {
        found = verify(&launch, common.seed, found);
    }
    found.counted = counted;
    found.trace_path = trace.path();
    Ok(found)
}

/// Runs executions as the strategy says.
fn search(
    args: &CheckArgs,
    exploration: Exploration,
    launch: &Launch,
    control: &Control,
) -> Result<Explored, Error> {
    let common = &args.common;
    let launch = launch.clone();
    let keep_going = common.keep_going;
    // Peers answer one program at a time.
    let alone = !args.network.peer.is_empty();
    let workers = if alone { 1 } else { common.threads.map_or_else(cores, usize::from) };
    let Some(sampler) = args.sampler() else {
        let executions = common.max_executions;
        let schedules = |launch, reduction, preemptions| {
            let exhaustive =
                Exhaustive { launch, reduction, preemptions, executions, keep_going, workers };
            everypath_native::explore(&exhaustive, control)
        };
        return match exploration {
            Exploration::Schedules(reduction) => schedules(launch, reduction, None),
            Exploration::Bounded(most) => schedules(launch, Reduction::None, Some(most)),
            Exploration::States(sleep) => {
                let states = common.max_states;
                let space = StateSpace { launch, sleep, states, executions, keep_going };
                everypath_native::explore_states(&space, control)
            }
        };
    };
    let executions = common.max_executions.unwrap_or(DEFAULT_EXECUTIONS);
    let seed = common.seed;
    let sampling = Sampling { launch, sampler, seed, executions, workers, keep_going };
    everypath_native::sample(&sampling, control)
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// What the executions mean: the first unexpected one is repeated before anything is said of it.
fn conclude(args: &CheckArgs, program: &Program, launch: &Launch, explored: &Explored) -> Found {
    let Some(first) = &explored.first else {
        return match args.sampler() {
            _ if explored.checked_nothing() => Found::inconclusive(format!(
                "nothing was checked: all {} executions were abandoned, because their assumptions \
                 were not met",
                grouped(explored.abandoned)
            )),
            None if explored.complete && explored.executions == 0 => {
                Found::inconclusive("no execution comes to an end".into())
            }
            None if !explored.complete => Found::inconclusive(limit_reached(args, explored)),
            _ => Found::holds(coverage(args, explored)),
        };
    };
    let replayed = match everypath_native::replay(launch, &first.schedule) {
        Ok(replayed) => replayed,
        Err(error) => return Found::failed(&error),
    };
    match Names::new(&replayed).ending(&launch.setup) {
        Ending::Inconclusive(reason) => Found::inconclusive(reason),
        // What a peer did that cannot be controlled is known, even if it does not do it again.
        _ if first.outcome == Outcome::Uncontrolled && !first.text.is_empty() => {
            Found::inconclusive(first.text.clone())
        }
        _ if let Some(difference) = first.difference(&replayed.execution) => {
            Found::inconclusive(format!(
                "a violation was found but did not repeat ({difference}); the program depends on \
                 something that everypath does not control"
            ))
        }
        Ending::Expected => Found::inconclusive("a violation was found but did not repeat".into()),
        Ending::Violated(found) => {
            let (replayed, violation) = simplest(launch, replayed, found);
            let target = target(args, program, &args.command[1..]);
            let trace = trace_of(target, record(args), violation, &Names::new(&replayed));
            // Without an explanation it is a violation all the same.
            let explanation = everypath_native::explain(launch, &replayed).ok().flatten();
            let coverage = coverage(args, explored);
            Found { coverage, ..Found::violated(Trace { explanation, ..trace }) }
        }
    }
}

/// Of how much of the program's behaviour the executions speak.
fn coverage(args: &CheckArgs, explored: &Explored) -> Coverage {
    let is_chosen = args.sampler().is_some() || args.preemptions.is_some();
    match explored.complete && !is_chosen {
        true => Coverage::Exhaustive,
        false => Coverage::Sampled,
    }
}

/// Which limit ended a search.
fn limit_reached(args: &CheckArgs, explored: &Explored) -> String {
    match explored.states {
        Some(states) if args.common.max_states.is_some_and(|most| states >= most) => {
            format!("the limit of {} states was reached", grouped(states))
        }
        _ => format!("the limit of {} executions was reached", grouped(explored.executions)),
    }
}

/// A simpler execution that violates the same, repeated; or the one that was found.
fn simplest(launch: &Launch, found: Replayed, violation: Violation) -> (Replayed, Violation) {
    let simpler = everypath_native::minimise(launch, &found.execution)
        .and_then(|schedule| everypath_native::replay(launch, &schedule));
    // What cannot be made simpler was repeated already and is told as it is.
    let Ok(simpler) = simpler else { return (found, violation) };
    match Names::new(&simpler).ending(&launch.setup) {
        Ending::Violated(same) if same.property == violation.property => (simpler, same),
        _ => (found, violation),
    }
}

/// What was explored, for the trace.
fn target(args: &CheckArgs, program: &Program, arguments: &[OsString]) -> Target {
    Target::Native {
        program: program.path.to_string_lossy().into_owned(),
        hash: program.hash.clone(),
        arguments: words(arguments),
        exit_code: args.exit_code,
        time: args.time.name().into(),
        network: Box::new(network_record(&args.network)),
        surroundings: sandbox::of(args),
    }
}

/// How the search was made, for the trace.
fn record(args: &CheckArgs) -> SearchRecord {
    let strategy = match args.sampler() {
        None => Exploration::of(args).map_or("dfs", Exploration::name).into(),
        Some(Sampler::Random) => "random".into(),
        Some(Sampler::Pct { depth }) => format!("pct with depth {depth}"),
        Some(Sampler::Pos) => "pos".into(),
    };
    let shuffle = args.sampler().map(|_| ShuffleRecord {
        generator: everypath_native::GENERATOR.into(),
        seed: args.common.seed,
    });
    SearchRecord { strategy, shuffle, ..SearchRecord::default() }
}

fn words(arguments: &[OsString]) -> Vec<String> {
    arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

fn trace_of(
    target: Target,
    search: SearchRecord,
    violation: Violation,
    names: &Names<'_>,
) -> Trace {
    let steps = names.steps();
    let initial = if steps.is_empty() { names.end() } else { Vec::new() };
    let initial_fingerprint = String::new();
    let messages = names.messages(&outside_name(&target));
    Trace {
        target,
        search,
        violation,
        initial,
        initial_fingerprint,
        steps,
        explanation: None,
        messages,
    }
}

/// What whoever is not under control is called in charts.
fn outside_name(target: &Target) -> String {
    let Target::Native { network, .. } = target else { return String::new() };
    match network.peers.as_slice() {
        _ if !network.joint.is_empty() => "the others".into(),
        [only] => {
            // A shell that prepares something is not who is talked to.
            let command = only.rsplit("exec ").next().unwrap_or_default();
            let program = command.split_whitespace().next().unwrap_or_default();
            program.rsplit('/').next().unwrap_or_default().into()
        }
        _ => "peer".into(),
    }
}

/// Runs the same schedules carried and put back in every other way.
fn verify(launch: &Launch, seed: u64, found: Found) -> Found {
    match everypath_native::compare(launch, seed, VERIFIED) {
        Ok(None) => Found { verified: Some(VERIFIED), ..found },
        Ok(Some(difference)) => Found::inconclusive(format!(
            "--verify: the same schedule does not give the same execution: {difference}"
        )),
        Err(error) => Found::failed(&error),
    }
}

/// Replays a recorded execution: exit code 1 if it ends as recorded, 3 if not.
pub(super) fn replay(recorded: &Trace, args: &ReplayArgs) -> Result<u8, Usage> {
    let path = args.trace.display().to_string();
    let Target::Native { program, hash, arguments, exit_code, time, network, surroundings } =
        &recorded.target
    else {
        return Err(Usage::new(format!("{path} is not a trace of a native program")));
    };
    let opened = open(&program.into())
        .map_err(|error| Usage::new(format!("cannot replay {path}: {error}")))?;
    if opened.hash != *hash && !args.force {
        return Err(Usage::new(format!(
            "cannot replay {path}: {program} has changed since the trace was recorded; check it \
             again, or say --force to try anyway"
        )));
    }
    let (network, joint) = (network_args(network)?, network.joint.as_slice());
    let setup = Setup {
        time: time_mode(time).ok_or_else(|| {
            Usage::new(format!("cannot replay {path}: it names an unknown time mode, {time}"))
        })?,
        exit_code: *exit_code,
        idle: network.idle_mode(),
        kills: network.kill,
        faults: network.faults(),
        joint: !joint.is_empty(),
        max_steps: recorded.steps.len() as u32 + DEFAULT_STEPS,
        datagrams: network.datagrams.rules()?,
        ..Setup::default()
    };
    let Prepared { folder, environment, files, judge } = prepare(surroundings)
        .map_err(|error| Usage::new(format!("cannot replay {path}: {error}")))?;
    let companions = closed::companions(&network.with, folder.as_deref())
        .map_err(|error| Usage::new(format!("cannot replay {path}: {error}")))?;
    let launch = Launch {
        outside: recorded_outside(joint, &network, folder.as_deref(), &path)?,
        companions,
        program: sandbox::seen_from(folder.as_deref(), &opened.path),
        arguments: arguments.iter().map(Into::into).collect(),
        environment,
        folder,
        setup,
        watchdog: 100,
        fresh: false,
        files,
        judge,
    };
    let launch = closed::close(launch, &network)?;
    let schedule = everypath_native::schedule(&recorded.steps)
        .map_err(|error| Usage::new(format!("cannot replay {path}: {error}")))?;
    if args.gdb {
        return gdb::run(&launch, &schedule);
    }
    match everypath_native::replay(&launch, &schedule) {
        Ok(replayed) => Ok(compare(recorded, &replayed, &launch.setup, &path)),
        Err(error) => {
            output::print(&format!("INCONCLUSIVE: {error}\n"));
            Ok(if matches!(error, Error::Defect(_)) { DEFECT } else { INCONCLUSIVE })
        }
    }
}

/// The peers that a program talks to, which are started in a folder if it is not this one.
fn outside(network: &NetworkArgs, folder: Option<&Path>) -> Result<Environment, Usage> {
    let options = Options { folder: folder.map(Into::into), ..network.options() };
    Environment::new(options).map_err(|trouble: PeerError| Usage::new(trouble.to_string()))
}

/// The world outside that a trace was recorded in.
fn recorded_outside(
    joint: &[String],
    network: &NetworkArgs,
    folder: Option<&Path>,
    path: &str,
) -> Result<Environment, Usage> {
    if joint.is_empty() {
        return outside(network, folder);
    }
    Environment::recorded(joint).ok_or_else(|| {
        Usage::new(format!("cannot replay {path}: what other programs did cannot be read"))
    })
}

/// The options about the network, for a trace.
fn network_record(network: &NetworkArgs) -> Network {
    let idle = network.idle.map(|idle| idle.name().into());
    let (tcp_faults, chunks) = (network.budget(), network.chunks);
    let (peers, mut cache) = (network.peer.clone(), String::new());
    if !peers.is_empty() {
        cache = network.cache.name().into();
    }
    let (with, kills) = (network.with.clone(), network.kill);
    let (partition, symmetric) =
        (network.partition.as_ref().map(ToString::to_string), network.symmetric);
    let (datagrams, joint) = (network.datagrams.words(), Vec::new());
    let closed = Network { with, kills, partition, symmetric, ..Network::default() };
    Network { peers, cache, idle, tcp_faults, chunks, datagrams, joint, ..closed }
}

/// The options about the network that a trace was recorded with.
fn network_args(network: &Network) -> Result<NetworkArgs, Usage> {
    Ok(NetworkArgs {
        peer: network.peers.clone(),
        with: network.with.clone(),
        kill: network.kills,
        partition: network.partition.as_deref().and_then(|text| text.parse().ok()),
        symmetric: network.symmetric,
        cache: CacheName::from_name(&network.cache).unwrap_or_default(),
        idle: network.idle.as_deref().and_then(IdleName::from_name),
        tcp_faults: network.tcp_faults.as_deref().and_then(|text| faults(text).ok()),
        chunks: network.chunks,
        datagrams: DatagramArgs::from_words(&network.datagrams)?,
        ..NetworkArgs::default()
    })
}

fn time_mode(name: &str) -> Option<TimeMode> {
    match name {
        "ordered" => Some(TimeMode::Ordered),
        "quiescent" => Some(TimeMode::Quiescent),
        "any" => Some(TimeMode::Any),
        _ => None,
    }
}

/// Compares a repeated execution with the recorded one and prints it.
fn compare(recorded: &Trace, replayed: &Replayed, setup: &Setup, path: &str) -> u8 {
    let names = Names::new(replayed);
    let violation = match names.ending(setup) {
        Ending::Violated(violation) => violation,
        Ending::Expected => {
            output::print("INCONCLUSIVE: the execution now ends as expected\n");
            return INCONCLUSIVE;
        }
        Ending::Inconclusive(reason) => {
            output::print(&format!("INCONCLUSIVE: {reason}\n"));
            return INCONCLUSIVE;
        }
    };
    let now = trace_of(recorded.target.clone(), recorded.search.clone(), violation, &names);
    let now = Trace { explanation: recorded.explanation.clone(), ..now };
    output::print(&everypath_report::text(&now, &replay_command(), path));
    let steps = now.steps.iter().zip(&recorded.steps);
    let differs =
        steps.enumerate().find(|(_, (now, then))| now.step != then.step || now.event != then.event);
    if let Some((at, (now, then))) = differs {
        output::print(&format!(
            "INCONCLUSIVE: step {} was {} and is now {}\n",
            at + 1,
            then.text,
            now.text
        ));
        return INCONCLUSIVE;
    }
    if now.violation.property != recorded.violation.property {
        output::print(&format!(
            "INCONCLUSIVE: the recorded violation was of {}\n",
            recorded.violation.property
        ));
        return INCONCLUSIVE;
    }
    output::print("Replayed: every step as recorded, the same violation.\n");
    VIOLATED
}
