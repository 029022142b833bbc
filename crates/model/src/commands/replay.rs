//! `replay`: take the steps of a recorded counterexample of a model again.

use super::{read_trace, replay_command};
use crate::catalog::Catalog;
use crate::cli::ReplayArgs;
use crate::usage::Usage;
use crate::{INCONCLUSIVE, VIOLATED, output};
use everypath_explore::{AnyModel, Config, Fairness, Found, ModelKind, Request, Search};
use everypath_report::text;
use everypath_trace::{Step, Target, Trace};

/// Replays a trace: exit code 1 if it shows the recorded violation again, 3 if not.
pub(crate) fn run(catalog: &Catalog, args: &ReplayArgs) -> Result<u8, Usage> {
    let path = args.trace.display().to_string();
    let recorded = read_trace(&args.trace)?;
    match &recorded.target {
        Target::Model { name, config } => repeat(catalog, (name, config), &recorded, &path),
        Target::Native { .. } | Target::Unconfigured { .. } => Err(Usage::new(format!(
            "cannot replay {path}: it is of a native program; use everypath replay"
        ))),
    }
}

/// Replays a trace of a model, which was read from `path`.
pub fn repeat(
    catalog: &Catalog,
    (name, config): (&str, &Config),
    recorded: &Trace,
    path: &str,
) -> Result<u8, Usage> {
    let cannot = |error: Usage| Usage::new(format!("cannot replay {path}: {error}"));
    let entry = catalog.find(name).map_err(cannot)?;
    let model = entry.build(config.clone()).map_err(cannot)?;
    match retake(&entry.kind, model.as_ref(), recorded) {
        Ok(trace) => {
            output::print(&text(&trace, &replay_command(), path));
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
fn retake(kind: &ModelKind, model: &dyn AnyModel, recorded: &Trace) -> Result<Trace, String> {
    let schedule: Vec<Step> = recorded.steps.iter().map(|step| step.step).collect();
    let loop_start = recorded.repeats_from.map(|step| step.saturating_sub(1));
    let events = |names: &[String]| names.iter().filter_map(|name| kind.event(name)).collect();
    let record = &recorded.search;
    let request = Request {
        search: Search { disabled: events(&record.disabled), ..Search::default() },
        rank: None,
        properties: Vec::new(),
        fairness: Fairness {
            weak: events(&record.weakly_fair),
            strong: events(&record.strongly_fair),
        },
        symmetry: false,
        sleep: false,
    };
    let violated = model.recheck((&schedule, loop_start), &request)?;
    let (property, message) = violated
        .into_iter()
        .find(|(property, _)| *property == recorded.violation.property)
        .ok_or("its end violates nothing")?;
    let found = Found { property, message, schedule, loop_start };
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
