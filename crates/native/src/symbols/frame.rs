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
    /// Whether the source is of a crate that the program depends on.
    pub is_dependency: bool,
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
const FOREIGN_FUNCTIONS: [&str; 19] = [
    "<alloc::",
    "<core::",
    "<everypath_verify::",
    "<std::",
    "__cxx",
    "__gnu_cxx::",
    "__gthread",
    "__libc_start",
    "__pthread",
    "__rust_",
    "__rustc::",
    "_start",
    "alloc::",
    "core::",
    "everypath_",
    "pthread_",
    "rust_begin_unwind",
    "start_thread",
    "std::",
];
/// Where the sources of the languages' libraries are.
const FOREIGN_FILES: [&str; 5] =
    ["/rustc/", "/usr/include/", "library/alloc/src/", "library/core/src/", "library/std/src/"];
/// The sources of Rust's library where they are installed.
const RUST_LIBRARY: &str = "/lib/rustlib/src/rust/library/";
/// In the names of functions that are one atomic access, whoever wrote it.
const ATOMIC_FUNCTIONS: [&str; 4] = ["sync::atomic::", "std::atomic", "__atomic_base", "::fence"];
/// In the names of functions that only count references: the types, and the functions of these.
const COUNTED_TYPES: [&str; 5] =
    ["alloc::sync::Arc", "alloc::sync::Weak", "_Sp_counted_base", "__shared_count", "__weak_count"];
const COUNTING_FUNCTIONS: [&str; 7] = [
    "::clone",
    "::drop",
    "drop_slow",
    "::downgrade",
    "_M_release",
    "_M_add_ref",
    "_M_weak_release",
];
/// Functions of crates that only count references.
const COUNTING_IN_CRATES: [&str; 3] = ["::ref_inc", "::ref_dec", "::drop_reference"];
/// In the names of functions that report a panic.
const PANICS: [&str; 3] = ["begin_unwind", "begin_panic", "core::panicking::panic"];
/// Beyond so many functions of other crates between the program and a step, the step is theirs.
const SHALLOW: usize = 3;
/// So many frames are shown of a stack without any of the program's own.
const WITHOUT_OWN: usize = 4;

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

    /// Whether it is the program's own.
    pub(crate) fn is_own(&self) -> bool {
        !self.is_foreign() && !self.is_dependency
    }

    /// Whether it is the shim's.
    fn is_ours(&self) -> bool {
        self.module.starts_with("libeverypath")
    }

    fn is_in(&self, functions: &[&str]) -> bool {
        let function = self.function.as_deref().unwrap_or_default();
        functions.iter().any(|part| function.contains(part))
    }

    fn counts_references(&self) -> bool {
        self.is_in(&COUNTED_TYPES) && self.is_in(&COUNTING_FUNCTIONS)
            || self.is_dependency && self.is_in(&COUNTING_IN_CRATES)
    }
}

/// Whose a step is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepOrigin {
    /// The program's own, or of a library that the program called for it.
    #[default]
    Program,
    /// Of a library or of the runtime of the language, on the way to something else.
    Runtime,
    /// Of a reference count.
    ReferenceCount,
    /// Of a panic of Rust that is being reported.
    Panic,
}

impl StepOrigin {
    /// Whose a step is by its whole stack, innermost frame first; `is_word` says that it is an access to
    /// a word, and not an operation that has a name of its own.
    pub(crate) fn of(frames: &[Frame], is_word: bool) -> Self {
        if frames.iter().any(|frame| frame.is_foreign() && frame.is_in(&PANICS)) {
            return StepOrigin::Panic;
        }
        let known = |frame: &&Frame| !frame.is_in(&ATOMIC_FUNCTIONS);
        if is_word && frames.iter().find(known).is_some_and(Frame::counts_references) {
            return StepOrigin::ReferenceCount;
        }
        let Some(own) = frames.iter().position(Frame::is_own) else { return StepOrigin::Runtime };
        let inner = &frames[..own];
        let of_crates = inner.iter().filter(|frame| !frame.is_foreign()).count();
        let is_called = match inner.last() {
            _ if of_crates > 0 => of_crates <= SHALLOW,
            // The language's library takes many steps for what the program asks of it.
            Some(called) => !is_word || called.is_in(&ATOMIC_FUNCTIONS),
            None => true,
        };
        if is_called { StepOrigin::Program } else { StepOrigin::Runtime }
    }
}

/// The function of a library that the program called, by its whole stack: without type parameters.
pub(crate) fn called(frames: &[Frame]) -> Option<String> {
    let inner = &frames[..frames.iter().position(Frame::is_own)?];
    // What drops something is called by the language.
    let of_crate = inner.iter().rfind(|frame| !frame.is_foreign());
    let called = of_crate.or(inner.last()).filter(|frame| !frame.is_in(&ATOMIC_FUNCTIONS))?;
    called.function.as_deref().map(without_parameters)
}

/// A name without what is in angle brackets; `<T as Trait>::name` is left as it is.
fn without_parameters(name: &str) -> String {
    if name.starts_with('<') {
        return name.into();
    }
    let mut depth = 0;
    let mut kept = String::new();
    for c in name.chars() {
        depth += i32::from(c == '<');
        if depth == 0 {
            kept.push(c);
        }
        depth -= i32::from(c == '>');
    }
    kept.replace("::::", "::")
}

/// The frames that are the program's own. Where none is, those of crates that it uses, or else the first
/// of all: better a line of a library than none.
pub fn interesting(frames: &[Frame]) -> Vec<Frame> {
    let own: Vec<Frame> = frames.iter().filter(|frame| frame.is_own()).cloned().collect();
    if !own.is_empty() {
        return own;
    }
    let of_crates: Vec<Frame> =
        frames.iter().filter(|frame| !frame.is_foreign()).take(WITHOUT_OWN).cloned().collect();
    match of_crates.as_slice() {
        [] => frames.iter().filter(|frame| !frame.is_ours()).take(WITHOUT_OWN).cloned().collect(),
        _ => of_crates,
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, StepOrigin, called, interesting};

    fn frame(function: &str, file: &str, module: &str) -> Frame {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_string());
        Frame {
            function: some(function),
            file: some(file),
            directory: String::new(),
            is_dependency: file.contains("-1.0.0/"),
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
        // The shim's own frames never are.
        assert_eq!(interesting(&stack[..3]), &stack[1..3]);
        // Nor what lies between two functions of the program.
        let calls = [&stack[5..], &stack[2..3], &stack[5..6]].concat();
        assert_eq!(interesting(&calls), [stack[5].clone(), stack[5].clone()]);
    }

    #[test]
    fn steps_of_the_program_are_told_from_those_of_its_runtime() {
        let atomic = frame("core::sync::atomic::atomic_add", "/rustc/0/atomic.rs", "bank");
        let clone = frame("<alloc::sync::Arc<T> as core::clone::Clone>::clone", "", "bank");
        let unwrap = frame("alloc::sync::Arc<T>::try_unwrap", "/rustc/0/sync.rs", "bank");
        let send = frame("std::sync::mpmc::Sender<T>::send", "/rustc/0/mpmc.rs", "bank");
        let own = frame("bank::main", "src/main.rs", "bank");
        let park = frame("tokio::park", "tokio-1.0.0/src/park.rs", "bank");
        let of = |frames: &[&Frame]| {
            let frames: Vec<Frame> = frames.iter().map(|&frame| frame.clone()).collect();
            StepOrigin::of(&frames, true)
        };
        assert_eq!(of(&[&atomic, &own]), StepOrigin::Program);
        assert_eq!(of(&[&own]), StepOrigin::Program);
        assert_eq!(of(&[&atomic, &clone, &own]), StepOrigin::ReferenceCount);
        assert_eq!(of(&[&atomic, &unwrap, &own]), StepOrigin::Runtime);
        assert_eq!(of(&[&atomic, &send, &own]), StepOrigin::Runtime);
        assert_eq!(of(&[&atomic, &send]), StepOrigin::Runtime);
        assert_eq!(of(&[&atomic, &park, &own]), StepOrigin::Program);
        assert_eq!(of(&[&atomic, &park, &park, &park, &park, &own]), StepOrigin::Runtime);
        assert_eq!(of(&[&atomic, &park]), StepOrigin::Runtime);
        assert_eq!(StepOrigin::of(&[send.clone(), own.clone()], false), StepOrigin::Program);
        let panic = frame("core::panicking::panic_fmt", "/rustc/0/panicking.rs", "bank");
        assert_eq!(StepOrigin::of(&[send.clone(), panic, own.clone()], false), StepOrigin::Panic);
        assert_eq!(
            called(&[atomic.clone(), send, own.clone()]).unwrap(),
            "std::sync::mpmc::Sender::send"
        );
        assert_eq!(called(&[atomic, own]), None);
    }
}
