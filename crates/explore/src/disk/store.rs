//! The files of a search: levels, parents, sorted runs; and the fingerprints in memory.

use super::level::{Level, LevelAbout, Reader};
use super::log::Log;
use super::manifest::{Kept, Manifest};
use super::runs::Runs;
use super::{Disk, DiskError};
use crate::table::{KeyTable, most_keys};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

/// A record of the file of parents: the fingerprint of a state, the number of its parent, the choice.
const RECORD: usize = 16 + 8 + 4;
/// How many records are read at once.
const RECORDS: u64 = 1 << 14;
/// The parent of the initial state.
pub(super) const ROOT: u64 = u64::MAX;
/// Bytes of a slot of the table, and the fewest slots worth having.
const SLOT: u64 = 16;
const FEWEST: u64 = 1 << 10;

/// A fingerprint in memory, to be sorted: its halves, and the number of its state from some number on.
type Entry = (u64, u64, u32);

fn print_of(&(high, low, _): &Entry) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// The files of a search.
pub(super) struct Store {
    folder: PathBuf,
    /// Locked as long as it is open.
    _lock: File,
    /// Fingerprint, parent and choice of each state, by number.
    parents: Log,
    pub(super) depth: u32,
    pub(super) current: Level,
    pub(super) reader: Reader,
    pub(super) following: Level,
    /// The fingerprints of the states from `recent` on, and how many there may be.
    table: KeyTable<u128>,
    most: u64,
    recent: u64,
    /// The first state of the following level that was not looked for in the runs.
    unresolved: u64,
    runs: Runs,
    /// How many states turned out to be duplicates since that was asked last.
    duplicates: u64,
}

/// How many fingerprints fit. While they are sorted the table is gone, and sorting takes 24 bytes for
/// each.
fn most(memory: u64) -> u64 {
    most_keys((memory / SLOT).clamp(FEWEST, 1 << 31) as usize) as u64
}

fn lock(folder: &Path) -> Result<File, DiskError> {
    let path = folder.join("lock");
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| DiskError::refused(&path, &error.to_string()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(DiskError::refused(folder, "is in use by another search"))
        }
        Err(TryLockError::Error(error)) => Err(DiskError::refused(&path, &error.to_string())),
    }
}

/// Checks that a folder can take a new search, and makes it if there is none.
fn make(folder: &Path) -> Result<(), DiskError> {
    let refused = |why: &str| DiskError::refused(folder, why);
    match fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) if Manifest::path(folder).exists() => Err(refused(
                "has a checkpoint already; go on with --resume, or choose another folder",
            )),
            Some(_) => Err(refused("is not empty; choose another folder")),
        },
        Err(_) if folder.exists() => Err(refused("is not a folder")),
        Err(_) => fs::create_dir_all(folder)
            .map_err(|error| refused(&format!("cannot be made: {error}; choose another folder"))),
    }
}

impl Store {
    /// Opens the files of a search, and says what its last checkpoint kept; none of a new search.
    pub(super) fn open(disk: &Disk<'_>) -> Result<(Store, Option<Manifest>), DiskError> {
        let folder = disk.folder;
        let kept = match disk.resume {
            false => {
                make(folder)?;
                None
            }
            true if !folder.is_dir() => return Err(DiskError::refused(folder, "is not a folder")),
            true => Some(Manifest::read(folder)?.ok_or_else(|| {
                DiskError::refused(folder, "has no checkpoint; start with --checkpoint")
            })?),
        };
        if let Some(kept) = &kept {
            same(folder, disk.identity, &kept.identity)?;
        }
        let lock = lock(folder)?;
        let new = Manifest::default();
        let manifest = kept.as_ref().unwrap_or(&new);
        let mut store = Store {
            folder: folder.into(),
            _lock: lock,
            parents: Log::open(&folder.join("parents"), manifest.parents)?,
            depth: manifest.depth,
            current: Level::open(folder, manifest.depth, manifest.current)?,
            reader: Reader::new(manifest.next, manifest.offset),
            following: Level::open(folder, manifest.depth + 1, manifest.following)?,
            table: KeyTable::new(false),
            most: most(disk.memory),
            recent: manifest.recent,
            unresolved: manifest.unresolved,
            runs: Runs::open(folder, &manifest.runs, manifest.next_run)?,
            duplicates: 0,
        };
        for entry in store.entries(store.recent)? {
            store.remember(print_of(&entry));
        }
        Ok((store, kept))
    }

    /// Adds a print to the table, unless it is there.
    fn remember(&mut self, print: u128) -> bool {
        self.table.reserve();
        match self.table.find(print) {
            Ok(_) => false,
            Err(slot) => {
                self.table.fill(slot, print, 0);
                true
            }
        }
    }

    /// Fetches the place of a print into the cache, without waiting for it.
    pub(super) fn prefetch(&self, print: u128) {
        self.table.prefetch(print);
    }

    /// Adds a state to the following level unless its print is known in memory. It may turn out to be
    /// a duplicate later: see [`Store::duplicates`].
    pub(super) fn admit(
        &mut self,
        (print, bytes): (u128, &[u8]),
        (parent, choice): (u64, u32),
    ) -> Result<bool, DiskError> {
        if !self.remember(print) {
            return Ok(false);
        }
        let mut record = [0; RECORD];
        record[..16].copy_from_slice(&print.to_be_bytes());
        record[16..24].copy_from_slice(&parent.to_le_bytes());
        record[24..].copy_from_slice(&choice.to_le_bytes());
        self.parents.append(&record)?;
        self.following.push(bytes)?;
        if self.following.end - self.recent >= self.most {
            self.spill()?;
        }
        Ok(true)
    }

    /// How many states turned out to be duplicates since this was asked last.
    pub(super) fn duplicates(&mut self) -> u64 {
        std::mem::take(&mut self.duplicates)
    }

    /// The prints of the states from a number on, sorted.
    fn entries(&mut self, from: u64) -> Result<Vec<Entry>, DiskError> {
        self.parents.flush()?;
        let end = self.parents.len() / RECORD as u64;
        let mut entries = Vec::with_capacity((end - from) as usize);
        let mut buffer = Vec::new();
        let mut at = from;
        while at < end {
            let count = RECORDS.min(end - at);
            buffer.resize(count as usize * RECORD, 0);
            self.parents.read_at(at * RECORD as u64, &mut buffer)?;
            let (records, _) = buffer.as_chunks::<RECORD>();
            let half = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().expect("eight bytes"));
            entries.extend(
                (at - from..).zip(records).map(|(number, record)| {
                    (half(&record[..8]), half(&record[8..16]), number as u32)
                }),
            );
            at += count;
        }
        entries.sort_unstable();
        Ok(entries)
    }

    /// Looks for the states of the following level that are only known to be new in memory in the
    /// runs, and marks those that are there.
    pub(super) fn resolve(&mut self) -> Result<(), DiskError> {
        if self.runs.is_empty() || self.unresolved == self.following.end {
            self.unresolved = self.following.end;
            return Ok(());
        }
        let from = self.unresolved;
        let entries = self.entries(from)?;
        self.look_up(&entries, from)
    }

    /// Marks those of the entries, numbered from `from` on, that are in a run.
    fn look_up(&mut self, entries: &[Entry], from: u64) -> Result<(), DiskError> {
        let Store { unresolved, following, runs, .. } = self;
        let unresolved = *unresolved;
        let numbered = entries.iter().map(|entry| (print_of(entry), from + u64::from(entry.2)));
        let asked = numbered.filter(|(_, number)| *number >= unresolved);
        let mut known = Vec::new();
        for run in runs.iter() {
            run.probe(asked.clone(), |number| known.push(number))?;
        }
        known.sort_unstable();
        known.dedup();
        for &number in &known {
            following.mark(number)?;
        }
        self.duplicates += known.len() as u64;
        self.unresolved = self.following.end;
        Ok(())
    }

    /// Writes the fingerprints in memory as a sorted run.
    fn spill(&mut self) -> Result<(), DiskError> {
        self.table = KeyTable::new(false);
        let from = self.recent;
        let entries = self.entries(from)?;
        self.look_up(&entries, from)?;
        self.runs.add(&self.folder, entries.iter().map(print_of))?;
        self.recent = self.following.end;
        Ok(())
    }

    /// Goes on to the following level.
    pub(super) fn advance(&mut self) -> Result<(), DiskError> {
        self.following.states.flush()?;
        let end = self.following.end;
        let new = LevelAbout { first: end, end, ..LevelAbout::default() };
        let next = Level::open(&self.folder, self.depth + 2, new)?;
        self.current = std::mem::replace(&mut self.following, next);
        self.reader = Reader::new(self.current.first, 0);
        self.depth += 1;
        Ok(())
    }

    /// The choices that lead to a state.
    pub(super) fn choices(&mut self, mut number: u64) -> Result<Vec<u32>, DiskError> {
        self.parents.flush()?;
        let mut choices = Vec::new();
        loop {
            let mut record = [0; RECORD];
            self.parents.read_at(number * RECORD as u64, &mut record)?;
            let parent = u64::from_le_bytes(*record[16..].first_chunk().expect("eight bytes"));
            if parent == ROOT {
                choices.reverse();
                return Ok(choices);
            }
            choices.push(u32::from_le_bytes(*record[24..].first_chunk().expect("four bytes")));
            number = parent;
        }
    }

    /// States that are known and not expanded.
    pub(super) fn waiting(&self) -> u64 {
        self.current.len_from(self.reader.next) + self.following.len_from(self.following.first)
    }

    /// Writes a checkpoint, and removes files that it does not need.
    pub(super) fn checkpoint(
        &mut self,
        identity: &str,
        (tally, ended): (Kept, Option<bool>),
    ) -> Result<(), DiskError> {
        self.parents.sync()?;
        self.current.sync()?;
        self.following.sync()?;
        let manifest = Manifest {
            identity: identity.into(),
            depth: self.depth,
            next: self.reader.next,
            offset: self.reader.offset,
            current: self.current.about(),
            following: self.following.about(),
            parents: self.parents.len(),
            recent: self.recent,
            unresolved: self.unresolved,
            runs: self.runs.about(),
            next_run: self.runs.next,
            tally,
            ended,
        };
        manifest.write(&self.folder)?;
        self.remove_unused()
    }

    /// Removes files of levels and runs that are behind.
    fn remove_unused(&self) -> Result<(), DiskError> {
        let depths = [self.depth, self.depth + 1].map(u64::from);
        let runs: Vec<u64> = self.runs.about().iter().map(|run| run.number).collect();
        let failed = DiskError::at(&self.folder);
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let parts = name.to_str().and_then(|name| name.split_once('-'));
            let Some((kind, Ok(number))) = parts.map(|(kind, rest)| (kind, rest.parse())) else {
                continue;
            };
            let unused = match kind {
                "level" | "duplicates" => !depths.contains(&number),
                "run" => !runs.contains(&number),
                _ => false,
            };
            if unused {
                fs::remove_file(entry.path()).map_err(DiskError::at(&entry.path()))?;
            }
        }
        Ok(())
    }
}

/// Checks that what is searched is what was.
fn same(folder: &Path, asked: &str, kept: &str) -> Result<(), DiskError> {
    let mut lines = asked.lines().zip(kept.lines());
    let differs = lines.find(|(asked, kept)| asked != kept);
    match differs {
        None if asked.lines().count() == kept.lines().count() => Ok(()),
        None => Err(DiskError::refused(folder, "is the checkpoint of another search")),
        Some((asked, kept)) => Err(DiskError::refused(
            folder,
            &format!("is the checkpoint of another search: its {kept}; this one's {asked}"),
        )),
    }
}
