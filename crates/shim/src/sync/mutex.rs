//! POSIX mutexes of every kind.

use super::{WaitLimit, give_back, is_clock, my_tid, owns, tid};
use crate::fail::stop;
use crate::libc::{call, real_cached};
use crate::memory::{load, store, view};
use crate::objects;
use crate::scheduler::{
    LOOKS, Woken, ask, before_locking, first_waiter, grant, note_in_vain, point, skips, spin,
    times_in_vain, wait,
};
use crate::state::{Thread, state};
use crate::sys::errno;
use crate::time::REALTIME;
use core::cell::Cell;
use everypath_shim_abi::{Operation, Waiting};

/// A `pthread_mutex_t`.
#[repr(C)]
struct Mutex {
    lock: Cell<u32>,
    count: Cell<u32>,
    owner: Cell<i32>,
    users: Cell<u32>,
    kind: Cell<i32>,
    spins: Cell<u32>,
    /// The next robust mutex that the same thread holds.
    previous: Cell<usize>,
    next: Cell<usize>,
}

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Free, but who held it has ended without giving it back.
const ORPHANED: u32 = 0x4000_0000;
/// Given back without having been made consistent: of no use any more.
const LOST: u32 = 0x7fff_ffff;

const RECURSIVE: i32 = 1;
const ERROR_CHECKING: i32 = 2;
const ROBUST: i32 = 16;
const INHERITING: i32 = 32;
const PROTECTING: i32 = 64;
/// Marks a held robust mutex whose last owner died.
const INCONSISTENT: u32 = 0x8000_0000;

impl Mutex {
    fn is(&self, kind: i32) -> bool {
        self.kind.get() & 3 == kind
    }

    /// Whether libc takes it without looking at its owner.
    fn is_plain(&self) -> bool {
        self.kind.get() & (ROBUST | INHERITING | PROTECTING) == 0
    }

    fn is_robust(&self) -> bool {
        self.kind.get() & ROBUST != 0
    }

    /// Gives the mutex to a thread; the result is that of its call.
    fn give(&self, thread: &Thread) -> i32 {
        let orphaned = self.lock.get() == ORPHANED;
        self.lock.set(HELD);
        self.owner.set(tid(thread));
        self.count.set(1);
        if self.is_robust() {
            self.users.set(if orphaned { INCONSISTENT } else { 1 });
            self.next.set(thread.robust.replace((&raw const *self) as usize));
        }
        if orphaned { errno::EOWNERDEAD } else { 0 }
    }

    /// Takes the mutex off its owner's list.
    fn unlist(&self, thread: &Thread) {
        let me = (&raw const *self) as usize;
        let mut link = thread.robust.get();
        if link == me {
            thread.robust.set(self.next.get());
            return;
        }
        while link != 0 {
            let mutex: &Mutex = view(link);
            if mutex.next.get() == me {
                mutex.next.set(self.next.get());
                return;
            }
            link = mutex.next.get();
        }
    }

    /// Unlocks the mutex, or grants it to the first waiter.
    fn pass_on(&self, freed: u32) {
        self.lock.set(freed);
        self.owner.set(0);
        self.count.set(0);
        self.users.set(0);
        let address = (&raw const *self) as usize;
        if freed == LOST {
            crate::scheduler::grant_all(Waiting::Mutex, objects::memory(address));
        } else if let Some(waiter) = first_waiter(Waiting::Mutex, objects::memory(address)) {
            self.give(waiter);
            if freed == ORPHANED {
                self.users.set(INCONSISTENT);
            }
            grant(waiter);
        }
    }
}

/// Who holds a mutex.
pub(super) fn owner(address: usize) -> i32 {
    view::<Mutex>(address).owner.get()
}

/// Gives back the robust mutexes of a thread that ends.
pub(crate) fn release_robust(thread: &Thread) {
    while thread.robust.get() != 0 {
        let mutex: &Mutex = view(thread.robust.get());
        thread.robust.set(mutex.next.get());
        mutex.pass_on(ORPHANED);
    }
}

fn lock(address: usize, patience: WaitLimit) -> i32 {
    if patience == WaitLimit::Try {
        return try_lock(address);
    }
    before_locking(address);
    ask(Operation::MutexLock, objects::memory(address), patience.deadline());
    acquire(address, patience)
}

/// Stands for the instruction of an attempt to lock.
const TRIES: u64 = 1;

/// Locks a mutex if nobody holds it. An attempt that fails again and again because of the same owner
/// waits for a change.
fn try_lock(address: usize) -> i32 {
    let object = objects::memory(address);
    let holder = || u64::from(owner(address) as u32);
    let fails = holder() != 0 && !owns(owner(address));
    if fails && skips(state().current(), address, holder()) {
        return acquire(address, WaitLimit::Try);
    }
    if fails && times_in_vain(TRIES, address, holder()) >= LOOKS {
        spin(Operation::MutexTrylock, object);
    } else {
        point(Operation::MutexTrylock, object);
    }
    let found = holder();
    let result = acquire(address, WaitLimit::Try);
    if result == errno::EBUSY {
        note_in_vain(TRIES, address, found);
    }
    result
}

fn lock_until(address: usize, clock: i32, until: usize) -> i32 {
    match WaitLimit::until(clock, until) {
        Ok(patience) => lock(address, patience),
        // A moment that is none only matters to who has to wait for it.
        Err(error) => match lock(address, WaitLimit::Try) {
            errno::EBUSY => error,
            result => result,
        },
    }
}

/// Takes a mutex or waits for it, as part of a step that has been taken.
pub(super) fn acquire(address: usize, patience: WaitLimit) -> i32 {
    loop {
        if let Some(result) = acquire_unless_interrupted(address, patience) {
            return result;
        }
        // Asking again is a step of its own.
        ask(Operation::MutexLock, objects::memory(address), patience.deadline());
    }
}

fn acquire_unless_interrupted(address: usize, patience: WaitLimit) -> Option<i32> {
    let mutex: &Mutex = view(address);
    let thread = state().current();
    match mutex.lock.get() {
        FREE | ORPHANED => return Some(mutex.give(thread)),
        LOST => return Some(errno::ENOTRECOVERABLE),
        // The word holds its priority, and libc would change that of the thread.
        _ if mutex.kind.get() & PROTECTING != 0 => {
            stop!("a mutex with the protocol PTHREAD_PRIO_PROTECT is not modelled")
        }
        _ => {}
    }
    if mutex.owner.get() == my_tid() {
        if mutex.is(RECURSIVE) {
            mutex.count.set(mutex.count.get() + 1);
            return Some(0);
        }
        if mutex.is(ERROR_CHECKING) && (patience != WaitLimit::Try || !mutex.is_plain()) {
            return Some(errno::EDEADLK);
        }
    }
    if patience == WaitLimit::Try {
        return Some(errno::EBUSY);
    }
    let lock = objects::memory(address);
    thread.announce(Operation::MutexLock, lock);
    match wait(Waiting::Mutex, lock, patience.deadline()) {
        Woken::TimedOut => Some(errno::ETIMEDOUT),
        Woken::Granted if mutex.lock.get() == LOST => Some(errno::ENOTRECOVERABLE),
        Woken::Granted if mutex.users.get() == INCONSISTENT => Some(errno::EOWNERDEAD),
        Woken::Granted => Some(0),
        Woken::Interrupted { .. } => None,
    }
}

/// Gives a mutex back, as part of a step that has been taken.
pub(super) fn release(address: usize) -> i32 {
    let mutex: &Mutex = view(address);
    let mine = mutex.owner.get() == my_tid();
    if !mine && (mutex.is(RECURSIVE) || mutex.is(ERROR_CHECKING) || mutex.is_robust()) {
        return errno::EPERM;
    }
    if mutex.is(RECURSIVE) && mutex.count.get() > 1 {
        mutex.count.set(mutex.count.get() - 1);
        return 0;
    }
    let lost = mutex.is_robust() && mutex.users.get() == INCONSISTENT;
    if mutex.is_robust() {
        mutex.unlist(state().current());
    }
    mutex.pass_on(if lost { LOST } else { FREE });
    0
}

/// Gives a mutex back however often it is held; returns how often that was, or why not.
pub(super) fn release_fully(address: usize) -> Result<u32, i32> {
    let mutex: &Mutex = view(address);
    let count = mutex.count.replace(1);
    match release(address) {
        0 => Ok(count),
        error => {
            mutex.count.set(count);
            Err(error)
        }
    }
}

/// Sets how often a mutex is held.
pub(super) fn set_count(address: usize, count: u32) {
    view::<Mutex>(address).count.set(count);
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_mutex_lock(mutex: usize) -> i32 {
    lock(mutex, WaitLimit::Forever)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_mutex_trylock(mutex: usize) -> i32 {
    lock(mutex, WaitLimit::Try)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_mutex_timedlock(mutex: usize, until: usize) -> i32 {
    lock_until(mutex, REALTIME, until)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_mutex_clocklock(mutex: usize, clock: i32, until: usize) -> i32 {
    if is_clock(clock) { lock_until(mutex, clock, until) } else { errno::EINVAL }
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_mutex_unlock(mutex: usize) -> i32 {
    give_back(Operation::MutexUnlock, mutex, owner);
    release(mutex)
}

/// Interposes libc's function: a scheduling point, since known bugs hide there.
#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_mutex_init(mutex: usize, attributes: usize) -> i32 {
    point(Operation::MutexInit, objects::memory(mutex));
    let real = real_cached!("pthread_mutex_init", "GLIBC_2.2.5");
    call!(real, fn(usize, usize) -> i32, mutex, attributes)
}

/// Interposes libc's function: a scheduling point, since known bugs hide there.
#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_mutex_destroy(mutex: usize) -> i32 {
    point(Operation::MutexDestroy, objects::memory(mutex));
    if load::<u32>(mutex) == HELD {
        return errno::EBUSY;
    }
    store(mutex + core::mem::offset_of!(Mutex, kind), -1i32);
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_mutex_consistent(mutex: usize) -> i32 {
    let mutex: &Mutex = view(mutex);
    if mutex.users.get() != INCONSISTENT {
        return errno::EINVAL;
    }
    mutex.users.set(1);
    0
}
