//! Joint states against closed systems: small programs, each explored on its own, must end together
//! in exactly the ways in which all of them end when they are interleaved on one network. A way is what
//! every thread of every program asked, and what came of it: all histories at once.

mod alone;
mod generated;
mod interleaved;
mod program;

use alone::jointly;
use everypath_commtree::joint::{Act, Answer, Event, Port, Request, Side};
use generated::{correspondents, mixed, pair, several};
use interleaved::closed;
use program::{Op, Program};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn agree(programs: &[Program], breaks: usize) -> Result<(), TestCaseError> {
    let (Some(closed), Some(joint)) = (closed(programs, breaks), jointly(programs, breaks)) else {
        return Err(TestCaseError::reject("too large"));
    };
    let missed: Vec<_> = closed.difference(&joint).collect();
    let wrong: Vec<_> = joint.difference(&closed).collect();
    prop_assert!(missed.is_empty(), "missed {missed:?}");
    prop_assert!(wrong.is_empty(), "impossible {wrong:?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: RngSeed::Fixed(7), failure_persistence: None, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn pairs_end_as_they_do_when_interleaved(programs in pair()) {
        agree(&programs, 0)?;
    }

    #[test]
    fn pairs_end_as_they_do_when_interleaved_and_connections_break(programs in pair(), turned in any::<bool>()) {
        let mut programs = programs;
        programs.iter_mut().for_each(|program| program.threads.truncate(1));
        if turned {
            programs.reverse();
        }
        agree(&programs, 1)?;
    }

    #[test]
    fn two_correspondents_end_as_they_do_when_interleaved(programs in correspondents(2)) {
        agree(&programs, 0)?;
    }

    #[test]
    fn three_correspondents_end_as_they_do_when_interleaved(programs in correspondents(3)) {
        agree(&programs, 0)?;
    }

    #[test]
    fn streams_and_datagrams_end_as_they_do_when_interleaved(programs in mixed()) {
        agree(&programs, 0)?;
    }

    #[test]
    fn three_programs_end_as_they_do_when_interleaved(programs in several()) {
        agree(&programs, 0)?;
    }
}

#[test]
fn an_event_is_told_from_others_by_what_was_before_it() {
    let mut side = Side::default();
    let act =
        Act { request: Request::Listen { port: Port::Inet(1), backlog: 0 }, answer: Answer::Done };
    let first = side.event(0, act.clone(), vec![]);
    let second = side.event(0, act.clone(), vec![first]);
    assert_eq!(side.event(0, act.clone(), vec![]), first);
    assert_ne!(first, second);
    let Event { past, .. } = side.get(second);
    assert_eq!(*past, [first]);
}

/// Only one of two threads is told that a connection broke; until then the other one sees it.
#[test]
fn who_looks_sees_that_a_connection_broke_until_another_is_told() {
    let send = Op::Send { slot: 0, length: 1, byte: 1 };
    let look = Op::Look { slots: [0, 0], port: None, sees_end: false, waits: false };
    let connect = Op::Connect { slot: 0, port: Port::Inet(1) };
    let client = Program {
        listens: vec![],
        binds: vec![],
        first: vec![connect],
        threads: vec![vec![send], vec![send, look]],
    };
    let accept = Op::Accept { slot: 0, port: Port::Inet(1), waits: true };
    let listens = vec![Port::Inet(1)];
    let (first, threads) = (vec![accept], vec![vec![send]]);
    let server = Program { listens, binds: vec![], first, threads };
    agree(&[client, server], 0).unwrap();
}
