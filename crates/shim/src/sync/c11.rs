//! C11 threads, in terms of POSIX threads.

use super::{mutex, pthread_cond};
use crate::memory::store;
use crate::sys::errno;
use crate::thread;

const SUCCESS: i32 = 0;
const BUSY: i32 = 1;
const ERROR: i32 = 2;
const NO_MEMORY: i32 = 3;
const TIMED_OUT: i32 = 4;

fn result(error: i32) -> i32 {
    match error {
        0 => SUCCESS,
        errno::EBUSY => BUSY,
        errno::ENOMEM => NO_MEMORY,
        errno::ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn thrd_create(handle: usize, function: usize, argument: usize) -> i32 {
    result(thread::pthread_create(handle, 0, function, argument))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn thrd_join(handle: usize, value: usize) -> i32 {
    let mut returned = 0usize;
    let error = thread::pthread_join(handle, (&raw mut returned) as usize);
    if error == 0 && value != 0 {
        store(value, returned as i32);
    }
    result(error)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn thrd_detach(handle: usize) -> i32 {
    result(thread::pthread_detach(handle))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn thrd_exit(value: i32) -> ! {
    crate::cancel::pthread_exit(value as isize as usize)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn thrd_yield() {
    thread::sched_yield();
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn thrd_sleep(request: usize, left: usize) -> i32 {
    match crate::time::nanosleep(crate::time::MONOTONIC, 0, request, left) {
        Ok(_) => 0,
        Err(errno::EINTR) => -1,
        Err(_) => -2,
    }
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn mtx_init(address: usize, kind: i32) -> i32 {
    const RECURSIVE: i32 = 1;
    // The attributes of a mutex are its kind.
    let attributes = kind & RECURSIVE;
    result(mutex::pthread_mutex_init(address, (&raw const attributes) as usize))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn mtx_destroy(address: usize) {
    mutex::pthread_mutex_destroy(address);
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn mtx_lock(address: usize) -> i32 {
    result(mutex::pthread_mutex_lock(address))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn mtx_trylock(address: usize) -> i32 {
    result(mutex::pthread_mutex_trylock(address))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn mtx_timedlock(address: usize, until: usize) -> i32 {
    result(mutex::pthread_mutex_timedlock(address, until))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn mtx_unlock(address: usize) -> i32 {
    result(mutex::pthread_mutex_unlock(address))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn cnd_wait(address: usize, held: usize) -> i32 {
    result(pthread_cond::pthread_cond_wait(address, held))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn cnd_timedwait(address: usize, held: usize, until: usize) -> i32 {
    result(pthread_cond::pthread_cond_timedwait(address, held, until))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn cnd_signal(address: usize) -> i32 {
    result(pthread_cond::pthread_cond_signal(address))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn cnd_broadcast(address: usize) -> i32 {
    result(pthread_cond::pthread_cond_broadcast(address))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn cnd_destroy(address: usize) {
    pthread_cond::pthread_cond_destroy(address);
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn tss_create(key: usize, destructor: usize) -> i32 {
    result(thread::pthread_key_create(key, destructor))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn tss_delete(key: u32) {
    thread::pthread_key_delete(key);
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn call_once(control: usize, initialiser: usize) {
    super::once::pthread_once(control, initialiser);
}
