//! Libraries that the program loads while it runs.
//!
//! Code that is loaded later would run without patches, and no snapshot would know of it. So the checker
//! is told which library the program wants, starts the program anew, and has it loaded before `main`,
//! where patches, symbols and the first snapshot come after it. The program's own `dlopen` finds it
//! loaded then. Its constructors run before `main`, and `dlclose` does not unload it.

use crate::ending;
use crate::fail::stop;
use crate::libc;
use crate::memory::bytes;
use crate::multi_process;
use crate::region::{own, setup};
use core::ffi::c_char;
use everypath_shim_abi::{MAX_LIBRARIES, MAX_TEXT, Outcome};

unsafe extern "C" {
    fn dlerror() -> *const c_char;
}

/// Look whether a library is loaded, and load none.
const NO_LOAD: i32 = 4;
/// Prefer the library's own symbols and libc's to those that are interposed: that must not be.
const DEEP_BIND: i32 = 8;
/// Resolve all symbols at once.
const NOW: i32 = 2;

fn real_open(name: usize, flags: i32) -> usize {
    let real = libc::real_cached!("dlopen", "GLIBC_2.34", "GLIBC_2.2.5");
    libc::call!(real, fn(usize, i32) -> usize, name, flags)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dlopen(name: usize, flags: i32) -> usize {
    if name == 0 || !ending::is_running() {
        return real_open(name, flags);
    }
    // SAFETY: forgets what went wrong before. JUSTIFICATION: only the loader knows.
    unsafe { dlerror() };
    let flags = flags & !DEEP_BIND;
    let found = real_open(name, flags | NO_LOAD);
    if found != 0 || flags & NO_LOAD != 0 {
        return found;
    }
    // SAFETY: says what went wrong. JUSTIFICATION: a library that is there, and not loaded, is no error.
    if !unsafe { dlerror() }.is_null() {
        return real_open(name, flags);
    }
    wanted(crate::memory::c_string(name), flags)
}

/// Ends the execution: a library is to be loaded before `main`.
pub(crate) fn wanted(name: &[u8], flags: i32) -> ! {
    let text = core::str::from_utf8(name).unwrap_or("?");
    let is_known = listed().any(|(_, known)| known == name);
    if is_known || name.len() >= MAX_TEXT || !multi_process::is_first() || setup().joint {
        stop!(
            "dlopen of {text} is not modelled: libraries must be loaded before main, and this one \
             cannot; link the program with it"
        );
    }
    ending::ended_with(Outcome::NeedsLibrary, flags & !DEEP_BIND, format_args!("{text}"))
}

/// A file is mapped to be executed, inside of libc.
pub(crate) fn is_mapped(path: &[u8]) -> ! {
    wanted(path, NOW)
}

/// The libraries that the checker knows of: flags and name.
fn listed() -> impl Iterator<Item = (i32, &'static [u8])> {
    const FLAGS: usize = size_of::<i32>();
    let list = bytes(own().libraries.as_ptr() as usize, MAX_LIBRARIES);
    let mut rest = list;
    core::iter::from_fn(move || {
        let (flags, names) = rest.split_at_checked(FLAGS)?;
        let length = names.iter().position(|&byte| byte == 0)?;
        rest = &names[length + 1..];
        let flags = i32::from_le_bytes(flags.try_into().ok()?);
        (length > 0).then_some((flags, &names[..length]))
    })
}

/// Loads what the program will ask for. What cannot be loaded it will not find, either.
pub(crate) fn load_listed() {
    for (flags, name) in listed() {
        real_open(name.as_ptr() as usize, flags);
    }
}
