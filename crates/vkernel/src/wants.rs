//! What a blocked call waits for, and whether that is there.

use crate::fd_table::{self, Kind as OpenKind};
use crate::host::{Host, Thread};
use crate::object::{Kind, Stage};
use crate::readiness::{ERROR, HANG_UP, INVALID, OUT, READ_HANG_UP, of_object};
use crate::state::{MAX_WATCHED, Want};
use crate::{
    arrival, epoll, eventfd, in_flight, joint, lifetime, partition, peer_time, poll, select,
    send_queue, stream, tcp, timerfd, udp_clients,
};
use core::cell::Cell;
use core::sync::atomic::Ordering::Relaxed;
use everypath_shim_abi::{FaultLimit, Operation, PackedOperation, PollScope};

/// Whether a wait is over, or will be as soon as somebody looks.
pub(crate) fn is_satisfied(k: &impl Host, want: Want) -> bool {
    is_met(k, want) || arrival::is_coming(k, want)
}

/// Whether what is waited for is there.
pub(crate) fn is_met(k: &impl Host, want: Want) -> bool {
    match want {
        Want::Nothing => false,
        Want::Ready { number, events } => {
            of_object(k, usize::from(number)) & (events | ERROR | HANG_UP | READ_HANG_UP) != 0
        }
        Want::Space { number, length } => stream::can_send(k, usize::from(number), length as usize),
        Want::Counter { number, added } => eventfd::fits(k.object(usize::from(number)), added),
        Want::Room { listener } => tcp::has_room(k.object(usize::from(listener))),
        Want::Poll { entries, count } => {
            poll::entries(k, entries, count).any(|entry| poll::ready(k, entry) != 0)
        }
        Want::Select { sets, count } => select::count_ready(k, sets, count) > 0,
        Want::Somebody { kind, key } => fd_table::object_numbers(k).any(|number| {
            let object = k.object(number);
            object.kind.get() == kind
                && object.local.get().is_some()
                && object.local.get().key() == key
                && (kind == Kind::Datagram
                    || object.stage.get() == Stage::Listening && tcp::has_room(object))
        }),
        Want::Reachable { from, key } => partition::is_reachable(k, from.into(), key),
        Want::OneOf { thread, count } => {
            let watched = k.watched(thread);
            let is_ready = |entry: u64| of_object(k, (entry >> 32) as usize) & entry as u32 != 0;
            usize::from(count) > MAX_WATCHED
                || watched[..count.into()].iter().any(|entry| is_ready(entry.load(Relaxed)))
        }
    }
}

/// What a thread waits for, in terms that every process understands: that descriptors and the
/// memory of this one do not mean anything to others.
pub(crate) fn known_to_all(k: &impl Host, want: Want) -> Want {
    if !k.is_one_of_several() {
        return want;
    }
    let thread = k.current().number();
    let mut count = 0;
    let mut watch = |descriptor: i32, events: u32| {
        let open = fd_table::get(k, descriptor).map(Cell::get);
        if let Some(open) = open.filter(|open| open.kind == OpenKind::Object) {
            if let Some(entry) = k.watched(thread).get(count) {
                entry.store(u64::from(open.index) << 32 | u64::from(events), Relaxed);
            }
            count += 1;
        }
    };
    match want {
        Want::Poll { entries, count } => {
            let also = ERROR | HANG_UP | INVALID;
            poll::entries(k, entries, count)
                .for_each(|(descriptor, events)| watch(descriptor, events | also));
        }
        Want::Select { sets, count } => select::each_selected(k, sets, count, &mut watch),
        other => return other,
    }
    Want::OneOf { thread, count: count.min(usize::from(u16::MAX)) as u16 }
}

/// Whether a blocked thread waits for clients: for a connection, or for a datagram of anybody.
pub fn awaits_clients(k: &impl Host, thread: &impl Thread) -> bool {
    let mut any = false;
    each_watched(k, thread.task().want.get(), &mut |number| {
        any |= lifetime::is_open_to_clients(k, k.object(number));
    });
    any
}

/// Calls `each` with every object that a wait is about, by number.
pub(crate) fn each_watched(k: &impl Host, want: Want, each: &mut dyn FnMut(usize)) {
    each_wanted(k, want, &mut |number, _| each(number));
}

/// Calls `each` with every object that a wait is about, by number, and with the events that are
/// waited for, as far as they are named.
pub(crate) fn each_wanted(k: &impl Host, want: Want, each: &mut dyn FnMut(usize, u32)) {
    let mut watch = |descriptor: i32, events: u32| {
        if let Ok(number) = fd_table::object_now(k, descriptor) {
            with_entries(k, (number, events), each);
        }
    };
    match want {
        Want::Nothing | Want::Room { .. } | Want::Somebody { .. } | Want::Reachable { .. } => {}
        Want::OneOf { thread, count } => {
            let watched = k.watched(thread);
            for entry in watched.iter().take(count.into()).map(|entry| entry.load(Relaxed)) {
                with_entries(k, ((entry >> 32) as usize, entry as u32), each);
            }
        }
        Want::Ready { number, events } => with_entries(k, (usize::from(number), events), each),
        Want::Space { number, .. } | Want::Counter { number, .. } => {
            with_entries(k, (usize::from(number), OUT), each);
        }
        Want::Poll { entries, count } => {
            poll::entries(k, entries, count)
                .for_each(|(descriptor, events)| watch(descriptor, events));
        }
        Want::Select { sets, count } => select::each_selected(k, sets, count, watch),
    }
}

/// Calls `each` with an object, and with what it watches if it is an `epoll`.
fn with_entries(k: &impl Host, (number, events): (usize, u32), each: &mut dyn FnMut(usize, u32)) {
    each(number, events);
    if k.object(number).kind.get() == Kind::Epoll {
        epoll::watched(k, number).for_each(|watched| with_entries(k, watched, each));
    }
}

/// When the earliest timer expires that a wait is about.
pub(crate) fn next_expiry(k: &impl Host, want: Want) -> Option<u64> {
    let mut earliest = None;
    each_watched(k, want, &mut |number| {
        let timer = k.object(number);
        if let (Kind::Timer, Some(expiry)) = (timer.kind.get(), timerfd::next_expiry(k, timer)) {
            earliest = Some(earliest.map_or(expiry, |other: u64| other.min(expiry)));
        }
    });
    earliest
}

/// Whether a wait is about datagrams.
pub(crate) fn is_about_datagrams(k: &impl Host, want: Want) -> bool {
    let mut found = false;
    each_watched(k, want, &mut |number| found |= k.object(number).kind.get() == Kind::Datagram);
    found
}

/// Whether messages to clients are in flight from a polled socket.
pub(crate) fn speaks_to_clients(k: &impl Host, want: Want) -> bool {
    let mut found = false;
    each_watched(k, want, &mut |number| found |= send_queue::speaks_to_clients(k, number));
    found
}

/// Whether something is on its way to what a wait is about, or on its way from there and may be
/// answered.
pub(crate) fn has_traffic(k: &impl Host, want: Want) -> bool {
    let mut found = false;
    each_watched(k, want, &mut |number| {
        let socket = k.object(number);
        let is_changed = socket.error.get() != 0 || socket.shut_receiving.get();
        let is_coming = socket.waiting() > 0 || send_queue::waiting(k, number).is_some();
        let may_come = udp_clients::may_come(k, socket) || joint::datagrams::hears(k, socket);
        let is_quiet = !is_changed && !is_coming && !may_come;
        found |= socket.kind.get() == Kind::Datagram && !is_quiet;
    });
    found
}

/// Whether a wait is about an object.
pub(crate) fn is_about(k: &impl Host, want: Want, number: usize) -> bool {
    let mut found = false;
    each_watched(k, want, &mut |watched| found |= watched == number);
    found
}

/// Decides the fates of the messages in flight to a polled socket.
pub(crate) fn settle(k: &impl Host, want: Want) {
    each_watched(k, want, &mut |number| {
        if k.object(number).kind.get() == Kind::Datagram {
            send_queue::settle(k, number);
        }
    });
}

/// Time is over: what do peers say by themselves that were not told anything for so many
/// nanoseconds? Says whether any of them does.
pub(crate) fn hear(k: &impl Host, want: Want, nanoseconds: u64) -> bool {
    let mut heard = peer_time::pass(k, want, k.clock());
    if is_about_datagrams(k, want) {
        heard |= udp_clients::keep_silent(k, nanoseconds);
    }
    heard
}

/// What a call that looks at several descriptors is, and the value that goes with it: what becomes
/// of messages may be decided by it.
pub(crate) fn looking(k: &impl Host, want: Want) -> PackedOperation {
    let mut decides = false;
    each_watched(k, want, &mut |number| decides |= in_flight::decides(k, number));
    match has_door(k, want) {
        true => Operation::Arrive(FaultLimit::Shared).pack(),
        false if decides => Operation::Arrive(in_flight::limit(k)).pack(),
        false => Operation::Poll(PollScope::default()).pack(),
    }
}

/// Whether clients may send something to what a wait is about.
pub(crate) fn has_door(k: &impl Host, want: Want) -> bool {
    let mut found = false;
    each_watched(k, want, &mut |number| {
        found |=
            udp_clients::is_door(k.object(number)) || udp_clients::may_come(k, k.object(number));
    });
    found
}
