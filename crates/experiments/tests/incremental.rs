//! The small versions of chapter 8 run, and a search with a graph explores what one without does.

use everypath_experiments::{Host, Timed, Work, all};
use everypath_explore::Control;
use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Runs the small version of an experiment and returns what it prints and how many rows it has.
fn run(name: &str) -> (String, usize) {
    let ticks = AtomicU64::new(0);
    let clock = || ticks.fetch_add(1000, Ordering::Relaxed);
    let printed = RefCell::new(String::new());
    let watch = |work: Work<'_>| {
        work(&Control::default());
        Timed { took: Duration::from_millis(1), stopped: None }
    };
    let host = Host {
        quick: true,
        everypath: Path::new("everypath"),
        print: &|text| *printed.borrow_mut() += text,
        clock: &clock,
        watch: &watch,
    };
    let experiments = all();
    let experiment = experiments.iter().find(|experiment| experiment.about().name == name);
    let rows = experiment.expect("it is listed").run(&host).unwrap().rows.len();
    (printed.into_inner(), rows)
}

#[test]
fn searches_with_a_graph_agree_with_searches_from_scratch() {
    for name in ["table-8.11", "table-8.13", "table-8.14"] {
        let (text, rows) = run(name);
        assert!(rows > 0 && text.lines().count() > rows, "{text}");
    }
}

/// The cost of every operation of a search is sampled; what none has timed is a dash.
#[test]
fn what_was_not_timed_is_a_dash() {
    let (text, _) = run("table-8.2");
    let row = |operation: &str| text.lines().find(|line| line.contains(operation)).unwrap();
    assert!(row("load and search the graph").contains("0.000 | –"), "{text}");
    for timed in ["execute events", "write and hash states", "check properties"] {
        assert!(!row(timed).contains("–"), "{text}");
    }
}
