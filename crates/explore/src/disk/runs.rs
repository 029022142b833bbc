//! Sorted runs of fingerprints, each a file that is written once.
//!
//! In memory a run has the first fingerprint of each of its blocks, 16 bytes for 16 KiB. Fingerprints
//! that are looked up come in ascending order, so that a run is read from its front to its end at most
//! once, and only those of its blocks that may have one of them.

use super::DiskError;
use super::log::Log;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// Bytes of a fingerprint, and how many of them make a block.
const PRINT: usize = 16;
const BLOCK: usize = 1024;

/// How many runs of a tier are merged into one of the next.
const FAN_IN: usize = 8;

/// A sorted run.
pub(super) struct Run {
    file: File,
    path: PathBuf,
    pub(super) about: RunAbout,
    /// The first fingerprint of each block.
    firsts: Vec<u128>,
}

/// What a checkpoint says of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RunAbout {
    pub(super) number: u64,
    pub(super) tier: u64,
    pub(super) len: u64,
    pub(super) checksum: u64,
}

crate::canonical!(struct RunAbout { number, tier, len, checksum });

fn print(bytes: &[u8]) -> u128 {
    u128::from_be_bytes(bytes.try_into().expect("a fingerprint has 16 bytes"))
}

/// Writes a run.
struct Writer {
    log: Log,
    about: RunAbout,
    hasher: Xxh3,
    firsts: Vec<u128>,
}

impl Writer {
    fn new(folder: &Path, number: u64, tier: u64) -> Result<Writer, DiskError> {
        let log = Log::open(&Run::path(folder, number), 0)?;
        let about = RunAbout { number, tier, ..RunAbout::default() };
        Ok(Writer { log, about, hasher: Xxh3::new(), firsts: Vec::new() })
    }

    fn push(&mut self, print: u128) -> Result<(), DiskError> {
        if self.about.len.is_multiple_of(BLOCK as u64) {
            self.firsts.push(print);
        }
        self.about.len += 1;
        let bytes = print.to_be_bytes();
        self.hasher.update(&bytes);
        self.log.append(&bytes)
    }

    fn finish(mut self) -> Result<Run, DiskError> {
        self.log.sync()?;
        let path = self.log.path().to_path_buf();
        self.about.checksum = self.hasher.digest();
        let file = File::open(&path).map_err(DiskError::at(&path))?;
        Ok(Run { file, path, about: self.about, firsts: self.firsts })
    }
}

impl Run {
    pub(super) fn path(folder: &Path, number: u64) -> PathBuf {
        folder.join(format!("run-{number}"))
    }

    /// Writes fingerprints in ascending order.
    pub(super) fn write(
        folder: &Path,
        number: u64,
        prints: impl Iterator<Item = u128>,
    ) -> Result<Run, DiskError> {
        let mut writer = Writer::new(folder, number, 0)?;
        for print in prints {
            writer.push(print)?;
        }
        writer.finish()
    }

    /// Opens a run and compares all of it with what a checkpoint says.
    pub(super) fn open(folder: &Path, about: RunAbout) -> Result<Run, DiskError> {
        let path = Run::path(folder, about.number);
        let file = File::open(&path).map_err(DiskError::at(&path))?;
        let mut run = Run { file, path, about, firsts: Vec::new() };
        let (mut hasher, mut block) = (Xxh3::new(), Vec::new());
        for number in 0..about.len.div_ceil(BLOCK as u64) {
            run.read(number as usize, &mut block)?;
            hasher.update(&block);
            run.firsts.push(print(&block[..PRINT]));
        }
        if hasher.digest() != about.checksum {
            return Err(DiskError::damaged(&run.path, "its checksum is another"));
        }
        Ok(run)
    }

    fn read(&self, block: usize, bytes: &mut Vec<u8>) -> Result<(), DiskError> {
        let at = block * BLOCK;
        bytes.resize((self.about.len as usize - at).min(BLOCK) * PRINT, 0);
        let read = self.file.read_exact_at(bytes, (at * PRINT) as u64);
        read.map_err(DiskError::at(&self.path))
    }

    /// Says which of some fingerprints, in ascending order and each with a number, are in the run.
    pub(super) fn probe(
        &self,
        prints: impl Iterator<Item = (u128, u64)>,
        mut known: impl FnMut(u64),
    ) -> Result<(), DiskError> {
        let (mut bytes, mut loaded, mut block) = (Vec::new(), None, 0);
        for (wanted, number) in prints {
            // Gallop: mostly it is the same block, or one soon after it.
            let mut step = 1;
            while self.firsts.get(block + step).is_some_and(|&first| first <= wanted) {
                block += step;
                step *= 2;
            }
            let rest = &self.firsts[block..self.firsts.len().min(block + step)];
            block += rest.partition_point(|&first| first <= wanted).saturating_sub(1);
            if self.firsts.get(block).is_none_or(|&first| first > wanted) {
                continue;
            }
            if loaded != Some(block) {
                self.read(block, &mut bytes)?;
                loaded = Some(block);
            }
            let (prints, _) = bytes.as_chunks::<PRINT>();
            if prints.binary_search_by(|bytes| u128::from_be_bytes(*bytes).cmp(&wanted)).is_ok() {
                known(number);
            }
        }
        Ok(())
    }
}

/// The runs of a search.
#[derive(Default)]
pub(super) struct Runs {
    runs: Vec<Run>,
    /// The number of the next run.
    pub(super) next: u64,
}

impl Runs {
    pub(super) fn open(folder: &Path, runs: &[RunAbout], next: u64) -> Result<Runs, DiskError> {
        let runs = runs.iter().map(|&about| Run::open(folder, about));
        Ok(Runs { runs: runs.collect::<Result<_, _>>()?, next })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub(super) fn about(&self) -> Vec<RunAbout> {
        self.runs.iter().map(|run| run.about).collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter()
    }

    /// Adds a run of fingerprints in ascending order, and merges runs if there are many of a size.
    pub(super) fn add(
        &mut self,
        folder: &Path,
        prints: impl Iterator<Item = u128>,
    ) -> Result<(), DiskError> {
        self.runs.push(Run::write(folder, self.next, prints)?);
        self.next += 1;
        loop {
            let mut tiers = BTreeMap::<u64, usize>::new();
            self.runs.iter().for_each(|run| *tiers.entry(run.about.tier).or_default() += 1);
            let Some((&tier, _)) = tiers.iter().find(|(_, count)| **count >= FAN_IN) else {
                return Ok(());
            };
            let merged = self.merge(folder, tier)?;
            self.runs.retain(|run| run.about.tier != tier);
            self.runs.push(merged);
        }
    }

    /// Merges the runs of a tier. Their files are left to whoever removes what no checkpoint names.
    fn merge(&mut self, folder: &Path, tier: u64) -> Result<Run, DiskError> {
        let mut writer = Writer::new(folder, self.next, tier + 1)?;
        self.next += 1;
        let runs = self.runs.iter().filter(|run| run.about.tier == tier);
        let mut cursors = runs.map(Cursor::new).collect::<Result<Vec<_>, _>>()?;
        while let Some(least) = cursors.iter().filter_map(|cursor| cursor.head).min() {
            writer.push(least)?;
            for cursor in cursors.iter_mut().filter(|cursor| cursor.head == Some(least)) {
                cursor.advance()?;
            }
        }
        writer.finish()
    }
}

/// Where a merge is in a run.
struct Cursor<'a> {
    run: &'a Run,
    bytes: Vec<u8>,
    block: usize,
    at: usize,
    head: Option<u128>,
}

impl<'a> Cursor<'a> {
    fn new(run: &'a Run) -> Result<Self, DiskError> {
        let mut cursor = Cursor { run, bytes: Vec::new(), block: 0, at: 0, head: None };
        cursor.advance()?;
        Ok(cursor)
    }

    fn advance(&mut self) -> Result<(), DiskError> {
        if self.at == self.bytes.len() {
            if self.block == self.run.firsts.len() {
                self.head = None;
                return Ok(());
            }
            self.run.read(self.block, &mut self.bytes)?;
            (self.block, self.at) = (self.block + 1, 0);
        }
        self.head = Some(print(&self.bytes[self.at..self.at + PRINT]));
        self.at += PRINT;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn runs_know_what_was_added_and_nothing_else(
            batches in proptest::collection::vec(
                proptest::collection::btree_set(0u128..6000, 0..2500), 0..20),
            asked in proptest::collection::btree_set(0u128..7000, 0..2000),
        ) {
            // Spread out, with some that have the same front.
            let spread = |small: u128| ((small / 3) << 100) | (small % 3);
            let folder = tempfile::tempdir().unwrap();
            let mut runs = Runs::default();
            let mut all = BTreeSet::new();
            for batch in &batches {
                runs.add(folder.path(), batch.iter().map(|&small| spread(small))).unwrap();
                all.extend(batch.iter().map(|&small| spread(small)));
            }
            let opened = Runs::open(folder.path(), &runs.about(), runs.next).unwrap();
            let asked: Vec<u128> = asked.into_iter().map(spread).collect();
            for runs in [&runs, &opened] {
                let mut known = vec![false; asked.len()];
                for run in runs.iter() {
                    run.probe(asked.iter().copied().zip(0..), |number| known[number as usize] = true)
                        .unwrap();
                }
                let expected: Vec<bool> = asked.iter().map(|print| all.contains(print)).collect();
                prop_assert_eq!(known, expected);
            }
        }
    }

    #[test]
    fn a_run_that_was_changed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let run = Run::write(folder.path(), 7, (0..5000).map(|print| print << 90)).unwrap();
        let mut bytes = std::fs::read(&run.path).unwrap();
        bytes[40_000] ^= 1;
        std::fs::write(&run.path, bytes).unwrap();
        let Err(error) = Run::open(folder.path(), run.about) else { panic!("it was opened") };
        assert!(error.to_string().contains("run-7"), "{error}");
    }
}
