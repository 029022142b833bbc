//! The networked programs of `programs/` by themselves, without us: they talk to each other over
//! loopback and say what they should.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use tempfile::TempDir;

/// A compiled program of `programs/`.
struct Program {
    _folder: TempDir,
    path: PathBuf,
}

impl Program {
    fn new(source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let source: PathBuf =
            [env!("CARGO_MANIFEST_DIR"), "../../programs", source].iter().collect();
        let mut compiler = match source.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => Command::new("rustc"),
            _ => Command::new("cc"),
        };
        let arguments: &[&str] = match source.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => &["--edition", "2024", "-Dwarnings"],
            _ => &["-Wall", "-Wextra", "-Werror", "-pthread"],
        };
        let output = compiler.args(arguments).arg("-o").arg(&path).arg(source).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        Program { _folder: folder, path }
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(Path::new(&self.path));
        command.args(arguments.split_whitespace()).stdin(Stdio::null());
        command
    }

    /// Starts a server on a port that is free.
    fn serve(&self, arguments: &str) -> Server {
        let mut child = self.command(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let port = line.trim_end().strip_prefix("listening on ").expect("it says its port");
        Server { port: port.parse().unwrap(), child, said }
    }

    /// Runs a client to its end and returns what it said.
    fn run(&self, arguments: &str) -> String {
        said(self.command(arguments).output().unwrap())
    }
}

fn said(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A server that runs; it does not outlive the test.
struct Server {
    port: u16,
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Server {
    /// Waits for the end of a server that ends by itself, and returns what else it said.
    fn end(mut self) -> String {
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {rest}");
        rest
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_alphabet_in_rust_and_in_c() {
    let servers = [Program::new("tcp/alphabet_server.rs"), Program::new("tcp/alphabet_server.c")];
    let clients = [Program::new("tcp/alphabet_client.rs"), Program::new("tcp/alphabet_client.c")];
    for (server, client) in servers.iter().flat_map(|s| clients.iter().map(move |c| (s, c))) {
        let server = server.serve("0 3");
        let said = client.run(&format!("{} 3 5", server.port));
        assert_eq!(said, "session 0: abcde\nsession 1: abcde\nsession 2: abcde\n");
        server.end();
    }
    let server = servers[0].serve("0 2 lines");
    let said = clients[0].run(&format!("{} 2 4 lines", server.port));
    assert_eq!(said, "session 0: abcd\nsession 1: abcd\n");
    server.end();
}

#[test]
fn the_time_of_day() {
    let (server, client) =
        (Program::new("tcp/daytime_server.rs"), Program::new("tcp/daytime_client.rs"));
    let fixed = server.serve("0 3 fixed");
    let said = client.run(&format!("{} 3", fixed.port));
    assert_eq!(said, "Sun, 09 Sep 2001 01:46:40 UTC\n".repeat(3));
    fixed.end();
    let now = server.serve("0 1");
    let said = client.run(&format!("{} 1", now.port));
    assert!(said.len() == 30 && said.ends_with(" UTC\n"), "{said}");
    now.end();
}

#[test]
fn a_chat() {
    let (server, client) = (Program::new("tcp/chat_server.rs"), Program::new("tcp/chat_client.rs"));
    let talk = |more: &str| {
        let server = server.serve("0 3");
        let start = |name: &&str| {
            let arguments = format!("{} 3 {name} {more}", server.port);
            client.command(&arguments).stdout(Stdio::piped()).spawn().unwrap()
        };
        let clients: Vec<Child> = ["a", "b", "c"].iter().map(start).collect();
        let heard: Vec<String> =
            clients.into_iter().map(|client| said(client.wait_with_output().unwrap())).collect();
        server.end();
        assert!(heard.iter().all(|other| *other == heard[0]), "{heard:?}");
        let mut letters: Vec<char> = heard[0].trim_end().chars().collect();
        letters.sort_unstable();
        letters.into_iter().collect::<String>()
    };
    assert_eq!(talk(""), "abc");
    assert_eq!(talk("anonymous"), "xxx");
}

#[test]
fn pages() {
    let (server, client) = (Program::new("tcp/http_server.rs"), Program::new("tcp/http_client.rs"));
    let plain = server.serve("0 2");
    assert_eq!(client.run(&format!("{} 2", plain.port)), "page\npage\n");
    plain.end();
    let counting = server.serve("0 3 counter");
    let said = client.run(&format!("{} 3", counting.port));
    let mut visits: Vec<&str> = said.lines().collect();
    visits.sort_unstable();
    assert_eq!(visits, ["visit 1", "visit 2", "visit 3"]);
    counting.end();
}

#[test]
fn a_download_and_a_probe() {
    let server = Program::new("tcp/http_server.rs").serve("0");
    let download = Program::new("tcp/download.rs");
    for parts in [1, 2, 5] {
        let said = download.run(&format!("{} {parts}", server.port));
        assert_eq!(said, "abcdefghijklmnopqrstuvwx\n");
    }
    let probe = Program::new("tcp/probe.rs");
    assert_eq!(probe.run(&server.port.to_string()), "HTTP/1.0 200 OK\n");
    assert_eq!(probe.run(&format!("{} early", server.port)), "HTTP/1.0 200 OK\n");
}

#[test]
fn the_alphabet_over_udp() {
    let server = Program::new("udp/alphabet_server.rs").serve("0 9");
    let said = Program::new("udp/alphabet_client.rs").run(&format!("{} 3 3", server.port));
    assert_eq!(said, "session 0: abc\nsession 1: abc\nsession 2: abc\n");
    server.end();
}

#[test]
fn files_over_udp() {
    let server = Program::new("udp/file_server.rs").serve("0");
    let client = Program::new("udp/file_client.rs");
    for more in ["", "3 buggy"] {
        let said = client.run(&format!("{} {more}", server.port));
        assert_eq!(said, "file 0: 1500 bytes\nfile 1: 2300 bytes\n");
    }
}

#[test]
fn stop_and_wait() {
    let arq = Program::new("udp/arq.rs");
    let receiver = arq.serve("receive 0 5 3");
    assert_eq!(arq.run(&format!("send {} 5 100", receiver.port)), "sent 5\n");
    assert_eq!(receiver.end(), "received 5\n");
    let both = arq.serve("both 0 5 100");
    assert_eq!(both.end(), "sent 5, received 5\n");
}
