//! Stop and wait over UDP: every message is sent again until it is acknowledged, then comes the next
//! one. Messages and acknowledgements carry one bit that alternates. One process sends, one
//! receives, or two threads of one process do (`both`).
//!
//! With `unchecked` the sender takes every acknowledgement for that of the current message.

use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::thread;
use std::time::Duration;

const USAGE: &str = "usage: arq send|receive|both PORT MESSAGES RETRIES [unchecked]";
/// How long the sender waits for an acknowledgement, and the receiver for a message.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the receiver waits before it believes that the sender has given up.
const SILENCE: u32 = 20;

fn argument(at: usize) -> u16 {
    std::env::args().nth(at).and_then(|text| text.parse().ok()).expect(USAGE)
}

/// The bytes that arrived, or `None` if none did in time. A receiver that has left is silent.
fn receive<const N: usize>(received: io::Result<usize>, bytes: [u8; N]) -> Option<[u8; N]> {
    match received {
        Err(error)
            if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused) =>
        {
            None
        }
        length => (length.expect("the socket is open") == N).then_some(bytes),
    }
}

/// Sends the messages and returns how many were acknowledged before it gave up.
fn send(port: u16, messages: u8, retries: u16, unchecked: bool) -> u8 {
    let socket = UdpSocket::bind(("127.0.0.1", 0)).expect("a port is free");
    socket.connect(("127.0.0.1", port)).expect("the address is good");
    socket.set_read_timeout(Some(PATIENCE)).expect("patience is not zero");
    for message in 0..messages {
        let (bit, mut tries) = (message % 2, 0);
        let mut acknowledged = false;
        while !acknowledged {
            if tries > retries {
                return message;
            }
            tries += 1;
            // Whether it arrives is seen by the acknowledgement alone.
            let _ = socket.send(&[bit, message]);
            // What comes is read up to the acknowledgement that is meant, or until none comes.
            let mut bytes = [0];
            while let Some([acknowledgement]) = receive(socket.recv(&mut bytes), bytes) {
                acknowledged = unchecked || acknowledgement == bit;
                if acknowledged {
                    break;
                }
            }
        }
    }
    messages
}

/// Receives messages, in order, until all are there and the sender is silent.
fn collect(socket: &UdpSocket, messages: u8) -> u8 {
    socket.set_read_timeout(Some(PATIENCE)).expect("patience is not zero");
    let (mut received, mut silence) = (0, 0);
    while silence < SILENCE {
        let mut bytes = [0; 2];
        let Ok((2, sender)) = socket.recv_from(&mut bytes) else {
            silence = if received == messages { SILENCE } else { silence + 1 };
            continue;
        };
        silence = 0;
        let [bit, message] = bytes;
        if bit == received % 2 {
            assert_eq!(message, received, "message {received} is lost");
            received += 1;
        }
        socket.send_to(&[bit], sender).expect("it can be acknowledged");
    }
    received
}

fn listen(port: u16) -> (UdpSocket, u16) {
    let socket = UdpSocket::bind(("127.0.0.1", port)).expect("the port is free");
    let port = socket.local_addr().expect("it is bound").port();
    println!("listening on {port}");
    (socket, port)
}

fn main() {
    let role = std::env::args().nth(1).expect(USAGE);
    let (port, messages, retries) = (argument(2), argument(3) as u8, argument(4));
    let unchecked = std::env::args().nth(5).is_some();
    match role.as_str() {
        "send" => println!("sent {}", send(port, messages, retries, unchecked)),
        "receive" => println!("received {}", collect(&listen(port).0, messages)),
        "both" => {
            let (socket, port) = listen(port);
            let receiver = thread::spawn(move || collect(&socket, messages));
            let sent = send(port, messages, retries, unchecked);
            let received = receiver.join().expect("messages arrive in order");
            assert!(sent <= received, "{sent} are acknowledged, {received} received");
            println!("sent {sent}, received {received}");
        }
        _ => panic!("{USAGE}"),
    }
}
