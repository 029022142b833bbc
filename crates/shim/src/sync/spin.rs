//! POSIX spin locks: a spinning thread is blocked.

use super::{give_back, my_tid, tid};
use crate::memory::{load, store};
use crate::objects;
use crate::scheduler::{Woken, first_waiter, grant, point, wait};
use crate::state::state;
use crate::sys::errno;
use everypath_shim_abi::{Operation, Waiting};

/// Who holds the lock: the word is the owner's number, 0 if it is free.
pub(super) fn owner(address: usize) -> i32 {
    load(address)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_spin_init(lock: usize, _shared: i32) -> i32 {
    store(lock, 0i32);
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_spin_destroy(_lock: usize) -> i32 {
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_spin_lock(lock: usize) -> i32 {
    let object = objects::memory(lock);
    point(Operation::SpinLock, object);
    if owner(lock) == 0 {
        store(lock, my_tid());
        return 0;
    }
    state().current().announce(Operation::SpinLock, object);
    match wait(Waiting::Spin, object, None) {
        Woken::Interrupted { .. } => pthread_spin_lock(lock),
        Woken::Granted | Woken::TimedOut => 0,
    }
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_spin_trylock(lock: usize) -> i32 {
    point(Operation::SpinTrylock, objects::memory(lock));
    if owner(lock) != 0 {
        return errno::EBUSY;
    }
    store(lock, my_tid());
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_spin_unlock(lock: usize) -> i32 {
    give_back(Operation::SpinUnlock, lock, owner);
    match first_waiter(Waiting::Spin, objects::memory(lock)) {
        Some(waiter) => {
            store(lock, tid(waiter));
            grant(waiter);
        }
        None => store(lock, 0i32),
    }
    0
}
