//! Sends what one client says to all of them, the one that said it included. A message is a byte.
//! It waits for all clients, gives each a thread, and ends when all have left.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

const USAGE: &str = "usage: chat_server PORT CLIENTS";

fn argument(at: usize) -> u16 {
    std::env::args().nth(at).and_then(|text| text.parse().ok()).expect(USAGE)
}

/// Passes on what a client says. The lock is held for a whole message: all see the same order.
fn serve(mut client: TcpStream, everybody: &Mutex<Vec<TcpStream>>) {
    let mut message = [0];
    while client.read(&mut message).expect("the client leaves in order") == 1 {
        for other in everybody.lock().expect("nobody failed").iter_mut() {
            other.write_all(&message).expect("all stay until they heard everybody");
        }
    }
}

fn main() {
    let (port, clients) = (argument(1), usize::from(argument(2)));
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
    println!("listening on {}", listener.local_addr().expect("it is bound").port());
    let accepted: Vec<TcpStream> = listener
        .incoming()
        .take(clients)
        .map(|client| client.expect("a client connects"))
        .collect();
    let writing = accepted.iter().map(|client| client.try_clone().expect("it has two ends"));
    let everybody = Arc::new(Mutex::new(writing.collect::<Vec<TcpStream>>()));
    let threads: Vec<_> = accepted
        .into_iter()
        .map(|client| {
            let everybody = Arc::clone(&everybody);
            thread::spawn(move || serve(client, &everybody))
        })
        .collect();
    for thread in threads {
        thread.join().expect("the client was served");
    }
}
