//! What did not happen in the executions of a program that violates nothing: a server that nobody
//! connects to holds, and that says little.

use crate::error::Error;
use crate::execution::Execution;
use crate::launch::Launch;
use crate::worker::{Modules, Worker};
use everypath_shim_abi::{
    Command, IdleMode, NoticeKind, OperationKind, Outcome, Request, Setup, Waiting,
};

/// What did not happen, a sentence each. Of a program that is alone, one execution is looked at; of
/// peers it is known what they were not asked.
pub fn absences(launch: &Launch, seed: u64) -> Result<Vec<String>, Error> {
    let mut absent = launch.outside.absences();
    if !launch.outside.is_empty() || !launch.companions.is_empty() {
        return Ok(absent);
    }
    // The threads of an execution that ends as expected are not described.
    let setup = Setup { idle: IdleMode::Violation, ..launch.setup };
    let mut worker = Worker::start(&Launch { setup, ..launch.clone() }, &Modules::default())?;
    let reply =
        worker.ask(Command { request: Request::Run, seed, count: 1, ..Command::default() })?;
    if worker.notices().iter().any(|notice| notice.what == NoticeKind::EmptyInput) {
        absent.push("standard input, which it reads, is empty".into());
    }
    if reply.outcome == Outcome::Idle {
        absent.extend(awaited(&Execution::of(&worker, &reply, 0)));
    }
    Ok(absent)
}

/// What an execution that ended waiting for others waits for, if the program did nothing itself by which
/// that could have come.
fn awaited(execution: &Execution) -> Option<String> {
    use OperationKind as Kind;
    let tried = |kinds: &[Kind]| execution.events.iter().any(|event| kinds.contains(&event.kind()));
    let connected = tried(&[Kind::Connect, Kind::ConnectQueued]);
    let sent = tried(&[Kind::Send, Kind::SendWhole]);
    let waits = execution.threads.iter().filter(|entry| entry.waiting == Waiting::Network);
    let what = waits.map(|entry| match entry.operation {
        Kind::Accept | Kind::AcceptQueued | Kind::AwaitConnection => {
            (!connected).then_some("a connection that never came")
        }
        Kind::Poll => (!connected && !sent).then_some("a descriptor that never became ready"),
        Kind::Receive | Kind::ReceiveAny | Kind::AwaitBytes => {
            (!sent).then_some("data that never came")
        }
        _ => None,
    });
    let what = what.flatten().next()?;
    Some(format!("it waits for {what}: let a program connect by --peer or --with"))
}
