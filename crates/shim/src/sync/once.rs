//! One-time initialisation (`pthread_once`, `call_once`, `Once`).

use crate::libc::{call, real_cached};
use crate::memory::{load, store};
use crate::objects;
use crate::scheduler::{Woken, grant_all, point, wait};
use crate::state::state;
use core::ffi::{c_char, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use everypath_shim_abi::{Operation, Waiting};

const FRESH: u32 = 0;
const RUNNING: u32 = 1;
const DONE: u32 = 2;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> usize;
    fn _pthread_cleanup_push(
        buffer: *mut CleanupBuffer,
        routine: extern "C" fn(usize),
        argument: usize,
    );
    fn _pthread_cleanup_pop(buffer: *mut CleanupBuffer, execute: i32);
}

/// What libc writes down about a handler: as many words as these.
type CleanupBuffer = [usize; 4];

/// The function through which C++ initialises: it may throw, and then it has not.
fn of_cpp() -> usize {
    static FOUND: AtomicUsize = AtomicUsize::new(1);
    if FOUND.load(Relaxed) == 1 {
        // SAFETY: looks a name up. JUSTIFICATION: only the loader knows whether it is there.
        let found = unsafe { dlsym(core::ptr::null_mut(), c"__once_proxy".as_ptr()) };
        FOUND.store(found, Relaxed);
    }
    FOUND.load(Relaxed)
}

/// Runs an initialiser. If its thread ends in it, it has not been run.
fn run(control: usize, initialiser: usize) {
    let mut buffer: CleanupBuffer = [0; 4];
    // SAFETY: the buffer outlives the call, and nothing but libc touches it.
    // JUSTIFICATION: who ends a thread unwinds this frame, and only libc's list says what to do then.
    unsafe { _pthread_cleanup_push(&raw mut buffer, is_given_up, control) };
    call!(initialiser, fn());
    // SAFETY: as above.
    unsafe { _pthread_cleanup_pop(&raw mut buffer, 0) };
}

extern "C" fn is_given_up(control: usize) {
    settle(control, FRESH);
}

/// Lets those go on who wait for an initialiser.
fn settle(control: usize, becomes: u32) {
    point(Operation::OnceDone, objects::memory(control));
    store(control, becomes);
    grant_all(Waiting::Once, objects::memory(control));
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_once(control: usize, initialiser: usize) -> i32 {
    if load::<u32>(control) == DONE {
        // It stays so; but whether it was so when this thread looked can make a difference.
        point(Operation::OnceSeen, objects::memory(control));
        return 0;
    }
    let object = objects::memory(control);
    point(Operation::Once, object);
    if initialiser == of_cpp() {
        // libc's own survives exceptions, and who comes second waits in a futex that we see.
        let real = real_cached!("pthread_once", "GLIBC_2.34", "GLIBC_2.2.5");
        return call!(real, fn(usize, usize) -> i32, control, initialiser);
    }
    match load::<u32>(control) {
        FRESH => {
            store(control, RUNNING);
            run(control, initialiser);
            settle(control, DONE);
        }
        RUNNING => {
            state().current().announce(Operation::Once, object);
            let woken = wait(Waiting::Once, object, None);
            if woken != Woken::Granted || load::<u32>(control) != DONE {
                return pthread_once(control, initialiser);
            }
        }
        _ => {}
    }
    0
}
