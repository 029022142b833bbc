//! Random sequences of calls, the same here and in the kernel of the machine.

use crate::calls::{Call, EDGE, IN, OUT, compare};
use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Runs sequences that begin with some calls and go on with some of `calls`.
fn check(begin: &[Call], calls: impl Strategy<Value = Call>) {
    let config = Config { cases: 150, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let sequences = proptest::collection::vec(calls, 1..30);
    let result = TestRunner::new_with_rng(config, rng).run(&sequences, |calls| {
        compare(&[begin, &calls].concat());
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// One of some descriptors.
fn of(places: &'static [usize]) -> impl Strategy<Value = usize> {
    proptest::sample::select(places)
}

/// A few bytes: never so many that it matters how much fits.
fn some() -> impl Strategy<Value = usize> {
    0_usize..40
}

/// What can be done to any descriptor.
fn looks(places: &'static [usize]) -> impl Strategy<Value = Call> {
    prop_oneof![
        of(places).prop_map(Call::Poll),
        of(places).prop_map(Call::Flags),
        of(places).prop_map(Call::Unread),
    ]
}

#[test]
fn pipes() {
    let calls = prop_oneof![
        4 => (of(&[0, 1]), some()).prop_map(|(place, length)| Call::Read(place, length)),
        4 => (of(&[0, 1]), some()).prop_map(|(place, length)| Call::Write(place, length)),
        2 => (of(&[0, 1]), some()).prop_map(|(place, length)| Call::ReadVector(place, length)),
        2 => looks(&[0, 1]),
        1 => of(&[0, 1]).prop_map(Call::Close),
    ];
    check(&[Call::Pipe], calls);
}

#[test]
fn events() {
    let calls = prop_oneof![
        of(&[0, 1]).prop_map(|place| Call::Read(place, 8)),
        (of(&[0, 1]), 0_u64..4).prop_map(|(place, value)| Call::Add(place, value)),
        Just(Call::Add(0, u64::MAX - 2)),
        of(&[0, 1]).prop_map(Call::Poll),
    ];
    check(&[Call::Eventfd(1), Call::Semaphore(2)], calls);
}

#[test]
fn files() {
    let offset = -120_i64..120;
    let places = &[0, 1, 2, 3];
    let calls = prop_oneof![
        4 => (of(places), proptest::sample::select(&[1, 2, 8][..]))
            .prop_map(|(place, how)| Call::Lock(place, how)),
        4 => (of(places), offset, 0..5).prop_map(|(place, by, from)| Call::Seek(place, by, from)),
        1 => of(places).prop_map(Call::Close),
    ];
    check(&[Call::File, Call::Again(0), Call::Dup(0), Call::Again(1)], calls);
}

/// What can be done to connected sockets.
fn conversation(places: &'static [usize]) -> impl Strategy<Value = Call> {
    prop_oneof![
        6 => (of(places), some()).prop_map(|(place, length)| Call::Send(place, length)),
        // A Unix socket waits even for no bytes, which is not modelled.
        6 => (of(places), 1_usize..40).prop_map(|(place, size)| Call::Receive(place, size)),
        2 => (of(places), 1_usize..40).prop_map(|(place, length)| Call::Peek(place, length)),
        1 => of(places).prop_map(Call::Close),
        3 => looks(places),
    ]
}

/// Shuts one of several ends down, in one of several ways.
fn shutdown(places: &'static [usize], how: &'static [i32]) -> impl Strategy<Value = Call> {
    (of(places), proptest::sample::select(how)).prop_map(|(place, how)| Call::Shutdown(place, how))
}

#[test]
fn unix_streams() {
    let calls = prop_oneof![9 => conversation(&[0, 1]), 1 => shutdown(&[0, 1], &[0, 1, 2])];
    check(&[Call::StreamPair], calls);
}

#[test]
fn unix_datagrams() {
    let calls = prop_oneof![9 => conversation(&[0, 1]), 1 => shutdown(&[0, 1], &[0, 1, 2])];
    check(&[Call::DatagramPair], calls);
}

#[test]
fn tcp() {
    use Call::{Accept, Bind, Connect, Listen, Tcp};
    let begin = [Tcp, Bind(0), Listen(0, 2), Tcp, Connect(1, 0), Accept(0), Connect(1, 0)];
    let calls = prop_oneof![9 => conversation(&[1, 2]), 1 => shutdown(&[1, 2], &[0, 1, 2])];
    check(&begin, calls);
}

#[test]
fn udp() {
    use Call::{Bind, Connect, Udp};
    let begin = [Udp, Bind(0), Udp, Bind(1), Connect(1, 0), Connect(0, 1)];
    let calls = prop_oneof![
        4 => (of(&[0, 1]), some()).prop_map(|(place, length)| Call::Send(place, length)),
        4 => (of(&[0, 1]), some()).prop_map(|(place, length)| Call::Receive(place, length)),
        2 => (of(&[0, 1]), some()).prop_map(|(place, length)| Call::Peek(place, length)),
        2 => (of(&[0, 1]), some()).prop_map(|(place, size)| Call::ReceiveFrom(place, size)),
        2 => of(&[0, 1]).prop_map(Call::Poll),
    ];
    check(&begin, calls);
}

#[test]
fn epoll() {
    let events = || proptest::sample::select(&[0, IN, OUT, IN | OUT, IN | EDGE][..]);
    let calls = prop_oneof![
        2 => (of(&[1, 2, 3]), events()).prop_map(|(place, it)| Call::EpollAdd(0, place, it)),
        1 => (of(&[1, 2, 3]), events()).prop_map(|(place, it)| Call::EpollModify(0, place, it)),
        1 => of(&[1, 2, 3]).prop_map(|place| Call::EpollDelete(0, place)),
        4 => Just(Call::EpollWait(0, 8)),
        2 => some().prop_map(|length| Call::Write(2, length)),
        2 => some().prop_map(|length| Call::Read(1, length)),
        1 => Just(Call::Add(3, 1)),
        1 => Just(Call::Read(3, 8)),
        1 => Just(Call::Poll(0)),
    ];
    check(&[Call::Epoll, Call::Pipe, Call::Eventfd(0)], calls);
}
