//! Asks an alphabet server for letters, in several sessions at once: in each, one thread sends
//! digits and another reads the letters that answer them, and checks them.
//!
//! With `lines` a request is a number and an end of line, sent in two parts, and so is the answer.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;

const USAGE: &str = "usage: alphabet_client PORT SESSIONS MESSAGES [lines]";

fn argument(at: usize) -> u16 {
    std::env::args().nth(at).and_then(|text| text.parse().ok()).expect(USAGE)
}

fn produce(mut server: TcpStream, messages: u16, lines: bool) {
    for message in 0..messages {
        let number = (message % 10).to_string();
        server.write_all(number.as_bytes()).expect("the server is there");
        if lines {
            server.write_all(b"\n").expect("the server is there");
        }
    }
}

fn consume(mut server: TcpStream, messages: u16, lines: bool) -> String {
    let mut letters = String::new();
    for message in 0..messages {
        let mut answer = [0; 2];
        let answer = &mut answer[..if lines { 2 } else { 1 }];
        server.read_exact(answer).expect("every request is answered");
        let expected = b'a' + (message % 10) as u8;
        assert_eq!(answer[0], expected, "message {message} has the wrong answer");
        letters.push(char::from(answer[0]));
    }
    letters
}

fn main() {
    let (port, sessions, messages) = (argument(1), argument(2), argument(3));
    let lines = std::env::args().nth(4).is_some();
    let threads: Vec<_> = (0..sessions)
        .map(|_| {
            let server = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
            let reading = server.try_clone().expect("a connection has two ends");
            let producer = thread::spawn(move || produce(server, messages, lines));
            (producer, thread::spawn(move || consume(reading, messages, lines)))
        })
        .collect();
    for (session, (producer, consumer)) in threads.into_iter().enumerate() {
        producer.join().expect("the requests are sent");
        let letters = consumer.join().expect("the answers are right");
        println!("session {session}: {letters}");
    }
}
