//! Repeats the execution of a trace.

use crate::conclude::trace_of;
use crate::error::CheckError;
use crate::finding::Early;
use crate::host::Host;
use crate::launch::{DEFAULT_STEPS, alone, launch, open};
use everypath_native::{
    Armed, Choice, Ending, Environment, Error, Launch, Names, Specification, Standing,
    find_allocations, schedule,
};
use everypath_trace::{Control, Target, Trace, Violation};
use std::sync::Arc;

/// A trace of a native program that is about to be repeated.
#[derive(Debug)]
pub struct Replay<'a> {
    recorded: &'a Trace,
    launch: Launch,
    schedule: Vec<Choice>,
    /// The port that is awaited before the program starts.
    peer_ready: Option<u16>,
}

/// What came of it.
#[derive(Debug)]
pub enum Replayed {
    /// Every step as recorded, and the same violation.
    Reproduced(Trace),
    /// Something differs, or cannot be repeated.
    Different {
        /// What.
        reason: String,
        /// What happened now, if it is a violation, too.
        trace: Option<Trace>,
        /// Whether the reason is a defect of the checker.
        internal_error: bool,
    },
}

impl<'a> Replay<'a> {
    /// Prepares to repeat a trace; `force` does so even if the program has changed since. The
    /// specification is the one that the configuration names, if it names one.
    pub fn new(
        recorded: &'a Trace,
        force: bool,
        specification: Option<Arc<dyn Specification>>,
    ) -> Result<Self, CheckError> {
        let (hash, script, armed, config) = match &recorded.target {
            Target::Native { hash, script, armed, config } => (hash, script, armed, config),
            Target::Unconfigured { program } => {
                return Err(CheckError::Unconfigured { program: program.clone() });
            }
            Target::Model { .. } => return Err(CheckError::NotNative),
        };
        let host = Host { specification, ..Host::new() };
        let program = open(&host, &config.program).map_err(refused)?;
        if program.hash != *hash && !force {
            return Err(CheckError::Changed(config.program.clone()));
        }
        let mut launch = match script.is_empty() {
            true => launch(&host, config, &program).map_err(refused)?,
            false => {
                let outside = Environment::recorded(script).ok_or(CheckError::BadScript)?;
                Launch { outside, ..alone(&host, config, &program)? }
            }
        };
        let armed = Armed::from_texts(armed).map_err(|_| CheckError::BadScript)?;
        launch.armed = Arc::new(armed);
        launch.setup.joint = !script.is_empty();
        launch.setup.max_steps = recorded.steps.len() as u32 + DEFAULT_STEPS;
        let schedule = schedule(&recorded.steps)?;
        Ok(Replay { recorded, launch, schedule, peer_ready: config.peer_ready })
    }

    /// Repeats the execution and compares it with the recorded one, unless it is stopped.
    pub fn run(&self, control: &Control) -> Replayed {
        if let Some(port) = self.peer_ready
            && let Err(error) = self.launch.outside.await_port(port)
        {
            return different(error.to_string(), None);
        }
        let launch = Launch { control: control.clone(), ..self.launch.clone() };
        let launch = everypath_native::with_served_addresses(&launch);
        let replayed = launch.and_then(|launch| {
            let replayed = everypath_native::replay(&launch, &self.schedule);
            replayed.map(|replayed| (launch, replayed))
        });
        let (launch, mut replayed) = match replayed {
            Ok(replayed) => replayed,
            Err(error) => {
                let internal_error = matches!(error, Error::Defect(_));
                return Replayed::Different {
                    reason: error.to_string(),
                    trace: None,
                    internal_error,
                };
            }
        };
        find_allocations(&launch, &mut replayed);
        let names = Names::new(&replayed);
        let violation = match names.ending(&self.launch.setup) {
            Ending::Violated(violation) => violation,
            Ending::Expected if self.recorded.is_passing() => Violation::default(),
            Ending::Expected => {
                return different("the execution now ends as expected".into(), None);
            }
            Ending::Inconclusive(reason) => return different(reason, None),
        };
        let Trace { target, search, explanation, found, .. } = self.recorded.clone();
        let now = Trace { explanation, found, ..trace_of(target, search, violation, &names) };
        match self.difference(&now) {
            Some(reason) => different(reason, Some(now)),
            None => Replayed::Reproduced(now),
        }
    }

    /// Repeats the execution and leaves the program where it ended, for a debugger.
    pub fn stand(&self) -> Result<Standing, Error> {
        let launch = everypath_native::with_served_addresses(&self.launch)?;
        everypath_native::stand(&launch, &self.schedule)
    }

    fn difference(&self, now: &Trace) -> Option<String> {
        let steps = now.steps.iter().zip(&self.recorded.steps).enumerate();
        let mut differing =
            steps.filter(|(_, (now, then))| now.step != then.step || now.event != then.event);
        if let Some((at, (now, then))) = differing.next() {
            return Some(format!("step {} was {} and is now {}", at + 1, then.text, now.text));
        }
        let property = &self.recorded.violation.property;
        (now.violation.property != *property).then(|| match self.recorded.is_passing() {
            true => format!(
                "the recorded execution violated nothing, this one {}",
                now.violation.property
            ),
            false => format!("the recorded violation was of {property}"),
        })
    }
}

fn different(reason: String, trace: Option<Trace>) -> Replayed {
    Replayed::Different { reason, trace, internal_error: false }
}

/// What would make a check inconclusive makes a replay impossible.
fn refused(early: Early) -> CheckError {
    match early {
        Early::Error(error) => error,
        Early::Found(found) => CheckError::Options(found.reason.unwrap_or_default()),
    }
}
