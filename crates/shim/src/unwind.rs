//! Exceptions: which of them end a Rust thread.

use crate::libc::{call, real_cached};
use crate::memory::load;
use crate::state::state;

/// What Rust's panics carry: "MOZ\0RUST".
const RUST_PANIC: u64 = u64::from_be_bytes(*b"MOZ\0RUST");

/// Stands in for libgcc's function: notes that a thread panics.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_RaiseException(exception: usize) -> i32 {
    if load::<u64>(exception) == RUST_PANIC && crate::controller::is_running() {
        let thread = state().current();
        thread.panicking.set(thread.panicking.get() + 1);
    }
    let real = real_cached!("_Unwind_RaiseException", "GCC_3.0");
    call!(real, fn(usize) -> i32, exception)
}
