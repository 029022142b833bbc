//! Control messages (`IP_PKTINFO`): the local address of a datagram.

use super::Object;
use super::address::INET;
use crate::memory::{load, store, write, zero};

/// `struct cmsghdr`.
const HEADER: usize = 16;
/// `IP_PKTINFO`, as an option and as a message, and the same for IPv6.
const INTERNET: (i32, i32) = (0, 8);
const WANTED6: (i32, i32) = (41, 49);
const INTERNET6: (i32, i32) = (41, 50);
/// All that we know of is the loopback interface.
const LOOPBACK_INTERFACE: u32 = 1;

/// Whether there are messages that do more than to name an address to send from: there is only one.
pub(super) fn has_others_than_addresses(at: usize, length: usize) -> bool {
    let mut place = 0;
    while at != 0 && place + HEADER <= length {
        let size: usize = load(at + place);
        let kind = (load::<i32>(at + place + 8), load::<i32>(at + place + 12));
        if size < HEADER || !matches!(kind, INTERNET | INTERNET6) {
            return true;
        }
        place += size.next_multiple_of(8);
    }
    false
}

/// Says where a message was sent to, if the program wants to know; how many bytes that takes, or
/// none if there is no room.
pub(super) fn tell_destination(socket: &Object, at: usize, room: usize) -> Option<usize> {
    let (is_four, options) = (socket.family.get() == INET, socket.options.get());
    let (level, name) = if is_four { INTERNET } else { WANTED6 };
    if at == 0 || options.kept(level, name).is_none_or(|wanted| wanted == 0) {
        return Some(0);
    }
    let size = HEADER + if is_four { 12 } else { 20 };
    let taken = size.next_multiple_of(8);
    if room < size {
        return None;
    }
    let host = socket.local.get().concrete().host();
    zero(at, taken.min(room));
    store(at, size);
    let kind = if is_four { INTERNET } else { INTERNET6 };
    store(at + 8, [kind.0, kind.1]);
    if is_four {
        store(at + HEADER, LOOPBACK_INTERFACE);
        write(at + HEADER + 4, &host[12..]);
        write(at + HEADER + 8, &host[12..]);
    } else {
        write(at + HEADER, &host);
        store(at + HEADER + 16, LOOPBACK_INTERFACE);
    }
    Some(taken.min(room))
}
