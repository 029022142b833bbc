//! The sample sessions in the documentation are true.
//!
//! `tests/pages/` holds more sessions in the same form: everything that can be got wrong, and the
//! whole help text.

use std::path::Path;
use xtask::transcript::check;

fn page(name: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    check(&root.join(name), Path::new(env!("CARGO_BIN_EXE_everypath")));
}

#[test]
fn readme() {
    page("../../README.md");
}

#[test]
fn native_guide() {
    page("../../docs/guide/native-programs.md");
}

#[test]
fn compatibility() {
    page("../../docs/compatibility.md");
}

#[test]
fn results_guide() {
    page("../../docs/guide/results.md");
}

#[test]
fn verify_guide() {
    page("../../docs/guide/verify.md");
}

#[test]
fn refinement_guide() {
    page("../../docs/guide/refinement.md");
}

#[test]
fn peers_guide() {
    page("../../docs/guide/peers.md");
}

#[test]
fn the_guide_to_datagrams() {
    page("../../docs/guide/udp.md");
}

#[test]
fn joint_guide() {
    page("../../docs/guide/joint.md");
}

#[test]
fn scenarios_guide() {
    page("../../docs/guide/scenarios.md");
}

#[test]
fn studies() {
    page("../../studies/bounded-buffer/README.md");
    page("../../studies/bank-transfer/README.md");
    page("../../studies/two-ports/README.md");
    page("../../studies/split-brain/README.md");
    page("../../studies/partition/README.md");
    page("../../studies/election/README.md");
    page("../../studies/joint/README.md");
    page("../../studies/propagation/README.md");
}

#[test]
fn studies_with_servers() {
    for study in ["alphabet", "daytime", "download", "file-transfer", "http-client", "probe"] {
        page(&format!("../../studies/{study}/README.md"));
    }
}

#[test]
fn studies_with_clients() {
    page("../../studies/chat/README.md");
    page("../../studies/page-counter/README.md");
}

#[test]
fn bad_input() {
    page("tests/pages/bad-input.md");
}

#[test]
fn help() {
    page("tests/pages/help.md");
}

#[test]
fn results() {
    page("tests/pages/results.md");
}

#[test]
fn case_studies() {
    page("../../docs/case-studies.md");
}

#[test]
fn simulation_guide() {
    page("../../docs/guide/simulation.md");
}

#[test]
fn simulate() {
    page("tests/pages/simulate.md");
}

#[test]
fn incremental() {
    page("../../docs/guide/incremental.md");
}

#[test]
fn debugging() {
    page("../../docs/dev/debugging.md");
}

#[test]
fn closed_guide() {
    page("../../docs/guide/closed.md");
}
