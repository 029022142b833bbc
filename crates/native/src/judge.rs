//! Properties of the output and the files of executions.
//!
//! Each content is judged once, however many executions leave it: most searches end in few.

use crate::error::Error;
use crate::oracle::{Oracle, Said};
use crate::shim::memory_file;
use everypath_shim_abi::{EVENT, FOLDER, FileHeader, REGULAR};
use everypath_trace::Control;
use everypath_trace::Violation;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A file in the scratch directory: the folder that the program runs in, as the program sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedFile {
    /// Where: relative to the folder when it is put there, absolute when it is found there.
    pub path: PathBuf,
    /// Its permissions.
    pub mode: u32,
    /// Whether it is a folder.
    pub folder: bool,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What an execution left behind, but for its files.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) hash: u128,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// Each ends with a zero.
    pub(crate) notes: Vec<u8>,
}

/// What the events that programs note are compared with.
pub trait Specification: fmt::Debug + Send + Sync {
    /// What is wrong with the events of an execution, a JSON object each, if anything; an error says why
    /// that cannot be told.
    fn judge(&self, events: &[&str]) -> Result<Option<String>, String>;

    /// What was compared so far.
    fn compared(&self) -> Compared;
}

/// What was compared with a specification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// The name of the specification.
    pub model: String,
    /// How many different sequences of events, without those that are empty.
    pub logs: u64,
    /// How many events these have.
    pub events: u64,
}

/// The properties, and what is known already.
#[derive(Debug, Default)]
pub struct Judge {
    /// What standard output must be, and the name of that.
    expected: Option<(String, Vec<u8>)>,
    oracle: Option<Oracle>,
    specification: Option<Arc<dyn Specification>>,
    known: Mutex<BTreeMap<u128, Option<Violation>>>,
}

impl Judge {
    /// Standard output must be exactly `bytes`, which are called `name`.
    pub fn expect_stdout(self, name: String, bytes: Vec<u8>) -> Self {
        Judge { expected: Some((name, bytes)), ..self }
    }

    /// `command` must end with code 0, run by a shell in a copy of what the program left behind in
    /// `scratch`, its folder. Copies are made in `temporary` and removed even if we are killed.
    pub fn ask(self, command: String, scratch: PathBuf, temporary: &Path) -> Result<Self, Error> {
        let oracle = Oracle::new(command, scratch, temporary)?;
        Ok(Judge { oracle: Some(oracle), ..self })
    }

    /// The events that programs note must be as a specification allows.
    pub fn refine(self, specification: Arc<dyn Specification>) -> Self {
        Judge { specification: Some(specification), ..self }
    }

    /// Whether events are judged.
    pub(crate) fn refines(&self) -> bool {
        self.specification.is_some()
    }

    /// Whether output and files are judged.
    pub(crate) fn judges_output(&self) -> bool {
        self.expected.is_some() || self.oracle.is_some()
    }

    /// Forgets what was said about a content.
    pub(crate) fn forget(&self, left: &Left) {
        self.known.lock().expect("nobody panics while holding it").remove(&left.hash);
    }

    /// What is wrong, if anything; breaks off if somebody stops the search.
    pub(crate) fn judge(
        &self,
        left: &Left,
        files: &mut File,
        control: &Control,
    ) -> Result<ControlFlow<(), Option<Violation>>, Error> {
        // A worker with the same content waits for the verdict of the first.
        let mut known = self.known.lock().expect("nobody panics while holding it");
        if let Some(judgement) = known.get(&left.hash) {
            return Ok(ControlFlow::Continue(judgement.clone()));
        }
        let mut judgement = self.expected.as_ref().and_then(|(name, expected)| {
            let message = difference(name, expected, &left.stdout)?;
            Some(Violation { property: "stdout".into(), message, ..Violation::default() })
        });
        if let (None, Some(specification)) = (&judgement, &self.specification) {
            let notes = String::from_utf8_lossy(&left.notes);
            let is_event = |note: &&str| note.as_bytes().first() == Some(&EVENT);
            let events: Vec<&str> = notes.split('\0').filter(is_event).collect();
            let refused = specification.judge(&events).map_err(Error::Oracle)?;
            judgement = refused.map(|message| Violation {
                property: "refinement".into(),
                message,
                ..Violation::default()
            });
        }
        if let (None, Some(oracle)) = (&judgement, &self.oracle) {
            let found = left_files(files)
                .map_err(|error| Error::System { what: "read what the program wrote", error })?;
            judgement = match oracle.ask(left, &found, control)? {
                Said::Stopped => return Ok(ControlFlow::Break(())),
                Said::Right => None,
                Said::Wrong(message) => {
                    Some(Violation { property: "oracle".into(), message, ..Violation::default() })
                }
            };
        }
        known.insert(left.hash, judgement.clone());
        Ok(ControlFlow::Continue(judgement))
    }
}

/// A description of the first difference.
fn difference(name: &str, expected: &[u8], actual: &[u8]) -> Option<String> {
    if expected == actual {
        return None;
    }
    let mut lines = expected.split(|&byte| byte == b'\n').zip(actual.split(|&byte| byte == b'\n'));
    let same = lines.by_ref().take_while(|(a, b)| a == b).count();
    let line = |bytes: &[u8]| match bytes.split(|&byte| byte == b'\n').nth(same) {
        Some(b"") if !bytes.is_empty() && bytes.split(|&b| b == b'\n').count() == same + 1 => {
            "the end".into()
        }
        Some(line) => {
            let text = String::from_utf8_lossy(line);
            let short: String = text.chars().take(80).collect();
            format!("`{short}`")
        }
        None => "the end without a newline".into(),
    };
    Some(format!(
        "standard output differs from {name} in line {}: {} instead of {}",
        same + 1,
        line(actual),
        line(expected)
    ))
}

/// Files as the shim takes them over.
pub(crate) fn placed(files: &[PlacedFile]) -> io::Result<File> {
    let mut memory = memory_file(c"everypath-files")?;
    // Folders come before what is in them.
    let folders: BTreeSet<&Path> = files
        .iter()
        .flat_map(|file| file.path.ancestors().skip(1))
        .filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())
        .collect();
    for folder in folders {
        write_file(&mut memory, folder, FOLDER | 0o755, &[])?;
    }
    for file in files {
        write_file(&mut memory, &file.path, REGULAR | file.mode, &file.bytes)?;
    }
    Ok(memory)
}

fn write_file(memory: &mut File, path: &Path, mode: u32, bytes: &[u8]) -> io::Result<()> {
    let path = path.as_os_str().as_bytes();
    memory.write_all(&mode.to_ne_bytes())?;
    memory.write_all(&(path.len() as u32 + 1).to_ne_bytes())?;
    memory.write_all(&(bytes.len() as u64).to_ne_bytes())?;
    memory.write_all(path)?;
    memory.write_all(&[0])?;
    memory.write_all(bytes)
}

/// Files as the shim has handed them over.
fn left_files(memory: &mut File) -> io::Result<Vec<PlacedFile>> {
    let mut bytes = Vec::new();
    memory.rewind()?;
    memory.read_to_end(&mut bytes)?;
    let mut rest = &bytes[..];
    let mut files = Vec::new();
    while !rest.is_empty() {
        let header = read_header(&mut rest)?;
        let path = take(&mut rest, header.path_length as usize)?;
        let bytes = take(&mut rest, header.length as usize)?.to_vec();
        let path = path.strip_suffix(&[0]).unwrap_or(path);
        files.push(PlacedFile {
            path: std::ffi::OsStr::from_bytes(path).into(),
            mode: header.mode & 0o7777,
            folder: header.mode & FOLDER != 0,
            bytes,
        });
    }
    Ok(files)
}

fn take<'a>(from: &mut &'a [u8], count: usize) -> io::Result<&'a [u8]> {
    from.split_off(..count).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

fn read_header(from: &mut &[u8]) -> io::Result<FileHeader> {
    let word = |bytes: &[u8]| u32::from_ne_bytes(bytes.try_into().expect("four bytes"));
    Ok(FileHeader {
        mode: word(take(from, 4)?),
        path_length: word(take(from, 4)?),
        length: u64::from_ne_bytes(take(from, 8)?.try_into().expect("eight bytes")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_told() {
        let check = |expected: &str, actual: &str, said: &str| {
            let message = difference("f", expected.as_bytes(), actual.as_bytes());
            assert_eq!(message.as_deref().unwrap_or("none"), said);
        };
        let differs = "standard output differs from f in line";
        check("a\nb\n", "a\nb\n", "none");
        check("a\nb\n", "a\nc\n", &format!("{differs} 2: `c` instead of `b`"));
        check("a\nb\n", "a\n", &format!("{differs} 2: the end instead of `b`"));
        check("a\n", "a\nb\n", &format!("{differs} 2: `b` instead of the end"));
        check("a\n", "", &format!("{differs} 1: `` instead of `a`"));
        check("a\n", "a", &format!("{differs} 2: the end without a newline instead of the end"));
    }

    #[test]
    fn what_is_put_down_is_found() {
        let file = |path: &str, bytes: &[u8]| PlacedFile {
            path: path.into(),
            mode: 0o640,
            folder: false,
            bytes: bytes.to_vec(),
        };
        let files = [file("a", b"one\0two"), file("never/there/b", b"")];
        let read = left_files(&mut placed(&files).unwrap()).unwrap();
        let folders = ["never", "never/there"].map(|path| PlacedFile {
            mode: 0o755,
            folder: true,
            ..file(path, b"")
        });
        assert_eq!(read, [&folders[..], &files[..]].concat());
    }
}
