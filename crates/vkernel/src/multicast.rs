//! Multicast groups: which sockets receive a message. There is one interface, `lo`, with a route to
//! every group.

use crate::footprint::touches;
use crate::host::Host;
use crate::object::{Kind, Object};
use crate::sockaddr::{Address, INET, INET6};
use crate::{errno, fd_table};
use everypath_shim_abi::{self as abi, Operation};

const INTERNET: i32 = 0;
const INTERNET6: i32 = 41;
/// The size of a `struct group_req`, and where the group's address is in it.
const REQUEST: usize = 136;
const REQUESTED: usize = 8;

/// The number of the interface, and its name.
pub(crate) const LOOPBACK: i32 = 1;
const NAME: [u8; 16] = *b"lo\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// What an option of a socket says about groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// Whether messages to a group come back to this machine.
    Loop,
    /// Whether the socket hears what others on this machine joined.
    All,
    Join,
    Leave,
}

/// What an option says about groups, if that is what it is about.
pub(crate) fn about(level: i32, name: i32) -> Option<About> {
    match (level, name) {
        (INTERNET, 34) | (INTERNET6, 19) => Some(About::Loop),
        (INTERNET, 49) | (INTERNET6, 29) => Some(About::All),
        (INTERNET, 35) | (INTERNET6, 20) | (INTERNET | INTERNET6, 42) => Some(About::Join),
        (INTERNET, 36) | (INTERNET6, 21) | (INTERNET | INTERNET6, 45) => Some(About::Leave),
        _ => None,
    }
}

/// Refuses the number of an interface that is not there; 0 is any.
pub(crate) fn check_interface(number: i32) -> Result<(), i32> {
    if matches!(number, 0 | LOOPBACK) { Ok(()) } else { Err(errno::ENODEV) }
}

/// Says the name of the interface with a number, or the number of the one with a name: in a
/// `struct ifreq`, the number is after the name.
pub(crate) fn tell_interface(k: &impl Host, says_name: bool, at: usize) -> Result<isize, i32> {
    let number_at = at + NAME.len();
    let is_known = match says_name {
        true => k.load::<i32>(number_at)? == LOOPBACK,
        false => k.load::<[u8; 3]>(at)? == NAME[..3],
    };
    if !is_known {
        return Err(errno::ENODEV);
    }
    match says_name {
        true => k.store(at, NAME)?,
        false => k.store(number_at, LOOPBACK)?,
    }
    Ok(0)
}

/// Whether a socket hears what is sent to a group.
pub(crate) fn hears(k: &impl Host, socket: &Object, group: &Address) -> bool {
    let is_here = |other: &Object| {
        let local = other.local.get();
        other.kind.get() == Kind::Datagram && local.is_inet() && local.port() == group.port()
    };
    let is_member = |number: usize| {
        is_here(k.object(number)) && k.object(number).options.get().is_member(group)
    };
    let (local, options) = (socket.local.get(), socket.options.get());
    // Who joined at another port counts for the kernel, too; but no step says that it looks there.
    let overhears = || {
        let is_kin = local.family() == group.family();
        !options.only_joined && is_kin && fd_table::object_numbers(k).any(is_member)
    };
    is_here(socket)
        && (local.is_any() || local.host() == group.host())
        && (options.is_member(group) || overhears())
}

/// The group that an option names.
fn named(
    k: &impl Host,
    level: i32,
    name: i32,
    (at, length): (usize, usize),
) -> Result<Address, i32> {
    let (family, needed) = if level == INTERNET { (INET, 8) } else { (INET6, 20) };
    let is_general = matches!(name, 42 | 45);
    if length < if is_general { REQUEST } else { needed } {
        return Err(errno::EINVAL);
    }
    let (group, interface) = match is_general {
        true => (Address::read(k, at + REQUESTED, REQUEST - REQUESTED)?, k.load::<i32>(at)?),
        // The older Internet names an interface by its address, of which there are many.
        false if family == INET => (Address::group(k, family, at)?, 0),
        false => (Address::group(k, family, at)?, k.load::<i32>(at + 16)?),
    };
    if group.family() != family || !group.is_multicast() {
        return Err(errno::EINVAL);
    }
    check_interface(interface).map(|()| group)
}

/// Changes which groups a socket belongs to, or what it hears.
pub(crate) fn change(
    k: &impl Host,
    number: usize,
    about: About,
    (level, name): (i32, i32),
    (at, length): (usize, usize),
) -> Result<isize, i32> {
    let value = if length >= 4 { k.load::<i32>(at)? } else { i32::from(k.load::<u8>(at)?) };
    let is_strict = matches!((level, about), (INTERNET6, About::Loop) | (INTERNET, About::All));
    let group = match about {
        About::Join | About::Leave => named(k, level, name, (at, length))?,
        _ if is_strict && !matches!(value, 0 | 1) => return Err(errno::EINVAL),
        About::Loop | About::All => Address::default(),
    };
    if about != About::Loop {
        k.point(Operation::Bind(abi::Object::NONE), touches(k, number));
    }
    let mut options = k.object(number).options.get();
    match about {
        About::Loop => options.no_loop = value == 0,
        About::All => options.only_joined = value == 0,
        About::Join => options.join(&group)?,
        About::Leave => options.leave(&group)?,
    }
    k.object(number).options.set(options);
    Ok(0)
}
