//! Checks of native programs, each in a process of its own, so that its time and memory are its own.

use crate::experiment::Host;
use everypath_explore::Control;
use serde_json::Value;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How often to look whether a check has ended, or shall.
const PAUSE: Duration = Duration::from_millis(10);

/// What a check in a folder says, as JSON. It ends when the experiments are interrupted.
pub(crate) fn check(
    host: &Host<'_>,
    folder: &Path,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> Result<Value, String> {
    let failed = |error: &dyn std::fmt::Display| format!("cannot run a check: {error}");
    let mut command = Command::new(host.everypath);
    command.args(["check", "--json", "-"]).args(arguments).current_dir(folder);
    let (output, timed) = host.watched(|control| output(&mut command, control));
    if let Some(why) = timed.stopped {
        return Err(why);
    }
    let output = output.map_err(|error| failed(&error))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|_| failed(&String::from_utf8_lossy(&output.stderr).trim()))
}

/// What a command prints until it ends, or is to end: its peers end with it.
fn output(command: &mut Command, control: &Control) -> io::Result<Output> {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (done, is_done) = mpsc::channel();
    thread::scope(|scope| {
        let stdout = scope.spawn(move || {
            let bytes = all(stdout);
            // Nobody waits for that any more if it is to end.
            let _ = done.send(());
            bytes
        });
        let stderr = scope.spawn(|| all(stderr));
        let status = ended(&mut child, &is_done, control);
        let text =
            |reader: thread::ScopedJoinHandle<'_, Vec<u8>>| reader.join().unwrap_or_default();
        Ok(Output { status: status?, stdout: text(stdout), stderr: text(stderr) })
    })
}

fn all(reader: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What it has printed up to an error is all that there is.
    let _ = reader.map(|mut reader| reader.read_to_end(&mut bytes));
    bytes
}

/// Waits until a child has printed everything, or ends it if it is to end.
fn ended(
    child: &mut Child,
    is_done: &mpsc::Receiver<()>,
    control: &Control,
) -> io::Result<std::process::ExitStatus> {
    while is_done.recv_timeout(PAUSE) == Err(mpsc::RecvTimeoutError::Timeout) {
        if control.stopped() {
            child.kill()?;
            break;
        }
    }
    child.wait()
}

/// The verdict in a word.
pub(crate) fn outcome(result: &Value) -> &str {
    let reason = result["reason"].as_str().unwrap_or_default();
    match result["verdict"].as_str() {
        Some("inconclusive") if reason.contains("linear cache") => "mismatch",
        Some("inconclusive") if reason.contains("limit of") => "unfinished",
        Some(verdict) => verdict,
        None => "unknown",
    }
}

/// Ours, and what the paper has in brackets.
pub(crate) fn beside(ours: &Value, paper: &str) -> String {
    let ours = match ours {
        Value::Null => "–".to_string(),
        number => number.to_string(),
    };
    bracketed(ours, paper)
}

/// Our seconds, and the paper's time in brackets.
pub(crate) fn seconds(stats: &Value, paper: &str) -> String {
    bracketed(format!("{:.2}", stats["seconds"].as_f64().unwrap_or(0.0)), paper)
}

fn bracketed(ours: String, paper: &str) -> String {
    if paper.is_empty() { ours } else { format!("{ours} [{paper}]") }
}
