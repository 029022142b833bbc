//! Small programs that fail natively now and then, or never, and must be found to.

use crate::support::Programs;
use crate::support::endings::property;
use serde_json::Value;

fn programs(names: &[&str]) -> Programs {
    let paths: Vec<String> = names
        .iter()
        .map(|name| format!("../crates/everypath/tests/programs/verdicts/{name}"))
        .collect();
    Programs::new(&paths.iter().map(String::as_str).collect::<Vec<_>>())
}

fn verdict(result: &Value) -> &str {
    result["verdict"].as_str().unwrap()
}

/// Checks that a program violates a property, and that its trace can be replayed.
fn violates(programs: &Programs, arguments: &str, expected: &str) {
    let (code, result) = programs.check(arguments);
    assert_eq!((code, property(&result)), (1, expected), "{arguments}: {result}");
    let replayed = programs.everypath("replay everypath-trace.json");
    assert_eq!(replayed.status.code(), Some(1), "{arguments}: {replayed:?}");
}

/// Checks that a program holds, exhaustively.
fn holds(programs: &Programs, arguments: &str) {
    let (code, result) = programs.check(arguments);
    assert_eq!((code, verdict(&result)), (0, "holds"), "{arguments}: {result}");
    assert_eq!(result["coverage"]["kind"], "exhaustive", "{arguments}: {result}");
}

const REDUCTIONS: [&str; 5] =
    ["", "--reduction none", "--reduction sleep", "--reduction source-dpor", "--state-matching"];

/// What a thread writes after it has created another, the other may not see yet.
#[test]
fn a_created_thread_may_run_before_its_creator_goes_on() {
    let programs = programs(&["created.c"]);
    violates(&programs, "--memory on -- ./created", "assertion");
}

/// The thread that rings had yet to begin when the alarm was disarmed, and no race told a reduction
/// to let it.
#[test]
fn an_alarm_may_ring_before_it_is_disarmed() {
    let programs = programs(&["alarms.c"]);
    for reduction in REDUCTIONS {
        for how in ["alarm", "setitimer", "periodic", "anew", "posix", "thread"] {
            violates(&programs, &format!("{reduction} -- ./alarms {how}"), "assertion");
        }
        for how in ["left", "again", "thrice"] {
            holds(&programs, &format!("{reduction} -- ./alarms {how}"));
        }
    }
    violates(&programs, "--backend threads -- ./alarms alarm", "assertion");
}

/// Which steps of a thread come before the end of its process is a choice only if somebody can tell.
#[test]
fn a_process_may_end_while_a_thread_is_at_work() {
    let programs = programs(&["exits.c"]);
    holds(&programs, "-- ./exits");
    let executions = |arguments: &str| {
        programs.check(arguments).1["stats"]["executions"].as_u64().expect("it is counted")
    };
    assert!(executions("-- ./exits") < 3);
    assert!(executions("--reduction none -- ./exits") > 10);
    violates(&programs, "-- ./exits late", "assertion");
    std::fs::write(programs.folder.path().join("expected"), "done\n").expect("it can be written");
    violates(&programs, "--expect-stdout expected -- ./exits says", "stdout");
}

/// Threads that change something in every round of a cycle were not seen to spin.
#[test]
fn who_gives_way_to_each_other_is_in_a_livelock() {
    let programs = programs(&["polite.c"]);
    violates(&programs, "-- ./polite", "livelock");
    holds(&programs, "-- ./polite same");
}

/// Of equal deadlines that of the thread with the lower number came first.
#[test]
fn equal_deadlines_pass_in_any_order() {
    let programs = programs(&["tie.c"]);
    for time in ["", "--time quiescent", "--time any"] {
        for reduction in REDUCTIONS {
            violates(&programs, &format!("{time} {reduction} -- ./tie"), "abort");
        }
    }
}

/// `mprotect` had no effect, and what was unmapped stayed readable and writable.
#[test]
fn protected_and_unmapped_pages_are_not_accessible() {
    let programs = programs(&["protection.c"]);
    // In one of two orders only, so that what one execution protects must not stay for the next.
    let late = ["late-readonly", "late-none", "late-unmap", "late-static"];
    let alone = ["map-none", "map-readonly", "part", "heap", "map-end"];
    for how in late.into_iter().chain(alone) {
        violates(&programs, &format!("-- ./protection {how}"), "crash");
    }
    for options in [
        "--backend threads",
        "--restart copy",
        "--restart tracked",
        "--restart fork",
        "--state-matching",
        "--reduction none",
    ] {
        for how in ["late-unmap", "late-static"] {
            violates(&programs, &format!("{options} -- ./protection {how}"), "crash");
        }
        holds(&programs, &format!("{options} -- ./protection fine"));
    }
    for how in ["fine", "handled"] {
        holds(&programs, &format!("--verify -- ./protection {how}"));
    }
}

/// A worker that waits for a job while main waits for clients was called a deadlock.
#[test]
fn workers_of_a_server_are_idle() {
    let programs = programs(&["workers.c"]);
    for how in ["condition", "semaphore", "signal"] {
        for options in ["", "--state-matching", "--strategy random --max-executions 20"] {
            let (code, result) = programs.check(&format!("{options} -- ./workers {how}"));
            assert_eq!((code, verdict(&result)), (0, "holds"), "{how} {options}: {result}");
            let notices = result["notices"].to_string();
            assert!(notices.contains("a lost wakeup there is not reported"), "{how}: {result}");
        }
    }
    for how in ["mutex", "rwlock", "barrier", "alone"] {
        violates(&programs, &format!("-- ./workers {how}"), "deadlock");
    }
}

/// A server with a periodic timer never ends: its executions do when only time passes.
#[test]
fn a_server_with_a_periodic_timer_is_idle() {
    let programs = programs(&["ticks.c"]);
    let bounded = |arguments: &str, kind: &str| {
        let (code, result) = programs.check(arguments);
        assert_eq!((code, verdict(&result)), (0, "holds"), "{arguments}: {result}");
        assert_eq!(result["coverage"]["kind"], kind, "{arguments}: {result}");
        let assumes = result["assumptions"].as_array().unwrap();
        assert!(assumes.iter().any(|it| it["id"] == "idle"), "{arguments}: {result}");
    };
    // What an early timer does is explored up to the bound, with and without reduction.
    for reduction in ["", "--reduction none", "--reduction source-dpor"] {
        bounded(&format!("{reduction} -- ./ticks third"), "bounded");
        violates(
            &programs,
            &format!("{reduction} --early-timeouts 3 -- ./ticks third"),
            "exit-code",
        );
    }
    for how in ["fine", "log", "later", "--time any", "--backend threads", "--verify"] {
        let how = if how.starts_with('-') {
            format!("{how} -- ./ticks fine")
        } else {
            format!("-- ./ticks {how}")
        };
        bounded(&how, "bounded");
    }
    violates(&programs, "--with './ticks client' -- ./ticks service", "exit-code");
    for [one, other] in [["fine", "client"], ["client", "fine"]] {
        let system = format!("--with './ticks {other}' -- ./ticks {one}");
        bounded(&format!("--time quiescent {system}"), "bounded");
        bounded(&format!("--strategy random --max-executions 50 {system}"), "sampled");
    }
}

/// Time may pass for long in a program that waits for nobody, and a thread that waits for a lock is not
/// idle.
#[test]
fn only_servers_end_because_time_passes() {
    let programs = programs(&["ticks.c"]);
    violates(&programs, "-- ./ticks count", "exit-code");
    let (code, result) = programs.check("--max-depth 2000 -- ./ticks deadlock");
    assert_eq!((code, verdict(&result)), (3, "inconclusive"), "{result}");
    let (code, result) = programs.check("--max-depth 2000 --idle violation -- ./ticks fine");
    assert_eq!((code, verdict(&result)), (3, "inconclusive"), "{result}");
}

/// Rounds in which threads only yield were counted, whatever they did in memory.
#[test]
fn who_counts_while_it_yields_may_give_up() {
    let programs = programs(&["rounds.c"]);
    let (code, result) = programs.check("-- ./rounds");
    assert_eq!((code, verdict(&result)), (3, "inconclusive"), "{result}");
    assert!(result["reason"].as_str().unwrap().contains("more than"), "{result}");
}

/// Condition variables woke nobody who was not signalled.
#[test]
fn who_does_not_look_again_is_woken_spuriously() {
    let programs = programs(&["spurious.c", "spurious_rust.rs"]);
    for reduction in REDUCTIONS {
        holds(&programs, &format!("{reduction} -- ./spurious if"));
        violates(&programs, &format!("{reduction} --spurious 1 -- ./spurious if"), "assertion");
        holds(&programs, &format!("{reduction} --spurious 2 -- ./spurious while"));
        violates(&programs, &format!("{reduction} --spurious 1 -- ./spurious lost"), "deadlock");
    }
    holds(&programs, "-- ./spurious_rust");
    violates(&programs, "--spurious 1 -- ./spurious_rust", "panic");
    for strategy in ["random", "pct", "pos"] {
        violates(
            &programs,
            &format!("--strategy {strategy} --spurious 1 -- ./spurious"),
            "assertion",
        );
    }
    let said = programs.everypath("check --spurious 1 -- ./spurious if");
    let said = String::from_utf8_lossy(&said.stdout);
    assert!(said.contains("wakes up spuriously at condition changed"), "{said}");
    let said = programs.everypath("check --spurious 2 -- ./spurious while");
    let said = String::from_utf8_lossy(&said.stdout);
    assert!(said.contains("no more than 2 spurious wakeups in one execution"), "{said}");
}

/// A client was refused while its server was still to be refused by somebody else.
#[test]
fn a_server_may_ask_somebody_before_it_listens() {
    let programs = programs(&["asks_first.c"]);
    let orders = [("server", "client"), ("client", "server")];
    let asked = ["cache", "tcp", "unix"];
    for ((with, program), asked) in orders.iter().flat_map(|order| asked.map(|it| (order, it))) {
        let with = format!("--with './asks_first {with} {asked}'");
        for reduction in ["", "--reduction none"] {
            holds(&programs, &format!("{reduction} {with} -- ./asks_first {program} {asked}"));
        }
    }
}

/// A program that listens may wait for others, but not for itself: both ends were in it, and that was
/// taken for a server without clients.
#[test]
fn who_waits_for_itself_is_not_idle() {
    let programs = programs(&["own_ends.c"]);
    for options in ["", "--reduction none", "--strategy random --max-executions 20"] {
        violates(&programs, &format!("{options} -- ./own_ends"), "idle");
    }
    holds(&programs, "-- ./own_ends serving");
}

/// A block that nothing points to when the program exits, in one order of two threads.
#[test]
fn leaks_are_found_if_somebody_asks() {
    let programs = programs(&["leaks.c", "no_leaks.rs"]);
    holds(&programs, "-- ./leaks");
    for options in ["--leaks", "--leaks --backend threads", "--leaks --restart fork"] {
        violates(&programs, &format!("{options} -- ./leaks"), "leak");
    }
    let said = programs.everypath("check --leaks -- ./leaks");
    let said = String::from_utf8_lossy(&said.stdout);
    assert!(said.contains("a block of 40 bytes is not freed, and nothing points to it"), "{said}");
    assert!(said.contains("replace at "), "{said}");
    for fine in ["./leaks kept", "./leaks buffered", "./no_leaks"] {
        holds(&programs, &format!("--leaks -- {fine}"));
    }
    let refused = programs.everypath("check --leaks --with ./leaks -- ./leaks");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

/// Instructions that give random numbers give the same one in every execution.
#[test]
fn random_numbers_of_the_processor_repeat() {
    let programs = programs(&["random.c"]);
    let line = "3 9e3779b97f4a7c15 7f4a7c15 7c15\n";
    std::fs::write(programs.folder.path().join("expected"), line.repeat(2)).unwrap();
    for options in ["", "--memory off", "--strategy random --max-executions 20"] {
        let check = format!("{options} --expect-stdout expected -- ./random");
        let (code, result) = programs.check(&check);
        assert_eq!(code, 0, "{check}: {result}");
    }
}
