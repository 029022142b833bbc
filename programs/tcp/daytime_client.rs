//! Asks a daytime server for the time from several threads at once.

use std::io::Read;
use std::net::TcpStream;
use std::thread;

const USAGE: &str = "usage: daytime_client PORT THREADS";

fn argument(at: usize) -> u16 {
    std::env::args().nth(at).and_then(|text| text.parse().ok()).expect(USAGE)
}

fn ask(port: u16) -> String {
    let mut server = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    let mut date = String::new();
    server.read_to_string(&mut date).expect("the server says the date");
    assert_eq!(date.len(), 30, "a date has 30 characters: {date}");
    date
}

fn main() {
    let (port, threads) = (argument(1), argument(2));
    let threads: Vec<_> = (0..threads).map(|_| thread::spawn(move || ask(port))).collect();
    for thread in threads {
        print!("{}", thread.join().expect("it got a date"));
    }
}
