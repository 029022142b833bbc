//! Searches over states against a breadth-first search that shares nothing with them, on random
//! programs with locks, shared variables, choices, loops and failures.

use everypath_dependence::{Choice, Footprint, Mode, Part};
use everypath_schedules::Alternative;
use everypath_schedules::stateful::{Reached, Sleep, StateSearch, Walker};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ops::ControlFlow;

const OBJECTS: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Op {
    Lock(usize),
    Unlock(usize),
    Add(usize),
    Copy(usize, usize),
    /// Any of three values.
    Choose(usize),
    /// Back to the start.
    Back,
    /// Back to the start if the variable is zero.
    BackIfZero(usize),
    /// The whole program ends if the variable is two.
    FailIfTwo(usize),
}

type Program = Vec<Vec<Op>>;

/// Everything that there is to know of a program in the middle of an execution.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Machine {
    next: Vec<usize>,
    owners: [Option<usize>; OBJECTS],
    values: [u16; OBJECTS],
    failed: bool,
}

/// A step that writes these objects.
fn writes(objects: &[usize]) -> Footprint {
    objects.iter().map(|&object| Part { mode: Mode::Write, object: object as u64 }).collect()
}

impl Machine {
    fn new(program: &Program) -> Self {
        let next = vec![0; program.len()];
        Machine { next, owners: [None; OBJECTS], values: [0; OBJECTS], failed: false }
    }

    fn alternatives(&self, program: &Program) -> Vec<Alternative<Footprint>> {
        let all = (0..program.len()).filter(|_| !self.failed);
        all.filter_map(|thread| {
            let (objects, outcomes) = match *program[thread].get(self.next[thread])? {
                Op::Lock(m) if self.owners[m].is_some() => return None,
                Op::Lock(m) | Op::Unlock(m) => (vec![OBJECTS + m], 1),
                Op::Copy(from, to) => (vec![from, to], 1),
                Op::Choose(x) => (vec![x], 3),
                Op::Back => (Vec::new(), 1),
                Op::Add(x) | Op::BackIfZero(x) | Op::FailIfTwo(x) => (vec![x], 1),
            };
            let step = writes(&objects);
            Some(Alternative { thread: thread as u16, timeout: None, outcomes, step })
        })
        .collect()
    }

    fn step(&mut self, program: &Program, choice: Choice) {
        let thread = usize::from(choice.thread);
        let op = program[thread][self.next[thread]];
        self.next[thread] += 1;
        match op {
            Op::Lock(m) => self.owners[m] = Some(thread),
            Op::Unlock(m) if self.owners[m] == Some(thread) => self.owners[m] = None,
            Op::Unlock(_) => {}
            Op::Add(x) => self.values[x] = (self.values[x] + 1) % 3,
            Op::Copy(from, to) => self.values[to] = self.values[from],
            Op::Choose(x) => self.values[x] = choice.outcome,
            Op::Back => self.next[thread] = 0,
            Op::BackIfZero(x) if self.values[x] == 0 => self.next[thread] = 0,
            Op::BackIfZero(_) => {}
            Op::FailIfTwo(x) => self.failed = self.values[x] == 2,
        }
    }
}

/// Goes from state to state of a program, and remembers them all.
struct Interpreter<'a> {
    program: &'a Program,
    path: Vec<Machine>,
    /// The states that were met and their fingerprints.
    seen: BTreeMap<Machine, u128>,
    ends: BTreeSet<Machine>,
}

impl<'a> Interpreter<'a> {
    fn new(program: &'a Program) -> Self {
        let (path, seen, ends) = (Vec::new(), BTreeMap::new(), BTreeSet::new());
        Interpreter { program, path, seen, ends }
    }

    fn reach(&mut self, machine: Machine) -> Result<Reached<Footprint>, Infallible> {
        let alternatives = machine.alternatives(self.program);
        self.path.push(machine.clone());
        if alternatives.is_empty() {
            self.ends.insert(machine);
            return Ok(Reached::End);
        }
        let number = self.seen.len() as u128;
        let fingerprint = *self.seen.entry(machine).or_insert(number);
        Ok(Reached::State { fingerprint, alternatives, complete: true })
    }
}

impl Walker for Interpreter<'_> {
    type Step = Footprint;
    type Error = Infallible;

    fn start(&mut self) -> Result<Reached<Footprint>, Infallible> {
        self.reach(Machine::new(self.program))
    }

    fn take(&mut self, depth: usize, choice: Choice) -> Result<Reached<Footprint>, Infallible> {
        self.path.truncate(depth + 1);
        let mut machine = self.path[depth].clone();
        machine.step(self.program, choice);
        self.reach(machine)
    }
}

/// All states and all ends, found in another way.
fn oracle(program: &Program) -> (BTreeSet<Machine>, BTreeSet<Machine>) {
    let (mut states, mut ends) = (BTreeSet::new(), BTreeSet::new());
    let mut waiting = vec![Machine::new(program)];
    while let Some(machine) = waiting.pop() {
        let alternatives = machine.alternatives(program);
        if alternatives.is_empty() {
            ends.insert(machine);
            continue;
        }
        if !states.insert(machine.clone()) {
            continue;
        }
        for alternative in alternatives {
            for outcome in 0..alternative.outcomes {
                let mut next = machine.clone();
                next.step(program, Choice { thread: alternative.thread, outcome });
                waiting.push(next);
            }
        }
    }
    (states, ends)
}

/// The states and ends that a search finds, and how many steps it takes for that.
fn search(program: &Program, sleep: Sleep) -> (BTreeSet<Machine>, BTreeSet<Machine>, u64) {
    let mut interpreter = Interpreter::new(program);
    let mut search = StateSearch::new(sleep);
    let finished = search.run(&mut interpreter, |_, _, _| ControlFlow::Continue(()));
    assert!(finished.expect("an interpreter never fails"));
    assert_eq!(search.states(), interpreter.seen.len());
    (interpreter.seen.into_keys().collect(), interpreter.ends, search.steps)
}

fn agrees(program: &Program) {
    let (states, ends) = oracle(program);
    let plain = search(program, Sleep::Never);
    assert_eq!((&plain.0, &plain.1), (&states, &ends), "{program:?}");
    let sleeping = search(program, Sleep::Independent);
    assert_eq!((&sleeping.0, &sleeping.1), (&states, &ends), "with sleep sets: {program:?}");
    assert!(sleeping.2 <= plain.2, "{} steps instead of {}", sleeping.2, plain.2);
}

fn operations() -> impl Strategy<Value = Vec<Op>> {
    let object = 0..OBJECTS;
    let block = prop_oneof![
        2 => (object.clone(), object.clone())
            .prop_map(|(m, x)| vec![Op::Lock(m), Op::Add(x), Op::Unlock(m)]),
        1 => (object.clone(), object.clone())
            .prop_map(|(a, b)| vec![Op::Lock(a), Op::Lock(b), Op::Unlock(b), Op::Unlock(a)]),
        2 => object.clone().prop_map(|x| vec![Op::Add(x)]),
        1 => (object.clone(), object.clone()).prop_map(|(from, to)| vec![Op::Copy(from, to)]),
        1 => object.clone().prop_map(|x| vec![Op::Choose(x)]),
        1 => object.clone().prop_map(|x| vec![Op::BackIfZero(x)]),
        1 => Just(vec![Op::Back]),
        1 => object.prop_map(|x| vec![Op::FailIfTwo(x)]),
    ];
    proptest::collection::vec(block, 0..4).prop_map(|blocks| blocks.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_state_and_every_end_is_found(program in proptest::collection::vec(operations(), 1..4)) {
        agrees(&program);
    }
}

#[test]
fn independent_steps_need_as_many_steps_as_states() {
    let program: Program = (0..OBJECTS).map(|x| vec![Op::Add(x); 6]).collect();
    let (states, ends) = oracle(&program);
    assert_eq!((states.len(), ends.len()), (7 * 7 * 7 - 1, 1));
    agrees(&program);
    assert_eq!(search(&program, Sleep::Never).2, 3 * 6 * 49);
    assert_eq!(search(&program, Sleep::Independent).2, 7 * 7 * 7 - 1);
}

#[test]
fn going_round_is_noticed() {
    for sleep in [Sleep::Never, Sleep::Independent] {
        let cycles = |program: Program| {
            let mut search = StateSearch::new(sleep);
            let mut interpreter = Interpreter::new(&program);
            let finished = search.run(&mut interpreter, |_, _, _| ControlFlow::Continue(()));
            assert!(finished.expect("an interpreter never fails"));
            search.cycles
        };
        assert_eq!(cycles(vec![vec![Op::Add(0), Op::Add(0)], vec![Op::Add(0)]]), 0);
        assert!(cycles(vec![vec![Op::Add(0), Op::Back], vec![Op::Add(1)]]) > 0);
    }
}

#[test]
fn steps_that_footprints_do_not_tell_of_never_sleep() {
    struct Untold<'a>(Interpreter<'a>);
    impl Walker for Untold<'_> {
        type Step = Footprint;
        type Error = Infallible;

        fn start(&mut self) -> Result<Reached<Footprint>, Infallible> {
            self.0.start().map(untold)
        }

        fn take(&mut self, depth: usize, choice: Choice) -> Result<Reached<Footprint>, Infallible> {
            self.0.take(depth, choice).map(untold)
        }
    }
    fn untold(reached: Reached<Footprint>) -> Reached<Footprint> {
        match reached {
            Reached::State { fingerprint, alternatives, .. } => {
                Reached::State { fingerprint, alternatives, complete: false }
            }
            Reached::End => Reached::End,
        }
    }
    let program: Program = (0..OBJECTS).map(|x| vec![Op::Add(x); 3]).collect();
    let mut search = StateSearch::new(Sleep::Independent);
    let mut interpreter = Untold(Interpreter::new(&program));
    let walked = search.run(&mut interpreter, |_, _, _| ControlFlow::Continue(()));
    assert!(walked.expect("an interpreter never fails"));
    assert_eq!(search.steps, 3 * 3 * 16);
}

/// A graph by hand: for each state, the threads that can go on, the objects they touch and where
/// they lead. The last state is the end.
struct Graph {
    steps: Vec<Vec<(u16, Vec<usize>, usize)>>,
    path: Vec<usize>,
    taken: Vec<(usize, u16)>,
}

impl Graph {
    fn reach(&mut self, state: usize) -> Result<Reached<Footprint>, Infallible> {
        self.path.push(state);
        let Some(steps) = self.steps.get(state) else { return Ok(Reached::End) };
        let alternative = |(thread, objects, _): &(u16, Vec<usize>, usize)| Alternative {
            thread: *thread,
            timeout: None,
            outcomes: 1,
            step: writes(objects),
        };
        let alternatives = steps.iter().map(alternative).collect();
        Ok(Reached::State { fingerprint: state as u128, alternatives, complete: true })
    }
}

impl Walker for Graph {
    type Step = Footprint;
    type Error = Infallible;

    fn start(&mut self) -> Result<Reached<Footprint>, Infallible> {
        self.reach(0)
    }

    fn take(&mut self, depth: usize, choice: Choice) -> Result<Reached<Footprint>, Infallible> {
        self.path.truncate(depth + 1);
        let state = self.path[depth];
        self.taken.push((state, choice.thread));
        let step = self.steps[state].iter().find(|step| step.0 == choice.thread);
        let next = step.expect("only what is there is chosen").2;
        self.reach(next)
    }
}

#[test]
fn a_step_that_slept_is_taken_where_it_is_met_awake() {
    // Thread 0 sleeps in state 2 after thread 1 led there, and is awake after thread 2 did.
    let steps = vec![
        vec![(0, vec![0], 1), (1, vec![1], 2), (2, vec![0, 1], 2)],
        vec![(1, vec![1], 3)],
        vec![(0, vec![0], 3)],
    ];
    let mut graph = Graph { steps, path: Vec::new(), taken: Vec::new() };
    let mut search = StateSearch::new(Sleep::Independent);
    let walked = search.run(&mut graph, |_, _, _| ControlFlow::Continue(()));
    assert!(walked.expect("a graph never fails"));
    assert_eq!(graph.taken, [(0, 0), (1, 1), (0, 1), (0, 2), (2, 0)]);
    assert_eq!((search.matched, search.ends), (1, 2));
}
