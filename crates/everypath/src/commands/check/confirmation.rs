//! What programs do together that are explored on their own: shown by all of them, or by one.

use super::joint::Named;
use super::report::{Confirmation, Found};
use super::{record, target, trace_of};
use crate::cli::CheckArgs;
use everypath_native::{
    Ending, Environment, IdleMode, JointSearch, Launch, Names, Setup, Together, replay,
};
use everypath_trace::{Network, SearchRecord, Target, Violation};

/// What is wrong: shown by an execution of all programs if there is one, else by one of the program
/// that fails.
pub(super) fn wrong(
    args: &CheckArgs,
    search: &JointSearch,
    programs: &[Named],
    together: &Together,
) -> Found {
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
    let Some(outside) = Environment::recorded(script) else {
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
