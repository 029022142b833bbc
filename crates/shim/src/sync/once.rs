//! One-time initialisation.

use crate::libc::{call, real_cached};
use crate::memory::{load, store};
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
}

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

/// Stands in for libc's function.
#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_once(control: usize, initialiser: usize) -> i32 {
    if load::<u32>(control) == DONE {
        // It stays so; but whether it was so when this thread looked can make a difference.
        point(Operation::OnceSeen, control, 0);
        return 0;
    }
    point(Operation::Once, control, 0);
    if initialiser == of_cpp() {
        // libc's own survives exceptions, and who comes second waits in a futex that we see.
        let real = real_cached!("pthread_once", "GLIBC_2.34", "GLIBC_2.2.5");
        return call!(real, fn(usize, usize) -> i32, control, initialiser);
    }
    match load::<u32>(control) {
        FRESH => {
            store(control, RUNNING);
            call!(initialiser, fn());
            point(Operation::OnceDone, control, 0);
            store(control, DONE);
            grant_all(Waiting::Once, control);
        }
        RUNNING => {
            state().current().announce(Operation::Once, control, 0);
            if let Woken::Interrupted { .. } = wait(Waiting::Once, control, None) {
                return pthread_once(control, initialiser);
            }
        }
        _ => {}
    }
    0
}
