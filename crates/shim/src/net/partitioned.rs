//! Sockets during a network partition: see `partition.rs`.
//!
//! Stream data is in flight until the partition is healed, and so is the end of a connection. Data
//! that arrived before can be received. Datagrams are lost. Unix sockets do not use the network.

use super::{End, Kind, Object, Want, happened, is_unix, key, object, partner, stream, wake};
use crate::descriptors;
use crate::multi_process;
use crate::partition::separates;
use crate::state::Thread;
use crate::sys::errno;
use everypath_shim_abi as abi;

/// Whether nothing gets from one end of a stream to the other.
pub(super) fn is_cut(end: &Object) -> bool {
    !is_unix(end) && separates(usize::from(end.owner.get()), usize::from(end.across.get()))
}

/// Whether what a thread sends never reaches a socket.
pub(super) fn is_lost(sender: &Thread, receiver: &Object) -> bool {
    let from = multi_process::owner(sender.number.get());
    !is_unix(receiver) && separates(from, usize::from(receiver.owner.get()))
}

/// So many bytes were put into the buffer of one end.
pub(super) fn arrived(number: usize, count: usize) {
    let end = object(number);
    if is_cut(end) {
        end.held.set(end.held.get() + count as u32);
    } else {
        happened(number);
    }
}

/// The other side has ended its end.
pub(super) fn end(number: usize, how: End) {
    let end = object(number);
    if is_cut(end) {
        let worst = if end.later_end.get() == End::Gone { End::Gone } else { how };
        end.later_end.set(worst);
    } else {
        learn_of_end(end, how);
        happened(number);
    }
}

fn learn_of_end(end: &Object, how: End) {
    match (how, end.partner_end.get()) {
        (End::Gone, _) => {
            end.partner_end.set(End::Gone);
            end.error.set(errno::ECONNRESET);
            if !is_unix(end) {
                end.shut_sending.set(true);
            }
        }
        (End::Finished, End::Open) => end.partner_end.set(End::Finished),
        _ => {}
    }
}

/// The other end of the only stream that a thread waits at, in footprints, and one more than the
/// number of the process whose end that is; none if it is this process.
pub(crate) fn other_end(thread: &Thread) -> Option<(abi::Object, u16)> {
    let (Want::Ready { number, .. } | Want::Space { number, .. }) = thread.want.get() else {
        return None;
    };
    let end = object(usize::from(number));
    let is_apart = end.owner.get() != end.across.get();
    let is_stream = end.kind.get() == Kind::Stream && !stream::is_listening(end);
    let far = partner(end).filter(|_| is_apart && is_stream)?;
    Some((key(far), u16::from(end.across.get()) + 1))
}

/// Whether somebody listens at an address with a key whom a process can reach.
pub(super) fn is_reachable(from: usize, key: abi::Object) -> bool {
    descriptors::object_numbers().any(|number| {
        let listener = object(number);
        listener.kind.get() == Kind::Stream
            && stream::is_listening(listener)
            && listener.local.get().key() == key
            && stream::has_room(listener)
            && !separates(from, usize::from(listener.owner.get()))
    })
}

/// The partition between two processes is healed: data in flight arrives.
pub(crate) fn mended(one: usize, other: usize) {
    for number in descriptors::object_numbers() {
        let end = object(number);
        let ends = [end.owner.get(), end.across.get()].map(usize::from);
        let is_meant = ends == [one, other] || ends == [other, one];
        if is_meant && end.kind.get() == Kind::Stream && !is_unix(end) {
            let was_held = end.held.replace(0) > 0;
            let how = end.later_end.replace(End::Open);
            learn_of_end(end, how);
            if was_held || how != End::Open {
                happened(number);
            }
        }
    }
    wake();
}
