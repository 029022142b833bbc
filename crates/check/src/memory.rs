//! How much memory this process uses, as the kernel counts it.

use std::fs;

/// Bytes of memory in use.
pub fn memory() -> Option<u64> {
    proc_field("/proc/self/status", "VmRSS:")
}

/// The most bytes of memory that were ever in use.
pub fn peak_memory() -> Option<u64> {
    proc_field("/proc/self/status", "VmHWM:")
}

/// Bytes of memory that programs could still use on this machine.
pub fn available_memory() -> Option<u64> {
    proc_field("/proc/meminfo", "MemAvailable:")
}

/// A field that the kernel states in units of 1024 bytes.
fn proc_field(file: &str, field: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? << 10)
}
