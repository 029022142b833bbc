//! What programs do together that are explored on their own: shown by all of them, or by one.

use crate::conclude::{armed, record, target, trace_of};
use crate::exploration::Exploration;
use crate::finding::{Confirmation, Found};
use crate::joint::Named;
use crate::launch::others_exit_code;
use everypath_native::{
    Ending, Environment, Error, IdleMode, JointSearch, Launch, Names, Setup, Together, replay,
};
use everypath_schedules::reduction::Reduction;
use everypath_trace::{CheckConfig, IdleName, RacesName, SearchRecord, Target, Violation};

/// What is wrong: shown by an execution of all programs if there is one, else by one of the program
/// that fails.
pub(crate) fn wrong(
    config: &CheckConfig,
    search: &JointSearch,
    programs: &[Named],
    together: &Together,
) -> Found {
    let (found, confirmation) = match confirmed(config, search, programs, together) {
        Ok(found) => (found, Confirmation::Closed),
        Err(reason) => (unconfirmed(config, search, programs, together), reason),
    };
    let confirmation = found.trace.is_some().then_some(confirmation);
    Found { messages: together.messages.clone(), confirmation, ..found }
}

/// What an execution of all programs shows, repeated before anything is said of it; or why there is
/// none.
fn confirmed(
    config: &CheckConfig,
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
    let mut config = CheckConfig { races: races(config), ..config.clone() };
    if together.is_stuck {
        config.idle = Some(IdleName::Violation);
    }
    let target = armed(target(&config, &programs[0].program), &launch);
    Ok(Found::violated(trace_of(target, joint_record(&config), violation, &names)))
}

/// What an execution of one program shows, if the others do to it what they can: repeated before
/// anything is said of it.
fn unconfirmed(
    config: &CheckConfig,
    search: &JointSearch,
    programs: &[Named],
    together: &Together,
) -> Found {
    let Together { program, execution, script, is_stuck, .. } = together;
    let (name, launch) = &search.programs[*program];
    let idle = if *is_stuck { IdleMode::Violation } else { launch.setup.idle };
    let exit_code = match program {
        0 => launch.setup.exit_code,
        _ => launch.setup.others_exit_code,
    };
    let setup = Setup { joint: true, idle, exit_code, ..launch.setup };
    let Some(outside) = Environment::recorded(script) else {
        return Found::inconclusive("what the programs did cannot be repeated".into());
    };
    let launch = Launch { setup, outside, ..launch.clone() };
    let replayed = match replay(&launch, &execution.schedule) {
        Ok(replayed) => replayed,
        Err(Error::Stopped) => return Found::unconfirmed(),
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
    let idle = is_stuck.then_some(IdleName::Violation).or(config.idle);
    let config = CheckConfig { idle, ..alone(config, &programs[*program], *program == 0) };
    let mut target = armed(target(&config, &programs[*program].program), &launch);
    if let Target::Native { script: recorded, .. } = &mut target {
        recorded.clone_from(script);
    }
    Found::violated(trace_of(target, joint_record(&config), violation, &names))
}

/// A check of one program by itself, in the same sandbox: what the others did is in the trace.
fn alone(config: &CheckConfig, named: &Named, is_first: bool) -> CheckConfig {
    let races = races(config);
    let exit_code = if is_first { config.exit_code } else { others_exit_code(config) };
    let config = config.clone();
    CheckConfig {
        program: named.program.path.clone(),
        arguments: named.arguments.clone(),
        folder: config.folder,
        environment: config.environment,
        file: config.file,
        exit_code,
        expect_stdout: config.expect_stdout,
        oracle: config.oracle,
        time: config.time,
        backend: config.backend,
        restart: config.restart,
        watchdog: config.watchdog,
        memory: config.memory,
        races,
        ..CheckConfig::default()
    }
}

/// What became of data races: none has ended an execution.
fn races(config: &CheckConfig) -> RacesName {
    match config.races {
        RacesName::Violation => RacesName::Explore,
        others => others,
    }
}

fn joint_record(config: &CheckConfig) -> SearchRecord {
    let record = record(config, Exploration::Schedules(Reduction::None));
    SearchRecord { strategy: "joint".into(), ..record }
}
