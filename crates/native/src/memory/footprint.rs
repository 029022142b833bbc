//! From the log of a step to its memory footprint.

use super::{Armed, CopiedModule, Instruction};
use everypath_rewrite::{AccessKind, Point};
use everypath_shim_abi::access_log::{CALL, CALL_WORDS, CONTINUES, CONTINUES_WORDS, LOG_HEAD};
use std::collections::BTreeMap;

/// The hash of a log.
pub(crate) type LogHash = [u64; 2];

/// Where a call of libc or the kernel stands for a module.
const NO_MODULE: u16 = u16::MAX;
/// No call accesses more bytes than this.
const MOST_BYTES: u64 = 1 << 32;

/// What a step did to eight bytes, and by which instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Touch {
    /// Their address, divided by eight.
    pub(crate) granule: u64,
    /// Which of them, a bit each.
    pub(super) mask: u8,
    pub(crate) kind: AccessKind,
    /// Whether it is a step by itself.
    pub(super) is_step: bool,
    /// The module and the instruction.
    pub(super) module: u16,
    pub(super) site: u64,
}

/// What a step accessed.
#[derive(Debug)]
pub(super) struct MemoryFootprint {
    /// In the order of addresses.
    pub(super) touches: Vec<Touch>,
    filter: Filter,
}

impl MemoryFootprint {
    fn new(mut touches: Vec<Touch>) -> Self {
        touches.sort_unstable();
        touches.dedup();
        let filter = Filter::of(&touches);
        MemoryFootprint { touches, filter }
    }

    /// What it did to the words of locks of Rust's standard library.
    pub(super) fn of_locks(&self) -> impl Iterator<Item = &Touch> {
        self.touches.iter().filter(|touch| touch.kind == AccessKind::Lock)
    }

    /// Whether it may have something in common with another one. Most pairs of steps have not, and
    /// there are many pairs.
    pub(super) fn may_meet(&self, other: &MemoryFootprint) -> bool {
        self.filter.0.iter().zip(&other.filter.0).any(|(one, other)| one & other != 0)
    }
}

/// Of each granule one bit: a Bloom filter with one hash function.
#[derive(Debug)]
struct Filter([u64; Filter::WORDS]);

impl Filter {
    const WORDS: usize = 16;

    fn of(touches: &[Touch]) -> Self {
        let mut words = [0; Filter::WORDS];
        for touch in touches {
            // Fibonacci hashing: granules that are used together are often neighbours.
            let bit = (touch.granule.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize;
            words[bit / 64] |= 1 << (bit % 64);
        }
        Filter(words)
    }
}

/// The number of a footprint.
pub(super) type Number = u32;

/// The footprints of one program, by the hash of their logs. A log is read when somebody asks for its
/// footprint: those of an execution that fails are not.
#[derive(Debug, Default)]
pub(crate) struct Footprints {
    logs: BTreeMap<LogHash, Vec<u64>>,
    numbers: BTreeMap<LogHash, Number>,
    all: Vec<MemoryFootprint>,
}

/// A log that means nothing, or that is not known.
#[derive(Debug)]
pub(crate) struct BadLog;

impl Footprints {
    /// Adds what a process has passed on: logs, each with its hash and its length.
    pub(crate) fn add(&mut self, mut words: &[u64]) -> Result<(), BadLog> {
        while let Some((&[low, high, length], rest)) = words.split_first_chunk::<LOG_HEAD>() {
            let length = usize::try_from(length).map_err(|_| BadLog)?;
            let (log, rest) = rest.split_at_checked(length).ok_or(BadLog)?;
            words = rest;
            let hash = [low, high];
            if !self.numbers.contains_key(&hash) {
                self.logs.entry(hash).or_insert_with(|| log.to_vec());
            }
        }
        Ok(())
    }

    /// The number of the footprint with a hash; its log is read, if nobody has. None if the log was too
    /// long to be kept.
    pub(super) fn number(
        &mut self,
        hash: LogHash,
        reader: Reader<'_>,
    ) -> Result<Option<Number>, BadLog> {
        if let Some(&number) = self.numbers.get(&hash) {
            return Ok(Some(number));
        }
        // A log may continue another one, and that the next: not by recursion, they may be many.
        let mut touches = Vec::new();
        let mut next = Some(hash);
        while let Some(part) = next.take() {
            if let Some(&known) = self.numbers.get(&part) {
                touches.extend(&self.get(known).touches);
                break;
            }
            let Some(log) = self.logs.get(&part) else { return Ok(None) };
            next = reader.parse(log, &mut touches)?;
        }
        self.logs.remove(&hash);
        let number = Number::try_from(self.all.len()).map_err(|_| BadLog)?;
        self.all.push(MemoryFootprint::new(touches));
        self.numbers.insert(hash, number);
        Ok(Some(number))
    }

    /// What the last part of a log says; its other parts are passed over.
    pub(crate) fn last_part(&self, hash: LogHash, reader: Reader<'_>) -> Option<Vec<Touch>> {
        let mut touches = Vec::new();
        reader.parse(self.logs.get(&hash)?, &mut touches).ok()?;
        touches.sort_unstable();
        touches.dedup();
        Some(touches)
    }

    pub(super) fn get(&self, number: Number) -> &MemoryFootprint {
        &self.all[number as usize]
    }
}

/// What is needed to read logs.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) modules: &'a [CopiedModule],
    pub(crate) armed: &'a Armed,
}

impl Reader<'_> {
    /// Reads a log from its end; returns the hash of the log that it continues.
    fn parse(self, mut log: &[u64], touches: &mut Vec<Touch>) -> Result<Option<LogHash>, BadLog> {
        let mut continued = None;
        while let Some((&number, before)) = log.split_last() {
            if number == CONTINUES {
                let (rest, hash) = before.split_last_chunk::<CONTINUES_WORDS>().ok_or(BadLog)?;
                continued = Some(*hash);
                log = rest;
                continue;
            }
            if number == CALL {
                let (rest, words) = before.split_last_chunk::<CALL_WORDS>().ok_or(BadLog)?;
                self.call(*words, touches);
                log = rest;
                continue;
            }
            let number = u32::try_from(number).map_err(|_| BadLog)?;
            log = self.block(number, before, touches)?;
        }
        Ok(continued)
    }

    /// Reads the record of a block, whose words are the last ones; returns those before them.
    fn block<'l>(
        self,
        number: u32,
        words: &'l [u64],
        touches: &mut Vec<Touch>,
    ) -> Result<&'l [u64], BadLog> {
        let index = self.modules.partition_point(|module| module.first_block <= number);
        let module = index.checked_sub(1).ok_or(BadLog)?;
        let (accesses, count) = self.modules[module].block(number).ok_or(BadLog)?;
        let start = words.len().checked_sub(count).ok_or(BadLog)?;
        let (rest, values) = words.split_at(start);
        for access in accesses {
            let word = |at: Option<u8>| at.map_or(0, |at| values[usize::from(at)]);
            let index = word(access.index).wrapping_mul(u64::from(access.scale));
            let address = access.displacement.cast_unsigned().wrapping_add(word(access.base));
            let address = address.wrapping_add(index).wrapping_add(word(access.thread));
            let count = access.count.map_or(1, |at| values[usize::from(at)]);
            let length = u64::from(access.size).saturating_mul(count);
            let last = address.saturating_add(length.saturating_sub(1));
            let touch = Touch {
                granule: 0,
                mask: 0,
                kind: access.kind,
                is_step: match access.point {
                    Point::Never => false,
                    Point::Always => true,
                    Point::Armed => self.armed.covers(address >> 3, last >> 3),
                },
                module: module as u16,
                site: access.site,
            };
            spread(address, length, touch, touches);
        }
        Ok(rest)
    }

    /// What a call of libc or the kernel accessed: it is a step if a granule of that is armed.
    fn call(self, [address, length, writes]: [u64; CALL_WORDS], touches: &mut Vec<Touch>) {
        let last = address.saturating_add(length.saturating_sub(1));
        let touch = Touch {
            granule: 0,
            mask: 0,
            kind: if writes == 0 { AccessKind::Read } else { AccessKind::Write },
            is_step: self.armed.has_granule(address >> 3, last >> 3),
            module: NO_MODULE,
            site: 0,
        };
        // More than a program has would be a damaged log.
        spread(address, length.min(MOST_BYTES), touch, touches);
    }

    /// The instruction of a touch; none of a call.
    pub(crate) fn instruction(self, touch: &Touch) -> Option<Instruction> {
        let module = self.modules.get(usize::from(touch.module))?;
        Some(Instruction { module: module.path.clone(), address: touch.site })
    }
}

/// Divides an access into those to eight bytes each.
fn spread(address: u64, length: u64, touch: Touch, touches: &mut Vec<Touch>) {
    let (mut at, end) = (address, address.saturating_add(length));
    while at < end {
        let next = (at | 7).saturating_add(1).min(end);
        let mask = (((1u32 << (next - at)) - 1) << (at & 7)) as u8;
        touches.push(Touch { granule: at >> 3, mask, ..touch });
        at = next;
    }
}
