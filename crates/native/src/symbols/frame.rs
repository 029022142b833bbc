//! One frame of a stack.

use std::fmt;

/// A function of a stack and the line it is at, as far as known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The demangled name.
    pub function: Option<String>,
    /// The source file, relative to the folder it was compiled in if it is in there.
    pub file: Option<String>,
    /// The folder that the file was compiled in; empty if that is unknown.
    pub directory: String,
    /// The line in the file.
    pub line: Option<u32>,
    /// The file name of the module.
    pub module: String,
    /// Where in the module, as an address of its file.
    pub offset: u64,
}

impl fmt::Display for Frame {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => Some(format!("{file}:{line}")),
            (Some(file), None) => Some(file.clone()),
            (None, _) => None,
        };
        let Frame { module, offset, .. } = self;
        match (&self.function, place) {
            (Some(function), Some(place)) => write!(formatter, "{function} at {place}"),
            (Some(function), None) => write!(formatter, "{function} in {module}+{offset:#x}"),
            (None, Some(place)) => write!(formatter, "{place}"),
            (None, None) => write!(formatter, "{module}+{offset:#x}"),
        }
    }
}

/// Modules that are not the program's own.
const FOREIGN_MODULES: [&str; 7] = [
    "ld-linux-x86-64.so",
    "libc.so",
    "libeverypath",
    "libgcc_s.so",
    "libm.so",
    "libpthread.so",
    "libstdc++.so",
];
/// How functions of the languages' libraries and of ours start.
const FOREIGN_FUNCTIONS: [&str; 11] = [
    "<alloc::",
    "<core::",
    "<everypath_verify::",
    "<std::",
    "__gthread",
    "__pthread",
    "alloc::",
    "core::",
    "everypath_",
    "pthread_",
    "std::",
];
/// Where the sources of the languages' libraries are.
const FOREIGN_FILES: [&str; 2] = ["/rustc/", "/usr/include/"];
/// The sources of Rust's library where they are installed.
const RUST_LIBRARY: &str = "/lib/rustlib/src/rust/library/";

impl Frame {
    /// Whether the function belongs to a library of the language, to libc or to us.
    pub(crate) fn is_foreign(&self) -> bool {
        let starts = |text: &str, prefixes: &[&str]| prefixes.iter().any(|p| text.starts_with(p));
        let function = self.function.as_deref().unwrap_or_default();
        let file = self.file.as_deref().unwrap_or_default();
        starts(&self.module, &FOREIGN_MODULES)
            || starts(function, &FOREIGN_FUNCTIONS)
            || starts(file, &FOREIGN_FILES)
            || file.contains(RUST_LIBRARY)
    }
}

/// The frames from the first to the last that is the program's own. Where none is, all of them:
/// better a line of a library than none.
pub fn interesting(frames: &[Frame]) -> &[Frame] {
    let own = |frame: &Frame| !frame.is_foreign();
    match (frames.iter().position(own), frames.iter().rposition(own)) {
        (Some(first), Some(last)) => &frames[first..=last],
        _ => frames,
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, interesting};

    fn frame(function: &str, file: &str, module: &str) -> Frame {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_string());
        Frame {
            function: some(function),
            file: some(file),
            directory: String::new(),
            line: some(file).map(|_| 12),
            module: module.to_string(),
            offset: 0x1234,
        }
    }

    #[test]
    fn frames_say_what_is_known() {
        assert_eq!(frame("transfer", "bank.rs", "bank").to_string(), "transfer at bank.rs:12");
        assert_eq!(frame("transfer", "", "libfoo.so").to_string(), "transfer in libfoo.so+0x1234");
        assert_eq!(frame("", "bank.rs", "bank").to_string(), "bank.rs:12");
        assert_eq!(frame("", "", "bank").to_string(), "bank+0x1234");
    }

    #[test]
    fn the_program_is_what_is_interesting() {
        let stack = [
            frame("entry", "", "libeverypath_shim.so"),
            frame("pthread_mutex_lock", "", "libc.so.6"),
            frame("std::sys::sync::mutex::lock", "/rustc/01/library/std/src/m.rs", "bank"),
            frame("<alloc::sync::Arc<T> as core::ops::Deref>::deref", "", "bank"),
            frame("lock", "/opt/lib/rustlib/src/rust/library/std/src/m.rs", "bank"),
            frame("<bank::Account as core::ops::Drop>::drop", "src/bank.rs", "bank"),
            frame("std::rt::lang_start", "", "bank"),
        ];
        assert_eq!(interesting(&stack), &stack[5..6]);
        assert_eq!(interesting(&stack[..3]), &stack[..3]);
    }
}
