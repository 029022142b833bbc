//! `everypath doctor`: what this machine supports and lacks.

use crate::cli::DoctorArgs;
use crate::{HOLDS, INCONCLUSIVE, output};
use everypath_check::Host;
use everypath_native::doctor::{Finding, examine};
use everypath_native::syscalls::{Handling, SYSCALLS};
use std::fmt::Write;

/// Says what this machine supports and what it lacks, or which syscalls are supported.
pub(crate) fn run(args: &DoctorArgs) -> u8 {
    if args.syscalls {
        output::print(&syscalls());
        return HOLDS;
    }
    let host = Host::new();
    let findings = examine(&host.folders, &host.environment);
    output::print(&text(&findings));
    if can_check(&findings) { HOLDS } else { INCONCLUSIVE }
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
