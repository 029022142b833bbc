//! Random choices: every step that can be taken is as likely as any other.

use super::alternatives::{can_run, offers};
use super::strategy::{Among, Strategy};
use crate::region::region;
use crate::state::{Ending, State, Status};
use everypath_shim_abi::{Choice, TIMEOUT, TimeMode};

/// See the module's documentation.
pub(super) struct Random;

impl Strategy for Random {
    fn choose(&self, state: &State, mode: TimeMode, among: Among) -> Result<Choice, Ending> {
        let index = if among.total == 1 { 0 } else { pick(among.total) };
        Ok(match among.simple {
            true => nth_thread(can_run(state), index),
            false => nth(state, index, mode),
        })
    }
}

/// The thread of the `index`-th bit, with its only outcome.
fn nth_thread(mut bits: u128, index: u32) -> Choice {
    for _ in 0..index {
        bits &= bits - 1;
    }
    Choice { thread: bits.trailing_zeros() as u16, outcome: 0 }
}

/// A number below `total`, at random.
pub(super) fn pick(total: u32) -> u32 {
    let mut random = region().random.get();
    let index = random.below(total);
    region().random.set(random);
    index
}

/// The choice with a given index, threads in the order of their numbers.
fn nth(state: &State, mut index: u32, mode: TimeMode) -> Choice {
    for thread in state.threads() {
        let offered = offers(state, thread, mode);
        if index < offered {
            let blocked = thread.status() == Status::Blocked;
            let outcome = if blocked { TIMEOUT } else { index as u16 };
            return Choice { thread: thread.number.get(), outcome };
        }
        index -= offered;
    }
    unreachable!("an index below the sum of the offers")
}
