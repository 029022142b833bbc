//! Datagrams in communication trees: each is a frame with its addresses.

use crate::host::Host;
use crate::iovec::Pieces;
use crate::object::Remote;
use crate::peer::reach;
use crate::trees::Trees;
use everypath_commtree::{Position, Reader, Sent, Take};

/// Where a frame goes or comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ends {
    /// The peer's address, in the longer form, and its port.
    pub(crate) host: [u8; 16],
    pub(crate) far: u16,
    /// The program's port, if the peer is a client: one socket stands for all of the program's.
    pub(crate) near: u16,
}

/// What precedes the content: an address, two ports, and the length.
const FRAME: usize = 16 + 2 + 2 + 2;

/// Goes on to where a datagram leads.
pub(crate) fn say(k: &impl Host, mut remote: Remote, ends: Ends, pieces: Pieces) -> Remote {
    let (place, length) = (k.message(), pieces.length(k));
    let mut frame = [0; FRAME];
    frame[..16].copy_from_slice(&ends.host);
    frame[16..18].copy_from_slice(&ends.far.to_be_bytes());
    frame[18..20].copy_from_slice(&ends.near.to_be_bytes());
    frame[20..].copy_from_slice(&(length as u16).to_le_bytes());
    k.write_own(place, &frame);
    // It could be read when the call began.
    let _ = pieces.gather(k, (0, length), place + FRAME);
    remote.position = reach(k, remote.position, Sent::Bytes(k.message_bytes(FRAME + length)));
    remote
}

/// Says nothing for so many nanoseconds.
pub(crate) fn keep_silent(k: &impl Host, mut remote: Remote, nanoseconds: u64) -> Remote {
    remote.position = reach(k, remote.position, Sent::Silence(milliseconds(nanoseconds)));
    remote
}

/// So many nanoseconds as edges of trees have them: the largest number is for ever.
pub(crate) fn milliseconds(nanoseconds: u64) -> u32 {
    (nanoseconds / 1_000_000).min(u64::from(u32::MAX)) as u32
}

/// The next datagram of a peer, which stays where it is until the next one is read.
pub(crate) fn next(k: &impl Host, remote: &mut Remote) -> Option<(Ends, Pieces)> {
    if k.trees().readable(remote.reader, remote.position) == 0 {
        return None;
    }
    let mut frame = [0; FRAME];
    k.trees().read(&mut remote.reader, remote.position, &mut frame, Take::Read);
    let short = |at: usize| [frame[at], frame[at + 1]];
    let length = usize::from(u16::from_le_bytes(short(20)));
    let address = k.message();
    // Where it is written to is the kernel's own.
    let _ = read(k, (&mut remote.reader, remote.position), address, length);
    let mut ends = Ends::default();
    ends.host.copy_from_slice(&frame[..16]);
    ends.far = u16::from_be_bytes(short(16));
    ends.near = u16::from_be_bytes(short(18));
    Some((ends, Pieces::One { address, length }))
}

/// Reads what a peer has sent to an address.
pub(crate) fn read(
    k: &impl Host,
    (reader, position): (&mut Reader, Position),
    to: usize,
    length: usize,
) -> Result<(), i32> {
    let mut part = [0; 256];
    let mut done = 0;
    while done < length {
        let count = part.len().min(length - done);
        k.trees().read(reader, position, &mut part[..count], Take::Read);
        k.write(to + done, &part[..count])?;
        done += count;
    }
    Ok(())
}
