//! Conflicts: accesses of which one writes, in steps that happens-before does not order.
//!
//! What a thread accesses after a step it accesses before its next one. So a plain access in a step is
//! ordered before a later step of another thread if the *next* step of its thread happens before that;
//! an access that is a step by itself, if that step does.

use super::footprint::{BadLog, LogHash, MemoryFootprint, Touch, instruction};
use super::{Conflict, CopiedModule, Footprints};
use everypath_rewrite::AccessKind;
use everypath_schedules::{HappensBefore, Taken};
use everypath_shim_abi::Event;
use std::collections::{BTreeMap, BTreeSet};

/// The conflicts of executions, of which each begins like the one before.
#[derive(Default)]
pub(crate) struct Conflicts {
    order: HappensBefore,
    /// Pairs of footprints that have something in common.
    common: BTreeMap<(LogHash, LogHash), Vec<(Touch, Touch)>>,
    pub(crate) found: BTreeSet<Conflict>,
}

impl Conflicts {
    /// Looks at an execution, of whose steps the first ones are those of the one before.
    pub(crate) fn look(
        &mut self,
        events: &[Event],
        (known, steps): (usize, &[Taken]),
        footprints: &mut Footprints,
        modules: &[CopiedModule],
    ) -> Result<(), BadLog> {
        self.order.replace(known, steps);
        let next = next_steps(events);
        let accessing = |(at, event): (usize, &Event)| (event.accesses != [0; 2]).then_some(at);
        let all: Vec<usize> = events.iter().enumerate().filter_map(accessing).collect();
        for &step in &all {
            if footprints.get(events[step].accesses).is_none() {
                footprints.read(events[step].accesses, modules)?;
            }
        }
        for (index, &later) in all.iter().enumerate().filter(|&(_, &later)| later >= known) {
            for &earlier in &all[..index] {
                if events[earlier].thread == events[later].thread {
                    continue;
                }
                let pair = (events[earlier].accesses, events[later].accesses);
                let common = self.common.entry(pair).or_insert_with(|| {
                    let of = |hash| footprints.get(hash);
                    of(pair.0).zip(of(pair.1)).map_or(Vec::new(), |(a, b)| intersect(a, b))
                });
                for (first, second) in &*common {
                    let from = if first.is_step { Some(earlier) } else { next[earlier] };
                    let ordered = from.is_some_and(|from| is_before(&self.order, from, later));
                    if !(ordered || first.is_step && second.is_step) {
                        self.found.insert(Conflict {
                            earlier: instruction(first, modules),
                            later: instruction(second, modules),
                            address: first.granule << 3,
                        });
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether a step happens before another, or is it.
fn is_before(order: &HappensBefore, earlier: usize, later: usize) -> bool {
    earlier < later && order.is_before(order.first_event(earlier), order.last_event(later))
}

/// For each step, the next one of its thread.
fn next_steps(events: &[Event]) -> Vec<Option<usize>> {
    let mut next = vec![None; events.len()];
    let mut last: BTreeMap<u16, usize> = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        if let Some(before) = last.insert(event.thread, at) {
            next[before] = Some(at);
        }
    }
    next
}

/// Whether the order of two accesses to the same bytes can make a difference that steps do not show.
fn can_conflict(one: AccessKind, other: AccessKind) -> bool {
    match (one, other) {
        (AccessKind::Read, AccessKind::Read) => false,
        (AccessKind::Atomic | AccessKind::Lock, AccessKind::Atomic | AccessKind::Lock) => false,
        (AccessKind::Lock, AccessKind::Read) | (AccessKind::Read, AccessKind::Lock) => false,
        (
            AccessKind::Read | AccessKind::Write | AccessKind::Update | AccessKind::Atomic,
            AccessKind::Read | AccessKind::Write | AccessKind::Update | AccessKind::Atomic,
        )
        | (AccessKind::Lock, AccessKind::Write | AccessKind::Update)
        | (AccessKind::Write | AccessKind::Update, AccessKind::Lock) => true,
    }
}

/// The pairs of accesses to the same bytes of which one writes.
fn intersect(a: &MemoryFootprint, b: &MemoryFootprint) -> Vec<(Touch, Touch)> {
    let (mut a, mut b) = (&a[..], &b[..]);
    let mut common = Vec::new();
    while let (Some(first), Some(second)) = (a.first(), b.first()) {
        let granule = first.granule.max(second.granule);
        a = &a[a.partition_point(|touch| touch.granule < granule)..];
        b = &b[b.partition_point(|touch| touch.granule < granule)..];
        let of_a = a.partition_point(|touch| touch.granule == granule);
        let of_b = b.partition_point(|touch| touch.granule == granule);
        for x in &a[..of_a] {
            for y in &b[..of_b] {
                if x.mask & y.mask != 0 && can_conflict(x.kind, y.kind) {
                    common.push((*x, *y));
                }
            }
        }
        a = &a[of_a..];
        b = &b[of_b..];
    }
    common
}
