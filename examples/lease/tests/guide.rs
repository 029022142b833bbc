//! The guide shows this example as it is, and its sessions are true.

use std::fs;
use std::path::Path;

fn guide() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/your-own-model.md")
}

#[test]
fn the_sessions_of_the_guide_are_true() {
    xtask::transcript::check(&guide(), Path::new(env!("CARGO_BIN_EXE_lease")));
}

#[test]
fn the_code_of_the_guide_is_that_of_the_example() {
    let page = fs::read_to_string(guide()).unwrap();
    let source = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/main.rs")).unwrap();
    let blocks = xtask::transcript::blocks(&page, "rust");
    assert!(blocks.len() >= 5);
    for block in blocks {
        assert!(source.contains(block), "not in the example:\n{block}");
    }
}
