//! What is told of a shim that failed: its stack, and its log if there is one.

use crate::region::Mapping;
use crate::shim::SHIM;
use crate::symbols::{Module, Symbols};
use everypath_shim_abi::syscalls::syscall;
use everypath_shim_abi::{LogEntry, LogKind, MAX_LOG, MAX_MODULES};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// The functions of the shim on its stack when it faulted, a line each; nothing if it did not. Apart from
/// the first they were found by looking for return addresses, so one may be left over from a call
/// that has returned.
pub(super) fn stack(region: &Mapping) -> String {
    let addresses = Mapping::copy_of(&region.fault_stack).into_iter();
    let addresses: Vec<u64> = addresses.take_while(|&address| address != 0).collect();
    let Some(base) = addresses.first().and_then(|&first| base(region, first)) else {
        return String::new();
    };
    let module = Module { path: PathBuf::from("shim"), base };
    let symbols = Symbols::new(vec![(module, Arc::from(SHIM))]);
    let mut text = String::new();
    for (depth, &address) in addresses.iter().enumerate() {
        for frame in symbols.frames(address, depth > 0) {
            let _ = write!(text, "\n  {frame}");
        }
    }
    text
}

/// Where the shim is loaded: the module with the highest base below one of its instructions.
fn base(region: &Mapping, instruction: u64) -> Option<u64> {
    let count = (region.module_count.get() as usize).min(MAX_MODULES);
    let bases = region.modules[..count].iter().map(|module| module.get().base);
    bases.filter(|&base| base <= instruction).max()
}

/// The last entries of the log, a line each.
pub(super) fn log(region: &Mapping) -> String {
    let count = region.log_count.get();
    let kept = count.min(MAX_LOG as u64);
    let mut text = String::new();
    for number in count - kept..count {
        let entry = region.log[number as usize % MAX_LOG].get();
        let _ = write!(text, "\n  {number:>6} thread {:<3} {}", entry.thread, Shown(&entry));
    }
    text
}

/// An entry as a person reads it.
struct Shown<'a>(&'a LogEntry);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let LogEntry { kind, words: [a, b, c], .. } = *self.0;
        let name = || syscall(a as i64).map_or("?", |call| call.name);
        match LogKind::ALL.get(kind as usize) {
            Some(LogKind::Request) => write!(f, "command {a}, {b} executions"),
            Some(LogKind::Syscall) => write!(f, "{}({b:#x}, {c:#x}, …)", name()),
            Some(LogKind::Returned) => write!(f, "{} = {}", name(), b as i64),
            Some(LogKind::Step) => write!(f, "step {a}: thread {c}, operation {b}"),
            Some(LogKind::Fault) => write!(f, "signal {a} at {c:#x}: address {b:#x}"),
            Some(LogKind::Ended) => write!(f, "the execution ends: outcome {a}, {}", b as i32),
            None => write!(f, "overwritten"),
        }
    }
}
