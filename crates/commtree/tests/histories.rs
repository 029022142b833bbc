//! Trees against the simplest model: a map from all that was sent to all that was answered.

use everypath_commtree::{
    Edge, End, Error, Lookup, Mode, Name, Opening, Position, Reader, Sent, Space, Take,
};
use proptest::prelude::{Strategy, prop, prop_assert, prop_assert_eq, proptest};
use std::collections::BTreeMap;

type Small = Space<16, 1024, 32768>;

const NAME: Name = Name([1, 2, 3, 4]);

/// What a program sends in one step of an execution, and how much it reads after it.
#[derive(Clone, Debug)]
struct Step {
    bytes: Vec<u8>,
    read: usize,
}

/// A peer whose answer depends on every byte it was sent: between no and two bytes for each.
fn answer(history: &[u8]) -> Vec<u8> {
    let mut hash = 7_u32;
    let mut all = vec![b'!'; 2];
    for &byte in history {
        hash = (hash.rotate_left(5) ^ u32::from(byte)).wrapping_mul(0x9e37_79b9);
        all.extend(std::iter::repeat_n((hash >> 16) as u8, (hash >> 8) as usize % 3));
    }
    all
}

fn executions() -> impl Strategy<Value = Vec<Vec<Step>>> {
    let bytes = prop::collection::vec(prop::sample::select(b"ab".to_vec()), 1..5);
    let step = (bytes, 0_usize..6).prop_map(|(bytes, read)| Step { bytes, read });
    prop::collection::vec(prop::collection::vec(step, 0..6), 1..12)
}

fn opened(memory: &Small) -> Position {
    match memory.find(NAME) {
        Some(Opening::Open(position)) => position,
        Some(Opening::Refused) => panic!("it was not refused"),
        None => {
            let root = memory.open(NAME).unwrap();
            memory.answer(root, root, &answer(b""), End::Open).unwrap();
            root
        }
    }
}

/// Grows the tree as the checker does: by what the peer sent since the position before.
fn ask(memory: &Small, from: Position, bytes: &[u8], history: &[u8]) -> Position {
    let at = memory.grow(from, Sent::Bytes(bytes), Mode::Branching).unwrap();
    let all = answer(history);
    let fresh = &all[memory.received(from) as usize..];
    memory.answer(from, at, fresh, End::Open).unwrap();
    at
}

/// Everything that was sent on the way to a position.
fn history(memory: &Small, mut at: Position) -> Vec<u8> {
    let mut parts = Vec::new();
    while let Some(Edge::Bytes(run)) = memory.edge(at) {
        parts.push(memory.bytes(run).collect::<Vec<u8>>());
        at = memory.parent(at).unwrap();
    }
    parts.into_iter().rev().flatten().collect()
}

proptest! {
    /// Whatever programs do, a hit is exactly what was asked before, and what is read is what the
    /// peer answers to what was sent, no byte more.
    #[test]
    fn trees_are_maps(executions in executions()) {
        let memory = Box::new(Small::empty());
        let mut model = BTreeMap::new();
        for steps in &executions {
            let (mut at, mut reader) = (opened(&memory), Reader::default());
            let (mut sent, mut seen) = (Vec::<u8>::new(), Vec::<u8>::new());
            for step in steps {
                sent.extend(&step.bytes);
                let known = model.contains_key(&sent);
                match memory.write(at, Sent::Bytes(&step.bytes)) {
                    Lookup::Hit(next) => {
                        prop_assert!(known);
                        at = next;
                    }
                    Lookup::Miss => {
                        prop_assert!(!known);
                        at = ask(&memory, at, &step.bytes, &sent);
                        model.insert(sent.clone(), answer(&sent));
                    }
                }
                let mut out = vec![0; step.read];
                let count = memory.read(&mut reader, at, &mut out, Take::Read);
                seen.extend(&out[..count]);
                let all = &model[&sent];
                prop_assert_eq!(&seen[..], &all[..seen.len()]);
                prop_assert_eq!(memory.readable(reader, at) as usize, all.len() - seen.len());
                prop_assert!(count == step.read || seen.len() == all.len());
            }
        }
        // Every path of the tree is one of the model, and nothing is lost by splitting edges.
        let known = memory.positions().filter(|&at| memory.known(at) && memory.sent(at) > 0);
        let paths: BTreeMap<_, _> = known.map(|at| {
            let mut all = vec![0; memory.received(at) as usize];
            memory.read(&mut Reader::default(), at, &mut all, Take::Peek);
            (history(&memory, at), all)
        }).collect();
        prop_assert_eq!(paths, model);
    }

    /// A linear cache accepts exactly the histories of which one begins with the other.
    #[test]
    fn a_linear_cache_accepts_one_history(first in "[ab]{1,8}", second in "[ab]{1,8}") {
        let memory = Box::new(Small::empty());
        let root = opened(&memory);
        memory.grow(root, Sent::Bytes(first.as_bytes()), Mode::Linear).unwrap();
        let result = memory.grow(root, Sent::Bytes(second.as_bytes()), Mode::Linear);
        let same = first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count();
        match result {
            Ok(_) => prop_assert!(same == first.len().min(second.len())),
            Err(Error::Branches { same: told, .. }) => prop_assert_eq!(told, same),
            Err(error) => panic!("{error:?}"),
        }
    }
}
