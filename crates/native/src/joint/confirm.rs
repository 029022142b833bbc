//! Confirming a joint violation by one execution of all programs together.
//!
//! The histories come with an order in which they happen, and each with an execution of its
//! program. Its steps are put into that order, as far as they depend on each other, and a closed
//! system is scheduled along it. Steps of the system that a program explored alone does not have
//! are taken when they come. The outcome is checked, so soundness does not depend on how well the
//! order was followed.

use super::{JointSearch, Record};
use crate::closed::{Companion, MAX_COMPANIONS, System};
use crate::dependence::taken;
use crate::error::Error;
use crate::execution::Execution;
use crate::launch::Launch;
use crate::symmetry::Symmetry;
use crate::worker::{From, Modules, Worker};
use everypath_commtree::joint::Performed;
use everypath_schedules::HappensBefore;
use everypath_shim_abi::{Choice, EnabledStep, Event, IdleMode, OperationKind, Outcome, TIMEOUT};
use everypath_trace::Control;
use std::collections::{BTreeSet, VecDeque};

/// How many more steps than planned the system may take.
const SLACK: usize = 10_000;

/// A step that a thread of the system shall take.
#[derive(Clone, Copy, Debug)]
struct Planned {
    thread: u16,
    operation: OperationKind,
    outcome: u16,
}

/// What is to be confirmed.
pub(super) struct Claim<'a> {
    /// The program that fails, or waits although nobody can go on.
    pub(super) program: usize,
    /// An execution of each program.
    pub(super) records: Vec<&'a Record>,
    /// In which order they happen together.
    pub(super) order: &'a [Performed],
    pub(super) is_stuck: bool,
}

/// An execution of all programs that ends as claimed; or why there is none.
pub(super) fn confirm(
    search: &JointSearch,
    claim: &Claim<'_>,
    control: &Control,
) -> Result<Execution, String> {
    let most = MAX_COMPANIONS + 1;
    if search.programs.len() > most {
        return Err(format!("at most {most} programs can run together"));
    }
    let launch = search.closed(claim.is_stuck);
    let system = System::of(&launch);
    let mut lead = Lead { plan: claim.plan(&system), last: 0 };
    let said = |error: Error| format!("they cannot be run together: {error}");
    let execution = lead.run(&launch, control).map_err(said)?;
    let execution = execution.ok_or("it was stopped")?;
    let own = &claim.records[claim.program].execution;
    let waits = |outcome| matches!(outcome, Outcome::Deadlock | Outcome::Idle);
    let is_same = match own.outcome {
        end if claim.is_stuck || waits(end) => waits(execution.outcome),
        Outcome::Exited if claim.program > 0 => {
            (execution.outcome, execution.detail) == (Outcome::OtherExited, own.detail)
                && system.owner(execution.thread) == claim.program
        }
        Outcome::Exited => (execution.outcome, execution.detail) == (own.outcome, own.detail),
        end => execution.outcome == end && system.owner(execution.thread) == claim.program,
    };
    if is_same {
        return Ok(execution);
    }
    Err(match execution.outcome {
        Outcome::Uncontrolled => execution.text,
        _ => format!(
            "run together in this order, the programs ended in another way ({:?} after {} steps)",
            execution.outcome,
            execution.events.len()
        ),
    })
}

impl JointSearch {
    /// How all programs are started together.
    pub fn closed(&self, is_stuck: bool) -> Launch {
        let mut programs = self.programs.iter().map(|(_, launch)| launch);
        let mut first = programs.next().cloned().expect("there are programs");
        first.setup.joint = false;
        if is_stuck {
            first.setup.idle = IdleMode::Violation;
        }
        let companion = |other: &Launch| Companion {
            program: other.program.clone(),
            arguments: other.arguments.clone(),
        };
        Launch { companions: programs.map(companion).collect(), ..first }
    }
}

impl Claim<'_> {
    /// The steps of all programs, in an order that respects both what depends on what inside of
    /// each and in which order they do something with each other.
    fn plan(&self, system: &System) -> VecDeque<Planned> {
        let mut sides: Vec<Steps<'_>> =
            self.records.iter().map(|record| Steps::of(record)).collect();
        let mut plan = Vec::new();
        for performed in self.order {
            let steps = &mut sides[performed.side];
            let thread = |number: u16| system.thread_of(performed.side, number);
            match steps.step_of(performed.event) {
                Some(step) => steps.take_until(step, |taken| plan.push(taken.of(thread))),
                // A process that ended let go of this.
                None => {
                    steps.take_all(|taken| plan.push(taken.of(thread)));
                    let last = steps.record.execution.events.last();
                    let thread = thread(last.map_or(0, |event| event.thread));
                    plan.push(Planned { thread, operation: OperationKind::Close, outcome: 0 });
                }
            }
        }
        for (side, steps) in sides.iter_mut().enumerate() {
            if self.is_stuck || side == self.program {
                let thread = |number: u16| system.thread_of(side, number);
                steps.take_all(|taken| plan.push(taken.of(thread)));
            }
        }
        plan.into()
    }
}

/// The steps of a program's own execution, as far as they are not taken yet.
struct Steps<'a> {
    record: &'a Record,
    order: HappensBefore,
    left: BTreeSet<usize>,
}

/// A step of a program's own execution.
struct Own<'a>(&'a Event);

impl Own<'_> {
    fn of(&self, thread: impl Fn(u16) -> u16) -> Planned {
        let Own(event) = self;
        let operation = essence(event.kind());
        Planned { thread: thread(event.thread), operation, outcome: event.outcome }
    }
}

impl<'a> Steps<'a> {
    fn of(record: &'a Record) -> Self {
        let events = &record.execution.events;
        let mut order = HappensBefore::default();
        taken(events, &Symmetry::default()).iter().for_each(|step| order.push(step));
        // The choice among several answers is no step of a closed system.
        let chosen: BTreeSet<usize> = record.chosen.iter().copied().collect();
        let left = (0..events.len()).filter(|step| !chosen.contains(step)).collect();
        Steps { record, order, left }
    }

    /// The step at which something was done with other programs; none if the process had ended.
    fn step_of(&self, event: u32) -> Option<usize> {
        self.record.log.iter().find(|(_, known)| *known == event).map(|&(step, _)| step)
    }

    /// Takes a step and all that come before it, as far as they were not.
    fn take_until(&mut self, step: usize, mut take: impl FnMut(Own<'a>)) {
        let own = self.order.first_event(step);
        let due: Vec<usize> = self
            .left
            .iter()
            .copied()
            .filter(|&of| of == step || self.order.is_before(self.order.first_event(of), own))
            .collect();
        for at in due {
            self.left.remove(&at);
            take(Own(&self.record.execution.events[at]));
        }
    }

    fn take_all(&mut self, mut take: impl FnMut(Own<'a>)) {
        for at in std::mem::take(&mut self.left) {
            take(Own(&self.record.execution.events[at]));
        }
    }
}

/// What a step is, whatever it turned out to be when it was taken.
fn essence(operation: OperationKind) -> OperationKind {
    match operation {
        OperationKind::SendWhole | OperationKind::AwaitSpace => OperationKind::Send,
        OperationKind::ReceiveWhole | OperationKind::ReceiveAny | OperationKind::AwaitBytes => {
            OperationKind::Receive
        }
        OperationKind::ConnectQueued
        | OperationKind::AwaitListener
        | OperationKind::ConnectPeer => OperationKind::Connect,
        OperationKind::AcceptQueued | OperationKind::AwaitConnection => OperationKind::Accept,
        other => other,
    }
}

/// Leads a system along a plan.
struct Lead {
    plan: VecDeque<Planned>,
    last: u16,
}

impl Lead {
    /// Runs one execution; none if somebody stopped it.
    fn run(&mut self, launch: &Launch, control: &Control) -> Result<Option<Execution>, Error> {
        let mut worker = Worker::start(launch, &Modules::default())?;
        let most = self.plan.len() + SLACK;
        let mut next = worker.walk(From::Start, None, control)?;
        while let Some(reply) = next {
            if reply.outcome != Outcome::Paused || reply.steps as usize > most {
                return Ok(Some(Execution::of(&worker, &reply, 0)));
            }
            let Some(choice) = self.choose(&worker.pending()?) else { return Ok(None) };
            self.last = choice.thread;
            next = worker.walk(From::Here, Some((reply.steps, choice)), control)?;
        }
        Ok(None)
    }

    /// Who takes the next step, and how.
    fn choose(&mut self, pending: &[EnabledStep]) -> Option<Choice> {
        for can in pending {
            self.leave_out(can);
        }
        let mut waiting = BTreeSet::new();
        for at in 0..self.plan.len() {
            let Planned { thread, operation, outcome } = self.plan[at];
            // An earlier step of the same thread has to be waited for.
            let is_first = waiting.insert(thread);
            let can = pending.iter().find(|can| is_first && can.thread == thread);
            let Some(can) = can.filter(|can| can.is_timeout() == (outcome == TIMEOUT)) else {
                continue;
            };
            if outcome != TIMEOUT && essence(can.kind()) != operation {
                // On its own the program had no such step.
                return Some(Choice { thread, outcome: 0 });
            }
            self.plan.remove(at);
            return Some(Choice { thread, outcome });
        }
        let rank = |can: &&EnabledStep| (can.is_timeout(), can.thread != self.last);
        let next = pending.iter().min_by_key(rank)?;
        let outcome = if next.is_timeout() { TIMEOUT } else { 0 };
        Some(Choice { thread: next.thread, outcome })
    }

    /// Leaves out what a thread would do before the step that it is at: on its own the program had
    /// steps which it does not have now.
    fn leave_out(&mut self, can: &EnabledStep) {
        const AHEAD: usize = 3;
        let own = self.plan.iter().enumerate().filter(|(_, planned)| planned.thread == can.thread);
        let own: Vec<usize> = own.map(|(at, _)| at).take(AHEAD).collect();
        let is_it = |&at: &usize| self.plan[at].operation == essence(can.kind());
        let missing = own.iter().position(is_it).unwrap_or(0);
        for &at in own[..missing].iter().rev() {
            self.plan.remove(at);
        }
    }
}
