//! Which conflicts are armed first.
//!
//! Atomic accesses order others: a thread writes a message and then sets a flag, another one sees the flag
//! and reads the message. As long as accesses of the flag are no steps, nothing orders those of the
//! message. So conflicts of atomic accesses are armed first, and the others only if they are conflicts
//! still; else what atomic accesses order would be steps, too, which costs executions.

use super::{Conflict, Instruction};
use crate::symbols::{Module, Symbols};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Those of some conflicts that are to be armed: some of them, if there are any.
pub(crate) fn first_to_arm(conflicts: BTreeSet<Conflict>) -> BTreeSet<Conflict> {
    let locked: BTreeSet<Conflict> = conflicts.iter().filter(|it| it.is_locked).cloned().collect();
    if !locked.is_empty() {
        return locked;
    }
    if conflicts.len() < 2 {
        return conflicts;
    }
    let atomic = with_atomic_accesses(&conflicts);
    if atomic.is_empty() { conflicts } else { atomic }
}

/// Those with an access that is atomic by what debug information says.
fn with_atomic_accesses(conflicts: &BTreeSet<Conflict>) -> BTreeSet<Conflict> {
    let paths: BTreeSet<&Path> =
        conflicts.iter().flat_map(accesses).map(|access| access.module.as_path()).collect();
    let modules: BTreeMap<&Path, Symbols> = paths
        .into_iter()
        .filter_map(|path| {
            let place = Module { path: path.into(), base: 0 };
            Some((path, Symbols::new(vec![(place, std::fs::read(path).ok()?.into())])))
        })
        .collect();
    let is_atomic = |access: &Instruction| {
        let symbols = modules.get(access.module.as_path());
        symbols.is_some_and(|symbols| symbols.is_atomic(access.address))
    };
    conflicts.iter().filter(|it| accesses(it).any(is_atomic)).cloned().collect()
}

fn accesses(conflict: &Conflict) -> impl Iterator<Item = &Instruction> {
    [&conflict.earlier, &conflict.later].into_iter().flatten()
}
