//! Asks an HTTP server for its page from several threads at once and checks what comes: the status,
//! the length, and that no two threads have the same number if the page counts its visits.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;

const USAGE: &str = "usage: http_client PORT THREADS";

fn argument(at: usize) -> u16 {
    std::env::args().nth(at).and_then(|text| text.parse().ok()).expect(USAGE)
}

fn get(port: u16) -> String {
    let mut server = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    server.write_all(b"GET / HTTP/1.0\r\n\r\n").expect("the server is there");
    let mut response = String::new();
    server.read_to_string(&mut response).expect("the server answers");
    let (head, body) = response.split_once("\r\n\r\n").expect("a head ends with an empty line");
    assert!(head.starts_with("HTTP/1.0 200 "), "the page is there: {head}");
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    assert_eq!(length, Some(body.len().to_string().as_str()), "the page is complete");
    body.trim_end().to_string()
}

fn main() {
    let (port, threads) = (argument(1), argument(2));
    let threads: Vec<_> = (0..threads).map(|_| thread::spawn(move || get(port))).collect();
    let pages = threads.into_iter().map(|thread| thread.join().expect("it got the page"));
    let mut visits = BTreeSet::new();
    for page in pages {
        println!("{page}");
        if page.starts_with("visit") {
            assert!(visits.insert(page), "every visit has its own number");
        }
    }
}
