//! Read-write locks.

use super::{WaitLimit, my_tid, tid};
use crate::memory::view;
use crate::objects;
use crate::scheduler::{Woken, ask, first_waiter, grant, point, wait};
use crate::state::state;
use crate::sys::errno;
use crate::time::REALTIME;
use core::cell::Cell;
use everypath_shim_abi::{LockOrder, Operation, RwRelease, Waiting};

/// A `pthread_rwlock_t`.
#[repr(C)]
struct RwLock {
    readers: Cell<u32>,
    unused: [u32; 5],
    writer: Cell<i32>,
    shared: Cell<i32>,
    more: [u64; 2],
    flags: Cell<u32>,
}

/// A kind that makes readers wait behind writers.
const PREFER_WRITERS: u32 = 2;

/// Who holds the lock to write.
pub(super) fn writer(address: usize) -> i32 {
    view::<RwLock>(address).writer.get()
}

fn read(address: usize, patience: WaitLimit) -> i32 {
    let trying = patience == WaitLimit::Try;
    let unordered = Operation::ReadLock(LockOrder::Unordered);
    let operation = if trying { Operation::TryReadLock } else { unordered };
    let object = objects::memory(address);
    ask(operation, object, patience.deadline());
    let lock: &RwLock = view(address);
    if lock.writer.get() == my_tid() {
        return if trying { errno::EBUSY } else { errno::EDEADLK };
    }
    let behind =
        lock.flags.get() == PREFER_WRITERS && first_waiter(Waiting::Write, object).is_some();
    if lock.writer.get() == 0 && !behind {
        lock.readers.set(lock.readers.get() + 1);
        return 0;
    }
    if trying {
        return errno::EBUSY;
    }
    state().current().announce(unordered, object);
    match wait(Waiting::Read, object, patience.deadline()) {
        Woken::Granted => 0,
        Woken::TimedOut => errno::ETIMEDOUT,
        Woken::Interrupted { .. } => read(address, patience),
    }
}

fn write(address: usize, patience: WaitLimit) -> i32 {
    let trying = patience == WaitLimit::Try;
    let unordered = Operation::WriteLock(LockOrder::Unordered);
    let operation = if trying { Operation::TryWriteLock } else { unordered };
    let object = objects::memory(address);
    ask(operation, object, patience.deadline());
    let lock: &RwLock = view(address);
    if lock.writer.get() == my_tid() {
        return if trying { errno::EBUSY } else { errno::EDEADLK };
    }
    if lock.writer.get() == 0 && lock.readers.get() == 0 {
        lock.writer.set(my_tid());
        return 0;
    }
    if trying {
        return errno::EBUSY;
    }
    state().current().announce(unordered, object);
    match wait(Waiting::Write, object, patience.deadline()) {
        Woken::Granted => 0,
        Woken::TimedOut => {
            // Readers that waited behind this writer need not any more.
            admit(address);
            errno::ETIMEDOUT
        }
        Woken::Interrupted { .. } => {
            admit(address);
            write(address, patience)
        }
    }
}

/// Grants the lock: to the first waiter, and with a reader to all other readers.
fn admit(address: usize) {
    let lock: &RwLock = view(address);
    if lock.writer.get() != 0 {
        return;
    }
    let asked = |waiting| first_waiter(waiting, objects::memory(address));
    let (reader, writer) = (asked(Waiting::Read), asked(Waiting::Write));
    let preferred = lock.flags.get() == PREFER_WRITERS && writer.is_some();
    match (reader, writer) {
        (_, Some(writer))
            if lock.readers.get() == 0
                && (preferred || reader.is_none_or(|r| writer.place.get() <= r.place.get())) =>
        {
            lock.writer.set(tid(writer));
            grant(writer);
        }
        (Some(_), _) if !preferred => {
            for reader in state().waiters(Waiting::Read, objects::memory(address)) {
                lock.readers.set(lock.readers.get() + 1);
                grant(reader);
            }
        }
        _ => {}
    }
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_rwlock_rdlock(lock: usize) -> i32 {
    read(lock, WaitLimit::Forever)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_rwlock_tryrdlock(lock: usize) -> i32 {
    read(lock, WaitLimit::Try)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_rwlock_timedrdlock(lock: usize, until: usize) -> i32 {
    WaitLimit::until(REALTIME, until).map_or_else(|error| error, |patience| read(lock, patience))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_rwlock_clockrdlock(lock: usize, clock: i32, until: usize) -> i32 {
    WaitLimit::until(clock, until).map_or_else(|error| error, |patience| read(lock, patience))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_rwlock_wrlock(lock: usize) -> i32 {
    write(lock, WaitLimit::Forever)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_rwlock_trywrlock(lock: usize) -> i32 {
    write(lock, WaitLimit::Try)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_rwlock_timedwrlock(lock: usize, until: usize) -> i32 {
    WaitLimit::until(REALTIME, until).map_or_else(|error| error, |patience| write(lock, patience))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_rwlock_clockwrlock(lock: usize, clock: i32, until: usize) -> i32 {
    WaitLimit::until(clock, until).map_or_else(|error| error, |patience| write(lock, patience))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_rwlock_unlock(address: usize) -> i32 {
    point(Operation::RwUnlock(RwRelease::Unordered), objects::memory(address));
    let lock: &RwLock = view(address);
    if lock.writer.get() != 0 {
        lock.writer.set(0);
    } else {
        lock.readers.set(lock.readers.get().saturating_sub(1));
    }
    admit(address);
    0
}
