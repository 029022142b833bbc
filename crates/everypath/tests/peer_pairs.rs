//! Generated clients see of a real server what they see of it in a closed system: answers at once,
//! late, together or one by one.

use crate::support::Programs;
use serde_json::Value;
use std::collections::BTreeSet;
use std::net::{TcpListener, UdpSocket};

const TALKER: &str = "../crates/everypath/tests/programs/talker.c";
/// Larger searches are not compared.
const MOST: u64 = 600;

/// Numbers at random, always the same.
struct Dice(u64);

/// What clients do with a connection.
const CALLS: [&str; 19] = [
    "sa", "sb", "sab", "sa", "r1", "r2", "r9", "k1", "k9", "o1", "o9", "q0", "q-1", "q9", "E0",
    "E9", "S9", "h", "+a",
];
/// What a server does with each of them, after having said something first or not. What it sends is
/// an answer: that several writes arrive one by one is for `--chunks`.
const SERVICES: [&str; 5] = ["w1 sx", "w1 sxy", "w1 +a sp", "w2 sxyz", "h"];
/// What clients do with a datagram socket; a server sends back what it gets.
const MESSAGES: [&str; 11] = ["ma", "mb", "ma", "e9", "e9", "y9", "z9", "p0", "p-1", "p9", "+a"];

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as usize % limit
    }

    fn words(&mut self, words: &[&str], most: usize) -> String {
        (0..=self.below(most)).map(|_| format!(" {}", words[self.below(words.len())])).collect()
    }

    /// A client with one or two threads, which may have connections of their own.
    fn client(&mut self, words: &[&str], begin: &str) -> String {
        let mut client = format!("./talker % {begin}{}", self.words(words, 4));
        if self.below(3) == 0 {
            client += &format!(" /{}", self.words(words, 2));
        }
        client
    }
}

/// The ways in which a client ends; none if there are too many executions.
fn endings(
    programs: &Programs,
    arguments: &str,
    of: impl Fn(&Value) -> Vec<Option<u64>>,
) -> Option<BTreeSet<Option<u64>>> {
    let options = format!("--time any --keep-going --exit-code 255 --max-executions {MOST}");
    let (_, result) = programs.check(&format!("{options} --idle violation {arguments}"));
    assert_ne!(result["verdict"], "holds", "{arguments}");
    let is_whole =
        result["verdict"] == "violated" && result["stats"]["executions"].as_u64().unwrap() < MOST;
    is_whole.then(|| of(&result["stats"]).into_iter().collect())
}

/// How the client of a closed system ended, in each way in which both programs did.
fn together(stats: &Value) -> Vec<Option<u64>> {
    let codes = stats["exit_codes"].as_array().unwrap().iter();
    codes.map(|ending| ending["codes"][0].as_u64()).collect()
}

/// How a client ended by itself.
fn alone(stats: &Value) -> Vec<Option<u64>> {
    let names = stats["endings"].as_array().unwrap().iter().map(|ending| &ending["ending"]);
    names.map(|name| name.as_str().unwrap().strip_prefix("Exited ")?.parse().ok()).collect()
}

/// Compares what a client sees of a server as a peer with what it sees of it in a closed system.
/// Returns in how many ways it ends.
fn compare(programs: &Programs, [peer, member]: [&str; 2], client: &str) -> Option<usize> {
    // An answer is there when it is looked for the fourth time.
    let looks =
        client.split(' ').filter(|word| word.starts_with(['k', 'o', 'q', 'E', 'S', 'y', 'z', 'p']));
    if looks.count() > 3 {
        return None;
    }
    let closed = endings(
        programs,
        &format!("--with-exit-code any --with '{member}' -- {client}"),
        together,
    )?;
    let peers = endings(programs, &format!("--peer '{peer}' -- {client}"), alone)?;
    assert_eq!(peers, closed, "{peer} | {client}");
    Some(closed.len())
}

#[test]
fn generated_clients_see_answers_as_late_as_in_a_closed_system() {
    let programs = Programs::new(&[TALKER]);
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let (mut compared, mut several) = (0, 0);
    for seed in 0..60 {
        let mut dice = Dice(seed);
        let service = ["", "", " sg"][dice.below(3)].to_string() + &dice.words(&SERVICES, 3);
        let [peer, member] =
            ["d", "a"].map(|accepts| format!("./talker l{port} {accepts}{service} w9"));
        let client = dice.client(&CALLS, &format!("c{port}"));
        let ways = compare(&programs, [&peer, &member], &client);
        compared += usize::from(ways.is_some());
        several += usize::from(ways > Some(1));
    }
    assert!(compared >= 30 && several >= 12, "{compared} pairs, {several} with several endings");
}

#[test]
fn generated_clients_see_datagrams_as_late_as_in_a_closed_system() {
    let programs = Programs::new(&[TALKER]);
    let port = UdpSocket::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let server = format!("./talker b{port} L e9 M");
    let (mut compared, mut several) = (0, 0);
    for seed in 0..40 {
        let client = Dice(seed).client(&MESSAGES, &format!("b @{port} ma"));
        let ways = compare(&programs, [&server, &server], &client);
        compared += usize::from(ways.is_some());
        several += usize::from(ways > Some(1));
    }
    assert!(compared >= 20 && several >= 10, "{compared} pairs, {several} with several endings");
}
