//! Datagrams in communication trees: each is a frame with its addresses.

use super::message::Pieces;
use super::peer::{Remote, reach};
use crate::memory::{copy, write};
use crate::region::{region, trees};
use everypath_commtree::{Sent, Take};

/// Where a frame goes or comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ends {
    /// The peer's address, in the longer form, and its port.
    pub(super) host: [u8; 16],
    pub(super) far: u16,
    /// The program's port, if the peer is a client: one socket stands for all of the program's.
    pub(super) near: u16,
}

/// What precedes the content: an address, two ports, and the length.
const FRAME: usize = 16 + 2 + 2 + 2;

/// Goes on to where a datagram leads.
pub(super) fn say(mut remote: Remote, ends: Ends, pieces: Pieces) -> Remote {
    let place = region().message.as_ptr() as usize;
    write(place, &ends.host);
    write(place + 16, &ends.far.to_be_bytes());
    write(place + 18, &ends.near.to_be_bytes());
    write(place + 20, &(pieces.length() as u16).to_le_bytes());
    let mut at = place + FRAME;
    pieces.each(0, pieces.length(), |address, length| {
        copy(at, address, length);
        at += length;
    });
    let sent = Sent::Bytes(crate::memory::bytes(place, FRAME + pieces.length()));
    remote.position = reach(remote.position, sent);
    remote
}

/// Says nothing for so many nanoseconds.
pub(super) fn keep_silent(remote: Remote, nanoseconds: u64) -> Remote {
    let milliseconds = (nanoseconds / 1_000_000).min(u64::from(u32::MAX)) as u32;
    let content = milliseconds.to_le_bytes();
    let pieces = Pieces::One { address: content.as_ptr() as usize, length: content.len() };
    // Nobody is at this address.
    say(remote, Ends::default(), pieces)
}

/// The next datagram of a peer, which stays where it is until the next one is read.
pub(super) fn next(remote: &mut Remote) -> Option<(Ends, Pieces)> {
    if trees().readable(remote.reader, remote.position) == 0 {
        return None;
    }
    let mut frame = [0; FRAME];
    trees().read(&mut remote.reader, remote.position, &mut frame, Take::Read);
    let short = |at: usize| [frame[at], frame[at + 1]];
    let length = usize::from(u16::from_le_bytes(short(20)));
    let address = region().message.as_ptr() as usize;
    let content = crate::memory::bytes_mut(address, length);
    trees().read(&mut remote.reader, remote.position, content, Take::Read);
    let mut ends = Ends::default();
    ends.host.copy_from_slice(&frame[..16]);
    ends.far = u16::from_be_bytes(short(16));
    ends.near = u16::from_be_bytes(short(18));
    Some((ends, Pieces::One { address, length }))
}
