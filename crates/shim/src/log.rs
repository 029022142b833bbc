//! The shim's log, a ring in the region: off unless `EVERYPATH_LOG=shim` asks for it.

use crate::region::{region, setup};
use crate::state::state;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use everypath_shim_abi::{LogEntry, LogKind, MAX_LOG};

static ON: AtomicBool = AtomicBool::new(false);

/// Switches the log on if the checker asks for it.
pub(crate) fn arm() {
    ON.store(setup().log, Relaxed);
}

/// Writes an entry, if anybody wants it.
#[inline(always)]
pub(crate) fn log(kind: LogKind, words: [u64; 3]) {
    if ON.load(Relaxed) {
        write(kind, words);
    }
}

#[cold]
fn write(kind: LogKind, words: [u64; 3]) {
    let count = region().log_count.get();
    let thread = u32::from(state().current.get());
    let entry = LogEntry { kind: kind as u32, thread, words };
    region().log[count as usize % MAX_LOG].set(entry);
    region().log_count.set(count.wrapping_add(1));
}
