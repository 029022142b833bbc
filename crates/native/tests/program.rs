//! What is said about files before they are started.

use crate::common::compile;
use everypath_native::{Program, ProgramError};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A C program that needs no library, for all ways of linking.
const BARE: [&str; 2] = ["-nostdlib", "-Wl,-e,_start"];

fn file(folder: &Path, name: &str, contents: &[u8], mode: u32) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, contents).expect("the folder is writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("the file is ours");
    path
}

fn refused(path: &Path) -> ProgramError {
    Program::open(path, &[]).expect_err("the file is refused")
}

/// The error must say this behind the path, and be the request's fault or not.
fn check(path: &Path, message: &str, is_request: bool) {
    let error = refused(path);
    assert_eq!(error.to_string(), format!("{}: {message}", path.display()));
    assert_eq!(error.reason(), message, "the path is left out");
    assert_eq!(error.is_request(), is_request);
}

#[test]
fn a_dynamic_program_is_described() {
    let compiled = compile("stack.c", &[]);
    let program = Program::open(&compiled.path, &[]).expect("it is a program");
    assert_eq!(program.path, compiled.path);
    assert_eq!(program.interpreter, Path::new("/lib64/ld-linux-x86-64.so.2"));
    assert_eq!(program.needed, ["libc.so.6"]);
    let hash = xxhash_rust::xxh3::xxh3_128(&compiled.bytes());
    assert_eq!(program.hash, format!("{hash:032x}"));
    let fixed = compile("stack.c", &["-no-pie"]);
    assert!(Program::open(&fixed.path, &[]).is_ok());
}

#[test]
fn names_are_searched_as_execvp_does() {
    let compiled = compile("stack.c", &[]);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    file(folder.path(), "program", b"", 0o644);
    let right = compiled.path.parent().expect("a file is in a folder").to_path_buf();
    let folders = [folder.path().to_path_buf(), right];
    let program = Program::open(Path::new("program"), &folders).expect("it is found");
    assert_eq!(program.path, compiled.path);
    let error = Program::open(Path::new("program"), &folders[..1]).expect_err("not executable");
    assert!(matches!(error, ProgramError::NotExecutable(_)), "{error}");
}

#[test]
fn a_missing_program_is_looked_for_nearby() {
    let message = "no such program; give its path, or its name if it is in a folder of PATH";
    check(Path::new("./no-such-program"), message, true);
    check(Path::new("no-such-program"), message, true);
    check(Path::new("Cargo.toml"), "no such program; did you mean ./Cargo.toml?", true);
}

#[test]
fn what_is_no_program_is_a_wrong_request() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let folder = folder.path();
    check(folder, "is a directory; give the path of a program", true);
    check(Path::new("/dev/null"), "is not a regular file; give the path of a program", true);
    let plain = file(folder, "plain", b"text", 0o644);
    let hint = format!("is not executable; if it is a program: chmod +x {}", plain.display());
    check(&plain, &hint, true);
    let empty = file(folder, "empty", b"", 0o755);
    check(&empty, "is empty; was its build cut short?", true);
    let text = file(folder, "text", b"text", 0o755);
    check(&text, "is not a program: neither an ELF file nor a script", true);
    let lonely = file(folder, "lonely", b"#! \n", 0o755);
    check(&lonely, "is not a program: neither an ELF file nor a script", true);
}

#[test]
fn a_damaged_file_is_a_wrong_request() {
    let compiled = compile("stack.c", &[]);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for size in [4, 19, 40, 100] {
        let cut = file(folder.path(), "cut", &compiled.bytes()[..size], 0o755);
        let error = refused(&cut);
        assert!(matches!(error, ProgramError::Damaged { .. }), "{size}: {error}");
        assert!(error.is_request());
    }
    let library = compile("bare.c", &[&BARE[..], &["-shared", "-fPIC"]].concat());
    let message = "is not a program that can be started: it is a shared library";
    check(&library.path, message, true);
    let object = compile("bare.c", &["-c"]);
    fs::set_permissions(&object.path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let message = "is not a program that can be started: it is an object file; link it first";
    check(&object.path, message, true);
}

#[test]
fn a_script_names_its_interpreter() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (line, interpreter) in [
        ("#!/bin/sh\n", "/bin/sh"),
        ("#! /bin/bash -e\r\n", "/bin/bash -e"),
        ("#!/usr/bin/env python3", "python3"),
    ] {
        let script = file(folder.path(), "script", line.as_bytes(), 0o755);
        let path = script.display();
        let command = format!("everypath check -- {interpreter} {path}");
        let message = format!("is a script; check its interpreter instead: {command}");
        check(&script, &message, false);
    }
}

#[test]
fn static_programs_cannot_be_controlled() {
    let message = "is statically linked, and only dynamically linked programs can be controlled; \
                   link it dynamically (C: without -static; Rust: a target that ends in -linux-gnu)";
    for linking in ["-static", "-static-pie"] {
        let options = [&BARE[..], &[linking, "-fPIE"]].concat();
        check(&compile("bare.c", &options).path, message, false);
    }
}

#[test]
fn programs_for_other_machines_cannot_be_controlled() {
    let compiled = compile("stack.c", &[]);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let cases =
        [(2, 183, "64-bit ARM"), (1, 3, "32-bit x86"), (1, 62, "x32"), (2, 9, "ELF machine 9")];
    for (class, machine, name) in cases {
        let mut bytes = compiled.bytes();
        bytes[4] = class;
        bytes[18] = machine;
        let other = file(folder.path(), "other", &bytes, 0o755);
        let message = format!(
            "is a program for {name}, and only x86-64 can be controlled; \
             build it for x86_64-unknown-linux-gnu"
        );
        check(&other, &message, false);
    }
}

#[test]
fn privileged_programs_cannot_be_controlled() {
    let compiled = compile("stack.c", &[]);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for mode in [0o4755, 0o2755] {
        let copy = file(folder.path(), "privileged", &compiled.bytes(), mode);
        let message = "is setuid or setgid, or has capabilities, and the loader lets nobody control \
                       such programs; check a copy of it without these";
        check(&copy, message, false);
    }
}
