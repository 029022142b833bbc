//! `everypath check --joint`: several programs that talk to each other, each explored on its own.

use super::report::{Confirmation, Counted, Found, JsonJoint, JsonProgram};
use super::{DEFAULT_STEPS, launch, open, record, target, trace_of};
use crate::cli::{CheckArgs, Exploration};
use crate::output::OutputFile;
use crate::usage::Usage;
use crate::watch::Watch;
use everypath_native::{
    Ending, IdleMode, JointExplored, JointSearch, Launch, Names, Outside, Program, Setup, Together,
    explore_jointly, replay,
};
use everypath_trace::{Coverage, Network, SearchRecord, Target, Violation};
use std::ffi::OsString;
use std::path::Path;

/// A program with its command.
struct Named {
    name: String,
    program: Program,
    arguments: Vec<OsString>,
}

/// Explores all programs and says what was found.
pub(super) fn explore(
    args: &CheckArgs,
    program: &Program,
    trace: &OutputFile,
) -> Result<Found, Usage> {
    let common = &args.common;
    let Exploration::Schedules(reduction) = Exploration::of(args)? else {
        return Err(Usage::new("--joint explores schedules: leave --state-matching out"));
    };
    if args.sampler().is_some() {
        return Err(Usage::new("--joint explores every schedule: leave --strategy out"));
    }
    let programs = match named(args, program)? {
        Ok(programs) => programs,
        Err(reason) => return Ok(Found::inconclusive(reason)),
    };
    let search = JointSearch {
        programs: launches(args, program, &programs)?,
        reduction,
        executions: common.max_executions,
        events: common.max_depth,
    };
    let watch = Watch::new(common.max_seconds, common.max_memory, common.quiet);
    let (result, took, stopped) = watch.run(|control| explore_jointly(&search, control));
    let explored = match result {
        Ok(explored) => explored,
        Err(error) => return Ok(Found::failed(&error)),
    };
    let mut found = match &explored.found {
        Some(together) => wrong(args, &search, &programs, together),
        None => match (&explored.reason, stopped) {
            (_, Some(why)) => Found::inconclusive(why.to_string()),
            (Some(reason), None) => Found::inconclusive(reason.clone()),
            (None, None) if !explored.complete => {
                Found::inconclusive("not everything was explored".into())
            }
            (None, None) if explored.bounded => {
                Found::holds(Coverage::Bounded { depth: common.max_depth.unwrap_or_default() })
            }
            (None, None) => Found::holds(Coverage::Exhaustive),
        },
    };
    found.counted = Counted::jointly(&explored, counted(&programs, &explored), took.as_secs_f64());
    found.trace_path = trace.path();
    Ok(found)
}

/// The programs: the one after `--` first, then the others as they were given. If one of them cannot
/// be controlled, the reason.
fn named(args: &CheckArgs, program: &Program) -> Result<Result<Vec<Named>, String>, Usage> {
    if args.network.with.is_empty() {
        return Err(Usage::new(
            "--joint needs at least two programs: name the others with --with 'COMMAND'",
        ));
    }
    let (name, arguments) = (name_of(&args.command[0]), args.command[1..].to_vec());
    let mut programs = vec![Named { name, program: program.clone(), arguments }];
    for command in &args.network.with {
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| {
            Usage::new(format!(
                "--with '{command}' is no command: it is empty, or a quotation mark is missing"
            ))
        })?;
        let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        let program = match open(&words[0]) {
            Ok(program) => program,
            Err(error) if error.is_request() => return Err(Usage::new(error.to_string())),
            Err(error) => return Ok(Err(error.to_string())),
        };
        let name = name_of(&words[0]);
        programs.push(Named { name, program, arguments: words[1..].to_vec() });
    }
    tell_apart(&mut programs);
    Ok(Ok(programs))
}

fn name_of(command: &OsString) -> String {
    let path = Path::new(command);
    path.file_stem().unwrap_or(command).to_string_lossy().into_owned()
}

/// Gives numbers to programs that have the same name.
fn tell_apart(programs: &mut [Named]) {
    let names: Vec<String> = programs.iter().map(|program| program.name.clone()).collect();
    for (at, program) in programs.iter_mut().enumerate() {
        if names.iter().filter(|name| **name == names[at]).count() > 1 {
            let number = names[..at].iter().filter(|name| **name == names[at]).count() + 1;
            program.name = format!("{} {number}", names[at]);
        }
    }
}

/// How the programs are started. What executions leave behind is judged of the first one.
fn launches(
    args: &CheckArgs,
    program: &Program,
    programs: &[Named],
) -> Result<Vec<(String, Launch)>, Usage> {
    let mut first = launch(args, program)?;
    first.setup.max_steps = DEFAULT_STEPS;
    let start = |(number, named): (usize, &Named)| {
        let folder = first.folder.as_deref();
        let launch = Launch {
            program: super::surroundings::seen_from(folder, &named.program.path),
            arguments: named.arguments.clone(),
            judge: first.judge.clone().filter(|_| number == 0),
            ..first.clone()
        };
        (named.name.clone(), launch)
    };
    Ok(programs.iter().enumerate().map(start).collect())
}

fn counted(programs: &[Named], explored: &JointExplored) -> JsonJoint {
    let one = |(side, named): (usize, &Named)| JsonProgram {
        name: named.name.clone(),
        executions: explored.executions[side],
        last_executions: explored.last_executions[side],
        histories: explored.histories[side],
    };
    JsonJoint {
        rounds: explored.rounds,
        combinations: explored.combinations,
        programs: programs.iter().enumerate().map(one).collect(),
    }
}

/// What is wrong: shown by an execution of all programs if there is one, else by one of the program
/// that fails.
fn wrong(args: &CheckArgs, search: &JointSearch, programs: &[Named], together: &Together) -> Found {
    let (found, confirmation) = match confirmed(args, search, programs, together) {
        Ok(found) => (found, Confirmation::Closed),
        Err(reason) => (unconfirmed(args, search, programs, together), reason),
    };
    let confirmation = found.trace.is_some().then_some(confirmation);
    Found { messages: together.messages.clone(), confirmation, ..found }
}

/// What an execution of all programs shows, repeated before anything is said of it; or why there is
/// none.
fn confirmed(
    args: &CheckArgs,
    search: &JointSearch,
    programs: &[Named],
    together: &Together,
) -> Result<Found, Confirmation> {
    let unconfirmed = |reason: String| Confirmation::Unconfirmed(reason);
    let execution = together.closed.as_ref().map_err(|reason| unconfirmed(reason.clone()))?;
    let launch = search.closed(together.is_stuck);
    let replayed = replay(&launch, &execution.schedule)
        .map_err(|error| unconfirmed(format!("they cannot be run together: {error}")))?;
    if let Some(difference) = execution.difference(&replayed.execution) {
        let reason = format!("an execution of all of them did not repeat ({difference})");
        return Err(unconfirmed(reason));
    }
    let names = Names::new(&replayed);
    let Ending::Violated(violation) = names.ending(&launch.setup) else {
        return Err(unconfirmed("an execution of all of them did not repeat".into()));
    };
    let Named { program, arguments, .. } = &programs[0];
    let mut target = target(args, program, arguments);
    if let (Target::Native { network, .. }, true) = (&mut target, together.is_stuck) {
        network.idle = Some("violation".into());
    }
    Ok(Found::violated(trace_of(target, joint_record(args), violation, &names)))
}

/// What an execution of one program shows, if the others do to it what they can: repeated before
/// anything is said of it.
fn unconfirmed(
    args: &CheckArgs,
    search: &JointSearch,
    programs: &[Named],
    together: &Together,
) -> Found {
    let Together { program, execution, script, is_stuck, .. } = together;
    let (name, launch) = &search.programs[*program];
    let idle = if *is_stuck { IdleMode::Violation } else { launch.setup.idle };
    // Of the others, no exit code is wrong, so this one did not exit.
    let setup = Setup { joint: true, idle, ..launch.setup };
    let Some(outside) = Outside::recorded(script) else {
        return Found::inconclusive("what the programs did cannot be repeated".into());
    };
    let launch = Launch { setup, outside, ..launch.clone() };
    let replayed = match replay(&launch, &execution.schedule) {
        Ok(replayed) => replayed,
        Err(error) => return Found::failed(&error),
    };
    if let Some(difference) = execution.difference(&replayed.execution) {
        return Found::inconclusive(format!(
            "a violation was found but did not repeat ({difference}); {name} depends on something \
             that everypath does not control"
        ));
    }
    let names = Names::new(&replayed);
    let violation = match names.ending(&setup) {
        Ending::Violated(violation) => violation,
        Ending::Inconclusive(reason) => return Found::inconclusive(reason),
        Ending::Expected => {
            return Found::inconclusive("a violation was found but did not repeat".into());
        }
    };
    let message = match is_stuck {
        true => format!("no program can go on; {name}: {}", violation.message),
        false => format!("{name}: {}", violation.message),
    };
    let violation = Violation { message, ..violation };
    let Named { program, arguments, .. } = &programs[*program];
    let mut target = target(args, program, arguments);
    if let Target::Native { network, .. } = &mut target {
        let idle = is_stuck.then(|| "violation".to_string()).or_else(|| network.idle.clone());
        **network = Network { idle, joint: script.clone(), ..Network::default() };
    }
    Found::violated(trace_of(target, joint_record(args), violation, &names))
}

fn joint_record(args: &CheckArgs) -> SearchRecord {
    SearchRecord { strategy: "joint".into(), ..record(args) }
}
