//! Libraries that a program loads while it runs: they are learnt, and loaded before `main`.

use crate::error::Error;
use crate::execution::{Execution, Explored};
use crate::region::Mapping;
use crate::worker::{Launch, Modules, Worker};
use everypath_shim_abi::{Command, Outcome, Request, Setup};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A library, and how the program loads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// The flags of `dlopen`.
    pub flags: i32,
    /// Its name, as the program gives it.
    pub name: String,
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.flags, self.name)
    }
}

impl FromStr for Library {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once(':').and_then(|(flags, name)| {
            let is_name = !name.is_empty() && !name.contains('\0');
            Some((flags.parse().ok()?, name)).filter(|_| is_name)
        });
        let (flags, name) = parts.ok_or_else(|| {
            format!(
                "{text:?}: is not a library; give the flags of dlopen and the name, such as \
                 2:/usr/lib/libz.so.1"
            )
        })?;
        Ok(Library { flags, name: name.into() })
    }
}

/// Tells the shim which libraries to load.
pub(crate) fn list_libraries(region: &Mapping, libraries: &[Library]) {
    let mut list: Vec<u8> = Vec::new();
    for Library { flags, name } in libraries {
        list.extend(flags.to_le_bytes());
        list.extend(name.as_bytes());
        list.push(0);
    }
    // What does not fit is asked for again, and refused then.
    for (cell, byte) in region.libraries.iter().zip(list) {
        cell.set(byte);
    }
}

/// The library that an execution ended for, if it did.
fn wanted(execution: &Execution) -> Option<Library> {
    (execution.outcome == Outcome::NeedsLibrary)
        .then(|| Library { flags: execution.detail, name: execution.text.clone() })
}

/// The program with the libraries that it turned out to load, if that ended a search: single executions
/// are run until one ends otherwise, since most libraries are loaded at the start. None if the search
/// ended for another reason.
pub fn with_learnt_libraries(
    launch: &Launch,
    explored: &Explored,
    seed: u64,
) -> Result<Option<Launch>, Error> {
    let ended = explored.first.as_ref().or(explored.contradiction.as_ref());
    let Some(first) = ended.and_then(wanted) else { return Ok(None) };
    let mut learnt = launch.clone();
    learnt.libraries.push(first);
    let modules = Modules::unpatched();
    loop {
        let setup = Setup { memory: false, ..learnt.setup };
        let (armed, reached) = (Arc::default(), Arc::default());
        let trial = Launch { setup, armed, reached, ..learnt.clone() };
        let mut worker = Worker::start(&trial, &modules)?;
        let command = Command { request: Request::Run, seed, count: 1, ..Command::default() };
        let reply = worker.ask(command)?;
        match wanted(&Execution::of(&worker, &reply, 0)) {
            Some(next) => learnt.libraries.push(next),
            None => return Ok(Some(learnt)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Library;

    #[test]
    fn libraries_are_read_as_they_are_written() {
        let library = Library { flags: 0x102, name: "/lib/x.so:1".into() };
        assert_eq!(library.to_string().parse(), Ok(library));
        for bad in ["", "2:", "x:/lib/x.so", "/lib/x.so"] {
            assert!(bad.parse::<Library>().is_err(), "{bad}");
        }
    }
}
