//! One execution, as the worker left it.

use crate::worker::Worker;
use everypath_shim_abi::{Choice, Event, Outcome, Reply, ThreadEntry, text};

/// What an execution did and how it ended.
#[derive(Clone, Debug)]
pub struct Execution {
    /// Its number in the search.
    pub number: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// The exit code, signal, thread or step that goes with the outcome.
    pub detail: i32,
    /// The thread that ended it.
    pub thread: u16,
    /// The address that goes with a signal.
    pub address: u64,
    /// What the shim says about it.
    pub text: String,
    /// Its choices: enough to repeat it.
    pub schedule: Vec<Choice>,
    /// Its steps.
    pub events: Vec<Event>,
    /// Its threads at the end.
    pub threads: Vec<ThreadEntry>,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
}

impl Execution {
    /// The last execution of a worker.
    pub(crate) fn of(worker: &Worker, reply: &Reply, number: u64) -> Self {
        Execution {
            number,
            outcome: reply.outcome,
            detail: reply.detail,
            thread: reply.thread,
            address: reply.address,
            text: String::from_utf8_lossy(text(&reply.text)).into_owned(),
            schedule: worker.schedule(),
            events: worker.events(),
            threads: worker.threads(),
            stdout: worker.output(0),
            stderr: worker.output(1),
        }
    }

    /// The first difference from another execution of the same schedule, in words.
    pub fn difference(&self, other: &Execution) -> Option<String> {
        let pairs = self.events.iter().zip(&other.events);
        if let Some((at, (a, b))) = pairs.enumerate().find(|(_, (a, b))| a != b) {
            let say = |event: &Event| {
                format!("thread {} {} on {:#x}", event.thread, event.operation, event.object)
            };
            return Some(format!("step {}: {} became {}", at + 1, say(a), say(b)));
        }
        if self.events.len() != other.events.len() {
            return Some(format!("{} steps became {}", self.events.len(), other.events.len()));
        }
        if (self.outcome, self.detail) != (other.outcome, other.detail) {
            return Some(format!(
                "the end: {:?} {} became {:?} {}",
                self.outcome, self.detail, other.outcome, other.detail
            ));
        }
        let streams =
            [("output", &self.stdout, &other.stdout), ("error", &self.stderr, &other.stderr)];
        let differs = streams.into_iter().find(|(_, a, b)| a != b);
        differs.map(|(name, ..)| format!("what was written to standard {name}"))
    }
}
