//! `select`.

use crate::blocking::{Blocking, Call};
use crate::host::Host;
use crate::poll::{or_none_ready, touched};
use crate::readiness::{ERROR, HANG_UP, IN, OUT, of_descriptor};
use crate::state::Want;
use crate::wants::looking;
use crate::{errno, faults, fd_table};

/// A set has so many bytes, a bit for each descriptor.
const SET: usize = 128;
/// What each of the three sets asks for.
const SELECTED: [u32; 3] = [IN | HANG_UP | ERROR, OUT | ERROR, 0x2];

/// Whether one of three sets, one after the other at `sets`, contains a descriptor.
fn contains(k: &impl Host, sets: usize, which: usize, descriptor: usize) -> bool {
    let mut byte = [0];
    k.read_own(sets + which * SET + descriptor / 8, &mut byte);
    byte[0] >> (descriptor % 8) & 1 != 0
}

/// The descriptors in three sets, each with the number of the set.
fn selected(k: &impl Host, sets: usize, count: usize) -> impl Iterator<Item = (usize, usize)> {
    let all = (0..count).flat_map(|descriptor| [0, 1, 2].map(|which| (descriptor, which)));
    all.filter(move |&(descriptor, which)| contains(k, sets, which, descriptor))
}

/// Calls `each` with every descriptor in three sets, and what is wanted of it.
pub(crate) fn each_selected(
    k: &impl Host,
    sets: usize,
    count: usize,
    mut each: impl FnMut(i32, u32),
) {
    for (descriptor, which) in selected(k, sets, count) {
        each(descriptor as i32, SELECTED[which]);
    }
}

/// What is ready in three sets.
fn ready(k: &impl Host, sets: usize, count: usize) -> impl Iterator<Item = (usize, usize)> {
    selected(k, sets, count)
        .filter(|&(descriptor, which)| of_descriptor(k, descriptor as i32) & SELECTED[which] != 0)
}

/// How much is ready in three sets.
pub(crate) fn count_ready(k: &impl Host, sets: usize, count: usize) -> usize {
    ready(k, sets, count).count()
}

/// Does what the system calls do.
pub(crate) fn select(
    k: &impl Host,
    count: usize,
    given: [usize; 3],
    patience: Blocking,
) -> Result<isize, i32> {
    if (count as i32) < 0 {
        return Err(errno::EINVAL);
    }
    let count = count.min(SET * 8);
    let bytes = count.div_ceil(64) * 8;
    let mut copies = [0u8; 3 * SET];
    for (which, &set) in given.iter().enumerate().filter(|(_, set)| **set != 0) {
        k.read(set, &mut copies[which * SET..][..bytes])?;
    }
    let sets = k.lend(&copies);
    let is_selected = |at: usize| (0..3).any(|which| contains(k, sets, which, at));
    let watched = || (0..count).filter(|&at| is_selected(at));
    if watched().any(|descriptor| fd_table::found(k, descriptor as i32).is_none()) {
        return Err(errno::EBADF);
    }
    let touches = touched(
        k,
        watched().map(|descriptor| {
            let writes = contains(k, sets, 1, descriptor);
            (descriptor as i32, if writes { OUT } else { IN })
        }),
    );
    faults::interrupt(k, patience != Blocking::None)?;
    let want = Want::Select { sets, count };
    let operation = looking(k, want);
    let call = Call { operation, touches, want, through: None, patience };
    let found = or_none_ready(k, call, || Ok(count_ready(k, sets, count)))?;
    for set in given.into_iter().filter(|&set| set != 0) {
        k.zero(set, bytes)?;
    }
    if found > 0 {
        for (descriptor, which) in ready(k, sets, count) {
            let at = given[which] + descriptor / 8;
            k.store(at, k.load::<u8>(at)? | 1 << (descriptor % 8))?;
        }
    }
    Ok(found)
}
