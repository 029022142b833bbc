//! Sockets during a network partition: see `partition.rs`.
//!
//! Stream data is in flight until the partition is healed, and so is the end of a connection. Data
//! that arrived before can be received. Datagrams are lost. Unix sockets do not use the network.

use crate::host::{Host, Thread};
use crate::object::{End, Kind, Object, Stage, is_unix, key, partner};
use crate::state::Want;
use crate::wakeup::{happened, wake};
use crate::{errno, fd_table, tcp};
use everypath_shim_abi as abi;

/// Whether nothing gets from one process to another.
pub fn separates(k: &impl Host, one: usize, other: usize) -> bool {
    k.state().cuts[one].get() >> other & 1 != 0
}

/// Whether nothing gets from one end of a stream to the other.
pub(crate) fn is_cut(k: &impl Host, end: &Object) -> bool {
    !is_unix(end) && separates(k, usize::from(end.owner.get()), usize::from(end.across.get()))
}

/// Whether what a thread sends never reaches a socket.
pub(crate) fn is_lost(k: &impl Host, sender: &impl Thread, receiver: &Object) -> bool {
    let from = k.owner(sender.number());
    !is_unix(receiver) && separates(k, from, usize::from(receiver.owner.get()))
}

/// So many bytes were put into the buffer of one end.
pub(crate) fn arrived(k: &impl Host, number: usize, count: usize) {
    let end = k.object(number);
    if is_cut(k, end) {
        end.held.set(end.held.get() + count as u32);
    } else {
        happened(k, number);
    }
}

/// The other side has ended its end.
pub(crate) fn end(k: &impl Host, number: usize, how: End) {
    let end = k.object(number);
    if is_cut(k, end) {
        let worst = if end.later_end.get() == End::Gone { End::Gone } else { how };
        end.later_end.set(worst);
    } else {
        learn_of_end(end, how);
        happened(k, number);
    }
}

fn learn_of_end(end: &Object, how: End) {
    match (how, end.partner_end.get()) {
        (End::Gone, before) => {
            // Who has heard that nothing more comes can only be told not to send.
            let is_finished = before == End::Finished && !is_unix(end);
            end.partner_end.set(if is_finished { End::Finished } else { End::Gone });
            end.error.set(if is_finished { errno::EPIPE } else { errno::ECONNRESET });
            if !is_unix(end) {
                end.shut_sending.set(true);
                end.stage.set(Stage::Over);
            }
        }
        (End::Finished, End::Open) => end.partner_end.set(End::Finished),
        _ => {}
    }
}

/// The other end of the only stream that a thread waits at, in footprints, and one more than the
/// number of the process whose end that is; none if it is this process.
pub fn other_end(k: &impl Host, thread: &impl Thread) -> Option<(abi::Object, u16)> {
    let (Want::Ready { number, .. } | Want::Space { number, .. }) = thread.task().want.get() else {
        return None;
    };
    let end = k.object(usize::from(number));
    let is_apart = end.owner.get() != end.across.get();
    let is_stream = end.kind.get() == Kind::Stream && !tcp::is_listening(end);
    let far = partner(end).filter(|_| is_apart && is_stream)?;
    Some((key(far), u16::from(end.across.get()) + 1))
}

/// Whether somebody listens at an address with a key whom a process can reach.
pub(crate) fn is_reachable(k: &impl Host, from: usize, key: abi::Object) -> bool {
    fd_table::object_numbers(k).any(|number| {
        let listener = k.object(number);
        listener.kind.get() == Kind::Stream
            && tcp::is_listening(listener)
            && listener.local.get().key() == key
            && tcp::has_room(listener)
            && !separates(k, from, usize::from(listener.owner.get()))
    })
}

/// The partition between two processes is healed: data in flight arrives.
pub fn mended(k: &impl Host, one: usize, other: usize) {
    for number in fd_table::object_numbers(k) {
        let end = k.object(number);
        let ends = [end.owner.get(), end.across.get()].map(usize::from);
        let is_meant = ends == [one, other] || ends == [other, one];
        if is_meant && end.kind.get() == Kind::Stream && !is_unix(end) {
            let was_held = end.held.replace(0) > 0;
            let how = end.later_end.replace(End::Open);
            learn_of_end(end, how);
            if was_held || how != End::Open {
                happened(k, number);
            }
        }
    }
    wake(k);
}
