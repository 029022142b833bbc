//! Small concurrent programs with the synchronisation of the native machine: requesting a lock is
//! always enabled, requests are granted in their order, a signal chooses the waiter that it wakes, and
//! waits with a timeout have deadlines, which pass by one of the three modes.

use crate::interpreter;
use everypath_schedules::{Alternative, Taken};
use everypath_shim_abi::{
    Choice, CondMutex, Enabled, Footprint, Object, Operation, Overflow, Ownership, Phase,
    ProcessEnd, Step, TIMEOUT, TimeMode,
};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Lock(u8),
    Unlock(u8),
    TryLock(u8),
    Write(u8),
    Wait(u8, u8),
    Signal(u8),
    Broadcast(u8),
    Take(u8),
    Post(u8),
    TryTake(u8),
    Read(u8),
    /// As `Lock` and `Take`, but gives up after some time.
    LockFor(u8, u8),
    TakeFor(u8, u8),
    /// Sleeps for some time.
    Sleep(u8),
    /// Reads the clock.
    Clock,
    /// Ends the program, whatever others do.
    End,
}

impl Op {
    pub(crate) fn is_limited(self) -> bool {
        self.patience().is_some()
    }

    /// For how long it waits, if not for ever.
    fn patience(self) -> Option<u8> {
        match self {
            Op::LockFor(_, time) | Op::TakeFor(_, time) | Op::Sleep(time) => Some(time),
            _ => None,
        }
    }
}

/// A step that is enabled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    footprint: Footprint,
    is_last: bool,
}

impl Enabled for Pending {
    fn footprint(&self) -> Footprint {
        self.footprint
    }

    fn comes_last(&self) -> bool {
        self.is_last
    }
}

#[derive(Clone, Debug, Default)]
struct Thread {
    next: usize,
    /// What it waits for: a kind and a number, and its place in the queue.
    waits: Option<(char, u8, usize)>,
    /// Its next step is to go on after having waited.
    resumes: bool,
    /// The step that let it go on.
    granted_by: Option<usize>,
    /// Asked for a mutex in the middle of a wait on a condition.
    relocks: bool,
    /// When it gives up waiting.
    deadline: u64,
}

/// A program in the middle of an execution.
#[derive(Clone, Debug)]
struct Machine {
    threads: Vec<Thread>,
    owners: Vec<Option<usize>>,
    /// For each semaphore, the steps that put its units in.
    semaphores: Vec<VecDeque<usize>>,
    /// For each variable, who wrote it in which order.
    written: Vec<Vec<usize>>,
    tries: Vec<(usize, bool)>,
    /// For each thread, how often what it read had been written.
    seen: Vec<Vec<usize>>,
    /// The step that put in what the last one took out at once.
    provided_by: Option<usize>,
    /// How many steps were taken.
    steps: usize,
    ended: bool,
    mode: TimeMode,
    clock: u64,
}

/// Giving up depends on everything.
fn gives_up() -> Footprint {
    let resumes = Step::new(Operation::SemWait, Phase::Resume, Object::NONE);
    Step { timed_out: true, ..resumes }.footprint()
}

const OBJECTS: usize = 3;

impl Machine {
    fn new(threads: usize, mode: TimeMode) -> Self {
        Machine {
            threads: vec![Thread::default(); threads],
            owners: vec![None; OBJECTS],
            semaphores: vec![VecDeque::new(); OBJECTS],
            written: vec![Vec::new(); OBJECTS],
            tries: Vec::new(),
            seen: vec![Vec::new(); threads],
            provided_by: None,
            steps: 0,
            ended: false,
            mode,
            clock: 0,
        }
    }

    fn waiters(&self, kind: char, object: u8) -> Vec<usize> {
        let mut all: Vec<(usize, usize)> = (0..self.threads.len())
            .filter_map(|t| {
                let (k, o, place) = self.threads[t].waits?;
                (k == kind && o == object).then_some((place, t))
            })
            .collect();
        all.sort_unstable();
        all.into_iter().map(|(_, t)| t).collect()
    }

    fn wait(&mut self, thread: usize, kind: char, object: u8) {
        let place = self.waiters(kind, object).len() + 1;
        let last = self
            .waiters(kind, object)
            .last()
            .map_or(0, |&t| self.threads[t].waits.map_or(0, |w| w.2));
        self.threads[thread].waits = Some((kind, object, place.max(last + 1)));
    }

    fn grant(&mut self, thread: usize) {
        self.threads[thread].waits = None;
        self.threads[thread].resumes = true;
        self.threads[thread].granted_by = Some(self.steps);
    }

    fn release(&mut self, mutex: u8) {
        self.owners[usize::from(mutex)] = self.waiters('m', mutex).first().copied();
        if let Some(next) = self.owners[usize::from(mutex)] {
            self.grant(next);
        }
    }

    /// Takes the mutex or queues for it; whether it was got at once.
    fn acquire(&mut self, thread: usize, mutex: u8) -> bool {
        let free = self.owners[usize::from(mutex)].is_none();
        if free {
            self.owners[usize::from(mutex)] = Some(thread);
        } else {
            self.wait(thread, 'm', mutex);
        }
        free
    }

    /// Takes a unit or queues for one; whether it was got at once.
    fn take_unit(&mut self, thread: usize, semaphore: u8) -> bool {
        self.provided_by = self.semaphores[usize::from(semaphore)].pop_front();
        if self.provided_by.is_none() {
            self.wait(thread, 's', semaphore);
        }
        self.provided_by.is_some()
    }

    /// Wakes one of the threads that wait for a condition.
    fn signal(&mut self, condition: u8, outcome: u16) {
        let mut waiters = self.waiters('c', condition);
        waiters.sort_unstable();
        if let Some(&waiter) = waiters.get(usize::from(outcome)) {
            self.grant(waiter);
        }
    }

    /// A thread's next step.
    fn pending(&self, program: &[Vec<Op>], t: usize) -> Option<Step> {
        let thread = &self.threads[t];
        let op = *program[t].get(thread.next)?;
        if thread.waits.is_some() {
            return None;
        }
        let phase = match thread.resumes {
            true => Phase::Resume,
            false if op.is_limited() && self.mode == TimeMode::Quiescent => Phase::Patient,
            false if op.is_limited() => Phase::Limited,
            false => Phase::Request,
        };
        let object = |kind: u64, n: u8| Object::memory(0, (kind * 100 + u64::from(n) + 8) * 64);
        let end = ProcessEnd { code: 0, is_unnoticed: false };
        let (operation, object) = match op {
            Op::Wait(_, m) if thread.relocks => (Operation::MutexLock, object(1, m)),
            Op::Lock(m) | Op::LockFor(m, _) => (Operation::MutexLock, object(1, m)),
            Op::Unlock(m) => (Operation::MutexUnlock(Ownership::Owner), object(1, m)),
            Op::TryLock(m) => (Operation::MutexTrylock, object(1, m)),
            Op::Write(x) => (Operation::FetchModify, object(2, x)),
            Op::Wait(c, m) => (Operation::CondWait(CondMutex::owned(object(1, m))), object(3, c)),
            Op::Signal(c) => (Operation::CondSignal, object(3, c)),
            Op::Broadcast(c) => (Operation::CondBroadcast, object(3, c)),
            Op::Take(s) | Op::TakeFor(s, _) => (Operation::SemWait, object(4, s)),
            // No program sees that a clock was read; it is a step here, so that it may come at any time.
            Op::Clock => (Operation::Yield, Object::NONE),
            Op::Sleep(_) => (Operation::Sleep(0), Object::NONE),
            Op::End => (Operation::ProcessExit(end), Object::NONE),
            Op::Read(x) => (Operation::OnceSeen, object(2, x)),
            Op::Post(s) => (Operation::SemPost(Overflow::Impossible), object(4, s)),
            Op::TryTake(s) => (Operation::SemTrywait, object(4, s)),
        };
        Some(Step::new(operation, phase, object))
    }

    fn outcomes(&self, program: &[Vec<Op>], t: usize) -> u16 {
        match program[t][self.threads[t].next] {
            Op::Signal(c) => self.waiters('c', c).len().max(1) as u16,
            _ => 1,
        }
    }

    /// Whether a thread waits for some time only.
    fn waits_for_some_time(&self, program: &[Vec<Op>], t: usize) -> bool {
        let thread = &self.threads[t];
        thread.waits.is_some() && program[t].get(thread.next).is_some_and(|op| op.is_limited())
    }

    /// The threads that can give up waiting: all, those with the earliest deadline, or those only if
    /// no thread can go on.
    fn can_give_up(&self, program: &[Vec<Op>]) -> Vec<usize> {
        let limited: Vec<usize> =
            (0..program.len()).filter(|&t| self.waits_for_some_time(program, t)).collect();
        let earliest = limited.iter().map(|&t| self.threads[t].deadline).min();
        let is_first = |&t: &usize| Some(self.threads[t].deadline) == earliest;
        match self.mode {
            TimeMode::Any => limited,
            TimeMode::Quiescent if !self.is_quiescent(program) => Vec::new(),
            _ => limited.into_iter().filter(is_first).collect(),
        }
    }

    fn is_quiescent(&self, program: &[Vec<Op>]) -> bool {
        !(0..program.len()).any(|t| self.pending(program, t).is_some())
    }

    /// Everything that can be done next.
    fn alternatives(&self, program: &[Vec<Op>]) -> Vec<Alternative<Pending>> {
        if self.ended {
            return Vec::new();
        }
        let steps = (0..program.len()).filter_map(|t| {
            let footprint = self.pending(program, t)?.footprint();
            let outcomes = self.outcomes(program, t);
            let thread = t as u16;
            let step = Pending { footprint, is_last: false };
            Some(Alternative { thread, timeout: None, outcomes, step })
        });
        let is_last = self.mode == TimeMode::Quiescent;
        let gives_up = self.can_give_up(program).into_iter().map(|t| Alternative {
            thread: t as u16,
            timeout: Some(TIMEOUT),
            outcomes: 1,
            step: Pending { footprint: gives_up(), is_last },
        });
        steps.chain(gives_up).collect()
    }

    /// Lets a thread give up waiting: what needs the mutex that it has not got is skipped.
    fn give_up(&mut self, program: &[Vec<Op>], t: usize) {
        let next = self.threads[t].next;
        let skipped = match program[t][next] {
            Op::LockFor(m, _) => {
                program[t][next..].iter().position(|&op| op == Op::Unlock(m)).unwrap_or(0)
            }
            _ => 0,
        };
        self.clock = self.clock.max(self.threads[t].deadline);
        self.threads[t].waits = None;
        self.threads[t].next += 1 + skipped;
        self.tries.push((t, false));
    }

    /// Takes a thread's next step; whether what it asked for it got at once.
    fn step(&mut self, program: &[Vec<Op>], t: usize, outcome: u16) -> bool {
        let op = program[t][self.threads[t].next];
        if std::mem::take(&mut self.threads[t].resumes) {
            if let Op::Wait(_, m) = op
                && !self.threads[t].relocks
            {
                self.threads[t].relocks = true;
                if !self.acquire(t, m) {
                    return false;
                }
            }
            self.threads[t].relocks = false;
            self.threads[t].next += 1;
            return true;
        }
        let mut granted = true;
        self.threads[t].deadline = self.clock + u64::from(op.patience().unwrap_or(0));
        match op {
            Op::Lock(m) | Op::LockFor(m, _) => granted = self.acquire(t, m),
            Op::Unlock(m) => {
                // Only who holds a mutex gives it back.
                if self.owners[usize::from(m)] == Some(t) {
                    self.release(m);
                }
            }
            Op::TryLock(m) => {
                let free = self.owners[usize::from(m)].is_none();
                self.tries.push((t, free));
                if free {
                    self.owners[usize::from(m)] = Some(t);
                    // And gives it back at once, or programs would rarely end.
                    self.release(m);
                }
            }
            Op::Write(x) => self.written[usize::from(x)].push(t),
            Op::End => self.ended = true,
            Op::Read(x) => self.seen[t].push(self.written[usize::from(x)].len()),
            Op::Wait(c, m) => {
                if self.owners[usize::from(m)] == Some(t) {
                    self.release(m);
                    self.wait(t, 'c', c);
                    granted = false;
                }
            }
            Op::Signal(c) => self.signal(c, outcome),
            Op::Broadcast(c) => {
                for waiter in self.waiters('c', c) {
                    self.grant(waiter);
                }
            }
            Op::Clock => self.seen[t].push(self.clock as usize),
            Op::Sleep(_) => {
                self.wait(t, 't', t as u8);
                granted = false;
            }
            Op::Take(s) | Op::TakeFor(s, _) => granted = self.take_unit(t, s),
            Op::TryTake(s) => {
                let taken = self.semaphores[usize::from(s)].pop_front();
                self.tries.push((t, taken.is_some()));
            }
            Op::Post(s) => match self.waiters('s', s).first() {
                Some(&waiter) => self.grant(waiter),
                None => self.semaphores[usize::from(s)].push_back(self.steps),
            },
        }
        if granted {
            self.threads[t].next += 1;
        }
        granted
    }

    /// Does what was chosen.
    fn take(&mut self, program: &[Vec<Op>], choice: Choice) -> Taken {
        let t = usize::from(choice.thread);
        if choice.outcome == TIMEOUT {
            self.give_up(program, t);
            self.steps += 1;
            return Taken {
                choice,
                footprint: gives_up(),
                may_touch: None,
                creates: None,
                after: None,
                provided_by: None,
                resumes: false,
                comes_last: self.mode == TimeMode::Quiescent,
            };
        }
        let step = self.pending(program, t).expect("the schedule is possible");
        let after = self.threads[t].granted_by.filter(|_| step.phase == Phase::Resume);
        self.provided_by = None;
        let granted = self.step(program, t, choice.outcome);
        self.steps += 1;
        let footprint = Step { granted, ..step }.footprint();
        let resumes = step.phase == Phase::Resume;
        Taken {
            choice,
            footprint,
            may_touch: None,
            creates: None,
            after,
            provided_by: self.provided_by,
            resumes,
            comes_last: false,
        }
    }

    /// What can be seen at the end.
    fn end(&self, program: &[Vec<Op>]) -> String {
        let pc = |(thread, ops): (&Thread, &Vec<Op>)| {
            let waits = matches!(ops.get(thread.next), Some(Op::Wait(..)));
            // Who has been granted a lock has it, whether it went on or not.
            thread.next + usize::from(thread.resumes && (!waits || thread.relocks))
        };
        let pcs: Vec<usize> = self.threads.iter().zip(program).map(pc).collect();
        let mut tries = self.tries.clone();
        tries.sort_by_key(|&(t, _)| t);
        let units: Vec<usize> = self.semaphores.iter().map(VecDeque::len).collect();
        format!("{pcs:?} {:?} {tries:?} {units:?} {:?}", self.written, self.seen)
    }
}

/// A program that is being executed.
#[derive(Clone, Debug)]
pub(crate) struct Running<'a> {
    program: &'a [Vec<Op>],
    machine: Machine,
}

impl<'a> Running<'a> {
    pub(crate) fn new(program: &'a [Vec<Op>], mode: TimeMode) -> Self {
        Running { program, machine: Machine::new(program.len(), mode) }
    }
}

impl interpreter::Machine for Running<'_> {
    type Step = Pending;

    fn alternatives(&self) -> Vec<Alternative<Pending>> {
        self.machine.alternatives(self.program)
    }

    fn take(&mut self, choice: Choice) -> Taken {
        self.machine.take(self.program, choice)
    }

    fn end(&self) -> String {
        self.machine.end(self.program)
    }
}
