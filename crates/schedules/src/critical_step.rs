//! The critical step of a failing execution: after it, every continuation fails.
//!
//! Whether all continuations of a prefix fail is found by a search over them. Once they do, those of
//! longer prefixes do as well: so the step is found by bisection. Some continuation of the prefix
//! before it succeeds; the first step there that depends on the critical one, and comes before it, is
//! the racing step.

use crate::executor::{Alternative, Executed, ExecutionEnd, Executor, Taken};
use crate::reduction::Reduction;
use crate::search::{ScheduleSearch, SearchEnd};
use everypath_dependence::{Choice, Footprint, Part, Relation};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The verdict on one execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It succeeds.
    Good,
    /// It fails.
    Bad,
    /// Neither is known, but other executions may tell.
    Unclear,
    /// Nothing more can be executed.
    Stop,
}

/// The step after which every continuation fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Critical {
    /// How many steps there are up to it, itself included; 0 if every execution fails.
    pub steps: usize,
    /// The choices of an execution that succeeds and differs from this step on. Without it, an earlier
    /// step may be the critical one.
    pub good: Option<Vec<Choice>>,
    /// The racing step.
    pub rival: Option<Rival>,
}

/// The step that comes before the critical one in the execution that succeeds, and depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rival {
    /// Its number in the good execution.
    pub in_good: usize,
    /// Its number in the failing one, if it is taken there.
    pub in_failing: Option<usize>,
}

/// Executions with a common prefix, to a search that knows nothing of it.
struct After<'a, E> {
    executor: &'a mut E,
    prefix: &'a [Choice],
}

impl<E: Executor> Executor for After<'_, E> {
    type Step = E::Step;
    type Error = E::Error;

    fn run(
        &mut self,
        schedule: &[Choice],
        known: usize,
        sleep: &[Alternative<E::Step>],
    ) -> Result<Executed<E::Step>, E::Error> {
        let schedule = [self.prefix, schedule].concat();
        let mut executed = self.executor.run(&schedule, self.prefix.len() + known, sleep)?;
        debug_assert_eq!(executed.left_out, 0, "the whole of a good execution is asked for");
        let skipped = self.prefix.len().min(executed.steps.len());
        executed.steps.drain(..skipped);
        for step in &mut executed.steps {
            for before in [&mut step.after, &mut step.provided_by] {
                *before = before.and_then(|step| step.checked_sub(skipped));
            }
        }
        Ok(executed)
    }
}

/// What is known of the executions with a common prefix.
enum Outlook {
    /// One of them succeeds: its steps after the prefix.
    Good(Vec<Taken>),
    /// All of them fail.
    Hopeless,
    /// Neither was found within the limits.
    Unknown,
}

/// Finds the critical step of a failing execution, with at most so many executions for each prefix that
/// is searched.
///
/// `failing` are its steps. `judge` says how the last execution of the executor ended.
pub fn critical<E: Executor>(
    executor: &mut E,
    failing: &[Taken],
    executions: u64,
    judge: impl Fn(&E) -> Judgement,
) -> Result<Critical, E::Error> {
    let schedule: Vec<Choice> = failing.iter().map(|step| step.choice).collect();
    let (mut low, mut high) = (0, schedule.len());
    let mut before = Outlook::Unknown;
    while low < high {
        let middle = low.midpoint(high);
        match outlook(executor, &schedule[..middle], executions, &judge)? {
            Outlook::Hopeless => high = middle,
            // The last one of these that is looked at is right before the critical step.
            hope => (low, before) = (middle + 1, hope),
        }
    }
    let Outlook::Good(good) = before else {
        return Ok(Critical { steps: high, good: None, rival: None });
    };
    let rival = high.checked_sub(1).and_then(|step| rival(&failing[step..], &good));
    let rival = rival.map(|Rival { in_good, in_failing }| Rival {
        in_good: in_good + high - 1,
        in_failing: in_failing.map(|at| at + high - 1),
    });
    let rest = good.iter().map(|step| step.choice);
    let good = schedule[..high.saturating_sub(1)].iter().copied().chain(rest).collect();
    Ok(Critical { steps: high, good: Some(good), rival })
}

fn outlook<E: Executor>(
    executor: &mut E,
    prefix: &[Choice],
    executions: u64,
    judge: impl Fn(&E) -> Judgement,
) -> Result<Outlook, E::Error> {
    let mut good = None;
    let mut all_bad = true;
    let mut left = executions;
    // Most executions fail, often in the middle of a step.
    let mut search = ScheduleSearch::new(Reduction::Source);
    let finished = search.run(&mut After { executor, prefix }, |_, after, executed| {
        left -= 1;
        let judgement = match executed.ended {
            // Whatever it repeats was judged.
            ExecutionEnd::SleepSetBlocked | ExecutionEnd::Diverged => Judgement::Bad,
            ExecutionEnd::Complete | ExecutionEnd::Cut => judge(after.executor),
        };
        all_bad &= judgement == Judgement::Bad;
        if judgement == Judgement::Good {
            good = Some(executed.steps.clone());
        }
        match judgement {
            Judgement::Bad | Judgement::Unclear if left > 0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    })?;
    Ok(match good {
        Some(steps) => Outlook::Good(steps),
        None if finished == SearchEnd::Complete && all_bad => Outlook::Hopeless,
        None => Outlook::Unknown,
    })
}

/// The first step of the good execution that comes before the first step of the failing one there,
/// and depends on it: if there were none, that step could come first and all would still end well.
fn rival(failing: &[Taken], good: &[Taken]) -> Option<Rival> {
    let critical = failing[0].choice.thread;
    let same = good.iter().position(|step| step.choice.thread == critical)?;
    let depends = |step: &&Taken| depends(&step.footprint, &good[same].footprint);
    let in_good = good[..same].iter().position(|step| depends(&step))?;
    let thread = good[in_good].choice.thread;
    let by_thread = |step: &&Taken| step.choice.thread == thread;
    let taken_before = good[..in_good].iter().filter(by_thread).count();
    let in_failing = failing.iter().enumerate().filter(|(_, step)| by_thread(step));
    let in_failing = in_failing.map(|(at, _)| at).nth(taken_before);
    Some(Rival { in_good, in_failing })
}

/// Beyond so many steps, pairs are not looked for.
const MAX_PAIRED: usize = 5000;

/// The first pair of dependent steps, from a step of the failing execution on, that come in the other
/// order in the good one, and that `wanted` takes: by their places in the failing and the good one.
pub fn reversed(
    [failing, good]: [&[Taken]; 2],
    from: usize,
    wanted: impl Fn(usize, usize) -> bool,
) -> Option<(usize, Rival)> {
    if failing.len().max(good.len()) > MAX_PAIRED {
        return None;
    }
    let (names, good_names) = (by_thread(failing), by_thread(good));
    let place = |names: &[(u16, usize)], name| names.iter().position(|&other| other == name);
    (from..failing.len()).find_map(|at| {
        let there = place(&good_names, names[at])?;
        let rival = (0..there).find_map(|in_good| {
            let in_failing = place(&names, good_names[in_good]);
            let comes_first = in_failing.is_none_or(|other| other > at);
            let is_pair = comes_first && depends(&good[in_good].footprint, &good[there].footprint);
            (is_pair && wanted(at, in_good)).then_some(Rival { in_good, in_failing })
        });
        Some((at, rival?))
    })
}

/// Each step as the how many-th of its thread.
fn by_thread(steps: &[Taken]) -> Vec<(u16, usize)> {
    let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
    let number = |step: &Taken| {
        let count = counts.entry(step.choice.thread).or_default();
        *count += 1;
        (step.choice.thread, *count)
    };
    steps.iter().map(number).collect()
}

fn depends(earlier: &Footprint, later: &Footprint) -> bool {
    let related = |part: Part, other| part.relation(other) != Relation::Independent;
    earlier.parts().any(|part| later.parts().any(|other| related(part, other)))
}
