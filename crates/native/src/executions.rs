//! A sequence of executions, each passed to an observer.

use crate::error::Error;
use crate::execution::Execution;
use crate::launch::Launch;
use crate::worker::{Modules, Worker};
use everypath_shim_abi::{Command, Request};

/// Executions with schedules chosen at random, without end.
#[derive(Debug)]
pub struct Executions {
    worker: Worker,
    seed: u64,
    next: u64,
}

/// Starts a program whose executions are then run as they are asked for.
///
/// Execution number `n` of a seed is the one that [`crate::sample`] runs.
pub fn executions(launch: &Launch, seed: u64) -> Result<Executions, Error> {
    let worker = Worker::start(launch, &Modules::default())?;
    Ok(Executions { worker, seed, next: 0 })
}

impl Iterator for Executions {
    type Item = Result<Execution, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (seed, first) = (self.seed, self.next);
        let command =
            Command { request: Request::Run, seed, first, count: 1, ..Command::default() };
        self.next += 1;
        let reply = self.worker.ask(command);
        Some(reply.map(|reply| Execution::of(&self.worker, &reply, first)))
    }
}
