//! What a checkpoint consists of: one small file, replaced as a whole, that says how much of the others
//! is valid.

use super::DiskError;
use super::level::LevelAbout;
use super::runs::RunAbout;
use crate::{Canonical, Counts};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// What every manifest begins with, and the version of the format.
const MAGIC: &[u8; 8] = b"everyckp";
const VERSION: u32 = 1;

/// A checkpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Manifest {
    /// What is searched, and by which program.
    pub(super) identity: String,
    /// The depth of the level that is being expanded, the next of its states, and where that begins.
    pub(super) depth: u32,
    pub(super) next: u64,
    pub(super) offset: u64,
    pub(super) current: LevelAbout,
    pub(super) following: LevelAbout,
    /// The bytes of the file of parents.
    pub(super) parents: u64,
    /// The first state whose fingerprint is not in a run, and the first that was not looked for in the
    /// runs.
    pub(super) recent: u64,
    pub(super) unresolved: u64,
    pub(super) runs: Vec<RunAbout>,
    pub(super) next_run: u64,
    pub(super) tally: Kept,
    /// Whether the search is over, and if so whether by a violation.
    pub(super) ended: Option<bool>,
}

crate::canonical!(struct Manifest {
    identity, depth, next, offset, current, following, parents, recent, unresolved, runs, next_run,
    tally, ended,
});

/// What was counted and found.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Kept {
    /// The counts, in the order of the fields of [`Counts`].
    pub(super) counts: Vec<u64>,
    pub(super) by_property: Vec<u64>,
    pub(super) by_event: Vec<u64>,
    /// Violations and witnesses: the number of the property, and the choices.
    pub(super) found: Vec<(u64, Vec<u32>)>,
    pub(super) witnesses: Vec<(u64, Vec<u32>)>,
    /// States before the last violation that were taken and not expanded.
    pub(super) rest: u64,
}

crate::canonical!(struct Kept { counts, by_property, by_event, found, witnesses, rest });

impl Kept {
    pub(super) fn set_counts(&mut self, counts: &Counts) {
        let Counts { states, stored, events, safe, unsafe_events, tree, non_tree, .. } = *counts;
        let Counts { deepest, dead_ends, depth, violations, .. } = *counts;
        self.counts = vec![states, stored, events, safe, unsafe_events, tree, non_tree];
        self.counts.extend([deepest, dead_ends, depth.into(), violations]);
        self.by_property = counts.by_property.clone();
    }

    pub(super) fn counts(&self) -> Counts {
        let of = |number: usize| self.counts.get(number).copied().unwrap_or_default();
        Counts {
            states: of(0),
            stored: of(1),
            events: of(2),
            safe: of(3),
            unsafe_events: of(4),
            tree: of(5),
            non_tree: of(6),
            deepest: of(7),
            dead_ends: of(8),
            depth: of(9) as u32,
            violations: of(10),
            by_property: self.by_property.clone(),
        }
    }
}

impl Manifest {
    pub(super) fn path(folder: &Path) -> PathBuf {
        folder.join("manifest")
    }

    fn draft(folder: &Path) -> PathBuf {
        folder.join("manifest.new")
    }

    /// Replaces the manifest of a folder, if it can, or leaves it as it is.
    pub(super) fn write(&self, folder: &Path) -> Result<(), DiskError> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        self.write_body(&mut bytes);
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        let (draft, path) = (Manifest::draft(folder), Manifest::path(folder));
        let write = || {
            let mut file = File::create(&draft)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(&draft, &path)?;
            File::open(folder)?.sync_all()
        };
        write().map_err(DiskError::at(&path))
    }

    fn write_body(&self, bytes: &mut Vec<u8>) {
        Canonical::write(self, bytes);
    }

    /// Reads the manifest of a folder; none if there is none.
    pub(super) fn read(folder: &Path) -> Result<Option<Manifest>, DiskError> {
        let path = Manifest::path(folder);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(DiskError::refused(&path, &error.to_string())),
        };
        let unfit = |why: &str| DiskError::refused(&path, why);
        let Some((magic, rest)) = bytes.split_first_chunk::<8>() else {
            return Err(unfit("is not a checkpoint of everypath"));
        };
        let Some((version, rest)) = rest.split_first_chunk::<4>().filter(|_| magic == MAGIC) else {
            return Err(unfit("is not a checkpoint of everypath"));
        };
        let version = u32::from_le_bytes(*version);
        if version != VERSION {
            return Err(unfit(&format!(
                "is of version {version}, and this everypath reads version {VERSION}; resume with \
                 the one that wrote it, or start again"
            )));
        }
        let Some((mut body, sum)) = rest.split_last_chunk::<8>() else {
            return Err(unfit("is damaged: it is cut off"));
        };
        if xxh3_64(&bytes[..bytes.len() - 8]) != u64::from_le_bytes(*sum) {
            return Err(unfit("is damaged: its checksum is another"));
        }
        let mut manifest = Manifest::default();
        manifest.read_body(&mut body);
        Ok(Some(manifest))
    }

    fn read_body(&mut self, bytes: &mut &[u8]) {
        Canonical::read(self, bytes);
    }
}
