//! Reduced searches against the plain one, on random small programs that send datagrams through
//! networks on which some can overtake others.
//!
//! Who receives gets one of those that were sent, which is a choice; what is sent later it could have
//! got as well, had it come later, but for the rest that makes no difference.

use crate::interpreter::{self, Interpreter};
use everypath_schedules::{Alternative, ExecutionEnd, Reduction, ScheduleSearch, SearchEnd, Taken};
use everypath_shim_abi::{Choice, Footprint, Moved, Object, Operation, Phase, Step};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

#[derive(Clone, Copy, Debug)]
enum Op {
    Send(usize),
    /// Waits until there is something.
    Receive(usize),
    /// Gets the oldest one that is there, if any is.
    Look(usize),
    Write(usize),
}

const NETWORKS: usize = 2;

/// What a step touches, and might touch at another moment.
fn touched(step: Step) -> (Footprint, Option<Footprint>) {
    (step.footprint(), step.may_touch())
}

/// A datagram: who sent it, by which step, and whether it has arrived.
#[derive(Clone, Copy, Debug)]
struct Packet {
    from: (usize, usize),
    step: usize,
    has_arrived: bool,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    next: usize,
    /// The network at which it waits.
    waits: Option<usize>,
    granted_by: Option<usize>,
    seen: Vec<String>,
}

/// A program in the middle of an execution.
#[derive(Clone)]
struct Machine<'a> {
    program: &'a [Vec<Op>],
    window: usize,
    threads: Vec<Thread>,
    sent: [Vec<Packet>; NETWORKS],
    written: [Vec<usize>; NETWORKS],
    /// Who has looked and is given one of them now, and nobody else moves.
    chooses: Option<usize>,
    steps: Vec<Taken>,
}

impl<'a> Machine<'a> {
    fn new(program: &'a [Vec<Op>], window: usize) -> Self {
        Machine {
            program,
            window,
            threads: vec![Thread::default(); program.len()],
            sent: Default::default(),
            written: Default::default(),
            chooses: None,
            steps: Vec::new(),
        }
    }

    fn missing(&self, network: usize) -> Vec<usize> {
        let all = self.sent[network].iter().enumerate();
        all.filter(|(_, packet)| !packet.has_arrived).map(|(at, _)| at).collect()
    }

    /// What a thread would do next; it cannot do anything while it waits.
    fn pending(&self, t: usize) -> Option<Step> {
        let thread = &self.threads[t];
        let op = self.program[t].get(thread.next).filter(|_| thread.waits.is_none())?;
        let phase = if thread.granted_by.is_some() { Phase::Resume } else { Phase::Request };
        let network = |n: usize| Object::socket(n as u16);
        let (operation, object) = match *op {
            Op::Send(n) => (Operation::SendWhole(Moved::Unknown), network(n)),
            Op::Write(x) => (Operation::FetchModify, Object::memory(0, 5000 + 100 * x as u64)),
            Op::Look(n) => (Operation::Receive(Moved::Unknown), network(n)),
            Op::Receive(n) => match self.missing(n).len() {
                0 => (Operation::AwaitBytes, network(n)),
                _ if self.window > 1 => (Operation::ReceiveAny, network(n)),
                _ => (Operation::ReceiveWhole(Moved::Unknown), network(n)),
            },
        };
        Some(Step::new(operation, phase, object))
    }

    fn alternatives(&self) -> Vec<Alternative<Footprint>> {
        let alternative = |t: usize, outcomes: usize, what| Alternative {
            thread: t as u16,
            timeout: None,
            outcomes: outcomes as u16,
            step: touched(what).0,
        };
        if let Some(t) = self.chooses {
            let Op::Receive(n) = self.program[t][self.threads[t].next] else { unreachable!() };
            let ways = self.missing(n).len().min(self.window);
            let deliver = Operation::Deliver(ways as u32);
            let step = Step::new(deliver, Phase::Request, Object::NONE);
            return vec![alternative(t, ways, step)];
        }
        let all = (0..self.threads.len()).filter_map(|t| Some((t, self.pending(t)?)));
        all.map(|(t, what)| alternative(t, 1, what)).collect()
    }

    /// Gives a thread the next packet; the step that sent it.
    fn receive(&mut self, t: usize, network: usize, way: usize) -> usize {
        let at = self.missing(network)[way];
        let packet = &mut self.sent[network][at];
        packet.has_arrived = true;
        self.threads[t].seen.push(format!("{:?}", packet.from));
        self.threads[t].next += 1;
        packet.step
    }

    fn take(&mut self, choice: Choice) {
        let t = usize::from(choice.thread);
        let now = self.steps.len();
        let op = self.program[t][self.threads[t].next];
        let mut taken = Taken {
            choice,
            footprint: Footprint::nothing(),
            may_touch: None,
            creates: None,
            after: None,
            provided_by: None,
            resumes: false,
            comes_last: false,
        };
        if let (Some(_), Op::Receive(n)) = (self.chooses.take(), op) {
            // The step before this one is the one that gets it.
            self.steps[now - 1].provided_by = Some(self.receive(t, n, usize::from(choice.outcome)));
            self.steps.push(taken);
            return;
        }
        let what = self.pending(t).expect("the schedule is possible");
        (taken.footprint, taken.may_touch) = touched(what);
        taken.after = self.threads[t].granted_by.take();
        taken.resumes = what.phase == Phase::Resume;
        match op {
            Op::Send(n) => {
                let from = (t, self.threads[t].next);
                self.sent[n].push(Packet { from, step: now, has_arrived: false });
                for waiter in self.threads.iter_mut().filter(|it| it.waits == Some(n)) {
                    (waiter.waits, waiter.granted_by) = (None, Some(now));
                }
                self.threads[t].next += 1;
            }
            Op::Write(x) => {
                self.written[x].push(t);
                self.threads[t].next += 1;
            }
            Op::Look(n) if self.missing(n).is_empty() => {
                self.threads[t].seen.push("nothing".to_string());
                self.threads[t].next += 1;
            }
            Op::Look(n) => {
                self.receive(t, n, 0);
            }
            Op::Receive(n) if self.missing(n).is_empty() => self.threads[t].waits = Some(n),
            Op::Receive(_) => self.chooses = Some(t),
        }
        self.steps.push(taken);
    }

    fn end(&self) -> String {
        let seen: Vec<_> = self.threads.iter().map(|it| (it.next, &it.seen)).collect();
        format!("{seen:?} {:?}", self.written)
    }
}

impl interpreter::Machine for Machine<'_> {
    type Step = Footprint;

    fn alternatives(&self) -> Vec<Alternative<Footprint>> {
        self.alternatives()
    }

    fn take(&mut self, choice: Choice) -> Taken {
        self.take(choice);
        self.steps.last().expect("a step was taken").clone()
    }

    fn end(&self) -> String {
        self.end()
    }
}

/// How a program ends, and after how many executions that is known; none if there are too many.
fn ends(program: &[Vec<Op>], window: usize, by: Reduction) -> Option<(BTreeSet<String>, u64)> {
    const TOO_MANY: u64 = 6_000;
    let mut interpreter = Interpreter::new(Machine::new(program, window));
    let (mut ends, mut executions) = (BTreeSet::new(), 0);
    let finished = ScheduleSearch::new(by).run(&mut interpreter, |_, interpreter, executed| {
        executions += 1;
        if executed.ended == ExecutionEnd::Complete {
            ends.insert(interpreter.end.clone());
        }
        match executions < TOO_MANY {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    });
    match finished.expect("an interpreter never fails") {
        SearchEnd::Complete => Some((ends, executions)),
        SearchEnd::Stopped => None,
        SearchEnd::NeedsSourceSets => self::ends(program, window, Reduction::Source),
    }
}

fn op() -> impl Strategy<Value = Op> {
    let network = || 0..NETWORKS;
    prop_oneof![
        4 => network().prop_map(Op::Send),
        4 => network().prop_map(Op::Receive),
        1 => network().prop_map(Op::Look),
        1 => network().prop_map(Op::Write),
    ]
}

/// Most of what threads do is about one network, or they would have little to do with each other.
fn one_network() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => Just(Op::Send(0)),
        4 => Just(Op::Receive(0)),
        1 => op(),
    ]
}

fn programs(op: impl Strategy<Value = Op>) -> impl Strategy<Value = Vec<Vec<Op>>> {
    proptest::collection::vec(proptest::collection::vec(op, 0..5), 2..4)
}

/// The same program, but that at each network only one thread receives: wakeup trees do for those.
fn with_one_receiver_each(mut program: Vec<Vec<Op>>) -> Vec<Vec<Op>> {
    for (t, thread) in program.iter_mut().enumerate() {
        for op in thread {
            if let Op::Receive(network) | Op::Look(network) = *op
                && network != t
            {
                *op = Op::Send(network);
            }
        }
    }
    program
}

fn compare_with_plain(program: &[Vec<Op>], window: usize) {
    let Some((plain, most)) = ends(program, window, Reduction::None) else { return };
    for by in [Reduction::SleepSets, Reduction::Source, Reduction::Optimal] {
        let (reduced, executions) = ends(program, window, by).expect("it is no larger");
        assert_eq!(reduced, plain, "{program:?} with a window of {window} by {by:?}");
        assert!(executions <= most, "{program:?}: {executions} by {by:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whoever_can_get_a_datagram_gets_it(program in programs(op()), window in 1..4_usize) {
        compare_with_plain(&program, window);
    }

    #[test]
    fn whoever_receives_alone_gets_what_there_is(
        program in programs(op()),
        window in 2..4_usize
    ) {
        compare_with_plain(&with_one_receiver_each(program), window);
    }

    #[test]
    fn several_may_want_the_same(program in programs(one_network()), window in 2..4_usize) {
        compare_with_plain(&program, window);
    }
}

/// One execution for each delivery: who receives is waited for until all was sent.
#[test]
fn each_delivery_is_explored_once() {
    for packets in 1..=6 {
        let program = [vec![Op::Send(0); packets], vec![Op::Receive(0); packets]];
        let (_, executions) = ends(&program, 2, Reduction::Optimal).unwrap();
        assert_eq!(executions, 1 << (packets - 1), "{packets} packets");
        // With the receiver first, too.
        let program = [vec![Op::Receive(0); packets], vec![Op::Send(0); packets]];
        let (_, executions) = ends(&program, 2, Reduction::Optimal).unwrap();
        assert_eq!(executions, 1 << (packets - 1), "{packets} packets");
    }
}

/// Optimal DPOR missed that the first thread gets the older datagram after it saw what the second one
/// sends, so source sets must do where steps could do something else at another moment.
#[test]
fn who_looked_elsewhere_first_gets_either() {
    let first = vec![Op::Look(1), Op::Receive(0)];
    let program = [first, vec![Op::Receive(0), Op::Send(1)], vec![Op::Send(0), Op::Send(0)]];
    compare_with_plain(&program, 2);
}
