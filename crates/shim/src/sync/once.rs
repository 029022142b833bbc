//! One-time initialisation.

use crate::libc::{call, real_cached};
use crate::memory::load;
use crate::scheduler::point;
use everypath_shim_abi::Operation;

const DONE: u32 = 2;

/// Stands in for libc's function, which does the work: it survives exceptions in the initialiser,
/// and who comes second waits in a futex that we see.
#[unsafe(no_mangle)]
pub(super) extern "C" fn pthread_once(control: usize, initialiser: usize) -> i32 {
    if load::<u32>(control) & DONE != 0 {
        return 0;
    }
    point(Operation::Once, control, 0);
    let real = real_cached!("pthread_once", "GLIBC_2.34", "GLIBC_2.2.5");
    call!(real, fn(usize, usize) -> i32, control, initialiser)
}
