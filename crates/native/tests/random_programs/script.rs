//! Small concurrent programs over shared bytes and mutexes, drawn at random.

use everypath_shim_abi::Splitmix;

/// How many bytes threads share.
pub(super) const SHARED: usize = 32;
/// How many mutexes there are.
pub(super) const MUTEXES: usize = 2;
/// The most interleavings of single accesses that a script has, had it no mutexes: searches of scripts
/// shall be short.
const INTERLEAVINGS: u64 = 1_000;

/// Some of the shared bytes, aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) offset: usize,
    pub(super) size: usize,
}

impl Place {
    /// Whether they have bytes in common.
    pub(super) fn overlaps(self, other: Place) -> bool {
        self.offset < other.offset + other.size && other.offset < self.offset + self.size
    }
}

/// A memory order, as far as it suits an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Relaxed,
    AcquireOrRelease,
    SequentiallyConsistent,
}

/// What a thread does. What it loads becomes part of what it has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Load(Place),
    Store(Place, u8),
    /// Stores the last byte of what the thread has seen.
    StoreSeen(Place),
    /// Loads, adds and stores, not atomically; nothing of it is seen.
    Add(Place, u8),
    AtomicLoad(Place, Order),
    AtomicStore(Place, u8, Order),
    FetchAdd(Place, u8, Order),
    Exchange(Place, u8, Order),
    /// Expected and desired.
    CompareExchange(Place, u8, u8, Order),
    Lock(usize),
    Unlock(usize),
    /// Leaves out the next one unless what was seen last is even.
    IfEven,
}

impl Operation {
    /// How many accesses of shared memory it makes.
    fn accesses(self) -> u64 {
        match self {
            Operation::Add(..) => 2,
            Operation::IfEven => 0,
            _ => 1,
        }
    }
}

/// Where the shared bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    Static,
    Heap,
    Stack,
}

/// A program: what each of its threads does.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) home: Home,
    pub(super) threads: Vec<Vec<Operation>>,
}

impl Script {
    /// The script with a number.
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let random = &mut Splitmix::of(seed, number);
        let home = [Home::Static, Home::Heap, Home::Stack][random.below(3) as usize];
        let places = places(random);
        let count = 2 + random.below(2) as usize;
        let mut threads = vec![Vec::new(); count];
        // Threads grow in turn, as long as there are few enough interleavings.
        for turn in 0..4 * count {
            let thread = turn % count;
            let before = threads[thread].len();
            append(&mut threads[thread], random, &places);
            if interleavings(&threads) > INTERLEAVINGS {
                threads[thread].truncate(before);
            }
        }
        Script { home, threads }
    }
}

/// A few places, of which most lie side by side, and some overlap.
fn places(random: &mut Splitmix) -> Vec<Place> {
    let place = |random: &mut Splitmix| {
        let size = 1 << random.below(4);
        let within = random.below((8 / size) as u32) as usize * size;
        let word = if random.below(3) == 0 { 8 } else { 0 };
        Place { offset: word + within, size }
    };
    let count = 1 + random.below(3);
    (0..count).map(|_| place(random)).collect()
}

fn append(thread: &mut Vec<Operation>, random: &mut Splitmix, places: &[Place]) {
    if random.below(4) == 0 {
        let mutex = random.below(MUTEXES as u32) as usize;
        // Two mutexes may be taken in either order.
        let other = (random.below(4) == 0).then_some(1 - mutex);
        thread.push(Operation::Lock(mutex));
        thread.extend(other.map(Operation::Lock));
        for _ in 0..=random.below(2) {
            thread.push(access(random, places));
        }
        thread.extend(other.map(Operation::Unlock));
        return thread.push(Operation::Unlock(mutex));
    }
    if random.below(6) == 0 {
        thread.push(Operation::IfEven);
    }
    thread.push(access(random, places));
}

fn access(random: &mut Splitmix, places: &[Place]) -> Operation {
    let place = places[random.below(places.len() as u32) as usize];
    let value = 1 + random.below(3) as u8;
    let orders = [Order::Relaxed, Order::AcquireOrRelease, Order::SequentiallyConsistent];
    let order = orders[random.below(3) as usize];
    match random.below(12) {
        0..=2 => Operation::Load(place),
        3 => Operation::Store(place, value),
        4 => Operation::StoreSeen(place),
        5..=6 => Operation::Add(place, value),
        7 => Operation::AtomicLoad(place, order),
        8 => Operation::AtomicStore(place, value, order),
        9 => Operation::FetchAdd(place, value, order),
        10 => Operation::Exchange(place, value, order),
        _ => Operation::CompareExchange(place, random.below(3) as u8, value, order),
    }
}

/// How many orders of their accesses threads have: a multinomial coefficient.
fn interleavings(threads: &[Vec<Operation>]) -> u64 {
    let mut total = 0;
    let mut orders = 1u64;
    for thread in threads {
        for own in 1..=thread.iter().map(|operation| operation.accesses()).sum::<u64>() {
            total += 1;
            orders = orders.saturating_mul(total) / own;
        }
    }
    orders
}
