//! Files that name the processes of a search: a line each, `host:port`, the convention of timely. A
//! path, which begins with a slash, is a Unix socket.

use std::collections::BTreeMap;
use std::fmt;

/// What is wrong with the text of such a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostsError(String);

impl fmt::Display for HostsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HostsError {}

/// The addresses of the processes, by number. Empty lines and those that begin with `#` do not count.
pub(crate) fn hosts(text: &str) -> Result<Vec<String>, HostsError> {
    let (mut hosts, mut seen) = (Vec::new(), BTreeMap::new());
    for (number, line) in (1..).zip(text.lines()) {
        let address = line.trim();
        if address.is_empty() || address.starts_with('#') {
            continue;
        }
        let port = address.rsplit_once(':').filter(|(host, _)| !host.is_empty());
        let fits = address.starts_with('/')
            || port.is_some_and(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0));
        if !fits {
            return Err(HostsError(format!("line {number}: write host:port, not {address}")));
        }
        if let Some(first) = seen.insert(address, number) {
            return Err(HostsError(format!(
                "lines {first} and {number} are both {address}; each process needs an address of \
                 its own"
            )));
        }
        hosts.push(address.to_string());
    }
    match hosts.is_empty() {
        true => Err(HostsError("it names no host; write host:port on each line".into())),
        false => Ok(hosts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_process() {
        let text = "# two machines\nalpha:2101\n\n  beta:2101\n[::1]:2102\n/run/x\n";
        assert_eq!(hosts(text).unwrap(), ["alpha:2101", "beta:2101", "[::1]:2102", "/run/x"]);
    }

    #[test]
    fn what_is_no_host_is_named_by_its_line() {
        for (text, why) in [
            ("", "names no host"),
            ("# nothing\n", "names no host"),
            ("alpha:1\nalpha", "line 2: write host:port"),
            ("alpha:99999", "line 1"),
            ("alpha:0", "line 1"),
            (":2101", "line 1"),
            ("alpha:1\nbeta:1\nalpha:1", "lines 1 and 3 are both alpha:1"),
        ] {
            let error = hosts(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text:?}: {error}");
        }
    }
}
