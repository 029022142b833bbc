//! Says one byte to a chat server and listens until it heard one from each client, itself included.
//! What it says is its name; with `anonymous` all say the same.

use std::io::{Read, Write};
use std::net::TcpStream;

const USAGE: &str = "usage: chat_client PORT CLIENTS NAME [anonymous]";

fn argument(at: usize) -> u16 {
    std::env::args().nth(at).and_then(|text| text.parse().ok()).expect(USAGE)
}

fn main() {
    let (port, clients) = (argument(1), argument(2));
    let name = std::env::args().nth(3).and_then(|name| name.bytes().next()).expect(USAGE);
    let anonymous = std::env::args().nth(4).is_some();
    let message = if anonymous { b'x' } else { name };
    let mut server = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    server.write_all(&[message]).expect("the server is there");
    let mut heard = vec![0; usize::from(clients)];
    server.read_exact(&mut heard).expect("everybody says something");
    assert!(heard.contains(&message), "the own message comes back");
    println!("{}", String::from_utf8_lossy(&heard));
}
