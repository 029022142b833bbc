//! The time of peers: what one says after a while, without being asked.
//!
//! A peer that waits with a timeout may still speak when its answer is complete. It is asked for that
//! whenever it makes a difference: when time has passed for the program (a timeout, `sleep`, an alarm) and
//! it looks again, and when no thread of the program can run. What the peer says then becomes visible as
//! every answer does, at once or later (`arrival`). A silence in which nothing was said leaves a connection
//! where it was in its communication tree.

use crate::blocking::Blocking;
use crate::frames::milliseconds;
use crate::host::{Host, LAST, PEERS};
use crate::object::{Kind, Object, Stage};
use crate::peer::{self, is_remote};
use crate::send_queue::{self, Put};
use crate::state::Want;
use crate::trees::Trees;
use crate::wakeup::happened;
use crate::{arrival, joint, message_log, stop, wants};
use everypath_commtree::{End, Lookup, Position, Sent};
use everypath_shim_abi::TimeMode;

/// A peer whose messages were all lost that it sent by itself, so often in a row, is not waited for any
/// more: more of them can be lost, too.
const LOST: u32 = 3;
/// A peer that speaks by itself so often in a row would do so for ever.
const UNASKED: u32 = 32;

/// To be called after every exchange with a peer.
pub(crate) fn begin(k: &impl Host, socket: &Object) {
    socket.unasked.set(0);
    socket.unheard.set(0);
    begin_again(k, socket);
}

/// To be called when the program has received something.
pub(crate) fn received(socket: &Object) {
    socket.unheard.set(0);
}

/// A program may be so much slower than it is here: nanoseconds.
const SLOWER: u64 = 70_000_000;

/// The moment up to which peers may have spoken when a call looks: the program may be slow, unless time
/// passes only when nothing else can happen. A call that waits for ever finds it in any case.
pub(crate) fn until_look(k: &impl Host, patience: Blocking) -> u64 {
    let is_late = k.setup().late_answers && k.setup().time != TimeMode::Quiescent;
    match patience {
        Blocking::None | Blocking::Until(_) if is_late && are_there(k) => {
            let slow = k.clock().saturating_add(SLOWER);
            k.next_deadline().unwrap_or(u64::MAX).clamp(k.clock(), slow)
        }
        _ => k.clock(),
    }
}

fn begin_again(k: &impl Host, socket: &Object) {
    socket.spoken_at.set(k.clock());
    socket.answered_at.set(k.clock());
    socket.quiet_until.set(k.clock());
    if k.trees().is_timed(socket.remote.get().position) {
        k.state().has_timed_peers.set(true);
    }
}

/// Whether the peer of a connection may say something until a moment, and nothing is on its way.
fn may_speak_until(k: &impl Host, number: usize, moment: u64) -> bool {
    let socket = k.object(number);
    let remote = socket.remote.get();
    let is_waited_for = match (socket.kind.get(), socket.stage.get()) {
        (Kind::Stream, Stage::Connected) => {
            k.trees().received(remote.position) == remote.reader.0
                && k.trees().peer_end(remote.position) == End::Open
                && !peer::is_reset(socket)
        }
        (Kind::Datagram, _) => socket.waiting() == 0 && send_queue::waiting(k, number).is_none(),
        _ => false,
    };
    is_waited_for
        && is_remote(socket)
        && k.trees().is_timed(remote.position)
        && socket.quiet_until.get() < moment
        && socket.unheard.get() < LOST
}

/// Whether any peer of the program waits with a timeout.
fn are_there(k: &impl Host) -> bool {
    k.state().has_timed_peers.get() && !joint::is_on(k) && !k.is_one_of_several()
}

/// When a wait for ever should ask the peers, if one of them may still say something.
pub(crate) fn deadline(k: &impl Host, want: Want) -> Option<u64> {
    let mut found = None;
    if are_there(k) {
        let next = k.next_deadline().unwrap_or(u64::MAX);
        wants::each_watched(k, want, &mut |number| {
            if may_speak_until(k, number, next) {
                found = Some(PEERS);
            } else if found.is_none() && may_speak_until(k, number, u64::MAX) {
                found = Some(LAST);
            }
        });
    }
    found
}

/// The moment up to which peers are asked by a wait that ended at such a deadline.
pub(crate) fn horizon(k: &impl Host, deadline: u64) -> u64 {
    if deadline == PEERS { k.next_deadline().unwrap_or(u64::MAX) } else { u64::MAX }
}

/// Gives the peers that a wait is about time until a moment; whether any of them says something.
pub(crate) fn pass(k: &impl Host, want: Want, moment: u64) -> bool {
    let mut heard = false;
    if are_there(k) {
        wants::each_watched(k, want, &mut |number| {
            heard |= may_speak_until(k, number, moment) && keep_silent(k, number, moment);
        });
    }
    heard
}

/// Asks for what a peer says on a connection because of what happened on others.
pub(crate) fn hear(k: &impl Host, number: usize) {
    let socket = k.object(number);
    let before = socket.remote.get();
    // A silence that is not known yet: what was said before is no answer.
    let is_known = |time: &u32| {
        matches!(k.trees().write(before.position, Sent::Silence(*time)), Lookup::Hit(_))
    };
    let time = (1..u32::MAX).find(|time| !is_known(time)).unwrap_or(u32::MAX);
    let position = peer::reach(k, before.position, Sent::Silence(time));
    if is_more(k, before.position, position) {
        socket.remote.set(before.moved_to(position));
        message_log::heard(k, number, Some(before.position), position);
        peer::answered_now(k, socket);
        happened(k, number);
    }
}

/// Whether a peer has said or ended anything between two positions.
fn is_more(k: &impl Host, earlier: Position, later: Position) -> bool {
    k.trees().received(later) != k.trees().received(earlier)
        || k.trees().peer_end(later) != k.trees().peer_end(earlier)
}

fn keep_silent(k: &impl Host, number: usize, moment: u64) -> bool {
    let socket = k.object(number);
    let before = socket.remote.get();
    let time = match moment {
        u64::MAX => u32::MAX,
        _ => milliseconds(moment - socket.spoken_at.get()).min(u32::MAX - 1),
    };
    socket.quiet_until.set(moment);
    if time == 0 {
        return false;
    }
    let position = peer::reach(k, before.position, Sent::Silence(time));
    if !is_more(k, before.position, position) {
        return false;
    }
    let unasked = socket.unasked.get() + 1;
    if unasked > UNASKED {
        stop!(
            k,
            "a peer says something by itself again and again, {UNASKED} times without being sent anything: \
             executions with it have no end. Let the program end before, or close the connection"
        );
    }
    socket.remote.set(before.moved_to(position));
    match socket.kind.get() {
        Kind::Datagram => peer::absorb(k, number, Put::ByReceiver),
        _ => {
            message_log::heard(k, number, Some(before.position), position);
            arrival::answered(k, socket);
        }
    }
    let unheard = socket.unheard.get() + 1;
    begin_again(k, socket);
    if moment <= k.clock() {
        // It has spoken before that.
        socket.answered_at.set(0);
    }
    socket.unasked.set(unasked);
    socket.unheard.set(unheard);
    happened(k, number);
    true
}
