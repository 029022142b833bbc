//! Optimal DPOR: for every race, a sequence that reverses it; no execution is begun in vain.
//!
//! Parosh Abdulla, Stavros Aronis, Bengt Jonsson, Konstantinos Sagonas: Optimal Dynamic Partial
//! Order Reduction. POPL 2014, algorithm 2; Source Sets, J. ACM 64(4), 2017, algorithm 3.
//!
//! For every race of a complete execution, one must be explored in which the second event comes first.
//! It begins with the events that do not happen after the first one: so it is known to be possible,
//! and what it has in common with others is explored once. The sequences of a state form a
//! [wakeup tree](super::wakeup_tree).
//!
//! Where we depart:
//! - The paper reverses all races of every execution. A race in the part that an execution shares
//!   with earlier ones need not be reversed again once a thread goes first, or has gone first, with
//!   an event that is not after the second one of the race: source sets ask for no more. If only a
//!   later event, or none of the sequence, was found to do, the next execution may have another
//!   sequence for which it does not. Such races stay open.
//! - The paper takes for granted that an enabled step stays enabled until it is taken, and that
//!   executions end when nothing is enabled. Time-outs, the end of the process, crashes and threads
//!   that yield are not like that. Then the program must be explored by source sets, for which it does
//!   not matter; so must it if several threads receive from one queue (`Takers`). Not so if nothing but
//!   time-outs is enabled that come last of all: no race crosses such a step, so each of them begins
//!   a search of its own, and all are explored.

use super::full_expansion::{expand_if_cut, expand_where_steps_disable};
use super::wakeup_tree::{self, Branch, Planned, Sequence, Sleeper};
use super::{Added, Algorithm};
use crate::executor::{Alternative, Executed, ExecutionEnd, Key, Taken};
use crate::frame::Frame;
use crate::happens_before::{HappensBefore, Race};
use everypath_dependence::Enabled;
use std::collections::BTreeMap;
use std::mem;

/// Explores wakeup trees.
#[derive(Default)]
pub struct OptimalDpor {
    order: HappensBefore,
    /// The races that may have to be reversed again in executions that share them.
    open: Vec<Race>,
    takers: Takers,
}

impl<E: Enabled> Algorithm<E> for OptimalDpor {
    fn supports(&mut self, executed: &Executed<E>) -> bool {
        let may_disable = |these: &Vec<Alternative<E>>| {
            these.len() > 1
                && these.iter().any(|of| of.step.may_disable())
                && !these.iter().all(|of| of.step.comes_last())
        };
        executed.ended == ExecutionEnd::Complete
            && !executed.alternatives.iter().any(may_disable)
            && self.takers.are_alone(&executed.steps)
    }

    fn add_branches(&mut self, path: &mut [Frame<E>], added: Added<'_>) {
        expand_where_steps_disable(&mut path[added.entered..]);
        self.open.retain(|race| self.order.step_of(race.later) < added.first);
        self.order.replace(added.first, added.steps);
        let mut races = mem::take(&mut self.open);
        races.extend(self.order.races_from(added.first));
        races.retain(|&race| !self.reverse(race, path));
        self.open = races;
        expand_if_cut(path, added.ended);
    }
}

impl OptimalDpor {
    /// Makes sure that a sequence is explored in which the second event of a race comes first.
    /// Returns whether that settles it for all executions that begin as this one does.
    fn reverse<E: Enabled>(&self, race: Race, path: &mut [Frame<E>]) -> bool {
        let at = self.order.step_of(race.earlier);
        let events = self.reversal(race).into_iter();
        let planned = events.map(|event| self.planned(event, race, path)).collect();
        let sequence = Sequence::new(&self.order, planned, race.later);
        let frame = &mut path[at];
        let asleep = frame.sleep.iter();
        let mut sleepers: Vec<Sleeper> = asleep
            .map(|of| Sleeper { key: of.key(), parts: of.step.footprint().into_parts().collect() })
            .collect();
        sleepers.push(Sleeper { key: frame.taken.key, parts: frame.taken.parts.clone() });
        wakeup_tree::insert(&mut frame.branches, sleepers, sequence.clone());
        let asleep = frame.sleep.iter().any(|of| sequence.begins_with(of.key(), None, race.later));
        let to_come =
            |branch: &Branch| sequence.begins_with(branch.key, Some(branch.outcome), race.later);
        asleep || frame.branches.iter().any(to_come)
    }

    /// The events that reverse a race, in an order in which they can come before the first of its two
    /// events: those that do not happen after it, and the second one.
    fn reversal(&self, race: Race) -> Vec<usize> {
        let order = &self.order;
        let at = order.step_of(race.earlier);
        // A step moves as a whole, so whatever happens after any part of it stays behind.
        let first = order.first_event(at);
        let mut events: Vec<usize> =
            order.events_after(at).filter(|&event| !order.is_before(first, event)).collect();
        // What the first one missed is among them, and what happens after that is, too.
        if order.is_before(first, race.later) {
            events.push(race.later);
        }
        events
    }

    /// How an event is repeated.
    fn planned<E>(&self, event: usize, race: Race, path: &[Frame<E>]) -> Planned {
        let step = self.order.step_of(event);
        let Branch { key, outcome, .. } = path[step].taken;
        if event != self.order.first_event(step) {
            // Getting what was asked for, which may become a step of its own.
            return Planned { key: Key { timeout: None, ..key }, outcome: 0, event };
        }
        // Which outcomes the second event of the race has when it comes first is not known yet.
        let outcome = if event == race.later { 0 } else { outcome };
        Planned { key, outcome, event }
    }
}

/// The thread that receives from each queue where messages may be missed
/// ([`Relation::Missed`](everypath_dependence::Relation)).
///
/// If several threads do so from one queue, the sequences in wakeup trees do not tell what each of them
/// would get instead: some were found to be missing then.
#[derive(Debug, Default)]
struct Takers(BTreeMap<u64, u16>);

impl Takers {
    /// Takes note of steps; whether there is still only one receiver at each queue.
    fn are_alone(&mut self, steps: &[Taken]) -> bool {
        steps.iter().all(|step| {
            let thread = step.choice.thread;
            let queue = step.footprint.misses_at();
            queue.is_none_or(|queue| *self.0.entry(queue).or_insert(thread) == thread)
        })
    }
}
