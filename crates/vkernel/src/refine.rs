//! What the next step of a thread turns out to be.

use crate::host::{Host, Thread};
use crate::object::{Kind, Object};
use crate::state::Transfer;
use crate::{arrival, faults, joint, partition, peer, stream, tcp, udp, wants};
use everypath_shim_abi::{FaultLimit, Moved, Operation, OperationKind, PollScope};

/// The connection with a peer that a thread is about to send or receive on, and how many bytes at
/// most, if it can be told how many it were.
pub(crate) fn divisible<'a>(k: &'a impl Host, thread: &impl Thread) -> Option<(&'a Object, usize)> {
    let Transfer { object: number, divisible, length, .. } = thread.task().transfer.get();
    let socket = k.object(usize::from(number).checked_sub(1)?);
    (divisible && peer::is_remote(socket)).then_some((socket, length as usize))
}

/// What the next step of a thread turns out to be, now: whether it gets all that it asks for, and
/// how many bytes will have been put in or taken out then.
pub fn refined(k: &impl Host, thread: &impl Thread) -> Option<Operation> {
    match thread.kind() {
        OperationKind::Connect | OperationKind::Accept if k.is_one_of_several() => {
            return tcp::queueing(k, thread);
        }
        // A look that finds nothing decides nothing.
        OperationKind::Arrive if !wants::has_traffic(k, thread.task().want.get()) => {
            let clients = wants::has_door(k, thread.task().want.get());
            return Some(Operation::Poll(PollScope { clients, arrivals: true }));
        }
        // A look decides when late answers arrive.
        OperationKind::Poll if arrival::is_decided_by(k, thread.task().want.get()) => {
            return Some(Operation::Arrive(FaultLimit::None));
        }
        OperationKind::Close => return tcp::closing(k, thread).map(Operation::Close),
        OperationKind::Shutdown => return tcp::closing(k, thread).map(Operation::Shutdown),
        _ => {}
    }
    let Transfer { object: number, waits, length, divisible } = thread.task().transfer.get();
    let number = usize::from(number).checked_sub(1)?;
    let length = length as usize;
    if joint::datagrams::hears(k, k.object(number)) {
        // Receiving is one look at what others sent, whatever else there is.
        let looks = thread.kind() == OperationKind::Receive;
        return looks.then_some(Operation::ReceiveWhole(Moved::Unknown));
    }
    if matches!(k.object(number).kind.get(), Kind::Datagram | Kind::Outbox) {
        if partition::is_lost(k, thread, k.object(number)) {
            return None;
        }
        return udp::refined(k, thread.kind(), number, (waits, length));
    }
    match thread.kind() {
        // What is there does not depend on what others do at the same time.
        OperationKind::Receive if joint::is_joint(k, k.object(number)) => {
            Some(Operation::ReceiveWhole(Moved::Unknown))
        }
        OperationKind::Send if waits && !stream::can_send(k, number, length) => {
            Some(Operation::AwaitSpace)
        }
        // A connection may break before, while or after its bytes are awaited.
        OperationKind::Receive if divisible && faults::may_reset(k, k.object(number)) => None,
        OperationKind::Receive
            if waits && !stream::can_receive(k, number) && !arrival::is_hidden(k, number) =>
        {
            Some(Operation::AwaitBytes)
        }
        OperationKind::Send => Some(stream::sending(k, number, length)),
        // A non-blocking call observes that nothing is there, so every arrival is dependent.
        OperationKind::Receive if waits => Some(stream::receiving(k, number, length)),
        _ => None,
    }
}
