//! The critical step, compared with all continuations of every prefix.

use everypath_dependence::{Choice, Footprint, Mode};
use everypath_schedules::critical_step::{Judgement, critical};
use everypath_schedules::{Alternative, Executed, ExecutionEnd, Executor, Taken};
use proptest::prelude::*;
use std::convert::Infallible;

/// What a step touches: one object, which it changes.
fn writes(object: u8) -> Footprint {
    Footprint::of(&[(Mode::Write, object.into())])
}

/// Threads that change objects, one after the other; which orders fail is anybody's guess.
#[derive(Clone, Debug)]
struct Program {
    threads: Vec<Vec<u8>>,
    salt: u64,
    failed: bool,
}

impl Program {
    /// The steps of an execution that follows choices and goes on with the first that can.
    fn taken(&self, choices: &[u16]) -> Vec<Taken> {
        let mut next = vec![0; self.threads.len()];
        let mut steps = Vec::new();
        for &thread in choices {
            let at = usize::from(thread);
            steps.push(Taken {
                choice: Choice { thread, outcome: 0 },
                footprint: writes(self.threads[at][next[at]]),
                may_touch: None,
                creates: None,
                after: None,
                provided_by: None,
                resumes: false,
                comes_last: false,
            });
            next[at] += 1;
        }
        steps
    }

    /// Who can take a step after these.
    fn enabled(&self, choices: &[u16]) -> Vec<u16> {
        let taken = |thread: usize| choices.iter().filter(|&&c| usize::from(c) == thread).count();
        let left =
            (0..self.threads.len()).filter(|&thread| taken(thread) < self.threads[thread].len());
        left.map(|thread| thread as u16).collect()
    }

    /// Whether an execution fails: by the order in which each object was changed.
    fn fails(&self, choices: &[u16]) -> bool {
        let steps = self.taken(choices);
        let sum = (0..4u8).fold(self.salt, |sum, object| {
            let of_object = steps.iter().filter(|step| step.footprint == writes(object));
            of_object.fold(sum.rotate_left(7) ^ u64::from(object), |sum, step| {
                (sum ^ u64::from(step.choice.thread) ^ 0x9e37).wrapping_mul(0xff51_afd7_ed55_8ccd)
            })
        });
        !(sum >> 32).is_multiple_of(4)
    }

    /// Whether every execution that begins so fails.
    fn is_hopeless(&self, choices: &[u16]) -> bool {
        let enabled = self.enabled(choices);
        let next = |thread: u16| [choices, &[thread]].concat();
        match enabled.as_slice() {
            [] => self.fails(choices),
            some => some.iter().all(|&thread| self.is_hopeless(&next(thread))),
        }
    }
}

impl Executor for Program {
    type Step = Footprint;
    type Error = Infallible;

    fn run(
        &mut self,
        schedule: &[Choice],
        known: usize,
        sleep: &[Alternative<Footprint>],
    ) -> Result<Executed<Footprint>, Infallible> {
        assert_eq!(schedule.len(), known, "nothing is foreseen");
        let mut choices: Vec<u16> = schedule.iter().map(|choice| choice.thread).collect();
        let mut sleep = sleep.to_vec();
        let mut alternatives = Vec::new();
        let mut ended = ExecutionEnd::Complete;
        loop {
            let enabled = self.enabled(&choices);
            if enabled.is_empty() {
                break;
            }
            let footprint = |thread: u16| {
                let all = self.taken(&[choices.as_slice(), &[thread]].concat());
                all.last().expect("a step was added").footprint
            };
            let these = enabled.iter().map(|&thread| Alternative {
                thread,
                timeout: None,
                outcomes: 1,
                step: footprint(thread),
            });
            let these: Vec<_> = these.collect();
            let awake = |of: &&Alternative<Footprint>| !sleep.iter().any(|s| s.thread == of.thread);
            let Some(chosen) = these.iter().find(awake).cloned() else {
                ended = ExecutionEnd::SleepSetBlocked;
                break;
            };
            sleep.retain(|sleeping| sleeping.step != chosen.step);
            choices.push(chosen.thread);
            alternatives.push(these);
        }
        self.failed = ended == ExecutionEnd::Complete && self.fails(&choices);
        Ok(Executed { left_out: 0, steps: self.taken(&choices), alternatives, ended })
    }
}

fn programs() -> impl Strategy<Value = Program> {
    let thread = proptest::collection::vec(0u8..3, 1..4);
    (proptest::collection::vec(thread, 2..4), any::<u64>()).prop_map(|(threads, salt)| Program {
        threads,
        salt,
        failed: false,
    })
}

proptest! {
    #[test]
    fn after_the_critical_step_and_not_before_everything_fails(
        mut program in programs(),
        order in proptest::collection::vec(any::<usize>(), 12),
    ) {
        let mut failing = Vec::new();
        for pick in order {
            match program.enabled(&failing).as_slice() {
                [] => break,
                enabled => failing.push(enabled[pick % enabled.len()]),
            }
        }
        prop_assume!(program.enabled(&failing).is_empty() && program.fails(&failing));
        let steps = program.taken(&failing);
        let judge = |program: &Program| match program.failed {
            true => Judgement::Bad,
            false => Judgement::Good,
        };
        let found = critical(&mut program, &steps, 100_000, judge).unwrap();
        let expected = (0..=failing.len()).find(|&at| program.is_hopeless(&failing[..at]));
        prop_assert_eq!(Some(found.steps), expected);
        prop_assert_eq!(found.good.is_some(), found.steps > 0);
        if let Some(good) = found.good {
            let good: Vec<u16> = good.iter().map(|choice| choice.thread).collect();
            prop_assert!(program.enabled(&good).is_empty() && !program.fails(&good));
            // Somebody else must have come first there, and what they did matters.
            let rival = found.rival.expect("no step has several outcomes");
            let first = found.steps - 1;
            let good_steps = program.taken(&good);
            prop_assert!(rival.in_good >= first);
            prop_assert_eq!(&good_steps[rival.in_good].footprint, &steps[first].footprint);
            if let Some(at) = rival.in_failing {
                prop_assert!(at > first);
                prop_assert_eq!(steps[at].choice.thread, good_steps[rival.in_good].choice.thread);
            }
        }
    }
}
