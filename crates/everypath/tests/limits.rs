//! Limits are obeyed in every phase of a check.

use crate::support::Programs;

fn programs(names: &[&str]) -> Programs {
    let paths: Vec<String> = names
        .iter()
        .map(|name| format!("../crates/everypath/tests/programs/limits/{name}"))
        .collect();
    Programs::new(&paths.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The limit was one of the checker alone: a program could use all memory of the machine.
#[test]
fn the_memory_of_the_program_counts() {
    let programs = programs(&["grow.c"]);
    for options in ["", "--strategy random", "--restart fork", "--state-matching"] {
        let (code, result) = programs.check(&format!("--max-memory 300M {options} -- ./grow"));
        assert_eq!(code, 3, "{options}: {result}");
        assert_eq!(result["reason"], "the memory limit of 300 MiB was reached", "{options}");
    }
    let (code, result) = programs.check("--max-memory 8G -- ./grow");
    assert_eq!(code, 0, "{result}");
}

/// Nobody looked at the clock before `main` was reached, nor while a peer was waited for.
#[test]
fn time_passes_before_main_too() {
    let programs = programs(&["early.c", "grow.c"]);
    for check in ["-- ./early", "--peer 'tail -f /dev/null' --peer-ready 9 -- ./grow"] {
        let (code, result) = programs.check(&format!("--max-seconds 0.5 {check}"));
        assert_eq!(code, 3, "{check}: {result}");
        assert_eq!(result["reason"], "the limit of 0.5 seconds was reached", "{check}");
        let said = programs.everypath(&format!("check --quiet --max-seconds 0.5 {check}"));
        assert_eq!((said.status.code(), said.stdout.as_slice()), (Some(3), &b""[..]));
        let said = String::from_utf8_lossy(&said.stderr);
        assert!(said.ends_with("the limit of 0.5 seconds was reached\n"), "{said}");
    }
}

/// A violation was minimised and explained without regard to the limit: here that takes minutes.
#[test]
fn minimising_obeys_the_limit() {
    let programs = programs(&["slow.c"]);
    let (code, result) = programs.check("--max-seconds 6 -- ./slow");
    match code {
        1 => assert_eq!(result["cut_short"], "the limit of 6 seconds was reached", "{result}"),
        _ => {
            // On a slow machine there is no time to confirm it.
            let reason = result["reason"].as_str().unwrap_or_default();
            assert!(reason.starts_with("the limit of 6 seconds was reached"), "{result}");
        }
    }
}
