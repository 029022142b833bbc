//! Serves two files: how many packets a file has is asked over TCP, the packets over UDP, on the same
//! port. A request names a file and the packets that are missing; a packet carries the file, its
//! place in the file, and content.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::thread;

const USAGE: &str = "usage: file_server PORT";
const PACKET: usize = 1024;
const SIZES: [usize; 2] = [1500, 2300];

/// The content of a file.
fn content(file: u8) -> Vec<u8> {
    let size = SIZES[usize::from(file)];
    (0..size).map(|at| (at / 7) as u8 ^ (file + 1).wrapping_mul(85)).collect()
}

fn tell_sizes(listener: &TcpListener) {
    for client in listener.incoming() {
        let (mut client, mut file) = (client.expect("a client connects"), [0]);
        client.read_exact(&mut file).expect("the client names a file");
        let packets = SIZES[usize::from(file[0])].div_ceil(PACKET);
        client.write_all(&[packets as u8]).expect("the client reads the answer");
    }
}

fn send_packets(socket: &UdpSocket) {
    loop {
        let mut request = [0; 64];
        let (length, client) = socket.recv_from(&mut request).expect("a request arrives");
        let (file, missing) = request[..length].split_first().expect("a request names a file");
        for &index in missing {
            let content = content(*file);
            let part =
                content.chunks(PACKET).nth(usize::from(index)).expect("there is such a part");
            let packet = [&[*file, index], part].concat();
            socket.send_to(&packet, client).expect("it can be answered");
        }
    }
}

fn main() {
    let port = std::env::args().nth(1).and_then(|text| text.parse().ok()).expect(USAGE);
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
    let port = listener.local_addr().expect("it is bound").port();
    let socket = UdpSocket::bind(("127.0.0.1", port)).expect("the port is free");
    println!("listening on {port}");
    thread::spawn(move || tell_sizes(&listener));
    send_packets(&socket);
}
