//! Programs that must do under control what they do by themselves.

use crate::common::launching::launch;
use crate::common::{Compiled, compile};
use everypath_native::{Execution, Launch, Outcome, Setup, compare, executions};
use std::process::{Command, Output, Stdio};

/// How many schedules a program is run with; with how many when its functions are copied, so that they
/// record what they access; and how many schedules are compared in every way we know.
const SCHEDULES: usize = 200;
const RECORDED: usize = 25;
const COMPARED: u64 = 12;
const SEED: u64 = 1;
fn shown(execution: &Execution) -> String {
    format!(
        "execution {}: {:?} {} {}\n{}{}",
        execution.number,
        execution.outcome,
        execution.detail,
        execution.text,
        String::from_utf8_lossy(&execution.stdout),
        String::from_utf8_lossy(&execution.stderr)
    )
}

/// Compiles a program and looks whether it conforms without arguments.
pub(crate) fn conforms(source: &str, options: &[&str]) {
    conforms_given(source, options, [&[], &[]]);
}

/// Compiles a program and runs it by itself, and then under control with many schedules and in
/// every way we know: it must always end well and say the same. The arguments are those that it
/// is given when it runs by itself, and those when it runs under control.
pub(crate) fn conforms_given(source: &str, options: &[&str], arguments: [&[&str]; 2]) {
    let compiled = compile(source, options);
    let native = by_itself(&compiled, arguments[0]);
    let launch = launch(&compiled, arguments[1]);
    let recorded = Setup { memory: true, ..launch.setup };
    for (setup, schedules) in [(launch.setup, SCHEDULES), (recorded, RECORDED)] {
        let launch = Launch { setup, ..launch.clone() };
        for execution in executions(&launch, SEED).expect("it can be controlled").take(schedules) {
            let execution = execution.expect("it stays under control");
            let well = (execution.outcome, execution.detail) == (Outcome::Exited, 0);
            assert!(well && execution.stdout == native.stdout, "{}", shown(&execution));
            assert!(execution.stderr == native.stderr, "{}", shown(&execution));
        }
    }
    assert_eq!(compare(&launch, SEED, COMPARED).expect("it can be controlled"), None);
}

/// Runs a program without us: it must end well and say something.
fn by_itself(compiled: &Compiled, arguments: &[&str]) -> Output {
    let native = Command::new(&compiled.path)
        .args(arguments)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&native.stdout);
    assert!(native.status.success(), "by itself: {}\n{said}", native.status);
    assert!(!said.is_empty(), "a program that says nothing shows nothing");
    native
}
