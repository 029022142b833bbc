//! What the program is told of itself and of the machine that it runs on.

use super::Handlers;
use crate::fail::stop;
use crate::guest;
use crate::objects;
use crate::scheduler::point;
use crate::state::{FIRST_TID, first_tid, state};
use crate::sys::{Answer, answer, errno, number, sys};
use everypath_shim_abi::Operation;

pub(super) const HANDLERS: Handlers = &[
    (number::GETPID, |_, _| Ok(first_tid() as isize)),
    (number::GETPGRP, |_, _| Ok(first_tid() as isize)),
    (number::GETTID, |_, _| Ok(FIRST_TID as isize + state().current.get() as isize)),
    (number::GETPPID, |_, _| Ok(FIRST_TID as isize - 1)),
    (number::SET_TID_ADDRESS, |_, _| Ok(first_tid() as isize)),
    (number::SET_ROBUST_LIST, |_, _| Ok(0)),
    // As a kernel that was built without it: libc and allocators do without.
    (number::RSEQ, |_, _| Err(errno::ENOSYS)),
    (number::UMASK, |_, [a, ..]| {
        // Whoever makes a file sees it.
        point(Operation::FileWrite(0), objects::paths());
        Ok(state().umask.replace(a as u32 & 0o777) as isize)
    }),
    (number::SCHED_GETAFFINITY, |_, [_, b, c, ..]| get_affinity(b, c)),
    (number::SCHED_SETAFFINITY, |_, [_, b, c, ..]| guest::bytes(c, b).map(|_| 0)),
    (number::SCHED_SETSCHEDULER, |_, [_, _, c, ..]| guest::bytes(c, 4).map(|_| 0)),
    (number::SCHED_GETATTR, |_, [a, b, c, d, ..]| get_attributes(a, b, c, d)),
    (number::SCHED_SETATTR, |_, [_, b, ..]| set_attributes(b)),
    (number::SCHED_SETPARAM, |_, [_, b, ..]| guest::bytes(b, 4).map(|_| 0)),
    (number::GETRUSAGE, |_, [_, b, ..]| guest::zero(b, 144).map(|()| 0)),
    (number::SYSINFO, |_, [a, ..]| system_information(a)),
    (number::TIMES, |_, [a, ..]| {
        guest::store_if_wanted(a, [0u64; 4])?;
        Ok((state().clock.get() / 10_000_000) as isize)
    }),
    (number::GETCPU, |_, [a, b, ..]| {
        guest::store_if_wanted(a, 0u32)?;
        guest::store_if_wanted(b, 0u32)?;
        Ok(0)
    }),
    (number::GETRLIMIT, |_, [a, b, ..]| limit(a, 0, b)),
    (number::SETRLIMIT, |_, [a, b, ..]| {
        guest::bytes(b, 16)?;
        limit(a, b, 0)
    }),
    (number::PRLIMIT64, |_, [a, b, c, d, ..]| {
        if a != 0 && a as i32 != first_tid() {
            stop!("prlimit64 of another process is not modelled");
        }
        limit(b, c, d)
    }),
    (number::MEMBARRIER, |_, _| Ok(0)),
];

/// Two processors, so that nothing decides that threads are pointless.
fn get_affinity(length: usize, address: usize) -> Answer {
    const SIZE: usize = size_of::<u64>();
    if length < SIZE || !length.is_multiple_of(SIZE) {
        return Err(errno::EINVAL);
    }
    guest::store(address, 3u64)?;
    Ok(SIZE as isize)
}

/// What every thread is scheduled by, as far as a program can tell: the policy that it began with.
fn get_attributes(thread: usize, at: usize, size: usize, flags: usize) -> Answer {
    const SIZES: core::ops::RangeInclusive<usize> = 48..=4096;
    const KNOWN: usize = 56;
    if at == 0 || !SIZES.contains(&size) || flags != 0 || (thread as i32) < 0 {
        return Err(errno::EINVAL);
    }
    guest::zero(at, size)?;
    guest::store(at, size.min(KNOWN) as u32)?;
    Ok(0)
}

/// A hint without effect, like other ways to set a policy.
fn set_attributes(at: usize) -> Answer {
    if at == 0 {
        return Err(errno::EINVAL);
    }
    let size: u32 = guest::load(at)?;
    guest::bytes(at, (size as usize).max(4)).map(|_| 0)
}

/// A machine with four gigabytes of memory, half of them free, that runs nothing else.
fn system_information(at: usize) -> Answer {
    const GIGABYTE: u64 = 1 << 30;
    guest::zero(at, 112)?;
    guest::store(at, state().clock.get() / 1_000_000_000)?;
    guest::store(at + 32, [4 * GIGABYTE, 2 * GIGABYTE])?;
    guest::store(at + 80, 1u16)?;
    guest::store(at + 104, 1u32)?;
    Ok(0)
}

/// Gets and sets a limit of resources. None is enforced, but programs look at what they have set.
fn limit(resource: usize, new: usize, old: usize) -> Answer {
    const RESOURCES: usize = 16;
    if resource >= RESOURCES {
        return Err(errno::EINVAL);
    }
    let given = if new == 0 { None } else { Some(guest::load::<[u64; 2]>(new)?) };
    let settings = &state().settings;
    let (slot, changed) = (&settings.limits[resource], &settings.changed_limits);
    let mut before = slot.get();
    if changed.get() & 1 << resource == 0 {
        answer(sys!(number::PRLIMIT64, 0, resource, 0, before.as_mut_ptr()))?;
    }
    if let Some([soft, hard]) = given {
        if soft > hard {
            return Err(errno::EINVAL);
        }
        if hard > before[1] && !crate::credentials::is_root() {
            return Err(errno::EPERM);
        }
        slot.set([soft, hard]);
        changed.set(changed.get() | 1 << resource);
    }
    guest::store_if_wanted(old, before)?;
    Ok(0)
}
