//! A small HTTP server with a thread for each connection. `/` is a page, `/file` has 24 bytes, of
//! which parts may be asked for.
//!
//! With `counter` the page says how often it was asked for. Given a number of connections, it ends
//! after so many.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const USAGE: &str = "usage: http_server PORT [CONNECTIONS [counter]]";
const FILE: &[u8] = b"abcdefghijklmnopqrstuvwx";

fn argument(at: usize) -> Option<usize> {
    std::env::args().nth(at).map(|text| text.parse().expect(USAGE))
}

/// What a client asks for: a path, and a part of what is there.
struct Request {
    path: String,
    range: Option<(usize, usize)>,
}

/// Reads the lines of a request up to the empty one; `None` if there is no request.
fn read_request(client: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    client.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let ("GET", path) = (words.next()?, words.next()?.to_string()) else { return None };
    let mut range = None;
    loop {
        let mut header = String::new();
        client.read_line(&mut header).ok().filter(|&length| length > 0)?;
        let header = header.trim_end();
        if header.is_empty() {
            return Some(Request { path, range });
        }
        if let Some(bytes) = header.strip_prefix("Range: bytes=") {
            let (first, last) = bytes.split_once('-')?;
            range = Some((first.parse().ok()?, last.parse().ok()?));
        }
    }
}

fn respond(status: &str, body: &[u8]) -> Vec<u8> {
    let mut response = format!("HTTP/1.0 {status}\r\nContent-Length: {}\r\n\r\n", body.len());
    response.push_str(&String::from_utf8_lossy(body));
    response.into_bytes()
}

fn answer(request: Option<Request>, visits: Option<&AtomicUsize>) -> Vec<u8> {
    let Some(Request { path, range }) = request else { return respond("400 Bad Request", b"") };
    match (path.as_str(), range) {
        ("/", _) => {
            let visit = visits.map(|visits| visits.fetch_add(1, Ordering::SeqCst) + 1);
            let page = visit.map_or("page\n".to_string(), |visit| format!("visit {visit}\n"));
            respond("200 OK", page.as_bytes())
        }
        ("/file", None) => respond("200 OK", FILE),
        ("/file", Some((first, last))) => match FILE.get(first..=last) {
            Some(part) => respond("206 Partial Content", part),
            None => respond("416 Range Not Satisfiable", b""),
        },
        _ => respond("404 Not Found", b""),
    }
}

/// A client that leaves before it has its answer is no fault of the server.
fn serve(client: &TcpStream, visits: Option<&AtomicUsize>) {
    let request = read_request(&mut BufReader::new(client));
    let _ = (&mut &*client).write_all(&answer(request, visits));
}

fn main() {
    let port = argument(1).and_then(|port| u16::try_from(port).ok()).expect(USAGE);
    let connections = argument(2).unwrap_or(usize::MAX);
    let visits = std::env::args().nth(3).map(|_| Arc::new(AtomicUsize::new(0)));
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
    println!("listening on {}", listener.local_addr().expect("it is bound").port());
    let mut served = Vec::new();
    for client in listener.incoming().take(connections) {
        let (client, visits) = (client.expect("a client connects"), visits.clone());
        let thread = thread::spawn(move || serve(&client, visits.as_deref()));
        if connections < usize::MAX {
            served.push(thread);
        }
    }
    for thread in served {
        thread.join().expect("the client was served");
    }
}
