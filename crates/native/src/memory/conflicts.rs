//! Conflicts: accesses of which one writes, in steps that happens-before does not order.
//!
//! What a thread accesses after a step it accesses before its next one. So a plain access in a step is
//! ordered before a later step of another thread if the *next* step of its thread happens before that;
//! an access that is a step by itself, if that step does.

use super::Conflict;
use super::footprint::{BadLog, Footprints, Number, Reader, Touch};
use everypath_rewrite::AccessKind;
use everypath_schedules::{HappensBefore, Taken};
use everypath_shim_abi::Event;
use std::collections::{BTreeMap, BTreeSet};

/// A step that accessed something.
#[derive(Clone, Copy)]
struct Accessing {
    step: usize,
    thread: u16,
    process: usize,
    footprint: Number,
}

/// The memory of a process: what its steps accessed, and what is needed to read that.
pub(crate) struct ProcessMemory<'a> {
    pub(crate) footprints: &'a mut Footprints,
    pub(crate) reader: Reader<'a>,
}

/// The conflicts of executions, of which each begins like the one before.
#[derive(Default)]
pub(crate) struct Conflicts {
    order: HappensBefore,
    /// Those of the last execution.
    accessing: Vec<Accessing>,
    /// What pairs of footprints have in common.
    common: BTreeMap<(usize, Number, Number), Vec<(Touch, Touch)>>,
    /// The words of locks of Rust's standard library, by process: which bytes of which granule.
    lock_words: BTreeMap<(usize, u64), u8>,
    pub(crate) found: BTreeSet<Conflict>,
    /// Whether a step was met whose log is not known.
    pub(crate) is_incomplete: bool,
}

impl Conflicts {
    /// Looks at an execution, of whose steps the first ones are those of the one before. `owner` says
    /// which process a thread belongs to; processes have no memory in common.
    pub(crate) fn look(
        &mut self,
        events: &[Event],
        (known, steps): (usize, &[Taken]),
        processes: &mut [ProcessMemory<'_>],
        owner: impl Fn(u16) -> usize,
    ) -> Result<(), BadLog> {
        self.order.replace(known, steps);
        let next = next_steps(events);
        let first_new = self.accessing.partition_point(|it| it.step < known);
        self.accessing.truncate(first_new);
        for (step, event) in events.iter().enumerate().skip(known) {
            if event.accesses != [0; 2] {
                let (thread, process) = (event.thread, owner(event.thread));
                let memory = processes.get_mut(process).ok_or(BadLog)?;
                let footprint = memory.footprints.number(event.accesses, memory.reader)?;
                let Some(footprint) = footprint else {
                    self.is_incomplete = true;
                    continue;
                };
                for touch in memory.footprints.get(footprint).of_locks() {
                    *self.lock_words.entry((process, touch.granule)).or_default() |= touch.mask;
                }
                self.accessing.push(Accessing { step, thread, process, footprint });
            }
        }
        for (index, later) in self.accessing.iter().enumerate().skip(first_new) {
            let ProcessMemory { footprints, reader } = &processes[later.process];
            let second = footprints.get(later.footprint);
            let others = self.accessing[..index]
                .iter()
                .filter(|it| it.thread != later.thread && it.process == later.process);
            for earlier in others {
                let first = footprints.get(earlier.footprint);
                if !first.may_meet(second) {
                    continue;
                }
                let pair = (later.process, earlier.footprint, later.footprint);
                let common = self
                    .common
                    .entry(pair)
                    .or_insert_with(|| intersect(&first.touches, &second.touches));
                for (first, second) in &*common {
                    let from = if first.is_step { Some(earlier.step) } else { next[earlier.step] };
                    let ordered = from.is_some_and(|from| is_before(&self.order, from, later.step));
                    let of_lock = || {
                        let word = self.lock_words.get(&(later.process, first.granule));
                        is_within_lock(first, second, word.copied().unwrap_or(0))
                    };
                    if !(ordered || first.is_step && second.is_step || of_lock()) {
                        self.found.insert(Conflict {
                            earlier: reader.instruction(first),
                            later: reader.instruction(second),
                            granule: first.granule,
                            is_locked: is_locked(first.kind) || is_locked(second.kind),
                        });
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether both accesses are those of a lock of Rust's standard library, to its word: these are parts of
/// its operations, which are steps. Whoever else stores there overwrites a lock.
fn is_within_lock(first: &Touch, second: &Touch, word: u8) -> bool {
    let is_of_lock = |touch: &Touch| match touch.kind {
        AccessKind::Read | AccessKind::Atomic | AccessKind::Lock => true,
        AccessKind::Write | AccessKind::Update => false,
    };
    first.mask & second.mask & !word == 0 && is_of_lock(first) && is_of_lock(second)
}

/// Whether an access is atomic by itself.
fn is_locked(kind: AccessKind) -> bool {
    matches!(kind, AccessKind::Atomic | AccessKind::Lock)
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
fn intersect(mut a: &[Touch], mut b: &[Touch]) -> Vec<(Touch, Touch)> {
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
