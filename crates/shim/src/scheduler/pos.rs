//! Partial-order sampling (POS).
//!
//! Xinhao Yuan, Junfeng Yang, Ronghui Gu: Partial Order Aware Concurrency Sampling. CAV 2018,
//! algorithm 1 (POS).
//!
//! What each thread does next has a priority at random, and the highest goes on. What races with the
//! step that is taken gets a new one: so the order of steps that race is drawn afresh, and orders
//! that make no difference do not crowd out those that do.
//!
//! Where we depart: from time to time all priorities are drawn again, so that a thread that tries
//! again and again cannot keep others away for long.

use super::strategy::{Among, Strategy};
use super::{STEPS, dfs::pending, priorities};
use crate::state::{Ending, State};
use core::sync::atomic::Ordering::Relaxed;
use everypath_shim_abi::{Choice, Enabled, TimeMode};

/// All priorities are drawn again after so many steps.
const RENEWAL: u32 = 1024;

/// The strategy.
pub(super) struct Pos;

impl Strategy for Pos {
    fn begin(&self) {
        priorities::forget();
    }

    fn choose(&self, state: &State, mode: TimeMode, _among: Among) -> Result<Choice, Ending> {
        Ok(choose(state, mode))
    }
}

fn choose(state: &State, mode: TimeMode) -> Choice {
    if STEPS.load(Relaxed) % RENEWAL == RENEWAL - 1 {
        priorities::forget();
    }
    let chosen = priorities::highest(state, mode);
    let choice = priorities::choice(state, chosen, mode);
    let taken = pending(chosen, 1).footprint();
    priorities::draw(chosen);
    for thread in state.threads().filter(|thread| thread.is_alive()) {
        let racing = thread.number != chosen.number && {
            let other = pending(thread, 1).footprint();
            !taken.commutes(&other)
        };
        if racing {
            priorities::draw(thread);
        }
    }
    choice
}
