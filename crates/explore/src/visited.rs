//! The states already visited, and whether a new one is worth exploring.
//!
//! A [`Shard`] holds the states whose hash falls into it together with its index, so that threads
//! can fill different shards at the same time.

use crate::states::States;
use crate::system::Relation;
use crate::table::{FingerprintTable, Lookup, Table};
use crate::{Search, VisitedKind};
use std::hint::black_box;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// What became of a state that was shown to a visited set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It is new; this is its number.
    Fresh(u32),
    /// It is there, but was reached at a greater depth; this is its number.
    Shallower(u32),
    /// It, or one that simulates it, is there at the same or a smaller depth.
    Known,
}

/// How states are hashed and compared.
#[derive(Clone, Copy)]
pub(crate) enum Rule<'a> {
    Equality,
    /// The relation, and how many bytes the engine put in front of the system's own.
    Relation(&'a dyn Relation, usize),
    Hash,
}

impl Rule<'_> {
    /// The rule of a search over a system with this relation.
    pub(crate) fn new<'a>(search: &Search, relation: Option<&'a dyn Relation>) -> Rule<'a> {
        match (search.visited, relation) {
            (VisitedKind::Hash, _) => Rule::Hash,
            (VisitedKind::Relation, Some(relation)) => {
                Rule::Relation(relation, usize::from(search.must_contain.is_some()))
            }
            (VisitedKind::Relation | VisitedKind::Equality, _) => Rule::Equality,
        }
    }

    /// Where the part that must be equal ends.
    fn key_len(&self, bytes: &[u8]) -> usize {
        match self {
            Rule::Relation(relation, front) => front + relation.key_len(&bytes[*front..]),
            Rule::Equality | Rule::Hash => bytes.len(),
        }
    }

    /// The hash under which states are looked up.
    pub(crate) fn hash(&self, bytes: &[u8]) -> u128 {
        match self {
            Rule::Hash => xxh3_128(bytes),
            Rule::Equality => u128::from(xxh3_64(bytes)),
            Rule::Relation(..) => u128::from(xxh3_64(&bytes[..self.key_len(bytes)])),
        }
    }
}

/// A part of the visited set with the bytes of its states.
pub(crate) struct Shard {
    /// The states: visited ones, and (adding current) those waiting. With fingerprints only the
    /// waiting ones are held.
    pub(crate) states: States,
    index: Index,
    /// How many states are visited.
    pub(crate) visited: u64,
    /// The depth of each state by number, where that matters.
    depths: Option<Vec<u32>>,
    /// Scratch: what became of the states of the current batch.
    pub(crate) admissions: Vec<Admission>,
}

enum Index {
    Exact(Table),
    /// Finds the first state with a key; the others are linked from it.
    Buckets {
        table: Table,
        next: Vec<u32>,
    },
    Fingerprints(FingerprintTable),
}

/// The end of a bucket.
const NONE: u32 = u32::MAX;

/// A state shown to a shard.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) hash: u128,
    pub(crate) depth: u32,
    /// Its number, if its bytes are stored already.
    pub(crate) stored: Option<u32>,
}

impl Shard {
    pub(crate) fn new(rule: Rule<'_>, depth_matters: bool) -> Self {
        let index = match rule {
            Rule::Equality => Index::Exact(Table::default()),
            Rule::Relation(..) => Index::Buckets {
                table: Table::default(),
                next: Vec::new(),
            },
            Rule::Hash => Index::Fingerprints(FingerprintTable::new(depth_matters)),
        };
        let own_depths = depth_matters && !matches!(rule, Rule::Hash);
        Shard {
            states: States::default(),
            index,
            visited: 0,
            depths: own_depths.then(Vec::new),
            admissions: Vec::new(),
        }
    }

    /// Brings what the look-ups of these hashes will touch into the cache, many at a time.
    pub(crate) fn warm(&self, hashes: impl Iterator<Item = u128> + Clone) {
        match &self.index {
            Index::Exact(table) | Index::Buckets { table, .. } => {
                for hash in hashes.clone() {
                    black_box(table.warm(hash as u64));
                }
                for number in hashes.filter_map(|hash| table.warm(hash as u64)) {
                    black_box(self.states.get(number).first());
                }
            }
            Index::Fingerprints(table) => {
                for hash in hashes {
                    black_box(table.warm(hash));
                }
            }
        }
    }

    /// Whether a state is worth exploring; if so, it is visited from now on.
    pub(crate) fn admit(&mut self, rule: Rule<'_>, candidate: Candidate<'_>) -> Admission {
        let admission = match rule {
            Rule::Equality => self.admit_exact(candidate),
            Rule::Relation(relation, _) => self.admit_related(rule, relation, candidate),
            Rule::Hash => self.admit_fingerprint(candidate),
        };
        self.visited += u64::from(matches!(admission, Admission::Fresh(_)));
        admission
    }

    fn admit_exact(&mut self, candidate: Candidate<'_>) -> Admission {
        let Index::Exact(table) = &mut self.index else {
            unreachable!("made for equality")
        };
        let states = &mut self.states;
        let hash = candidate.hash as u64;
        table.reserve(states.len(), |number| xxh3_64(states.get(number)));
        match table.find(hash, |number| states.get(number) == candidate.bytes) {
            Lookup::Found(number) => lower(&mut self.depths, number, candidate.depth),
            Lookup::Vacant(slot) => {
                let number = candidate
                    .stored
                    .unwrap_or_else(|| states.push(candidate.bytes));
                table.fill(slot, hash, number);
                note(&mut self.depths, number, candidate.depth);
                Admission::Fresh(number)
            }
        }
    }

    fn admit_related(
        &mut self,
        rule: Rule<'_>,
        relation: &dyn Relation,
        candidate: Candidate<'_>,
    ) -> Admission {
        let Index::Buckets { table, next } = &mut self.index else {
            unreachable!("as above")
        };
        let states = &mut self.states;
        let hash = candidate.hash as u64;
        table.reserve(states.len(), |number| rule.hash(states.get(number)) as u64);
        let (key, rest) = candidate.bytes.split_at(rule.key_len(candidate.bytes));
        let found = table.find(hash, |number| {
            let bytes = states.get(number);
            &bytes[..rule.key_len(bytes)] == key
        });
        if let Lookup::Found(head) = found {
            let mut number = head;
            let mut same = None;
            while number != NONE {
                let other = &states.get(number)[key.len()..];
                let reached = self
                    .depths
                    .as_ref()
                    .map_or(0, |depths| depths[number as usize]);
                if reached <= candidate.depth && relation.simulates(other, rest) {
                    return Admission::Known;
                }
                same = same.or((other == rest).then_some(number));
                number = next[number as usize];
            }
            if let Some(number) = same {
                return lower(&mut self.depths, number, candidate.depth);
            }
        }
        let number = candidate
            .stored
            .unwrap_or_else(|| states.push(candidate.bytes));
        if next.len() <= number as usize {
            next.resize(number as usize + 1, NONE);
        }
        match found {
            Lookup::Found(head) => {
                next[number as usize] = next[head as usize];
                next[head as usize] = number;
            }
            Lookup::Vacant(slot) => table.fill(slot, hash, number),
        }
        note(&mut self.depths, number, candidate.depth);
        Admission::Fresh(number)
    }

    fn admit_fingerprint(&mut self, candidate: Candidate<'_>) -> Admission {
        let Index::Fingerprints(table) = &mut self.index else {
            unreachable!("as above")
        };
        let known = table.find(candidate.hash).copied();
        if known.is_ok_and(|depth| depth <= candidate.depth) {
            return Admission::Known;
        }
        table.put(candidate.hash, candidate.depth);
        // The bytes of an explored state are gone; one that is explored again is stored again.
        let number = candidate
            .stored
            .unwrap_or_else(|| self.states.push(candidate.bytes));
        match known {
            Ok(_) => Admission::Shallower(number),
            Err(_) => Admission::Fresh(number),
        }
    }
}

/// Writes down the depth of a new state.
fn note(depths: &mut Option<Vec<u32>>, number: u32, depth: u32) {
    if let Some(depths) = depths {
        if depths.len() <= number as usize {
            depths.resize(number as usize + 1, u32::MAX);
        }
        depths[number as usize] = depth;
    }
}

/// Lowers the depth of a known state, if this way to it is shorter and that matters.
fn lower(depths: &mut Option<Vec<u32>>, number: u32, depth: u32) -> Admission {
    match depths.as_mut().map(|depths| &mut depths[number as usize]) {
        Some(known) if depth < *known => {
            *known = depth;
            Admission::Shallower(number)
        }
        _ => Admission::Known,
    }
}
