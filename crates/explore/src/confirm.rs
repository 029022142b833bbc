//! Replaying a violation before it is reported.

use crate::expand::{Rules, Worker};
use crate::{Found, PANIC, Step, System, panic_capture, replay};

/// Takes the choices that led to a violation of property number `property` again, from the
/// initial state; what comes out is what is reported. The number after the last is a panic.
pub(crate) fn confirm<S: System>(
    rules: &Rules<'_, S>,
    property: usize,
    choices: &[u32],
) -> Result<Found, String> {
    let schedule = panic_capture::run(|| schedule(rules, choices))
        .unwrap_or_else(|message| Err(format!("a violation could not be repeated: {message}")))?;
    let mut at_end = Ok(Vec::new());
    let replayed = replay(rules.system, &schedule, |state, _, next| {
        if next.is_none() {
            at_end = panic_capture::run(|| rules.violations(state));
        }
    })
    .map_err(|error| format!("a violation could not be repeated: {error}"))?;
    let (name, message) = if property == rules.properties.len() {
        (PANIC, replayed.panic.or(at_end.err()))
    } else {
        let violations = at_end.unwrap_or_default();
        let same = violations.into_iter().find(|(number, _)| *number == property);
        (rules.properties[property].name.as_str(), same.map(|(_, message)| message))
    };
    let message = message.ok_or(format!("a violation of \"{name}\" could not be repeated"))?;
    Ok(Found { property: name.into(), message, schedule })
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
