//! Datagrams between programs that are explored alone.
//!
//! A socket is known to others by its port, from when it has one. A datagram to it stays with the
//! checker until it is received; then it enters the socket's own buffer, where its fate is decided
//! as always. If it is lost, the next one is requested.

use super::{is_endless, is_on, refuse_to_count, request, wait_in_vain, wait_out};
use crate::fail::stop;
use crate::net::address::Address;
use crate::net::in_flight::Head;
use crate::net::message::Pieces;
use crate::net::message_log::{self, Side};
use crate::net::send_queue::Put;
use crate::net::{
    Blocking, Kind, Object, bound, datagram, happened, is_unix, object, partner, peer, transfer,
};
use crate::region::region;
use crate::scheduler::point;
use crate::state::state;
use crate::sys::errno;
use everypath_shim_abi::{Granted, JointRequest, Moved, Operation, Senders, Sending, Sight};

/// Whether other programs decide what a socket receives.
pub(in crate::net) fn hears(socket: &Object) -> bool {
    is_on() && socket.kind.get() == Kind::Datagram && partner(socket).is_none() && !is_unix(socket)
}

/// Whether nothing is there that others decided about before.
pub(in crate::net) fn asks(socket: &Object) -> bool {
    hears(socket) && socket.waiting() == 0 && !socket.shut_receiving.get()
}

/// Refuses what is not known of datagrams that were not received.
pub(in crate::net) fn refuse_to_measure(socket: &Object) {
    if asks(socket) {
        refuse_to_count();
    }
}

/// Refuses to shut a socket down: what it was sent would stay, or not.
pub(in crate::net) fn refuse_to_shut_down(socket: &Object) {
    if hears(socket) {
        stop!("--joint does not model shutdown of a datagram socket; use --with without --joint");
    }
}

/// Refuses a datagram to a Unix socket of another program.
pub(in crate::net) fn refuse_name(to: &Address) {
    // Where messages to the system go, nobody else is.
    if is_on() && to.path() != Some(b"/dev/log") {
        stop!(
            "--joint does not model datagrams between Unix sockets of two programs; use --with \
             without --joint"
        );
    }
}

/// Refuses addresses but the one by which this machine is known.
fn refuse_others(address: &Address) {
    let usual = Address::loopback(address.family()).with_port(address.port());
    if address.concrete() != usual {
        stop!("--joint models datagrams at 127.0.0.1 and ::1 only; use --with without --joint");
    }
}

/// Tells that datagrams can be sent to a socket, and from where; it may get its port only now.
pub(in crate::net) fn bind(number: usize) {
    let socket = object(number);
    if !hears(socket) {
        return;
    }
    let (local, foreign) = (socket.local.get(), socket.foreign.get());
    refuse_others(&local);
    let port = request(JointRequest::Bind {
        at: peer::socket_address(&local),
        senders: if foreign.is_some() { Senders::Port(foreign.port()) } else { Senders::All },
        is_new: socket.counter.get() == 0,
        any_port: !socket.is_named.get(),
    })
    .handle;
    socket.counter.set(u64::from(port));
    socket.local.set(local.with_port(port as u16));
}

/// The last descriptor of a socket is gone.
pub(in crate::net) fn close(socket: &Object) {
    if hears(socket) && socket.counter.get() != 0 {
        request(JointRequest::Unbind { port: port(socket) });
    }
}

/// The port by which others know a socket.
fn port(socket: &Object) -> u16 {
    socket.counter.get() as u16
}

/// Sends to another program.
pub(in crate::net) fn send(number: usize, to: &Address, pieces: Pieces) -> Result<isize, i32> {
    let socket = object(number);
    if to.is_broadcast() || to.is_multicast() {
        stop!("--joint does not model multicast; use --with without --joint");
    }
    refuse_others(to);
    point(Operation::Send(Sending::Queue(Moved::Nothing)), to.key());
    if let Some(error) = socket.takes_error() {
        return Err(error);
    }
    if bound(Kind::Datagram, |other| other.local.get().receives(to)).is_some() {
        stop!(
            "--joint does not model datagrams of a program to itself; use --with without --joint"
        );
    }
    if socket.counter.get() == 0 {
        bind(number);
    }
    let length = peer::gather(pieces, 0, pieces.length()).len();
    let sent = request(JointRequest::SendTo {
        from: port(socket),
        to: peer::socket_address(to),
        length: length as u32,
    });
    match sent.granted {
        Granted::Never => return wait_in_vain(number),
        Granted::Lost => {
            if socket.foreign.get().is_some() {
                be_refused(number);
            }
        }
        _ => message_log::handed(Side::Socket(number), Side::Outside(*to), pieces),
    }
    Ok(length as isize)
}

/// Nobody takes what a socket sends to the only one whom it talks to, and the next call says so.
fn be_refused(number: usize) {
    if state().threads().filter(|thread| thread.is_alive()).count() > 1 {
        stop!(
            "--joint does not model which of several threads gets ECONNREFUSED of a datagram \
             socket; use --with without --joint"
        );
    }
    object(number).error.set(errno::ECONNREFUSED);
    happened(number);
}

/// Fetches the next datagram; none if nothing is there, or will come.
pub(in crate::net) fn fetch(number: usize, patience: Blocking) -> Option<Result<(), i32>> {
    let socket = object(number);
    if socket.counter.get() == 0 {
        stop!("--joint does not model recv on an unbound datagram socket");
    }
    let waits = is_endless(patience);
    let answer = request(JointRequest::ReceiveFrom { port: port(socket), waits });
    socket.sight.set(Sight::Waits);
    match answer.granted {
        Granted::Bytes => {
            let family = socket.family.get();
            let from = Address::loopback(family).with_port(answer.handle as u16);
            let content = Pieces::One {
                address: region().message.as_ptr() as usize,
                length: answer.length as usize,
            };
            let head = Head { from, length: answer.length, put: Put::BySender };
            datagram::deliver(Side::Outside(from), number, head, content);
            Some(Ok(()))
        }
        Granted::Nothing => {
            match wait_out(number, Operation::Receive(Moved::Nothing).pack(), patience) {
                // What is known of the socket would seem to be something to look at again.
                Ok(()) if transfer::can_receive(number) => Some(Err(errno::EAGAIN)),
                waited => waited.err().map(Err),
            }
        }
        _ if transfer::can_receive(number) => Some(wait_in_vain(number).map(drop)),
        _ => None,
    }
}
