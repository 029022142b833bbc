//! Streams inside a program: every way in which bytes can move that makes a difference is explored,
//! and no other.

use crate::support::Programs;

#[test]
fn a_program_that_waits_for_what_cannot_come_is_idle() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/streams.c"]);
    let (code, result) = programs.check("-- ./streams R1");
    assert_eq!((code, &result["violation"]["property"]), (1, &"idle".into()), "{result}");
    assert_eq!(programs.check("--idle ok -- ./streams R1").0, 0);
}

#[test]
fn who_listens_and_never_accepts_is_not_done() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/unaccepted.c"]);
    let (code, result) = programs.check("-- ./unaccepted");
    assert_eq!((code, &result["violation"]["property"]), (1, &"idle".into()), "{result}");
    let message = result["violation"]["message"].as_str().unwrap();
    assert!(message.contains("waits to connect to"), "{message}");
}

/// The endings that a search of all schedules finds; none if there are too many schedules.
fn endings(programs: &Programs, reduction: &str, scripts: &str) -> Option<Vec<String>> {
    // No execution ends with code 255, so every ending is counted.
    let options =
        format!("--keep-going --exit-code 255 --max-executions 20000 --reduction {reduction}");
    let (_, result) = programs.check(&format!("{options} -- ./streams {scripts}"));
    let executions = result["stats"]["executions"].as_u64().unwrap();
    let endings = result["stats"]["endings"].as_array().unwrap();
    let names = endings.iter().map(|ending| ending["ending"].as_str().unwrap().to_string());
    (executions < 20_000).then(|| names.collect())
}

#[test]
fn bytes_move_in_every_way_that_makes_a_difference() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/streams.c"]);
    for scripts in [
        "W1N1 w1R2X1P3",
        "W2 R1R1",
        "W1W1 R2R1",
        "W1D1 R2R1",
        "W1P1 R1W1",
        "W3 N3W1",
        "W2x3R1W3 A3x2",
        "W3x1x1 N1R2",
        "r1N1R2x1 w1W1P3",
        "W1W2 N2R1",
        "W1w1 r1R1",
        "w1R1 W1r1",
        "R1W1 R1W1",
        // Whoever reads first gets what another would have got.
        "W1N1W1 R1",
        "R1 W1N1W1",
        "W1R1W1 R1W1",
    ] {
        let reduced = endings(&programs, "dpor", scripts).expect("a reduced search is small");
        let plain = endings(&programs, "none", scripts).expect("these are small");
        assert_eq!(reduced, plain, "{scripts}");
    }
}
