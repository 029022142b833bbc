//! Results for machines: formats of CI systems and viewers, shells, and coding assistants.

use crate::support::Programs;
use serde_json::Value;
use std::fs;
use std::process::Command;

fn read(programs: &Programs, name: &str) -> String {
    fs::read_to_string(programs.folder.path().join(name)).unwrap()
}

#[test]
fn a_violation_is_a_failure_at_its_source_line() {
    let programs = Programs::new(&["philosophers.c"]);
    let output =
        programs.everypath("check --quiet --junit r.xml --sarif r.sarif -- ./philosophers");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let junit = read(&programs, "r.xml");
    assert!(junit.contains("failures=\"1\"") && junit.contains("<failure type=\"deadlock\""));
    let sarif: Value = serde_json::from_str(&read(&programs, "r.sarif")).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "deadlock");
    let place = &result["locations"][0]["physicalLocation"];
    let uri = place["artifactLocation"]["uri"].as_str().unwrap();
    assert!(uri.ends_with("philosophers.c"), "{uri}");
    assert!(place["region"]["startLine"].as_u64() > Some(1), "{place}");
}

#[test]
fn a_check_that_holds_is_a_test_that_passes() {
    let programs = Programs::new(&["deposit.c"]);
    let output =
        programs.everypath("model arq --max-depth 4 --quiet --junit r.xml --sarif r.sarif");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(read(&programs, "r.xml").contains("failures=\"0\" errors=\"0\""));
    let sarif: Value = serde_json::from_str(&read(&programs, "r.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"], serde_json::json!([]));
    let output = programs.everypath("model arq --junit same --sarif same");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn workflows_of_github_get_annotations() {
    let programs = Programs::new(&["philosophers.c"]);
    let output = Command::new(env!("CARGO_BIN_EXE_everypath"))
        .args(["check", "--quiet", "--", "./philosophers"])
        .current_dir(programs.folder.path())
        .env("GITHUB_ACTIONS", "true")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("::error file="), "{said}");
    assert!(said.contains("philosophers.c,line="), "{said}");
}

#[test]
fn traces_are_written_for_viewers() {
    let programs = Programs::new(&["philosophers.c"]);
    assert_eq!(programs.check("-- ./philosophers").0, 1);
    let output =
        programs.everypath("show everypath-trace.json --perfetto t.perfetto --shiviz t.log");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stdout.is_empty());
    let output = programs.everypath("show everypath-trace.json --itf t.itf.json");
    assert_eq!(output.status.code(), Some(2), "it has no states: {output:?}");
    let log = read(&programs, "t.log");
    assert!(log.contains("main {\"main\":1}"), "{log}");
    let bytes = fs::read(programs.folder.path().join("t.perfetto")).unwrap();
    assert!(bytes.windows(5).any(|window| window == b"forks"), "names are in it");
    let traced = read(&programs, "everypath-trace.json");
    let trace: Value = serde_json::from_str(&traced).unwrap();
    let spans = trace["trace"]["spans"].as_array().unwrap();
    let waits = spans.iter().filter(|span| span["kind"] == "wait" && span["awaits"] != Value::Null);
    assert!(waits.count() >= 3, "{spans:?}");
    assert!(trace["trace"]["sources"][0]["lines"].as_array().unwrap().len() > 3);
    let after = trace["trace"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|step| step["after"] != Value::Null);
    assert!(after.count() >= 3, "steps of other threads happen before some: {traced}");
}

/// What is no trace is refused with one message; what comes from a villain is shown as text.
#[test]
fn bad_traces_are_refused_or_shown_safely() {
    let programs = Programs::new(&["philosophers.c"]);
    assert_eq!(programs.check("-- ./philosophers").0, 1);
    let whole = read(&programs, "everypath-trace.json");
    let put =
        |name: &str, bytes: &[u8]| fs::write(programs.folder.path().join(name), bytes).unwrap();
    put("cut", &whole.as_bytes()[..whole.len() / 2]);
    put("newer", whole.replace("\"version\": 4", "\"version\": 99").as_bytes());
    put("other", b"{\"hello\": 1}");
    put("elf", b"\x7fELF\x02\x01\x01");
    put("empty", b"");
    put("bytes", &whole.as_bytes().iter().map(|byte| byte | 0x80).collect::<Vec<u8>>());
    let invalid = whole.replace("deadlock", "deadXlock").into_bytes();
    let invalid: Vec<u8> = invalid.iter().map(|&b| if b == b'X' { 0xff } else { b }).collect();
    put("invalid", &invalid);
    for (file, reason) in [
        ("cut", "cut off"),
        ("newer", "version 99"),
        ("other", "not an everypath trace"),
        ("elf", "not an everypath trace"),
        ("empty", "empty"),
        ("bytes", "not an everypath trace"),
        ("invalid", "cannot read"),
        ("missing", "No such file"),
    ] {
        let output = programs.everypath(&format!("show {file} --html p.html"));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{file}: {output:?}");
        assert!(error.contains(reason) && error.lines().count() == 1, "{file}: {error}");
        assert!(!programs.folder.path().join("p.html").exists(), "{file}");
    }
    let nasty = whole.replace("locks mutex", "locks \\u001b[2J\\u202e</script><script>x");
    put("nasty", nasty.as_bytes());
    let output = programs.everypath("show nasty --text --mermaid --dot --html p.html --svg p.svg");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let (svg, page) = (read(&programs, "p.svg"), read(&programs, "p.html"));
    for shown in [&String::from_utf8(output.stdout).unwrap(), &svg, &page] {
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown}");
    }
    assert!(!svg.contains("<script"), "{svg}");
    assert_eq!(page.matches("<script").count(), 2, "the data and the script of the page");
    // One line of a gigabyte, most of it a hole.
    let large = fs::File::create(programs.folder.path().join("large")).unwrap();
    large.set_len(1_000_000_000).unwrap();
    let output = programs.everypath("show large");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("larger than 256 MiB"), "{output:?}");
    let deep = "[".repeat(100_000);
    put("deep", deep.as_bytes());
    assert_eq!(programs.everypath("show deep").status.code(), Some(2));
}

#[test]
fn completions_and_man_pages_are_generated() {
    let programs = Programs::new(&[]);
    for (shell, word) in
        [("bash", "complete"), ("zsh", "#compdef"), ("fish", "complete -c everypath")]
    {
        let output = programs.everypath(&format!("completions {shell}"));
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains(word) && said.contains("udp-multiply"), "{shell}");
    }
    let output = programs.everypath("man pages");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let page = read(&programs, "pages/everypath-check.1");
    assert!(page.starts_with(".ie") || page.contains(".TH"), "{page}");
    assert!(programs.folder.path().join("pages/everypath.1").exists());
}

/// Colour needs a terminal: `script` makes one.
#[test]
fn colour_is_for_terminals_only() {
    let programs = Programs::new(&["philosophers.c"]);
    let plain = programs.everypath("check -- ./philosophers");
    assert!(!plain.stdout.contains(&0x1b));
    let terminal = |variable: &str| {
        let check = format!("{} check -- ./philosophers", env!("CARGO_BIN_EXE_everypath"));
        let output = Command::new("script")
            .args(["-qec", &check, "/dev/null"])
            .current_dir(programs.folder.path())
            .env("TERM", "xterm")
            .env(variable, "1")
            .output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Ok(shown) = terminal("UNRELATED") else {
        return crate::support::skip("script is not installed: it makes a terminal for this test");
    };
    assert!(shown.contains("\u{1b}[1;31mVIOLATED\u{1b}[0m: "), "{shown}");
    assert!(!terminal("NO_COLOR").unwrap().contains("\u{1b}[1;31m"));
}

/// The progress line is written over the one before, and is never wider than the terminal.
#[test]
fn the_progress_line_fits_the_terminal() {
    let programs = Programs::new(&["buffer.c"]);
    let check = "check --strategy random --max-executions 100000000 --max-seconds 1 -- ./buffer";
    let command = format!("stty cols 30; {} {check}", env!("CARGO_BIN_EXE_everypath"));
    let output = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .current_dir(programs.folder.path())
        .env("TERM", "xterm")
        .output();
    let Ok(output) = output else {
        return crate::support::skip("script is not installed: it makes a terminal for this test");
    };
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let (progress, report) = shown.rsplit_once("\r\u{1b}[K").unwrap();
    assert!(report.contains("executions"), "it is cleared before the report: {shown}");
    let lines: Vec<&str> = progress.split('\r').filter(|line| !line.is_empty()).collect();
    assert!(!lines.is_empty());
    for line in lines {
        let text = line.strip_suffix("\u{1b}[K").unwrap_or_else(|| panic!("{shown:?}"));
        assert!(text.chars().count() < 30 && text.ends_with('…'), "{shown:?}");
    }
}

/// The client of another language's SDK lists the tools, finds a deadlock and asks why.
#[test]
fn assistants_use_the_checker_by_mcp() {
    const CLIENT: &str = "
import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
# The names differ between versions of the SDK.
def either(of, new, old):
    return getattr(of, new) if hasattr(of, new) else getattr(of, old)
async def main():
    server = StdioServerParameters(command=sys.argv[1], args=['mcp'], cwd=sys.argv[2])
    async with stdio_client(server) as (reading, writing):
        async with ClientSession(reading, writing) as session:
            told = await session.initialize()
            print(either(told, 'server_info', 'serverInfo').name)
            print(sorted(tool.name for tool in (await session.list_tools()).tools))
            for name, arguments in [
                ('check', {'program': './philosophers', 'options': ['--max-executions', '100']}),
                ('explain', {'trace': 'everypath-trace.json'}),
                ('show', {'trace': 'everypath-trace.json', 'form': 'mermaid'}),
                ('replay', {'trace': 'everypath-trace.json'}),
                ('show', {'trace': 'nothing'}),
            ]:
                result = await session.call_tool(name, arguments)
                print('==', name, either(result, 'is_error', 'isError'))
                print(result.content[0].text)
asyncio.run(main())
";
    let programs = Programs::new(&["philosophers.c"]);
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_everypath"));
    let Some(said) = xtask::python::run(&["mcp"], CLIENT, &[binary, programs.folder.path()]) else {
        return;
    };
    assert!(said.starts_with("everypath\n['check', 'explain', 'replay', 'show']\n"), "{said}");
    let parts: Vec<&str> = said.split("== ").skip(1).collect();
    assert!(parts[0].starts_with("check False\nVIOLATED: deadlock"), "{}", parts[0]);
    assert!(parts[1].contains("pthread_mutex_lock(&forks[second]);"), "{}", parts[1]);
    assert!(parts[2].contains("sequenceDiagram"), "{}", parts[2]);
    assert!(parts[3].contains("the same violation"), "{}", parts[3]);
    assert!(parts[4].starts_with("show True\n"), "{}", parts[4]);
}

/// The tests of a crate, each as a program of its own.
#[test]
fn the_tests_of_a_crate_are_checked() {
    let programs = Programs::new(&[]);
    let folder = programs.folder.path();
    fs::create_dir(folder.join("src")).unwrap();
    let manifest =
        "[package]\nname = \"counter\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    let source = "
#[test] fn adds() { assert_eq!(1 + 1, 2); }
#[test] fn sleeps() {
    let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let other = done.clone();
    let thread = std::thread::spawn(move || other.store(true, std::sync::atomic::Ordering::SeqCst));
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert!(done.load(std::sync::atomic::Ordering::SeqCst));
    thread.join().unwrap();
}
#[test] #[IGNORED] fn never() {}
#[test] fn locks() {
    use std::sync::{Arc, Mutex};
    let both = Arc::new((Mutex::new(0), Mutex::new(0)));
    let other = Arc::clone(&both);
    let thread = std::thread::spawn(move || { let _b = other.1.lock().unwrap(); *other.0.lock().unwrap() += 1; });
    { let _a = both.0.lock().unwrap(); *both.1.lock().unwrap() += 1; }
    thread.join().unwrap();
}
";
    // The word itself would be taken for a test of ours that is left out.
    fs::write(folder.join("src/lib.rs"), source.replace("IGNORED", "ignore")).unwrap();
    let test = |options: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_cargo-everypath"))
            .args(["everypath", "test", "--max-seconds", "60"])
            .args(options)
            .args(["--", "--lib"])
            .current_dir(folder)
            .env_remove("CARGO_TARGET_DIR")
            .output()
            .unwrap()
    };
    let output = test(&["--json", "r.json", "--junit", "r.xml"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(said.contains("3 tests: 1 hold, 2 violated, 0 inconclusive"), "{said}");
    let results: Value = serde_json::from_str(&read(&programs, "r.json")).unwrap();
    assert_eq!(results[1]["test"], "locks");
    assert!(results[1]["text"].as_str().unwrap().starts_with("deadlock"), "{results}");
    assert!(folder.join("everypath-traces/locks.json").exists());
    assert!(read(&programs, "r.xml").contains("failures=\"2\""));
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    // A test that sleeps until another thread is done fails if that thread gets no processor.
    for (time, code) in [("ordered", 1), ("quiescent", 0)] {
        let output = test(&["sleeps", "--time", time]);
        assert_eq!(output.status.code(), Some(code), "{time}: {output:?}");
    }
}

/// Tests of one name in two binaries, whose package is elsewhere: each has its own trace, and runs in the
/// folder of the package.
#[test]
fn tests_of_one_name_are_told_apart() {
    let programs = Programs::new(&[]);
    let package = programs.folder.path().join("package");
    fs::create_dir_all(package.join("src")).unwrap();
    fs::create_dir(package.join("tests")).unwrap();
    let manifest = "[package]\nname = \"twice\"\nversion = \"0.1.0\"\n[workspace]\n";
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    let source =
        "#[test] fn reads() { std::fs::read(\"Cargo.toml\").unwrap(); panic!(\"NAME\"); }\n";
    fs::write(package.join("src/lib.rs"), source.replace("NAME", "\\u{1b}[2Jinside")).unwrap();
    fs::write(package.join("tests/outside.rs"), source.replace("NAME", "outside")).unwrap();
    let output = programs.everypath("test --folder package --traces traces --max-seconds 60");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    for part in [
        "lib twice:\nVIOLATED",
        "test outside:\nVIOLATED",
        "[2Jinside",
        "everypath show traces/lib-twice-reads.json",
        "everypath show traces/test-outside-reads.json",
        "2 tests: 0 hold, 2 violated",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains('\u{1b}'), "{said}");
    let shown = programs.everypath("show traces/test-outside-reads.json");
    let shown = String::from_utf8(shown.stdout).unwrap();
    let heading = "VIOLATED: panic of test reads of outside ";
    assert!(shown.starts_with(heading), "{shown}");
}

/// The library lists them, too, and a check of one needs no more than its configuration.
#[test]
fn the_tests_of_a_crate_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    let manifest = "[package]\nname = \"few\"\nversion = \"0.1.0\"\n[workspace]\n";
    fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    let source = "#[test] fn passes() {}\nmod inner { #[test] fn fails() { panic!(\"no\"); } }\n\
                  #[test] fn reads() { std::fs::read(\"Cargo.toml\").unwrap(); }\n";
    fs::write(folder.path().join("src/lib.rs"), source).unwrap();
    let tests = everypath_check::tests_of(folder.path(), &["--lib"]).unwrap();
    let names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
    assert_eq!(names, ["inner::fails", "passes", "reads"]);
    assert_eq!(tests[0].target, "lib few");
    let verdict = |at: usize| {
        let report = everypath_check::Check::new(tests[at].config()).run(&mut ()).unwrap();
        report.verdict.to_string()
    };
    let verdicts = [verdict(0), verdict(1), verdict(2)];
    assert_eq!(verdicts, ["violated", "holds", "holds"], "they run in the folder of their package");
    // The threads of libtest are no part of a test's schedules.
    let report = everypath_check::Check::new(tests[1].config()).run(&mut ()).unwrap();
    assert_eq!((report.stats.executions, report.stats.events), (1, 0));
    fs::write(folder.path().join("src/lib.rs"), "no rust").unwrap();
    let error = everypath_check::tests_of(folder.path(), &["--lib"]).unwrap_err().to_string();
    assert!(error.contains("cargo test --no-run failed"), "{error}");
}
