//! Control messages (`IP_PKTINFO`): the local address of a datagram.

use crate::host::Host;
use crate::object::Object;
use crate::sockaddr::INET;

/// `struct cmsghdr`.
const HEADER: usize = 16;
/// `IP_PKTINFO`, as an option and as a message, and the same for IPv6.
const INTERNET: (i32, i32) = (0, 8);
const WANTED6: (i32, i32) = (41, 49);
const INTERNET6: (i32, i32) = (41, 50);
/// All that we know of is the loopback interface.
const LOOPBACK_INTERFACE: u32 = 1;

/// Whether there are messages that do more than to name an address to send from: there is only one.
pub(crate) fn has_others_than_addresses(
    k: &impl Host,
    at: usize,
    length: usize,
) -> Result<bool, i32> {
    let mut place = 0;
    while at != 0 && place + HEADER <= length {
        let size: usize = k.load(at + place)?;
        let kind = (k.load::<i32>(at + place + 8)?, k.load::<i32>(at + place + 12)?);
        if size < HEADER || !matches!(kind, INTERNET | INTERNET6) {
            return Ok(true);
        }
        place += size.next_multiple_of(8);
    }
    Ok(false)
}

/// Says where a message was sent to, if the program wants to know; how many bytes that takes, or
/// none if there is no room.
pub(crate) fn tell_destination(
    k: &impl Host,
    socket: &Object,
    (at, room): (usize, usize),
) -> Result<Option<usize>, i32> {
    let (is_four, options) = (socket.family.get() == INET, socket.options.get());
    let (level, name) = if is_four { INTERNET } else { WANTED6 };
    if at == 0 || options.kept(level, name).is_none_or(|wanted| wanted == 0) {
        return Ok(Some(0));
    }
    let size = HEADER + if is_four { 12 } else { 20 };
    let taken = size.next_multiple_of(8);
    if room < size {
        return Ok(None);
    }
    let host = socket.local.get().concrete().host();
    k.zero(at, taken.min(room))?;
    k.store(at, size)?;
    let kind = if is_four { INTERNET } else { INTERNET6 };
    k.store(at + 8, [kind.0, kind.1])?;
    if is_four {
        k.store(at + HEADER, LOOPBACK_INTERFACE)?;
        k.write(at + HEADER + 4, &host[12..])?;
        k.write(at + HEADER + 8, &host[12..])?;
    } else {
        k.write(at + HEADER, &host)?;
        k.store(at + HEADER + 16, LOOPBACK_INTERFACE)?;
    }
    Ok(Some(taken.min(room)))
}
