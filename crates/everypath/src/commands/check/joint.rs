//! `everypath check --joint`: several programs that talk to each other, each explored on its own.

use super::confirmation::wrong;
use super::emission::{self, Emission};
use super::failure_file::{Listing, Told};
use super::report::{Counted, Found, JsonJoint, JsonProgram};
use super::{DEFAULT_STEPS, launch, open};
use crate::cli::{CheckArgs, Exploration};
use crate::output::OutputFile;
use crate::usage::Usage;
use crate::watch::{Stopped, Watch};
use everypath_native::{
    Error, Faults, Goal, JointExplored, JointSearch, Launch, Program, explore_jointly,
};
use everypath_trace::{Coverage, Verdict};
use std::ffi::OsString;
use std::path::Path;

/// A program with its command.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) program: Program,
    pub(super) arguments: Vec<OsString>,
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
    let emission = emission::wanted(args)?;
    if emission.is_none() && (args.network.kill > 0 || args.network.tcp_faults.is_some()) {
        return Err(Usage::new(
            "--joint knows faults of the program whose failures it lists: name a file with --emit \
             FILE, or leave --kill and --tcp-faults out",
        ));
    }
    let datagrams = args.network.datagrams.rules()?;
    if datagrams.all().any(|rules| !rules.keeps_order() || rules.is_budgeted()) {
        return Err(Usage::new(
            "--joint lets every datagram be lost or arrive several times (--udp-multiply), but not \
             overtake others, and faults of all programs are not counted together: leave \
             --udp-window and --udp-budget out, or leave --joint out",
        ));
    }
    let listing = args.network.against.as_deref().map(Listing::read).transpose()?;
    let first = launch(args, program)?;
    let programs = match named(args, program, first.folder.as_deref())? {
        Ok(programs) => programs,
        Err(reason) => return Ok(Found::inconclusive(reason)),
    };
    let names: Vec<String> = programs.iter().map(|program| program.name.clone()).collect();
    let environment = listing.as_ref().map(|listing| listing.environment(&names)).transpose()?;
    let search = JointSearch {
        programs: launches(first, &programs),
        reduction,
        executions: common.max_executions,
        events: common.max_depth,
        environment,
        kills_first: false,
        breaks: 0,
        goal: Goal::Verdict,
        keep_going: common.keep_going,
    };
    if let Some(emission) = emission {
        return emission.list(args, search, programs);
    }
    let Run { result, seconds, stopped } = Run::of(args, &search);
    let explored = match result {
        Ok(explored) => explored,
        Err(error) => return Ok(Found::failed(&error)),
    };
    let mut found = match &explored.found {
        Some(together) => wrong(args, &search, &programs, together),
        None => unless_doubted(args, &explored, stopped, Found::holds),
    };
    if let Some(listing) = listing.filter(|_| found.verdict != Verdict::Inconclusive) {
        let told = listing.judged(|behaviour| explored.propagated.contains(&behaviour));
        found = against(found, &listing, told);
    }
    found.counted = Counted::jointly(&explored, counted(&names, &explored), seconds);
    found.counted.assumptions.extend(args.network.datagrams.assumption());
    found.trace_path = trace.path();
    Ok(found)
}

/// A search that was run.
pub(super) struct Run {
    pub(super) result: Result<JointExplored, Error>,
    pub(super) seconds: f64,
    pub(super) stopped: Option<Stopped>,
}

impl Run {
    pub(super) fn of(args: &CheckArgs, search: &JointSearch) -> Self {
        let common = &args.common;
        let watch = Watch::new(common.max_seconds, common.max_memory, common.quiet);
        let (result, took, stopped) = watch.run(|control| explore_jointly(search, control));
        Run { result, seconds: took.as_secs_f64(), stopped }
    }
}

/// What a search says that came to its end; or why there is no verdict.
pub(super) fn unless_doubted(
    args: &CheckArgs,
    explored: &JointExplored,
    stopped: Option<Stopped>,
    say: impl FnOnce(Coverage) -> Found,
) -> Found {
    match (&explored.reason, stopped) {
        (_, Some(why)) => Found::inconclusive(why.to_string()),
        (Some(reason), None) => Found::inconclusive(reason.clone()),
        (None, None) if !explored.complete => {
            Found::inconclusive("not everything was explored".into())
        }
        (None, None) if explored.bounded => {
            say(Coverage::Bounded { depth: args.common.max_depth.unwrap_or_default() })
        }
        (None, None) => say(Coverage::Exhaustive),
    }
}

/// What was found of a program whose environment is a list, which may not be all there is.
fn against(found: Found, listing: &Listing, failures: Vec<Told>) -> Found {
    let coverage = match (found.coverage, listing.bound()) {
        (Coverage::Exhaustive, Some(depth)) => Coverage::Bounded { depth },
        (coverage, _) => coverage,
    };
    let component = listing.component.clone();
    let emission = Some(Emission { component, failures, is_judged: true });
    Found { coverage, emission, ..found }
}

/// The programs: the one after `--` first, then the others as they were given. If one of them cannot
/// be controlled, the reason.
fn named(
    args: &CheckArgs,
    program: &Program,
    folder: Option<&Path>,
) -> Result<Result<Vec<Named>, String>, Usage> {
    if args.network.with.is_empty() && args.network.against.is_none() {
        return Err(Usage::new(
            "--joint needs at least two programs: name the others with --with 'COMMAND'",
        ));
    }
    let (name, arguments) = (name_of(&args.command[0]), args.command[1..].to_vec());
    let mut programs = vec![Named { name, program: program.clone(), arguments }];
    for command in &args.network.with {
        match opened("--with", command, folder)? {
            Ok(named) => programs.push(named),
            Err(reason) => return Ok(Err(reason)),
        }
    }
    tell_apart(&mut programs);
    Ok(Ok(programs))
}

/// The program of a command, whose paths are seen from a folder; if it cannot be controlled, the
/// reason.
pub(super) fn opened(
    option: &str,
    command: &str,
    folder: Option<&Path>,
) -> Result<Result<Named, String>, Usage> {
    let words = shlex::split(command).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| {
        Usage::new(format!(
            "{option} '{command}' is no command: it is empty, or a quotation mark is missing"
        ))
    })?;
    let path = match folder {
        Some(folder) if words[0].contains('/') => folder.join(&words[0]).into(),
        _ => OsString::from(&words[0]),
    };
    let name = name_of(&path);
    let arguments = words[1..].iter().map(Into::into).collect();
    match open(&path) {
        Ok(program) => Ok(Ok(Named { name, program, arguments })),
        Err(error) if error.is_request() => Err(Usage::new(error.to_string())),
        Err(error) => Ok(Err(error.to_string())),
    }
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
fn launches(mut first: Launch, programs: &[Named]) -> Vec<(String, Launch)> {
    first.setup.max_steps = DEFAULT_STEPS;
    (first.setup.kills, first.setup.faults) = (0, Faults::default());
    let mut launches = Vec::new();
    for named in programs {
        launches.push((named.name.clone(), started(&first, named)));
        first.judge = None;
    }
    launches
}

/// How a program is started as another one is.
pub(super) fn started(like: &Launch, named: &Named) -> Launch {
    let program = super::sandbox::seen_from(like.folder.as_deref(), &named.program.path);
    Launch { program, arguments: named.arguments.clone(), ..like.clone() }
}

/// What was counted of each program.
pub(super) fn counted(names: &[String], explored: &JointExplored) -> JsonJoint {
    let one = |(side, name): (usize, &String)| JsonProgram {
        name: name.clone(),
        executions: explored.executions[side],
        last_executions: explored.last_executions[side],
        histories: explored.histories[side],
    };
    JsonJoint {
        rounds: explored.rounds,
        combinations: explored.combinations,
        programs: names.iter().enumerate().map(one).collect(),
    }
}
