//! Finding the checker: functions of the preloaded shim, looked up by name.

#![expect(unsafe_code, reason = "functions that may not be there are found by name only")]

use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

unsafe extern "C" {
    /// Of libc, which the standard library links.
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// A function of the checker's, or that there is none.
///
/// Plain loads and stores only: the checker takes read-modify-writes for steps of the program.
struct Function(AtomicPtr<c_void>);

/// What stands for a function that was looked for and is not there.
static NOWHERE: u8 = 0;

impl Function {
    /// A function that was not looked for.
    const fn new() -> Self {
        Function(AtomicPtr::new(null_mut()))
    }

    /// The address of the function with this name; the same name every time.
    fn find(&self, name: &CStr) -> Option<*mut c_void> {
        let nowhere = (&raw const NOWHERE).cast_mut().cast();
        let mut found = self.0.load(Relaxed);
        if found.is_null() {
            // SAFETY: the name ends with a zero, and a null library means all that are loaded.
            // JUSTIFICATION: weak symbols are not stable, and linkers differ on what becomes of
            // them.
            found = unsafe { dlsym(null_mut(), name.as_ptr()) };
            found = if found.is_null() { nowhere } else { found };
            self.0.store(found, Relaxed);
        }
        (found != nowhere).then_some(found)
    }
}

/// Functions that call the checker's; if there is no checker, they return a default value.
macro_rules! functions {
    ($($(#[$about:meta])* fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)? = $symbol:literal;)*) => {
        $(
            $(#[$about])*
            pub(crate) fn $name($($argument: $kind),*) $(-> $result)? {
                static FUNCTION: Function = Function::new();
                let Some(address) = FUNCTION.find($symbol) else { return Default::default() };
                type Shape = extern "C" fn($($kind),*) $(-> $result)?;
                // SAFETY: the checker's function with this name has this shape, and only reads what
                // it is lent. JUSTIFICATION: an address has no type of its own.
                let function = unsafe { transmute::<*mut c_void, Shape>(address) };
                function($($argument),*)
            }
        )*
    };
}

functions! {
    /// A number below `ways`.
    fn choose(ways: u32) -> u32 = c"everypath_choose";
    /// Ends the execution unless `condition` is not 0.
    fn assume(condition: i32) = c"everypath_assume";
    /// Fails unless `condition` is not 0, with a message of `length` bytes.
    fn always(condition: i32, message: *const u8, length: usize) = c"everypath_always";
    /// Reaches a goal of `length` bytes if `condition` is not 0.
    fn sometimes(condition: i32, goal: *const u8, length: usize) = c"everypath_sometimes";
    /// Writes down `length` bytes.
    fn note(text: *const u8, length: usize) = c"everypath_note";
    /// Whether the network is unreliable for the thread's receives from now on.
    fn unreliable(on: i32) = c"everypath_unreliable";
    /// Begins an atomic section.
    fn atomic_begin() = c"everypath_atomic_begin";
    /// Ends it.
    fn atomic_end() = c"everypath_atomic_end";
}
