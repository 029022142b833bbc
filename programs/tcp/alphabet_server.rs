//! Answers every digit with a letter: `0` with `a`, `1` with `b` and so on. Each client has a thread.
//!
//! With `lines` a request is a number and an end of line, and so is the answer. Given a number of
//! clients, it ends after so many.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

const USAGE: &str = "usage: alphabet_server PORT [CLIENTS [lines]]";

fn argument(at: usize) -> Option<usize> {
    std::env::args().nth(at).map(|text| text.parse().expect(USAGE))
}

fn serve(mut client: TcpStream, lines: bool) {
    let (mut byte, mut number) = ([0], 0);
    while client.read(&mut byte).expect("the client closes in order") == 1 {
        match byte[0] {
            digit @ b'0'..=b'9' => number = (number * 10 + (digit - b'0')) % 26,
            b'\n' => {}
            other => panic!("{other} is no digit"),
        }
        if lines && byte[0] != b'\n' {
            continue;
        }
        let answer = [b'a' + number, b'\n'];
        let answer = &answer[..if lines { 2 } else { 1 }];
        client.write_all(answer).expect("the client reads its answers");
        number = 0;
    }
}

fn main() {
    let port = argument(1).and_then(|port| u16::try_from(port).ok()).expect(USAGE);
    let clients = argument(2).unwrap_or(usize::MAX);
    let lines = std::env::args().nth(3).is_some();
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
    println!("listening on {}", listener.local_addr().expect("it is bound").port());
    let mut served = Vec::new();
    for client in listener.incoming().take(clients) {
        let client = client.expect("a client connects");
        let thread = thread::spawn(move || serve(client, lines));
        if clients < usize::MAX {
            served.push(thread);
        }
    }
    for thread in served {
        thread.join().expect("the client was served");
    }
}
