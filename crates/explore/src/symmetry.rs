//! Symmetry reduction: of states that differ only in which of several like actors is which, one is
//! explored.
//!
//! After C. N. Ip and D. L. Dill, *Better verification through symmetry*, Formal Methods in System
//! Design 9, 1996, and E. M. Clarke, R. Enders, T. Filkorn and S. Jha, *Exploiting symmetry in temporal
//! logic model checking*, same volume. The model says which actors are alike and names the
//! representative of a state; the engine explores the quotient. Invariants and properties of steps
//! must not tell like actors apart. Liveness under fairness of single actors is not preserved by the
//! quotient (Emerson and Sistla, *Utilizing symmetry when model-checking under fairness assumptions*,
//! ACM TOPLAS 19, 1997), so it is checked without.
//!
//! Where we depart from them: a counterexample is unfolded into one of the model itself before it is
//! reported, and whether actors are alike, as the model says, is tested on a sample of states.

use crate::confirm::violated_at_end;
use crate::{
    Canonical, Control, Ended, Exploration, Model, PANIC, Property, Step, System, Task, explore,
    panic_capture,
};

/// A model of which states that differ only in the names of like actors are one.
pub(crate) struct Quotient<'a, M>(pub(crate) &'a M);

impl<M: Model> System for Quotient<'_, M> {
    type State = M::State;

    fn initial(&self) -> M::State {
        let mut state = self.0.initial();
        self.0.representative(&mut state);
        state
    }

    fn enabled(&self, state: &M::State, steps: &mut Vec<Step>) {
        self.0.enabled(state, steps);
    }

    fn take(&self, state: &mut M::State, step: Step) {
        self.0.take(state, step);
        self.0.representative(state);
    }

    fn restore(&self, original: &M::State, bytes: &[u8], state: &mut M::State) {
        self.0.restore(original, bytes, state);
    }
}

fn bytes<T: Canonical>(state: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    state.write(&mut bytes);
    bytes
}

/// The successors of a state in the quotient, each with its event, in ascending order.
fn successors<M: Model>(model: &M, state: &M::State) -> Vec<(u16, Vec<u8>)> {
    let (mut steps, own) = (Vec::new(), bytes(state));
    model.enabled(state, &mut steps);
    let mut next = model.initial();
    let lead = |step: Step| {
        next.read(&mut &own[..]);
        model.take(&mut next, step);
        model.representative(&mut next);
        (step.event, bytes(&next))
    };
    let mut found: Vec<(u16, Vec<u8>)> = steps.into_iter().map(lead).collect();
    found.sort_unstable();
    found
}

/// A schedule of the model itself that passes through states like those of one of the quotient.
pub(crate) fn unfold<M: Model>(model: &M, schedule: &[Step]) -> Result<Vec<Step>, String> {
    let quotient = Quotient(model);
    let (mut state, mut like) = (model.initial(), quotient.initial());
    let mut next = model.initial();
    let (mut unfolded, mut steps) = (Vec::new(), Vec::new());
    for &step in schedule {
        quotient.take(&mut like, step);
        let (wanted, own) = (bytes(&like), bytes(&state));
        steps.clear();
        model.enabled(&state, &mut steps);
        let mut candidates = steps.iter().filter(|other| other.event == step.event);
        let found = candidates.find(|&&candidate| {
            next.read(&mut &own[..]);
            model.take(&mut next, candidate);
            let after = bytes(&next);
            model.representative(&mut next);
            let same = bytes(&next) == wanted;
            next.read(&mut &after[..]);
            same
        });
        unfolded.push(*found.ok_or_else(|| {
            let event = M::EVENTS[usize::from(step.event)].name;
            format!("{NOT_ALIKE}: event {event} has no counterpart in the model itself")
        })?);
        std::mem::swap(&mut state, &mut next);
    }
    Ok(unfolded)
}

/// What is wrong with a model whose actors are not alike.
const NOT_ALIKE: &str = "nodes that the model calls symmetric are not";

/// On how many states it is tested that actors are alike.
const SAMPLE: usize = 100;

/// Tests on the first states that exchanging two like actors changes neither what is violated nor what
/// can follow.
pub(crate) fn test<M: Model>(model: &M, properties: &[Property<M::State>]) -> Result<(), String> {
    let test = || {
        let alike = model.symmetric()?;
        let mut states = vec![bytes(&model.initial())];
        let (mut state, mut other) = (model.initial(), model.initial());
        let mut at = 0;
        while at < states.len().min(SAMPLE) {
            state.read(&mut &states[at][..]);
            let follow = successors(model, &state);
            for pair in alike.windows(2) {
                other.read(&mut &states[at][..]);
                model.exchange(&mut other, pair[0], pair[1]);
                let differs = |property: &&Property<M::State>| {
                    property.check(&state).is_err() != property.check(&other).is_err()
                };
                let names = format!("{} and {}", model.actor(pair[0]), model.actor(pair[1]));
                if let Some(property) = properties.iter().find(differs) {
                    let name = &property.name;
                    return Err(format!("{NOT_ALIKE}: property {name} tells {names} apart"));
                }
                if successors(model, &other) != follow {
                    return Err(format!(
                        "{NOT_ALIKE}: in state {at} of a breadth-first search other things can \
                         happen once {names} are exchanged"
                    ));
                }
            }
            for (_, next) in follow {
                if states.len() < 4 * SAMPLE && !states.contains(&next) {
                    states.push(next);
                }
            }
            at += 1;
        }
        Ok(())
    };
    // A panic is found by the search itself, with a counterexample.
    panic_capture::run(test).unwrap_or(Ok(()))
}

/// Explores the quotient of a model.
pub(crate) fn explore_quotient<M: Model>(task: &Task<'_, M>, control: &Control) -> Exploration {
    let Task { system: model, properties, rank, search } = *task;
    let quotient = Quotient(model);
    let task = Task { system: &quotient, properties, rank, search };
    let mut explored = explore(&task, control);
    let outcome = test(model, properties).and_then(|()| unfold_all(task, model, &mut explored));
    if let Err(why) = outcome {
        explored.found.clear();
        explored.ended = Ended::NotSymmetric(why);
    }
    explored
}

/// Turns what was found in the quotient into what there is in the model itself.
fn unfold_all<M: Model>(
    task: Task<'_, Quotient<'_, M>>,
    model: &M,
    explored: &mut Exploration,
) -> Result<(), String> {
    for found in &mut explored.found {
        found.schedule = match found.property.as_str() {
            PANIC => unfold_panic(model, &found.schedule)?,
            _ => unfold(model, &found.schedule)?,
        };
        let again = violated_at_end(model, task.properties, &task.search.disabled, &found.schedule);
        let again = again.map_err(|error| error.to_string())?;
        let name = |number: usize| task.properties.get(number).map_or(PANIC, |p| &p.name);
        let same = again.into_iter().find(|(number, _)| *name(*number) == found.property);
        let lost = || format!("{NOT_ALIKE}: property {} tells them apart", found.property);
        found.message = same.ok_or_else(lost)?.1;
    }
    for (_, schedule) in &mut explored.witnesses {
        *schedule = schedule.as_deref().map(|steps| unfold(model, steps)).transpose()?;
    }
    Ok(())
}

/// The same for a schedule whose last step panics.
fn unfold_panic<M: Model>(model: &M, schedule: &[Step]) -> Result<Vec<Step>, String> {
    let Some((last, before)) = schedule.split_last() else { return Ok(Vec::new()) };
    let mut unfolded = unfold(model, before)?;
    let mut state = model.initial();
    unfolded.iter().for_each(|&step| model.take(&mut state, step));
    let (mut steps, own) = (Vec::new(), bytes(&state));
    let listed = panic_capture::run(|| model.enabled(&state, &mut steps));
    if listed.is_err() {
        return Ok(unfolded);
    }
    let panics = |&&step: &&Step| {
        let mut next = model.initial();
        next.read(&mut &own[..]);
        step.event == last.event && panic_capture::run(|| model.take(&mut next, step)).is_err()
    };
    let lost = || format!("{NOT_ALIKE}: a panic has no counterpart in the model itself");
    unfolded.push(*steps.iter().find(panics).ok_or_else(lost)?);
    Ok(unfolded)
}
