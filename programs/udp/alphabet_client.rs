//! Asks an alphabet server for letters over UDP, in several sessions at once: in each, one thread
//! sends digits and another receives the letters that answer them, and checks them.
//!
//! It is made as if packets were never lost, duplicated or reordered. With `unchecked` it takes
//! whatever comes.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const USAGE: &str = "usage: alphabet_client PORT SESSIONS MESSAGES [unchecked]";
const PATIENCE: Duration = Duration::from_secs(10);

fn argument(at: usize) -> u16 {
    std::env::args().nth(at).and_then(|text| text.parse().ok()).expect(USAGE)
}

fn produce(server: &UdpSocket, messages: u16) {
    for message in 0..messages {
        server.send(&[b'0' + (message % 10) as u8]).expect("the server is there");
    }
}

/// Receives the answers until all are there, or none comes any more.
fn consume(server: &UdpSocket, messages: u16, checked: bool) -> String {
    let mut letters = String::new();
    for message in 0..messages {
        let mut answer = [0];
        match server.recv(&mut answer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            received => assert_eq!(received.expect("the server is there"), 1),
        }
        let expected = b'a' + (message % 10) as u8;
        assert!(!checked || answer[0] == expected, "message {message} has the wrong answer");
        letters.push(char::from(answer[0]));
    }
    letters
}

fn main() {
    let (port, sessions, messages) = (argument(1), argument(2), argument(3));
    let checked = std::env::args().nth(4).is_none();
    let threads: Vec<_> = (0..sessions)
        .map(|_| {
            let server = UdpSocket::bind(("127.0.0.1", 0)).expect("a port is free");
            server.connect(("127.0.0.1", port)).expect("the address is good");
            server.set_read_timeout(Some(PATIENCE)).expect("patience is not zero");
            let server = Arc::new(server);
            let sending = Arc::clone(&server);
            let producer = thread::spawn(move || produce(&sending, messages));
            (producer, thread::spawn(move || consume(&server, messages, checked)))
        })
        .collect();
    for (session, (producer, consumer)) in threads.into_iter().enumerate() {
        producer.join().expect("the requests are sent");
        let letters = consumer.join().expect("the answers are right");
        println!("session {session}: {letters}");
    }
}
