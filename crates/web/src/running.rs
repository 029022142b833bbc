//! Explorations that run on this machine: each answers at an abstract Unix socket.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::Duration;
use std::{fs, io};

/// An answer is not longer than this.
const MAX_ANSWER: u64 = 64 << 10;

/// What every exploration says of itself whose socket begins with `prefix`.
pub fn running(prefix: &str) -> Vec<Value> {
    // The kernel shows the zero byte of an abstract name as an at sign.
    let sockets = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let start = format!("@{prefix}");
    let names = sockets.lines().filter_map(|line| line.split_whitespace().last());
    let mut names: Vec<&str> =
        names.filter(|name| name.starts_with(&start)).map(|name| &name[1..]).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter_map(|name| ask(name).ok()).collect()
}

fn ask(name: &str) -> io::Result<Value> {
    let stream = UnixStream::connect_addr(&SocketAddr::from_abstract_name(name)?)?;
    stream.set_read_timeout(Some(Duration::from_millis(300)))?;
    let mut line = String::new();
    BufReader::new(stream.take(MAX_ANSWER)).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixListener;
    use std::thread;

    #[test]
    fn whoever_runs_is_asked() {
        let prefix = format!("everypath-test-{}-", std::process::id());
        let address = SocketAddr::from_abstract_name(format!("{prefix}1")).unwrap();
        let listener = UnixListener::bind_addr(&address).unwrap();
        let answering = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            writeln!(stream, "{{\"executions\": 7}}").unwrap();
        });
        let found = running(&prefix);
        answering.join().unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["executions"], 7);
        assert_eq!(running(&prefix), [] as [Value; 0], "it has ended");
    }
}
