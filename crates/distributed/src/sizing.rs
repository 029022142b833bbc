//! What searches on many machines take: worked out for `docs/guide/scale.md`, and simulated.
//!
//! The simulation is a search through the partitions of this crate, of a graph that is drawn, by as many
//! workers as there would be, one after the other: what it counts are the states, bytes and messages of
//! each. Time is not simulated but worked out from these, by what one core executes and one link carries.

use crate::message::{Generated, Link, ROOT};
use crate::partition::{Partition, key, owner};

/// Events of a state, and bytes of one: AODV on a ring of four nodes.
const EVENTS: f64 = 6.2;
const BYTES: usize = 65;
/// What a core executes in a second when half of its time goes to messages and cache misses, and bytes
/// that a link of 10 Gbit/s carries.
const RATE: f64 = 2e6;
const LINK: f64 = 1.25e9;
/// Bytes of a state in the worker that has it, and while it waits.
const KEPT: f64 = 40.0;
const WAITS: f64 = 8.0 + 8.0 + BYTES as f64;
/// How much of all states waits at once, at the most.
const WIDEST: f64 = 1.0 / 3.0;
/// Workers of a machine, and bytes that a worker gathers for each of the others.
const CORES: usize = 8;
const BUFFER: f64 = 65536.0;

/// What a search takes.
struct Takes {
    /// Bytes in memory of each machine.
    memory: f64,
    /// Seconds for events.
    executing: f64,
    /// Bytes that each machine sends, and seconds for them.
    sent: f64,
    sending: f64,
    /// A bound of the chance that a state was missed.
    missed: f64,
    /// Bytes of buffers in each machine, and messages between workers at the end of a level.
    buffers: f64,
    messages: f64,
}

/// Works out a search of so many states on so many machines.
fn takes(states: f64, machines: usize) -> Takes {
    let (machines, workers) = (machines as f64, (machines * CORES) as f64);
    let sent = states / machines * EVENTS * (40.0 + BYTES as f64) * (1.0 - 1.0 / machines);
    Takes {
        memory: states / machines * (KEPT + WAITS * WIDEST),
        executing: states * EVENTS / workers / RATE,
        sent,
        sending: sent / LINK,
        missed: states * states / 2f64.powi(129),
        buffers: CORES as f64 * workers * BUFFER,
        messages: workers * workers,
    }
}

/// What a simulated search has counted.
#[derive(Default)]
struct Simulated {
    states: usize,
    events: usize,
    levels: usize,
    /// Of all workers, bytes of the partition at its fullest.
    memory: usize,
    /// Bytes from machines to others.
    sent: usize,
    /// Seconds of all levels: of each, those of the worker and of the machine that take longest.
    executing: f64,
    sending: f64,
    /// States that wait, at the most.
    widest: usize,
}

fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let number = (number ^ (number >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    number ^ (number >> 32)
}

/// The fingerprint of a state of the drawn graph.
fn print(state: u64) -> u128 {
    u128::from(mixed(state)) << 64 | u128::from(mixed(!state))
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(*bytes.first_chunk().expect("a state has its number"))
}

/// A search of a graph with about so many states on so many machines.
fn simulate(size: u64, machines: usize) -> Simulated {
    let workers = machines * CORES;
    let mut partitions: Vec<_> = (0..workers).map(Partition::new).collect();
    let mut out = Simulated::default();
    let mut state = [0; BYTES];
    let link = Link { parent: ROOT, ..Link::default() };
    let first = Generated { print: print(0), link, bytes: &state };
    partitions[owner(first.print, workers)].admit(&first);
    loop {
        let waiting: usize = partitions.iter().map(Partition::waiting).sum();
        if waiting == 0 {
            return out;
        }
        out.levels += 1;
        out.widest = out.widest.max(waiting);
        out.memory = out.memory.max(partitions.iter().map(Partition::bytes).sum());
        let levels: Vec<_> = partitions.iter_mut().map(Partition::advance).collect();
        let (mut slowest, mut busiest) = (0, 0);
        for machine in 0..machines {
            let mut sent = 0;
            for worker in machine * CORES..(machine + 1) * CORES {
                let (first, states) = &levels[worker];
                let mut executed = 0;
                for at in 0..states.len() {
                    let from = number(states.get(at));
                    // Six successors, and one in five times a seventh.
                    for choice in 0..6 + u64::from(mixed(from ^ 1).is_multiple_of(5)) {
                        executed += 1;
                        let to = mixed(from.wrapping_mul(16) + choice) % size;
                        state[..8].copy_from_slice(&to.to_le_bytes());
                        let here = first + at;
                        let parent = partitions[worker].number(here);
                        let key = key(partitions[worker].print(here));
                        let link = Link { key, choice: choice as u32, parent };
                        let generated = Generated { print: print(to), link, bytes: &state };
                        let to = owner(generated.print, workers);
                        if to / CORES != machine {
                            let mut message = Vec::new();
                            generated.write(&mut message);
                            sent += message.len();
                        }
                        out.states += usize::from(partitions[to].admit(&generated));
                    }
                }
                out.events += executed;
                slowest = slowest.max(executed);
            }
            out.sent += sent;
            busiest = busiest.max(sent);
        }
        out.executing += slowest as f64 / RATE;
        out.sending += busiest as f64 / LINK;
    }
}

/// Whether two numbers differ by less than a part of the first.
fn close(one: f64, other: f64, part: f64) -> bool {
    (one - other).abs() < one * part
}

#[test]
fn what_is_worked_out_is_what_a_simulated_search_counts() {
    let machines = 10;
    let simulated = simulate(400_000, machines);
    let states = simulated.states as f64 + 1.0;
    let expected = takes(states, machines);
    let of_each = |all: usize| all as f64 / machines as f64;
    assert!(close(EVENTS, simulated.events as f64 / states, 0.01), "events of a state");
    assert!(close(expected.sent, of_each(simulated.sent), 0.01), "bytes sent");
    // How many states wait at once is a property of the graph: this one grows sixfold until it is full.
    let waits = simulated.widest as f64 / states;
    let memory = expected.memory + states / machines as f64 * WAITS * (waits - WIDEST);
    let ratio = of_each(simulated.memory) / memory;
    assert!((0.85..1.05).contains(&ratio), "memory: {ratio}");
    // All wait for the slowest at the end of a level. It has the more states beyond its share the fewer
    // there are: here 5,000 a worker, where the page has 125 million.
    let waiting = simulated.executing / expected.executing;
    assert!((1.0..1.10).contains(&waiting), "waiting for the slowest: {waiting}");
    assert!(close(expected.sending, simulated.sending, 0.05), "the network");
    assert!(expected.sending > expected.executing, "the network is the bottleneck");
}

/// The share of a worker in a level varies like a binomial distribution: as the root of its states.
#[test]
fn the_slowest_worker_is_the_closer_to_the_others_the_more_states_there_are() {
    let beyond = |size: u64| {
        let simulated = simulate(size, 10);
        simulated.executing / takes(simulated.states as f64 + 1.0, 10).executing - 1.0
    };
    let (few, many) = (beyond(20_000), beyond(320_000));
    // Sixteen times the states: about a quarter.
    assert!(many < few / 2.5, "{few} with few states, {many} with many");
}

/// The page says what is worked out here.
#[test]
fn the_page_has_these_figures() {
    let page = include_str!("../../../docs/guide/scale.md");
    let searches = [takes(1e10, 10), takes(1e12, 1000)];
    let row = |what: &str, shown: &dyn Fn(&Takes) -> String| {
        let [small, large] = [&searches[0], &searches[1]].map(shown);
        let row = format!("| {what} | {small} | {large} |");
        assert!(page.lines().any(|line| line == row), "the page lacks the row:\n{row}");
    };
    let minutes = |seconds: f64| format!("{:.1} minutes", seconds / 60.0);
    let gigabytes = |bytes: f64| format!("{:.0} GB", bytes / 1e9);
    row("memory, each machine", &|takes| gigabytes(takes.memory));
    row("executing 6.2 events a state", &|takes| minutes(takes.executing));
    row("sent by each machine", &|takes| gigabytes(takes.sent));
    row("the same at 10 Gbit/s", &|takes| minutes(takes.sending));
    row("buffers, each machine", &|takes| format!("{:.2} GB", takes.buffers / 1e9));
    row("messages at the end of a level", &|takes| format!("{:.0}", takes.messages));
    row("chance that a state was missed, below", &|takes| format!("{:.1e}", takes.missed));
}
