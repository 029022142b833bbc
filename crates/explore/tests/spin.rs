//! The same model in SPIN: as many states and steps, and the same verdicts on infinite executions.

use everypath_explore::{
    Control, Ended, Fairness, Property, Search, Step, System, Task, VisitedKind, canonical,
    check_liveness, explore,
};
use std::path::PathBuf;
use std::process::Command;

const MESSAGES: u8 = 3;
const CAPACITY: usize = 2;
/// Any number of losses; they are then not counted.
const ANY: u8 = 255;

/// Stop and wait, as in `arq.pml`.
struct Arq {
    losses: u8,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    sent: u8,
    received: u8,
    losses: u8,
    sending: u8,
    expecting: u8,
    waiting: bool,
    data: Vec<u8>,
    ack: Vec<u8>,
}
canonical!(struct State { sent, received, losses, sending, expecting, waiting, data, ack });

impl System for Arq {
    type State = State;

    fn initial(&self) -> State {
        State::default()
    }

    fn enabled(&self, state: &State, steps: &mut Vec<Step>) {
        let State { sent, losses, waiting, data, ack, .. } = state;
        let may_lose = *losses < self.losses;
        let guards = [
            !waiting && *sent < MESSAGES && data.len() < CAPACITY,
            *waiting && data.is_empty(),
            !data.is_empty() && ack.len() < CAPACITY,
            !ack.is_empty(),
            !data.is_empty() && may_lose,
            !ack.is_empty() && may_lose,
        ];
        let enabled = (0..).zip(guards).filter(|(_, guard)| *guard);
        steps.extend(enabled.map(|(event, _)| Step { actor: 0, event, param: 0 }));
    }

    fn take(&self, state: &mut State, step: Step) {
        match step.event {
            0 | 1 => {
                state.data.push(state.sending);
                state.waiting = true;
            }
            2 => {
                let packet = state.data.remove(0);
                if packet == state.expecting {
                    state.received += 1;
                    state.expecting ^= 1;
                }
                state.ack.push(packet);
            }
            3 => {
                let packet = state.ack.remove(0);
                if packet == state.sending && state.waiting {
                    state.sending ^= 1;
                    state.sent += 1;
                    state.waiting = false;
                }
            }
            lost => {
                let packets = if lost == 4 { &mut state.data } else { &mut state.ack };
                packets.remove(0);
                state.losses += u8::from(self.losses != ANY);
            }
        }
    }
}

/// States and steps, and whether each formula holds.
#[derive(Debug, PartialEq, Eq)]
struct Result {
    states: u64,
    steps: u64,
    all_received: bool,
    acknowledged: bool,
}

fn ours(losses: u8) -> Result {
    let system = Arq { losses };
    let search = Search { visited: VisitedKind::Equality, ..Search::default() };
    let task = Task { system: &system, properties: &[], rank: None, search: &search };
    let explored = explore(&task, &Control::default());
    assert_eq!(explored.ended, Ended::Complete);
    let holds = |property: Property<State>| {
        let rules = (&search, &Fairness::default());
        check_liveness(&system, &[property], rules, &Control::default()).found.is_empty()
    };
    Result {
        states: explored.counts.states,
        steps: explored.counts.events,
        all_received: holds(Property::eventually("p", |s: &State| s.received == MESSAGES)),
        acknowledged: holds(Property::leads_to("q", |s: &State| s.waiting, |s| !s.waiting)),
    }
}

/// Compiles and runs a verifier and returns what it prints.
fn pan(losses: u8, formula: Option<&str>) -> String {
    let name = format!("spin-{losses}-{}", formula.map_or(0, str::len));
    let folder: PathBuf = [env!("CARGO_TARGET_TMPDIR"), &name].iter().collect();
    std::fs::create_dir_all(&folder).unwrap();
    let run = |program: &str, words: &[&str]| {
        let output = Command::new(program).args(words).current_dir(&folder).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{program} {words:?}: {said}");
        said
    };
    let defined = format!("-DLOSSES={losses}");
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/arq.pml");
    let claim: Vec<&str> = formula.iter().flat_map(|formula| ["-f", *formula]).collect();
    run("spin", &[&[defined.as_str(), "-a"], &claim[..], &[model]].concat());
    run("cc", &["-w", "-DNOREDUCE", "-o", "pan", "pan.c"]);
    run("./pan", if formula.is_some() { &["-a"] } else { &["-E"] })
}

/// The number before a word.
fn count(said: &str, word: &str) -> u64 {
    let line = said.lines().find(|line| line.contains(word)).unwrap_or_else(|| panic!("{said}"));
    line.split_whitespace().next().unwrap().parse().unwrap()
}

fn theirs(losses: u8) -> Result {
    let plain = pan(losses, None);
    let holds = |formula| pan(losses, Some(formula)).contains("errors: 0");
    Result {
        states: count(&plain, "states, stored"),
        // It counts the initial state as a transition.
        steps: count(&plain, "transitions (=") - 1,
        all_received: holds("!(<> done)"),
        acknowledged: holds("!([] (waiting -> <> !waiting))"),
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the caller says what may be left out")]
#[expect(clippy::print_stdout, reason = "what is left out must be seen")]
fn spin_finds_the_same() {
    if Command::new("spin").arg("-V").output().is_err() {
        let reason = "spin is not installed (Debian package spin)";
        assert!(std::env::var_os("EVERYPATH_REQUIRE_ALL").is_none(), "{reason}");
        println!("skipped: {reason}");
        return;
    }
    for (losses, lives) in [(2, true), (ANY, false)] {
        let ours = ours(losses);
        assert_eq!(ours, theirs(losses), "{losses} losses");
        assert_eq!((ours.all_received, ours.acknowledged), (lives, lives), "{losses} losses");
    }
}
