//! `everypath doctor`: what this machine supports and lacks, and what of a program is supported.

use crate::cli::DoctorArgs;
use crate::{HOLDS, INCONCLUSIVE, USAGE, output};
use everypath_check::Host;
use everypath_native::ProgramError;
use everypath_native::doctor::{Finding, Inspected, examine, inspect};
use everypath_native::syscalls::{Handling, SYSCALLS};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Says what this machine supports and what it lacks, or which syscalls are supported.
pub(crate) fn run(args: &DoctorArgs) -> u8 {
    if args.syscalls {
        output::print(&syscalls());
        return HOLDS;
    }
    let host = Host::new();
    if let Some(program) = &args.program {
        return about(program, &host.folders);
    }
    let findings = examine(&host.folders, &host.environment);
    output::print(&text(&findings));
    if can_check(&findings) { HOLDS } else { INCONCLUSIVE }
}

/// Says what of a program is supported.
fn about(program: &Path, folders: &[PathBuf]) -> u8 {
    match inspect(program, folders) {
        Ok(inspected) => {
            output::print(&inspected_text(&inspected));
            if inspected.missing.is_empty() { HOLDS } else { INCONCLUSIVE }
        }
        Err(ProgramError::Script { path, interpreter }) => {
            let path = path.display();
            let name = interpreter.split(' ').next().unwrap_or_default();
            output::print(&format!("{path} is a script: what is checked is {interpreter}\n"));
            about(Path::new(name), folders)
        }
        Err(error) => {
            output::error(&error.to_string());
            if error.is_request() { USAGE } else { INCONCLUSIVE }
        }
    }
}

/// What is known of a program before it runs.
fn inspected_text(inspected: &Inspected) -> String {
    let Inspected { path, libraries, missing, symbols, debug_information, .. } = inspected;
    let mut text = format!("program            {}, dynamically linked\n", path.display());
    let names = |paths: &[PathBuf]| {
        let names = paths.iter().filter_map(|path| path.file_name());
        names.map(|name| name.to_string_lossy()).collect::<Vec<_>>().join(", ")
    };
    let _ = writeln!(text, "libraries          {}", names(libraries));
    if !missing.is_empty() {
        let _ = writeln!(text, "missing            {}: it cannot start", missing.join(", "));
    }
    let debug = match (debug_information, symbols) {
        (true, _) => "yes: source lines and types are known",
        (false, true) => {
            "no, but symbols: functions have names; which accesses are atomic is not known, so that \
             some data races are explored and not reported (build it with -g)"
        }
        (false, false) => {
            "no, stripped: stacks have addresses only; which accesses are atomic is not known, so \
             that some data races are explored and not reported (build it with -g)"
        }
    };
    let _ = writeln!(text, "debug information  {debug}");
    if !inspected.loads_more.is_empty() {
        let _ = writeln!(
            text,
            "loads libraries    in {}: they are learnt, and loaded before main",
            inspected.loads_more.join(", ")
        );
    }
    for (name, (callers, why)) in &inspected.refused {
        let _ = writeln!(text, "not modelled       {name} (in {}): {why}", callers.join(", "));
    }
    text.push_str(if inspected.refused.is_empty() {
        "All calls found in its code are modelled or passed to the kernel.\n"
    } else {
        "A check is inconclusive only if an execution makes such a call.\n"
    });
    text
}

/// A line for each syscall, by number.
fn syscalls() -> String {
    let mut calls: Vec<_> = SYSCALLS.iter().collect();
    calls.sort_by_key(|call| call.number);
    let width = calls.iter().map(|call| call.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for call in calls {
        let (number, name) = (call.number, call.name);
        let _ = match call.handling {
            Handling::Modelled => writeln!(text, "{number:>3}  {name:<width$}  modelled"),
            Handling::Passed(why) => writeln!(text, "{number:>3}  {name:<width$}  passed: {why}"),
            Handling::Refused(why) => writeln!(text, "{number:>3}  {name:<width$}  refused: {why}"),
        };
    }
    text
}

fn can_check(findings: &[Finding]) -> bool {
    !findings.iter().any(|finding| finding.lack.as_ref().is_some_and(|lack| lack.essential))
}

/// A line for each finding, and the conclusion.
fn text(findings: &[Finding]) -> String {
    let width = findings.iter().map(|finding| finding.subject.len()).max().unwrap_or(0);
    let mut text = String::new();
    for Finding { subject, found, lack } in findings {
        let state = if lack.is_some() { "missing" } else { "ok" };
        let _ = write!(text, "{state:<7}  {subject:<width$}  {found}");
        if let Some(lack) = lack {
            let _ = write!(text, ": {}; {}", lack.meaning, lack.remedy);
        }
        text.push('\n');
    }
    text.push_str(if can_check(findings) {
        "Native programs can be checked on this machine.\n"
    } else {
        "Native programs cannot be checked on this machine; protocol models can.\n"
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use everypath_native::doctor::Lack;

    fn finding(subject: &'static str, essential: Option<bool>) -> Finding {
        let lack = essential.map(|essential| Lack { meaning: "bad", remedy: "repair", essential });
        Finding { subject, found: "something".into(), lack }
    }

    #[test]
    fn only_what_is_essential_prevents_checking() {
        let good = [finding("short", None), finding("longer", Some(false))];
        assert_eq!(
            text(&good),
            "ok       short   something\n\
             missing  longer  something: bad; repair\n\
             Native programs can be checked on this machine.\n"
        );
        let bad = [finding("short", Some(true))];
        assert_eq!(
            text(&bad),
            "missing  short  something: bad; repair\n\
             Native programs cannot be checked on this machine; protocol models can.\n"
        );
        assert!(can_check(&good) && !can_check(&bad));
    }
}
