//! Where Rust's threads start: a panic that leaves there has killed its thread.

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
