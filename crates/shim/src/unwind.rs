//! Exceptions: which panics end a Rust thread.
//!
//! A thread dies of a panic that leaves what the program gave it to run. The checker knows where
//! Rust's threads call that (`Region::thread_starts`); a panic that lands in a frame further out
//! was caught by the standard library and not by the program. In a program without symbols
//! that is not known, and no panic counts.

use crate::libc::{call, real_cached};
use crate::memory::{bytes, load};
use crate::region::own;
use crate::state::state;

/// What Rust's panics carry.
const RUST_PANIC: u64 = u64::from_ne_bytes(*b"MOZ\0RUST");
/// What `std::thread::scope` says when it propagates the panic of a thread that was not joined.
const CARRIED_ON: &[u8] = b"a scoped thread panicked";

/// Interposes libgcc's function: notes which frame a panic must not leave.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_RaiseException(exception: usize) -> i32 {
    if crate::ending::is_running() {
        let is_panic = load::<u64>(exception) == RUST_PANIC;
        state().current().panic_frame.set(if is_panic { frame_of_start() } else { 0 });
        if is_panic && is_carried_on(exception) {
            state().own_threads().for_each(|thread| thread.panicked.set(false));
        }
    }
    let real = real_cached!("_Unwind_RaiseException", "GCC_3.0");
    call!(real, fn(usize) -> i32, exception)
}

/// Interposes libgcc's function: an exception is about to go on in a frame.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_SetIP(context: usize, address: usize) {
    if crate::ending::is_running() {
        let thread = state().current();
        let limit = thread.panic_frame.get();
        if limit != 0 && frame(context) > limit {
            thread.panicked.set(true);
            thread.panic_frame.set(0);
        }
    }
    let real = real_cached!("_Unwind_SetIP", "GCC_3.0");
    call!(real, fn(usize, usize), context, address);
}

/// Where the frame of a context is: frames further out have higher addresses.
fn frame(context: usize) -> usize {
    let real = real_cached!("_Unwind_GetCFA", "GCC_3.3");
    call!(real, fn(usize) -> usize, context)
}

/// The outermost frame that called what the program gave to its thread; 0 if there is none.
fn frame_of_start() -> usize {
    let mut found = 0usize;
    let real = real_cached!("_Unwind_Backtrace", "GCC_3.3");
    let look: extern "C" fn(usize, &mut usize) -> i32 = look_for_start;
    call!(real, fn(extern "C" fn(usize, &mut usize) -> i32, &mut usize) -> i32, look, &mut found);
    found
}

extern "C" fn look_for_start(context: usize, found: &mut usize) -> i32 {
    let real = real_cached!("_Unwind_GetIP", "GCC_3.0");
    let address = call!(real, fn(usize) -> u64, context);
    let starts = &own().thread_starts[..own().thread_start_count.get() as usize];
    // A return address: the call is before it.
    let is_in = |[start, end]: [u64; 2]| start < address && address <= end;
    if starts.iter().any(|start| is_in(start.get())) {
        *found = frame(context);
    }
    0
}

unsafe extern "C" {
    fn dladdr(address: usize, info: *mut [usize; 4]) -> i32;
}

fn is_in_module(address: usize) -> bool {
    let mut info = [0; 4];
    // SAFETY: any address may be asked for. JUSTIFICATION: the loader knows what it has loaded.
    unsafe { dladdr(address, &raw mut info) != 0 }
}

/// Whether a panic propagates those of scoped threads, which then are not reported themselves.
fn is_carried_on(exception: usize) -> bool {
    /// Behind what every exception has and a mark of the runtime's own: a boxed value.
    const PAYLOAD: usize = 40;
    let value: usize = load(exception + PAYLOAD);
    if !crate::protection::holds(value) {
        return false;
    }
    // If the value is a constant text, then so are its bytes: they are in a module.
    let [address, length] = load::<[usize; 2]>(value);
    length == CARRIED_ON.len() && is_in_module(address) && bytes(address, length) == CARRIED_ON
}
