//! Which goals of a program (`sometimes` and `reachable` of `everypath-verify`) executions have reached.
//!
//! The goals are known from the program file: each is a text in a section. The shim keeps the hashes of
//! those that were reached.

use crate::launch::Launch;
use crate::program::goals;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

/// Hashes of the goals that executions have reached, of all workers.
#[derive(Debug, Default)]
pub struct Reached(Mutex<BTreeSet<u64>>);

impl Reached {
    pub(crate) fn add(&self, reached: &[Cell<u64>]) {
        if !reached.is_empty() {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.extend(reached.iter().map(Cell::get));
        }
    }

    /// The goals of the launched programs that no execution has reached, in alphabetical order. What
    /// cannot be read names none: it was started, so that is not worth an error.
    pub fn missing(&self, launch: &Launch) -> Vec<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let others = launch.companions.iter().map(|companion| &companion.program);
        let programs = [&launch.program].into_iter().chain(others);
        let named: BTreeSet<String> =
            programs.flat_map(|program| goals(program).unwrap_or_default()).collect();
        named.into_iter().filter(|goal| !known.contains(&xxh3_64(goal.as_bytes()))).collect()
    }
}
