//! Reduced searches against the plain one, on random small concurrent programs.

mod machine;

use crate::interpreter::Interpreter;
use everypath_schedules::happens_before::{Clocked, HappensBefore};
use everypath_schedules::{
    Alternative, Executed, ExecutionEnd, Executor, Reduction, Run, ScheduleSearch, SearchEnd, Taken,
};
use everypath_shim_abi::{Choice, Mode, Object, Operation, Part, Phase, Step, TimeMode};
use machine::{Op, Pending, Running};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ops::{ControlFlow, Range};

#[derive(Debug, Default)]
struct Outcomes {
    executions: u64,
    complete: u64,
    ends: BTreeSet<String>,
    classes: BTreeSet<String>,
    /// Whether optimal DPOR does not support the program.
    by_source_sets: bool,
}

const ALL: [Reduction; 4] =
    [Reduction::None, Reduction::SleepSets, Reduction::Source, Reduction::Optimal];

/// A search that is larger is not compared.
const TOO_MANY: u64 = 4_000;

fn search(program: &[Vec<Op>], reduction: Reduction) -> Option<Outcomes> {
    search_in(TimeMode::Ordered, program, reduction)
}

/// Searches a program whose time-outs fire by a mode.
fn search_in(mode: TimeMode, program: &[Vec<Op>], reduction: Reduction) -> Option<Outcomes> {
    let mut outcomes = Outcomes::default();
    let mut interpreter = Interpreter::new(Running::new(program, mode));
    let mut schedules = ScheduleSearch::new(reduction);
    let finished = schedules.run(&mut interpreter, |_, interpreter, executed| {
        outcomes.executions += 1;
        if executed.ended == ExecutionEnd::Complete {
            outcomes.complete += 1;
            outcomes.ends.insert(interpreter.end.clone());
            let mut order: HappensBefore = HappensBefore::default();
            // Every thread is there from the start, in the same order.
            let start = Step::new(Operation::Start, Phase::Request, Object::NONE).footprint();
            for thread in 0..program.len() as u16 {
                order.push(&Taken {
                    choice: Choice { thread, outcome: 0 },
                    footprint: start,
                    may_touch: None,
                    creates: None,
                    after: None,
                    provided_by: None,
                    resumes: false,
                    comes_last: false,
                });
            }
            for step in &executed.steps {
                let after = step.after.map(|step| step + program.len());
                let provided_by = step.provided_by.map(|step| step + program.len());
                order.push(&Taken { after, provided_by, ..step.clone() });
            }
            outcomes.classes.insert(format!("{:?}", class(&order)));
        }
        if outcomes.executions > TOO_MANY {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    match finished.expect("an interpreter never fails") {
        SearchEnd::Complete => Some(outcomes),
        SearchEnd::Stopped => None,
        SearchEnd::NeedsSourceSets => {
            let by_source_sets = search_in(mode, program, Reduction::Source);
            by_source_sets.map(|outcomes| Outcomes { by_source_sets: true, ..outcomes })
        }
    }
}

/// What equivalent executions have in common: how many events of each thread come before each event.
/// Getting something is not counted, since it may happen at once or after having waited.
fn class(order: &HappensBefore) -> Vec<Vec<Vec<usize>>> {
    let class = order.class();
    let counts = |parts: &[Part]| !matches!(parts[0].mode, Mode::Acquire | Mode::Nothing);
    let counted = |(thread, &events): (usize, &u32)| {
        let before = &class[thread][..events as usize];
        before.iter().filter(|(parts, _)| counts(parts)).count()
    };
    let project = |clock: &[u32]| clock.iter().enumerate().map(counted).collect();
    let of = |events: &Vec<Clocked<'_>>| {
        events.iter().filter(|(parts, _)| counts(parts)).map(|(_, clock)| project(clock)).collect()
    };
    class.iter().map(of).collect()
}

/// Compares the reduced searches with the plain one, unless that is too large.
fn compare_with_plain(program: &[Vec<Op>]) -> bool {
    compare_in(TimeMode::Ordered, program)
}

/// The same with time-outs that fire by a mode.
fn compare_in(mode: TimeMode, program: &[Vec<Op>]) -> bool {
    let Some(plain) = search_in(mode, program, Reduction::None) else { return false };
    for reduction in [Reduction::SleepSets, Reduction::Source, Reduction::Optimal] {
        let reduced = search_in(mode, program, reduction).expect("a reduced search is no larger");
        assert_eq!(reduced.ends, plain.ends, "final states of {program:?} by {reduction:?}");
        let missing = plain.classes.difference(&reduced.classes).count();
        assert_eq!(missing, 0, "classes of {program:?} are missing by {reduction:?}");
        let classes = plain.classes.len() as u64;
        // What gives up or ends may do so before or after somebody goes on.
        let is_late = |op: &Op| op.is_limited() && mode != TimeMode::Quiescent || *op == Op::End;
        let ends = program.iter().flatten().any(is_late);
        let once = reduced.complete == classes || ends;
        assert!(once, "{} for {classes} classes: {program:?} by {reduction:?}", reduced.complete);
    }
    true
}

/// The schedules of a search, each with its number of preemptions; unless they are too many.
fn schedules(
    program: &[Vec<Op>],
    mut search: ScheduleSearch<Pending>,
) -> Option<BTreeMap<Vec<Choice>, usize>> {
    let mut interpreter = Interpreter::new(Running::new(program, TimeMode::Ordered));
    let mut schedules = BTreeMap::new();
    let finished = search.run(&mut interpreter, |_, interpreter, executed| {
        let schedule: Vec<Choice> = executed.steps.iter().map(|step| step.choice).collect();
        let Ok(whole) = interpreter.run(&schedule, 0, &[]);
        let could_go_on = |step: usize, thread: u16| {
            whole.alternatives[step].iter().any(|of| of.thread == thread && of.timeout.is_none())
        };
        let preempts = |step: &usize| {
            let (before, now) = (schedule[step - 1].thread, schedule[*step].thread);
            before != now && could_go_on(*step, before)
        };
        let preemptions = (1..schedule.len()).filter(preempts).count();
        schedules.insert(schedule, preemptions);
        match schedules.len() as u64 > TOO_MANY / 2 {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    (finished.expect("an interpreter never fails") == SearchEnd::Complete).then_some(schedules)
}

/// Compares searches with bounded preemptions with the plain one, unless that is too large.
fn compare_with_bounded(program: &[Vec<Op>]) {
    let Some(all) = schedules(program, ScheduleSearch::new(Reduction::None)) else { return };
    for most in 0..3 {
        let bounded = schedules(program, ScheduleSearch::bounded(most)).expect("it is no larger");
        let mut within = all.clone();
        within.retain(|_, preemptions| *preemptions <= most as usize);
        assert_eq!(bounded, within, "at most {most} preemptions of {program:?}");
    }
}

/// Compares the reduced searches with each other, unless they are too large; how many executions the
/// simpler one ran in vain.
fn compare_reductions(program: &[Vec<Op>]) -> Option<u64> {
    let optimal = search(program, Reduction::Optimal)?;
    let source = search(program, Reduction::Source)?;
    assert_eq!(source.ends, optimal.ends, "final states of {program:?}");
    let missing: Vec<_> = source.classes.difference(&optimal.classes).collect();
    assert!(missing.is_empty(), "classes of {program:?} are missing: {missing:?}");
    let missing: Vec<_> = optimal.classes.difference(&source.classes).collect();
    assert!(missing.is_empty(), "classes of {program:?} are missing by source sets: {missing:?}");
    assert_eq!(source.complete, optimal.complete, "each class once: {program:?}");
    let classes = optimal.classes.len() as u64;
    assert_eq!(optimal.executions, classes, "nothing in vain: {program:?}");
    Some(source.executions - source.complete)
}

/// What threads do, in some steps together.
fn block() -> impl Strategy<Value = Vec<Op>> {
    let object = || 0..2u8;
    let two = || (object(), object());
    prop_oneof![
        3 => two().prop_map(|(m, x)| vec![Op::Lock(m), Op::Write(x), Op::Unlock(m)]),
        1 => two().prop_map(|(a, b)| vec![Op::Lock(a), Op::Lock(b), Op::Unlock(b), Op::Unlock(a)]),
        2 => object().prop_map(|x| vec![Op::Write(x)]),
        2 => object().prop_map(|x| vec![Op::Read(x)]),
        1 => object().prop_map(|m| vec![Op::TryLock(m)]),
        1 => two().prop_map(|(m, c)| vec![Op::Lock(m), Op::Wait(c, m), Op::Unlock(m)]),
        1 => object().prop_map(|c| vec![Op::Signal(c)]),
        1 => object().prop_map(|c| vec![Op::Broadcast(c)]),
        1 => object().prop_map(|s| vec![Op::Take(s)]),
        2 => object().prop_map(|s| vec![Op::Post(s)]),
        1 => object().prop_map(|s| vec![Op::TryTake(s)]),
        // Sending and receiving, the lock and the count of a channel being of the same number.
        1 => object().prop_map(|c| vec![Op::Lock(c), Op::Write(c), Op::Unlock(c), Op::Post(c)]),
        1 => object().prop_map(|c| vec![Op::Take(c), Op::Lock(c), Op::Write(c), Op::Unlock(c)]),
    ]
}

/// What threads do with semaphores.
fn semaphore_block() -> impl Strategy<Value = Vec<Op>> {
    let object = || 0..2u8;
    prop_oneof![
        4 => object().prop_map(|s| vec![Op::Take(s)]),
        4 => object().prop_map(|s| vec![Op::Post(s)]),
        1 => object().prop_map(|s| vec![Op::TryTake(s)]),
        1 => object().prop_map(|s| vec![Op::TakeFor(s, 1)]),
        2 => object().prop_map(|x| vec![Op::Write(x)]),
    ]
}

/// The same, or to wait for some time only, or to end the program.
fn ending_block() -> impl Strategy<Value = Vec<Op>> {
    let object = || 0..2u8;
    prop_oneof![
        2 => block(),
        1 => object().prop_map(|m| vec![Op::LockFor(m, 1), Op::Unlock(m)]),
        1 => object().prop_map(|s| vec![Op::TakeFor(s, 1)]),
        1 => Just(vec![Op::End]),
    ]
}

/// What threads do that wait for some time, and look at the clock.
fn timed_block() -> impl Strategy<Value = Vec<Op>> {
    let object = || 0..2u8;
    let with_time = || (object(), 1..4u8);
    prop_oneof![
        3 => block(),
        2 => with_time().prop_map(|(m, time)| vec![Op::LockFor(m, time), Op::Unlock(m)]),
        2 => with_time().prop_map(|(m, time)| vec![Op::LockFor(m, time), Op::Write(m), Op::Unlock(m)]),
        3 => with_time().prop_map(|(s, time)| vec![Op::TakeFor(s, time)]),
        1 => (1..4u8).prop_map(|time| vec![Op::Sleep(time)]),
        2 => Just(vec![Op::Clock]),
    ]
}

/// Programs of some threads with some blocks each.
fn programs(
    block: impl Strategy<Value = Vec<Op>>,
    threads: Range<usize>,
    blocks: Range<usize>,
) -> impl Strategy<Value = Vec<Vec<Op>>> {
    let thread = proptest::collection::vec(block, blocks).prop_map(|blocks| blocks.concat());
    proptest::collection::vec(thread, threads)
}

fn config(cases: u32) -> ProptestConfig {
    let failure_persistence = None;
    ProptestConfig {
        cases,
        max_shrink_iters: 5000,
        failure_persistence,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn reduction_loses_nothing(program in programs(block(), 1..4, 0..3)) {
        compare_with_plain(&program);
    }

    #[test]
    fn time_outs_and_ends_lose_nothing(program in programs(ending_block(), 1..4, 0..3)) {
        compare_with_plain(&program);
    }

    #[test]
    fn units_reach_whoever_can_get_them(program in programs(semaphore_block(), 2..4, 1..5)) {
        compare_with_plain(&program);
    }

    #[test]
    fn all_within_a_bound_of_preemptions_is_explored(program in programs(block(), 2..4, 1..3)) {
        compare_with_bounded(&program);
    }

    #[test]
    fn no_execution_is_in_vain(program in programs(block(), 2..5, 1..3)) {
        compare_reductions(&program);
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn time_outs_of_all_modes_lose_nothing(program in programs(timed_block(), 2..5, 1..4)) {
        for mode in [TimeMode::Ordered, TimeMode::Quiescent, TimeMode::Any] {
            compare_in(mode, &program);
        }
    }
}

#[test]
fn one_who_posts_and_one_who_waits_are_one_class() {
    let outcomes = search(&[vec![Op::Post(0); 4], vec![Op::Take(0); 4]], Reduction::Optimal);
    assert_eq!(outcomes.unwrap().executions, 1);
}

#[test]
fn time_outs_that_come_last_race_with_nothing() {
    let receive = vec![Op::TakeFor(0, 1)];
    let other = vec![Op::TakeFor(1, 2), Op::Clock];
    let program = [receive, other, vec![Op::Write(0)], vec![Op::Write(1)]];
    let outcomes = search_in(TimeMode::Quiescent, &program, Reduction::Optimal).unwrap();
    assert_eq!((outcomes.executions, outcomes.by_source_sets), (1, false));
    // Of equal deadlines, either passes first.
    let program = [vec![Op::TakeFor(0, 1), Op::Post(1)], vec![Op::TakeFor(1, 1), Op::Post(0)]];
    let outcomes = search_in(TimeMode::Quiescent, &program, Reduction::Optimal).unwrap();
    assert_eq!((outcomes.executions, outcomes.ends.len()), (2, 2));
    assert!(!outcomes.by_source_sets);
}

#[test]
fn philosophers_deadlock_in_one_class() {
    let dine = |a, b| vec![Op::Lock(a), Op::Lock(b), Op::Unlock(b), Op::Unlock(a)];
    let two = [dine(0, 1), dine(1, 0)];
    assert!(compare_with_plain(&two));
    let outcomes = search(&two, Reduction::Optimal).unwrap();
    assert_eq!((outcomes.complete, outcomes.ends.len()), (3, 2));
    // Each of three forks is asked for in one of two orders, but not all by the second hand first.
    let outcomes = search(&[dine(0, 1), dine(1, 2), dine(2, 0)], Reduction::Optimal).unwrap();
    assert_eq!((outcomes.complete, outcomes.ends.len()), (7, 2));
}

#[test]
fn source_sets_begin_some_executions_in_vain() {
    let mut runner = TestRunner::deterministic();
    let four_threads = programs(block(), 4..5, 1..3);
    let mut random = || four_threads.new_tree(&mut runner).expect("nothing is rejected").current();
    let in_vain: u64 = (0..150).filter_map(|_| compare_reductions(&random())).sum();
    assert!(in_vain > 0, "otherwise it would do, and these programs would show nothing");
}

/// Searches until so many executions were run: how many were, and how many are said to be left.
fn stopped_after(program: &[Vec<Op>], reduction: Reduction, most: u64) -> (u64, u64) {
    let mut interpreter = Interpreter::new(Running::new(program, TimeMode::Ordered));
    let mut search = ScheduleSearch::new(reduction);
    let mut executions = 0;
    let finished = search.run(&mut interpreter, |_, _, _| {
        executions += 1;
        if executions < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    finished.expect("an interpreter never fails");
    (executions, search.left())
}

#[test]
fn what_is_left_is_a_lower_bound() {
    let mut runner = TestRunner::deterministic();
    let three_threads = programs(block(), 3..4, 2..3);
    let mut stopped = 0;
    for _ in 0..100 {
        let program = three_threads.new_tree(&mut runner).expect("nothing is rejected").current();
        for reduction in
            [Reduction::None, Reduction::SleepSets, Reduction::Source, Reduction::Optimal]
        {
            let (all, left) = stopped_after(&program, reduction, 2_000);
            if all == 2_000 {
                continue;
            }
            assert_eq!(left, 0, "a complete search leaves nothing");
            for most in [1, all / 3, all / 2, all - 1] {
                let (executions, left) = stopped_after(&program, reduction, most.max(1));
                assert!(executions + left <= all, "{reduction:?}: {executions} + {left} of {all}");
                stopped += u64::from(executions < all && left > 0);
            }
        }
    }
    assert!(stopped > 100, "otherwise this says little");
}

/// Runs executions, and counts those that it had heard of before.
struct Foresighted<'a> {
    interpreter: Interpreter<Running<'a>>,
    heard_of: BTreeSet<String>,
    runs: u64,
    foreseen: u64,
}

/// All that an execution depends on.
fn in_words(schedule: &[Choice], known: usize, sleep: &[Alternative<Pending>]) -> String {
    format!("{schedule:?} {known} {sleep:?}")
}

impl Executor for Foresighted<'_> {
    type Step = Pending;
    type Error = Infallible;

    fn run(
        &mut self,
        schedule: &[Choice],
        known: usize,
        sleep: &[Alternative<Pending>],
    ) -> Result<Executed<Pending>, Infallible> {
        self.runs += 1;
        self.foreseen += u64::from(self.heard_of.contains(&in_words(schedule, known, sleep)));
        self.interpreter.run(schedule, known, sleep)
    }

    fn foresight(&mut self, _next: &Run<Pending>) -> usize {
        4
    }

    fn foresee(&mut self, likely: Vec<Run<Pending>>) {
        self.heard_of.extend(likely.iter().map(|of| in_words(&of.schedule, of.known, &of.sleep)));
    }
}

#[test]
fn many_executions_are_foreseen_and_none_in_vain() {
    for reduction in ALL {
        let mut runner = TestRunner::deterministic();
        let three_threads = programs(block(), 3..4, 2..3);
        let (mut runs, mut foreseen, mut heard) = (0, 0, 0);
        for _ in 0..100 {
            let tree = three_threads.new_tree(&mut runner).expect("nothing is rejected");
            let program = tree.current();
            let interpreter = Interpreter::new(Running::new(&program, TimeMode::Ordered));
            let heard_of = BTreeSet::new();
            let mut foresighted = Foresighted { interpreter, heard_of, runs: 0, foreseen: 0 };
            let few =
                |_: &ScheduleSearch<Pending>, of: &mut Foresighted<'_>, _: &Executed<Pending>| {
                    if of.runs < 500 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                };
            let Ok(_) = ScheduleSearch::new(reduction).run(&mut foresighted, few);
            // Nobody can foresee the first.
            runs += foresighted.runs - 1;
            foreseen += foresighted.foreseen;
            heard += foresighted.heard_of.len() as u64;
        }
        assert!(foreseen * 3 > runs, "{reduction:?}: {foreseen} of {runs}");
        // What was not asked for may still have been when the search was stopped.
        assert!(foreseen * 100 > heard * 95, "{reduction:?}: {foreseen} of {heard} were needed");
    }
}
