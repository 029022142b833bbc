//! Says the time to whoever connects, as RFC 867 has it: 30 characters, the last one an end of line.
//!
//! With `fixed` it is always the same time. Given a number of clients, it ends after so many.

use std::io::Write;
use std::net::TcpListener;
use std::time::{SystemTime, UNIX_EPOCH};

const USAGE: &str = "usage: daytime_server PORT [CLIENTS [fixed]]";
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [(&str, u64); 12] = [
    ("Jan", 31),
    ("Feb", 28),
    ("Mar", 31),
    ("Apr", 30),
    ("May", 31),
    ("Jun", 30),
    ("Jul", 31),
    ("Aug", 31),
    ("Sep", 30),
    ("Oct", 31),
    ("Nov", 30),
    ("Dec", 31),
];

fn argument(at: usize) -> Option<usize> {
    std::env::args().nth(at).map(|text| text.parse().expect(USAGE))
}

fn is_leap(year: u64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The date so many seconds after 1970 began.
fn date(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (mut day, mut year) = (days, 1970);
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 0;
    let length = |month: usize| MONTHS[month].1 + u64::from(month == 1 && is_leap(year));
    while day >= length(month) {
        day -= length(month);
        month += 1;
    }
    format!(
        "{}, {:02} {} {year} {:02}:{:02}:{:02} UTC\n",
        DAYS[(days % 7) as usize],
        day + 1,
        MONTHS[month].0,
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

fn main() {
    let port = argument(1).and_then(|port| u16::try_from(port).ok()).expect(USAGE);
    let clients = argument(2).unwrap_or(usize::MAX);
    let fixed = std::env::args().nth(3).is_some();
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
    println!("listening on {}", listener.local_addr().expect("it is bound").port());
    for client in listener.incoming().take(clients) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("1970 is over");
        let seconds = if fixed { 1_000_000_000 } else { now.as_secs() };
        let mut client = client.expect("a client connects");
        client.write_all(date(seconds).as_bytes()).expect("the client listens");
    }
}
