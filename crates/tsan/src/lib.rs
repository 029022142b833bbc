//! Takes the place of ThreadSanitizer's runtime in a program that was built with `-fsanitize=thread`.
//!
//! Such a program calls a function before each of its plain accesses, and in place of each atomic one.
//! Plain accesses are still instructions of the program, and are seen there, as in every other program:
//! the functions before them do nothing. The atomic ones are carried out here, by functions whose
//! instructions are seen as well; so in these programs every access elsewhere is known to be plain.
//!
//! The loader takes this library for `libtsan.so`, whose name it has, so nothing of the real one is
//! loaded: neither its start-up code nor the functions of libc that it replaces.

#![no_std]

mod atomics;
mod copies;
mod nothing;

/// Nothing here panics.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
