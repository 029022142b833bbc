//! `everypath doctor`, and what points to it.

use std::path::Path;
use std::process::{Command, Output};

fn doctor(path: &str) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_everypath"));
    let Output { stdout, stderr, status } =
        command.arg("doctor").env("PATH", path).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&stderr), "");
    (String::from_utf8(stdout).unwrap(), status.code())
}

/// The state and the rest of the line about a subject.
fn line<'a>(text: &'a str, subject: &str) -> (&'a str, &'a str) {
    let lines = text.lines().filter_map(|line| line.split_once("  "));
    let found = lines.filter_map(|(state, rest)| Some((state, rest.trim().strip_prefix(subject)?)));
    let found: Vec<_> = found.collect();
    assert_eq!(found.len(), 1, "{subject} in\n{text}");
    (found[0].0, found[0].1.trim())
}

const SUBJECTS: [&str; 23] = [
    "kernel",
    "architecture",
    "FSGSBASE instructions",
    "XSAVEC instruction",
    "AVX registers",
    "Syscall User Dispatch",
    "tracking of dirty pages",
    "fixed addresses",
    "files in memory",
    "reading a program's memory",
    "attaching a debugger",
    "gdb",
    "C library",
    "cores",
    "free memory",
    "/proc",
    "limit of mappings",
    "limit of address space",
    "limit of data size",
    "limit of open files",
    "limit of stack size",
    "limit of file size",
    "controlling a program",
];

#[test]
fn every_subject_has_a_line_and_a_lack_is_explained() {
    let (text, code) = doctor("/usr/bin:/bin");
    for subject in SUBJECTS {
        let (state, rest) = line(&text, subject);
        match state {
            "ok" => assert!(!rest.is_empty(), "{text}"),
            // What is there instead, what that means, and what to do.
            "missing" => assert!(rest.contains(": ") && rest.contains("; "), "{text}"),
            other => panic!("{other} in\n{text}"),
        }
    }
    assert_eq!(text.lines().count(), SUBJECTS.len() + 1);
    // The tests of native programs would all fail otherwise.
    assert_eq!(code, Some(0), "{text}");
    assert!(text.ends_with("Native programs can be checked on this machine.\n"));
    assert_eq!(line(&text, "controlling a program").0, "ok");
}

#[test]
fn without_anything_to_control_nothing_is_proved() {
    let empty = tempfile::tempdir().unwrap();
    let (text, code) = doctor(empty.path().to_str().unwrap());
    let (state, why) = line(&text, "controlling a program");
    assert_eq!(state, "missing");
    assert!(why.contains("true: no such program"), "{why}");
    let (state, why) = line(&text, "gdb");
    assert_eq!(state, "missing");
    assert!(why.ends_with("everypath replay --gdb does not work; install gdb"), "{why}");
    assert_eq!(code, Some(3));
}

/// Compiles a program that asks for a loader that is not there.
fn unloadable(folder: &Path) {
    std::fs::write(folder.join("program.c"), "int main(void) { return 0; }\n").unwrap();
    let options = ["-Wl,--dynamic-linker=/no/such/loader", "-o", "program", "program.c"];
    let status = Command::new("cc").args(options).current_dir(folder).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_failed_start_points_to_the_doctor() {
    let folder = tempfile::tempdir().unwrap();
    unloadable(folder.path());
    let mut command = Command::new(env!("CARGO_BIN_EXE_everypath"));
    command.args(["check", "--", "./program"]).current_dir(folder.path());
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("cannot start ./program"), "{text}");
    let hint = "; everypath doctor says whether this machine is at fault\n";
    assert!(text.ends_with(hint), "{text}");
}
