//! `ioctl`.

use crate::fd_table::{self, Kind as OpenKind, NONBLOCK, Open};
use crate::footprint::touches;
use crate::host::Host;
use crate::lifetime::before_mode;
use crate::object::{Kind, partner};
use crate::{arrival, errno, multicast, peer, stop, udp};
use everypath_shim_abi::{self as abi, Operation};

/// `ioctl`.
pub fn ioctl(k: &impl Host, descriptor: i32, request: usize, at: usize) -> Result<isize, i32> {
    const SET_NONBLOCKING: usize = 0x5421;
    const SIGNALS_READINESS: usize = 0x5452;
    const READABLE: usize = 0x541b;
    const UNSENT: usize = 0x5411;
    const INTERFACE_NAME: usize = 0x8910;
    const INTERFACE_NUMBER: usize = 0x8933;
    let slot = fd_table::used(k, descriptor).ok_or(errno::EBADF)?;
    let open = slot.get();
    let kind = match open.kind {
        OpenKind::Object => k.object(usize::from(open.index)).kind.get(),
        _ => Kind::Free,
    };
    let is_socket = matches!(kind, Kind::Stream | Kind::Datagram);
    match request {
        SET_NONBLOCKING => {
            let on = k.load::<i32>(at)? != 0;
            let flags = if on { open.flags | NONBLOCK } else { open.flags & !NONBLOCK };
            before_mode(k, open, flags);
            slot.set(Open { flags, ..open });
            Ok(0)
        }
        SIGNALS_READINESS if k.load::<i32>(at)? == 0 => Ok(0),
        SIGNALS_READINESS => stop!(k, "ioctl(FIOASYNC), signals for I/O, is not modelled"),
        READABLE if is_socket || kind == Kind::Pipe => {
            let state = Operation::SocketState(abi::Object::NONE);
            k.point(state, touches(k, usize::from(open.index)));
            arrival::glance(k, usize::from(open.index));
            k.store(at, readable(k, usize::from(open.index)) as i32)?;
            Ok(0)
        }
        UNSENT if is_socket => {
            k.store(at, 0i32)?;
            Ok(0)
        }
        INTERFACE_NAME | INTERFACE_NUMBER if is_socket => {
            multicast::tell_interface(k, request == INTERFACE_NAME, at)
        }
        _ => Err(errno::ENOTTY),
    }
}

/// How many bytes the next read could get.
fn readable(k: &impl Host, number: usize) -> usize {
    let end = k.object(number);
    match end.kind.get() {
        Kind::Datagram => udp::first_length(k, number),
        _ if peer::is_remote(end) => peer::available(k, end),
        // Either end of a pipe says how many bytes are in it.
        Kind::Pipe if end.shut_receiving.get() => {
            let left_behind = end.counter.get() as usize;
            partner(end).map_or(left_behind, |reader| k.object(reader).waiting())
        }
        _ => end.waiting(),
    }
}
