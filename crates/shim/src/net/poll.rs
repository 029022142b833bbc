//! Readiness: `poll`, `select`, and the wakeups of blocked calls.

use super::{Blocking, Call, End, Kind, Object, Stage, Unfinished, Want, failed, object};
use super::{
    epoll, event, faults, in_flight, joint, partitioned, partner, peer, send_queue, stream,
    transfer, udp_clients, until_done,
};
use crate::descriptors::{self, Kind as OpenKind};
use crate::memory::{load, store, write, zero};
use crate::run_state::{Common, MAX_WATCHED, RunState};
use crate::state::state;
use crate::sys::errno;
use core::mem::offset_of;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use everypath_shim_abi::{
    self as abi, FaultLimit, MAX_THREADS, Operation, PackedOperation, PollScope, Sight,
};

/// The bits of `poll`, which are those of `epoll` too.
pub(super) const IN: u32 = 0x1;
pub(super) const OUT: u32 = 0x4;
pub(super) const ERROR: u32 = 0x8;
pub(super) const HANG_UP: u32 = 0x10;
const INVALID: u32 = 0x20;
/// Normal data, which is what `select` asks about.
pub(super) const NORMAL_IN: u32 = 0x40;
pub(super) const NORMAL_OUT: u32 = 0x100;
pub(super) const READ_HANG_UP: u32 = 0x2000;

/// What can happen to an object at once.
pub(super) fn of_object(number: usize) -> u32 {
    let object = object(number);
    let events = match object.kind.get() {
        Kind::Stream => of_stream(number),
        Kind::Pipe => of_pipe(object),
        Kind::Datagram => {
            udp_clients::invite(number);
            let is_coming = object.waiting() > 0 || send_queue::waiting(number).is_some();
            let is_seen = object.sight.get() != Sight::Waits;
            let has_data = is_coming || is_seen || object.shut_receiving.get();
            let failed = object.error.get() != 0;
            OUT | if has_data || failed { IN } else { 0 } | if failed { ERROR } else { 0 }
        }
        Kind::Event => event::ready(object),
        Kind::Timer => {
            if event::expirations(object) > 0 {
                IN
            } else {
                0
            }
        }
        Kind::Epoll => {
            if epoll::has_ready(number) {
                IN
            } else {
                0
            }
        }
        Kind::Outbox | Kind::Free => INVALID,
    };
    let also = |given: u32, normal: u32| if events & given != 0 { normal } else { 0 };
    events | also(IN, NORMAL_IN) | also(OUT, NORMAL_OUT)
}

fn of_stream(number: usize) -> u32 {
    let socket = object(number);
    match socket.stage.get() {
        Stage::Fresh => return OUT | HANG_UP,
        Stage::Listening => {
            let waiting = socket.waiting() > 0 || peer::has_client(number);
            return if waiting { IN } else { 0 };
        }
        Stage::Over => {
            let failed = if socket.error.get() != 0 { ERROR } else { 0 };
            return IN | OUT | HANG_UP | READ_HANG_UP | failed;
        }
        Stage::Awaiting => return 0,
        Stage::Connecting | Stage::Connected => {}
    }
    let (waiting, end, room) = if peer::is_remote(socket) {
        let (waiting, end) = peer::readiness(socket);
        (waiting, end, true)
    } else {
        let room = partner(socket).is_none_or(|other| transfer::has_space(socket, object(other)));
        (socket.waiting() > 0, socket.partner_end.get(), room)
    };
    let over = end != End::Open || socket.shut_receiving.get();
    let both = over && (socket.shut_sending.get() || end == End::Gone);
    let is_gone = match peer::is_remote(socket) {
        true => socket.sight.get() == Sight::Gone,
        false => super::is_unix(socket) && partner(socket).is_none(),
    };
    let bit = |set: bool, bits: u32| if set { bits } else { 0 };
    bit(waiting || over, IN)
        | bit(over, READ_HANG_UP)
        | bit(room || socket.shut_sending.get(), OUT)
        | bit(both || is_gone, HANG_UP)
        | bit(socket.error.get() != 0 || socket.sight.get() == Sight::Broken, ERROR)
}

fn of_pipe(end: &Object) -> u32 {
    let reads = end.shut_sending.get();
    match partner(end) {
        Some(other) if !reads => {
            if transfer::has_space(end, object(other)) {
                OUT
            } else {
                0
            }
        }
        None if !reads => OUT | ERROR,
        other => {
            let waiting = if end.waiting() > 0 { IN } else { 0 };
            waiting | if other.is_none() { HANG_UP } else { 0 }
        }
    }
}

/// What can happen to a descriptor at once.
pub(super) fn of_descriptor(descriptor: i32) -> u32 {
    match descriptors::get(descriptor).map(core::cell::Cell::get) {
        None => INVALID,
        Some(open) if open.kind == OpenKind::Object => of_object(usize::from(open.index)),
        Some(_) => IN | OUT | NORMAL_IN | NORMAL_OUT,
    }
}

/// Whether a wait is over.
pub(super) fn is_satisfied(want: Want) -> bool {
    match want {
        Want::Nothing => false,
        Want::Ready { number, events } => {
            of_object(usize::from(number)) & (events | ERROR | HANG_UP | READ_HANG_UP) != 0
        }
        Want::Space { number, length } => transfer::can_send(usize::from(number), length as usize),
        Want::Room { listener } => stream::has_room(object(usize::from(listener))),
        Want::Poll { entries, count } => (0..count).any(|at| poll_entry(entries + at * ENTRY) != 0),
        Want::Select { sets, count } => select_entries(sets, count, |_, _| {}) > 0,
        Want::Somebody { kind, key } => descriptors::object_numbers().any(|number| {
            let object = object(number);
            object.kind.get() == kind
                && object.local.get().is_some()
                && object.local.get().key() == key
                && (kind == Kind::Datagram
                    || object.stage.get() == Stage::Listening && stream::has_room(object))
        }),
        Want::Reachable { from, key } => partitioned::is_reachable(from.into(), key),
        Want::OneOf { thread, count } => {
            let watched = &WATCHED[usize::from(thread)];
            let is_ready = |entry: u64| of_object((entry >> 32) as usize) & entry as u32 != 0;
            usize::from(count) > MAX_WATCHED
                || watched[..count.into()].iter().any(|entry| is_ready(entry.load(Relaxed)))
        }
    }
}

/// For each thread, the objects that it waits for, each above the events that it wants.
static WATCHED: Common<[[AtomicU64; MAX_WATCHED]; MAX_THREADS]> =
    Common::at(offset_of!(RunState, watched));

/// What a thread waits for, in terms that every process understands: that descriptors and the
/// memory of this one do not mean anything to others.
pub(super) fn known_to_all(want: Want) -> Want {
    if !crate::multi_process::is_one_of_several() {
        return want;
    }
    let thread = state().current.get();
    let mut count = 0;
    let mut watch = |descriptor: i32, events: u32| {
        let open = descriptors::get(descriptor).map(core::cell::Cell::get);
        if let Some(open) = open.filter(|open| open.kind == OpenKind::Object) {
            if let Some(entry) = WATCHED[usize::from(thread)].get(count) {
                entry.store(u64::from(open.index) << 32 | u64::from(events), Relaxed);
            }
            count += 1;
        }
    };
    match want {
        Want::Poll { entries, count } => (0..count).map(|at| entries + at * ENTRY).for_each(|at| {
            watch(load(at), u32::from(load::<u16>(at + 4)) | ERROR | HANG_UP | INVALID);
        }),
        Want::Select { sets, count } => each_selected(sets, count, &mut watch),
        other => return other,
    }
    Want::OneOf { thread, count: count.min(usize::from(u16::MAX)) as u16 }
}

/// Calls `each` with every descriptor in three sets, and what is wanted of it.
fn each_selected(sets: usize, count: usize, mut each: impl FnMut(i32, u32)) {
    for descriptor in 0..count {
        for (which, events) in SELECTED.into_iter().enumerate() {
            let byte: u8 = load(sets + which * SET + descriptor / 8);
            if byte >> (descriptor % 8) & 1 != 0 {
                each(descriptor as i32, events);
            }
        }
    }
}

/// The size of a `struct pollfd`.
const ENTRY: usize = 8;

/// What to say of an entry of `poll`.
fn poll_entry(entry: usize) -> u32 {
    let descriptor: i32 = load(entry);
    if descriptor < 0 {
        return 0;
    }
    let wanted = u32::from(load::<u16>(entry + 4));
    of_descriptor(descriptor) & (wanted | ERROR | HANG_UP | INVALID)
}

/// What a call that looks at several descriptors touches: one object that is only read from, or
/// everything that is sent and received.
fn touched(mut descriptors: impl Iterator<Item = (i32, u32)>) -> abi::Object {
    let only = |(descriptor, events): (i32, u32)| {
        let number = descriptors::object_now(descriptor).ok()?;
        let plain = matches!(object(number).kind.get(), Kind::Stream | Kind::Datagram | Kind::Pipe)
            && object(number).stage.get() != Stage::Listening;
        (plain && events & (OUT | NORMAL_OUT) == 0).then(|| super::touches(number))
    };
    match (descriptors.next(), descriptors.next()) {
        (Some(first), None) => only(first).unwrap_or_default(),
        _ => abi::Object::NONE,
    }
}

/// Calls `each` with every object that a wait is about, by number.
fn each_watched(want: Want, each: &mut dyn FnMut(usize)) {
    each_wanted(want, &mut |number, _| each(number));
}

/// Calls `each` with every object that a wait is about, by number, and with the events that are
/// waited for, as far as they are named.
pub(super) fn each_wanted(want: Want, each: &mut dyn FnMut(usize, u32)) {
    let mut watch = |descriptor: i32, events: u32| {
        if let Ok(number) = descriptors::object_now(descriptor) {
            with_entries((number, events), each);
        }
    };
    match want {
        Want::Nothing | Want::Room { .. } | Want::Somebody { .. } | Want::Reachable { .. } => {}
        Want::OneOf { thread, count } => {
            let watched = &WATCHED[usize::from(thread)];
            for entry in watched.iter().take(count.into()).map(|entry| entry.load(Relaxed)) {
                with_entries(((entry >> 32) as usize, entry as u32), each);
            }
        }
        Want::Ready { number, events } => with_entries((usize::from(number), events), each),
        Want::Space { number, .. } => with_entries((usize::from(number), OUT), each),
        Want::Poll { entries, count } => {
            let entries = (0..count).map(|at| entries + at * ENTRY);
            entries.for_each(|entry| watch(load(entry), u32::from(load::<u16>(entry + 4))));
        }
        Want::Select { sets, count } => each_selected(sets, count, watch),
    }
}

/// Calls `each` with an object, and with what it watches if it is an `epoll`.
fn with_entries((number, events): (usize, u32), each: &mut dyn FnMut(usize, u32)) {
    each(number, events);
    if object(number).kind.get() == Kind::Epoll {
        epoll::watched(number).for_each(|watched| with_entries(watched, each));
    }
}

/// When the earliest timer expires that a wait is about.
pub(super) fn next_expiry(want: Want) -> Option<u64> {
    let mut earliest = None;
    each_watched(want, &mut |number| {
        let timer = object(number);
        if let (Kind::Timer, Some(expiry)) = (timer.kind.get(), event::next_expiry(timer)) {
            earliest = Some(earliest.map_or(expiry, |other: u64| other.min(expiry)));
        }
    });
    earliest
}

/// Whether a wait is about datagrams.
pub(super) fn is_about_datagrams(want: Want) -> bool {
    let mut found = false;
    each_watched(want, &mut |number| found |= object(number).kind.get() == Kind::Datagram);
    found
}

/// Whether messages to clients are in flight from a polled socket.
pub(super) fn speaks_to_clients(want: Want) -> bool {
    let mut found = false;
    each_watched(want, &mut |number| found |= send_queue::speaks_to_clients(number));
    found
}

/// Whether something is on its way to what a wait is about, or on its way from there and may be
/// answered.
pub(super) fn has_traffic(want: Want) -> bool {
    let mut found = false;
    each_watched(want, &mut |number| {
        let socket = object(number);
        let is_changed = socket.error.get() != 0 || socket.shut_receiving.get();
        let is_coming = socket.waiting() > 0 || send_queue::waiting(number).is_some();
        let may_come = udp_clients::may_come(socket) || joint::datagrams::hears(socket);
        let is_quiet = !is_changed && !is_coming && !may_come;
        found |= socket.kind.get() == Kind::Datagram && !is_quiet;
    });
    found
}

/// Whether a wait is about an object.
pub(super) fn is_about(want: Want, number: usize) -> bool {
    let mut found = false;
    each_watched(want, &mut |watched| found |= watched == number);
    found
}

/// Decides the fates of the messages in flight to a polled socket.
pub(super) fn settle(want: Want) {
    each_watched(want, &mut |number| {
        if object(number).kind.get() == Kind::Datagram {
            send_queue::settle(number);
        }
    });
}

/// Time is over: what do peers say by themselves that were not told anything for so many
/// nanoseconds? Says whether any of them does.
pub(super) fn hear(want: Want, nanoseconds: u64) -> bool {
    let mut heard = false;
    each_watched(want, &mut |number| heard |= peer::silence(number, nanoseconds));
    if is_about_datagrams(want) {
        heard |= udp_clients::keep_silent(nanoseconds);
    }
    heard
}

/// What a call that looks at several descriptors is, and the value that goes with it: what becomes
/// of messages may be decided by it.
pub(super) fn looking(want: Want) -> PackedOperation {
    let mut decides = false;
    each_watched(want, &mut |number| decides |= in_flight::decides(number));
    match has_door(want) {
        true => Operation::Arrive(FaultLimit::Shared).pack(),
        false if decides => Operation::Arrive(in_flight::limit()).pack(),
        false => Operation::Poll(PollScope::default()).pack(),
    }
}

/// Whether clients may send something to what a wait is about.
pub(super) fn has_door(want: Want) -> bool {
    let mut found = false;
    each_watched(want, &mut |number| {
        found |= udp_clients::is_door(object(number)) || udp_clients::may_come(object(number));
    });
    found
}

/// How long a call waits that was given milliseconds; less than 0 is for ever.
pub(super) fn milliseconds(timeout: i32) -> Blocking {
    match timeout {
        0 => Blocking::None,
        ..0 => Blocking::Forever,
        some => Blocking::Until(state().clock.get() + some as u64 * 1_000_000),
    }
}

/// How long a call waits that was given seconds and parts of seconds, or nothing.
pub(super) fn duration(at: usize, unit: u64) -> Result<Blocking, i32> {
    if at == 0 {
        return Ok(Blocking::Forever);
    }
    let [seconds, parts] = load::<[i64; 2]>(at);
    if seconds < 0 || parts < 0 {
        return Err(errno::EINVAL);
    }
    let nanoseconds = (seconds as u64).saturating_mul(1_000_000_000) + parts as u64 * unit;
    Ok(match nanoseconds {
        0 => Blocking::None,
        some => Blocking::Until(state().clock.get().saturating_add(some)),
    })
}

/// Does what the system calls do.
pub(super) fn poll(entries: usize, count: usize, patience: Blocking) -> Result<isize, i32> {
    let all = || (0..count).map(|at| entries + at * ENTRY);
    let touches = touched(
        all().map(|entry| (load(entry), u32::from(load::<u16>(entry + 4)))).filter(|e| e.0 >= 0),
    );
    faults::interrupt(patience != Blocking::None)?;
    let want = Want::Poll { entries, count };
    let operation = looking(want);
    let call = Call { operation, touches, want, through: None, patience };
    or_none_ready(call, || {
        let ready = all().filter(|&entry| {
            let events = poll_entry(entry);
            store(entry + 6, events as u16);
            events != 0
        });
        ready.count()
    })
}

/// Counts what is ready until there is something; that nothing was in time is no failure.
pub(super) fn or_none_ready(call: Call, count: impl Fn() -> usize) -> Result<isize, i32> {
    let outcome = until_done(call, || {
        let looked = joint::look(call.want, call.patience).map(|()| count() as isize);
        (looked != Ok(0)).then_some(looked)
    });
    match outcome {
        Ok(ready) => ready,
        Err(Unfinished::WouldWait | Unfinished::TimedOut) => Ok(0),
        Err(unfinished) => Err(failed(unfinished)),
    }
}

/// A set of `select` has a bit for each of these.
const SET: usize = 128;
/// What each of the three sets asks for.
const SELECTED: [u32; 3] = [IN | HANG_UP | ERROR, OUT | ERROR, 0x2];

/// Whether one of three sets, one after the other at `sets`, contains a descriptor.
fn is_selected(sets: usize, descriptor: usize) -> bool {
    let (byte, bit) = (descriptor / 8, descriptor % 8);
    (0..3).any(|which| load::<u8>(sets + which * SET + byte) >> bit & 1 != 0)
}

/// Counts what is ready in three sets, one after the other at `sets`; says which.
fn select_entries(sets: usize, count: usize, mut each: impl FnMut(usize, usize)) -> isize {
    let mut ready = 0;
    for descriptor in 0..count {
        for (which, events) in SELECTED.into_iter().enumerate() {
            let byte: u8 = load(sets + which * SET + descriptor / 8);
            if byte >> (descriptor % 8) & 1 != 0 && of_descriptor(descriptor as i32) & events != 0 {
                ready += 1;
                each(which, descriptor);
            }
        }
    }
    ready
}

/// Does what the system calls do.
pub(super) fn select(count: usize, given: [usize; 3], patience: Blocking) -> Result<isize, i32> {
    if (count as i32) < 0 {
        return Err(errno::EINVAL);
    }
    let count = count.min(SET * 8);
    let bytes = count.div_ceil(64) * 8;
    let mut copies = [0u8; 3 * SET];
    for (which, &set) in given.iter().enumerate().filter(|(_, set)| **set != 0) {
        copies[which * SET..][..bytes].copy_from_slice(crate::memory::bytes(set, bytes));
    }
    let sets = copies.as_ptr() as usize;
    let watched =
        || (0..count).filter(|&at| is_selected(sets, at)).map(|descriptor| descriptor as i32);
    if watched().any(|descriptor| descriptors::found(descriptor).is_none()) {
        return Err(errno::EBADF);
    }
    let touches = touched(watched().map(|descriptor| {
        let at = descriptor as usize;
        let writes = load::<u8>(sets + SET + at / 8) >> (at % 8) & 1 != 0;
        (descriptor, if writes { OUT } else { IN })
    }));
    faults::interrupt(patience != Blocking::None)?;
    let want = Want::Select { sets, count };
    let operation = looking(want);
    let call = Call { operation, touches, want, through: None, patience };
    let ready = or_none_ready(call, || select_entries(sets, count, |_, _| {}) as usize)?;
    given.iter().filter(|&&set| set != 0).for_each(|&set| zero(set, bytes));
    if ready > 0 {
        select_entries(sets, count, |which, descriptor| {
            let set = given[which];
            let at = set + descriptor / 8;
            write(at, &[load::<u8>(at) | 1 << (descriptor % 8)]);
        });
    }
    Ok(ready)
}
