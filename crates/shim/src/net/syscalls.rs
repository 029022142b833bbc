//! Syscalls on sockets, pipes and events, by number.

use super::address::{Address, INET, INET6, UNIX};
use super::message::{self, Pieces};
use super::poll::{self, duration, milliseconds};
use super::{
    Blocking, Kind, Stage, datagram, epoll, event, groups, make, object, options, stream, transfer,
};
use crate::descriptors::{self, Kind as OpenKind, NONBLOCK, Open};
use crate::fail::stop;
use crate::memory::{load, store};
use crate::scheduler::point;
use crate::state::state;
use crate::sys::{errno, number};
use everypath_shim_abi::{self as abi, Operation};

/// The socket that a descriptor is open on, by number.
pub(super) fn socket(descriptor: i32) -> Result<usize, i32> {
    let number = descriptors::object(descriptor)?;
    match object(number).kind.get() {
        Kind::Stream | Kind::Datagram => Ok(number),
        _ => Err(errno::ENOTSOCK),
    }
}

/// Whether a descriptor is open on one of our objects.
pub(crate) fn is_object(descriptor: i32) -> bool {
    descriptors::get(descriptor).is_some_and(|open| open.get().kind == OpenKind::Object)
}

/// What a call returns, which is made again if it began under other circumstances than it thought.
fn answer(mut call: impl FnMut() -> Result<isize, i32>) -> isize {
    loop {
        match call() {
            Ok(result) => return result,
            Err(errno::MADE_AGAIN) => {}
            Err(error) => return -(error as isize),
        }
    }
}

/// No error of the kernel's.
const NOT_OURS: i32 = i32::MAX;

/// Does what the system call does; none if it is no call of ours.
pub(crate) fn perform(number: i64, arguments: [usize; 6]) -> Option<isize> {
    let call = || {
        making(number, arguments)
            .or_else(|| connecting(number, arguments))
            .or_else(|| transferring(number, arguments))
            .or_else(|| waiting(number, arguments))
            .ok_or(NOT_OURS)?
    };
    Some(answer(call)).filter(|&result| result != -(NOT_OURS as isize))
}

fn making(number: i64, [a, b, c, d, ..]: [usize; 6]) -> Option<Result<isize, i32>> {
    let (first, second) = (a as i32, b as i32);
    Some(match number {
        number::SOCKET => create(a as u16, second, c as i32),
        number::SOCKETPAIR => create_pair(a as u16, second, d),
        number::PIPE => stream::pipe(a, 0),
        number::PIPE2 => stream::pipe(a, second),
        number::EVENTFD => event::create(a as u32, 0),
        number::EVENTFD2 => event::create(a as u32, second),
        number::EPOLL_CREATE if first <= 0 => Err(errno::EINVAL),
        number::EPOLL_CREATE => epoll::create(0),
        number::EPOLL_CREATE1 => epoll::create(first),
        number::TIMERFD_CREATE => event::create_timer(first, second),
        number::TIMERFD_SETTIME => {
            timer(first).and_then(|number| event::set_timer(number, second, c, d))
        }
        number::TIMERFD_GETTIME => timer(first).and_then(|number| event::get_timer(number, b)),
        _ => return None,
    })
}

fn timer(descriptor: i32) -> Result<usize, i32> {
    match descriptors::object(descriptor) {
        Ok(number) if object(number).kind.get() == Kind::Timer => Ok(number),
        Err(errno::EBADF) => Err(errno::EBADF),
        _ => Err(errno::EINVAL),
    }
}

/// The kind of socket that a type asks for.
fn kind_of(kind: i32) -> Result<Kind, i32> {
    const STREAM: i32 = 1;
    const DATAGRAM: i32 = 2;
    const RAW: i32 = 3;
    const SEQUENCED: i32 = 5;
    match kind & 0xf {
        STREAM => Ok(Kind::Stream),
        DATAGRAM => Ok(Kind::Datagram),
        other @ (RAW | SEQUENCED) => {
            stop!("socket type {other} is not modelled")
        }
        _ => Err(errno::EINVAL),
    }
}

fn create(family: u16, kind: i32, protocol: i32) -> Result<isize, i32> {
    if !matches!(family, UNIX | INET | INET6) {
        return Err(errno::EAFNOSUPPORT);
    }
    let flags = kind & (NONBLOCK | descriptors::CLOSE_ON_EXEC);
    let kind = kind_of(kind)?;
    let fits = match kind {
        _ if family == UNIX => protocol == 0,
        Kind::Stream => matches!(protocol, 0 | 6),
        _ => matches!(protocol, 0 | 17),
    };
    if !fits {
        return Err(errno::EPROTONOSUPPORT);
    }
    let (number, descriptor) = make(kind, flags)?;
    object(number).family.set(family);
    Ok(descriptor)
}

fn create_pair(family: u16, kind: i32, at: usize) -> Result<isize, i32> {
    if family != UNIX {
        return Err(errno::EOPNOTSUPP);
    }
    let flags = kind & (NONBLOCK | descriptors::CLOSE_ON_EXEC);
    stream::pair(kind_of(kind)?, flags, at)
}

fn connecting(number: i64, [a, b, c, d, e, _]: [usize; 6]) -> Option<Result<isize, i32>> {
    let descriptor = a as i32;
    let named = |each: fn(i32, usize, Address) -> Result<isize, i32>| {
        let number = socket(descriptor)?;
        each(descriptor, number, Address::read(b, c)?)
    };
    // Calls that are no steps by themselves.
    let look =
        || descriptors::used(descriptor).ok_or(errno::EBADF).and_then(|_| socket(descriptor));
    Some(match number {
        number::BIND => named(stream::bind),
        number::CONNECT => named(connect),
        number::LISTEN => {
            socket(descriptor).and_then(|number| stream::listen(descriptor, number, b as i32))
        }
        number::ACCEPT => stream::accept(descriptor, (b, c), 0),
        number::ACCEPT4 => stream::accept(descriptor, (b, c), d as i32),
        number::SHUTDOWN => {
            socket(descriptor).and_then(|number| shutdown(descriptor, number, b as i32))
        }
        number::GETSOCKNAME => look().map(|number| {
            let local = object(number).local.get();
            let shown = if local.is_some() { local } else { unnamed(number) };
            shown.tell(b, c);
            0
        }),
        number::GETPEERNAME => look().and_then(|number| peer_name(number, b, c)),
        number::SETSOCKOPT => {
            look().and_then(|number| options::set(number, (b as i32, c as i32), (d, e)))
        }
        number::GETSOCKOPT => {
            look().and_then(|number| options::get(number, (b as i32, c as i32), (d, e)))
        }
        _ => return None,
    })
}

/// What a socket says that has no address yet.
fn unnamed(number: usize) -> Address {
    Address::any(object(number).family.get())
}

fn peer_name(number: usize, at: usize, length_at: usize) -> Result<isize, i32> {
    let socket = object(number);
    let connected = match socket.kind.get() {
        Kind::Stream => matches!(socket.stage.get(), Stage::Connected | Stage::Connecting),
        _ => socket.foreign.get().is_some(),
    };
    if !connected {
        return Err(errno::ENOTCONN);
    }
    let foreign = socket.foreign.get();
    if foreign.is_some() { foreign } else { unnamed(number) }.tell(at, length_at);
    Ok(0)
}

fn connect(descriptor: i32, number: usize, to: Address) -> Result<isize, i32> {
    match object(number).kind.get() {
        Kind::Datagram => datagram::connect(descriptor, number, to),
        _ => super::connect::connect(descriptor, number, to),
    }
}

fn shutdown(descriptor: i32, number: usize, how: i32) -> Result<isize, i32> {
    match object(number).kind.get() {
        Kind::Datagram => datagram::shutdown(descriptor, number, how),
        _ => stream::shutdown(descriptor, number, how),
    }
}

/// Reads from any of our objects.
pub(crate) fn read(descriptor: i32, address: usize, length: usize) -> isize {
    answer(|| receive(descriptor, Pieces::One { address, length }, 0))
}

/// Writes to any of our objects.
pub(crate) fn write(descriptor: i32, address: usize, length: usize) -> isize {
    answer(|| send(descriptor, Pieces::One { address, length }, 0))
}

/// Reads into several pieces.
pub(crate) fn read_vector(descriptor: i32, vector: usize, count: usize) -> isize {
    let pieces = Pieces::Several { vector, count };
    answer(|| message::check_count(count).and_then(|()| receive(descriptor, pieces, 0)))
}

/// Writes several pieces.
pub(crate) fn write_vector(descriptor: i32, vector: usize, count: usize) -> isize {
    let pieces = Pieces::Several { vector, count };
    answer(|| message::check_count(count).and_then(|()| send(descriptor, pieces, 0)))
}

fn receive(descriptor: i32, pieces: Pieces, flags: i32) -> Result<isize, i32> {
    let number = descriptors::object(descriptor)?;
    let end = object(number);
    match end.kind.get() {
        Kind::Stream => transfer::receive(descriptor, pieces, flags),
        Kind::Pipe if end.shut_receiving.get() => Err(errno::EBADF),
        Kind::Pipe => transfer::receive(descriptor, pieces, flags),
        Kind::Datagram => {
            datagram::receive(descriptor, pieces, flags).map(|got| got.length as isize)
        }
        Kind::Event => event::read(descriptor, number, pieces),
        Kind::Timer => event::read_timer(descriptor, number, pieces),
        Kind::Epoll | Kind::Outbox | Kind::Free => Err(errno::EINVAL),
    }
}

fn send(descriptor: i32, pieces: Pieces, flags: i32) -> Result<isize, i32> {
    let number = descriptors::object(descriptor)?;
    let end = object(number);
    match end.kind.get() {
        Kind::Stream => transfer::send(descriptor, pieces, flags),
        Kind::Pipe if end.shut_sending.get() => Err(errno::EBADF),
        Kind::Pipe => transfer::send(descriptor, pieces, flags),
        Kind::Datagram => datagram::send(descriptor, pieces, None, flags),
        Kind::Event => event::write(descriptor, number, pieces),
        Kind::Timer | Kind::Epoll | Kind::Outbox | Kind::Free => Err(errno::EINVAL),
    }
}

fn transferring(number: i64, [a, b, c, d, e, f]: [usize; 6]) -> Option<Result<isize, i32>> {
    let descriptor = a as i32;
    let pieces = Pieces::One { address: b, length: c };
    let flags = d as i32;
    Some(match number {
        number::SENDTO => socket(descriptor).and_then(|number| match object(number).kind.get() {
            Kind::Datagram => {
                let to = if e == 0 { None } else { Some(Address::read(e, f)?) };
                datagram::send(descriptor, pieces, to, flags)
            }
            _ => transfer::send(descriptor, pieces, flags),
        }),
        number::RECVFROM => socket(descriptor).and_then(|number| match object(number).kind.get() {
            Kind::Datagram => {
                let got = datagram::receive(descriptor, pieces, flags)?;
                got.from.tell(e, f);
                Ok(got.length as isize)
            }
            _ => transfer::receive(descriptor, pieces, flags),
        }),
        number::SENDMSG => message::send(descriptor, b, c as i32),
        number::RECVMSG => message::receive(descriptor, b, c as i32),
        number::SENDMMSG => {
            message::several((b, c), |header, _| message::send(descriptor, header, flags))
        }
        number::RECVMMSG => receive_several(descriptor, (b, c), flags, e),
        _ => return None,
    })
}

fn receive_several(
    descriptor: i32,
    (at, count): (usize, usize),
    flags: i32,
    timeout: usize,
) -> Result<isize, i32> {
    const WAIT_FOR_ONE: i32 = 0x1_0000;
    const DONT_WAIT: i32 = 0x40;
    let now = || state().clock.get();
    let deadline = match duration(timeout, 1)? {
        Blocking::Until(moment) => moment,
        Blocking::None => now(),
        _ => u64::MAX,
    };
    let received = message::several((at, count), |header, index| {
        // The kernel looks at the clock only after a message has come.
        if index > 0 && now() >= deadline {
            return Err(errno::EAGAIN);
        }
        let first_only = flags & WAIT_FOR_ONE != 0 && index > 0;
        let flags = (flags & !WAIT_FOR_ONE) | if first_only { DONT_WAIT } else { 0 };
        message::receive(descriptor, header, flags)
    });
    if timeout != 0 && received.is_ok() {
        let left = deadline.saturating_sub(now());
        store(timeout, [left / 1_000_000_000, left % 1_000_000_000]);
    }
    received
}

fn waiting(number: i64, [a, b, c, d, e, f]: [usize; 6]) -> Option<Result<isize, i32>> {
    const NANOSECOND: u64 = 1;
    let masked = |mask: usize| mask != 0 && load::<usize>(mask) != 0;
    Some(match number {
        number::POLL => poll::poll(a, b, milliseconds(c as i32)),
        number::PPOLL => {
            duration(c, NANOSECOND).and_then(|patience| with_mask(d, || poll::poll(a, b, patience)))
        }
        number::SELECT => select(a, [b, c, d], e),
        number::PSELECT6 => duration(e, NANOSECOND).and_then(|patience| {
            let mask = if masked(f) { load::<usize>(f) } else { 0 };
            with_mask(mask, || poll::select(a, [b, c, d], patience))
        }),
        number::EPOLL_CTL => epoll::control(a as i32, b as i32, c as i32, d),
        number::EPOLL_WAIT => epoll::wait(a as i32, (b, c as i32), milliseconds(d as i32)),
        number::EPOLL_PWAIT => {
            with_mask(e, || epoll::wait(a as i32, (b, c as i32), milliseconds(d as i32)))
        }
        number::EPOLL_PWAIT2 => duration(d, NANOSECOND)
            .and_then(|patience| with_mask(e, || epoll::wait(a as i32, (b, c as i32), patience))),
        _ => return None,
    })
}

/// Blocks other signals while a call lasts. What was sent before is handled if the call must wait.
fn with_mask(mask: usize, call: impl FnOnce() -> Result<isize, i32>) -> Result<isize, i32> {
    if mask == 0 {
        return call();
    }
    let thread = state().current();
    let before = thread.blocked_signals.replace(load(mask));
    let result = call();
    thread.blocked_signals.set(before);
    crate::signals::deliver_pending(state());
    result
}

/// `select` leaves what is left of its time where it found it; libc sees to it that others do not.
fn select(count: usize, sets: [usize; 3], time: usize) -> Result<isize, i32> {
    const MICROSECOND: u64 = 1000;
    let patience = duration(time, MICROSECOND)?;
    let result = poll::select(count, sets, patience);
    if let Blocking::Until(moment) = patience {
        let left = moment.saturating_sub(state().clock.get());
        store(time, [left / 1_000_000_000, left % 1_000_000_000 / MICROSECOND]);
    }
    result
}

/// Does what the system call does.
pub(crate) fn device_control(descriptor: i32, request: usize, at: usize) -> isize {
    const SET_NONBLOCKING: usize = 0x5421;
    const READABLE: usize = 0x541b;
    const UNSENT: usize = 0x5411;
    const INTERFACE_NAME: usize = 0x8910;
    const INTERFACE_NUMBER: usize = 0x8933;
    let Some(slot) = descriptors::used(descriptor) else { return -(errno::EBADF as isize) };
    let open = slot.get();
    match request {
        SET_NONBLOCKING => {
            let on = load::<i32>(at) != 0;
            let flags = if on { open.flags | NONBLOCK } else { open.flags & !NONBLOCK };
            super::before_mode(open, flags);
            slot.set(Open { flags, ..open });
            0
        }
        READABLE if open.kind == OpenKind::Object => {
            let state = Operation::SocketState(abi::Object::NONE);
            point(state, super::touches(usize::from(open.index)));
            store(at, readable(usize::from(open.index)) as i32);
            0
        }
        UNSENT if open.kind == OpenKind::Object => {
            store(at, 0i32);
            0
        }
        INTERFACE_NAME | INTERFACE_NUMBER if open.kind == OpenKind::Object => {
            answer(|| groups::tell_interface(request == INTERFACE_NAME, at))
        }
        _ => -(errno::ENOTTY as isize),
    }
}

/// How many bytes the next read could get.
fn readable(number: usize) -> usize {
    let end = object(number);
    match end.kind.get() {
        Kind::Datagram => datagram::first_length(number),
        _ if super::peer::is_remote(end) => super::peer::available(end),
        _ => end.waiting(),
    }
}
