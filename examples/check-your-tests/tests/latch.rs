//! Tests as they are written every day, and two that check every schedule of them.

use check_your_tests::Latch;
use everypath_check::{Check, Verdict, own_tests};
use std::sync::Arc;
use std::thread;

fn wait_for_two(wait: fn(&Latch)) {
    let latch = Arc::new(Latch::new(2));
    let threads = [(); 2].map(|()| {
        let latch = Arc::clone(&latch);
        thread::spawn(move || latch.count_down())
    });
    wait(&latch);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn waits_for_all() {
    wait_for_two(Latch::wait);
}

#[test]
fn waits_for_all_but_carelessly() {
    wait_for_two(Latch::wait_carelessly);
}

#[test]
fn every_schedule_of_the_tests() {
    for test in own_tests().unwrap() {
        let report = Check::new(test.config()).run(&mut ()).unwrap();
        let expected = test.name != "waits_for_all_but_carelessly";
        assert_eq!(report.verdict == Verdict::Holds, expected, "{}: {report:?}", test.name);
    }
}

/// The lost wakeup is found although the test itself passes nearly always.
#[test]
fn a_careless_wait_can_be_for_ever() {
    let mut tests = own_tests().unwrap();
    tests.retain(|test| test.name == "waits_for_all_but_carelessly");
    for test in tests {
        let report = Check::new(test.config()).run(&mut ()).unwrap();
        assert_eq!(
            report.violation.map(|violation| violation.property).as_deref(),
            Some("deadlock")
        );
    }
}
