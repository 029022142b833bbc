//! Peers with a memory: the same schedules with peers that were started anew must give the same
//! executions.
//!
//! What peers answered is cached by what was sent on each connection. A peer whose answers depend on
//! anything else, such as how many connections there were before, makes the cache wrong. A few
//! executions are run with the cache, and then once more, each with fresh peers.

use crate::error::Error;
use crate::execution::Execution;
use crate::worker::{Launch, Modules, Worker};
use everypath_shim_abi::{Command, Policy, Request, Setup};

/// What came of running executions again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// So many were the same.
    Alike(u64),
    /// One was not, in these words.
    Differs(String),
}

/// Runs up to so many random schedules with the answers that are known, and then with fresh peers,
/// as long as there is time; one is enough for a program with one thread and one execution.
pub fn repeat_with_fresh_peers(
    launch: &Launch,
    (seed, executions): (u64, u64),
    is_only: bool,
    is_time_left: impl Fn() -> bool,
) -> Result<Repeated, Error> {
    let setup = Setup { chronicle: true, ..launch.setup };
    let launch = &Launch { setup, ..launch.clone() };
    let mut worker = Worker::start(launch, &Modules::default())?;
    let run = |worker: &mut Worker, first| -> Result<Execution, Error> {
        // By random priorities, threads connect in either order about equally often.
        let (request, policy, depth, horizon) = (Request::Run, Policy::Pct, 2, 32);
        let schedule = Command { request, policy, depth, horizon, ..Command::default() };
        let command = Command { seed, first, count: 1, ..schedule };
        let reply = worker.ask_unless(command, &launch.control)?.ok_or(Error::Stopped)?;
        Ok(Execution::of(worker, &reply, first))
    };
    let mut known = Vec::new();
    for number in 0..executions {
        known.push(run(&mut worker, number)?);
        if is_only && worker.counters().threads <= 1 {
            break;
        }
    }
    let mut alike = 0;
    for (number, known) in (0..).zip(&known) {
        if alike > 0 && !is_time_left() {
            break;
        }
        launch.outside.renew_peers();
        let again = run(&mut worker, number)?;
        let said = || {
            let is_same = known.message_events == again.message_events;
            (!is_same).then(|| "another answer to the same request".into())
        };
        if let Some(difference) = known.difference(&again).or_else(said) {
            return Ok(Repeated::Differs(difference));
        }
        alike += 1;
    }
    Ok(Repeated::Alike(alike))
}
