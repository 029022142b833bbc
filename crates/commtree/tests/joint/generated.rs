//! Programs at random.

use super::program::{Op, Program, port};
use everypath_commtree::joint::Port;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Most calls wait.
fn waits() -> impl Strategy<Value = bool> {
    prop_oneof![3 => Just(true), 1 => Just(false)]
}

fn ports() -> impl Strategy<Value = Port> {
    (1..3u16).prop_map(port)
}

fn op(slots: usize) -> impl Strategy<Value = Op> {
    let slot = 0..slots;
    prop_oneof![
        3 => (slot.clone(), 1..3usize, 1..3u8)
            .prop_map(|(slot, length, byte)| Op::Send { slot, length, byte }),
        4 => (slot.clone(), 1..4usize, waits())
            .prop_map(|(slot, most, waits)| Op::Receive { slot, most, waits }),
        2 => (slot.clone(), slot.clone(), option::of(ports()), any::<bool>(), any::<bool>())
            .prop_map(|(one, other, port, sees_end, waits)| {
                Op::Look { slots: [one, other], port, sees_end, waits }
            }),
        1 => slot.clone().prop_map(|slot| Op::SendEither { slot, bytes: [1, 2] }),
        2 => slot.clone().prop_map(|slot| Op::Echo { slot }),
        1 => slot.clone().prop_map(|slot| Op::Shut { slot }),
        1 => slot.prop_map(|slot| Op::Close { slot }),
        1 => Just(Op::Post),
        1 => Just(Op::Wait),
        2 => (1..3u8).prop_map(|byte| Op::SkipIf { byte }),
    ]
}

/// What is done with datagrams by a program with one of these ports.
fn datagram_op() -> impl Strategy<Value = Op> {
    let to = 1..5u16;
    prop_oneof![
        4 => (to.clone(), 1..3u8).prop_map(|(to, byte)| Op::SendTo { to, byte }),
        5 => (0..2usize, waits()).prop_map(|(which, waits)| Op::ReceiveFrom { which, waits }),
        2 => Just(Op::SendBack),
        1 => (0..2usize, option::of(to)).prop_map(|(which, from)| Op::Only { which, from }),
        2 => waits().prop_map(|waits| Op::Watch { slot: 0, waits }),
        1 => Just(Op::Post),
        1 => Just(Op::Wait),
        1 => (1..3u8).prop_map(|byte| Op::SkipIf { byte }),
    ]
}

/// Programs that send each other datagrams, the first of them at two ports.
pub(crate) fn correspondents(most: usize) -> impl Strategy<Value = Vec<Program>> {
    let body = move || vec(vec(datagram_op(), 1..5), 1..3);
    vec(body(), 2..=most).prop_map(|bodies| {
        let program = |(number, threads): (u16, Vec<Vec<Op>>)| {
            let binds = if number == 1 { vec![1, 4] } else { vec![number] };
            Program { listens: vec![], binds, first: vec![], threads }
        };
        (1..).zip(bodies).map(program).collect()
    })
}

/// A server and a client who send each other datagrams besides.
pub(crate) fn mixed() -> impl Strategy<Value = Vec<Program>> {
    (pair(), vec(vec(datagram_op(), 1..3), 2)).prop_map(|(mut programs, datagrams)| {
        for ((program, ops), port) in programs.iter_mut().zip(datagrams).zip(1..) {
            program.binds = vec![port];
            program.threads.truncate(1);
            program.threads[0].truncate(2);
            program.threads[0].extend(ops);
        }
        programs
    })
}

/// A server on two ports and a client of both, or less.
pub(crate) fn pair() -> impl Strategy<Value = Vec<Program>> {
    let accept = (0..2usize, ports(), waits());
    let accept = accept.prop_map(|(slot, port, waits)| Op::Accept { slot, port, waits });
    let server_first = vec(accept, 1..3);
    let client_first = vec((0..2usize, ports()), 1..3).prop_map(|connects| {
        connects.into_iter().map(|(slot, port)| Op::Connect { slot, port }).collect::<Vec<_>>()
    });
    let body = || vec(vec(op(2), 1..4), 1..3);
    let listens = prop_oneof![Just(vec![port(1)]), Just(vec![port(1), port(2)])];
    (listens, server_first, body(), client_first, body()).prop_map(
        |(listens, server, server_threads, client, client_threads)| {
            vec![
                Program { listens: vec![], binds: vec![], first: client, threads: client_threads },
                Program { listens, binds: vec![], first: server, threads: server_threads },
            ]
        },
    )
}

/// Programs whose threads connect and accept, three of them, each of which may do both.
pub(crate) fn several() -> impl Strategy<Value = Vec<Program>> {
    let thread = |own: Port| {
        let others: Vec<Port> = (1..4).map(port).filter(|&port| port != own).collect();
        let begin = prop_oneof![
            waits().prop_map(move |waits| Op::Accept { slot: 0, port: own, waits }),
            proptest::sample::select(others).prop_map(|port| Op::Connect { slot: 0, port }),
        ];
        (begin, vec(op(1), 0..3)).prop_map(|(begin, rest)| {
            let mut thread = vec![begin];
            thread.extend(rest);
            thread
        })
    };
    let program = move |own: Port| {
        vec(thread(own), 1..3).prop_map(move |threads| Program {
            listens: vec![own],
            binds: vec![],
            first: vec![],
            threads,
        })
    };
    (program(port(1)), program(port(2)), program(port(3))).prop_map(|(a, b, c)| vec![a, b, c])
}
