//! Source-DPOR: for every race, some branch in which its second step can come first.
//!
//! Parosh Abdulla, Stavros Aronis, Bengt Jonsson, Konstantinos Sagonas: Optimal Dynamic Partial
//! Order Reduction. POPL 2014, algorithm 1; Source Sets, J. ACM 64(4), 2017.
//!
//! To reverse a race, the steps that do not happen after its first step, and its second step, must
//! come before the first. From the state before the first step, one of the *initials* of that sequence
//! is explored: a thread that can begin it. The threads that are explored from a state are a source
//! set. With sleep sets, each class of equivalent executions is completed once, but some executions
//! are begun in vain.
//!
//! It is the simpler of two algorithms, and the oracle for the other.
//!
//! Where we depart:
//! - A step has parts. Requests for a mutex race; its acquisition is ordered after the release, which
//!   is no race, since it cannot be the other way round. So a free mutex is requested and acquired in
//!   one step without hiding the race between the requests.
//! - States in which a step may disable others are expanded fully, as are those of executions that
//!   were cut.

use super::full_expansion::{expand_if_cut, expand_where_steps_disable};
use super::wakeup_tree::Branch;
use super::{Added, Algorithm};
use crate::executor::Key;
use crate::frame::Frame;
use crate::happens_before::{HappensBefore, Race};
use everypath_dependence::Enabled;

/// Explores source sets.
#[derive(Default)]
pub struct SourceDpor {
    order: HappensBefore,
}

impl<E: Enabled> Algorithm<E> for SourceDpor {
    fn add_branches(&mut self, path: &mut [Frame<E>], added: Added<'_>) {
        expand_where_steps_disable(&mut path[added.entered..]);
        self.order.replace(added.first, added.steps);
        for race in self.order.races_from(added.first) {
            self.reverse(race, path);
        }
        expand_if_cut(path, added.ended);
    }
}

impl SourceDpor {
    /// Makes sure that some thread goes first with which the second event of a race can come first.
    fn reverse<E: Enabled>(&self, race: Race, path: &mut [Frame<E>]) {
        let initials = initials(&self.order, race);
        let keys: Vec<Key> = initials.iter().map(|&step| path[step].taken.key).collect();
        let frame = &mut path[self.order.step_of(race.earlier)];
        if keys.iter().any(|&key| frame.has(key)) {
            return;
        }
        match keys.iter().find_map(|&key| frame.enabled(key)) {
            Some(alternative) => {
                let leaf = Branch::leaf(alternative, 0);
                frame.branches.push(leaf);
            }
            // By the theory, one of the initials is enabled; without it, nothing is left out.
            None => frame.expand(),
        }
    }
}

/// The steps whose threads can go first, for the second event of a race to come before the first one:
/// the initials of the sequence that reverses it.
fn initials(order: &HappensBefore, race: Race) -> Vec<usize> {
    let at = order.step_of(race.earlier);
    let last = order.step_of(race.later);
    let first = order.first_event(at);
    // A step moves as a whole, so whatever happens after any part of it stays behind.
    let needed = (at + 1..last).filter(|&step| !order.is_before(first, order.first_event(step)));
    let sequence: Vec<usize> = needed.chain([last]).collect();
    let mut initials: Vec<usize> = Vec::new();
    let mut seen: Vec<u16> = Vec::new();
    for (index, &step) in sequence.iter().enumerate() {
        let event = order.first_event(step);
        if seen.contains(&order.thread_of(event)) {
            continue;
        }
        seen.push(order.thread_of(event));
        let before = |&earlier: &usize| order.is_before(order.first_event(earlier), event);
        if !sequence[..index].iter().any(before) {
            initials.push(step);
        }
    }
    initials
}
