//! The steps of a trace as choices of a schedule, and back: the one place that converts them.

use everypath_shim_abi::{Choice, Event};
use everypath_trace::{Step, TraceStep};

/// A step of a trace that is no choice of any schedule: the trace was damaged, or is of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {number} has outcome {outcome}; outcomes of a program's steps are below 65536")]
pub struct NotAChoice {
    /// The number of the step, from 1.
    pub number: usize,
    /// Its outcome.
    pub outcome: u32,
}

/// The step that records an event in a trace.
pub(crate) fn recorded(event: &Event) -> Step {
    Step { actor: event.thread, event: event.kind() as u16, param: u32::from(event.outcome) }
}

/// The choices that a trace has recorded.
pub fn schedule(steps: &[TraceStep]) -> Result<Vec<Choice>, NotAChoice> {
    let choice = |(number, step): (usize, &TraceStep)| {
        let Step { actor: thread, param, .. } = step.step;
        match u16::try_from(param) {
            Ok(outcome) => Ok(Choice { thread, outcome }),
            Err(_) => Err(NotAChoice { number, outcome: param }),
        }
    };
    (1..).zip(steps).map(choice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use everypath_shim_abi::{Object, Operation, TIMEOUT};

    fn trace(step: Step) -> Vec<TraceStep> {
        vec![TraceStep { step, ..TraceStep::default() }]
    }

    #[test]
    fn what_is_recorded_is_replayed() {
        let mut event = Event::new(7, Operation::Join, Object::NONE);
        event.outcome = TIMEOUT;
        let choice = Choice { thread: 7, outcome: TIMEOUT };
        assert_eq!(schedule(&trace(recorded(&event))), Ok(vec![choice]));
    }

    #[test]
    fn outcomes_that_no_step_has_are_refused() {
        let step = Step { param: 0x1_0000, ..Step::default() };
        let refused = schedule(&trace(step)).unwrap_err();
        assert_eq!(refused, NotAChoice { number: 1, outcome: 0x1_0000 });
    }
}
