//! Refinement: the events that a program notes, compared with a model.

use crate::report::{Refinement, Report};
use everypath_native::Compared;
use everypath_trace::Verdict;

impl Report {
    /// Adds what was compared. A program that notes no event refines every model, which says nothing.
    pub(crate) fn comparing(self, compared: Compared) -> Self {
        let Compared { model, logs, events } = compared;
        let is_vacuous = logs == 0 && self.verdict == Verdict::Holds;
        let reason = format!(
            "--refines {model}: no execution noted an event, so nothing was compared; call note with a \
             JSON object such as {{\"event\": \"NAME\", \"actor\": \"NODE\"}} (everypath-verify)"
        );
        Report {
            verdict: if is_vacuous { Verdict::Inconclusive } else { self.verdict },
            reason: if is_vacuous { Some(reason) } else { self.reason },
            refines: Some(Refinement { model, logs, events }),
            ..self
        }
    }
}
