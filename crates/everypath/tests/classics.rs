//! The classic mistakes of concurrent programs, and their corrections: plain and reduced search
//! agree on all of them, and the case studies tell what both took.

use crate::support::Programs;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// A program of `programs/`, and what is wrong with it as it is. With `fixed` nothing is.
const CLASSICS: &[(&str, &str)] = &[
    ("bank.rs", "panic"),
    ("classics/account.c", "assertion"),
    ("classics/append.c", "assertion"),
    ("classics/counter.c", "assertion"),
    ("classics/deque.c", "assertion"),
    ("classics/driver.c", "assertion"),
    ("classics/lazy.c", "assertion"),
    ("classics/queue.c", "assertion"),
    ("classics/reorder.c", "assertion"),
    ("classics/ring.c", "assertion"),
    ("classics/stack.c", "assertion"),
    ("classics/transfer.c", "deadlock"),
    ("classics/twostage.c", "assertion"),
    ("classics/wakeup.c", "deadlock"),
    ("classics/wronglock.c", "assertion"),
];

/// Plain search gives up after so many executions: some of the programs have millions.
const MOST: u64 = 10_000;

/// What a search of all schedules found.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    property: Option<String>,
    endings: Vec<String>,
}

/// What was found, and how many executions came to their end; nothing if there were too many.
fn search(programs: &Programs, program: &str, reduction: &str) -> Option<(Found, u64)> {
    let options = format!("--keep-going --max-executions {MOST} --reduction {reduction}");
    let (_, result) = programs.check(&format!("{options} -- ./{program}"));
    let number = |name: &str| result["stats"][name].as_u64().unwrap_or(0);
    let endings = result["stats"]["endings"].as_array().into_iter().flatten();
    let name = |ending: &Value| ending["ending"].as_str().unwrap().to_string();
    let property = result["violation"]["property"].as_str().map(str::to_string);
    let executions = number("executions");
    let complete = executions - number("redundant_executions");
    let found = Found { property, endings: endings.map(name).collect() };
    (executions < MOST).then_some((found, complete))
}

/// Searches in both ways, which must agree; a row of the table.
fn row(programs: &Programs, source: &str, fixed: bool, expected: Option<&str>) -> String {
    let name = Path::new(source).file_stem().unwrap().to_str().unwrap();
    let program = if fixed { format!("{name} fixed") } else { name.to_string() };
    let (reduced, fewer) = search(programs, &program, "dpor").expect("a reduced search is small");
    assert_eq!(reduced.property.as_deref(), expected, "{program}: {reduced:?}");
    let plain = match search(programs, &program, "none") {
        Some((plain, more)) => {
            assert_eq!(plain, reduced, "{program}");
            assert!(fewer <= more, "{program}: {fewer} of {more}");
            more.to_string()
        }
        None => format!("> {MOST}"),
    };
    format!("| `{program}` | {} | {plain} | {fewer} |\n", expected.unwrap_or("holds"))
}

/// Compares the part of a page between `<!-- NAME -->` and the next comment with what it should be;
/// with `UPDATE_TRANSCRIPTS` set, writes it.
fn check_part_of_page(page: &str, name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let opening = format!("<!-- {name} -->\n");
    let start = text.find(&opening).expect("the page has the part") + opening.len();
    let end = start + text[start..].find("<!--").expect("the part has an end");
    #[expect(clippy::disallowed_methods, reason = "sample sessions are updated in the same way")]
    let update = std::env::var_os("UPDATE_TRANSCRIPTS").is_some();
    if update {
        std::fs::write(&path, [&text[..start], expected, &text[end..]].concat()).unwrap();
    } else {
        assert_eq!(&text[start..end], expected, "in {page}; UPDATE_TRANSCRIPTS=1 writes it");
    }
}

#[test]
fn plain_and_reduced_search_agree_and_the_case_studies_tell() {
    let sources: Vec<&str> = CLASSICS.iter().map(|&(source, _)| source).collect();
    let programs = Programs::new(&sources);
    let mut table = String::from("| program | verdict | `none` | `dpor` |\n|---|---|--:|--:|\n");
    for &(source, mistake) in CLASSICS {
        table.write_str(&row(&programs, source, false, Some(mistake))).unwrap();
        table.write_str(&row(&programs, source, true, None)).unwrap();
    }
    check_part_of_page("../../docs/case-studies.md", "classics", &table);
}

#[test]
fn a_worker_pool_is_closed_for_all_workers() {
    let programs = Programs::new(&["classics/pool.rs"]);
    let (code, result) = programs.check("-- ./pool 2");
    assert_eq!((code, result["violation"]["property"].as_str()), (1, Some("deadlock")), "{result}");
    let (code, result) = programs.check("-- ./pool 1 fixed");
    assert_eq!((code, result["coverage"]["kind"].as_str()), (0, Some("exhaustive")), "{result}");
    let (code, result) =
        programs.check("--strategy random --max-executions 2000 -- ./pool 2 fixed");
    assert_eq!((code, result["coverage"]["kind"].as_str()), (0, Some("sampled")), "{result}");
}

/// Compilers that do not optimise keep the addresses of variables on the stack, and look at atomic ones
/// through them by plain instructions.
#[test]
fn classics_are_found_without_optimisation() {
    let programs = Programs::new(&[]);
    for (source, property) in CLASSICS.iter().filter(|(source, _)| source.ends_with(".c")) {
        let name = Path::new(source).file_stem().unwrap().to_str().unwrap();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs").join(source);
        let mut cc = Command::new("cc");
        cc.args(["-g", "-O0", "-pthread", "-o", name]).arg(path);
        assert!(cc.current_dir(programs.folder.path()).status().unwrap().success());
        let (code, result) = programs.check(&format!("-- ./{name}"));
        let found = result["violation"]["property"].as_str();
        assert_eq!((code, found), (1, Some(*property)), "{name}: {result}");
        let (code, result) = programs.check(&format!("-- ./{name} fixed"));
        assert_eq!(code, 0, "{name} fixed: {result}");
    }
}
