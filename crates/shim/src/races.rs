//! Data races: two threads that are about to access the same bytes, one of them to write, and one by an
//! instruction that is not atomic.
//!
//! Accesses that conflict are steps, so threads stand before them. If two of them do at the same time,
//! nothing orders the accesses: that is a data race, whatever follows from it. Every race is met so: when
//! a search reverses the two steps, the thread of the first stands before its step while the other one
//! comes to its own.

use crate::ending;
use crate::region::setup;
use crate::state::{Access, MOST_ACCESSES, Status, Thread, state};
use everypath_shim_abi::{Outcome, Race, Site, SiteKind};

impl Access {
    /// The access of a patched instruction; locks and the like make none that could race.
    fn of(site: &Site, (address, length): (usize, usize)) -> Option<Self> {
        let writes = match site.kind {
            SiteKind::Load => false,
            SiteKind::Store
            | SiteKind::CompareExchange
            | SiteKind::Exchange
            | SiteKind::FetchModify => true,
            SiteKind::Pause
            | SiteKind::LoadCall
            | SiteKind::Fence
            | SiteKind::Random
            | SiteKind::Lock
            | SiteKind::LockCall
            | SiteKind::Unlock
            | SiteKind::UnlockCall
            | SiteKind::CondvarWait
            | SiteKind::CondvarWaitTimeout
            | SiteKind::NotifyOne
            | SiteKind::NotifyAll
            | SiteKind::ReadLock
            | SiteKind::ReadLockCall
            | SiteKind::WriteLock
            | SiteKind::WriteLockCall
            | SiteKind::RwUnlock
            | SiteKind::RwUnlockCall => return None,
        };
        let access = Access { address, length, writes, is_plain: site.is_plain, frees: false };
        (!site.is_suppressed).then_some(access)
    }

    /// An access of libc or the kernel, which are not atomic.
    pub(crate) fn plain(address: usize, length: usize, writes: bool) -> Self {
        Access { address, length, writes, is_plain: setup().races, frees: false }
    }

    /// That a block is freed.
    pub(crate) fn free(address: usize, length: usize) -> Self {
        Access { frees: true, ..Access::plain(address, length, true) }
    }

    fn races_with(self, other: Access) -> bool {
        let end = |of: Access| of.address + of.length;
        (self.is_plain || other.is_plain)
            && (self.writes || other.writes)
            && self.address < end(other)
            && other.address < end(self)
            && self.length > 0
            && other.length > 0
    }
}

/// A thread is about to execute a patched instruction. Ends the execution if that is a data race.
pub(crate) fn begin(thread: &Thread, site: &Site, accessed: (usize, usize)) {
    if !crate::accesses::is_armed() {
        return;
    }
    if let Some(access) = Access::of(site, accessed) {
        begin_all(thread, [access].into_iter());
    }
}

/// A thread is about to access memory. Ends the execution if that is a data race.
pub(crate) fn begin_all(thread: &Thread, accesses: impl Iterator<Item = Access>) {
    let mut all = [Access::NONE; MOST_ACCESSES];
    for (at, access) in accesses.enumerate() {
        expect_no_race(thread, access);
        if let Some(place) = all.get_mut(at) {
            *place = access;
        }
    }
    thread.accesses.set(all);
}

fn expect_no_race(thread: &Thread, access: Access) {
    let others = state().threads().filter(|other| {
        other.number.get() != thread.number.get() && other.status() == Status::Ready
    });
    let races =
        |other: &Thread| other.accesses.get().into_iter().find(|theirs| theirs.races_with(access));
    if let Some((other, theirs)) = { others }.find_map(|other| Some((other, races(other)?))) {
        let race = Race {
            other: other.number.get() as u8,
            sizes: [access, theirs].map(|of| of.length.min(u8::MAX.into()) as u8),
            writes: [access.writes, theirs.writes],
            frees: [access.frees, theirs.frees],
        };
        let address = access.address.max(theirs.address) as u64;
        crate::region::reply(|reply| reply.address = address);
        crate::heap::name_block(address as usize);
        ending::ended(Outcome::DataRace, race.to_detail());
    }
}

/// The access is about to happen. Ends the execution if the memory was freed meanwhile.
pub(crate) fn end(thread: &Thread) {
    for access in thread.accesses.replace([Access::NONE; MOST_ACCESSES]) {
        if access.length > 0 && !access.frees {
            crate::heap::expect_allocated(access.address);
        }
    }
}
