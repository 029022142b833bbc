//! A verdict about a program to which nothing happened says so.

use crate::support::Programs;

fn programs() -> Programs {
    let paths: Vec<String> = ["alone.c", "lines.c", "refused.c"]
        .iter()
        .map(|name| format!("../crates/everypath/tests/programs/vacuous/{name}"))
        .collect();
    Programs::new(&paths.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn the_verdict_line_says_what_did_not_happen() {
    let programs = programs();
    let waits =
        "it waits for a connection that never came: let a program connect by --peer or --with";
    let input = "standard input, which it reads, is empty";
    let refused = "nobody listens on 127.0.0.1:7778: connections to it were always refused";
    let peer = "tail -f /dev/null was never contacted by the program";
    for (check, what) in [
        ("-- ./alone", waits),
        ("--strategy random -- ./alone", waits),
        ("--state-matching -- ./alone", waits),
        ("-- ./lines", input),
        ("--restart fork -- ./lines", input),
        ("-- ./refused", refused),
        ("--peer 'tail -f /dev/null' -- true", peer),
    ] {
        let (code, result) = programs.check(check);
        assert_eq!(code, 0, "{check}: {result}");
        assert_eq!(result["did_not_happen"], serde_json::json!([what]), "{check}");
        let said = programs.everypath(&format!("check {check}"));
        let said = String::from_utf8_lossy(&said.stdout);
        assert!(said.lines().next().unwrap().ends_with(&format!("; but {what}")), "{said}");
        assert_eq!(said.matches(what).count(), 1, "{said}");
    }
    // Something came.
    for check in ["-- ./alone client", "-- true"] {
        let (code, result) = programs.check(check);
        assert_eq!((code, result.get("did_not_happen")), (0, None), "{check}: {result}");
    }
}
