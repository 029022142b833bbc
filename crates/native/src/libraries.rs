//! Libraries that a program loads while it runs: they are learnt, and loaded before `main`.

use crate::error::Error;
use crate::execution::{Execution, Explored};
use crate::launch::{Launch, Library};
use crate::worker::{Modules, Worker};
use everypath_shim_abi::{Command, Outcome, Request, Setup};
use std::sync::Arc;

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
