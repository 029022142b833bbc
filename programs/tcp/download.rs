//! Downloads a file of an HTTP server as a whole, and at the same time in parts, each on a connection
//! and a thread of its own. It takes what is complete first.
//!
//! With `racy` a thread says that it is done before it put its part where it belongs: if it was the
//! last one, the download seems to be incomplete although everything was received.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::thread;

const USAGE: &str = "usage: download PORT PARTS [racy]";
/// How much is read before looking whether the parts are complete.
const CHUNK: usize = 8;

fn argument(at: usize) -> u16 {
    std::env::args().nth(at).and_then(|text| text.parse().ok()).expect(USAGE)
}

/// The parts, and how many of them are missing.
struct Parts {
    parts: Vec<Option<Vec<u8>>>,
    missing: usize,
}

impl Parts {
    /// All parts in a row, or nothing if one is not there.
    fn assemble(&self) -> Option<Vec<u8>> {
        self.parts.iter().cloned().collect::<Option<Vec<_>>>().map(|parts| parts.concat())
    }
}

/// Asks for the file, or for a part of it; the connection is then where the content begins.
fn ask(port: u16, range: &str) -> (TcpStream, usize) {
    let mut server = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    let request = format!("GET /file HTTP/1.0\r\n{range}\r\n");
    server.write_all(request.as_bytes()).expect("the server is there");
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        server.read_exact(&mut byte).expect("a head ends with an empty line");
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let length = length.and_then(|length| length.parse().ok()).expect("the length is known");
    (server, length)
}

fn fetch(port: u16, (at, first, last): (usize, usize, usize), parts: &Mutex<Parts>, racy: bool) {
    let (mut server, length) = ask(port, &format!("Range: bytes={first}-{last}\r\n"));
    let mut content = vec![0; length];
    server.read_exact(&mut content).expect("the part is complete");
    if racy {
        parts.lock().unwrap().missing -= 1;
        parts.lock().unwrap().parts[at] = Some(content);
    } else {
        let mut parts = parts.lock().unwrap();
        parts.parts[at] = Some(content);
        parts.missing -= 1;
    }
}

/// Reads the file as a whole, unless the parts are complete before.
fn read(mut server: TcpStream, length: usize, parts: &Mutex<Parts>) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    while content.len() < length {
        let parts = parts.lock().unwrap();
        if parts.missing == 0 {
            return parts.assemble();
        }
        drop(parts);
        let mut chunk = [0; CHUNK];
        let read = server.read(&mut chunk).expect("the server answers");
        assert!(read > 0, "the server leaves too early");
        content.extend_from_slice(&chunk[..read]);
    }
    Some(content)
}

fn main() {
    let (port, count) = (argument(1), usize::from(argument(2)));
    let racy = std::env::args().nth(3).is_some();
    let (server, length) = ask(port, "");
    let parts = Arc::new(Mutex::new(Parts { parts: vec![None; count], missing: count }));
    for at in 0..count {
        let parts = Arc::clone(&parts);
        let part = (at, length * at / count, length * (at + 1) / count - 1);
        thread::spawn(move || fetch(port, part, &parts, racy));
    }
    let content = read(server, length, &parts).expect("the download is complete");
    println!("{}", String::from_utf8_lossy(&content));
}
