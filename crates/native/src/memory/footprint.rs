//! From the log of a step to its memory footprint.

use super::{ArmedAccess, CopiedModule};
use everypath_rewrite::AccessKind;
use everypath_shim_abi::access_log::{CONTINUES, CONTINUES_WORDS, LOG_HEAD};
use std::collections::BTreeMap;

/// The hash of a log.
pub(crate) type LogHash = [u64; 2];

/// What a step did to eight bytes, and by which instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Touch {
    /// Their address, divided by eight.
    pub(super) granule: u64,
    /// Which of them, a bit each.
    pub(super) mask: u8,
    pub(super) kind: AccessKind,
    /// Whether it is a step by itself.
    pub(super) is_step: bool,
    /// The module and the instruction.
    pub(super) module: u16,
    pub(super) site: u64,
}

/// What a step accessed, in the order of addresses.
pub(crate) type MemoryFootprint = Vec<Touch>;

/// The footprints of one program, by the hash of their logs. A log is read when somebody asks for its
/// footprint: those of an execution that fails are not.
#[derive(Debug, Default)]
pub(crate) struct Footprints {
    logs: BTreeMap<LogHash, Vec<u64>>,
    known: BTreeMap<LogHash, MemoryFootprint>,
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
            if !self.known.contains_key(&hash) {
                self.logs.entry(hash).or_insert_with(|| log.to_vec());
            }
        }
        Ok(())
    }

    /// Reads the log with a hash, if nobody has.
    pub(super) fn read(&mut self, hash: LogHash, modules: &[CopiedModule]) -> Result<(), BadLog> {
        // A log may continue another one, and that the next: not by recursion, they may be many.
        let mut touches = Vec::new();
        let mut next = Some(hash);
        while let Some(part) = next.take() {
            if let Some(known) = self.known.get(&part) {
                touches.extend(known);
                break;
            }
            let log = self.logs.get(&part).ok_or(BadLog)?;
            next = parse(log, modules, &mut touches)?;
        }
        self.logs.remove(&hash);
        touches.sort_unstable();
        touches.dedup();
        self.known.entry(hash).or_insert(touches);
        Ok(())
    }

    pub(super) fn get(&self, hash: LogHash) -> Option<&MemoryFootprint> {
        self.known.get(&hash)
    }
}

/// Reads a log from its end; returns the hash of the log that it continues.
fn parse(
    mut log: &[u64],
    modules: &[CopiedModule],
    touches: &mut MemoryFootprint,
) -> Result<Option<LogHash>, BadLog> {
    let mut continued = None;
    while let Some((&number, before)) = log.split_last() {
        if number == CONTINUES {
            let (rest, hash) = before.split_last_chunk::<CONTINUES_WORDS>().ok_or(BadLog)?;
            continued = Some(*hash);
            log = rest;
            continue;
        }
        let number = u32::try_from(number).map_err(|_| BadLog)?;
        let index = modules.partition_point(|module| module.first_block <= number);
        let module = index.checked_sub(1).ok_or(BadLog)?;
        let (accesses, words) = modules[module].block(number).ok_or(BadLog)?;
        let start = before.len().checked_sub(words).ok_or(BadLog)?;
        let (rest, values) = before.split_at(start);
        for access in accesses {
            let word = |at: Option<u8>| at.map_or(0, |at| values[usize::from(at)]);
            let index = word(access.index).wrapping_mul(u64::from(access.scale));
            let address = access.displacement.cast_unsigned().wrapping_add(word(access.base));
            let count = access.count.map_or(1, |at| values[usize::from(at)]);
            let touch = Touch {
                granule: 0,
                mask: 0,
                kind: access.kind,
                is_step: access.is_step,
                module: module as u16,
                site: access.site,
            };
            let length = u64::from(access.size).saturating_mul(count);
            spread(address.wrapping_add(index), length, touch, touches);
        }
        log = rest;
    }
    Ok(continued)
}

/// Divides an access into those to eight bytes each.
fn spread(address: u64, length: u64, touch: Touch, touches: &mut MemoryFootprint) {
    let (mut at, end) = (address, address.saturating_add(length));
    while at < end {
        let next = (at | 7).saturating_add(1).min(end);
        let mask = (((1u32 << (next - at)) - 1) << (at & 7)) as u8;
        touches.push(Touch { granule: at >> 3, mask, ..touch });
        at = next;
    }
}

/// The instruction of a touch.
pub(super) fn instruction(touch: &Touch, modules: &[CopiedModule]) -> ArmedAccess {
    let module = modules.get(usize::from(touch.module)).map(|module| module.path.clone());
    ArmedAccess { module: module.unwrap_or_default(), address: touch.site }
}
