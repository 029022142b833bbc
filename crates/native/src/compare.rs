//! `--verify`: the same schedules under every backend and restore method must give the same
//! executions. Memory that a snapshot misses shows here.

use crate::error::Error;
use crate::execution::Execution;
use crate::launch::Launch;
use crate::worker::{Modules, Worker};
use everypath_shim_abi::{Backend, Command, Outcome, Request, Restart, Setup};

/// A backend and a restore method, with their name.
type Way = (&'static str, Backend, Restart);

const REFERENCE: Way = ("fibers, copying", Backend::Fibers, Restart::Copy);
const OTHERS: [Way; 6] = [
    ("fibers, copying what was ever written", Backend::Fibers, Restart::Automatic),
    ("fibers, forking", Backend::Fibers, Restart::Fork),
    ("fibers, tracking", Backend::Fibers, Restart::Tracked),
    ("kernel threads, copying", Backend::Threads, Restart::Copy),
    ("kernel threads, copying what was ever written", Backend::Threads, Restart::Automatic),
    ("kernel threads, forking", Backend::Threads, Restart::Fork),
];

/// Runs `executions` random schedules in every way and compares them; the first difference, in
/// words, with the call that differs.
pub fn compare(launch: &Launch, seed: u64, executions: u64) -> Result<Option<String>, Error> {
    let modules = Modules::default();
    let reference = digests(launch, &modules, REFERENCE, seed, executions)?;
    // Processes of a system put their own memory back, by copying.
    let closed = !launch.companions.is_empty();
    for way in OTHERS.into_iter().filter(|way| !closed || way.2 == Restart::Copy) {
        let other = match digests(launch, &modules, way, seed, executions) {
            // A kernel without page tracking: one way less.
            Err(Error::Uncontrolled(_)) if way.2 == Restart::Tracked => continue,
            other => other?,
        };
        let differing = reference.iter().zip(&other).position(|(a, b)| a != b);
        if let Some(number) = differing {
            let difference = locate(launch, &modules, (REFERENCE, way), (seed, number as u64))?;
            return Ok(Some(format!("execution {number} with {}: {difference}", way.0)));
        }
    }
    Ok(None)
}

fn worker(launch: &Launch, modules: &Modules, way: Way) -> Result<Worker, Error> {
    let (_, backend, restart) = way;
    let setup = Setup { backend, restart, digest: true, ..launch.setup };
    Worker::start(&Launch { setup, ..launch.clone() }, modules)
}

/// The running hash after each execution.
fn digests(
    launch: &Launch,
    modules: &Modules,
    way: Way,
    seed: u64,
    executions: u64,
) -> Result<Vec<u64>, Error> {
    let mut worker = worker(launch, modules, way)?;
    let mut digests = Vec::new();
    for first in 0..executions {
        let command =
            Command { request: Request::Run, seed, first, count: 1, ..Command::default() };
        let reply = worker.ask(command)?;
        if matches!(reply.outcome, Outcome::Uncontrolled | Outcome::NeedsLibrary) {
            return Err(Error::Uncontrolled(Execution::of(&worker, &reply, first).text));
        }
        digests.push(reply.digest);
    }
    Ok(digests)
}

/// The first call in which two ways differ, after the executions before it.
fn locate(
    launch: &Launch,
    modules: &Modules,
    ways: (Way, Way),
    (seed, number): (u64, u64),
) -> Result<String, Error> {
    let run = |way| -> Result<Execution, Error> {
        let mut worker = worker(launch, modules, way)?;
        let mut last = None;
        for first in 0..=number {
            let command =
                Command { request: Request::Run, seed, first, count: 1, ..Command::default() };
            last = Some(worker.ask(command)?);
        }
        let reply = last.expect("at least one execution was run");
        Ok(Execution::of(&worker, &reply, number))
    };
    let difference = run(ways.0)?.difference(&run(ways.1)?);
    Ok(difference.unwrap_or_else(|| "the executions before it left something behind".into()))
}
