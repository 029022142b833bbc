//! Syscalls on sockets, pipes and events, each under its name.
//!
//! A call that began under other circumstances than it thought fails with
//! [`errno::MADE_AGAIN`]; [`answer`] makes it again.

use crate::blocking::Blocking;
use crate::fd_table::{self, CLOSE_ON_EXEC, Kind as OpenKind, NONBLOCK};
use crate::host::Host;
use crate::iovec::Pieces;
use crate::lifetime::make;
use crate::object::{Kind, Stage};
use crate::poll::{duration, milliseconds};
use crate::sockaddr::{Address, INET, INET6, UNIX};
use crate::{
    connect, epoll, errno, eventfd, faults, msghdr, pipe, poll, select, signal, sockopt, stop,
    stream, tcp, timerfd, udp, unix,
};

/// What a call comes to: a value, or an error number.
pub type Answer = Result<isize, i32>;

/// What a call returns, which is made again if it began under other circumstances than it thought.
pub fn answer(mut call: impl FnMut() -> Answer) -> isize {
    loop {
        match call() {
            Ok(result) => return result,
            Err(errno::MADE_AGAIN) => {}
            Err(error) => return -(error as isize),
        }
    }
}

/// Whether a descriptor is open on a socket, a pipe, an event or the like.
pub fn is_object(k: &impl Host, descriptor: i32) -> bool {
    fd_table::get(k, descriptor).is_some_and(|open| open.get().kind == OpenKind::Object)
}

/// The socket that a descriptor is open on, by number.
pub(crate) fn this_socket(k: &impl Host, descriptor: i32) -> Result<usize, i32> {
    let number = fd_table::object(k, descriptor)?;
    match k.object(number).kind.get() {
        Kind::Stream | Kind::Datagram => Ok(number),
        _ => Err(errno::ENOTSOCK),
    }
}

/// The same for a call that is no step by itself.
fn looked_at(k: &impl Host, descriptor: i32) -> Result<usize, i32> {
    fd_table::used(k, descriptor).ok_or(errno::EBADF)?;
    this_socket(k, descriptor)
}

/// The kind of socket that a type asks for.
fn kind_of(k: &impl Host, kind: i32) -> Result<Kind, i32> {
    const STREAM: i32 = 1;
    const DATAGRAM: i32 = 2;
    const RAW: i32 = 3;
    const SEQUENCED: i32 = 5;
    match kind & 0xf {
        STREAM => Ok(Kind::Stream),
        DATAGRAM => Ok(Kind::Datagram),
        other @ (RAW | SEQUENCED) => {
            stop!(k, "socket type {other} is not modelled")
        }
        _ => Err(errno::EINVAL),
    }
}

/// `socket`.
pub fn socket(k: &impl Host, family: u16, kind: i32, protocol: i32) -> Answer {
    if !matches!(family, UNIX | INET | INET6) {
        return Err(errno::EAFNOSUPPORT);
    }
    let flags = kind & (NONBLOCK | CLOSE_ON_EXEC);
    let kind = kind_of(k, kind)?;
    let fits = match kind {
        _ if family == UNIX => protocol == 0,
        Kind::Stream => matches!(protocol, 0 | 6),
        _ => matches!(protocol, 0 | 17),
    };
    if !fits {
        return Err(errno::EPROTONOSUPPORT);
    }
    faults::no_descriptor(k)?;
    let (number, descriptor) = make(k, kind, flags)?;
    k.object(number).family.set(family);
    Ok(descriptor)
}

/// `socketpair`.
pub fn socketpair(k: &impl Host, family: u16, kind: i32, at: usize) -> Answer {
    if family != UNIX {
        return Err(errno::EOPNOTSUPP);
    }
    let flags = kind & (NONBLOCK | CLOSE_ON_EXEC);
    unix::pair(k, kind_of(k, kind)?, flags, at)
}

/// `pipe2`.
pub fn pipe2(k: &impl Host, at: usize, flags: i32) -> Answer {
    pipe::create(k, at, flags)
}

/// `eventfd2`.
pub fn eventfd2(k: &impl Host, value: u32, flags: i32) -> Answer {
    eventfd::create(k, value, flags)
}

/// `timerfd_create`.
pub fn timerfd_create(k: &impl Host, clock: i32, flags: i32) -> Answer {
    timerfd::create(k, clock, flags)
}

/// `timerfd_settime`.
pub fn timerfd_settime(
    k: &impl Host,
    descriptor: i32,
    flags: i32,
    (new, old): (usize, usize),
) -> Answer {
    timerfd::set(k, timer(k, descriptor)?, flags, (new, old))
}

/// `timerfd_gettime`.
pub fn timerfd_gettime(k: &impl Host, descriptor: i32, at: usize) -> Answer {
    timerfd::get(k, timer(k, descriptor)?, at)
}

fn timer(k: &impl Host, descriptor: i32) -> Result<usize, i32> {
    match fd_table::object(k, descriptor) {
        Ok(number) if k.object(number).kind.get() == Kind::Timer => Ok(number),
        Err(errno::EBADF) => Err(errno::EBADF),
        _ => Err(errno::EINVAL),
    }
}

/// `bind`.
pub fn bind(k: &impl Host, descriptor: i32, (at, length): (usize, usize)) -> Answer {
    let number = this_socket(k, descriptor)?;
    tcp::bind(k, descriptor, number, Address::read(k, at, length)?)
}

/// `connect`.
pub fn connect(k: &impl Host, descriptor: i32, (at, length): (usize, usize)) -> Answer {
    let number = this_socket(k, descriptor)?;
    let to = Address::read(k, at, length)?;
    match k.object(number).kind.get() {
        Kind::Datagram => udp::connect(k, descriptor, number, to),
        _ => connect::connect(k, descriptor, number, to),
    }
}

/// `listen`.
pub fn listen(k: &impl Host, descriptor: i32, backlog: i32) -> Answer {
    let number = this_socket(k, descriptor)?;
    tcp::listen(k, descriptor, number, backlog)
}

/// `accept4`.
pub fn accept4(
    k: &impl Host,
    descriptor: i32,
    (at, length_at): (usize, usize),
    flags: i32,
) -> Answer {
    tcp::accept(k, descriptor, (at, length_at), flags)
}

/// `shutdown`.
pub fn shutdown(k: &impl Host, descriptor: i32, how: i32) -> Answer {
    let number = this_socket(k, descriptor)?;
    match k.object(number).kind.get() {
        Kind::Datagram => udp::shutdown(k, descriptor, number, how),
        _ => tcp::shutdown(k, descriptor, number, how),
    }
}

/// `getsockname`.
pub fn getsockname(k: &impl Host, descriptor: i32, (at, length_at): (usize, usize)) -> Answer {
    let number = looked_at(k, descriptor)?;
    let local = k.object(number).local.get();
    let shown = if local.is_some() { local } else { unnamed(k, number) };
    shown.tell(k, at, length_at)?;
    Ok(0)
}

/// `getpeername`.
pub fn getpeername(k: &impl Host, descriptor: i32, (at, length_at): (usize, usize)) -> Answer {
    let number = looked_at(k, descriptor)?;
    let socket = k.object(number);
    let connected = match socket.kind.get() {
        Kind::Stream => matches!(socket.stage.get(), Stage::Connected | Stage::Connecting),
        _ => socket.foreign.get().is_some(),
    };
    if !connected {
        return Err(errno::ENOTCONN);
    }
    let foreign = socket.foreign.get();
    let shown = if foreign.is_some() { foreign } else { unnamed(k, number) };
    shown.tell(k, at, length_at)?;
    Ok(0)
}

/// What a socket says that has no address yet.
fn unnamed(k: &impl Host, number: usize) -> Address {
    Address::any(k.object(number).family.get())
}

/// `setsockopt`.
pub fn setsockopt(
    k: &impl Host,
    descriptor: i32,
    (level, name): (i32, i32),
    (at, length): (usize, usize),
) -> Answer {
    sockopt::set(k, looked_at(k, descriptor)?, (level, name), (at, length))
}

/// `getsockopt`.
pub fn getsockopt(
    k: &impl Host,
    descriptor: i32,
    (level, name): (i32, i32),
    (at, length_at): (usize, usize),
) -> Answer {
    sockopt::get(k, looked_at(k, descriptor)?, (level, name), (at, length_at))
}

/// `read`, of any object.
pub fn read(k: &impl Host, descriptor: i32, address: usize, length: usize) -> Answer {
    receive(k, descriptor, Pieces::One { address, length })
}

/// `write`, to any object.
pub fn write(k: &impl Host, descriptor: i32, address: usize, length: usize) -> Answer {
    send(k, descriptor, Pieces::One { address, length })
}

/// `readv`, of any object.
pub fn readv(k: &impl Host, descriptor: i32, vector: usize, count: usize) -> Answer {
    receive(k, descriptor, Pieces::several(k, vector, count)?)
}

/// `writev`, to any object.
pub fn writev(k: &impl Host, descriptor: i32, vector: usize, count: usize) -> Answer {
    send(k, descriptor, Pieces::several(k, vector, count)?)
}

fn receive(k: &impl Host, descriptor: i32, pieces: Pieces) -> Answer {
    let number = fd_table::object(k, descriptor)?;
    let end = k.object(number);
    match end.kind.get() {
        Kind::Stream => stream::receive(k, descriptor, pieces, 0),
        Kind::Pipe if end.shut_receiving.get() => Err(errno::EBADF),
        Kind::Pipe => stream::receive(k, descriptor, pieces, 0),
        Kind::Datagram => udp::receive(k, descriptor, pieces, 0).map(|got| got.length as isize),
        Kind::Event => eventfd::read(k, descriptor, number, pieces),
        Kind::Timer => timerfd::read(k, descriptor, number, pieces),
        Kind::Epoll | Kind::Outbox | Kind::Free => Err(errno::EINVAL),
    }
}

fn send(k: &impl Host, descriptor: i32, pieces: Pieces) -> Answer {
    let number = fd_table::object(k, descriptor)?;
    let end = k.object(number);
    match end.kind.get() {
        Kind::Stream => stream::send(k, descriptor, pieces, 0),
        Kind::Pipe if end.shut_sending.get() => Err(errno::EBADF),
        // Nothing is sent, whether or not somebody reads.
        Kind::Pipe if pieces.length(k) == 0 => Ok(0),
        Kind::Pipe => stream::send(k, descriptor, pieces, 0),
        Kind::Datagram => udp::send(k, descriptor, pieces, None, 0),
        Kind::Event => eventfd::write(k, descriptor, number, pieces),
        Kind::Timer | Kind::Epoll | Kind::Outbox | Kind::Free => Err(errno::EINVAL),
    }
}

/// `sendto`; to an address unless that is 0.
pub fn sendto(
    k: &impl Host,
    descriptor: i32,
    (address, length): (usize, usize),
    flags: i32,
    (to, to_length): (usize, usize),
) -> Answer {
    let pieces = Pieces::One { address, length };
    let number = this_socket(k, descriptor)?;
    match k.object(number).kind.get() {
        Kind::Datagram => {
            let to = if to == 0 { None } else { Some(Address::read(k, to, to_length)?) };
            udp::send(k, descriptor, pieces, to, flags)
        }
        _ => stream::send(k, descriptor, pieces, flags),
    }
}

/// `recvfrom`.
pub fn recvfrom(
    k: &impl Host,
    descriptor: i32,
    (address, length): (usize, usize),
    flags: i32,
    (from, length_at): (usize, usize),
) -> Answer {
    let pieces = Pieces::One { address, length };
    let number = this_socket(k, descriptor)?;
    match k.object(number).kind.get() {
        Kind::Datagram => {
            let got = udp::receive(k, descriptor, pieces, flags)?;
            got.from.tell(k, from, length_at)?;
            Ok(got.length as isize)
        }
        _ => stream::receive(k, descriptor, pieces, flags),
    }
}

/// `sendmsg`.
pub fn sendmsg(k: &impl Host, descriptor: i32, header: usize, flags: i32) -> Answer {
    msghdr::send(k, descriptor, header, flags)
}

/// `recvmsg`.
pub fn recvmsg(k: &impl Host, descriptor: i32, header: usize, flags: i32) -> Answer {
    msghdr::receive(k, descriptor, header, flags)
}

/// `sendmmsg`.
pub fn sendmmsg(k: &impl Host, descriptor: i32, (at, count): (usize, usize), flags: i32) -> Answer {
    msghdr::several(k, (at, count), |header, _| msghdr::send(k, descriptor, header, flags))
}

/// `recvmmsg`.
pub fn recvmmsg(
    k: &impl Host,
    descriptor: i32,
    (at, count): (usize, usize),
    flags: i32,
    timeout: usize,
) -> Answer {
    const WAIT_FOR_ONE: i32 = 0x1_0000;
    const DONT_WAIT: i32 = 0x40;
    let deadline = match duration(k, timeout, NANOSECOND)? {
        Blocking::Until(moment) => moment,
        Blocking::None => k.clock(),
        _ => u64::MAX,
    };
    let received = msghdr::several(k, (at, count), |header, index| {
        // The kernel looks at the clock only after a message has come.
        if index > 0 && k.clock() >= deadline {
            return Err(errno::EAGAIN);
        }
        let first_only = flags & WAIT_FOR_ONE != 0 && index > 0;
        let flags = (flags & !WAIT_FOR_ONE) | if first_only { DONT_WAIT } else { 0 };
        msghdr::receive(k, descriptor, header, flags)
    });
    if timeout != 0 && received.is_ok() {
        let left = deadline.saturating_sub(k.clock());
        k.store(timeout, [left / 1_000_000_000, left % 1_000_000_000])?;
    }
    received
}

const NANOSECOND: u64 = 1;
const MICROSECOND: u64 = 1000;

/// `poll`.
pub fn poll(k: &impl Host, entries: (usize, usize), timeout: i32) -> Answer {
    poll::poll(k, entries, milliseconds(k, timeout))
}

/// `ppoll`.
pub fn ppoll(k: &impl Host, entries: (usize, usize), timeout: usize, mask: usize) -> Answer {
    let patience = duration(k, timeout, NANOSECOND)?;
    with_mask(k, mask, || poll::poll(k, entries, patience))
}

/// `select`, which leaves what is left of its time where it found it; libc sees to it that others
/// do not.
pub fn select(k: &impl Host, count: usize, sets: [usize; 3], time: usize) -> Answer {
    let patience = duration(k, time, MICROSECOND)?;
    let result = select::select(k, count, sets, patience);
    if let Blocking::Until(moment) = patience {
        let left = moment.saturating_sub(k.clock());
        k.store(time, [left / 1_000_000_000, left % 1_000_000_000 / MICROSECOND])?;
    }
    result
}

/// `pselect6`, whose mask is where its last argument says.
pub fn pselect6(
    k: &impl Host,
    count: usize,
    sets: [usize; 3],
    (time, mask_at): (usize, usize),
) -> Answer {
    let patience = duration(k, time, NANOSECOND)?;
    let mask = if mask_at == 0 { 0 } else { k.load::<usize>(mask_at)? };
    with_mask(k, mask, || select::select(k, count, sets, patience))
}

/// `epoll_create1`.
pub fn epoll_create1(k: &impl Host, flags: i32) -> Answer {
    epoll::create(k, flags)
}

/// `epoll_ctl`.
pub fn epoll_ctl(k: &impl Host, epoll: i32, operation: i32, descriptor: i32, at: usize) -> Answer {
    epoll::control(k, epoll, operation, descriptor, at)
}

/// `epoll_pwait`: without a mask what `epoll_wait` does.
pub fn epoll_pwait(
    k: &impl Host,
    epoll: i32,
    (at, most): (usize, i32),
    timeout: i32,
    mask: usize,
) -> Answer {
    let patience = milliseconds(k, timeout);
    with_mask(k, mask, || epoll::wait(k, epoll, (at, most), patience))
}

/// `epoll_pwait2`.
pub fn epoll_pwait2(
    k: &impl Host,
    epoll: i32,
    (at, most): (usize, i32),
    timeout: usize,
    mask: usize,
) -> Answer {
    let patience = duration(k, timeout, NANOSECOND)?;
    with_mask(k, mask, || epoll::wait(k, epoll, (at, most), patience))
}

/// Blocks other signals while a call lasts. What was sent before is handled if the call must wait.
fn with_mask(k: &impl Host, mask: usize, call: impl FnOnce() -> Answer) -> Answer {
    if mask == 0 {
        return call();
    }
    let before = signal::block(k, k.load(mask)?);
    let result = call();
    signal::block(k, before);
    k.deliver_signals();
    result
}
