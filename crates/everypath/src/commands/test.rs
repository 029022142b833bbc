//! `everypath test`, also `cargo everypath test`: every test of a crate as a program of its own.
//!
//! What a test is as a program, the library says (`everypath_check::tests_of`).

use crate::cli::TestArgs;
use crate::output::{self, Json, OutputFile};
use crate::usage::Usage;
use crate::{HOLDS, INCONCLUSIVE, VIOLATED};
use clap::ValueEnum;
use everypath_check::{TestFunction, tests_of};
use everypath_report::{CheckResult, grouped, junit, plain};
use everypath_trace::Verdict;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What became of one test.
#[derive(Debug, Serialize)]
struct Checked {
    test: String,
    binary: String,
    target: String,
    verdict: String,
    coverage: String,
    executions: u64,
    seconds: f64,
    /// What was violated, or why there is no verdict.
    text: String,
    trace: Option<String>,
    #[serde(skip)]
    kind: Option<Verdict>,
}

/// Checks the tests; exit code 1 if one violates something, else 3 if one is inconclusive.
pub(crate) fn run(args: &TestArgs) -> Result<u8, Usage> {
    let json = Json::new(args.json.as_deref())?;
    let junit_file =
        args.junit.as_deref().map(|path| OutputFile::new("--junit", path)).transpose()?;
    let folder = args.folder.clone().unwrap_or_else(|| ".".into());
    let tests = tests_of(&folder, &args.cargo).map_err(|error| Usage::new(error.to_string()))?;
    let filter = args.filter.as_deref().unwrap_or_default();
    let chosen: Vec<&TestFunction> =
        tests.iter().filter(|test| test.name.contains(filter)).collect();
    let has_several = chosen.iter().any(|test| test.binary != chosen[0].binary);
    let mut checked: Vec<Checked> = Vec::new();
    for (at, test) in chosen.iter().enumerate() {
        if has_several && (at == 0 || chosen[at - 1].binary != test.binary) {
            output::print(&format!("{}:\n", everypath_report::shortened(&test.target, 78)));
        }
        let is_named_twice = chosen.iter().filter(|other| other.name == test.name).count() > 1;
        let result = check(args, test, &trace_file(args, test, is_named_twice))?;
        output::print(&row(&result));
        checked.push(result);
    }
    if checked.is_empty() {
        return Err(Usage::new(format!(
            "none of {} tests has a name that contains {filter:?}",
            tests.len()
        )));
    }
    output::print(&summary(&checked));
    json.write(&checked)?;
    if let Some(file) = junit_file {
        let results: Vec<CheckResult<'_>> = checked.iter().map(result).collect();
        file.write_or_say(junit(&results).as_bytes())?;
    }
    let has = |verdict| checked.iter().any(|test| test.kind == Some(verdict));
    Ok(match () {
        () if has(Verdict::Violated) => VIOLATED,
        () if has(Verdict::Inconclusive) => INCONCLUSIVE,
        () => HOLDS,
    })
}

fn result(test: &Checked) -> CheckResult<'_> {
    CheckResult {
        target: &test.test,
        verdict: test.kind.unwrap_or(Verdict::Inconclusive),
        text: &test.text,
        seconds: test.seconds,
        trace: None,
        trace_file: test.trace.as_deref().unwrap_or_default(),
    }
}

/// Where the counterexample of a test is written: tests of several binaries may have one name.
fn trace_file(args: &TestArgs, test: &TestFunction, is_named_twice: bool) -> PathBuf {
    let name =
        if is_named_twice { format!("{}-{}", test.target, test.name) } else { test.name.clone() };
    let harmless = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '-' };
    args.traces.join(format!("{}.json", name.chars().map(harmless).collect::<String>()))
}

/// Checks one test in a process of its own, so that a defect in one leaves the others alone; in the folder
/// in which cargo runs it.
fn check(args: &TestArgs, test: &TestFunction, trace: &Path) -> Result<Checked, Usage> {
    let TestFunction { name, binary, target, folder } = test;
    let own = std::env::current_exe()
        .map_err(|error| Usage::new(format!("cannot find this program: {error}")))?;
    let cannot_write =
        |error| Usage::new(format!("cannot write into {}: {error}", args.traces.display()));
    std::fs::create_dir_all(&args.traces).map_err(cannot_write)?;
    let mut command = Command::new(own);
    command.current_dir(folder.as_deref().unwrap_or(Path::new(".")));
    command.args(["check", "--quiet", "--json", "-", "--max-seconds"]);
    let absolute = std::path::absolute(trace).map_err(cannot_write)?;
    command.arg(f64::from(args.max_seconds).to_string()).arg("--trace").arg(absolute);
    if let Some(time) = args.time.to_possible_value() {
        command.args(["--time", time.get_name()]);
    }
    if args.random {
        command.args(["--strategy", "random", "--max-executions", "1000"]);
    }
    let config = test.config();
    for (variable, value) in &config.environment {
        command.arg("--env").arg(format!("{variable}={value}"));
    }
    command.args(["--refuse-threads", &config.refuse_threads.to_string()]);
    let output = command
        .arg("--")
        .arg(&config.program)
        .args(&config.arguments)
        .stderr(Stdio::null())
        .output()
        .map_err(|error| Usage::new(format!("cannot check {name}: {error}")))?;
    let result: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let kind = match result["verdict"].as_str() {
        Some("holds") => Verdict::Holds,
        Some("violated") => Verdict::Violated,
        _ => Verdict::Inconclusive,
    };
    let words = match kind {
        Verdict::Holds => String::new(),
        Verdict::Violated => {
            let violation = &result["violation"];
            format!("{}: {}", text(&violation["property"]), text(&violation["message"]))
        }
        Verdict::Inconclusive if result.is_null() => "the check ended without a result".into(),
        Verdict::Inconclusive => text(&result["reason"]),
    };
    Ok(Checked {
        test: name.clone(),
        binary: binary.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        target: target.clone(),
        verdict: kind.to_string(),
        coverage: text(&result["coverage"]["kind"]),
        executions: result["stats"]["executions"].as_u64().unwrap_or(0),
        seconds: result["stats"]["seconds"].as_f64().unwrap_or(0.0),
        text: words,
        trace: (kind == Verdict::Violated).then(|| trace.display().to_string()),
        kind: Some(kind),
    })
}

/// A line of the table: within 80 columns, what is long is shortened in the middle.
fn row(test: &Checked) -> String {
    let name = everypath_report::shortened(&test.test, 44);
    let executions = grouped(test.executions);
    let mut line =
        format!("{:13}{name:44} {executions:>10} executions\n", test.verdict.to_uppercase());
    if !test.text.is_empty() {
        let text: String = test.text.split_whitespace().collect::<Vec<_>>().join(" ");
        line += &format!("    {}\n", everypath_report::shortened(&plain(&text), 76));
    }
    if let Some(trace) = &test.trace {
        line += &format!("    everypath show {}\n", everypath_report::quoted(trace));
    }
    line
}

fn summary(tests: &[Checked]) -> String {
    let count = |verdict| tests.iter().filter(|test| test.kind == Some(verdict)).count();
    format!(
        "\n{} tests: {} hold, {} violated, {} inconclusive\n",
        tests.len(),
        count(Verdict::Holds),
        count(Verdict::Violated),
        count(Verdict::Inconclusive)
    )
}
