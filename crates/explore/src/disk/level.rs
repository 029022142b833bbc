//! The states of one depth, in a file, in the order in which they are explored.
//!
//! A state is added as soon as the fingerprints in memory do not know it. Those that turn out to be in
//! a sorted run later are marked as duplicates and passed over when the level is read.

use super::DiskError;
use super::log::Log;
use std::path::{Path, PathBuf};

/// How many bytes are read at once.
const READ: usize = 1 << 18;
/// Bytes in front of a state that tell its length.
const LENGTH: usize = 4;

/// The states of one depth.
pub(super) struct Level {
    /// The number of the first state, and of the one after the last.
    pub(super) first: u64,
    pub(super) end: u64,
    pub(super) states: Log,
    /// The numbers of duplicates: in a file, and as bits from the first on.
    duplicates: Log,
    marks: Vec<u64>,
    marked: u64,
}

/// What a checkpoint says of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LevelAbout {
    pub(super) first: u64,
    pub(super) end: u64,
    pub(super) bytes: u64,
    pub(super) duplicates: u64,
}

crate::canonical!(struct LevelAbout { first, end, bytes, duplicates });

impl Level {
    pub(super) fn paths(folder: &Path, depth: u32) -> [PathBuf; 2] {
        ["level", "duplicates"].map(|kind| folder.join(format!("{kind}-{depth}")))
    }

    /// Opens a level as a checkpoint has it; `LevelAbout::default()` with `first` and `end` set is one
    /// without states.
    pub(super) fn open(folder: &Path, depth: u32, about: LevelAbout) -> Result<Level, DiskError> {
        let [states, duplicates] = Level::paths(folder, depth);
        let LevelAbout { first, end, .. } = about;
        let mut level = Level {
            first,
            end,
            states: Log::open(&states, about.bytes)?,
            duplicates: Log::open(&duplicates, about.duplicates)?,
            marks: Vec::new(),
            marked: 0,
        };
        let mut known = vec![0; about.duplicates as usize];
        level.duplicates.read_at(0, &mut known)?;
        let (known, _) = known.as_chunks();
        known.iter().for_each(|number| level.note(u64::from_le_bytes(*number)));
        Ok(level)
    }

    pub(super) fn about(&self) -> LevelAbout {
        let (bytes, duplicates) = (self.states.len(), self.duplicates.len());
        LevelAbout { first: self.first, end: self.end, bytes, duplicates }
    }

    /// Lets it outlive a crash of the machine.
    pub(super) fn sync(&mut self) -> Result<(), DiskError> {
        self.states.sync()?;
        self.duplicates.sync()
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), DiskError> {
        self.end += 1;
        self.states.append(&(bytes.len() as u32).to_le_bytes())?;
        self.states.append(bytes)
    }

    /// How many of its states from a number on are not duplicates.
    pub(super) fn len_from(&self, number: u64) -> u64 {
        let marked = match number == self.first {
            true => self.marked,
            false => (number..self.end).filter(|&number| self.is_duplicate(number)).count() as u64,
        };
        self.end - number - marked
    }

    fn note(&mut self, number: u64) {
        let at = (number - self.first) as usize;
        if self.marks.len() <= at / 64 {
            self.marks.resize(at / 64 + 1, 0);
        }
        self.marks[at / 64] |= 1 << (at % 64);
        self.marked += 1;
    }

    /// Says that a state is a duplicate.
    pub(super) fn mark(&mut self, number: u64) -> Result<(), DiskError> {
        self.note(number);
        self.duplicates.append(&number.to_le_bytes())
    }

    fn is_duplicate(&self, number: u64) -> bool {
        let at = (number - self.first) as usize;
        self.marks.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }
}

/// Some states of a level, one after the other.
#[derive(Default)]
pub(super) struct Chunk {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Their numbers.
    pub(super) numbers: Vec<u64>,
}

impl Chunk {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of the states from one of them to before another.
    pub(super) fn states(&self, from: usize, to: usize) -> impl Iterator<Item = &[u8]> {
        (from..to).map(|at| {
            let start = if at == 0 { 0 } else { self.ends[at - 1] };
            &self.bytes[start..self.ends[at]]
        })
    }
}

/// Where the search is in a level.
#[derive(Default)]
pub(super) struct Reader {
    /// The next state that is read, and where in the file it begins.
    pub(super) next: u64,
    pub(super) offset: u64,
    /// What was read of the file, and where that begins.
    buffer: Vec<u8>,
    start: u64,
}

impl Reader {
    pub(super) fn new(next: u64, offset: u64) -> Reader {
        Reader { next, offset, ..Reader::default() }
    }

    /// Makes so many bytes from the offset on available.
    fn fetch(&mut self, level: &Level, len: usize) -> Result<&[u8], DiskError> {
        let have = (self.start + self.buffer.len() as u64).saturating_sub(self.offset);
        if self.offset < self.start || (have as usize) < len {
            let left = level.states.len() - self.offset;
            if left < len as u64 {
                return Err(DiskError::damaged(level.states.path(), "a state is cut off"));
            }
            self.buffer.resize(len.max((READ as u64).min(left) as usize), 0);
            self.start = self.offset;
            level.states.read_at(self.start, &mut self.buffer)?;
        }
        let at = (self.offset - self.start) as usize;
        Ok(&self.buffer[at..at + len])
    }

    /// Reads up to `width` states that are no duplicates.
    pub(super) fn take(
        &mut self,
        level: &Level,
        width: usize,
        chunk: &mut Chunk,
    ) -> Result<(), DiskError> {
        chunk.bytes.clear();
        chunk.ends.clear();
        chunk.numbers.clear();
        while chunk.len() < width && self.next < level.end {
            let length = self.fetch(level, LENGTH)?;
            let len = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
            if !level.is_duplicate(self.next) {
                let record = self.fetch(level, LENGTH + len)?;
                chunk.bytes.extend_from_slice(&record[LENGTH..]);
                chunk.ends.push(chunk.bytes.len());
                chunk.numbers.push(self.next);
            }
            self.offset += (LENGTH + len) as u64;
            self.next += 1;
        }
        Ok(())
    }
}
