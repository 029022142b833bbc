//! The description of how an execution ended: the violation, or the reason for *inconclusive*.

use super::Names;
use crate::execution::Execution;
use crate::panics::Panic;
use crate::verdict::{Decision, Doubt, Property, decide};
use everypath_shim_abi::{Outcome, Race, Setup, ThreadEntry, address_space};
use everypath_trace::Violation;

/// What an ending means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As expected.
    Expected,
    /// Something is violated.
    Violated(Violation),
    /// We cannot say: the reason.
    Inconclusive(String),
}

/// What is said of an execution that was stopped because it had too many steps.
pub fn too_long(execution: &Execution) -> String {
    let steps = execution.detail;
    format!("an execution has more than {steps} steps; raise --max-depth if that is expected")
}

impl Names<'_> {
    /// What is wrong with the end.
    pub fn ending(&self, setup: &Setup) -> Ending {
        match decide(&self.replayed.execution, setup) {
            Decision::Expected => Ending::Expected,
            Decision::Violated(property) => Ending::Violated(self.violation(property, setup)),
            Decision::Undecided(doubt) => Ending::Inconclusive(self.doubt(doubt)),
        }
    }

    fn violation(&self, property: Property, setup: &Setup) -> Violation {
        let execution = &self.replayed.execution;
        let who = self.thread(execution.thread);
        let panicked = || panic_message(execution).unwrap_or_default();
        let message = match property {
            Property::Output => {
                let unnamed =
                    || Violation { property: property.name().into(), ..Violation::default() };
                return execution.judgement.clone().unwrap_or_else(unnamed);
            }
            Property::ExitCode if execution.outcome == Outcome::OtherExited => {
                let process = self.replayed.system.process_of(execution.thread);
                let (code, expected) = (execution.detail, setup.others_exit_code);
                let process = process.unwrap_or("another program");
                format!("{process}: the program exits with code {code} instead of {expected}")
            }
            Property::ExitCode => {
                let (code, expected) = (execution.detail, setup.exit_code);
                format!("the program exits with code {code} instead of {expected}")
            }
            Property::Panic => panicked(),
            Property::UnhandledPanic => {
                let thread = self.thread(execution.detail as u16);
                format!("{thread} panicked and its result was dropped: {}", panicked())
            }
            Property::Crash => self.crash(),
            Property::Abort => format!("{who} aborts the program"),
            Property::Assertion => format!("{who}: {}", execution.text),
            Property::PeerFailure => {
                let place = self.place_in(execution.thread);
                format!("{} because of what {who} has sent{place}", execution.text)
            }
            Property::DoubleFree => {
                format!("{who} frees a block {} that was freed before", execution.text)
            }
            Property::InvalidFree => {
                format!("{who} frees an address that is no block: {}", execution.text)
            }
            Property::HeapOverflow => {
                format!("the program has written behind the end of a block {}", execution.text)
            }
            Property::UseAfterFree if execution.outcome == Outcome::HeapMisuse => {
                let place = self.place_in(execution.thread);
                format!("{who} accesses memory that was freed{place}: {}", execution.text)
            }
            Property::DataRace | Property::UseAfterFree => self.race(),
            Property::Leak => {
                format!("a block {} is not freed, and nothing points to it", execution.text)
            }
            Property::Deadlock => self.deadlock(),
            Property::Idle => {
                format!("no network input can arrive any more: {}", self.deadlock())
            }
            Property::Livelock => self.livelock(),
            Property::Hang => {
                let (who, place) = self.hanging();
                format!(
                    "{who} runs{place} without reaching a scheduling point; its registers and \
                     memory repeat, and no other thread is runnable"
                )
            }
        };
        Violation { property: property.name().into(), message, places: self.places() }
    }

    fn doubt(&self, doubt: Doubt) -> String {
        let execution = &self.replayed.execution;
        match doubt {
            Doubt::Spinning => {
                let (who, place) = self.hanging();
                format!(
                    "{who} runs{place} without reaching a scheduling point while other threads are \
                     runnable; if it spins on a plain variable, use an atomic or a lock"
                )
            }
            Doubt::Computing => {
                let (who, place) = self.hanging();
                format!(
                    "{who} runs{place} without reaching a scheduling point, and its state does not \
                     repeat; raise --watchdog if it ends after a longer time"
                )
            }
            Doubt::TooLong => too_long(execution),
            Doubt::Uncontrolled => self.uncontrolled(),
            Doubt::Diverged => format!(
                "the replay diverged: the choice at step {} is not enabled",
                execution.detail + 1
            ),
            Doubt::Defect => format!("internal error: {}", execution.text),
        }
    }

    fn crash(&self) -> String {
        let execution = &self.replayed.execution;
        let who = self.thread(execution.thread);
        let signal = signal_name(execution.detail);
        let place = self.place_in(execution.thread);
        let entry = self.entry(execution.thread);
        let overflow = entry.is_some_and(|entry| {
            address_space::overflows_stack(entry.stack_top, execution.address)
        });
        match execution.detail {
            _ if overflow => format!("{who} overflows its stack{place}"),
            7 | 11 => format!("{who} gets {signal} at address {:#x}{place}", execution.address),
            _ => format!("{who} gets {signal}{place}"),
        }
    }

    /// Two accesses that nothing orders: each with its thread and its place.
    fn race(&self) -> String {
        let execution = &self.replayed.execution;
        let Race { other, sizes, writes, frees } = Race::from_detail(execution.detail);
        let threads = [execution.thread, other.into()];
        let [first, second] = [0, 1].map(|it: usize| {
            let (who, place) = (self.thread(threads[it]), self.place_in(threads[it]));
            let verb = if writes[it] { "writes" } else { "reads" };
            let bytes = match sizes[it] {
                1 => "1 byte".into(),
                MANY_BYTES => format!("{MANY_BYTES} bytes or more"),
                size => format!("{size} bytes"),
            };
            match frees[it] {
                true => (format!("{who} frees the block"), place),
                false => (format!("{who} {verb} {bytes}"), place),
            }
        });
        let object = match (&self.replayed.raced, execution.text.as_str()) {
            (Some(variable), _) => format!("of {variable}"),
            (None, "") => self.stack_at(execution.address),
            (None, block) => format!("of the heap, {block},"),
        };
        format!(
            "{} {object}{}, and {}{}: nothing orders them",
            first.0, first.1, second.0, second.1
        )
    }

    /// Whose stack an address is on, or else the address.
    fn stack_at(&self, address: u64) -> String {
        let threads = &self.replayed.execution.threads;
        let on = |entry: &&ThreadEntry| address_space::is_on_stack(entry.stack_top, address);
        match threads.iter().find(on) {
            Some(entry) => format!("on the stack of {}", self.thread(entry.number)),
            None => format!("at address {address:#x}"),
        }
    }

    /// The thread that reaches no scheduling point, and where it runs.
    fn hanging(&self) -> (String, String) {
        let thread = self.replayed.execution.detail as u16;
        (self.thread(thread), self.place_in(thread))
    }

    /// Where a thread is, to come after a verb.
    fn place_in(&self, thread: u16) -> String {
        let place = self.stack_of(thread).and_then(|stack| stack.frames.first());
        place.map(|frame| format!(" in {frame}")).unwrap_or_default()
    }

    fn uncontrolled(&self) -> String {
        let execution = &self.replayed.execution;
        let who = self.thread(execution.thread);
        let said = match execution.outcome {
            Outcome::NeedsLibrary => format!(
                "dlopen of {} is not modelled here: libraries must be loaded before main; give \
                 --library {}:{}",
                execution.text, execution.detail, execution.text
            ),
            _ => execution.text.clone(),
        };
        let frames = self.stack_of(execution.thread).map(|stack| stack.frames.as_slice());
        let stack: Vec<String> =
            frames.unwrap_or_default().iter().take(4).map(ToString::to_string).collect();
        if stack.is_empty() {
            format!("{said} (in {who})")
        } else {
            format!("{said} (in {who}: {})", stack.join(" < "))
        }
    }
}

/// An access of a race has so many bytes, or more.
const MANY_BYTES: u8 = 127;

/// The message of the first panic on standard error.
fn panic_message(execution: &Execution) -> Option<String> {
    let Panic { who, place, said } = Panic::first_of(execution)?;
    Some(format!("'{who}' panicked at {place}: {said}"))
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return format!("signal {signal}"),
    };
    name.into()
}
