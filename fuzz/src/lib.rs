//! Fuzz targets: one function for each kind of file that Everypath reads.
//!
//! A target is given bytes that may be anything. It must return: a panic, an overflow or a loop without
//! end is a defect. What is refused is refused by an error value.
//!
//! `tests/mutations.rs` runs each target on mutated samples, with fixed seeds, as part of all tests;
//! `fuzz_targets/` are the same targets for `cargo fuzz`.

use everypath_check::FailureFile;
use everypath_explore::graph::Graph;
use everypath_native::symbols::{Module, Registers, Symbols};
use everypath_net::Topology;
use everypath_rewrite::{Counters, Layout, plan};
use everypath_trace::file;
use std::path::Path;
use std::sync::Arc;

/// A counterexample, read, and shown in every format that `everypath show` has.
pub fn trace(bytes: &[u8]) {
    if let Ok(trace) = file::from_bytes(bytes) {
        let again = file::to_bytes(&trace);
        assert!(file::from_bytes(&again).is_ok_and(|same| same == trace), "it is read as written");
        let _ = everypath_report::text(&trace, "everypath replay", "trace.json");
        let _ = everypath_report::native::text(&trace, "everypath replay", "trace.json", 30);
        let _ = everypath_report::Chart::of_messages(&trace).map(|chart| chart.text(30));
    }
}

/// The graph of an earlier version of a model.
pub fn graph(bytes: &[u8]) {
    if let Ok(graph) = Graph::open(bytes) {
        let _ = (graph.states(), graph.expanded(), graph.transitions());
        let _ = graph.counterexamples(&["send", "receive"]);
    }
}

/// A scenario file of `everypath check`.
pub fn scenario(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = everypath::scenario_words(Path::new("fuzzed.toml"), text);
    }
}

/// A file of links.
pub fn topology(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        for nodes in [0, 1, 5, u16::MAX] {
            let _ = Topology::parse(text, nodes);
        }
    }
}

/// A file that `--emit` wrote.
pub fn failures(bytes: &[u8]) {
    let _ = FailureFile::from_bytes(bytes).map(|file| file.to_bytes());
}

/// Where the parts of a module are put that does not exist.
fn layout() -> Layout {
    Layout {
        base: 0x5555_0000_0000,
        trampolines: 0x5555_4000_0000,
        entry: 0x6000_0000_0000,
        entry_lower: 0x6000_0000_1000,
        first_site: 1,
        counters: Counters::All,
    }
}

/// A program or library that is planned to be patched, and whose symbols are looked up.
pub fn elf(bytes: &[u8]) {
    let _ = plan(bytes, &layout());
    let module = Module { path: "fuzzed".into(), base: layout().base };
    let symbols = Symbols::new(vec![(module, Arc::from(bytes))]);
    for offset in [0, 1, 0x1000, 0x1100, 0x1129, 0x1200, 0x4010, 0x4018, u64::MAX / 2] {
        let address = layout().base.wrapping_add(offset);
        let _ = (symbols.frames(address, true), symbols.variable(address));
    }
}

/// A module whose unwind tables are followed, from each function.
pub fn eh_frame(bytes: &[u8]) {
    let base = layout().base;
    let module = Module { path: "fuzzed".into(), base };
    let mut symbols = Symbols::new(vec![(module, Arc::from(bytes))]);
    for offset in (0x1000..0x1300).step_by(16) {
        let rip = base + offset;
        let registers = Registers { rip, rsp: 0x7fff_0000_0000, rbp: 0x7fff_0000_0100 };
        // A stack that leads back into the module, and then to its end.
        let mut left = 64;
        let read = &mut |address: u64| {
            left -= 1;
            (left > 0).then_some(if address.is_multiple_of(32) { address + 64 } else { rip })
        };
        assert!(symbols.unwind(registers, read).len() <= 200, "a stack has an end");
    }
}
