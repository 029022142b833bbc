//! Socket options: stored and returned, as far as they change nothing that is modelled.

use crate::errno;
use crate::host::Host;
use crate::lifetime::before_change;
use crate::multicast::{self, About, LOOPBACK};
use crate::object::{Kind, Object, Options, Stage, is_unix, key};
use crate::sockaddr::{Address, INET6};
use everypath_shim_abi::{self as abi, Operation};

const SOCKET: i32 = 1;
const TYPE: i32 = 3;
const ERROR: i32 = 4;
const REUSE_ADDRESS: i32 = 2;
const BROADCAST: i32 = 6;
const SEND_BUFFER: i32 = 7;
const RECEIVE_BUFFER: i32 = 8;
const LINGER: i32 = 13;
const REUSE_PORT: i32 = 15;
const RECEIVE_TIMEOUT: i32 = 20;
const SEND_TIMEOUT: i32 = 21;
const ACCEPTS: i32 = 30;
const PROTOCOL: i32 = 38;
const DOMAIN: i32 = 39;
const PEER_CREDENTIALS: i32 = 17;
/// The interface by which messages to groups leave: an address, or the number of an interface.
const GROUP_INTERFACE: (i32, i32) = (0, 32);
const GROUP_INTERFACE6: (i32, i32) = (41, 17);
/// After how many machines messages to groups are lost; -1 is what it is if nobody says.
const GROUP_HOPS6: (i32, i32) = (41, 18);
const INTERNET6: i32 = 41;
const ONLY_IPV6: (i32, i32) = (41, 26);
/// The kernel's options of all sockets have numbers up to this one.
const LAST: i32 = 90;

impl Options {
    /// How long calls wait that receive, and that send; 0 is for ever.
    pub(crate) fn timeouts(&self) -> (u64, u64) {
        (self.receive_timeout, self.send_timeout)
    }

    /// Whether two sockets may be bound to one port because both asked for it.
    pub(crate) fn shares_with(&self, other: &Object) -> bool {
        self.reuse_port && other.options.get().reuse_port
    }

    /// After how many seconds a connection with unsent data is broken when it is closed.
    pub(crate) fn linger(&self) -> Option<i32> {
        self.has_linger.then_some(self.linger_seconds)
    }

    /// Whether a socket belongs to a group.
    pub(crate) fn is_member(&self, group: &Address) -> bool {
        self.groups.contains(&group.host())
    }

    /// Whether its own messages to a group come back to this machine: what leaves by loopback does,
    /// whatever was asked for.
    pub(crate) fn hears_itself(&self) -> bool {
        let (level, name) = GROUP_INTERFACE;
        let by_loopback = self.kept(level, name).is_some_and(|host| host & 0xff == 127);
        let (level, name) = GROUP_INTERFACE6;
        !self.no_loop || by_loopback || self.kept(level, name) == Some(LOOPBACK)
    }

    /// Joins a group.
    pub(crate) fn join(&mut self, group: &Address) -> Result<(), i32> {
        if self.is_member(group) {
            return Err(errno::EADDRINUSE);
        }
        let free = self.groups.iter_mut().find(|slot| **slot == [0; 16]);
        *free.ok_or(errno::ENOBUFS)? = group.host();
        Ok(())
    }

    /// Leaves a group.
    pub(crate) fn leave(&mut self, group: &Address) -> Result<(), i32> {
        let member = self.groups.iter_mut().find(|slot| **slot == group.host());
        *member.ok_or(errno::EADDRNOTAVAIL)? = [0; 16];
        Ok(())
    }

    pub(crate) fn keep(&mut self, level: i32, name: i32, value: i32) {
        let slot = self.kept.iter_mut().find(|(l, n, _)| (*l, *n) == (level, name) || *n == 0);
        if let Some(slot) = slot {
            *slot = (level, name, value);
        }
    }

    pub(crate) fn kept(&self, level: i32, name: i32) -> Option<i32> {
        self.kept.iter().find(|(l, n, _)| (*l, *n) == (level, name)).map(|&(.., value)| value)
    }
}

/// Refuses an option that no kernel has.
fn check_name(level: i32, name: i32) -> Result<(), i32> {
    if level == SOCKET && !(1..=LAST).contains(&name) { Err(errno::ENOPROTOOPT) } else { Ok(()) }
}

fn nanoseconds_at(k: &impl Host, at: usize) -> Result<u64, i32> {
    let [seconds, microseconds] = k.load::<[u64; 2]>(at)?;
    Ok(seconds.saturating_mul(1_000_000_000).saturating_add(microseconds.saturating_mul(1000)))
}

/// Does what the system call does.
pub(crate) fn set(
    k: &impl Host,
    number: usize,
    (level, name): (i32, i32),
    (at, length): (usize, usize),
) -> Result<isize, i32> {
    check_name(level, name)?;
    if let (SOCKET, RECEIVE_TIMEOUT | SEND_TIMEOUT) = (level, name) {
        before_change(k, number);
    }
    let socket = k.object(number);
    let mut options = socket.options.get();
    let value = if length >= 4 { k.load::<i32>(at)? } else { 0 };
    let needed = match (level, name) {
        (SOCKET, LINGER) => 8,
        (SOCKET, RECEIVE_TIMEOUT | SEND_TIMEOUT) => 16,
        (SOCKET | INTERNET6, _) => 4,
        _ => 1,
    };
    if length < needed {
        return Err(errno::EINVAL);
    }
    if let Some(about) = multicast::about(level, name) {
        return multicast::change(k, number, about, (level, name), (at, length));
    }
    match (level, name) {
        (SOCKET, TYPE | ERROR | ACCEPTS | PROTOCOL | DOMAIN) => return Err(errno::ENOPROTOOPT),
        (SOCKET, REUSE_ADDRESS) => options.reuse_address = value != 0,
        (SOCKET, REUSE_PORT) => options.reuse_port = value != 0,
        (SOCKET, BROADCAST) => options.broadcast = value != 0,
        // The kernel doubles what it is asked for.
        (SOCKET, SEND_BUFFER) => options.send_buffer = value.clamp(2304, 106_496) * 2,
        (SOCKET, RECEIVE_BUFFER) => options.receive_buffer = value.clamp(1152, 106_496) * 2,
        (SOCKET, LINGER) => {
            let [on, seconds] = k.load::<[i32; 2]>(at)?;
            options.has_linger = on != 0;
            options.linger_seconds = seconds;
        }
        (SOCKET, RECEIVE_TIMEOUT) => options.receive_timeout = nanoseconds_at(k, at)?,
        (SOCKET, SEND_TIMEOUT) => options.send_timeout = nanoseconds_at(k, at)?,
        ONLY_IPV6 if socket.family.get() == INET6 => {
            if socket.local.get().is_some() {
                return Err(errno::EINVAL);
            }
            options.only_ipv6 = value != 0;
            options.keep(level, name, i32::from(value != 0));
        }
        GROUP_INTERFACE6 => {
            multicast::check_interface(value)?;
            options.keep(level, name, value);
        }
        GROUP_HOPS6 if !(-1..=255).contains(&value) => return Err(errno::EINVAL),
        GROUP_HOPS6 if value < 0 => options.keep(level, name, default(level, name)),
        // Here the address may come after that of a group.
        GROUP_INTERFACE if length >= 8 => options.keep(level, name, k.load(at + 4)?),
        _ => options.keep(
            level,
            name,
            if length >= 4 { value } else { i32::from(k.load::<u8>(at)?) },
        ),
    }
    socket.options.set(options);
    Ok(0)
}

/// Does what the system call does.
pub(crate) fn get(
    k: &impl Host,
    number: usize,
    (level, name): (i32, i32),
    (at, length_at): (usize, usize),
) -> Result<isize, i32> {
    check_name(level, name)?;
    let socket = k.object(number);
    let options = socket.options.get();
    let room = k.load::<u32>(length_at)? as usize;
    let seconds = |nanoseconds: u64| {
        let pair = [nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000 / 1000];
        pair.map(u64::to_le_bytes)
    };
    if let (SOCKET, RECEIVE_TIMEOUT | SEND_TIMEOUT) = (level, name) {
        let receives = name == RECEIVE_TIMEOUT;
        let [high, low] =
            seconds(if receives { options.receive_timeout } else { options.send_timeout });
        let mut both = [0; 16];
        both[..8].copy_from_slice(&high);
        both[8..].copy_from_slice(&low);
        return tell(k, &both, (at, room), length_at);
    }
    let value: i32 = match (level, name) {
        (SOCKET, TYPE) => {
            if socket.kind.get() == Kind::Datagram {
                2
            } else {
                1
            }
        }
        (SOCKET, ERROR) => {
            k.point(Operation::SocketState(abi::Object::NONE), key(number));
            socket.error.replace(0)
        }
        (SOCKET, REUSE_ADDRESS) => options.reuse_address.into(),
        (SOCKET, REUSE_PORT) => options.reuse_port.into(),
        (SOCKET, BROADCAST) => options.broadcast.into(),
        (SOCKET, SEND_BUFFER) => {
            if options.send_buffer == 0 {
                212_992
            } else {
                options.send_buffer
            }
        }
        (SOCKET, RECEIVE_BUFFER) => {
            if options.receive_buffer == 0 {
                212_992
            } else {
                options.receive_buffer
            }
        }
        (SOCKET, ACCEPTS) => (socket.stage.get() == Stage::Listening).into(),
        (SOCKET, DOMAIN) => socket.family.get().into(),
        (SOCKET, PROTOCOL) => protocol(socket),
        (SOCKET, LINGER) => {
            let mut both = [0; 8];
            both[..4].copy_from_slice(&i32::from(options.has_linger).to_le_bytes());
            both[4..].copy_from_slice(&options.linger_seconds.to_le_bytes());
            return tell(k, &both, (at, room), length_at);
        }
        _ if multicast::about(level, name) == Some(About::Loop) => (!options.no_loop).into(),
        _ if multicast::about(level, name) == Some(About::All) => (!options.only_joined).into(),
        (SOCKET, PEER_CREDENTIALS) => return Err(errno::ENOPROTOOPT),
        _ => options.kept(level, name).unwrap_or_else(|| default(level, name)),
    };
    tell(k, &value.to_le_bytes(), (at, room), length_at)
}

fn protocol(socket: &Object) -> i32 {
    match (is_unix(socket), socket.kind.get()) {
        (true, _) => 0,
        (_, Kind::Datagram) => 17,
        _ => 6,
    }
}

/// What the kernel says of options that nobody set.
fn default(level: i32, name: i32) -> i32 {
    match (level, name) {
        // The largest segment; time to live; hops of multicast packets, and their loop.
        (6, 2) => 32_768,
        (0, 2) => 64,
        (0, 33 | 34) => 1,
        (41, 16) => 64,
        GROUP_HOPS6 | (41, 19) => 1,
        _ => 0,
    }
}

fn tell(
    k: &impl Host,
    value: &[u8],
    (at, room): (usize, usize),
    length_at: usize,
) -> Result<isize, i32> {
    let told = value.len().min(room);
    k.write(at, &value[..told])?;
    k.store(length_at, told as u32)?;
    Ok(0)
}
