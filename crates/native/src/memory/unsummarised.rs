//! Functions of libc of whose memory accesses nothing is known, although a program may call them.

use crate::patching::Loaded;
use everypath_rewrite::{functions_called, functions_defined};
use everypath_shim_abi::{LIBC_FUNCTIONS, accesses_no_memory};
use std::collections::BTreeSet;

/// Libraries that are not copied, and whose functions access memory of the program.
const LIBRARIES: [&str; 2] = ["libc.so", "libm.so"];

/// The functions that copied modules have pointers to, that libc defines, and that are neither the shim's nor
/// known by a summary.
pub(crate) fn unsummarised(modules: &[Loaded]) -> BTreeSet<String> {
    let defined = |module: &Loaded| functions_defined(&module.bytes).unwrap_or_default();
    let is_library = |module: &&Loaded| {
        let name = module.path.file_name().unwrap_or_default().to_string_lossy();
        LIBRARIES.iter().any(|library| name.starts_with(library))
    };
    let foreign: BTreeSet<String> = modules.iter().filter(is_library).flat_map(defined).collect();
    // Those of the shim and of copied libraries come first.
    let nearer = modules.iter().filter(|module| module.is_shim() || module.trampolines != 0);
    let nearer: BTreeSet<String> = nearer.flat_map(defined).collect();
    let copied = modules.iter().filter(|module| module.trampolines != 0);
    let called = copied.flat_map(|module| functions_called(&module.bytes).unwrap_or_default());
    let is_unknown = |name: &String| {
        foreign.contains(name)
            && !nearer.contains(name)
            && !LIBC_FUNCTIONS.contains(&name.as_str())
            && !accesses_no_memory(name)
    };
    called.filter(is_unknown).collect()
}
