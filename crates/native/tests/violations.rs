//! What is wrong with a program is found, repeats exactly, and is named; what cannot be controlled
//! is said.

use crate::common::launching::launch;
use crate::common::{Compiled, compile};
use everypath_native::{Ending, Explored, Launch, Names, Sampler, Sampling, replay, sample};
use everypath_trace::Control;

const C: [&str; 3] = ["-O1", "-g", "-pthread"];
const EXECUTIONS: u64 = 2000;

fn sampled(launch: &Launch, seed: u64, executions: u64) -> Explored {
    let sampling = Sampling {
        launch: launch.clone(),
        sampler: Sampler::Random,
        seed,
        executions,
        workers: 1,
        keep_going: false,
    };
    sample(&sampling, &Control::default()).expect("the program can be controlled")
}

/// What is wrong with a program: found by sampling, and confirmed by repeating it.
fn ending(launch: &Launch, seed: u64) -> Ending {
    let Some(found) = sampled(launch, seed, EXECUTIONS).first else { return Ending::Expected };
    let replayed = replay(launch, &found.schedule).expect("the program can be controlled");
    assert_eq!(found.difference(&replayed.execution), None);
    Names::new(&replayed).ending(&everypath_native::Setup::default())
}

/// Each case of a program must violate a property with a message that has certain parts.
fn check(compiled: &Compiled, cases: &[(&str, &str, &[&str])]) {
    for &(case, property, parts) in cases {
        let mut launch = launch(compiled, &[case]);
        // An endless loop is one after a second too.
        launch.watchdog = 10;
        match ending(&launch, 1) {
            Ending::Violated(violation) => {
                assert_eq!(violation.property, property, "{case}: {}", violation.message);
                for part in parts {
                    let message = &violation.message;
                    assert!(message.contains(part), "{case}: {message} says {part}");
                }
            }
            other => panic!("{case} is {other:?}"),
        }
    }
}

#[test]
fn crashes_and_aborts() {
    check(
        &compile("violations.c", &C),
        &[
            ("null", "crash", &["thread 1 gets SIGSEGV at address 0x0 in null_pointer"]),
            ("overflow", "crash", &["thread 1 overflows its stack in too_deep"]),
            ("jump", "crash", &["thread 1 gets SIGSEGV at address 0x123456789000"]),
            ("divide", "crash", &["thread 1 gets SIGFPE in divides"]),
            ("illegal", "crash", &["thread 1 gets SIGILL in illegal"]),
            ("terminate", "crash", &["thread 1 gets SIGTERM in terminates"]),
            ("abort", "abort", &["thread 1 aborts the program"]),
            ("assert", "assertion", &["thread 1: `flag == 7 && \"the flag\"' failed in asserts"]),
            ("exit", "exit-code", &["code 3 instead of 0"]),
        ],
    );
}

#[test]
fn threads_that_get_stuck() {
    let opposite = "thread 1 waits for mutex left, held by thread 2; \
                    thread 2 waits for mutex right, held by thread 1";
    check(
        &compile("violations.c", &C),
        &[
            ("opposite", "deadlock", &["main waits for thread 2 to end", opposite]),
            ("twice", "deadlock", &["thread 1 waits for mutex left, held by thread 1"]),
            ("lost", "deadlock", &["waits on condition cond for a signal"]),
            (
                "cycle",
                "deadlock",
                &[
                    "thread 1 waits for thread 2 to end",
                    "thread 2 waits for thread 3 to end",
                    "thread 3 waits for thread 1 to end",
                ],
            ),
            (
                "dine",
                "deadlock",
                &[
                    "thread 1 waits for mutex forks+40, held by thread 2",
                    "thread 2 waits for mutex forks+80, held by thread 3",
                    "thread 3 waits for mutex forks, held by thread 1",
                ],
            ),
            ("yield", "livelock", &["thread 1, thread 2"]),
            ("pause", "livelock", &["thread 1, thread 2"]),
            (
                "endless",
                "hang",
                &["thread 1 runs in runs_for_ever", "without reaching a scheduling point"],
            ),
        ],
    );
}

#[test]
fn a_signal_can_wake_each_waiter() {
    let compiled = compile("violations.c", &C);
    let launch = launch(&compiled, &["woken"]);
    let executions = everypath_native::executions(&launch, 1).expect("it can be controlled");
    let mut codes: Vec<i32> = executions
        .take(200)
        .map(|execution| execution.expect("it stays controlled").detail)
        .collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes, [10, 11, 12]);
}

#[test]
fn panics_that_nobody_looks_at() {
    let compiled = compile("panics.rs", &["--edition=2024", "-g"]);
    let unseen = "thread 1 (worker) panicked and its result was dropped: 'worker' panicked at";
    check(
        &compiled,
        &[
            ("main", "panic", &["'main' panicked at panics.rs:", "in main"]),
            ("thread", "panic", &[unseen, "in a thread"]),
            ("detached", "panic", &[unseen, "detached"]),
            ("unwrapped", "panic", &["carried on"]),
            ("rethrown", "panic", &[unseen, "thrown again"]),
            ("second", "panic", &[unseen]),
        ],
    );
    for case in ["joined", "caught", "caught in a thread", "caught deeper", "scoped", "finished"] {
        assert_eq!(sampled(&launch(&compiled, &[case]), 1, 200).unexpected, 0, "{case}");
    }
}

#[test]
fn panics_in_optimised_programs() {
    let compiled = compile("panics.rs", &["--edition=2024", "-Copt-level=3"]);
    check(
        &compiled,
        &[("thread", "panic", &["thread 1 (worker) panicked and its result was dropped"])],
    );
    for case in ["caught in a thread", "caught deeper", "scoped"] {
        assert_eq!(sampled(&launch(&compiled, &[case]), 1, 200).unexpected, 0, "{case}");
    }
}

#[test]
fn exceptions_that_nobody_catches() {
    check(
        &compile("terminates.cpp", &["-O1", "-g", "-pthread"]),
        &[
            ("main", "abort", &["main aborts the program"]),
            ("thread", "abort", &["thread 1 aborts the program"]),
            ("noexcept", "abort", &["thread 1 aborts the program"]),
            ("joinable", "abort", &["main aborts the program"]),
        ],
    );
}

#[test]
fn a_race_between_locks_is_found() {
    let compiled = compile("race.rs", &["--edition=2024", "-g", "-Copt-level=2"]);
    let launch = launch(&compiled, &[]);
    for seed in [1, 2, 3] {
        match ending(&launch, seed) {
            Ending::Violated(violation) => {
                assert_eq!(violation.property, "panic");
                assert!(violation.message.contains("overdrawn"), "{}", violation.message);
            }
            other => panic!("seed {seed}: {other:?}"),
        }
    }
    // Every time again.
    let found = sampled(&launch, 1, EXECUTIONS).first.expect("it was found before");
    for _ in 0..3 {
        let replayed = replay(&launch, &found.schedule).expect("it can be controlled");
        assert_eq!(found.difference(&replayed.execution), None);
    }
}

#[test]
fn who_only_computes_may_end() {
    let compiled = compile("violations.c", &C);
    match ending(&launch(&compiled, &["counts"]), 1) {
        Ending::Inconclusive(said) => {
            assert!(said.contains("thread 1 runs in counts"), "{said}");
            assert!(said.contains("its state does not repeat"), "{said}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_cannot_be_controlled_is_said() {
    let compiled = compile("uncontrolled.c", &C);
    for (case, message) in [
        ("fork", "fork is not modelled: the child process would not be controlled"),
        ("raw fork", "syscall fork("),
        ("exec", "execv is not modelled: the other program would not be controlled"),
        ("system", "system is not modelled: the other program would not be controlled"),
        ("popen", "popen is not modelled: the other program would not be controlled"),
        ("connect", "connect to another machine is not modelled"),
        ("dlopen", "dlopen of libresolv.so.2 is not modelled"),
        ("clone", "syscall clone("),
        ("splice", "splice from a pipe, or to or from a socket, is not modelled"),
        ("processor time", "setitimer of CPU time is not modelled"),
        ("kill", "a signal to another process is not modelled"),
        (
            "stop",
            "signal 19, which stops the process until another one continues it, is not modelled",
        ),
        ("timer", "timer_create of clock 8, which wakes the machine, is not modelled"),
        ("device", "open of /dev/full is not modelled"),
        ("owner of I/O", "fcntl with command 8 is not modelled"),
        ("break", "brk is not modelled"),
        ("netlink", "socket(AF_NETLINK) is not modelled"),
        ("vsock", "a socket of address family 40 is not modelled"),
        ("process control", "prctl(35, 0x7) is not modelled"),
        ("fast open", "MSG_FASTOPEN is not modelled"),
        ("priority ceiling", "a mutex with the protocol PTHREAD_PRIO_PROTECT is not modelled"),
    ] {
        match ending(&launch(&compiled, &[case]), 1) {
            Ending::Inconclusive(said) => {
                assert!(said.contains(message) && said.contains("main"), "{case}: {said}");
            }
            other => panic!("{case} is {other:?}"),
        }
    }
}
