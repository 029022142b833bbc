//! Answers every digit with a letter over UDP: `0` with `a`, `1` with `b` and so on. Given a number of
//! requests, it ends after so many.

use std::net::UdpSocket;

const USAGE: &str = "usage: alphabet_server PORT [REQUESTS]";

fn argument(at: usize) -> Option<usize> {
    std::env::args().nth(at).map(|text| text.parse().expect(USAGE))
}

fn main() {
    let port = argument(1).and_then(|port| u16::try_from(port).ok()).expect(USAGE);
    let requests = argument(2).unwrap_or(usize::MAX);
    let socket = UdpSocket::bind(("127.0.0.1", port)).expect("the port is free");
    println!("listening on {}", socket.local_addr().expect("it is bound").port());
    for _ in 0..requests {
        let mut request = [0; 2];
        let (length, client) = socket.recv_from(&mut request).expect("a request arrives");
        match request[..length] {
            [digit @ b'0'..=b'9'] => {
                socket.send_to(&[digit - b'0' + b'a'], client).expect("it can be answered");
            }
            _ => panic!("{request:?} is no digit"),
        }
    }
}
