//! The critical step, held against all continuations of every beginning.

use everypath_schedules::critical_step::{Judgement, critical};
use everypath_schedules::reduction::{
    Alternative, Choice, Ended, Executed, Executor, Footprint, Relation, Scope, Taken,
};
use proptest::prelude::*;
use std::convert::Infallible;

/// What a step touches: one object, which it changes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Object(u8);

impl Footprint for Object {
    type Part = u8;
    fn parts(&self) -> impl Iterator<Item = u8> + Clone {
        [self.0].into_iter()
    }
    fn is_separable(_: u8) -> bool {
        false
    }
    fn relation(earlier: u8, later: u8) -> Relation {
        if earlier == later { Relation::Racing } else { Relation::Independent }
    }
    fn covers(_: u8, _: u8) -> bool {
        true
    }
    fn scope(part: u8) -> Scope {
        Scope::Object(part.into())
    }
}

/// Actors that change objects, one after the other; which orders fail is anybody's guess.
#[derive(Clone, Debug)]
struct Program {
    actors: Vec<Vec<u8>>,
    salt: u64,
    failed: bool,
}

impl Program {
    /// The steps of an execution that follows choices and goes on with the first that can.
    fn taken(&self, choices: &[u16]) -> Vec<Taken<Object>> {
        let mut next = vec![0; self.actors.len()];
        let mut steps = Vec::new();
        for &actor in choices {
            let at = usize::from(actor);
            steps.push(Taken {
                choice: Choice { actor, outcome: 0 },
                footprint: Object(self.actors[at][next[at]]),
                creates: None,
                after: None,
                provided_by: None,
                resumes: false,
            });
            next[at] += 1;
        }
        steps
    }

    /// Who can take a step after these.
    fn enabled(&self, choices: &[u16]) -> Vec<u16> {
        let taken = |actor: usize| choices.iter().filter(|&&c| usize::from(c) == actor).count();
        let left = (0..self.actors.len()).filter(|&actor| taken(actor) < self.actors[actor].len());
        left.map(|actor| actor as u16).collect()
    }

    /// Whether an execution fails: by the order in which each object was changed.
    fn fails(&self, choices: &[u16]) -> bool {
        let steps = self.taken(choices);
        let sum = (0..4u8).fold(self.salt, |sum, object| {
            let of_object = steps.iter().filter(|step| step.footprint.0 == object);
            of_object.fold(sum.rotate_left(7) ^ u64::from(object), |sum, step| {
                (sum ^ u64::from(step.choice.actor) ^ 0x9e37).wrapping_mul(0xff51_afd7_ed55_8ccd)
            })
        });
        !(sum >> 32).is_multiple_of(4)
    }

    /// Whether every execution that begins so fails.
    fn is_hopeless(&self, choices: &[u16]) -> bool {
        let enabled = self.enabled(choices);
        let next = |actor: u16| [choices, &[actor]].concat();
        match enabled.as_slice() {
            [] => self.fails(choices),
            some => some.iter().all(|&actor| self.is_hopeless(&next(actor))),
        }
    }
}

impl Executor for Program {
    type Footprint = Object;
    type Error = Infallible;

    fn run(
        &mut self,
        schedule: &[Choice],
        known: usize,
        sleep: &[Alternative<Object>],
    ) -> Result<Executed<Object>, Infallible> {
        assert_eq!(schedule.len(), known, "nothing is foreseen");
        let mut choices: Vec<u16> = schedule.iter().map(|choice| choice.actor).collect();
        let mut sleep = sleep.to_vec();
        let mut alternatives = Vec::new();
        let mut ended = Ended::Complete;
        loop {
            let enabled = self.enabled(&choices);
            if enabled.is_empty() {
                break;
            }
            let footprint = |actor: u16| {
                let all = self.taken(&[choices.as_slice(), &[actor]].concat());
                all.last().expect("a step was added").footprint.clone()
            };
            let these = enabled.iter().map(|&actor| Alternative {
                actor,
                by_itself: None,
                outcomes: 1,
                footprint: footprint(actor),
            });
            let these: Vec<_> = these.collect();
            let awake = |of: &&Alternative<Object>| !sleep.iter().any(|s| s.actor == of.actor);
            let Some(chosen) = these.iter().find(awake).cloned() else {
                ended = Ended::SleepSetBlocked;
                break;
            };
            sleep.retain(|sleeping| sleeping.footprint != chosen.footprint);
            choices.push(chosen.actor);
            alternatives.push(these);
        }
        self.failed = ended == Ended::Complete && self.fails(&choices);
        Ok(Executed { left_out: 0, steps: self.taken(&choices), alternatives, ended })
    }
}

fn programs() -> impl Strategy<Value = Program> {
    let actor = proptest::collection::vec(0u8..3, 1..4);
    (proptest::collection::vec(actor, 2..4), any::<u64>()).prop_map(|(actors, salt)| Program {
        actors,
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
            let good: Vec<u16> = good.iter().map(|choice| choice.actor).collect();
            prop_assert!(program.enabled(&good).is_empty() && !program.fails(&good));
            // Somebody else must have come first there, and what they did matters.
            let rival = found.rival.expect("no step has several outcomes");
            let first = found.steps - 1;
            let good_steps = program.taken(&good);
            prop_assert!(rival.in_good >= first);
            prop_assert_eq!(&good_steps[rival.in_good].footprint, &steps[first].footprint);
            if let Some(at) = rival.in_failing {
                prop_assert!(at > first);
                prop_assert_eq!(steps[at].choice.actor, good_steps[rival.in_good].choice.actor);
            }
        }
    }
}
