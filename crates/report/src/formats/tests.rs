//! Each format is read by a reader that others wrote.

use super::*;
use crate::fixtures;
use std::collections::BTreeMap;
use std::fs;

fn results(trace: &Trace) -> [CheckResult<'_>; 3] {
    let result = |target, verdict, text, trace| CheckResult {
        target,
        verdict,
        text,
        seconds: 0.25,
        trace,
        trace_file: "everypath-trace.json",
    };
    [
        result("./philosophers", Verdict::Violated, "", Some(trace)),
        result("./a <b> & \"c\"", Verdict::Inconclusive, "the limit\nwas <reached>", None),
        result("./bank", Verdict::Holds, "exhaustive", None),
    ]
}

/// Writes a file for a script of Python; what that prints.
fn read(packages: &[&str], bytes: &[u8], script: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, bytes).unwrap();
    xtask::python::run(packages, script, &[&path])
}

#[test]
fn junitparser_reads_junit() {
    let script = "
import sys, junitparser
xml = junitparser.JUnitXml.fromfile(sys.argv[1])
for suite in xml:
    for case in suite:
        print(case.name, case.time, [type(it).__name__ + ' ' + str(it.type) + ' ' + str(it.message)[:40] for it in case.result])
print(xml.tests, xml.failures, xml.errors)
";
    let trace = fixtures::deadlock();
    let Some(said) = read(&["junitparser"], junit(&results(&trace)).as_bytes(), script) else {
        return;
    };
    let expected = "\
./philosophers 0.25 ['Failure deadlock thread 1 waits for mutex forks[1], held ']
./a <b> & \"c\" 0.25 ['Error inconclusive the limit was <reached>']
./bank 0.25 []
3 1 1
";
    assert_eq!(said, expected);
}

#[test]
fn sarif_tools_read_sarif() {
    let script = "
import sys
from sarif import loader
file = loader.load_sarif_file(sys.argv[1])
for record in file.get_records():
    print(record['Severity'], record['Location'], record['Line'], record['Code'])
";
    let trace = fixtures::deadlock();
    let text = sarif(&results(&trace));
    let log: serde_json::Value = serde_json::from_str(&text).unwrap();
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["relatedLocations"].as_array().unwrap().len(), 2, "of three threads");
    let flow = &result["codeFlows"][0]["threadFlows"][0]["locations"];
    assert_eq!(flow.as_array().unwrap().len(), 13);
    let Some(said) = read(&["sarif"], text.as_bytes(), script) else { return };
    assert_eq!(said, "error philosophers.c 19 deadlock\nwarning - 1 inconclusive\n");
}

#[test]
fn perfettos_own_classes_read_its_traces() {
    let script = "
import sys
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
trace = Trace()
trace.ParseFromString(open(sys.argv[1], 'rb').read())
names = {}
depth = {}
for packet in trace.packet:
    if packet.HasField('track_descriptor'):
        names[packet.track_descriptor.uuid] = packet.track_descriptor.name
    else:
        event = packet.track_event
        depth[event.track_uuid] = depth.get(event.track_uuid, 0) + (1 if event.type == 1 else -1)
        assert depth[event.track_uuid] in (0, 1), 'slices are nested'
        if event.type == 1:
            notes = [a.string_value for a in event.debug_annotations if a.name in ('sends', 'receives')]
            print(packet.timestamp, names[event.track_uuid], '|', event.name, list(event.flow_ids), notes)
assert not any(depth.values()), 'every slice ends'
";
    let Some(said) = read(&["perfetto"], &perfetto(&fixtures::exchange()), script) else { return };
    let has = |line: &str| assert!(said.lines().any(|found| found == line), "{line}\n{said}");
    has("0 main | sends to socket #1 [1] ['\"GET /a\"']");
    has("1000 main | receives from socket #1 [3] ['\"200 OK\"']");
    has("5000 thread 1 (worker) | sends to socket #1 [5] ['\"lost one\" lost']");
    let deadlock = read(&["perfetto"], &perfetto(&fixtures::deadlock()), script).unwrap();
    assert!(deadlock.contains("locks and waits | holds mutex forks[1]"), "{deadlock}");
}

/// Vector clocks grow by one at their own host, and are those of the happens-before order.
#[test]
fn shiviz_logs_have_vector_clocks() {
    let log = shiviz(&fixtures::deadlock());
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 26);
    assert_eq!(lines[0], "creates a thread (philosophers.c:35)");
    assert_eq!(lines[1], "main {\"main\":1}");
    let mut own: BTreeMap<&str, u64> = BTreeMap::new();
    for line in lines.iter().skip(1).step_by(2) {
        let (host, clock) = line.split_once(' ').unwrap();
        let clock: BTreeMap<String, u64> = serde_json::from_str(clock).unwrap();
        let before = own.insert(host, clock[host]).unwrap_or(0);
        assert_eq!(clock[host], before + 1);
    }
    // Thread 2 asks for the fork that thread 3 took.
    assert_eq!(lines[25], "thread_2 {\"main\":3,\"thread_2\":3,\"thread_3\":2}");
}

#[test]
fn annotations_name_the_line() {
    let trace = fixtures::deadlock();
    let [violated, inconclusive, holds] = results(&trace);
    let line = annotations(&violated);
    let start =
        "::error file=philosophers.c,line=19,title=everypath%3A deadlock in ./philosophers::";
    assert!(line.starts_with(start) && line.ends_with('\n'), "{line}");
    assert_eq!(line.lines().count(), 1);
    assert!(annotations(&inconclusive).contains("::the limit%0Awas <reached>"));
    assert_eq!(annotations(&holds), "");
}
