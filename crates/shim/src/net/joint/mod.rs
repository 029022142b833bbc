//! Connections to programs that are explored alone: every operation is a request to the checker,
//! which answers it in one of the ways that the other programs make possible.
//!
//! The possible answers depend on the causal past of the program alone, so a request is one step,
//! and if there are several answers a second step chooses among them, before any other thread runs.
//! A request without an answer blocks for ever: whatever could unblock it would be an answer.

pub(super) mod datagrams;

use super::address::{Address, UNIX};
use super::message::Pieces;
use super::message_log::{self, Side};
use super::peer::{self, Remote};
use super::poll::{self, IN, NORMAL_IN, NORMAL_OUT, OUT, READ_HANG_UP};
use super::{Blocking, End, Kind, Object, Stage, Want};
use super::{faults, happened, in_flight, is_unix, object, send_queue, stream, transfer};
use crate::descriptors;
use crate::fail::{fatal, stop};
use crate::memory::{load, store};
use crate::region::{region, setup};
use crate::scheduler::{STEPS, Woken, step, wait};
use crate::state::state;
use crate::sys::errno;
use core::sync::atomic::Ordering::Relaxed;
use everypath_shim_abi::{
    self as abi, Glance, Grant, Granted, JointRequest, MAX_MESSAGE, Moved, Operation,
    PackedOperation, PollScope, Sight, TimeMode, Upcall, UpcallReply, Waiting,
};

/// Whether whatever is outside is a program that is explored on its own.
pub(super) fn is_on() -> bool {
    setup().joint
}

/// Whether a socket is connected to such a program.
pub(super) fn is_joint(socket: &Object) -> bool {
    is_on() && peer::is_remote(socket)
}

/// Refuses to say how many bytes can be received: what others sent arrives when it is received.
pub(super) fn refuse_to_count() {
    if is_on() {
        stop!("--joint does not model ioctl(FIONREAD) on a connection to another program");
    }
}

/// Refuses waits that end when nothing else can happen: what happens elsewhere is not known here.
fn require_time() {
    if setup().time == TimeMode::Quiescent {
        stop!(
            "--joint models timeouts on connections to other programs with --time ordered and \
             any, but not with quiescent"
        );
    }
}

/// Whether a call that waits so long waits for ever. One that waits for some time finds something
/// or nothing, as one that does not wait; but time passes if it is nothing.
fn is_endless(patience: Blocking) -> bool {
    if matches!(patience, Blocking::Until(_)) {
        require_time();
    }
    patience == Blocking::Forever
}

/// Waits until time is over, if a call waits for some time: nothing came until then.
fn wait_out(number: usize, operation: PackedOperation, patience: Blocking) -> Result<(), i32> {
    let Blocking::Until(moment) = patience else { return Ok(()) };
    while state().clock.get() < moment {
        // Its last step may have been a choice.
        state().current().announce_packed(operation, super::key(number));
        let woken = wait(Waiting::Network, super::key(number), Some(moment));
        if woken == (Woken::Interrupted { restart: false }) {
            return Err(errno::EINTR);
        }
    }
    Ok(())
}

/// Makes a request to the checker. Bytes that belong to the answer are in [`region`]'s message.
fn request(request: JointRequest) -> Grant {
    let thread = state().current().path.get();
    let may_block = request.may_block();
    let mut reply = peer::upcall(Upcall::Joint { thread, step: STEPS.load(Relaxed), request });
    if let UpcallReply::Ways(ways) = reply {
        reply = peer::upcall(Upcall::Choose { thread, way: choose(ways) });
    }
    let grant = match reply {
        UpcallReply::Granted(grant) => grant,
        UpcallReply::None
        | UpcallReply::InTrees
        | UpcallReply::Ways(_)
        | UpcallReply::Refused { .. } => {
            fatal("the checker's reply to an upcall does not grant a request");
        }
    };
    if grant.granted == Granted::Never && !may_block {
        // There were more events than are to be explored.
        loop {
            wait(Waiting::Network, abi::Object::NONE, None);
        }
    }
    grant
}

/// Chooses one of several ways, before any other thread moves.
fn choose(ways: u32) -> u32 {
    let state = state();
    let exclusive = state.exclusive.replace(state.current.get() + 1);
    state.selectable.set(state.selectable.get() + 1);
    let chosen = step(Operation::Choose(ways), abi::Object::NONE);
    state.selectable.set(state.selectable.get() - 1);
    state.exclusive.set(exclusive);
    u32::from(chosen)
}

/// The number of a connection.
fn connection(socket: &Object) -> u32 {
    socket.remote.get().handle()
}

/// The number of a listener.
fn listener(socket: &Object) -> u32 {
    socket.counter.get() as u32
}

/// Tells that the program listens.
pub(super) fn listen(socket: &Object) {
    if is_on() {
        let backlog = u32::from(socket.backlog.get().saturating_sub(1));
        let at = peer::socket_address(&socket.local.get());
        let listening = request(JointRequest::Listen { at, backlog });
        socket.counter.set(u64::from(listening.handle));
    }
}

/// Tells that it does not any more.
pub(super) fn unlisten(socket: &Object) {
    if is_on() {
        request(JointRequest::Unlisten { listener: listener(socket) });
    }
}

/// Refuses a connection of the program to itself: others could use the same listener.
pub(super) fn refuse_own() {
    if is_on() {
        stop!(
            "--joint does not model a program that connects to itself; use --with without --joint"
        );
    }
}

/// Refuses that a program receives no more, if the other end would be told.
pub(super) fn refuse_to_stop_receiving(socket: &Object) {
    if is_joint(socket) && is_unix(socket) {
        stop!("--joint does not model shutdown(SHUT_RD) of a Unix socket to another program");
    }
}

/// Connects to another program.
pub(super) fn connect(number: usize, to: Address, waits: bool) -> Result<isize, i32> {
    let socket = object(number);
    let thread = state().current();
    let which = thread.connections.get();
    thread.connections.set(which + 1);
    let ordinal = u32::from(which);
    let answer = request(JointRequest::Connect { to: peer::socket_address(&to), ordinal });
    match answer.granted {
        Granted::Done => {
            stream::name(socket, &to)?;
            socket.foreign.set(to);
            stand(socket, answer.handle);
            if waits || is_unix(socket) {
                return Ok(0);
            }
            socket.stage.set(Stage::Connecting);
            Err(errno::EINPROGRESS)
        }
        Granted::Never => wait_in_vain(number),
        _ => super::connect::refuse(socket, errno::ECONNREFUSED, waits),
    }
}

/// Nothing ever lets the thread go on but a signal.
fn wait_in_vain(number: usize) -> Result<isize, i32> {
    loop {
        let woken = wait(Waiting::Network, super::key(number), None);
        if woken == (Woken::Interrupted { restart: false }) {
            return Err(errno::EINTR);
        }
    }
}

fn stand(socket: &Object, handle: u32) {
    socket.stage.set(Stage::Connected);
    socket.remote.set(Remote::joint(handle));
}

/// Accepts a connection of another program; none if there will be none.
pub(super) fn accept(listener: usize, patience: Blocking) -> Result<Option<usize>, i32> {
    let queue = object(listener);
    let waits = is_endless(patience);
    let answer = request(JointRequest::Accept { listener: self::listener(queue), waits });
    queue.sight.set(Sight::Waits);
    match answer.granted {
        Granted::Accepted => {}
        Granted::Nothing => {
            return wait_out(listener, Operation::Accept.pack(), patience).map(|()| None);
        }
        _ => return Ok(None),
    }
    let number = descriptors::free_object().ok_or(errno::EMFILE)?;
    let socket = object(number);
    socket.kind.set(Kind::Stream);
    let family = queue.family.get();
    socket.family.set(family);
    socket.local.set(queue.local.get().concrete());
    socket.foreign.set(match family {
        UNIX => Address::any(UNIX),
        _ => Address::loopback(family).with_port(peer::CLIENT_PORTS),
    });
    stand(socket, answer.handle);
    Ok(Some(number))
}

/// Sends to another program; returns how many bytes were sent.
pub(super) fn send(number: usize, pieces: Pieces) -> Result<usize, i32> {
    let socket = object(number);
    let total = faults::written(pieces.length());
    let mut sent = 0;
    let there = Side::Outside(socket.foreign.get());
    while sent < total {
        let message = peer::gather(pieces, sent, (total - sent).min(MAX_MESSAGE));
        let length = message.len();
        let connection = connection(socket);
        match request(JointRequest::Send { connection, length: length as u32 }).granted {
            Granted::Reset => {
                broke(socket);
                return if sent > 0 { Ok(sent) } else { Err(errno::ECONNRESET) };
            }
            // On this machine, who sends finds out at once.
            Granted::Lost if is_unix(socket) => {
                socket.shut_sending.set(true);
                return if sent > 0 { Ok(sent) } else { Err(errno::EPIPE) };
            }
            // The other machine takes it and answers that nobody is there.
            Granted::Lost => {
                socket.error.set(errno::EPIPE);
                socket.shut_sending.set(true);
                return Ok(total);
            }
            _ => {
                let content = Pieces::One { address: message.as_ptr() as usize, length };
                message_log::handed(Side::Socket(number), there, content);
                sent += length;
            }
        }
    }
    Ok(sent)
}

fn broke(socket: &Object) {
    socket.shut_sending.set(true);
    socket.partner_end.set(End::Gone);
}

/// Receives what another program has sent; none if nothing is there, or will come.
pub(super) fn receive(
    number: usize,
    pieces: Pieces,
    received: &mut usize,
    patience: Blocking,
) -> Option<Result<(), i32>> {
    let socket = object(number);
    if socket.shut_receiving.get() {
        return Some(Ok(()));
    }
    let most = (pieces.length() - *received).min(MAX_MESSAGE) as u32;
    let (connection, waits) = (connection(socket), is_endless(patience));
    let answer = request(JointRequest::Receive { connection, most, waits });
    socket.sight.set(Sight::Waits);
    match answer.granted {
        Granted::Nothing => {
            match wait_out(number, Operation::Receive(Moved::Nothing).pack(), patience) {
                // What is known of the connection would seem to be something to look at again.
                Ok(()) if transfer::can_receive(number) => Some(Err(errno::EAGAIN)),
                waited => waited.err().map(Err),
            }
        }
        Granted::Bytes => {
            let mut from = region().message.as_ptr() as usize;
            let content = Pieces::One { address: from, length: answer.length as usize };
            let there = Side::Outside(socket.foreign.get());
            message_log::handed(there, Side::Socket(number), content);
            pieces.each(*received, answer.length as usize, |address, length| {
                crate::memory::copy(address, from, length);
                from += length;
            });
            *received += answer.length as usize;
            Some(Ok(()))
        }
        Granted::Reset => {
            broke(socket);
            Some(Err(errno::ECONNRESET))
        }
        // What is known of the connection would seem to be something to look at again.
        Granted::Never if transfer::can_receive(number) => Some(wait_in_vain(number).map(drop)),
        Granted::Never => None,
        _ => Some(Ok(())),
    }
}

/// Tells another program that nothing more will be sent.
pub(super) fn shut(socket: &Object) {
    request(JointRequest::Shut { connection: connection(socket) });
}

/// Gives up a connection.
pub(super) fn close(number: usize) {
    let socket = object(number);
    request(JointRequest::Close { connection: connection(socket) });
    socket.remote.set(Remote::default());
    happened(number);
}

/// Refuses to look at bytes that stay where they are.
pub(super) fn refuse_to_peek() {
    stop!("--joint does not model recv(MSG_PEEK) on a connection to another program");
}

/// Refuses to tell that something has changed since somebody looked: only what is there is known.
pub(super) fn refuse_edges(number: usize, sees_edges: bool) {
    let it = object(number);
    let is_watched = is_joint(it) || it.stage.get() == Stage::Listening || datagrams::hears(it);
    if is_on() && sees_edges && is_watched {
        stop!("--joint does not model EPOLLET on a connection to another program");
    }
}

/// What is known of a connection since somebody looked at it.
pub(super) fn readiness(socket: &Object) -> (bool, End) {
    let end = match socket.sight.get() {
        Sight::Waits | Sight::Input => socket.partner_end.get(),
        Sight::End | Sight::Gone => End::Finished,
        Sight::Broken => End::Gone,
    };
    (socket.sight.get() != Sight::Waits, end)
}

/// What a call looks at that other programs decide about.
struct Looked {
    things: [(usize, Glance); Glance::MOST],
    count: usize,
    /// Whether it looks at other things besides.
    has_others: bool,
}

impl Looked {
    fn of(want: Want) -> Self {
        let things = [(0, Glance::Connections(0)); Glance::MOST];
        let mut looked = Looked { things, count: 0, has_others: false };
        poll::each_wanted(want, &mut |number, events| looked.enter(number, events));
        looked
    }

    fn enter(&mut self, number: usize, events: u32) {
        let it = object(number);
        if self.things[..self.count].iter().any(|(known, _)| *known == number) {
            return;
        }
        let glance = match (it.kind.get(), it.stage.get()) {
            (Kind::Epoll, _) => return,
            (Kind::Stream, Stage::Listening) => Glance::Connections(it.counter.get() as u32),
            (Kind::Stream, Stage::Connecting | Stage::Connected) if is_joint(it) => {
                if it.shut_receiving.get() {
                    return;
                }
                let sees_end = events & READ_HANG_UP != 0 || it.shut_sending.get();
                Glance::Bytes(it.remote.get().handle(), sees_end)
            }
            (Kind::Datagram, _) if datagrams::asks(it) && it.counter.get() != 0 => {
                Glance::Datagrams(it.counter.get() as u16)
            }
            (Kind::Datagram, _) if datagrams::asks(it) => {
                stop!("--joint does not model a wait at an unbound datagram socket")
            }
            _ => {
                self.has_others = true;
                return;
            }
        };
        if events & (IN | NORMAL_IN | OUT | NORMAL_OUT) == 0 {
            stop!(
                "--joint models poll on connections to other programs for reading and writing only"
            );
        }
        let Some(free) = self.things.get_mut(self.count) else {
            stop!("--joint does not model poll of so many connections to other programs at once");
        };
        *free = (number, glance);
        self.count += 1;
    }
}

/// Looks at what a call waits for, as far as other programs decide about it. What comes of it is
/// known to [`ready`] from then on.
pub(super) fn look(want: Want, patience: Blocking) -> Result<(), i32> {
    if !is_on() {
        return Ok(());
    }
    loop {
        let is_over = look_once(want, patience)?;
        // The datagram may have been lost.
        if is_over || poll::is_satisfied(want) {
            return Ok(());
        }
    }
}

/// Looks once; whether there is no reason to look again.
fn look_once(want: Want, patience: Blocking) -> Result<bool, i32> {
    let Looked { things, count, has_others } = Looked::of(want);
    let Some((first, _)) = things[..count].first() else { return Ok(true) };
    let patience = if poll::is_satisfied(want) { Blocking::None } else { patience };
    let waits = is_endless(patience);
    if waits && has_others {
        stop!(
            "--joint does not model one poll of connections to other programs and of other \
             descriptors"
        );
    }
    let place = region().message.as_ptr() as usize;
    for (at, (_, glance)) in things[..count].iter().enumerate() {
        store(place + at * Glance::LENGTH, glance.to_bytes());
    }
    match request(JointRequest::Look { count: count as u32, waits }).granted {
        Granted::Ready => {
            for (at, (number, _)) in things[..count].iter().enumerate() {
                let seen = usize::from(load::<u8>(place + at));
                object(*number).sight.set(Sight::ALL[seen % Sight::ALL.len()]);
            }
            let mut is_over = true;
            for (number, _) in &things[..count] {
                let is_seen = object(*number).sight.get() != Sight::Waits;
                if is_seen && datagrams::asks(object(*number)) && in_flight::decides(*number) {
                    datagrams::fetch(*number, Blocking::None);
                    send_queue::settle(*number);
                    is_over = false;
                }
            }
            Ok(is_over)
        }
        Granted::Nothing if has_others => Ok(true),
        Granted::Nothing => {
            wait_out(*first, Operation::Poll(PollScope::default()).pack(), patience).map(|()| true)
        }
        _ => wait_in_vain(*first).map(|_| true),
    }
}
