//! Traces on disk: JSON with a header that names the format and its version.

use crate::Trace;
use serde::{Deserialize, Serialize};

/// What the first field of every trace file says.
pub const FORMAT: &str = "everypath-trace";
/// The version this build writes, and the newest it reads. Version 1 had no messages, version 2 no
/// configuration of a check, version 3 no stacks, lock holds and waits, happens-before edges, sources,
/// assumptions and found schedule.
pub const VERSION: u32 = 4;
/// The first version whose native traces contain the configuration of their check.
const CONFIGURED: u64 = 3;

/// Why bytes are not a trace we can read. The text completes "cannot read FILE: …".
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The JSON stops in the middle.
    #[error("the trace is cut off at line {line}: the file was truncated; record it again")]
    Truncated {
        /// The last line that was there.
        line: usize,
    },
    /// Not JSON, or JSON of another kind.
    #[error("this is not an everypath trace ({detail}); expected a file written with --trace")]
    Foreign {
        /// What is wrong.
        detail: String,
    },
    /// Written by a newer everypath.
    #[error(
        "the trace has format version {found}, this everypath reads up to {VERSION}; \
         use the everypath that wrote it, or a newer one"
    )]
    Newer {
        /// The file's version.
        found: u64,
    },
    /// The header is right, the contents are not.
    #[error("the trace is damaged: {detail}")]
    Damaged {
        /// What is wrong, and where.
        detail: String,
    },
}

#[derive(Serialize)]
struct Envelope<'a> {
    format: &'static str,
    version: u32,
    trace: &'a Trace,
}

#[derive(Deserialize)]
struct Header {
    format: Option<String>,
    version: Option<u64>,
}

#[derive(Deserialize)]
struct Body {
    trace: Trace,
}

/// The bytes of a trace file.
pub fn to_bytes(trace: &Trace) -> Vec<u8> {
    let envelope = Envelope { format: FORMAT, version: VERSION, trace };
    let mut bytes =
        serde_json::to_vec_pretty(&envelope).expect("a trace has string keys, and paths in UTF-8");
    bytes.push(b'\n');
    bytes
}

/// Reads the bytes of a trace file.
pub fn from_bytes(bytes: &[u8]) -> Result<Trace, ReadError> {
    let header: Header = serde_json::from_slice(bytes).map_err(|error| {
        // Whoever asked for a trace and gave an empty or unrelated file should not be told
        // that it was truncated: that is said only of what starts like one of ours.
        let ours = bytes.windows(FORMAT.len()).take(64).any(|w| w == FORMAT.as_bytes());
        if error.is_eof() && ours {
            ReadError::Truncated { line: error.line() }
        } else {
            ReadError::Foreign { detail: describe(bytes, &error) }
        }
    })?;
    match (header.format.as_deref(), header.version) {
        (Some(FORMAT), Some(version)) if version > u64::from(VERSION) => {
            Err(ReadError::Newer { found: version })
        }
        (Some(FORMAT), Some(version @ 1..)) => {
            let body = match version {
                CONFIGURED.. => serde_json::from_slice::<Body>(bytes),
                _ => {
                    serde_json::from_slice(bytes).map(unconfigured).and_then(serde_json::from_value)
                }
            };
            body.map(|body| body.trace)
                .map_err(|error| ReadError::Damaged { detail: error.to_string() })
        }
        (Some(FORMAT), _) => Err(ReadError::Damaged { detail: "it has no valid version".into() }),
        _ => Err(ReadError::Foreign { detail: "JSON, but of another kind".into() }),
    }
}

/// A file of an older version, whose native target is not a configuration.
fn unconfigured(mut file: serde_json::Value) -> serde_json::Value {
    let target = &mut file["trace"]["target"];
    if target["kind"] == "native" {
        *target = serde_json::json!({ "kind": "unconfigured", "program": target["program"] });
    }
    file
}

fn describe(bytes: &[u8], error: &serde_json::Error) -> String {
    match bytes.first() {
        None => "the file is empty".into(),
        Some(b'{') => format!("not valid JSON: {error}"),
        Some(_) => "not a JSON object".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Assumption, CheckConfig, Config, Excerpt, Explanation, FoundStep, Frame, Line, Message,
        Moment, Party, Place, RacingStep, SearchRecord, Span, SpanKind, Step, Target, TraceStep,
        Violation,
    };
    use proptest::prelude::*;

    #[expect(clippy::too_many_lines, reason = "every field of a trace")]
    fn sample() -> Trace {
        Trace {
            target: Target::Model {
                name: "arq".into(),
                config: Config {
                    bugs: vec!["b".into()],
                    features: Some(vec!["f".into()]),
                    links: Some(vec![(0, 1)]),
                    duplicate: true,
                    set: [("term".into(), 3)].into(),
                    faults: [("loss".into(), 2)].into(),
                    identical: true,
                    ..Config::new(2)
                },
            },
            search: SearchRecord { strategy: "bfs".into(), ..SearchRecord::default() },
            violation: Violation {
                property: "p".into(),
                message: "why \"so\"\n".into(),
                places: vec![Place { actor: "sender".into(), text: "runs".into(), stack: stack() }],
            },
            initial: vec![Line::new("sender", "x=1")],
            initial_fingerprint: "00".into(),
            steps: vec![TraceStep {
                step: Step { actor: 1, event: 2, param: 3 },
                actor: "sender".into(),
                event: "timeout".into(),
                text: "the timer fires".into(),
                state: vec![Line::new("sender", "x=2")],
                fingerprint: Some("01".into()),
                preempts: true,
                object: Some("mutex m".into()),
                stack: stack(),
                after: vec![1],
                fault: Some("loss".into()),
                timeout: true,
                runtime: false,
            }],
            explanation: Some(Explanation {
                critical_step: 1,
                exact: true,
                race: vec![RacingStep {
                    number: None,
                    actor: "sender".into(),
                    text: "the timer fires".into(),
                    stack: vec!["main".into()],
                }],
            }),
            messages: vec![Message {
                from: Party { process: "sender".into(), address: ":1".into(), outside: true },
                content: "x\\x00".into(),
                length: 2,
                kept: 2,
                datagram: true,
                sent: Moment { order: 0, step: 1 },
                arrivals: vec![Moment { order: 1, step: 1 }; 2],
                ..Message::default()
            }],
            spans: vec![
                Span {
                    kind: SpanKind::Hold,
                    actor: "sender".into(),
                    object: "mutex m".into(),
                    from: 1,
                    to: Some(1),
                    awaits: None,
                },
                Span {
                    kind: SpanKind::Wait,
                    actor: "sender".into(),
                    object: "mutex n".into(),
                    from: 1,
                    to: None,
                    awaits: Some("receiver".into()),
                },
            ],
            sources: vec![Excerpt { file: "a.c".into(), first: 3, lines: vec!["{".into()] }],
            assumptions: vec![Assumption { id: "sc".into(), text: "So it is.".into() }],
            found: vec![FoundStep {
                step: Step { actor: 1, event: 2, param: 3 },
                actor: "sender".into(),
                text: "the timer fires".into(),
                preempts: true,
            }],
            repeats_from: Some(1),
        }
    }

    fn stack() -> Vec<Frame> {
        vec![
            Frame { function: "work".into(), file: Some("a.c".into()), line: Some(3) },
            Frame { function: "libfoo.so+0x12".into(), ..Frame::default() },
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(from_bytes(&to_bytes(&sample())).unwrap(), sample());
    }

    const VALIDATE: &str = "\
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
for path in sys.argv[2:]:
    for error in validator.iter_errors(json.load(open(path))):
        sys.exit(f'{path}: {list(error.absolute_path)}: {error.message[:300]}')
";

    /// The schema in the documentation, by a validator of others: every kind of trace, every field.
    #[test]
    fn what_is_written_is_as_the_schema_says() {
        let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/trace.schema.json");
        let folder = tempfile::tempdir().unwrap();
        let old = Target::Unconfigured { program: "x".into() };
        let traces = [sample(), native(every_option()), Trace { target: old, ..Trace::default() }];
        let mut arguments = vec![std::path::PathBuf::from(schema)];
        for (number, trace) in traces.iter().enumerate() {
            let path = folder.path().join(number.to_string());
            std::fs::write(&path, to_bytes(trace)).unwrap();
            arguments.push(path);
        }
        let arguments: Vec<&std::path::Path> = arguments.iter().map(AsRef::as_ref).collect();
        xtask::python::run(&["jsonschema"], VALIDATE, &arguments);
    }

    /// A field that the schema does not have would be refused by readers that follow it.
    #[test]
    fn the_schema_has_every_field() {
        let schema = include_str!("../../../docs/trace.schema.json");
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
        let trace: serde_json::Value = serde_json::from_slice(&to_bytes(&sample())).unwrap();
        let has = |what: &serde_json::Value, kind: &str| {
            let known = &schema["$defs"][kind]["properties"];
            let unknown = what.as_object().unwrap().keys().find(|key| known.get(key).is_none());
            assert_eq!(unknown, None, "of {kind}");
        };
        let trace = &trace["trace"];
        has(trace, "trace");
        has(&trace["steps"][0], "step");
        has(&trace["messages"][0], "message");
        has(&trace["messages"][0]["from"], "party");
        has(&trace["spans"][1], "span");
        has(&trace["violation"], "violation");
        assert_eq!(schema["properties"]["version"]["const"], VERSION);
    }

    /// Traces were written before features, links and duplicates could be chosen.
    #[test]
    fn what_is_not_chosen_is_not_written_and_need_not_be_there() {
        let mut trace = sample();
        let Target::Model { config, .. } = &mut trace.target else { panic!("a model") };
        *config = Config { bugs: vec!["b".into()], ..Config::new(2) };
        let bytes = to_bytes(&trace);
        let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let target = r#"{"bugs":["b"],"kind":"model","name":"arq","nodes":2}"#;
        assert_eq!(json["trace"]["target"].to_string(), target);
        assert_eq!(from_bytes(&bytes).unwrap(), trace);
    }

    #[test]
    fn traces_of_the_first_version_are_read() {
        let trace = Trace { messages: Vec::new(), ..sample() };
        let text = String::from_utf8(to_bytes(&trace)).unwrap();
        for version in ["1", "2", "3"] {
            let old = text.replace("\"version\": 4", &format!("\"version\": {version}"));
            assert_ne!(old, text);
            assert_eq!(from_bytes(old.as_bytes()).unwrap(), trace);
        }
    }

    fn native(config: CheckConfig) -> Trace {
        let target = Target::Native {
            hash: "0f".into(),
            script: Vec::new(),
            armed: Vec::new(),
            config: Box::new(config),
        };
        Trace { target, ..sample() }
    }

    /// Every option, as `everypath check` would set it.
    fn every_option() -> CheckConfig {
        let fields = r#"{
            "program": "bin/server", "arguments": ["-p", "7000"], "folder": "bin",
            "environment": [["HOME", "/"]], "exit-code": 3, "expect-stdout": "out.txt",
            "oracle": "grep -q x", "refines": "arq", "idle": "ok", "file": ["a.txt:b.txt"], "library": ["2:/lib/x.so"], "stdin": "in.txt", "strategy": "pct",
            "reduction": "source-dpor", "memory": "on", "races": "explore", "suppress-races": ["queue.c"], "state-matching": true, "preemptions": 2, "spins": 3, "early-timeouts": 2,
            "pct-depth": 4, "seed": 9, "time": "any", "keep-going": true, "verify": true,
            "backend": "threads", "restart": "tracked", "with": ["./client"], "with-exit-code": "3", "symmetric": true,
            "joint": true, "emit": "f.json", "reference": "./right", "against": "g.json",
            "peer": ["./peer 1"], "peer-ready": 80, "peer-patience": 2.5, "peer-quiet": 0.25, "peer-connections": 7,
            "cache": "linear", "peer-tree": "destination",
            "peer-answers": "prompt", "verify-peers": true, "chunks": true,
            "tcp-faults": "refuse=1,eintr=2", "leaks": true, "spurious": 2, "random": 3, "peer-failure": "inconclusive", "refuse-threads": 1, "kill": 1, "partition": "a:b=1",
            "udp-multiply": "1,0,2", "udp-window": 3, "udp-direction": "send",
            "udp-send-multiply": "1,2", "udp-receive-multiply": "1,0", "udp-send-window": 2,
            "udp-receive-window": 4, "udp-budget": "loss=1", "udp-at": ["7000 window=2"],
            "max-depth": 10, "max-states": 11, "max-executions": 12, "max-seconds": 13.5,
            "max-memory": 1048576, "watchdog": 14
        }"#;
        serde_json::from_str(fields).unwrap()
    }

    #[test]
    fn a_native_trace_contains_every_option() {
        let trace = native(every_option());
        let bytes = to_bytes(&trace);
        assert_eq!(from_bytes(&bytes).unwrap(), trace);
        let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let written = json["trace"]["target"]["config"].as_object().unwrap();
        // Only the number of threads and of passing executions are no part of it.
        let known = serde_json::to_value(CheckConfig::default()).unwrap();
        assert_eq!(written.len(), known.as_object().unwrap().len());
    }

    #[test]
    fn options_with_their_defaults_are_not_written() {
        let trace = native(CheckConfig::new("./bank"));
        let json: serde_json::Value = serde_json::from_slice(&to_bytes(&trace)).unwrap();
        let expected = r#"{"config":{"program":"./bank"},"hash":"0f","kind":"native"}"#;
        assert_eq!(json["trace"]["target"].to_string(), expected);
    }

    #[test]
    fn options_that_cannot_be_read_are_refused() {
        let whole = String::from_utf8(to_bytes(&native(every_option()))).unwrap();
        for (known, unknown) in [
            ("\"a:b=1\"", "\"a\""),
            ("\"linear\"", "\"straight\""),
            ("\"refuse=1,eintr=2\"", "\"refuse=many\""),
            ("\"peer-tree\"", "\"peer-bush\""),
        ] {
            let text = whole.replace(known, unknown);
            assert_ne!(text, whole);
            let error = from_bytes(text.as_bytes()).unwrap_err();
            assert!(matches!(error, ReadError::Damaged { .. }), "{unknown}: {error}");
        }
    }

    #[test]
    fn native_traces_of_older_versions_can_be_shown() {
        let text = String::from_utf8(to_bytes(&native(CheckConfig::new("x")))).unwrap();
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["version"] = 2.into();
        json["trace"]["target"] = serde_json::json!({
            "kind": "native", "program": "./bank", "hash": "0f", "arguments": [], "exit_code": 0,
            "time": "ordered"
        });
        let read = from_bytes(json.to_string().as_bytes()).unwrap();
        assert_eq!(read.target, Target::Unconfigured { program: "./bank".into() });
    }

    #[test]
    fn every_truncation_is_refused() {
        let bytes = to_bytes(&sample());
        // Without its closing newline the file is whole; without its closing brace it is not.
        for end in 0..bytes.len() - 1 {
            let error = from_bytes(&bytes[..end]).unwrap_err();
            if end > 40 {
                assert!(matches!(error, ReadError::Truncated { .. }), "{end}: {error}");
            }
        }
    }

    #[test]
    fn foreign_newer_and_damaged_files_are_told_apart() {
        let check = |text: &str, expected: &str| {
            let message = from_bytes(text.as_bytes()).unwrap_err().to_string();
            assert!(message.contains(expected), "{text}: {message}");
        };
        check("", "the file is empty");
        check("ELF...", "not a JSON object");
        check("{\"a\": }", "not valid JSON");
        check("{\"a\": 1}", "of another kind");
        check("{\"format\": \"everypath-trace\", \"version\": 5}", "format version 5");
        check("{\"format\": \"everypath-trace\"}", "no valid version");
        check("{\"format\": \"everypath-trace\", \"version\": 1}", "damaged");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(from_bytes(&bytes).is_err());
        }

        #[test]
        fn a_flipped_byte_never_panics(at in 0usize..1000, bit in 0u8..8) {
            let mut bytes = to_bytes(&sample());
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            let _outcome = from_bytes(&bytes);
        }
    }
}
