//! Datagrams between programs that are explored alone.
//!
//! A socket is known to others by its port, from when it has one. A datagram to it stays with the
//! checker until it is received; then it enters the socket's own buffer, where its fate is decided
//! as always. If it is lost, the next one is requested.

use super::{is_endless, is_on, refuse_to_count, request, wait_in_vain, wait_out};
use crate::blocking::Blocking;
use crate::host::Host;
use crate::in_flight::Head;
use crate::iovec::Pieces;
use crate::lifetime::bound;
use crate::message_log::{self, Side};
use crate::object::{Kind, Object, is_unix, partner, receives};
use crate::send_queue::Put;
use crate::sockaddr::Address;
use crate::wakeup::happened;
use crate::{errno, peer, stop, stream, udp};
use everypath_shim_abi::{Granted, JointRequest, Moved, Operation, Senders, Sending, Sight};

/// Whether other programs decide what a socket receives.
pub(crate) fn hears(k: &impl Host, socket: &Object) -> bool {
    is_on(k) && socket.kind.get() == Kind::Datagram && partner(socket).is_none() && !is_unix(socket)
}

/// Whether nothing is there that others decided about before.
pub(crate) fn asks(k: &impl Host, socket: &Object) -> bool {
    hears(k, socket) && socket.waiting() == 0 && !socket.shut_receiving.get()
}

/// Refuses what is not known of datagrams that were not received.
pub(crate) fn refuse_to_measure(k: &impl Host, socket: &Object) {
    if asks(k, socket) {
        refuse_to_count(k);
    }
}

/// Refuses to shut a socket down: what it was sent would stay, or not.
pub(crate) fn refuse_to_shut_down(k: &impl Host, socket: &Object) {
    if hears(k, socket) {
        stop!(
            k,
            "--joint does not model shutdown of a datagram socket; use --with without --joint"
        );
    }
}

/// Refuses a datagram to a Unix socket of another program.
pub(crate) fn refuse_name(k: &impl Host, to: &Address) {
    // Where messages to the system go, nobody else is.
    if is_on(k) && to.path() != Some(b"/dev/log") {
        stop!(
            k,
            "--joint does not model datagrams between Unix sockets of two programs; use --with \
             without --joint"
        );
    }
}

/// Refuses addresses but the one by which this machine is known.
fn refuse_others(k: &impl Host, address: &Address) {
    let usual = Address::loopback(address.family()).with_port(address.port());
    if address.concrete() != usual {
        stop!(k, "--joint models datagrams at 127.0.0.1 and ::1 only; use --with without --joint");
    }
}

/// Tells that datagrams can be sent to a socket, and from where; it may get its port only now.
pub(crate) fn bind(k: &impl Host, number: usize) {
    let socket = k.object(number);
    if !hears(k, socket) {
        return;
    }
    let (local, foreign) = (socket.local.get(), socket.foreign.get());
    refuse_others(k, &local);
    let wanted = JointRequest::Bind {
        at: peer::socket_address(k, &local),
        senders: if foreign.is_some() { Senders::Port(foreign.port()) } else { Senders::All },
        is_new: socket.counter.get() == 0,
        any_port: !socket.is_named.get(),
    };
    let port = request(k, wanted).handle;
    socket.counter.set(u64::from(port));
    socket.local.set(local.with_port(port as u16));
}

/// The last descriptor of a socket is gone.
pub(crate) fn close(k: &impl Host, socket: &Object) {
    if hears(k, socket) && socket.counter.get() != 0 {
        request(k, JointRequest::Unbind { port: port(socket) });
    }
}

/// The port by which others know a socket.
fn port(socket: &Object) -> u16 {
    socket.counter.get() as u16
}

/// Sends to another program.
pub(crate) fn send(
    k: &impl Host,
    number: usize,
    to: &Address,
    pieces: Pieces,
) -> Result<isize, i32> {
    let socket = k.object(number);
    if to.is_broadcast() || to.is_multicast() {
        stop!(k, "--joint does not model multicast; use --with without --joint");
    }
    refuse_others(k, to);
    k.point(Operation::Send(Sending::Queue(Moved::Nothing)), to.key());
    if let Some(error) = socket.takes_error() {
        return Err(error);
    }
    if bound(k, Kind::Datagram, |other| receives(other, to)).is_some() {
        stop!(
            k,
            "--joint does not model datagrams of a program to itself; use --with without --joint"
        );
    }
    if socket.counter.get() == 0 {
        bind(k, number);
    }
    let length = peer::gather(k, pieces, (0, pieces.length(k)))?.len();
    let sent = JointRequest::SendTo {
        from: port(socket),
        to: peer::socket_address(k, to),
        length: length as u32,
    };
    match request(k, sent).granted {
        Granted::Never => return wait_in_vain(k, number),
        Granted::Lost => {
            if socket.foreign.get().is_some() {
                be_refused(k, number);
            }
        }
        _ => message_log::handed(k, Side::Socket(number), Side::Outside(*to), pieces),
    }
    Ok(length as isize)
}

/// Nobody takes what a socket sends to the only one whom it talks to, and the next call says so.
fn be_refused(k: &impl Host, number: usize) {
    if !k.is_alone() {
        stop!(
            k,
            "--joint does not model which of several threads gets ECONNREFUSED of a datagram \
             socket; use --with without --joint"
        );
    }
    k.object(number).error.set(errno::ECONNREFUSED);
    happened(k, number);
}

/// Fetches the next datagram; none if nothing is there, or will come.
pub(crate) fn fetch(k: &impl Host, number: usize, patience: Blocking) -> Option<Result<(), i32>> {
    let socket = k.object(number);
    if socket.counter.get() == 0 {
        stop!(k, "--joint does not model recv on an unbound datagram socket");
    }
    let waits = is_endless(k, patience);
    let answer = request(k, JointRequest::ReceiveFrom { port: port(socket), waits });
    socket.sight.set(Sight::Waits);
    match answer.granted {
        Granted::Bytes => {
            let family = socket.family.get();
            let from = Address::loopback(family).with_port(answer.handle as u16);
            let content = Pieces::One { address: k.message(), length: answer.length as usize };
            let head = Head { from, length: answer.length, put: Put::BySender, is_foreign: false };
            udp::deliver(k, Side::Outside(from), number, head, content);
            Some(Ok(()))
        }
        Granted::Nothing => {
            match wait_out(k, number, Operation::Receive(Moved::Nothing).pack(), patience) {
                // What is known of the socket would seem to be something to look at again.
                Ok(()) if stream::can_receive(k, number) => Some(Err(errno::EAGAIN)),
                waited => waited.err().map(Err),
            }
        }
        _ if stream::can_receive(k, number) => Some(wait_in_vain(k, number).map(drop)),
        _ => None,
    }
}
