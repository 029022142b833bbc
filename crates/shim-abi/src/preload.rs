//! Environment variables by which the loader is made to load the shim.
//!
//! The checker sets them, and the shim removes them before `main`: the program finds the environment
//! that it was given.

/// The path of the shim for the loader: the descriptor [`SHIM`](crate::reserved_fds::SHIM).
pub const SHIM_PATH: &str = "/proc/self/fd/199";

/// The path of what takes the place of ThreadSanitizer's runtime: the descriptor
/// [`TSAN`](crate::reserved_fds::TSAN).
pub const TSAN_PATH: &str = "/proc/self/fd/193";

/// What is loaded before everything else in a program that asks for that runtime. The loader takes the
/// second library for it, by its name.
pub const WITH_TSAN: (&str, &str) = ("LD_PRELOAD", "/proc/self/fd/199:/proc/self/fd/193");

/// Variables of the loader with their values.
pub const LOADER: [(&str, &str); 2] = [
    ("LD_PRELOAD", SHIM_PATH),
    // Symbols are resolved at the start: the resolver would run in the middle of an execution.
    ("LD_BIND_NOW", "1"),
];

/// The variable of libc's settings.
pub const TUNABLES_VARIABLE: &str = "GLIBC_TUNABLES";

/// What is appended to [`TUNABLES_VARIABLE`]: functions that copy and compare shall not use the upper
/// halves of vector registers, which cost more to save at a patched instruction than everything else
/// there. AVX2 stays: functions clear the registers that they used of it, and results of libm depend
/// on it.
pub const TUNABLES: &str = ":glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX_Fast_Unaligned_Load";

/// Of an entry `NAME=VALUE` of the environment: whether it is one of [`LOADER`].
pub fn is_of_loader(entry: &[u8]) -> bool {
    LOADER.iter().any(|(name, _)| value_of(entry, name).is_some())
}

/// Of an entry that sets [`TUNABLES_VARIABLE`]: how many bytes of it are the program's own, without
/// [`TUNABLES`]; 0 if it would not be there at all.
pub fn own_tunables(entry: &[u8]) -> Option<usize> {
    let own = value_of(entry, TUNABLES_VARIABLE)?.strip_suffix(TUNABLES.as_bytes())?;
    Some(if own.is_empty() { 0 } else { entry.len() - TUNABLES.len() })
}

fn value_of<'a>(entry: &'a [u8], name: &str) -> Option<&'a [u8]> {
    entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::reserved_fds;
    use std::format;

    #[test]
    fn the_loader_finds_the_shim_at_its_descriptor() {
        assert_eq!(SHIM_PATH, format!("/proc/self/fd/{}", reserved_fds::SHIM));
        assert_eq!(TSAN_PATH, format!("/proc/self/fd/{}", reserved_fds::TSAN));
        assert_eq!(WITH_TSAN.1, format!("{SHIM_PATH}:{TSAN_PATH}"));
    }

    #[test]
    fn the_program_gets_its_own_environment_back() {
        assert!(is_of_loader(b"LD_PRELOAD=/proc/self/fd/199") && is_of_loader(b"LD_BIND_NOW=1"));
        assert!(!is_of_loader(b"LD_PRELOADS=1") && !is_of_loader(b"PATH=/bin"));
        let ours = format!("{TUNABLES_VARIABLE}={TUNABLES}");
        assert_eq!(own_tunables(ours.as_bytes()), Some(0));
        let own = "GLIBC_TUNABLES=glibc.malloc.arena_max=1";
        assert_eq!(own_tunables(format!("{own}{TUNABLES}").as_bytes()), Some(own.len()));
        assert_eq!(own_tunables(own.as_bytes()), None);
    }
}
