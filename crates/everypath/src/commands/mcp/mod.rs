//! `everypath mcp`: the Model Context Protocol on standard input and output, so that coding assistants
//! can check, replay, explain and show.
//!
//! The protocol is JSON-RPC, a message a line, of which a server of tools needs four methods. The
//! official SDK brings an asynchronous runtime and two dozen crates for them; here it is a loop. The
//! tests talk to it with the SDK of another language.

mod tools;

use crate::usage::Usage;
use crate::{HOLDS, output};
use serde_json::{Value, json};
use std::io::{self, BufRead, Read};

/// The versions of the protocol that this server speaks, the newest first.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];
/// No message is longer.
const MAX_MESSAGE: u64 = 4 << 20;

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const NO_SUCH_METHOD: i32 = -32601;
const INVALID_PARAMETERS: i32 = -32602;

/// Answers until the input ends.
pub(crate) fn run() -> Result<u8, Usage> {
    let mut input = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(MAX_MESSAGE).read_until(b'\n', &mut line);
        match read.map_err(|error| Usage::new(format!("cannot read standard input: {error}")))? {
            0 => return Ok(HOLDS),
            length if length as u64 == MAX_MESSAGE && line.last() != Some(&b'\n') => {
                let message = format!("a message is longer than {} MiB", MAX_MESSAGE >> 20);
                say(&failure(&Value::Null, INVALID_REQUEST, &message))?;
                return Ok(HOLDS);
            }
            _ => {}
        }
        if let Some(answer) = answer(&line) {
            say(&answer)?;
        }
    }
}

fn say(answer: &Value) -> Result<(), Usage> {
    output::print_or_fail(&format!("{answer}\n"))
}

/// The answer to a message; none to a notification or an empty line.
fn answer(line: &[u8]) -> Option<Value> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    let Ok(message) = serde_json::from_slice::<Value>(line) else {
        return Some(failure(&Value::Null, PARSE_ERROR, "this is not JSON"));
    };
    let Some(method) = message["method"].as_str() else {
        return Some(failure(&message["id"], INVALID_REQUEST, "a request names its method"));
    };
    let id = message.get("id")?;
    let parameters = &message["params"];
    Some(match method {
        "initialize" => success(id, initialize(parameters)),
        "ping" => success(id, json!({})),
        "tools/list" => success(id, json!({ "tools": tools::list() })),
        "tools/call" => match tools::call(parameters) {
            Ok(said) => success(id, said),
            Err(message) => failure(id, INVALID_PARAMETERS, &message),
        },
        _ => failure(id, NO_SUCH_METHOD, &format!("there is no method {method}")),
    })
}

fn initialize(parameters: &Value) -> Value {
    let asked = parameters["protocolVersion"].as_str().unwrap_or_default();
    let version = VERSIONS.iter().find(|known| **known == asked).unwrap_or(&VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "everypath", "version": env!("CARGO_PKG_VERSION") },
        "instructions": "Checks unmodified native programs for deadlocks, data races, crashes and \
                         failed assertions over all thread schedules. Begin with check; a violation \
                         leaves a trace file for explain, show and replay.",
    })
}

fn success(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

fn failure(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(message: &str) -> Value {
        answer(message.as_bytes()).unwrap()
    }

    #[test]
    fn a_version_that_is_known_is_spoken() {
        let ask = |version: &str| {
            asked(&format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{version}"}}}}"#
            ))
        };
        assert_eq!(ask("2024-11-05")["result"]["protocolVersion"], "2024-11-05");
        assert_eq!(ask("2031-01-01")["result"]["protocolVersion"], VERSIONS[0]);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        assert_eq!(asked("{nonsense")["error"]["code"], PARSE_ERROR);
        assert_eq!(asked(r#"{"id":1}"#)["error"]["code"], INVALID_REQUEST);
        assert_eq!(asked(r#"{"id":1,"method":"x"}"#)["error"]["code"], NO_SUCH_METHOD);
        let call = r#"{"id":1,"method":"tools/call","params":{"name":"x"}}"#;
        assert_eq!(asked(call)["error"]["code"], INVALID_PARAMETERS);
        assert_eq!(answer(br#"{"method":"notifications/initialized"}"#), None);
        assert_eq!(answer(b"\n"), None);
    }
}
