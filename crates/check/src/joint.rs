//! `everypath check --joint`: several programs that talk to each other, each explored on its own.

use crate::confirmation::wrong;
use crate::datagrams::datagrams;
use crate::emission::Emit;
use crate::error::CheckError;
use crate::exploration::Exploration;
use crate::failure_file::{Emission, FailureFile, VisibleFailure};
use crate::finding::{Counted, Early, Found, datagram_assumption, failed};
use crate::host::Host;
use crate::launch::{DEFAULT_STEPS, alone, open};
use crate::observer::{Observer, Search};
use crate::parts::assumption_of_whole;
use crate::phases::{Watched, watched};
use crate::sandbox::seen_from;
use crate::stats::{JointStats, ProgramStats};
use everypath_native::{
    Faults, Goal, JointExplored, JointSearch, Launch, Program, Races, explore_jointly,
};
use everypath_schedules::reduction::Reduction;
use everypath_trace::{CheckConfig, Coverage, Verdict};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A program with its command.
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) program: Program,
    pub(crate) arguments: Vec<OsString>,
}

/// Explores all programs and says what was found.
pub(crate) fn explore(
    host: &Host,
    config: &CheckConfig,
    observer: &mut dyn Observer,
) -> Result<Found, Early> {
    let program = open(host, &config.program)?;
    let reduction = reduction(config)?;
    let emit = Emit::wanted(host, config)?;
    if emit.is_none() && (config.kill > 0 || config.tcp_faults.is_some()) {
        return Err(Early::from(CheckError::options(
            "--joint knows faults of the program whose failures it lists: name a file with --emit \
             FILE, or leave --kill and --tcp-faults out",
        )));
    }
    let listed = config.against.as_deref().map(FailureFile::read).transpose()?;
    let first = alone(host, config, &program)?;
    let programs = named(host, config, program, first.folder.as_deref())?;
    let names: Vec<String> = programs.iter().map(|program| program.name.clone()).collect();
    let environment = listed.as_ref().map(|listed| listed.environment(&names)).transpose()?;
    let search = JointSearch {
        programs: launches(first, &programs),
        reduction,
        executions: config.max_executions,
        events: config.max_depth,
        environment,
        kills_first: false,
        breaks: 0,
        goal: Goal::Verdict,
        keep_going: config.keep_going,
    };
    if let Some(emit) = emit {
        return emit.list(search, programs, observer);
    }
    let run = Run::of(config, &search, observer)?;
    let explored = &run.result;
    let (mut found, stopped) = run.conclude(config, observer, |control| match &explored.found {
        Some(together) => {
            let search = search.armed_with(&explored.armed).stopped_by(control);
            wrong(config, &search, &programs, together)
        }
        None => unless_doubted(config, explored, run.stopped.clone()),
    });
    if let Some(why) = stopped {
        found = found.cut_short(&why);
    }
    if let Some(listed) = listed.filter(|_| found.verdict != Verdict::Inconclusive) {
        let told = listed.judged(|behaviour| explored.propagated.contains(&behaviour));
        found = against(found, &listed, told);
    }
    found.counted = Counted::jointly(explored, counted(&names, explored), run.seconds);
    found.counted.assumptions.extend(datagram_assumption(config));
    let is_whole = explored.read_whole_messages;
    found.counted.assumptions.extend(is_whole.then(|| assumption_of_whole(None, false)));
    Ok(found)
}

/// How schedules are reduced, if the options are those of a compositional search.
fn reduction(config: &CheckConfig) -> Result<Reduction, CheckError> {
    let reduction = match Exploration::of(config)? {
        Exploration::Schedules(reduction) => reduction,
        Exploration::Sampled(_) | Exploration::Rising => {
            return Err(CheckError::options(
                "--joint explores every schedule: leave --strategy out",
            ));
        }
        Exploration::States(_) | Exploration::Bounded(_) => {
            return Err(CheckError::options(
                "--joint explores schedules: leave --state-matching out",
            ));
        }
    };
    if datagrams(config)?.all().any(|rules| !rules.keeps_order() || rules.is_budgeted()) {
        return Err(CheckError::options(
            "--joint lets every datagram be lost or arrive several times (--udp-multiply), but not \
             overtake others, and faults of all programs are not counted together: leave \
             --udp-window and --udp-budget out, or leave --joint out",
        ));
    }
    Ok(reduction)
}

/// A search that was run.
pub(crate) type Run = Watched<JointExplored>;

impl Run {
    pub(crate) fn of(
        config: &CheckConfig,
        search: &JointSearch,
        observer: &mut dyn Observer,
    ) -> Result<Self, Early> {
        let run = watched(config, observer, Search::Histories, |control| {
            let explored = explore_jointly(&search.stopped_by(control), control);
            explored.map_err(|error| failed(&error))
        });
        run.successful()
    }
}

/// The verdict of a search that came to its end; or why there is none.
pub(crate) fn unless_doubted(
    config: &CheckConfig,
    explored: &JointExplored,
    stopped: Option<String>,
) -> Found {
    match (&explored.reason, stopped) {
        (_, Some(why)) => Found::inconclusive(why),
        (Some(reason), None) => Found::inconclusive(reason.clone()),
        (None, None) if !explored.complete => {
            Found::inconclusive("not everything was explored".into())
        }
        (None, None) if explored.bounded => {
            Found::holds(Coverage::Bounded { depth: config.max_depth.unwrap_or_default() })
        }
        (None, None) => Found::holds(Coverage::Exhaustive),
    }
}

/// What was found of a program whose environment is a list, which may not be all there is.
fn against(found: Found, listed: &FailureFile, failures: Vec<VisibleFailure>) -> Found {
    let coverage = match (found.coverage, listed.bound()) {
        (Coverage::Exhaustive, Some(depth)) => Coverage::Bounded { depth },
        (coverage, _) => coverage,
    };
    let component = listed.component.clone();
    let emission = Some(Emission { component, failures, is_judged: true });
    Found { coverage, emission, ..found }
}

/// The programs: the one that is checked first, then the others as they were given.
fn named(
    host: &Host,
    config: &CheckConfig,
    program: Program,
    folder: Option<&Path>,
) -> Result<Vec<Named>, Early> {
    if config.with.is_empty() && config.against.is_none() {
        return Err(Early::from(CheckError::options(
            "--joint needs at least two programs: name the others with --with 'COMMAND'",
        )));
    }
    let (name, arguments) = (name_of(&config.program), config.arguments.clone());
    let mut programs = vec![Named { name, program, arguments }];
    for command in &config.with {
        programs.push(opened(host, "--with", command, folder)?);
    }
    tell_apart(&mut programs);
    Ok(programs)
}

/// The program of a command, whose paths are seen from a folder.
pub(crate) fn opened(
    host: &Host,
    option: &str,
    command: &str,
    folder: Option<&Path>,
) -> Result<Named, Early> {
    let words = shlex::split(command).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| {
        CheckError::options(format!(
            "{option} '{command}' is no command: it is empty, or a quotation mark is missing"
        ))
    })?;
    let path: PathBuf = match folder {
        Some(folder) if words[0].contains('/') => folder.join(&words[0]),
        _ => PathBuf::from(&words[0]),
    };
    let program = open(host, &path)?;
    Ok(Named {
        name: name_of(&path),
        program,
        arguments: words[1..].iter().map(Into::into).collect(),
    })
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
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
    // Whether a race can happen is known only when histories are compared: both orders are explored.
    if first.races == Races::Violation {
        first.races = Races::Explore;
    }
    (first.setup.kills, first.setup.faults) = (0, Faults::default());
    let mut launches = Vec::new();
    for named in programs {
        launches.push((named.name.clone(), started(&first, named)));
        first.judge = None;
    }
    launches
}

/// How a program is started as another one is.
pub(crate) fn started(like: &Launch, named: &Named) -> Launch {
    let program = seen_from(like.folder.as_deref(), &named.program.path);
    Launch { program, arguments: named.arguments.clone(), ..like.clone() }
}

/// What was counted of each program.
pub(crate) fn counted(names: &[String], explored: &JointExplored) -> JointStats {
    let one = |(side, name): (usize, &String)| ProgramStats {
        name: name.clone(),
        executions: explored.executions[side],
        last_executions: explored.last_executions[side],
        histories: explored.histories[side],
    };
    JointStats {
        rounds: explored.rounds,
        combinations: explored.combinations,
        programs: names.iter().enumerate().map(one).collect(),
    }
}
