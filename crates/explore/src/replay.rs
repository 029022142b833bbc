//! Replaying a schedule from the initial state.

use crate::{Canonical, Fingerprint, Step, System, fingerprint, panic_capture};

/// Why a schedule could not be repeated. The number is that of the step, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayError {
    /// The step is not enabled where the schedule wants it.
    NotEnabled(usize),
    /// The model panicked before its last step, or while making its initial state (step 0).
    Panicked(usize, String),
}

impl std::fmt::Display for ReplayError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReplayError::NotEnabled(step) => write!(f, "step {step} is not enabled"),
            ReplayError::Panicked(step, message) => write!(f, "step {step} {message}"),
        }
    }
}

impl std::error::Error for ReplayError {}

/// What a schedule led to.
pub struct Replayed<T> {
    /// What was seen of each state, the initial one first.
    pub seen: Vec<T>,
    /// The panic of the last step (or of the question what is enabled after it), if any.
    pub panic: Option<String>,
}

/// Takes the steps of `schedule` from the initial state.
///
/// `look` sees each state with its fingerprint and the step that comes next, if any. A panic of
/// the last step is an outcome, because that is what the schedule may have been recorded for.
pub fn replay<S: System, T>(
    system: &S,
    schedule: &[Step],
    mut look: impl FnMut(&S::State, Fingerprint, Option<Step>) -> T,
) -> Result<Replayed<T>, ReplayError> {
    let mut state = panic_capture::run(|| system.initial())
        .map_err(|message| ReplayError::Panicked(0, message))?;
    let mut seen = Vec::new();
    let (mut bytes, mut enabled) = (Vec::new(), Vec::new());
    for done in 0..=schedule.len() {
        let next = schedule.get(done).copied();
        enabled.clear();
        let asked = panic_capture::run(|| system.enabled(&state, &mut enabled));
        if asked.is_ok() && next.is_some_and(|step| !enabled.contains(&step)) {
            return Err(ReplayError::NotEnabled(done + 1));
        }
        let observed = panic_capture::run(|| {
            bytes.clear();
            state.write(&mut bytes);
            look(&state, fingerprint(&bytes), next)
        });
        seen.push(observed.map_err(|message| ReplayError::Panicked(done, message))?);
        let (outcome, last) = match (asked, next) {
            (Err(message), None) => (Err(message), true),
            (Err(message), Some(_)) => return Err(ReplayError::Panicked(done, message)),
            (Ok(()), None) => break,
            (Ok(()), Some(step)) => {
                (panic_capture::run(|| system.take(&mut state, step)), done + 1 == schedule.len())
            }
        };
        match outcome {
            Ok(()) => {}
            Err(message) if last => {
                return Ok(Replayed { seen, panic: Some(message) });
            }
            Err(message) => return Err(ReplayError::Panicked(done + 1, message)),
        }
    }
    Ok(Replayed { seen, panic: None })
}
