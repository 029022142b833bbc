//! Fetches two files from a file server, one after the other, and compares them with copies that it
//! has. Lost packets are asked for again; the order of packets does not matter.
//!
//! With `buggy` it does not look which file a packet belongs to: a copy of a packet of the first
//! file can become a part of the second.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;

const USAGE: &str = "usage: file_client PORT [RETRIES [buggy]]";
const SIZES: [usize; 2] = [1500, 2300];
const PATIENCE: Duration = Duration::from_secs(10);

fn argument(at: usize) -> Option<u16> {
    std::env::args().nth(at).map(|text| text.parse().expect(USAGE))
}

/// The copy of a file that what was received is compared with.
fn copy(file: u8) -> Vec<u8> {
    let size = SIZES[usize::from(file)];
    (0..size).map(|at| (at / 7) as u8 ^ (file + 1).wrapping_mul(85)).collect()
}

fn ask_packets(port: u16, file: u8) -> u8 {
    let mut server = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    let mut packets = [0];
    server.write_all(&[file]).expect("the server is there");
    server.read_exact(&mut packets).expect("the server knows the file");
    packets[0]
}

struct Client {
    server: UdpSocket,
    retries: u16,
    buggy: bool,
}

impl Client {
    fn request(&self, file: u8, missing: &BTreeSet<u8>) {
        let request: Vec<u8> = [file].into_iter().chain(missing.iter().copied()).collect();
        self.server.send(&request).expect("the server is there");
    }

    /// The content of a file, or `None` if the server was silent too often.
    fn fetch(&self, file: u8, packets: u8) -> Option<Vec<u8>> {
        let mut content = vec![Vec::new(); usize::from(packets)];
        let mut missing: BTreeSet<u8> = (0..packets).collect();
        let mut silent = 0;
        self.request(file, &missing);
        while !missing.is_empty() {
            let mut packet = [0; 2048];
            match self.server.recv(&mut packet) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    silent += 1;
                    if silent > self.retries {
                        return None;
                    }
                    self.request(file, &missing);
                }
                received => {
                    silent = 0;
                    let length = received.expect("the server is there");
                    let (belongs, index) = (self.buggy || packet[0] == file, packet[1]);
                    if belongs && missing.remove(&index) {
                        content[usize::from(index)] = packet[2..length].to_vec();
                    }
                }
            }
        }
        Some(content.concat())
    }
}

fn main() {
    let port = argument(1).expect(USAGE);
    let server = UdpSocket::bind(("127.0.0.1", 0)).expect("a port is free");
    server.connect(("127.0.0.1", port)).expect("the address is good");
    server.set_read_timeout(Some(PATIENCE)).expect("patience is not zero");
    let buggy = std::env::args().nth(3).is_some();
    let client = Client { server, retries: argument(2).unwrap_or(3), buggy };
    for file in 0..2 {
        let Some(content) = client.fetch(file, ask_packets(port, file)) else {
            println!("file {file}: given up");
            return;
        };
        assert!(content == copy(file), "file {file} is not what the server has");
        println!("file {file}: {} bytes", content.len());
    }
}
