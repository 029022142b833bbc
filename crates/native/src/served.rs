//! Which addresses the programs of a closed system serve.
//!
//! Processes start at the same time, but people start servers first, so a connection waits until somebody
//! listens, and is refused only when nothing else can happen. If then several wait, one of them may be a
//! server that first looks for somebody who is not there: to refuse a client of that server instead would
//! be an alarm that no user could make sense of.

use crate::error::Error;
use crate::execution::is_final;
use crate::launch::Launch;
use crate::worker::{Modules, Worker};
use everypath_shim_abi::{Command, MAX_SERVED, ObjectKind, OperationKind, Outcome, Request, Setup};
use std::collections::BTreeSet;
use std::sync::Arc;

/// So many random executions are looked at; every one refuses in an order of its own.
const SCOUTS: u64 = 12;

/// The system, with the addresses at which its programs listen in some executions: a function of the
/// programs alone, so a replay finds the same ones.
pub fn with_served_addresses(launch: &Launch) -> Result<Launch, Error> {
    if launch.companions.is_empty() {
        return Ok(launch.clone());
    }
    let setup = Setup { scouts: true, memory: false, ..launch.setup };
    // What these executions reach, the search need not.
    let (armed, reached) = (Arc::default(), Arc::default());
    let scouting = Launch { setup, armed, reached, ..launch.clone() };
    let mut worker = Worker::start(&scouting, &Modules::default())?;
    let mut found = BTreeSet::new();
    for first in 0..SCOUTS {
        let command = Command { request: Request::Run, first, count: 1, ..Command::default() };
        let reply = worker.ask(command)?;
        if is_final(reply.outcome) || reply.outcome == Outcome::TooLong {
            break;
        }
        found.extend(worker.events().iter().filter_map(|event| match event.object.kind() {
            ObjectKind::Address(number) if event.kind() == OperationKind::Listen => Some(number),
            _ => None,
        }));
    }
    let mut served = [0; MAX_SERVED];
    served.iter_mut().zip(found).for_each(|(place, address)| *place = address);
    Ok(Launch { setup: Setup { served, ..launch.setup }, ..launch.clone() })
}
