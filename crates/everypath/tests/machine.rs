//! What the machine refuses, or somebody else does to a program, is no defect: exit 3 with the reason
//! and what to do.

use crate::support::{Programs, skip};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::process::{Child, Command, Output, Stdio};

const EVERYPATH: &str = env!("CARGO_BIN_EXE_everypath");

/// Runs a script in which `everypath` is the command line, in the folder of the programs.
fn shell(programs: &Programs, start: &[&str], script: &str) -> (i32, String) {
    let script = format!("everypath() {{ {EVERYPATH} \"$@\"; }}\n{script}");
    let mut words = start.iter().copied().chain(["sh", "-c", &script]);
    let Output { status, stdout, stderr } = Command::new(words.next().unwrap())
        .args(words)
        .current_dir(programs.folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&stdout) + String::from_utf8_lossy(&stderr);
    (status.code().unwrap_or(-1), said.into_owned())
}

/// Each of these was an internal error, a crash of the checker, or a message that said nothing.
#[test]
fn low_limits_are_named_with_a_remedy() {
    let programs = Programs::new(&["classics/counter.c"]);
    for (limit, subject, remedy) in [
        ("-v 4000000", "limit of address space", "ulimit -v unlimited"),
        ("-d 100000", "limit of data size", "ulimit -d unlimited"),
        ("-n 64", "limit of open files", "ulimit -n 1024"),
        ("-s 64", "limit of stack size", "ulimit -s 8192"),
        ("-f 100", "limit of file size", "ulimit -f unlimited"),
    ] {
        for command in ["check -- ./counter fixed", "check --quiet -- ./counter fixed"] {
            let (code, said) =
                shell(&programs, &[], &format!("ulimit {limit}; everypath {command}"));
            assert_eq!(code, 3, "{limit}: {said}");
            assert!(said.contains(subject) && said.contains(remedy), "{limit}: {said}");
        }
        let (code, said) = shell(&programs, &[], &format!("ulimit {limit}; everypath doctor"));
        let is_line = |line: &str| line.contains(subject) && line.contains(remedy);
        assert!(code == 3 && said.lines().any(is_line), "{limit}: {said}");
    }
    let (code, said) = shell(&programs, &[], "everypath doctor");
    assert!(code == 0 && said.contains("ok       limit of mappings"), "{said}");
}

/// Without `/proc` the loader ignored the shim, and the program ran for real.
#[test]
fn a_program_that_would_not_be_controlled_is_not_started() {
    let programs = Programs::new(&[]);
    let start = ["unshare", "--map-root-user", "--mount"];
    let (code, said) = shell(&programs, &start, "mount -t tmpfs none /proc");
    if code != 0 {
        return skip(&format!("there are no mount namespaces: {said}"));
    }
    let script = "mount -t tmpfs none /proc; everypath check -- touch file";
    let (code, said) = shell(&programs, &start, script);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("was not started, because it would not be controlled"), "{said}");
    assert!(said.contains("cannot be preloaded"), "{said}");
    assert!(!programs.folder.path().join("file").exists(), "it ran all the same");
    let (code, said) = shell(&programs, &start, "mount -t tmpfs none /proc; everypath doctor");
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("mount -t proc proc /proc"), "{said}");
}

/// The process of the program that a checker has started, once it computes.
fn worker(checker: &Child) -> Pid {
    loop {
        let children = format!("/proc/{0}/task/{0}/children", checker.id());
        let threads = fs::read_dir(format!("/proc/{}/task", checker.id())).unwrap();
        let lists = threads.map(|thread| thread.unwrap().path().join("children"));
        let lists = lists.chain([children.into()]);
        let children = lists.filter_map(|list| fs::read_to_string(list).ok()).collect::<String>();
        for child in children.split_whitespace() {
            let stat = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            let (_, numbers) = stat.rsplit_once(')').unwrap_or_default();
            let time: u64 =
                numbers.split_whitespace().nth(11).map_or(0, |time| time.parse().unwrap());
            if stat.contains("(forever)") && time > 20 {
                return Pid::from_raw(child.parse().unwrap()).unwrap();
            }
        }
        std::thread::yield_now();
    }
}

/// A worker that somebody else killed or stopped was called a defect of the checker.
#[test]
fn a_program_that_is_killed_from_outside_gets_no_verdict() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/limits/forever.c"]);
    for (signal, what) in [
        (Signal::KILL, "killed from outside (signal: 9 (SIGKILL))"),
        (Signal::TERM, "killed from outside (signal: 15 (SIGTERM))"),
        (Signal::STOP, "stopped by a signal from outside"),
    ] {
        let checker = Command::new(EVERYPATH)
            .args(["check", "--quiet", "--watchdog", "1", "--", "./forever"])
            .current_dir(programs.folder.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        kill_process(worker(&checker), signal).unwrap();
        let Output { status, stderr, .. } = checker.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&stderr);
        assert!(status.code() == Some(3) && said.contains(what), "{signal:?}: {status} {said}");
    }
}
