//! Checks every schedule of the binary of this crate.

use everypath_check::{Check, CheckConfig, Replayed, Verdict};

#[test]
fn transfers_that_lock_in_order_never_deadlock() {
    let config = CheckConfig::new(env!("CARGO_BIN_EXE_bank")).arguments(["--ordered"]);
    let report = Check::new(config).run(&mut ()).unwrap();
    assert_eq!(report.verdict, Verdict::Holds, "{report:?}");
}

#[test]
fn transfers_in_opposite_directions_can_deadlock() {
    let config = CheckConfig::new(env!("CARGO_BIN_EXE_bank"));
    let report = Check::new(config).run(&mut ()).unwrap();
    assert_eq!(report.verdict, Verdict::Violated, "{report:?}");
    assert_eq!(report.violation.unwrap().property, "deadlock");
    // The trace contains all that a replay needs.
    let replayed = Check::replay(&report.trace.unwrap()).unwrap();
    assert!(matches!(replayed, Replayed::Reproduced(_)), "{replayed:?}");
}
