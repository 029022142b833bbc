//! Readiness: what can happen to an object at once.

use crate::fd_table::{self, Kind as OpenKind};
use crate::host::Host;
use crate::object::{End, Kind, Object, Stage, is_unix, partner};
use crate::{arrival, epoll, eventfd, peer, send_queue, stream, timerfd, udp_clients};
use core::cell::Cell;
use everypath_shim_abi::Sight;

/// The bits of `poll`, which are those of `epoll` too.
pub(crate) const IN: u32 = 0x1;
pub(crate) const OUT: u32 = 0x4;
pub(crate) const ERROR: u32 = 0x8;
pub(crate) const HANG_UP: u32 = 0x10;
pub(crate) const INVALID: u32 = 0x20;
/// Normal data, which is what `select` asks about.
pub(crate) const NORMAL_IN: u32 = 0x40;
pub(crate) const NORMAL_OUT: u32 = 0x100;
pub(crate) const READ_HANG_UP: u32 = 0x2000;

/// What can happen to an object at once.
pub(crate) fn of_object(k: &impl Host, number: usize) -> u32 {
    let object = k.object(number);
    let events = match object.kind.get() {
        Kind::Stream => of_stream(k, number),
        Kind::Pipe => of_pipe(k, object),
        Kind::Datagram => {
            udp_clients::invite(k, number);
            let is_sent = object.waiting() > 0 || send_queue::waiting(k, number).is_some();
            let is_coming = is_sent && !arrival::is_hidden(k, number);
            let is_seen = object.sight.get() != Sight::Waits;
            let has_data = is_coming || is_seen || object.shut_receiving.get();
            let failed = object.error.get() != 0;
            let over = object.shut_receiving.get();
            let bit = |set: bool, bits: u32| if set { bits } else { 0 };
            OUT | bit(has_data || failed, IN)
                | bit(failed, ERROR)
                | bit(over, READ_HANG_UP)
                | bit(over && object.shut_sending.get(), HANG_UP)
        }
        Kind::Event => eventfd::ready(object),
        Kind::Timer => {
            if timerfd::expirations(k, object) > 0 {
                IN
            } else {
                0
            }
        }
        Kind::Epoll => {
            if epoll::has_ready(k, number) {
                IN
            } else {
                0
            }
        }
        Kind::Outbox | Kind::Free => INVALID,
    };
    // Counters have no data that could be urgent or not.
    if matches!(object.kind.get(), Kind::Event | Kind::Timer) {
        return events;
    }
    let also = |given: u32, normal: u32| if events & given != 0 { normal } else { 0 };
    events | also(IN, NORMAL_IN) | also(OUT, NORMAL_OUT)
}

fn of_stream(k: &impl Host, number: usize) -> u32 {
    let socket = k.object(number);
    match socket.stage.get() {
        Stage::Fresh => return OUT | HANG_UP,
        Stage::Listening => {
            let comes = || peer::has_client(k, number) && !arrival::is_hidden(k, number);
            let waiting = socket.waiting() > 0 || comes();
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
        let (waiting, end) = peer::readiness(k, socket);
        (waiting, end, true)
    } else {
        let room = partner(socket).is_none_or(|other| stream::has_space(socket, k.object(other)));
        (socket.waiting() > 0, socket.partner_end.get(), room)
    };
    let over = end != End::Open || socket.shut_receiving.get();
    // Who does not receive lets the other end of a Unix socket send no more.
    let is_refused = is_unix(socket)
        && partner(socket).is_some_and(|other| k.object(other).shut_receiving.get());
    let both = over && (socket.shut_sending.get() || end == End::Gone || is_refused);
    let is_gone = match peer::is_remote(socket) {
        true => socket.sight.get() == Sight::Gone,
        false => is_unix(socket) && partner(socket).is_none(),
    };
    let bit = |set: bool, bits: u32| if set { bits } else { 0 };
    bit(waiting || over, IN)
        | bit(over, READ_HANG_UP)
        | bit(room || socket.shut_sending.get(), OUT)
        | bit(both || is_gone, HANG_UP)
        | bit(socket.error.get() != 0 || socket.sight.get() == Sight::Broken, ERROR)
}

fn of_pipe(k: &impl Host, end: &Object) -> u32 {
    let reads = end.shut_sending.get();
    match partner(end) {
        Some(other) if !reads => {
            if stream::has_space(end, k.object(other)) {
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
pub(crate) fn of_descriptor(k: &impl Host, descriptor: i32) -> u32 {
    match fd_table::get(k, descriptor).map(Cell::get) {
        None => INVALID,
        Some(open) if open.kind == OpenKind::Object => of_object(k, usize::from(open.index)),
        Some(_) => IN | OUT | NORMAL_IN | NORMAL_OUT,
    }
}
