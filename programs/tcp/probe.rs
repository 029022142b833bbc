//! Looks whether an HTTP server answers in time. A thread is the timer: it clears the deadline when it
//! has passed; whoever is in time takes it away before.
//!
//! With `early` the timer is started before there is a connection, and the answer is awaited as if
//! it could not have run out yet. If it has, there is no deadline any more to be extended.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

const USAGE: &str = "usage: probe PORT [early]";
const PATIENCE: Duration = Duration::from_secs(10);

fn argument(at: usize) -> u16 {
    std::env::args().nth(at).and_then(|text| text.parse().ok()).expect(USAGE)
}

/// A deadline that runs out unless it is extended or taken away; `None` when it is over.
#[derive(Default)]
struct Timer {
    deadline: Mutex<Option<Duration>>,
    changed: Condvar,
}

impl Timer {
    fn start() -> Arc<Timer> {
        let timer = Arc::new(Timer::default());
        *timer.deadline.lock().unwrap() = Some(PATIENCE);
        let running = Arc::clone(&timer);
        thread::spawn(move || running.run());
        timer
    }

    fn run(&self) {
        let mut deadline = self.deadline.lock().unwrap();
        while let Some(left) = *deadline {
            let (changed, waited) = self.changed.wait_timeout(deadline, left).unwrap();
            deadline = changed;
            if waited.timed_out() {
                *deadline = None;
            }
        }
    }

    /// Gives more time.
    fn extend(&self) {
        let mut deadline = self.deadline.lock().unwrap();
        let left = deadline.as_mut().expect("the timer runs");
        *left += PATIENCE;
        self.changed.notify_all();
    }

    /// Takes the deadline away and says whether it was still there.
    fn stop(&self) -> bool {
        let in_time = self.deadline.lock().unwrap().take().is_some();
        self.changed.notify_all();
        in_time
    }
}

fn main() {
    let port = argument(1);
    let early = std::env::args().nth(2).is_some().then(Timer::start);
    let mut server = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    server.write_all(b"GET / HTTP/1.0\r\n\r\n").expect("the server is there");
    let timer = match early {
        Some(timer) => {
            timer.extend();
            timer
        }
        None => Timer::start(),
    };
    let mut status = String::new();
    BufReader::new(server).read_line(&mut status).expect("the server answers");
    match timer.stop() {
        true => println!("{}", status.trim_end()),
        false => println!("no answer in time"),
    }
}
