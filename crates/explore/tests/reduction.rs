//! Reduced searches against the plain one, on random small concurrent programs.
//!
//! The programs are interpreted here, with the synchronisation of the native machine: asking for a
//! lock is always possible, who asks first gets it first, a signal chooses whom it wakes.

use everypath_explore::reduction::happens_before::HappensBefore;
use everypath_explore::reduction::{
    self, Alternative, Choice, Ended, Executed, Executor, Reduction, Stateless, Taken,
};
use everypath_shim_abi::{Footprint, Mode, Operation, Part, Phase, Relation};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::ControlFlow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Lock(u8),
    Unlock(u8),
    TryLock(u8),
    Write(u8),
    Wait(u8, u8),
    Signal(u8),
    Broadcast(u8),
    Take(u8),
    Post(u8),
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
}

/// A program in the middle of an execution.
#[derive(Clone, Debug)]
struct Machine {
    threads: Vec<Thread>,
    owners: Vec<Option<usize>>,
    semaphores: Vec<u32>,
    /// For each variable, who wrote it in which order.
    written: Vec<Vec<usize>>,
    tries: Vec<(usize, bool)>,
    /// How many steps were taken.
    steps: usize,
}

#[derive(Clone, Debug)]
struct Touch(Footprint);

impl reduction::Footprint for Touch {
    type Part = Part;
    fn parts(&self) -> Vec<Part> {
        self.0.parts().collect()
    }
    fn is_separable(part: Part) -> bool {
        part.mode == Mode::Acquire
    }

    fn relation(earlier: Part, later: Part) -> reduction::Relation {
        match earlier.relation(later) {
            Relation::Independent => reduction::Relation::Independent,
            Relation::Ordered => reduction::Relation::Ordered,
            Relation::Racing => reduction::Relation::Racing,
        }
    }
    fn commutes(&self, other: &Self) -> bool {
        self.0.commutes(&other.0)
    }
    fn is_everything(&self) -> bool {
        self.0.is_everything()
    }
}

const OBJECTS: usize = 3;

impl Machine {
    fn new(threads: usize) -> Self {
        Machine {
            threads: vec![Thread::default(); threads],
            owners: vec![None; OBJECTS],
            semaphores: vec![0; OBJECTS],
            written: vec![Vec::new(); OBJECTS],
            tries: Vec::new(),
            steps: 0,
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

    /// The operation, phase, object and value of a thread's next step.
    fn pending(&self, program: &[Vec<Op>], t: usize) -> Option<(Operation, Phase, u64, u64)> {
        let thread = &self.threads[t];
        let op = *program[t].get(thread.next)?;
        if thread.waits.is_some() {
            return None;
        }
        let phase = if thread.resumes { Phase::Resume } else { Phase::Request };
        let object = |kind: u64, n: u8| kind * 100 + u64::from(n) + 8;
        Some(match op {
            Op::Wait(_, m) if thread.relocks => (Operation::MutexLock, phase, object(1, m), 0),
            Op::Lock(m) => (Operation::MutexLock, phase, object(1, m), 0),
            Op::Unlock(m) => (Operation::MutexUnlock, phase, object(1, m), 0),
            Op::TryLock(m) => (Operation::MutexTrylock, phase, object(1, m), 0),
            Op::Write(x) => (Operation::FetchModify, phase, object(2, x), 0),
            Op::Wait(c, m) => (Operation::CondWait, phase, object(3, c), object(1, m)),
            Op::Signal(c) => (Operation::CondSignal, phase, object(3, c), 0),
            Op::Broadcast(c) => (Operation::CondBroadcast, phase, object(3, c), 0),
            Op::Take(s) => (Operation::SemWait, phase, object(4, s), 0),
            Op::Post(s) => (Operation::SemPost, phase, object(4, s), 0),
        })
    }

    fn outcomes(&self, program: &[Vec<Op>], t: usize) -> u16 {
        match program[t][self.threads[t].next] {
            Op::Signal(c) => self.waiters('c', c).len().max(1) as u16,
            _ => 1,
        }
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
        match op {
            Op::Lock(m) => granted = self.acquire(t, m),
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
            Op::Wait(c, m) => {
                if self.owners[usize::from(m)] == Some(t) {
                    self.release(m);
                    self.wait(t, 'c', c);
                    granted = false;
                }
            }
            Op::Signal(c) => {
                let mut waiters = self.waiters('c', c);
                waiters.sort_unstable();
                if let Some(&waiter) = waiters.get(usize::from(outcome)) {
                    self.grant(waiter);
                }
            }
            Op::Broadcast(c) => {
                for waiter in self.waiters('c', c) {
                    self.grant(waiter);
                }
            }
            Op::Take(s) => {
                let value = &mut self.semaphores[usize::from(s)];
                if *value > 0 {
                    *value -= 1;
                } else {
                    self.wait(t, 's', s);
                    granted = false;
                }
            }
            Op::Post(s) => match self.waiters('s', s).first() {
                Some(&waiter) => self.grant(waiter),
                None => self.semaphores[usize::from(s)] += 1,
            },
        }
        if granted {
            self.threads[t].next += 1;
        }
        granted
    }

    /// What can be seen at the end.
    fn end(&self) -> String {
        let pcs: Vec<usize> = self.threads.iter().map(|thread| thread.next).collect();
        let mut tries = self.tries.clone();
        tries.sort_by_key(|&(t, _)| t);
        format!("{pcs:?} {:?} {tries:?} {:?}", self.written, self.semaphores)
    }
}

struct Interpreter<'a> {
    program: &'a [Vec<Op>],
    end: String,
}

impl Executor for Interpreter<'_> {
    type Footprint = Touch;
    type Error = Infallible;

    fn run(
        &mut self,
        schedule: &[Choice],
        sleep: &[Alternative<Touch>],
    ) -> Result<Executed<Touch>, Infallible> {
        let mut machine = Machine::new(self.program.len());
        let mut sleep = sleep.to_vec();
        let (mut steps, mut alternatives) = (Vec::new(), Vec::new());
        let mut ended = Ended::Complete;
        let mut current = 0;
        loop {
            let can: Vec<Alternative<Touch>> = (0..self.program.len())
                .filter_map(|t| {
                    let (operation, phase, object, value) = machine.pending(self.program, t)?;
                    let footprint = Footprint::new((operation, phase), (object, value), 0, true);
                    let outcomes = machine.outcomes(self.program, t);
                    let (actor, by_itself) = (t as u16, None);
                    Some(Alternative { actor, by_itself, outcomes, footprint: Touch(footprint) })
                })
                .collect();
            if can.is_empty() {
                break;
            }
            let choice = match schedule.get(steps.len()) {
                Some(&choice) => choice,
                None => {
                    let awake = |a: &&Alternative<Touch>| !sleep.iter().any(|s| s.actor == a.actor);
                    let first =
                        can.iter().filter(awake).min_by_key(|a| (a.actor != current, a.actor));
                    let Some(first) = first else {
                        ended = Ended::Redundant;
                        break;
                    };
                    let taken = first.footprint.0;
                    sleep.retain(|s| s.footprint.0.commutes(&taken));
                    let choice = Choice { actor: first.actor, outcome: 0 };
                    alternatives.push(can);
                    choice
                }
            };
            let t = usize::from(choice.actor);
            current = choice.actor;
            let (operation, phase, object, value) =
                machine.pending(self.program, t).expect("the schedule is possible");
            let after = machine.threads[t].granted_by.filter(|_| phase == Phase::Resume);
            let granted = machine.step(self.program, t, choice.outcome);
            machine.steps += 1;
            let footprint = Footprint::new((operation, phase), (object, value), 0, granted);
            steps.push(Taken { choice, footprint: Touch(footprint), creates: None, after });
        }
        self.end = machine.end();
        Ok(Executed { steps, alternatives, ended })
    }
}

#[derive(Debug, Default)]
struct Outcomes {
    executions: u64,
    complete: u64,
    ends: BTreeSet<String>,
    classes: BTreeSet<String>,
}

const TOO_MANY: u64 = 20_000;

fn search(program: &[Vec<Op>], reduction: Reduction) -> Option<Outcomes> {
    let mut outcomes = Outcomes::default();
    let mut interpreter = Interpreter { program, end: String::new() };
    let mut stateless = Stateless::new(reduction);
    let finished = stateless.run(&mut interpreter, |interpreter, executed| {
        outcomes.executions += 1;
        if executed.ended == Ended::Complete {
            outcomes.complete += 1;
            outcomes.ends.insert(interpreter.end.clone());
            let mut order: HappensBefore<Part> = HappensBefore::default();
            // Every thread is there from the start, in the same order.
            let start = Footprint::new((Operation::Start, Phase::Request), (0, 0), 0, true);
            for actor in 0..program.len() as u16 {
                let choice = Choice { actor, outcome: 0 };
                let footprint = Touch(start);
                order.push(&Taken { choice, footprint, creates: None, after: None });
            }
            for step in &executed.steps {
                let after = step.after.map(|step| step + program.len());
                order.push(&Taken { after, ..step.clone() });
            }
            let class = order.class();
            assert!(class.iter().flatten().all(|(part, _)| part.mode != Mode::Everything));
            // Getting a lock at once or after having waited is the same.
            let clocks: Vec<Vec<&Vec<u32>>> =
                class.iter().map(|nodes| nodes.iter().map(|(_, clock)| clock).collect()).collect();
            outcomes.classes.insert(format!("{clocks:?}"));
        }
        if outcomes.executions > TOO_MANY {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    finished.expect("an interpreter never fails").then_some(outcomes)
}

fn agrees(program: &[Vec<Op>]) -> bool {
    let Some(plain) = search(program, Reduction::None) else { return false };
    let reduced = search(program, Reduction::Dpor).expect("a reduced search is no larger");
    assert_eq!(reduced.ends, plain.ends, "final states of {program:?}");
    let missing: Vec<_> = plain.classes.difference(&reduced.classes).collect();
    assert!(
        missing.is_empty(),
        "{} classes of {program:?} are missing: {missing:?}",
        missing.len()
    );
    assert_eq!(reduced.complete, plain.classes.len() as u64, "each class once: {program:?}");
    true
}

fn operations() -> impl Strategy<Value = Vec<Op>> {
    let object = 0..OBJECTS as u8;
    let block = prop_oneof![
        3 => (object.clone(), object.clone())
            .prop_map(|(m, x)| vec![Op::Lock(m), Op::Write(x), Op::Unlock(m)]),
        1 => (object.clone(), object.clone()).prop_map(|(a, b)| {
            vec![Op::Lock(a), Op::Lock(b), Op::Unlock(b), Op::Unlock(a)]
        }),
        2 => object.clone().prop_map(|x| vec![Op::Write(x)]),
        1 => object.clone().prop_map(|m| vec![Op::TryLock(m)]),
        1 => (object.clone(), object.clone())
            .prop_map(|(m, c)| vec![Op::Lock(m), Op::Wait(c, m), Op::Unlock(m)]),
        1 => object.clone().prop_map(|c| vec![Op::Signal(c)]),
        1 => object.clone().prop_map(|c| vec![Op::Broadcast(c)]),
        1 => object.clone().prop_map(|s| vec![Op::Take(s)]),
        1 => object.prop_map(|s| vec![Op::Post(s)]),
    ];
    proptest::collection::vec(block, 0..3).prop_map(|blocks| blocks.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_shrink_iters: 5000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reduction_loses_nothing(program in proptest::collection::vec(operations(), 1..4)) {
        agrees(&program);
    }
}

#[test]
fn philosophers_deadlock_in_one_class() {
    let dine = |a, b| vec![Op::Lock(a), Op::Lock(b), Op::Unlock(b), Op::Unlock(a)];
    let two = [dine(0, 1), dine(1, 0)];
    assert!(agrees(&two));
    let outcomes = search(&two, Reduction::Dpor).unwrap();
    assert_eq!((outcomes.complete, outcomes.ends.len()), (3, 2));
    // Each of three forks is asked for in one of two orders, but not all by the second hand first.
    let outcomes = search(&[dine(0, 1), dine(1, 2), dine(2, 0)], Reduction::Dpor).unwrap();
    assert_eq!((outcomes.complete, outcomes.ends.len()), (7, 2));
}
