//! How far a running exploration has come, for whoever asks: `everypath serve` shows it.
//!
//! A process that explores listens at an abstract Unix socket named after its number, of which nothing
//! is left when the process has ended, however that came. Whoever connects gets one line of JSON.

use everypath_trace::Progress;
use serde_json::json;
use std::ffi::OsString;
use std::io::Write;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::Duration;

/// How the names of the sockets begin; the number of the process follows.
pub const PREFIX: &str = "everypath-progress-";

/// A socket that answers.
pub(crate) struct Beacon {
    listener: UnixListener,
    command: String,
}

impl Beacon {
    /// Listens; none if that cannot be, which is no reason not to explore.
    pub(crate) fn new() -> Option<Self> {
        let name = format!("{PREFIX}{}", std::process::id());
        let address = SocketAddr::from_abstract_name(name).ok()?;
        let listener = UnixListener::bind_addr(&address).ok()?;
        listener.set_nonblocking(true).ok()?;
        let words = std::env::args_os().skip(1);
        let quoted = |word: OsString| everypath_report::quoted(&word.to_string_lossy());
        let words: Vec<String> = words.map(quoted).collect();
        Some(Beacon { listener, command: words.join(" ") })
    }

    /// Answers everybody who has asked since.
    pub(crate) fn answer(&self, progress: Progress, elapsed: Duration) {
        while let Ok((mut stream, _)) = self.listener.accept() {
            let Progress { states, executions, events, depth, frontier } = progress;
            let line = json!({
                "pid": std::process::id(), "command": self.command,
                "seconds": elapsed.as_secs_f64(), "states": states, "executions": executions,
                "events": events, "depth": depth, "frontier": frontier,
            });
            // Whoever has gone away does not want it.
            let _ = stream.set_nonblocking(false);
            let _ = stream.set_write_timeout(Some(Duration::from_millis(20)));
            let _ = writeln!(stream, "{line}");
        }
    }
}
