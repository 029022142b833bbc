//! The visited set, and whether a new state must be explored.
//!
//! A [`Shard`] holds the states whose hash falls into it together with its index, so that threads
//! can fill different shards at the same time.

use crate::buckets::{Buckets, Member};
use crate::relation_check::Sample;
use crate::states::States;
use crate::system::SimulationRelation;
use crate::table::{Key, KeyTable, Lookup, Table};
use crate::{Canonical, Property, Search, System, VisitedKind};
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

/// What tells the fingerprints of states apart by whether an event has happened: any constant
/// whose bits look random.
const WITHOUT: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834;

/// How states are hashed and compared.
#[derive(Clone, Copy)]
pub(crate) enum Rule<'a> {
    Equality,
    /// The relation, and how many bytes the engine put in front of the system's own.
    Relation(&'a dyn SimulationRelation, usize),
    /// Fingerprints, and how many bytes the engine put in front of the system's own.
    Hash(usize),
    /// Equality of states that all have this size, at most eight bytes: the state is its own key.
    Packed(usize),
}

impl Rule<'_> {
    /// The rule of a search over `system`.
    ///
    /// The relation prunes only if all `properties` respect it: a state could be missed that one of
    /// them tells from the one which simulates it.
    pub(crate) fn new<'a, S: System>(
        search: &Search,
        system: &'a S,
        properties: &[Property<S::State>],
    ) -> Rule<'a> {
        let front = usize::from(search.must_contain.is_some());
        let related = properties.iter().all(Property::respects_relation);
        match (search.visited, system.relation().filter(|_| related), S::State::SIZE) {
            (VisitedKind::Hash, _, _) => Rule::Hash(front),
            (VisitedKind::Relation, Some(relation), _) => Rule::Relation(relation, front),
            (_, _, Some(size)) if size + front <= 8 => Rule::Packed(size + front),
            (VisitedKind::Relation | VisitedKind::Equality, _, _) => Rule::Equality,
        }
    }

    /// Whether a visited state is kept as a key, so that its bytes may be let go once explored.
    pub(crate) fn keeps_keys(&self) -> bool {
        matches!(self, Rule::Hash(_) | Rule::Packed(_))
    }

    /// Whether one state stands for another only if they are equal.
    pub(crate) fn is_equality(&self) -> bool {
        !matches!(self, Rule::Relation(..))
    }

    /// Whether states are known by their fingerprints alone.
    pub(crate) fn is_hash(&self) -> bool {
        matches!(self, Rule::Hash(_))
    }

    /// The key of a state with this fingerprint of its own, if paths must contain an event, for
    /// those that do and those that do not; and back again.
    #[inline]
    pub(crate) fn side(&self, print: u128, contains: bool) -> u128 {
        match self {
            Rule::Hash(front) if *front > 0 && !contains => print ^ WITHOUT,
            _ => print,
        }
    }

    /// Where the part that must be equal ends.
    fn key_len(&self, bytes: &[u8]) -> usize {
        match self {
            Rule::Relation(relation, front) => front + relation.key_len(&bytes[*front..]),
            Rule::Equality | Rule::Hash(_) | Rule::Packed(_) => bytes.len(),
        }
    }

    /// Whether one state simulates another, of which both bytes are as the engine has them.
    pub(crate) fn simulates(&self, larger: &[u8], smaller: &[u8]) -> bool {
        let (key, other) = (self.key_len(larger), self.key_len(smaller));
        larger[..key] == smaller[..other]
            && match self {
                Rule::Relation(relation, _) => {
                    relation.simulates(&larger[key..], &smaller[other..])
                }
                Rule::Equality | Rule::Hash(_) | Rule::Packed(_) => true,
            }
    }

    /// The hash, or the key, under which states are looked up.
    #[inline(always)]
    pub(crate) fn hash(&self, bytes: &[u8]) -> u128 {
        match self {
            Rule::Packed(size) => {
                assert_eq!(bytes.len(), *size, "a state is not of the size its type promises");
                u128::from(match bytes.first_chunk() {
                    Some(word) => u64::from_le_bytes(*word),
                    None => bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
                })
            }
            Rule::Hash(0) => xxh3_128(bytes),
            Rule::Hash(front) => self.side(xxh3_128(&bytes[*front..]), bytes[0] == 1),
            Rule::Equality => u128::from(xxh3_64(bytes)),
            Rule::Relation(..) => u128::from(xxh3_64(&bytes[..self.key_len(bytes)])),
        }
    }
}

/// A part of the visited set with the bytes of its states; no two threads write to one cache line.
#[repr(align(128))]
pub(crate) struct Shard {
    /// The states: visited ones, and (adding current) those waiting. With fingerprints only the
    /// waiting ones are held.
    pub(crate) states: States,
    index: Index,
    /// How many states are visited.
    pub(crate) visited: u64,
    /// The depth of each state by number, where that matters and is not kept in the index.
    depths: Option<Vec<u32>>,
    /// What became of the states of the current batch, and how many were asked for.
    admissions: Vec<Admission>,
    asked: usize,
    /// Where those of the states begin that each thread has generated.
    starts: Vec<usize>,
    /// Some of the states that were pruned by others that simulate them.
    pub(crate) pruned: Sample,
}

/// The shard among `shards`, a power of two, in which a state with this hash is.
pub(crate) fn shard_of(hash: u128, shards: usize) -> usize {
    if shards == 1 {
        return 0;
    }
    // Bits that do not decide about the place in a table.
    ((hash as u64).mixed() >> 24) as usize & (shards - 1)
}

enum Index {
    Exact(Table),
    /// Finds the states with a key; `deep` says whether their depths matter.
    Related {
        table: Table,
        buckets: Buckets,
        deep: bool,
    },
    Fingerprints(KeyTable<u128>),
    Packed(KeyTable<u64>),
}

/// A state shown to a shard.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<'a> {
    /// The bytes of several states, and where its own begin and end.
    pub(crate) buffer: &'a [u8],
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) hash: u128,
    pub(crate) depth: u32,
    /// Its number, if its bytes are stored already.
    pub(crate) stored: Option<u32>,
}

impl<'a> Candidate<'a> {
    pub(crate) fn bytes(&self) -> &'a [u8] {
        &self.buffer[self.start..self.end]
    }
}

impl Shard {
    pub(crate) fn new(rule: Rule<'_>, depth_matters: bool) -> Self {
        let index = match rule {
            Rule::Equality => Index::Exact(Table::default()),
            Rule::Relation(..) => Index::Related {
                table: Table::default(),
                buckets: Buckets::default(),
                deep: depth_matters,
            },
            Rule::Hash(_) => Index::Fingerprints(KeyTable::new(depth_matters)),
            Rule::Packed(_) => Index::Packed(KeyTable::new(depth_matters)),
        };
        let own_depths = depth_matters && matches!(rule, Rule::Equality);
        Shard {
            states: States::default(),
            index,
            visited: 0,
            depths: own_depths.then(Vec::new),
            admissions: Vec::new(),
            asked: 0,
            starts: Vec::new(),
            pruned: Sample::default(),
        }
    }

    /// How many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        let index = match &self.index {
            Index::Exact(table) => table.bytes(),
            Index::Related { table, buckets, .. } => table.bytes() + buckets.bytes(),
            Index::Fingerprints(table) => table.bytes(),
            Index::Packed(table) => table.bytes(),
        };
        let depths = self.depths.as_ref().map_or(0, |depths| 4 * depths.capacity());
        self.states.bytes() + index + depths
    }

    /// Forgets the admissions of the batch before.
    pub(crate) fn next_batch(&mut self) {
        self.admissions.clear();
        self.asked = 0;
        self.starts.clear();
    }

    /// Goes on to the states that the next thread has generated.
    pub(crate) fn next_expansion(&mut self) {
        self.starts.push(self.admissions.len());
    }

    /// What became of the states that a thread has generated, and those after it.
    pub(crate) fn outcomes(&self, expansion: usize) -> &[Admission] {
        &self.admissions[self.starts[expansion]..]
    }

    /// Admits a state and remembers the outcome for [`Shard::next_admission`].
    pub(crate) fn admit_in_batch(&mut self, rule: Rule<'_>, candidate: Candidate<'_>) -> Admission {
        let admission = self.admit(rule, candidate);
        self.admissions.push(admission);
        admission
    }

    /// Whether a state with this hash was visited; only asked where equality decides.
    #[inline]
    pub(crate) fn is_visited(&self, hash: u128, bytes: &[u8]) -> bool {
        match &self.index {
            Index::Packed(table) => table.find(hash as u64).is_ok(),
            Index::Fingerprints(table) => table.find(hash).is_ok(),
            Index::Exact(table) => {
                let found = table.find(hash as u64, |number| self.states.get(number) == bytes);
                matches!(found, Lookup::Found(_))
            }
            Index::Related { .. } => unreachable!("a relation is not equality"),
        }
    }

    /// The outcomes of the batch, one after the other.
    pub(crate) fn next_admission(&mut self) -> Admission {
        self.asked += 1;
        self.admissions[self.asked - 1]
    }

    /// Fetches the slot that the look-up of a hash will touch first into the cache, without
    /// waiting for it.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u128) {
        match &self.index {
            Index::Packed(table) => table.prefetch(hash as u64),
            Index::Fingerprints(table) => table.prefetch(hash),
            Index::Exact(table) | Index::Related { table, .. } => table.prefetch(hash as u64),
        }
    }

    /// Fetches the state that the look-up of a hash will compare, whose slot was fetched before.
    #[inline]
    pub(crate) fn prefetch_state(&self, hash: u128) {
        match &self.index {
            Index::Exact(table) => {
                table
                    .guess(hash as u64)
                    .into_iter()
                    .for_each(|number| self.states.prefetch(number));
            }
            Index::Related { table, buckets, .. } => {
                let bucket = table.guess(hash as u64).into_iter();
                bucket.for_each(|bucket| self.states.prefetch(buckets.any(bucket)));
            }
            Index::Fingerprints(_) | Index::Packed(_) => {}
        }
    }

    /// Whether a state is worth exploring; if so, it is visited from now on.
    #[inline(always)]
    pub(crate) fn admit(&mut self, rule: Rule<'_>, candidate: Candidate<'_>) -> Admission {
        let admission = match &mut self.index {
            Index::Packed(table) => {
                admit_key(table, &mut self.states, candidate.hash as u64, candidate)
            }
            Index::Fingerprints(table) => {
                admit_key(table, &mut self.states, candidate.hash, candidate)
            }
            Index::Exact(_) => self.admit_exact(candidate),
            Index::Related { .. } => self.admit_related(rule, candidate),
        };
        self.visited += u64::from(matches!(admission, Admission::Fresh(_)));
        admission
    }

    #[inline(never)]
    fn admit_exact(&mut self, candidate: Candidate<'_>) -> Admission {
        let Index::Exact(table) = &mut self.index else { unreachable!("made for equality") };
        let states = &mut self.states;
        let hash = candidate.hash as u64;
        table.reserve(states.len(), |number| xxh3_64(states.get(number)));
        match table.find(hash, |number| states.get(number) == candidate.bytes()) {
            Lookup::Found(number) => lower(&mut self.depths, number, candidate.depth),
            Lookup::Vacant(slot) => {
                let number = candidate.stored.unwrap_or_else(|| states.push(candidate.bytes()));
                table.fill(slot, hash, number);
                note(&mut self.depths, number, candidate.depth);
                Admission::Fresh(number)
            }
        }
    }

    #[inline(never)]
    fn admit_related(&mut self, rule: Rule<'_>, candidate: Candidate<'_>) -> Admission {
        let (Index::Related { table, buckets, deep }, Rule::Relation(relation, _)) =
            (&mut self.index, rule)
        else {
            unreachable!("made for a relation")
        };
        let states = &mut self.states;
        let hash = candidate.hash as u64;
        table.reserve(buckets.len(), |bucket| rule.hash(states.get(buckets.any(bucket))) as u64);
        let (key, rest) = candidate.bytes().split_at(rule.key_len(candidate.bytes()));
        let found = table.find(hash, |bucket| {
            let bytes = states.get(buckets.any(bucket));
            &bytes[..rule.key_len(bytes)] == key
        });
        let sketch = relation.sketch(rest);
        let depth = if *deep { candidate.depth } else { 0 };
        if let Lookup::Found(bucket) = found {
            let bytes = |member: &Member| &states.get(member.number)[key.len()..];
            let simulating = |member: &Member| {
                // Nobody can predict either alone, but hardly ever are both true: one branch.
                (member.depth <= depth) & member.sketch.may_include(sketch)
                    && relation.simulates(bytes(member), rest)
            };
            let members = buckets.members(bucket);
            if let Some(at) = members.iter().position(simulating) {
                // A state that simulates many comes to the front, where it is found soon.
                members.swap(at, 0);
                if members[0].sketch != sketch || bytes(&members[0]) != rest {
                    let whole = candidate.bytes();
                    self.pruned.add(xxh3_64(whole), members[0].number, whole);
                }
                return Admission::Known;
            }
            // An equal state that was reached soon enough has been found.
            let same = |member: &&mut Member| member.sketch == sketch && bytes(member) == rest;
            if let Some(member) = members.iter_mut().filter(|_| *deep).find(same) {
                member.depth = depth;
                return Admission::Shallower(member.number);
            }
        }
        let number = candidate.stored.unwrap_or_else(|| states.push(candidate.bytes()));
        let member = Member { sketch, depth, number };
        match found {
            Lookup::Found(bucket) => buckets.add(bucket, member),
            Lookup::Vacant(slot) => table.fill(slot, hash, buckets.open(member)),
        }
        Admission::Fresh(number)
    }
}

/// Admits a state of which only its key is kept.
#[inline(always)]
fn admit_key<K: Key>(
    table: &mut KeyTable<K>,
    states: &mut States,
    key: K,
    candidate: Candidate<'_>,
) -> Admission {
    table.reserve();
    let admission = match table.find(key) {
        Ok(depth) if depth <= candidate.depth => return Admission::Known,
        Ok(_) => {
            table.lower(key, candidate.depth);
            Admission::Shallower
        }
        Err(slot) => {
            table.fill(slot, key, candidate.depth);
            Admission::Fresh
        }
    };
    // The bytes of an explored state are gone; one that is explored again is stored again.
    admission(candidate.stored.unwrap_or_else(|| states.push(candidate.bytes())))
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
