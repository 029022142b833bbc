//! Objects are made, opened, closed and freed; and what can be seen of all of them.

use crate::address::Address;
use crate::fd_table::{self, Kind as OpenKind, NONBLOCK, Open};
use crate::footprint::{other_end_of, touches};
use crate::host::Host;
use crate::object::{End, Kind, Object, Stage};
use crate::{epoll, errno, joint, peer, tcp, udp};
use everypath_shim_abi::{Closing, Operation};

/// Refuses flags that no call knows but those that say whether a new program inherits a descriptor
/// and whether calls on it wait.
pub(crate) fn check_flags(flags: i32) -> Result<(), i32> {
    let unknown = flags & !(NONBLOCK | fd_table::CLOSE_ON_EXEC);
    if unknown == 0 { Ok(()) } else { Err(errno::EINVAL) }
}

/// Makes an object and opens it.
pub(crate) fn make(k: &impl Host, kind: Kind, flags: i32) -> Result<(usize, isize), i32> {
    let number = fd_table::free_object(k).ok_or(errno::EMFILE)?;
    k.object(number).kind.set(kind);
    k.object(number).owner.set(k.process() as u8);
    Ok((number, open(k, number, flags)?))
}

/// Opens an object: a descriptor.
pub(crate) fn open(k: &impl Host, number: usize, flags: i32) -> Result<isize, i32> {
    let open =
        Open { kind: OpenKind::Object, index: number as u16, flags: flags | 2, ..Open::default() };
    match fd_table::open(k, open) {
        descriptor if descriptor >= 0 => Ok(descriptor),
        error => {
            fd_table::object_is_free(k, number);
            Err(-error as i32)
        }
    }
}

/// The scheduling point before a descriptor of an object is closed.
pub(crate) fn before_close(k: &impl Host, number: usize) {
    k.point(Operation::Close(Closing::OtherEnd(other_end_of(k, number))), touches(k, number));
}

/// The scheduling point before the flags of a descriptor change: whether calls wait at a socket is
/// seen by whoever uses it.
pub(crate) fn before_mode(k: &impl Host, open: Open, flags: i32) {
    if open.kind == OpenKind::Object && (open.flags ^ flags) & NONBLOCK != 0 {
        before_change(k, usize::from(open.index));
    }
}

/// The scheduling point before something changes that decides how long calls wait at a socket.
pub(crate) fn before_change(k: &impl Host, number: usize) {
    k.point(Operation::SocketState(other_end_of(k, number)), touches(k, number));
}

/// The last descriptor of an object is gone.
pub(crate) fn close(k: &impl Host, number: usize, description: usize) {
    epoll::forget(k, description);
    let object = k.object(number);
    match object.kind.get() {
        Kind::Stream | Kind::Pipe => tcp::close(k, number),
        Kind::Datagram => udp::close(k, number),
        Kind::Event | Kind::Timer | Kind::Epoll | Kind::Outbox | Kind::Free => {}
    }
    free(k, number);
}

/// Frees an object.
pub(crate) fn free(k: &impl Host, number: usize) {
    let object = k.object(number);
    object.start.set(0);
    object.end.set(0);
    object.held.set(0);
    object.later_end.set(End::Open);
    object.partner.set(0);
    object.local.set(Address::default());
    fd_table::object_is_free(k, number);
}

/// The socket of a `kind` that is bound to an address.
pub(crate) fn bound(k: &impl Host, kind: Kind, accepts: impl Fn(&Object) -> bool) -> Option<usize> {
    fd_table::object_numbers(k).find(|&number| {
        let object = k.object(number);
        object.kind.get() == kind && object.local.get().is_some() && accepts(object)
    })
}

/// What can be seen of all sockets: it changes with whatever happens to one, but not with peers that
/// say nothing.
pub fn visible(k: &impl Host) -> impl Iterator<Item = [u64; 8]> {
    let of = |number: usize| {
        let object = k.object(number);
        let kind = object.kind.get();
        let remote = object.remote.get();
        // Where a conversation in datagrams stands changes with every silence.
        let stands = if kind == Kind::Stream { u64::from(remote.position.word()) } else { 0 };
        let flags = [object.shut_receiving.get(), object.shut_sending.get()].map(u64::from);
        let ends = [object.stage.get() as u64, object.partner_end.get() as u64];
        let small = ends[0] | ends[1] << 8 | flags[0] << 16 | flags[1] << 17;
        matches!(kind, Kind::Stream | Kind::Datagram).then(|| {
            [
                number as u64 | u64::from(object.activity.get()) << 32,
                small | u64::from(object.accepted.get()) << 32,
                object.put.get(),
                object.taken.get(),
                u64::from(object.entered.get()) | u64::from(object.left.get()) << 32,
                u64::from(object.start.get()) | u64::from(object.end.get()) << 32,
                peer::taken(object),
                stands,
            ]
        })
    };
    fd_table::object_numbers(k).filter_map(of)
}

/// Whether an object is an end of a pipe.
pub fn is_pipe(k: &impl Host, number: usize) -> bool {
    k.object(number).kind.get() == Kind::Pipe
}

/// Whether clients can connect to a socket, or send to it: to a port or name that the program chose, since
/// nobody knows another.
pub(crate) fn is_open_to_clients(k: &impl Host, object: &Object) -> bool {
    // Other programs under control may answer to any port.
    let is_known = object.is_named.get()
        || object.local.get().is_some() && (k.is_one_of_several() || joint::is_on(k));
    match object.kind.get() {
        Kind::Stream => object.stage.get() == Stage::Listening,
        Kind::Datagram => is_known && !object.foreign.get().is_some(),
        _ => false,
    }
}
