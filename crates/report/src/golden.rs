//! Whole reports, byte by byte, in files beside this one: what changes in them is looked at before it
//! lands. `UPDATE_GOLDEN=1 cargo test -p everypath-report golden` writes them.

use crate::{dot, fixtures, mermaid, svg, text};
use everypath_trace::Trace;
use std::fs;
use std::path::Path;

#[expect(clippy::disallowed_methods, reason = "whoever changes reports says so")]
fn compare(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        return fs::write(path, actual).unwrap();
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    let differs = expected.lines().zip(actual.lines()).position(|(one, other)| one != other);
    assert!(expected == actual, "{name} differs, first in line {:?}", differs.map(|at| at + 1));
}

fn all_forms(name: &str, trace: &Trace) {
    compare(&format!("{name}.txt"), &text(trace, "everypath replay", "everypath-trace.json"));
    compare(&format!("{name}.svg"), &svg(trace));
    compare(&format!("{name}.mmd"), &mermaid(trace));
    compare(&format!("{name}.dot"), &dot(trace));
}

#[test]
fn a_deadlock() {
    all_forms("deadlock", &fixtures::deadlock());
}

#[test]
fn an_exchange_of_messages() {
    all_forms("exchange", &fixtures::exchange());
}
