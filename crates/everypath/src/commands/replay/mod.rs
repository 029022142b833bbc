//! `everypath replay`: take the steps of a recorded counterexample again.

mod gdb;

use super::{read_trace, replay_command};
use crate::cli::ReplayArgs;
use crate::refinement::specification;
use crate::usage::Usage;
use crate::watch::{Stopped, Watch};
use crate::{DEFECT, HOLDS, INCONCLUSIVE, VIOLATED, output};
use everypath_check::{CheckError, Replay, Replayed};
use everypath_model::Catalog;
use everypath_report::text;
use everypath_trace::{Control, Progress, Target, Trace};
use std::time::Duration;

/// Replays a trace: exit code 1 if it shows the recorded violation again, 0 if it is a passing execution
/// and passes again, 3 if not.
pub(crate) fn run(catalog: &Catalog, args: &ReplayArgs) -> Result<u8, Usage> {
    let path = args.trace.display().to_string();
    let recorded = read_trace(&args.trace)?;
    let (name, config) = match &recorded.target {
        Target::Model { name, config } => (name, config),
        Target::Native { .. } | Target::Unconfigured { .. } => {
            return native(catalog, &recorded, args);
        }
    };
    if args.gdb {
        return Err(Usage::new("--gdb is for native programs; this trace is of a model"));
    }
    everypath_model::commands::replay::repeat(catalog, (name, config), &recorded, &path)
}

/// Replays an execution of a native program.
fn native(catalog: &Catalog, recorded: &Trace, args: &ReplayArgs) -> Result<u8, Usage> {
    let path = args.trace.display().to_string();
    let cannot = |error: CheckError| Usage::new(format!("cannot replay {path}: {error}"));
    let model = match &recorded.target {
        Target::Native { config, .. } => config.refines.as_deref(),
        Target::Model { .. } | Target::Unconfigured { .. } => None,
    };
    let specification = specification(catalog, model)?;
    let replay = Replay::new(recorded, args.force, specification).map_err(cannot)?;
    if args.gdb {
        return gdb::run(&replay);
    }
    let show = |trace: &Trace| output::print(&text(trace, &replay_command(), &path));
    let inconclusive = |reason: &str| output::print(&format!("INCONCLUSIVE: {reason}\n"));
    let give_up = |why: Stopped, _: Progress| {
        inconclusive(&why.to_string());
        INCONCLUSIVE
    };
    let watch = Watch::new(None, None, false).giving_up(&give_up, None);
    let line = |_: &Control, elapsed: Duration| format!("replaying, {} s", elapsed.as_secs());
    let (replayed, _, stopped) = watch.run_showing(line, |control| replay.run(control));
    if let Some(why) = stopped.filter(|_| !matches!(replayed, Replayed::Reproduced(_))) {
        inconclusive(&why.to_string());
        return Ok(INCONCLUSIVE);
    }
    match replayed {
        Replayed::Reproduced(trace) => {
            show(&trace);
            if trace.is_passing() {
                output::print("Replayed: every step as recorded, and nothing is violated.\n");
                return Ok(HOLDS);
            }
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
