//! One execution: its events, its outcome and its output.

use crate::closed::ExitCodes;
use crate::good_turing::{GoodTuring, Promise};
use crate::memory::Armed;
use crate::panics::Panic;
use everypath_shim_abi::{
    Choice, Event, Notice, Operation, OperationKind, Outcome, Phase, ThreadEntry, Waiting,
};
use everypath_trace::Progress;
use everypath_trace::Violation;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a search found.
#[derive(Debug, Default)]
pub struct Explored {
    /// How many executions were run.
    pub executions: u64,
    /// How many of them only repeated what others had done.
    pub redundant: u64,
    /// How many were abandoned because an assumption was not met.
    pub abandoned: u64,
    /// How many steps they had together.
    pub steps: u64,
    /// The number of states, in a search over states.
    pub states: Option<u64>,
    /// How often an execution came back to a state that it had been in: it could go round for ever.
    pub cycles: u64,
    /// How often they switched to another thread; not counted while forking.
    pub switches: u64,
    /// How many messages to peers were answered without asking them.
    pub hits: u64,
    /// How many steps the longest had; when sampling.
    pub longest: u64,
    /// How many threads the execution with the most had; when sampling.
    pub threads: u64,
    /// How different they were from each other; when sampling.
    pub variety: GoodTuring,
    /// What was promised of each execution, if anything was.
    pub promise: Option<Promise>,
    /// How many bytes the last worker copies back after an execution.
    pub restored: u64,
    /// How many executions were not as expected.
    pub unexpected: u64,
    /// The one of them with the smallest number that was not only too long, if there is one.
    pub first: Option<Execution>,
    /// Whether that was met by a sample in which memory accesses were no scheduling points.
    pub is_coarse: bool,
    /// How many ended in each way other than expected.
    pub endings: BTreeMap<String, u64>,
    /// How many of these had each combination of exit codes; only in closed systems.
    pub exit_codes: BTreeMap<ExitCodes, u64>,
    /// How many atomic instructions were patched.
    pub sites: usize,
    /// Functions that could not be copied, so that nobody sees what memory they access.
    pub unseen: Vec<String>,
    /// Functions of libc that the program may call, and of whose memory accesses nothing is known.
    pub unsummarised: Vec<String>,
    /// Which memory accesses were scheduling points at last.
    pub armed: Arc<Armed>,
    /// Whether every schedule was explored, up to equivalence.
    pub complete: bool,
    /// Whether a bound of preemptions has kept the search from schedules.
    pub is_bounded: bool,
    /// If the bound is raised step by step: the last one within which every schedule was explored.
    pub within: Option<u32>,
    /// Whether executions ended only because nothing but time passed: see
    /// [`quiet`](everypath_shim_abi::quiet).
    pub quiet: bool,
    /// How often in a row timeouts fired early at last; 0 if that was not bounded.
    pub early_timeouts: u16,
    /// Whether a thread has spun, so that the verdict rests on a bound of fairness.
    pub spins: bool,
    /// How many random executions a complete search was compared with.
    pub cross_checked: u64,
    /// One of them that is not as expected, although the search found nothing.
    pub contradiction: Option<Execution>,
    /// How many alternatives are known that were not explored, each of at least one execution; if
    /// states are matched, steps from states that were met.
    pub left: u64,
    /// Faults that were allowed and that no execution had, a sentence each; of searches over schedules.
    pub unexercised: Option<Vec<String>>,
    /// What was strange in closed systems, although nobody outside is at fault for it.
    pub notices: BTreeSet<Notice>,
}

impl Explored {
    /// Counts what was executed as redundant: it will be executed once more. What was found stays.
    pub(crate) fn begin_anew(&mut self) {
        self.redundant = self.executions;
        (self.abandoned, self.unexpected) = (0, 0);
        self.endings.clear();
        self.exit_codes.clear();
    }

    /// How far a search has come.
    pub(crate) fn progress(&self) -> Progress {
        Progress {
            states: self.states.unwrap_or(0),
            executions: self.executions,
            events: self.steps,
            frontier: self.left,
            ..Progress::default()
        }
    }

    /// Whether everything was explored and nothing found.
    pub(crate) fn holds(&self) -> bool {
        self.complete && self.first.is_none() && self.executions > 0
    }

    /// Whether there were executions, and none that counts: assumptions ended all of them.
    pub fn checked_nothing(&self) -> bool {
        self.abandoned > 0 && self.executions == self.abandoned + self.redundant
    }

    /// Counts an execution that is not as expected, and keeps the first; one that was only too long
    /// does not hide another.
    pub(crate) fn keep(&mut self, execution: Execution) {
        self.unexpected += 1;
        let ending = match &execution.judgement {
            Some(wrong) => format!("wrong {}", wrong.property),
            None => format!("{:?} {}", execution.outcome, execution.detail),
        };
        *self.endings.entry(ending).or_default() += 1;
        if !execution.exit_codes.is_empty() {
            *self.exit_codes.entry(execution.exit_codes.clone()).or_default() += 1;
        }
        let rank = |of: &Execution| (of.outcome == Outcome::TooLong, of.number);
        if self.first.as_ref().is_none_or(|known| rank(&execution) < rank(known)) {
            self.first = Some(execution);
        }
    }
}

/// Whether an ending makes going on pointless.
pub(crate) fn is_final(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::NeedsLibrary
            | Outcome::Uncontrolled
            | Outcome::Defect
            | Outcome::Hang
            | Outcome::Diverged
    )
}

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
    /// The address that goes with a signal or a data race.
    pub address: u64,
    /// The calls of the heap that allocated and freed the block that goes with the outcome.
    pub(crate) heap_calls: [u32; 2],
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
    /// What it noted, each with a zero behind it; the value of the step is where it begins.
    pub notes: Vec<u8>,
    /// The messages between sockets, if they were recorded.
    pub(crate) message_events: Vec<u8>,
    /// What is wrong with what it left behind.
    pub judgement: Option<Violation>,
    /// How each program of a closed system exited.
    pub(crate) exit_codes: ExitCodes,
}

impl Execution {
    /// Of each step, whether it comes although the thread of the step before could have gone on.
    pub fn preempts(&self) -> Vec<bool> {
        let mut preempts = vec![false; self.events.len()];
        let mut next: BTreeMap<u16, &Event> = BTreeMap::new();
        for (at, event) in self.events.iter().enumerate().rev() {
            if let Some(after) = preempts.get_mut(at + 1) {
                let switches = self.events[at + 1].thread != event.thread;
                *after = switches && self.goes_on(event, next.get(&event.thread).copied());
            }
            next.insert(event.thread, event);
        }
        preempts
    }

    /// Whether a thread could go on after a step, as its next one shows.
    fn goes_on(&self, event: &Event, next: Option<&Event>) -> bool {
        match next {
            _ if matches!(event.kind(), OperationKind::Exit | OperationKind::ProcessExit) => false,
            Some(next) => next.phase != Phase::Resume && !next.stands_back(),
            None => self.threads.iter().any(|entry| {
                let idles = matches!(
                    entry.operation,
                    OperationKind::Yield | OperationKind::Pause | OperationKind::Spin
                );
                entry.number == event.thread && entry.waiting == Waiting::Nothing && !idles
            }),
        }
    }

    /// Whether another execution fails in the same way.
    pub(crate) fn fails_like(&self, other: &Execution) -> bool {
        let instruction = |of: &Execution| {
            let entry = of.threads.iter().find(|entry| entry.number == of.thread);
            entry.map(|entry| entry.registers[0])
        };
        let waits = |of: &Execution| {
            let mut waits: Vec<_> = of.threads.iter().map(|entry| entry.waiting as u8).collect();
            waits.sort_unstable();
            waits
        };
        let panic = |of: &Execution| Panic::first_of(of).map(|panic| panic.place);
        self.outcome == other.outcome
            && match self.outcome {
                Outcome::Exited | Outcome::OtherExited => {
                    self.detail == other.detail && panic(self) == panic(other)
                }
                Outcome::Panicked | Outcome::Aborted => panic(self) == panic(other),
                Outcome::Signalled => {
                    self.detail == other.detail && instruction(self) == instruction(other)
                }
                Outcome::Assertion | Outcome::PeerFailed => self.text == other.text,
                Outcome::HeapMisuse | Outcome::DataRace => self.detail == other.detail,
                Outcome::Deadlock | Outcome::Livelock | Outcome::Idle => {
                    waits(self) == waits(other)
                }
                _ => false,
            }
    }

    /// A description of the first difference from another execution of the same schedule.
    pub fn difference(&self, other: &Execution) -> Option<String> {
        let pairs = self.events.iter().zip(&other.events);
        let differ = |a: &Event, b: &Event| a.without_accesses() != b.without_accesses();
        if let Some((at, (a, b))) = pairs.enumerate().find(|(_, (a, b))| differ(a, b)) {
            return Some(format!("step {}: {}", at + 1, changed(a, b)));
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

/// What is not as it was in one step of two executions of the same schedule.
fn changed(was: &Event, is: &Event) -> String {
    let who = |event: &Event| format!("{} of thread {}", event.kind(), event.thread);
    if (was.thread, was.kind()) != (is.thread, is.kind()) {
        return format!("{} became {}", who(was), who(is));
    }
    match (was.operation(), is.operation()) {
        _ if was.object != is.object => {
            format!("{} was on {}, and is on {}", who(was), was.object, is.object)
        }
        (Operation::Output(before), Operation::Output(now)) if before != now => {
            let thread = was.thread;
            format!("thread {thread} wrote {before} bytes of output, and then {now}")
        }
        _ => format!("{} had another result", who(was)),
    }
}

#[cfg(test)]
mod tests {
    use super::changed;
    use everypath_shim_abi::{Event, Object, Operation};

    #[test]
    fn differences_are_told_in_what_differs() {
        let output = |length| Event::new(3, Operation::Output(length), Object::NONE);
        let said = changed(&output(20), &output(22));
        assert_eq!(said, "thread 3 wrote 20 bytes of output, and then 22");
        let join = |at| Event::new(1, Operation::Join, Object::memory(0, at));
        assert_eq!(changed(&join(16), &join(32)), "join of thread 1 was on 0x10, and is on 0x20");
        assert_eq!(changed(&join(16), &output(1)), "join of thread 1 became output of thread 3");
        let mut more = join(16);
        more.alternatives = 2;
        assert_eq!(changed(&join(16), &more), "join of thread 1 had another result");
    }
}
