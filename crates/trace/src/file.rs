//! Traces on disk: JSON with a header that names the format and its version.

use crate::Trace;
use serde::{Deserialize, Serialize};

/// What the first field of every trace file says.
pub const FORMAT: &str = "everypath-trace";
/// The version this build writes, and the newest it reads. Version 1 knew no messages.
pub const VERSION: u32 = 2;

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
        serde_json::to_vec_pretty(&envelope).expect("a trace has string keys and no floats");
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
        (Some(FORMAT), Some(1..)) => serde_json::from_slice::<Body>(bytes)
            .map(|body| body.trace)
            .map_err(|error| ReadError::Damaged { detail: error.to_string() }),
        (Some(FORMAT), _) => Err(ReadError::Damaged { detail: "it has no valid version".into() }),
        _ => Err(ReadError::Foreign { detail: "JSON, but of another kind".into() }),
    }
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
        Config, Explanation, Line, Message, Moment, Party, RacingStep, SearchRecord, Step, Target,
        TraceStep, Violation,
    };
    use proptest::prelude::*;

    fn sample() -> Trace {
        Trace {
            target: Target::Model {
                name: "arq".into(),
                config: Config {
                    bugs: vec!["b".into()],
                    features: Some(vec!["f".into()]),
                    links: Some(vec![(0, 1)]),
                    duplicate: true,
                    ..Config::new(2)
                },
            },
            search: SearchRecord { strategy: "bfs".into(), ..SearchRecord::default() },
            violation: Violation { property: "p".into(), message: "why \"so\"\n".into() },
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
                from: Party { process: "sender".into(), address: ":1".into() },
                content: "x\\x00".into(),
                length: 2,
                kept: 2,
                datagram: true,
                sent: Moment { order: 0, step: 1 },
                arrivals: vec![Moment { order: 1, step: 1 }; 2],
                ..Message::default()
            }],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(from_bytes(&to_bytes(&sample())).unwrap(), sample());
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
        let old = text.replace("\"version\": 2", "\"version\": 1");
        assert_ne!(old, text);
        assert_eq!(from_bytes(old.as_bytes()).unwrap(), trace);
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
        check("{\"format\": \"everypath-trace\", \"version\": 3}", "format version 3");
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
