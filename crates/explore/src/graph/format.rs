//! The file format of a state graph.
//!
//! All numbers are little-endian. After a header of fixed size follow, without gaps:
//!
//! | part | of each | bytes |
//! |---|---|--:|
//! | targets | transition of a state that has them: number of the next state, [`BEYOND`] if it was not hashed | 4 |
//! | meta | – | – |
//! | steps | different step: event, actor, parameter | 8 |
//! | ends of lists | different list of steps: where it ends among all | 4 |
//! | lists | step of a list: its number | 2 or 4 |
//! | rows | expanded state: the list of its steps (the highest bit says that it has no targets), its first target, how many steps are enabled (one byte, 255 if not known), checksum of its targets (three bytes) | 12 |
//! | index | slot: number of an expanded state plus one, 0 if empty; place by fingerprint | 4 |
//! | fingerprints | state, the expanded ones first | 16 |
//!
//! The header and everything after the targets have checksums that are verified when the
//! file is opened; those of the targets are verified row by row as they are used, so that
//! opening a file does not read it all.
//!
//! [`BEYOND`]: super::BEYOND

use super::BEYOND;
use std::fmt;
use xxhash_rust::xxh3::xxh3_64;

/// The version of the format; files of another version are refused.
pub const FORMAT_VERSION: u32 = 2;

const MAGIC: &[u8; 16] = b"everypath graph\n";
/// The length of the header.
pub(super) const HEADER: usize = 128;
/// Where its own checksum begins.
const SUM: usize = HEADER - 8;
/// The bytes of a number of a state.
pub(super) const NUMBER: usize = 4;
/// The bytes of a step.
pub(super) const STEP: usize = 8;
/// The bytes of a row.
pub(super) const ROW: usize = 12;
/// The bytes of a fingerprint.
pub(super) const PRINT: usize = 16;

/// Why bytes are not a graph that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphError {
    /// They are something else.
    Foreign,
    /// They are of another version of the format.
    Version(u32),
    /// There are not as many as there should be.
    Length {
        /// How many there should be.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// A part has been changed.
    Damaged(&'static str),
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GraphError::Foreign => f.write_str("it is not a graph file"),
            GraphError::Version(version) => write!(
                f,
                "it has version {version} of the format, and this program reads {FORMAT_VERSION}"
            ),
            GraphError::Length { expected, found } => {
                write!(f, "it has {found} bytes and should have {expected}: it was cut short")
            }
            GraphError::Damaged(part) => write!(f, "its {part} is damaged"),
        }
    }
}

impl std::error::Error for GraphError {}

/// What the header says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) step_width: u64,
    pub(super) meta: u64,
    pub(super) steps: u64,
    pub(super) lists: u64,
    /// How many steps the lists have.
    pub(super) listed: u64,
    pub(super) expanded: u64,
    pub(super) states: u64,
    pub(super) transitions: u64,
    pub(super) targets: u64,
    pub(super) index_bits: u64,
    /// The checksum of everything after the targets.
    pub(super) checksum: u64,
}

/// Where the parts of a file begin; the last is its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) meta: usize,
    pub(super) steps: usize,
    pub(super) ends: usize,
    pub(super) lists: usize,
    pub(super) rows: usize,
    pub(super) index: usize,
    pub(super) prints: usize,
    pub(super) end: usize,
}

impl Header {
    /// The header as bytes, for a file of `length` bytes.
    pub(super) fn encode(&self, length: u64) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..16].copy_from_slice(MAGIC);
        let version = u64::from(FORMAT_VERSION);
        let words = [version, length].into_iter().chain(self.words());
        for (at, word) in (16..SUM).step_by(8).zip(words) {
            bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        let sum = xxh3_64(&bytes[..SUM]);
        bytes[SUM..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn words(&self) -> [u64; 11] {
        [
            self.step_width,
            self.meta,
            self.steps,
            self.lists,
            self.listed,
            self.expanded,
            self.states,
            self.transitions,
            self.targets,
            self.index_bits,
            self.checksum,
        ]
    }

    /// Reads the header of a file and checks the length of the file against it.
    pub(super) fn decode(bytes: &[u8]) -> Result<(Header, Places), GraphError> {
        let found = bytes.len() as u64;
        if !bytes.starts_with(MAGIC) {
            return Err(GraphError::Foreign);
        }
        if bytes.len() < HEADER {
            return Err(GraphError::Length { expected: HEADER as u64, found });
        }
        let word = |at: usize| read_u64(&bytes[at..]);
        if word(16) != u64::from(FORMAT_VERSION) {
            return Err(GraphError::Version(word(16) as u32));
        }
        if xxh3_64(&bytes[..SUM]) != word(SUM) {
            return Err(GraphError::Damaged("header"));
        }
        if word(24) != found {
            return Err(GraphError::Length { expected: word(24), found });
        }
        let header = Header {
            step_width: word(32),
            meta: word(40),
            steps: word(48),
            lists: word(56),
            listed: word(64),
            expanded: word(72),
            states: word(80),
            transitions: word(88),
            targets: word(96),
            index_bits: word(104),
            checksum: word(112),
        };
        let places = header.places().filter(|places| places.end as u64 == found);
        Ok((header, places.ok_or(GraphError::Damaged("header"))?))
    }

    /// Where the parts begin, unless the numbers make no sense.
    pub(super) fn places(&self) -> Option<Places> {
        let sensible = matches!(self.step_width, 2 | 4)
            && self.index_bits < 32
            && self.expanded <= self.states
            && self.states < u64::from(BEYOND)
            && self.lists < u64::from(NO_TARGETS)
            && self.listed <= u64::from(u32::MAX)
            && self.targets <= u64::from(u32::MAX);
        let mut end = HEADER as u64;
        let mut part = |count: u64, size: u64| {
            end = end.checked_add(count.checked_mul(size)?)?;
            usize::try_from(end).ok()
        };
        if !sensible {
            return None;
        }
        Some(Places {
            meta: part(self.targets, NUMBER as u64)?,
            steps: part(self.meta, 1)?,
            ends: part(self.steps, STEP as u64)?,
            lists: part(self.lists, NUMBER as u64)?,
            rows: part(self.listed, self.step_width)?,
            index: part(self.expanded, ROW as u64)?,
            prints: part(1 << self.index_bits, NUMBER as u64)?,
            end: part(self.states, PRINT as u64)?,
        })
    }
}

/// The first eight bytes as a number; they are there.
pub(super) fn read_u64(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

/// The first four bytes as a number; they are there.
#[inline]
pub(super) fn read_u32(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |word| u32::from_le_bytes(*word))
}

/// The place of a fingerprint in an index of so many slots.
pub(super) fn home(print: u128, bits: u64) -> usize {
    if bits == 0 { 0 } else { ((print as u64) >> (64 - bits)) as usize }
}

/// The number of enabled steps of a state, if it is unknown.
pub(super) const UNKNOWN: u8 = u8::MAX;

/// In a row, with the number of its list: none of its transitions has a target.
pub(super) const NO_TARGETS: u32 = 1 << 31;

/// The end of the row of a state with this fingerprint and list: how many steps are enabled in it,
/// and the checksum of its targets.
#[inline]
pub(super) fn row_seal(targets: &[u8], (print, list): (u128, u32), enabled: u8) -> u32 {
    let seed = (print >> 64) as u64 ^ u64::from(list);
    let sum = xxhash_rust::xxh3::xxh3_64_with_seed(targets, seed) as u32;
    sum << 8 | u32::from(enabled)
}
