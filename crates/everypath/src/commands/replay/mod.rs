//! `everypath replay`: take the steps of a recorded counterexample again.

mod gdb;

use super::{read_trace, replay_command};
use crate::catalog::Catalog;
use crate::cli::ReplayArgs;
use crate::usage::Usage;
use crate::watch::{Stopped, Watch};
use crate::{DEFECT, INCONCLUSIVE, VIOLATED, output};
use everypath_check::{CheckError, Limits, Replay, Replayed};
use everypath_explore::AnyModel;
use everypath_explore::Found;
use everypath_report::text;
use everypath_trace::{Control, Progress, Step, Target, Trace};
use std::time::Duration;

/// Replays a trace: exit code 1 if it shows the recorded violation again, 3 if not.
pub(crate) fn run(catalog: &Catalog, args: &ReplayArgs) -> Result<u8, Usage> {
    let path = args.trace.display().to_string();
    let recorded = read_trace(&args.trace)?;
    let (name, config) = match &recorded.target {
        Target::Model { name, config } => (name, config),
        Target::Native { .. } | Target::Unconfigured { .. } => return native(&recorded, args),
    };
    if args.gdb {
        return Err(Usage::new("--gdb is for native programs; this trace is of a model"));
    }
    let model = catalog
        .find(name)
        .and_then(|entry| entry.build(config.clone()))
        .map_err(|error| Usage::new(format!("cannot replay {path}: {error}")))?;
    match repeat(model.as_ref(), &recorded) {
        Ok(trace) => {
            output::print(&text(&trace, &replay_command(), &path));
            output::print("Replayed: every step and state as recorded, the same violation.\n");
            Ok(VIOLATED)
        }
        Err(difference) => {
            output::print(&format!(
                "INCONCLUSIVE: {name} no longer behaves as recorded in {path}: {difference}\n"
            ));
            Ok(INCONCLUSIVE)
        }
    }
}

/// Takes the recorded steps again; the trace that results equals the recorded one.
fn repeat(model: &dyn AnyModel, recorded: &Trace) -> Result<Trace, String> {
    let schedule: Vec<Step> = recorded.steps.iter().map(|step| step.step).collect();
    let violated = model.recheck(&schedule)?;
    let (property, message) = violated
        .into_iter()
        .find(|(property, _)| *property == recorded.violation.property)
        .ok_or("its end violates nothing")?;
    let found = Found { property, message, schedule };
    let trace = model.describe(&found, recorded.search.clone())?;
    if trace.initial_fingerprint != recorded.initial_fingerprint {
        return Err("the initial state differs".into());
    }
    let mut steps = trace.steps.iter().zip(&recorded.steps).enumerate();
    match steps.find(|(_, (now, then))| now.fingerprint != then.fingerprint) {
        Some((at, _)) => Err(format!("the state after step {} differs", at + 1)),
        None => Ok(trace),
    }
}

/// Replays an execution of a native program.
fn native(recorded: &Trace, args: &ReplayArgs) -> Result<u8, Usage> {
    let path = args.trace.display().to_string();
    let cannot = |error: CheckError| Usage::new(format!("cannot replay {path}: {error}"));
    let replay = Replay::new(recorded, args.force).map_err(cannot)?;
    if args.gdb {
        return gdb::run(&replay);
    }
    let show = |trace: &Trace| output::print(&text(trace, &replay_command(), &path));
    let inconclusive = |reason: &str| output::print(&format!("INCONCLUSIVE: {reason}\n"));
    let give_up = |why: Stopped, _: Progress| {
        inconclusive(&why.to_string());
        INCONCLUSIVE
    };
    let watch = Watch::of(Limits::default(), false, &give_up);
    let line = |_: &Control, elapsed: Duration| format!("replaying, {} s", elapsed.as_secs());
    let (replayed, _, stopped) = watch.run_showing(line, |control| replay.run(control));
    if let Some(why) = stopped.filter(|_| !matches!(replayed, Replayed::Reproduced(_))) {
        inconclusive(&why.to_string());
        return Ok(INCONCLUSIVE);
    }
    match replayed {
        Replayed::Reproduced(trace) => {
            show(&trace);
            output::print("Replayed: every step as recorded, the same violation.\n");
            Ok(VIOLATED)
        }
        Replayed::Different { reason, trace, internal_error } => {
            trace.iter().for_each(show);
            inconclusive(&reason);
            Ok(if internal_error { DEFECT } else { INCONCLUSIVE })
        }
    }
}
