//! How much memory this process and the programs that it runs use, as the kernel counts it.

use std::fs;

/// Bytes of memory in use by this process, and by the programs under test, their peers and whatever
/// else it has started.
pub fn memory() -> Option<u64> {
    Some(proc_field("/proc/self/status", "VmRSS:")? + descendants("self"))
}

/// The most bytes of memory that this process ever used.
pub fn peak_memory() -> Option<u64> {
    proc_field("/proc/self/status", "VmHWM:")
}

/// Bytes of memory that programs could still use on this machine.
pub fn available_memory() -> Option<u64> {
    proc_field("/proc/meminfo", "MemAvailable:")
}

/// Bytes of the descendants of a process that are theirs alone: what is shared is counted once, and
/// we map all that we share with a program.
fn descendants(process: &str) -> u64 {
    // A process that ends meanwhile uses nothing any more.
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let children =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let mut bytes = 0;
    for list in children {
        for child in list.split_whitespace() {
            let own = proc_field(&format!("/proc/{child}/status"), "RssAnon:");
            bytes += own.unwrap_or(0) + descendants(child);
        }
    }
    bytes
}

/// A field that the kernel states in units of 1024 bytes.
fn proc_field(file: &str, field: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? << 10)
}
