//! Late answers: when something that a peer did becomes visible is a choice of the network's.
//!
//! A peer is asked as soon as the program sends something, but its answer may take any time. So
//! what came of it is hidden until a call looks for it. What a call finds belongs to its step: the
//! answer is there, or not yet. A call that waits for nothing else and for ever finds it in any
//! case, so it has no choice to make; whatever happens between the request and the answer, happens
//! before that call then. Others can tell: those that do not wait, wait for some time only, or wait
//! for several things.
//!
//! What is late is looked for again by the next call, at most [`PATIENT_LOOKS`] times in a row.

use crate::blocking::{Blocking, Call, PATIENT_LOOKS};
use crate::footprint::touches;
use crate::host::{Host, Thread};
use crate::object::{Arrivals, Kind, Object, Stage, WAVES};
use crate::readiness::{IN, NORMAL_IN, READ_HANG_UP};
use crate::state::Want;
use crate::trees::Trees;
use crate::wakeup::happened;
use crate::{faults, in_flight, joint, peer, send_queue, udp_clients, wants};
use everypath_commtree::End;
use everypath_shim_abi::{Completion, Delivered, Delivery, Operation, OperationKind, TimeMode};

/// Whether arrivals are choices in this check.
fn are_chosen(k: &impl Host) -> bool {
    k.setup().late_answers && !joint::is_on(k) && !k.is_one_of_several()
}

/// Whether a call that waits for ever may be interrupted before an answer arrives.
pub(crate) fn may_be_interrupted(k: &impl Host) -> bool {
    are_chosen(k) && k.setup().time != TimeMode::Quiescent && k.is_alarm_set()
}

/// To be called when a peer may have answered on a connection.
pub(crate) fn answered(k: &impl Host, socket: &Object) {
    if !are_chosen(k) {
        return;
    }
    let mut arrivals = socket.arrivals.get();
    let total = k.trees().received(socket.remote.get().position);
    let waiting = usize::from(arrivals.waiting);
    let known = waiting.checked_sub(1).map_or(arrivals.shown, |last| arrivals.waves[last].into());
    if total > known {
        arrivals.waves[waiting.min(WAVES - 1)] = total as u32;
        arrivals.waiting = (waiting + 1).min(WAVES) as u16;
        socket.arrivals.set(arrivals);
    }
}

/// How many bytes of a connection have arrived since its beginning.
pub(crate) fn shown(k: &impl Host, socket: &Object) -> u64 {
    if are_chosen(k) { socket.arrivals.get().shown } else { u64::MAX }
}

/// How many bytes will have arrived when a call looks that waits for them.
pub(crate) fn shown_soon(k: &impl Host, socket: &Object) -> u64 {
    let arrivals = socket.arrivals.get();
    let is_next = arrivals.waiting > 0 && arrivals.shown == socket.remote.get().reader.0;
    if are_chosen(k) && is_next { arrivals.waves[0].into() } else { shown(k, socket) }
}

/// Whether the end of a connection is on its way.
pub(crate) fn is_end_hidden(k: &impl Host, socket: &Object) -> bool {
    are_chosen(k)
        && socket.arrivals.get().ended == 0
        && k.trees().peer_end(socket.remote.get().position) != End::Open
}

/// Whether something is on its way to an object that nobody has seen.
pub(crate) fn is_hidden(k: &impl Host, number: usize) -> bool {
    if !are_chosen(k) {
        return false;
    }
    let object = k.object(number);
    let arrivals = object.arrivals.get();
    match (object.kind.get(), object.stage.get()) {
        (Kind::Stream, Stage::Listening) => {
            arrivals.shown <= u64::from(object.accepted.get())
                && object.waiting() == 0
                && peer::has_client(k, number)
        }
        (Kind::Stream, _) => {
            peer::is_remote(object)
                && !peer::is_reset(object)
                && (arrivals.waiting > 0 || is_end_hidden(k, object))
        }
        (Kind::Datagram, _) => {
            udp_clients::invite(k, number);
            let is_coming = match in_flight::oldest(k, number) {
                Some(head) => head.is_foreign && !in_flight::is_decided(k, number),
                None => send_queue::waiting(k, number).is_some(),
            };
            is_coming && arrivals.shown <= u64::from(object.left.get())
        }
        _ => false,
    }
}

/// What there is at an object, as a number: it differs when more is.
fn extent(k: &impl Host, number: usize) -> u64 {
    let object = k.object(number);
    match (object.kind.get(), object.stage.get()) {
        (Kind::Stream, Stage::Listening) => u64::from(object.accepted.get()) + 1,
        (Kind::Stream, _) => {
            let position = object.remote.get().position;
            let is_over = k.trees().peer_end(position) != End::Open;
            (k.trees().received(position) << 1 | u64::from(is_over)) + 1
        }
        _ => {
            let sent = send_queue::of(k, number).map_or(0, |outbox| k.object(outbox).entered.get());
            (u64::from(object.entered.get()) << 32 | u64::from(sent)) + 1
        }
    }
}

/// Whether something is on its way that somebody has looked for in vain.
fn is_refused_at(k: &impl Host, number: usize) -> bool {
    is_hidden(k, number) && k.object(number).arrivals.get().refused == extent(k, number)
}

fn any(k: &impl Host, want: Want, holds: impl Fn(usize) -> bool) -> bool {
    let mut found = false;
    if are_chosen(k) {
        wants::each_wanted(k, want, &mut |number, events| {
            found |= concerns(k, number, events) && holds(number);
        });
    }
    found
}

/// Whether a wait for these events is about what is on its way.
fn concerns(k: &impl Host, number: usize, events: u32) -> bool {
    let object = k.object(number);
    events & (IN | NORMAL_IN | READ_HANG_UP) != 0
        || peer::is_remote(object) && is_end_hidden(k, object)
}

/// Whether a look decides when something arrives.
pub(crate) fn is_decided_by(k: &impl Host, want: Want) -> bool {
    any(k, want, |number| is_hidden(k, number))
}

/// Whether something is on its way that nobody has looked for yet.
pub(crate) fn is_coming(k: &impl Host, want: Want) -> bool {
    any(k, want, |number| is_hidden(k, number) && !is_refused_at(k, number))
}

/// Whether a wait has looked in vain for what is on its way.
pub(crate) fn is_refused(k: &impl Host, want: Want) -> bool {
    any(k, want, |number| is_refused_at(k, number))
}

/// Who looks may lose a datagram: what comes next is on its way by itself.
pub(crate) fn lost(k: &impl Host, number: usize) {
    let object = k.object(number);
    let shown = object.left.get().into();
    object.arrivals.set(Arrivals { shown, ..object.arrivals.get() });
}

/// How a call looks.
#[derive(Clone, Copy, Debug)]
struct Look {
    /// The bytes that it reads from a stream at most; none if it only looks.
    reads: Option<u64>,
    /// Whether it reads all of them or waits.
    reads_all: bool,
    /// Whether it finds what it waits for in any case.
    lasts: bool,
}

/// Decides what has arrived when a call looks for it; all that is waited for, if it must.
pub(crate) fn look(k: &impl Host, call: &Call, must: bool) {
    let task = k.current().task();
    task.outcome.set(k.current().outcome());
    let mut hidden = 0;
    if are_chosen(k) {
        wants::each_wanted(k, call.want, &mut |number, events| {
            hidden += usize::from(concerns(k, number, events) && is_hidden(k, number));
        });
    }
    if hidden == 0 {
        return;
    }
    let transfer = task.transfer.get();
    let reads = call.operation.kind() == OperationKind::Receive && transfer.object != 0;
    let is_timed = k.setup().time != TimeMode::Quiescent
        && (call.deadline(k).is_some() || may_be_interrupted(k));
    let how = Look {
        reads: reads.then_some(transfer.length.into()),
        reads_all: reads && !transfer.divisible,
        lasts: must || call.patience != Blocking::None && !is_timed,
    };
    let mut finds = wants::is_met(k, call.want);
    wants::each_wanted(k, call.want, &mut |number, events| {
        if concerns(k, number, events) && is_hidden(k, number) {
            hidden = hidden.saturating_sub(1);
            let may_be_late = !how.lasts || finds || hidden > 0;
            finds |= decide(k, number, (events, how), may_be_late);
        }
    });
}

/// Lets the search choose how much of what is on its way to an object has arrived; whether
/// anything has.
fn decide(k: &impl Host, number: usize, (events, look): (u32, Look), may_be_late: bool) -> bool {
    let object = k.object(number);
    let arrivals = object.arrivals.get();
    let is_stream = object.kind.get() == Kind::Stream && object.stage.get() != Stage::Listening;
    let unread = if is_stream { peer::available(k, object) as u64 } else { 0 };
    let (first, last) = match is_stream {
        true => stages(k, object, events, look),
        false => (1, 1),
    };
    let is_struck = faults::are_explored(k) && k.current().task().outcome.get() != 0;
    if is_stream && look.reads.is_some() && is_struck {
        show(k, number, all(k, object));
        return true;
    }
    let may_be_late = may_be_late && !is_settled(k, object);
    let is_overdue = arrivals.refusals >= PATIENT_LOOKS;
    if may_be_late && is_overdue {
        k.count_overdue();
    }
    let may_find_none = unread > 0 || may_be_late && !is_overdue;
    let some = last + 1 - first;
    let ways = some + usize::from(may_find_none);
    let outcome = match ways {
        0 => return unread > 0,
        1 => 0,
        ways => usize::from(k.choose(Operation::Deliver(ways as u32), touches(k, number))),
    };
    // The soonest first.
    let arrives = outcome < some;
    if arrives {
        show(k, number, last - outcome);
    } else if unread == 0 {
        let (refused, refusals) = (extent(k, number), arrivals.refusals + 1);
        object.arrivals.set(Arrivals { refused, refusals, ..object.arrivals.get() });
    }
    if ways > 1 {
        let delivery = if arrives { Delivery::Answer } else { Delivery::Delayed };
        let delivered = Delivered { delivery, to_peer: false };
        k.complete(&[OperationKind::Deliver], Completion::Delivered(delivered));
    }
    arrives || unread > 0
}

/// Whether what is on its way must have arrived: time passes only when nothing else can happen, and has
/// passed since.
fn is_settled(k: &impl Host, object: &Object) -> bool {
    k.setup().time == TimeMode::Quiescent && object.answered_at.get() < k.clock()
}

/// How many things are on their way on a connection: answers, and its end.
fn all(k: &impl Host, socket: &Object) -> usize {
    usize::from(socket.arrivals.get().waiting) + usize::from(is_end_hidden(k, socket))
}

/// How many of the things that are on their way on a connection may arrive, at least and at most,
/// as far as a look can tell; more than at most if it cannot tell at all.
fn stages(k: &impl Host, socket: &Object, events: u32, look: Look) -> (usize, usize) {
    let arrivals = socket.arrivals.get();
    let (waves, all) = (usize::from(arrivals.waiting), all(k, socket));
    let unread = arrivals.shown - socket.remote.get().reader.0;
    match look.reads {
        Some(_) if look.reads_all && look.lasts => (all, all),
        // Who has read enough, or finds the end behind something, sees no difference.
        Some(wanted) if unread >= wanted => (1, 0),
        Some(wanted) => {
            let read = socket.remote.get().reader.0;
            let short = |&&wave: &&u32| u64::from(wave) - read < wanted;
            let enough = arrivals.waves[..waves].iter().take_while(short).count() + 1;
            match waves {
                0 if unread > 0 => (1, 0),
                0 => (1, 1),
                _ => (1, enough.min(waves)),
            }
        }
        None if unread > 0 && all == waves => (1, 0),
        None => {
            let sees_end = events & READ_HANG_UP != 0 || socket.shut_sending.get();
            match (all > waves && sees_end, unread > 0) {
                (true, true) => (all, all),
                (true, false) => (1, all),
                (false, true) => (1, 0),
                _ => (1, 1),
            }
        }
    }
}

/// Lets so many things arrive that are on their way.
fn show(k: &impl Host, number: usize, count: usize) {
    let object = k.object(number);
    let mut arrivals = object.arrivals.get();
    match (object.kind.get(), object.stage.get()) {
        (Kind::Stream, Stage::Listening) => arrivals.shown = u64::from(object.accepted.get()) + 1,
        (Kind::Stream, _) => {
            let waves = count.min(arrivals.waiting.into());
            if let Some(last) = waves.checked_sub(1) {
                arrivals.shown = arrivals.waves[last].into();
                arrivals.waves.copy_within(waves.., 0);
                arrivals.waves[WAVES - waves..].fill(0);
                arrivals.waiting -= waves as u16;
            }
            arrivals.ended |= u32::from(count > waves);
        }
        _ => arrivals.shown = u64::from(object.left.get()) + 1,
    }
    arrivals.refusals = 0;
    arrivals.refused = 0;
    object.arrivals.set(arrivals);
    happened(k, number);
}

/// Decides what has arrived when a call looks that neither waits nor takes anything.
pub(crate) fn glance(k: &impl Host, number: usize) {
    if is_hidden(k, number) {
        let look = Look { reads: None, reads_all: false, lasts: false };
        decide(k, number, (IN, look), true);
    }
}
