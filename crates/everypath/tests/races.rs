//! Programs whose threads share memory by plain loads and stores.

use crate::support::Programs;
use serde_json::Value;

fn programs(names: &[&str]) -> Programs {
    let paths: Vec<String> = names
        .iter()
        .map(|name| format!("../crates/everypath/tests/programs/races/{name}"))
        .collect();
    Programs::new(&paths.iter().map(String::as_str).collect::<Vec<_>>())
}

fn verdict(result: &Value) -> &str {
    result["verdict"].as_str().unwrap()
}

#[test]
fn conflicting_accesses_become_scheduling_points() {
    let programs =
        programs(&["lost_update.c", "check_then_act.rs", "scoped.rs", "double_checked.cpp"]);
    let cases = [
        ("./lost_update", "assertion"),
        ("./check_then_act", "panic"),
        ("./check_then_act relaxed", "panic"),
        ("./scoped", "panic"),
        ("./double_checked", "assertion"),
    ];
    for (command, property) in cases {
        let (code, result) = programs.check(&format!("--races explore -- {command}"));
        assert_eq!((code, verdict(&result)), (1, "violated"), "{command}: {result}");
        assert_eq!(result["violation"]["property"], property, "{command}: {result}");
        let replayed = programs.everypath("replay everypath-trace.json");
        assert_eq!(replayed.status.code(), Some(1), "{command}: {replayed:?}");
    }
}

/// Where debug information or the instruction makes certain that an access is not atomic, a data race is a
/// violation by itself, whatever follows from it.
#[test]
fn data_races_are_violations() {
    let programs = programs(&["lost_update.c", "scoped.rs", "double_checked.cpp", "lucky.rs"]);
    for command in ["./lost_update", "./scoped", "./double_checked", "./lucky"] {
        let (code, result) = programs.check(&format!("-- {command}"));
        assert_eq!((code, verdict(&result)), (1, "violated"), "{command}: {result}");
        assert_eq!(result["violation"]["property"], "data race", "{command}: {result}");
        let replayed = programs.everypath("replay everypath-trace.json");
        assert_eq!(replayed.status.code(), Some(1), "{command}: {replayed:?}");
        let said = String::from_utf8_lossy(&replayed.stdout).into_owned();
        assert!(said.contains("nothing orders them"), "{command}: {said}");
    }
    let said = programs.everypath("check -- ./scoped");
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("on the stack of main"), "{said}");
    assert!(said.contains("writes 8 bytes") && said.contains("races/scoped.rs:"), "{said}");
    let said = programs.everypath("check -- ./lost_update");
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("a block of 8 bytes"), "{said}");
    assert!(said.contains("allocated"), "{said}");
}

/// A race that does no harm is explored or ignored on demand; atomics never race.
#[test]
fn data_races_are_explored_or_ignored_on_demand() {
    let programs = programs(&["lucky.rs", "check_then_act.rs", "static_local.cpp", "merged.rs"]);
    for races in ["explore", "ignore"] {
        let (code, result) = programs.check(&format!("--races {races} -- ./lucky"));
        assert_eq!((code, verdict(&result)), (0, "holds"), "{races}: {result}");
        let assumed = result["assumptions"].as_array().unwrap();
        let is_assumed = assumed.iter().any(|assumption| assumption["id"] == "data-races");
        assert_eq!(is_assumed, races == "ignore", "{result}");
        let is_noted = result["findings"][0]["kind"] == "note";
        assert_eq!(is_noted, races == "explore", "{result}");
    }
    let (_, result) = programs.check("-- ./lucky");
    assert_eq!(result["findings"][0]["kind"], "data-race", "{result}");
    // What is certainly atomic is no finding.
    let (_, result) = programs.check("-- ./check_then_act");
    assert_eq!(result["findings"], serde_json::json!([]), "{result}");
    // Compilers look at the guards of C++'s static variables by plain instructions.
    // They also make one instruction of a relaxed load and a relaxed store.
    let (code, result) = programs.check("-- ./merged");
    assert_eq!((code, verdict(&result)), (0, "holds"), "{result}");
    let (code, result) = programs.check("-- ./static_local");
    assert_eq!((code, verdict(&result)), (0, "holds"), "{result}");
    let (_, result) = programs.check("-- ./check_then_act relaxed");
    assert_eq!(result["violation"]["property"], "panic", "{result}");
}

/// Races that somebody knows about are explored and not reported, by function or by file.
#[test]
fn known_data_races_are_suppressed() {
    let programs = programs(&["lucky.rs", "lost_update.c"]);
    for known in ["lucky.rs", "lucky::main"] {
        let (code, result) = programs.check(&format!("--suppress-races {known} -- ./lucky"));
        assert_eq!((code, verdict(&result)), (0, "holds"), "{known}: {result}");
        let assumed = result["assumptions"].as_array().unwrap();
        assert!(assumed.iter().any(|of| of["id"] == "suppressed-races"), "{known}: {result}");
    }
    let scenario = "program = './lucky'\nsuppress-races = ['other.rs', 'lucky::main']\n";
    std::fs::write(programs.folder.path().join("known.toml"), scenario).unwrap();
    assert_eq!(programs.check("known.toml").0, 0);
    let (_, result) = programs.check("--suppress-races other.rs -- ./lucky");
    assert_eq!(result["violation"]["property"], "data race", "{result}");
    for wrong in ["--suppress-races=", "--suppress-races lucky --races explore"] {
        let refused = programs.everypath(&format!("check {wrong} -- ./lucky"));
        assert_eq!(refused.status.code(), Some(2), "{wrong}: {refused:?}");
    }
    // What follows from them is found.
    let (_, result) = programs.check("--suppress-races lost_update.c -- ./lost_update");
    assert_eq!(result["violation"]["property"], "assertion", "{result}");
}

#[test]
fn accesses_that_overlap_come_in_either_order() {
    let programs = programs(&["overlap.c"]);
    for seen in [0, 255] {
        let (code, result) = programs.check(&format!("-- ./overlap {seen}"));
        assert_eq!((code, verdict(&result)), (1, "violated"), "{seen}: {result}");
    }
    let (code, result) = programs.check("-- ./overlap 1");
    assert_eq!((code, verdict(&result)), (0, "holds"), "{result}");
}

/// An instruction is a scheduling point where its accesses conflict, and nowhere else.
#[test]
fn accesses_to_data_of_one_thread_are_no_steps() {
    let programs = programs(&["private.c"]);
    let (code, result) = programs.check("-- ./private");
    assert_eq!((code, verdict(&result)), (0, "holds"), "{result}");
    let number = |name: &str| result["stats"][name].as_u64().unwrap();
    assert!(number("transitions") < 20 * number("executions"), "{result}");
}

/// What an atomic access orders is no step, although it was a conflict as long as that was none.
#[test]
fn accesses_that_an_atomic_one_orders_are_no_steps() {
    let programs = programs(&["message.rs"]);
    let (code, result) = programs.check("-- ./message");
    assert_eq!((code, verdict(&result)), (0, "holds"), "{result}");
    let number = |name: &str| result["stats"][name].as_u64().unwrap();
    assert!(number("transitions") < 20 * number("executions"), "{result}");
}

#[test]
fn memory_that_another_thread_may_have_freed_is_not_used() {
    let programs = programs(&["freed.c"]);
    for races in ["violation", "explore"] {
        let (code, result) = programs.check(&format!("--races {races} -- ./freed"));
        assert_eq!((code, verdict(&result)), (1, "violated"), "{races}: {result}");
        assert_eq!(result["violation"]["property"], "use after free", "{races}: {result}");
        let replayed = programs.everypath("replay everypath-trace.json");
        assert_eq!(replayed.status.code(), Some(1), "{races}: {replayed:?}");
    }
    let (code, result) = programs.check("-- ./freed fixed");
    assert_eq!((code, verdict(&result)), (0, "holds"), "{result}");
}

/// What functions of libc and syscalls access is seen, too.
#[test]
fn data_races_of_libc_and_the_kernel_are_violations() {
    let programs = programs(&["copied.c"]);
    let calls = [
        "strlen",
        "write",
        "plain",
        "syscall",
        "instruction",
        "vector",
        "message",
        "path",
        "sixth",
    ];
    for how in calls {
        let (code, result) = programs.check(&format!("-- ./copied {how}"));
        assert_eq!((code, verdict(&result)), (1, "violated"), "{how}: {result}");
        assert_eq!(result["violation"]["property"], "data race", "{how}: {result}");
        let message = result["violation"]["message"].as_str().unwrap();
        assert!(message.contains("writes 64 bytes") && message.contains(" shared"), "{message}");
        // Where races are explored, that a call is one step makes a difference.
        if how == "syscall" {
            let (code, result) = programs.check(&format!("--races explore -- ./copied {how}"));
            assert_eq!((code, verdict(&result)), (0, "holds"), "{result}");
            assert_eq!(result["assumptions"][0]["id"], "libc-steps", "{result}");
        }
        let (code, result) = programs.check(&format!("-- ./copied {how} fixed"));
        assert_eq!((code, verdict(&result)), (0, "holds"), "{how}: {result}");
    }
}

/// Both halves are seen in every combination: old, new, and torn either way.
#[test]
fn wide_accesses_are_several_steps() {
    let programs = programs(&["torn.c"]);
    let options = "--races explore --keep-going --exit-code 9 --";
    let (code, result) = programs.check(&format!("{options} ./torn"));
    assert_eq!((code, verdict(&result)), (1, "violated"), "{result}");
    let endings = result["stats"]["endings"].as_array().unwrap();
    assert_eq!(endings.len(), 4, "{result}");
}

/// What a thread waits for by plain loads becomes a scheduling point before anybody has written it.
#[test]
fn threads_that_spin_on_memory_let_others_run() {
    let programs = programs(&["awaits.c"]);
    let (code, result) = programs.check("--races explore -- ./awaits");
    assert_eq!((code, verdict(&result)), (1, "violated"), "{result}");
    assert_eq!(result["violation"]["property"], "assertion", "{result}");
}

/// What cannot be recorded is no reason to give up, but the verdict says that it was not seen.
#[test]
fn steps_with_too_many_accesses_are_named() {
    let programs = programs(&["computes.c"]);
    let (code, result) = programs.check("-- ./computes");
    assert_eq!((code, verdict(&result)), (0, "holds"), "{result}");
    let unseen = result["coverage"]["unseen_code"].as_array().unwrap();
    assert!(unseen.iter().any(|it| it == "steps with millions of accesses"), "{result}");
}

#[test]
fn accesses_that_a_lock_orders_are_no_steps() {
    let programs = programs(&["locked_update.c"]);
    let executions = |options: &str| {
        let (code, result) = programs.check(&format!("{options} -- ./locked_update"));
        assert_eq!((code, verdict(&result)), (0, "holds"), "{options}: {result}");
        result["stats"]["executions"].as_u64()
    };
    assert_eq!(executions("--memory on"), executions("--memory off"));
}

#[test]
fn a_verdict_says_what_it_takes_for_granted() {
    let programs = programs(&["locked_update.c"]);
    let assumption = |options: &str| {
        let (_, result) = programs.check(&format!("{options} -- ./locked_update"));
        assert_eq!(result["coverage"]["memory_model"], "sequential consistency", "{result}");
        result["assumptions"].clone()
    };
    assert_eq!(assumption("--memory off")[0]["id"], "plain-accesses");
    assert_eq!(assumption("--memory on"), serde_json::json!([]));
}

/// A data race is found by every search, and what is right stays so.
#[test]
fn memory_is_seen_in_every_search() {
    let programs = programs(&["lost_update.c", "locked_update.c"]);
    let searches = [
        "--strategy random",
        "--strategy pct",
        "--strategy pos",
        "--state-matching",
        "--backend threads",
        "--restart fork",
        "--with ./locked_update",
        "--preemptions 1",
    ];
    for options in searches {
        let (code, result) =
            programs.check(&format!("--max-executions 200 {options} -- ./lost_update"));
        assert_eq!((code, verdict(&result)), (1, "violated"), "{options}: {result}");
        assert_eq!(result["violation"]["property"], "data race", "{options}: {result}");
        let replayed = programs.everypath("replay everypath-trace.json");
        assert_eq!(replayed.status.code(), Some(1), "{options}: {replayed:?}");
        let (code, result) =
            programs.check(&format!("--max-executions 200 {options} -- ./locked_update"));
        assert_eq!((code, verdict(&result)), (0, "holds"), "{options}: {result}");
    }
}

/// What a thread accesses as its own is seen: others may have its address.
#[test]
fn thread_local_variables_are_seen() {
    let programs = programs(&["thread_local.c"]);
    for options in ["", "--races explore", "--races explore --strategy random"] {
        let (code, result) = programs.check(&format!("{options} -- ./thread_local"));
        assert_eq!((code, verdict(&result)), (1, "violated"), "{options}: {result}");
    }
}

/// What `printf` and its kin read and write follows from their formats.
#[test]
fn what_is_printed_is_accessed() {
    let programs = programs(&["printed.c"]);
    for how in ["race", "string"] {
        let (code, result) = programs.check(&format!("-- ./printed {how}"));
        assert_eq!(code, 1, "{how}: {result}");
        assert_eq!(result["violation"]["property"], "data race", "{how}: {result}");
    }
    let printed = programs.folder.path().join("printed");
    let natively = std::process::Command::new(printed).output().unwrap();
    std::fs::write(programs.folder.path().join("expected"), &natively.stdout).unwrap();
    let (code, result) = programs.check("--expect-stdout expected -- ./printed");
    assert_eq!((code, verdict(&result)), (0, "holds"), "{result}");
    assert_eq!(result["assumptions"], serde_json::json!([]), "{result}");
}

/// A function of libc of which nothing is known is named.
#[test]
fn functions_without_a_summary_are_named() {
    let programs = programs(&["unsummarised.c"]);
    let (code, result) = programs.check("-- ./unsummarised");
    assert_eq!((code, verdict(&result)), (0, "holds"), "{result}");
    assert_eq!(result["assumptions"][0]["id"], "libc-functions", "{result}");
    let text = result["assumptions"][0]["text"].as_str().unwrap();
    assert_eq!(text, "strtok_r accesses no memory that other threads access without a lock");
    let said = programs.everypath("check -- ./unsummarised");
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("Assumes that strtok_r accesses no memory"), "{said}");
    let (_, alone) = programs.check("-- ./unsummarised alone");
    assert_eq!(
        alone["assumptions"],
        serde_json::json!([]),
        "one thread races with nobody: {alone}"
    );
}
