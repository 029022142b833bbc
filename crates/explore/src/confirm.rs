//! Replaying a violation before it is reported.

use crate::expand::{Rules, Worker, deadlocks, violations};
use crate::{Canonical, Found, PANIC, Property, ReplayError, Step, System, panic_capture, replay};

/// Takes the choices that led to a violation of property number `property` again, from the
/// initial state; what comes out is what is reported. The number after the last is a panic.
pub(crate) fn confirm<S: System>(
    rules: &Rules<'_, S>,
    property: usize,
    choices: &[u32],
) -> Result<Found, String> {
    let schedule = repeat(rules, choices)?;
    let found = violated_at_end(rules.system, rules.properties, &rules.search.disabled, &schedule)
        .map_err(|error| format!("a violation could not be repeated: {error}"))?;
    let name = rules.properties.get(property).map_or(PANIC, |property| property.name.as_str());
    let same = found.into_iter().find(|(number, _)| *number == property);
    let (_, message) = same.ok_or(format!("a violation of \"{name}\" could not be repeated"))?;
    Ok(Found { property: name.into(), message, schedule, loop_start: None })
}

/// Takes the choices that led to a state again that satisfies property number `property`.
pub(crate) fn confirm_witness<S: System>(
    rules: &Rules<'_, S>,
    property: usize,
    choices: &[u32],
) -> Result<Vec<Step>, String> {
    let schedule = repeat(rules, choices)?;
    let mut is = false;
    let wanted = Rules { wanted: vec![property], ..*rules };
    let replayed = replay(rules.system, &schedule, |state, _, next| {
        is |= next.is_none() && !wanted.witnessed(state).is_empty();
    });
    match replayed {
        Ok(_) if is => Ok(schedule),
        _ => Err(format!(
            "a state that satisfies \"{}\" could not be reached again",
            rules.properties[property].name
        )),
    }
}

fn repeat<S: System>(rules: &Rules<'_, S>, choices: &[u32]) -> Result<Vec<Step>, String> {
    panic_capture::run(|| schedule(rules, choices))
        .unwrap_or_else(|message| Err(format!("a violation could not be repeated: {message}")))
}

/// What the last state of a schedule, the step to it, or that nothing comes after it violates: numbers
/// of properties, and why. The number after the last is a panic.
pub(crate) fn violated_at_end<S: System>(
    system: &S,
    properties: &[Property<S::State>],
    disabled: &[u16],
    schedule: &[Step],
) -> Result<Vec<(usize, String)>, ReplayError> {
    let mut before = system.initial();
    let mut came_by_step = false;
    let mut bytes = Vec::new();
    let mut at_end = Ok(Vec::new());
    let replayed = replay(system, schedule, |state, _, next| {
        if next.is_some() {
            bytes.clear();
            state.write(&mut bytes);
            before.read(&mut &bytes[..]);
            came_by_step = true;
            return;
        }
        at_end = panic_capture::run(|| {
            let mut violated = violations(properties, came_by_step.then_some(&before), state);
            let mut steps = Vec::new();
            system.enabled(state, &mut steps);
            steps.retain(|step| !disabled.contains(&step.event));
            if steps.is_empty() {
                violated.extend(deadlocks(properties, state));
            }
            violated
        });
    })?;
    let panic = replayed.panic.map(|message| (properties.len(), message));
    Ok(match at_end {
        Ok(violated) => violated.into_iter().chain(panic).collect(),
        Err(message) => panic.into_iter().chain([(properties.len(), message)]).take(1).collect(),
    })
}

/// The steps that belong to a sequence of choices.
fn schedule<S: System>(rules: &Rules<'_, S>, choices: &[u32]) -> Result<Vec<Step>, String> {
    let mut worker = Worker::new(rules.system);
    let mut state = rules.system.initial();
    let (mut schedule, mut bytes) = (Vec::new(), Vec::new());
    for (done, &choice) in choices.iter().enumerate() {
        bytes.clear();
        rules.encode(&state, false, &mut bytes);
        let step = worker.enumerate(rules, &bytes).get(choice as usize).copied();
        let step = step
            .ok_or(format!("the steps enabled after step {done} differ from those seen before"))?;
        schedule.push(step);
        // The last step may be the one that panics.
        if done + 1 < choices.len() {
            rules.system.take(&mut state, step);
        }
    }
    Ok(schedule)
}
