//! Generated programs that talk to each other do the same whether they are explored each on its own
//! or together, as a closed system.

use crate::support::Programs;
use serde_json::Value;
use std::collections::BTreeSet;

const TALKER: &str = "../crates/everypath/tests/programs/talker.c";

/// Numbers at random, always the same.
struct Dice(u64);

/// What threads do with a connection; the last closes it.
const WORDS: [&str; 21] = [
    "sa", "sb", "sab", "?ab", "r1", "r1", "r2", "r9", "+a", "v", "t", "h", "k1", "k9", "o1", "q0",
    "q-1", "q9", "Q0", "E9", "x",
];

/// What threads do with a datagram socket.
const POSTED: [&str; 13] =
    ["ma", "mb", "M", "M", "e9", "e9", "y9", "z9", "+a", "v", "t", "p0", "p-1"];

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as usize % limit
    }

    fn words(&mut self, words: &[&str]) -> String {
        (0..self.below(3)).map(|_| format!(" {}", words[self.below(words.len())])).collect()
    }

    /// A program of up to three threads, some with a connection of their own.
    fn program(&mut self, words: &[&str], begin: &str, own: &str) -> String {
        let mut program = format!("./talker % {begin}{}", self.words(words));
        for _ in 0..self.below(3) {
            let first = ["", " v", "", own][self.below(4)];
            program += &format!(" /{first}{}", self.words(words));
        }
        program
    }

    /// Two programs that send each other datagrams; the port of one may be chosen for it.
    fn correspondents(&mut self) -> [String; 2] {
        let begins = ["b7000 @7001", "b7000 @7001", "b @7001 ma", "b O7001 ma"];
        let begin = begins[self.below(begins.len())];
        let [one, other] = [begin, "b7001 @7000"].map(|begin| self.program(&POSTED, begin, " v"));
        if self.below(2) == 0 { [one, other] } else { [other, one] }
    }

    /// A server and a client, who meet at a port or at a socket of the Unix family.
    fn pair(&mut self, words: &[&str], place: &str) -> [String; 2] {
        let connects = format!("c{place}");
        let server = self.program(words, &format!("l{place} a"), " a");
        [server, self.program(words, &connects, &format!(" {connects}"))]
    }
}

/// Checks a program together with another one.
fn check(programs: &Programs, options: &str, other: &str, command: &str) -> Value {
    let options = format!("--time any --with-exit-code any {options}");
    programs.check(&format!("{options} --with '{other}' -- {command}")).1
}

/// The exit codes of both programs, in all combinations in which they end; each tells what all
/// threads of its program sent, received and saw. None if there are too many executions.
fn exit_codes(
    programs: &Programs,
    mode: &str,
    pair: [&str; 2],
) -> Option<BTreeSet<Vec<Option<u64>>>> {
    const MOST: u64 = 800;
    let [other, command] = pair;
    let options = format!("{mode} --max-executions {MOST} --keep-going --exit-code 255");
    let result = check(programs, &format!("{options} --idle violation"), other, command);
    if result["verdict"] == "inconclusive" || result["stats"]["executions"].as_u64() >= Some(MOST) {
        return None;
    }
    // There are none if something is not modelled, although what was found is wrong.
    let codes = result["stats"]["exit_codes"].as_array()?;
    let codes = codes.iter().map(|ending| ending["codes"].as_array().unwrap());
    Some(codes.map(|codes| codes.iter().map(Value::as_u64).collect()).collect())
}

/// Pairs with several threads that write at the same time, data choices, connections of their own
/// that end, half or whole, and calls that wait, do not wait, or wait for some time.
#[test]
fn generated_pairs_end_in_the_same_ways_on_their_own_and_together() {
    const PAIRS: u64 = 32;
    let programs = Programs::new(&[TALKER]);
    let (mut compared, mut several) = (0, 0);
    for seed in 0..PAIRS {
        let pair = Dice(seed).pair(&WORDS, ["7000", "door"][seed as usize % 2]);
        let pair = pair.each_ref().map(String::as_str);
        let Some(closed) = exit_codes(&programs, "", pair) else { continue };
        let Some(joint) = exit_codes(&programs, "--joint", pair) else { continue };
        assert_eq!(joint, closed, "seed {seed}: {pair:?}");
        compared += 1;
        several += usize::from(closed.len() > 1);
        // Without telling what happened, programs end well unless they wait for ever.
        let [other, command] = pair.map(|command| command.replace(" %", ""));
        let [closed, joint] =
            ["", "--joint"].map(|mode| check(&programs, mode, &other, &command)["verdict"].clone());
        assert_eq!(joint, closed, "seed {seed}: {other} | {command}");
    }
    assert!(compared >= 16 && several >= 6, "{compared} pairs, {several} with several endings");
}

/// The same with datagrams, which may be lost or come twice.
#[test]
fn generated_correspondents_end_in_the_same_ways_on_their_own_and_together() {
    let programs = Programs::new(&[TALKER]);
    let (mut compared, mut several) = (0, 0);
    for seed in 0..48 {
        let options = ["", "", "--udp-multiply 1,0,2"][seed as usize % 3];
        let pair = Dice(seed).correspondents();
        let pair = pair.each_ref().map(String::as_str);
        let Some(closed) = exit_codes(&programs, options, pair) else { continue };
        let Some(joint) = exit_codes(&programs, &format!("--joint {options}"), pair) else {
            continue;
        };
        assert_eq!(joint, closed, "seed {seed}: {options} {pair:?}");
        compared += 1;
        several += usize::from(closed.len() > 1);
        let [other, command] = pair.map(|command| command.replace(" %", ""));
        let [closed, joint] = ["", "--joint"].map(|mode| {
            let options = format!("{mode} {options}");
            check(&programs, &options, &other, &command)["verdict"].clone()
        });
        assert_eq!(joint, closed, "seed {seed}: {options} {other} | {command}");
    }
    assert!(compared >= 24 && several >= 6, "{compared} pairs, {several} with several endings");
}

/// Bytes that are written as digits.
fn bytes(digits: &Value) -> Vec<u64> {
    let pairs = digits.as_str().unwrap().as_bytes().chunks(2);
    let pairs = pairs.map(|pair| str::from_utf8(pair).unwrap());
    pairs.map(|pair| u64::from_str_radix(pair, 16).unwrap()).collect()
}

/// What an event says, as `talker` takes it down.
fn taken_down(event: &Value) -> Vec<u64> {
    let (request, answer) = (&event["request"], &event["answer"]);
    let [send, receive, accept, look] =
        ["send", "receive", "accept", "look"].map(|name| request.get(name));
    if let Some(send) = send.filter(|_| answer == "done" || answer == "lost") {
        return bytes(&send["bytes"]);
    }
    if receive.is_some() {
        return match (answer.get("bytes"), answer.as_str()) {
            (Some(digits), _) => bytes(digits),
            (_, Some("end")) => vec![300],
            (_, Some("reset")) => vec![301],
            (_, Some("nothing")) => vec![302],
            _ => vec![],
        };
    }
    if accept.is_some_and(|accept| accept["waits"] == false) {
        return vec![20 + u64::from(answer.get("accepted").is_some())];
    }
    let Some(look) = look.filter(|_| answer != "never") else { return vec![] };
    let things = look["at"].as_array().unwrap();
    let seen = answer["ready"].as_array().into_iter().flatten().zip(things);
    let ready = seen.filter(|(seen, _)| **seen != "waits");
    let bit = |thing: &Value| if thing.get("bytes").is_some() { 1 } else { 2 };
    let base = if things.iter().any(|thing| thing.get("connections").is_some()) { 10 } else { 1 };
    vec![base + ready.map(|(_, thing)| bit(thing)).sum::<u64>()]
}

/// What happened in a history, told as `talker` tells it by its exit code.
fn code(history: &Value) -> u64 {
    let mut digests = std::collections::BTreeMap::new();
    for event in history["events"].as_array().unwrap() {
        let digest: &mut u64 = digests.entry(event["thread"].as_u64().unwrap()).or_default();
        let values = taken_down(event);
        values.iter().for_each(|value| *digest = (*digest * 31 + value) % 1_000_003);
    }
    1 + digests.values().sum::<u64>() % 97
}

/// The histories of a program that happen if it is explored jointly with another one, told as
/// `talker` tells them; none if there is a reason to have none.
fn histories(programs: &Programs, [other, command]: [&str; 2]) -> Option<BTreeSet<u64>> {
    let options = format!("--joint --emit shown.json --reference '{command}'");
    let result = check(programs, &options, other, command);
    if result["reason"].as_str().is_some_and(|reason| reason.contains("while it is reset")) {
        return None;
    }
    assert_eq!(result["verdict"], "holds", "{other} | {command}: {result}");
    let listing = std::fs::read(programs.folder.path().join("shown.json")).unwrap();
    let listing: Value = serde_json::from_slice(&listing).unwrap();
    let histories = listing["behaviours"].as_array().unwrap().iter();
    let is_one = |history: &&Value| {
        // Whoever could not connect exits with another code.
        let is_refused = |event: &Value| event["answer"] == "refused";
        let mut events = history["events"].as_array().unwrap().iter();
        history["happens"] == true && history["end"] == "ended" && !events.any(is_refused)
    };
    Some(histories.filter(is_one).map(code).collect())
}

/// What is listed of a program is what it does in a closed system.
#[test]
fn listed_histories_of_generated_pairs_are_those_of_closed_systems() {
    let programs = Programs::new(&[TALKER]);
    let mut compared = 0;
    for seed in 0..12 {
        // Who uses what it has closed sees an error, but does nothing with others.
        let [server, client] = Dice(seed).pair(&WORDS[..20], "7000");
        for pair in [[&*server, &client], [&client, &server]] {
            let Some(closed) = exit_codes(&programs, "", pair) else { continue };
            let Some(joint) = histories(&programs, pair) else { continue };
            let ended = closed.into_iter().filter_map(|codes| codes[0].filter(|code| *code != 250));
            assert_eq!(joint, ended.collect(), "seed {seed}: {pair:?}");
            compared += 1;
        }
    }
    assert!(compared >= 10, "{compared}");
}
