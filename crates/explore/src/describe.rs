//! A counterexample in words: from a schedule to a trace.

use crate::messages::Messages;
use crate::{Canonical, Found, Line, Model, replay};
use everypath_trace::{Config, SearchRecord, Step, Target, Trace, TraceStep, Violation};

/// The violation with every state on the way to it in words.
pub fn describe<M: Model>(
    model: &M,
    config: &Config,
    found: &Found,
    search: SearchRecord,
) -> Result<Trace, String> {
    let ranks = model.ranks();
    let rank = ranks.iter().find(|rank| Some(&rank.name) == search.rank.as_ref());
    let mut messages = Messages::new(|actor| model.actor(actor));
    let mut before: Option<(Vec<u8>, Step)> = None;
    let mut earlier = model.initial();
    let look = |state: &M::State, fingerprint, next: Option<Step>| {
        match &before {
            None => messages.start(model.in_flight(state)),
            Some((bytes, step)) => {
                earlier.read(&mut &bytes[..]);
                messages.step(model.transit(&earlier, *step, state));
            }
        }
        before = next.map(|step| {
            let mut bytes = Vec::new();
            state.write(&mut bytes);
            (bytes, step)
        });
        let mut lines = model.describe_state(state);
        let why = rank.and_then(|rank| rank.explain(state));
        lines.extend(why.map(|why| Line::new("rank", why)));
        Seen {
            lines,
            fingerprint: format!("{fingerprint}"),
            text: next.map(|step| model.describe_step(state, step)),
        }
    };
    let replayed = replay(model, &found.schedule, look).map_err(|error| error.to_string())?;
    let mut states = replayed.seen.into_iter();
    let mut before = states.next().ok_or("the replay saw no state")?;
    let (initial, initial_fingerprint) = (before.lines, before.fingerprint);
    let mut steps = Vec::new();
    for &step in &found.schedule {
        let text = before.text.take().unwrap_or_default();
        let after = states.next();
        steps.push(TraceStep {
            step,
            actor: model.actor(step.actor),
            event: M::EVENTS[step.event as usize].name.into(),
            text,
            state: after.as_ref().map_or(Vec::new(), |seen| seen.lines.clone()),
            fingerprint: after.as_ref().map(|seen| seen.fingerprint.clone()),
            ..TraceStep::default()
        });
        before = after.unwrap_or_default();
    }
    Ok(Trace {
        target: Target::Model { name: M::NAME.into(), config: config.clone() },
        search,
        violation: Violation {
            property: found.property.clone(),
            message: found.message.clone(),
            ..Violation::default()
        },
        initial,
        initial_fingerprint,
        steps,
        messages: messages.finish(),
        repeats_from: found.loop_start.map(|start| start + 1),
        ..Trace::default()
    })
}

/// What a replay saw of a state.
#[derive(Default)]
struct Seen {
    lines: Vec<Line>,
    fingerprint: String,
    /// What the next step does, if there is one.
    text: Option<String>,
}
