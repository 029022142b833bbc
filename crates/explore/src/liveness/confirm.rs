//! Taking the steps of a lasso again before it is reported.

use super::Fairness;
use crate::property::Kind;
use crate::{Canonical, Property, Search, Step, System, panic_capture};
use std::collections::BTreeSet;

/// Takes the steps of a counterexample to a liveness property again and says what it shows, or why it
/// shows nothing. It uses nothing of the search that found it.
///
/// With a loop, the state at its end must be the one at its start, the obligation must last all along
/// it, and it must be fair. Without one, the execution must end there with an obligation.
pub(crate) fn confirm_lasso<S: System>(
    system: &S,
    property: &Property<S::State>,
    rules: (&Search, &Fairness),
    lasso: (&[Step], Option<usize>),
) -> Result<String, String> {
    panic_capture::run(|| retake(system, property, rules, lasso)).unwrap_or_else(|message| {
        Err(format!("a violation could not be repeated: the model {message}"))
    })
}

fn retake<S: System>(
    system: &S,
    property: &Property<S::State>,
    (search, fairness): (&Search, &Fairness),
    (schedule, loop_start): (&[Step], Option<usize>),
) -> Result<String, String> {
    let Kind::Liveness(formula) = &property.kind else {
        return Err(format!("{} is no property of infinite executions", property.name));
    };
    let lost = |what: &str| {
        Err(format!("a violation of \"{}\" could not be repeated: {what}", property.name))
    };
    let mut state = system.initial();
    let (mut steps, mut at_start) = (Vec::new(), Vec::new());
    let mut obliged = false;
    let mut watch = FairWatch::default();
    for done in 0..=schedule.len() {
        let label = formula.label(&state);
        obliged = if done == 0 { formula.starts_obliged(label) } else { label.obliged(obliged) };
        let in_loop = loop_start.is_some_and(|start| done >= start);
        if in_loop && !obliged {
            return lost("the obligation is met in the loop");
        }
        steps.clear();
        system.enabled(&state, &mut steps);
        steps.retain(|step| !search.disabled.contains(&step.event));
        if Some(done) == loop_start {
            state.write(&mut at_start);
        }
        let Some(&step) = schedule.get(done) else {
            if loop_start.is_none() && obliged && !label.hold() {
                return Ok("what must hold until the goal is reached does not".into());
            }
            break;
        };
        if !steps.contains(&step) {
            return lost(&format!("step {} is not enabled", done + 1));
        }
        if in_loop {
            watch.see(&steps, step);
        }
        system.take(&mut state, step);
    }
    let Some(start) = loop_start else {
        return match (obliged, steps.is_empty()) {
            (true, true) => Ok("the execution ends, and the goal was not reached".into()),
            _ => lost("the execution does not end there"),
        };
    };
    let mut at_end = Vec::new();
    state.write(&mut at_end);
    if start >= schedule.len() || at_start != at_end {
        return lost("the loop does not close");
    }
    if let Some(event) = watch.starved(fairness) {
        return lost(&format!("the loop is not fair to event {event}"));
    }
    Ok(format!(
        "steps {} to {} can be repeated for ever, and the goal is never reached",
        start + 1,
        schedule.len()
    ))
}

/// What happens in a loop.
#[derive(Default)]
struct FairWatch {
    taken: BTreeSet<(u16, u16)>,
    /// What is enabled in each state.
    enabled: Vec<BTreeSet<(u16, u16)>>,
}

impl FairWatch {
    fn see(&mut self, enabled: &[Step], taken: Step) {
        self.taken.insert((taken.event, taken.actor));
        self.enabled.push(enabled.iter().map(|step| (step.event, step.actor)).collect());
    }

    /// An event that the loop is not fair to.
    fn starved(&self, fairness: &Fairness) -> Option<u16> {
        let all: BTreeSet<(u16, u16)> = self.enabled.iter().flatten().copied().collect();
        let starved = |unit: &(u16, u16)| {
            let always = self.enabled.iter().all(|here| here.contains(unit));
            !self.taken.contains(unit)
                && (fairness.strong.contains(&unit.0) || always && fairness.weak.contains(&unit.0))
        };
        all.into_iter().find(starved).map(|(event, _)| event)
    }
}
