//! Rust panics: which threads they have killed, and their messages.

use crate::execution::Execution;
use crate::patching::Loaded;
use everypath_shim_abi::MAX_STARTS;
use object::{Object, ObjectSymbol};

/// In the name of every function that calls what a program gives to a thread. The standard library
/// never inlines them, since backtraces end there.
const MARK: &[u8] = b"__rust_begin_short_backtrace";

/// Start and end of each such function.
pub(crate) fn thread_starts(loaded: &[Loaded]) -> Vec<[u64; 2]> {
    let mut starts = Vec::new();
    for module in loaded {
        // What is no ELF file was refused when patches were planned.
        let Ok(file) = object::File::parse(&*module.bytes) else { continue };
        let marked = file.symbols().filter(|symbol| {
            let name = symbol.name_bytes().unwrap_or_default();
            symbol.size() > 0 && name.windows(MARK.len()).any(|part| part == MARK)
        });
        starts.extend(marked.map(|symbol| {
            let start = module.base + symbol.address();
            [start, start + symbol.size()]
        }));
    }
    starts.truncate(MAX_STARTS);
    starts
}

/// A panic as the standard library reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Panic {
    /// The thread.
    pub(crate) who: String,
    /// The line in the source.
    pub(crate) place: String,
    /// The message.
    pub(crate) said: String,
}

impl Panic {
    /// The first one that standard error shows.
    pub(crate) fn first_of(execution: &Execution) -> Option<Self> {
        let text = String::from_utf8_lossy(&execution.stderr);
        let mut lines = text.lines().skip_while(|line| !line.contains("panicked at"));
        let first = lines.next()?;
        let place = first.split("panicked at ").nth(1).unwrap_or("").trim_end_matches(':');
        let who = first.split('\'').nth(1).unwrap_or("a thread");
        let said = lines.next().unwrap_or("").trim();
        Some(Panic { who: who.into(), place: place.into(), said: said.into() })
    }
}
