//! Connections to programs that are explored alone: every operation is a request to the checker,
//! which answers it in one of the ways that the other programs make possible.
//!
//! The possible answers depend on the causal past of the program alone, so a request is one step,
//! and if there are several answers a second step chooses among them, before any other thread runs.
//! A request without an answer blocks for ever: whatever could unblock it would be an answer.

pub(crate) mod datagrams;

use crate::blocking::Blocking;
use crate::connect::refuse;
use crate::host::{Host, Thread, Woken};
use crate::iovec::Pieces;
use crate::message_log::{self, Side};
use crate::object::{End, Kind, Object, Remote, Stage, is_unix, key};
use crate::peer;
use crate::readiness::{IN, NORMAL_IN, NORMAL_OUT, OUT, READ_HANG_UP};
use crate::sockaddr::{Address, UNIX};
use crate::state::Want;
use crate::wakeup::happened;
use crate::{errno, faults, fd_table, in_flight, send_queue, stop, stream, tcp, wants};
use everypath_shim_abi::{
    self as abi, Glance, Grant, Granted, JointRequest, MAX_MESSAGE, Moved, Operation,
    PackedOperation, PollScope, Sight, TimeMode, Upcall, UpcallReply, Waiting,
};

/// Whether whatever is outside is a program that is explored on its own.
pub(crate) fn is_on(k: &impl Host) -> bool {
    k.setup().joint
}

/// Whether a socket is connected to such a program.
pub(crate) fn is_joint(k: &impl Host, socket: &Object) -> bool {
    is_on(k) && peer::is_remote(socket)
}

/// Refuses to say how many bytes can be received: what others sent arrives when it is received.
pub(crate) fn refuse_to_count(k: &impl Host) {
    if is_on(k) {
        stop!(k, "--joint does not model ioctl(FIONREAD) on a connection to another program");
    }
}

/// Refuses waits that end when nothing else can happen: what happens elsewhere is not known here.
fn require_time(k: &impl Host) {
    if k.setup().time == TimeMode::Quiescent {
        stop!(
            k,
            "--joint models timeouts on connections to other programs with --time ordered and \
             any, but not with quiescent"
        );
    }
}

/// Whether a call that waits so long waits for ever. One that waits for some time finds something
/// or nothing, as one that does not wait; but time passes if it is nothing.
fn is_endless(k: &impl Host, patience: Blocking) -> bool {
    if matches!(patience, Blocking::Until(_)) {
        require_time(k);
    }
    patience == Blocking::Forever
}

/// Waits until time is over, if a call waits for some time: nothing came until then.
fn wait_out(
    k: &impl Host,
    number: usize,
    operation: PackedOperation,
    patience: Blocking,
) -> Result<(), i32> {
    let Blocking::Until(moment) = patience else { return Ok(()) };
    while k.clock() < moment {
        // Its last step may have been a choice.
        k.current().announce(operation, key(number));
        let woken = k.wait(Waiting::Network, key(number), Some(moment));
        if woken == (Woken::Interrupted { restart: false }) {
            return Err(errno::EINTR);
        }
    }
    Ok(())
}

/// Makes a request to the checker. Bytes that belong to the answer are in the host's message.
fn request(k: &impl Host, request: JointRequest) -> Grant {
    let thread = k.current().path();
    let may_block = request.may_block();
    let mut reply = peer::upcall(k, Upcall::Joint { thread, step: k.steps(), request });
    if let UpcallReply::Ways(ways) = reply {
        reply = peer::upcall(k, Upcall::Choose { thread, way: choose(k, ways) });
    }
    let grant = match reply {
        UpcallReply::Granted(grant) => grant,
        UpcallReply::None
        | UpcallReply::InTrees
        | UpcallReply::Ways(_)
        | UpcallReply::PeerFailed { .. }
        | UpcallReply::Refused { .. } => {
            k.fail("the checker's reply to an upcall does not grant a request");
        }
    };
    if grant.granted == Granted::Never && !may_block {
        // There were more events than are to be explored.
        loop {
            k.wait(Waiting::Network, abi::Object::NONE, None);
        }
    }
    grant
}

/// Chooses one of several ways, before any other thread moves.
fn choose(k: &impl Host, ways: u32) -> u32 {
    u32::from(k.choose(Operation::Choose(ways), abi::Object::NONE))
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
pub(crate) fn listen(k: &impl Host, socket: &Object) {
    if is_on(k) {
        let backlog = u32::from(socket.backlog.get().saturating_sub(1));
        let at = peer::socket_address(k, &socket.local.get());
        let listening = request(k, JointRequest::Listen { at, backlog });
        socket.counter.set(u64::from(listening.handle));
    }
}

/// Tells that it does not any more.
pub(crate) fn unlisten(k: &impl Host, socket: &Object) {
    if is_on(k) {
        request(k, JointRequest::Unlisten { listener: listener(socket) });
    }
}

/// Refuses a connection of the program to itself: others could use the same listener.
pub(crate) fn refuse_own(k: &impl Host) {
    if is_on(k) {
        stop!(
            k,
            "--joint does not model a program that connects to itself; use --with without --joint"
        );
    }
}

/// Refuses that a program receives no more, if the other end would be told.
pub(crate) fn refuse_to_stop_receiving(k: &impl Host, socket: &Object) {
    if is_joint(k, socket) && is_unix(socket) {
        stop!(k, "--joint does not model shutdown(SHUT_RD) of a Unix socket to another program");
    }
}

/// Connects to another program.
pub(crate) fn connect(
    k: &impl Host,
    number: usize,
    to: Address,
    waits: bool,
) -> Result<isize, i32> {
    let socket = k.object(number);
    let thread = k.current();
    let which = thread.task().connections.get();
    thread.task().connections.set(which + 1);
    let ordinal = u32::from(which);
    let answer = request(k, JointRequest::Connect { to: peer::socket_address(k, &to), ordinal });
    match answer.granted {
        Granted::Done => {
            tcp::name(k, socket, &to)?;
            socket.foreign.set(to);
            stand(socket, answer.handle);
            if waits || is_unix(socket) {
                return Ok(0);
            }
            socket.stage.set(Stage::Connecting);
            Err(errno::EINPROGRESS)
        }
        Granted::Never => wait_in_vain(k, number),
        _ => refuse(socket, errno::ECONNREFUSED, waits),
    }
}

/// Nothing ever lets the thread go on but a signal.
fn wait_in_vain(k: &impl Host, number: usize) -> Result<isize, i32> {
    loop {
        let woken = k.wait(Waiting::Network, key(number), None);
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
pub(crate) fn accept(
    k: &impl Host,
    listener: usize,
    patience: Blocking,
) -> Result<Option<usize>, i32> {
    let queue = k.object(listener);
    let waits = is_endless(k, patience);
    let answer = request(k, JointRequest::Accept { listener: self::listener(queue), waits });
    queue.sight.set(Sight::Waits);
    match answer.granted {
        Granted::Accepted => {}
        Granted::Nothing => {
            return wait_out(k, listener, Operation::Accept.pack(), patience).map(|()| None);
        }
        _ => return Ok(None),
    }
    let number = fd_table::free_object(k).ok_or(errno::EMFILE)?;
    let socket = k.object(number);
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
pub(crate) fn send(k: &impl Host, number: usize, pieces: Pieces) -> Result<usize, i32> {
    let socket = k.object(number);
    let total = faults::written(k, pieces.length(k));
    let mut sent = 0;
    let there = Side::Outside(socket.foreign.get());
    while sent < total {
        let length = (total - sent).min(MAX_MESSAGE);
        if let Err(error) = peer::gather(k, pieces, (sent, length)) {
            return if sent > 0 { Ok(sent) } else { Err(error) };
        }
        let connection = connection(socket);
        match request(k, JointRequest::Send { connection, length: length as u32 }).granted {
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
                let content = Pieces::One { address: k.message(), length };
                message_log::handed(k, Side::Socket(number), there, content);
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
pub(crate) fn receive(
    k: &impl Host,
    number: usize,
    pieces: Pieces,
    received: &mut usize,
    patience: Blocking,
) -> Option<Result<(), i32>> {
    let socket = k.object(number);
    if socket.shut_receiving.get() {
        return Some(Ok(()));
    }
    let most = (pieces.length(k) - *received).min(MAX_MESSAGE) as u32;
    let (connection, waits) = (connection(socket), is_endless(k, patience));
    let answer = request(k, JointRequest::Receive { connection, most, waits });
    socket.sight.set(Sight::Waits);
    match answer.granted {
        Granted::Nothing => {
            match wait_out(k, number, Operation::Receive(Moved::Nothing).pack(), patience) {
                // What is known of the connection would seem to be something to look at again.
                Ok(()) if stream::can_receive(k, number) => Some(Err(errno::EAGAIN)),
                waited => waited.err().map(Err),
            }
        }
        Granted::Bytes => {
            let from = k.message();
            let content = Pieces::One { address: from, length: answer.length as usize };
            let there = Side::Outside(socket.foreign.get());
            message_log::handed(k, there, Side::Socket(number), content);
            let span = (*received, answer.length as usize);
            if let Err(error) = pieces.fill_from(k, span, from) {
                return Some(Err(error));
            }
            *received += answer.length as usize;
            Some(Ok(()))
        }
        Granted::Reset => {
            broke(socket);
            Some(Err(errno::ECONNRESET))
        }
        // What is known of the connection would seem to be something to look at again.
        Granted::Never if stream::can_receive(k, number) => Some(wait_in_vain(k, number).map(drop)),
        Granted::Never => None,
        _ => Some(Ok(())),
    }
}

/// Tells another program that nothing more will be sent.
pub(crate) fn shut(k: &impl Host, socket: &Object) {
    request(k, JointRequest::Shut { connection: connection(socket) });
}

/// Gives up a connection.
pub(crate) fn close(k: &impl Host, number: usize) {
    let socket = k.object(number);
    request(k, JointRequest::Close { connection: connection(socket) });
    socket.remote.set(Remote::default());
    happened(k, number);
}

/// Refuses to look at bytes that stay where they are.
pub(crate) fn refuse_to_peek(k: &impl Host) {
    stop!(k, "--joint does not model recv(MSG_PEEK) on a connection to another program");
}

/// Refuses to tell that something has changed since somebody looked: only what is there is known.
pub(crate) fn refuse_edges(k: &impl Host, number: usize, sees_edges: bool) {
    let it = k.object(number);
    let is_watched =
        is_joint(k, it) || it.stage.get() == Stage::Listening || datagrams::hears(k, it);
    if is_on(k) && sees_edges && is_watched {
        stop!(k, "--joint does not model EPOLLET on a connection to another program");
    }
}

/// What is known of a connection since somebody looked at it.
pub(crate) fn readiness(socket: &Object) -> (bool, End) {
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
    fn of(k: &impl Host, want: Want) -> Self {
        let things = [(0, Glance::Connections(0)); Glance::MOST];
        let mut looked = Looked { things, count: 0, has_others: false };
        wants::each_wanted(k, want, &mut |number, events| looked.enter(k, number, events));
        looked
    }

    fn enter(&mut self, k: &impl Host, number: usize, events: u32) {
        let it = k.object(number);
        if self.things[..self.count].iter().any(|(known, _)| *known == number) {
            return;
        }
        let glance = match (it.kind.get(), it.stage.get()) {
            (Kind::Epoll, _) => return,
            (Kind::Stream, Stage::Listening) => Glance::Connections(it.counter.get() as u32),
            (Kind::Stream, Stage::Connecting | Stage::Connected) if is_joint(k, it) => {
                if it.shut_receiving.get() {
                    return;
                }
                let sees_end = events & READ_HANG_UP != 0 || it.shut_sending.get();
                Glance::Bytes(it.remote.get().handle(), sees_end)
            }
            (Kind::Datagram, _) if datagrams::asks(k, it) && it.counter.get() != 0 => {
                Glance::Datagrams(it.counter.get() as u16)
            }
            (Kind::Datagram, _) if datagrams::asks(k, it) => {
                stop!(k, "--joint does not model a wait at an unbound datagram socket")
            }
            _ => {
                self.has_others = true;
                return;
            }
        };
        if events & (IN | NORMAL_IN | OUT | NORMAL_OUT) == 0 {
            stop!(
                k,
                "--joint models poll on connections to other programs for reading and writing only"
            );
        }
        let Some(free) = self.things.get_mut(self.count) else {
            stop!(
                k,
                "--joint does not model poll of so many connections to other programs at once"
            );
        };
        *free = (number, glance);
        self.count += 1;
    }
}

/// Looks at what a call waits for, as far as other programs decide about it. What comes of it is
/// known to [`ready`] from then on.
pub(crate) fn look(k: &impl Host, want: Want, patience: Blocking) -> Result<(), i32> {
    if !is_on(k) {
        return Ok(());
    }
    loop {
        let is_over = look_once(k, want, patience)?;
        // The datagram may have been lost.
        if is_over || wants::is_satisfied(k, want) {
            return Ok(());
        }
    }
}

/// Looks once; whether there is no reason to look again.
fn look_once(k: &impl Host, want: Want, patience: Blocking) -> Result<bool, i32> {
    let Looked { things, count, has_others } = Looked::of(k, want);
    let Some((first, _)) = things[..count].first() else { return Ok(true) };
    let patience = if wants::is_satisfied(k, want) { Blocking::None } else { patience };
    let waits = is_endless(k, patience);
    if waits && has_others {
        stop!(
            k,
            "--joint does not model one poll of connections to other programs and of other \
             descriptors"
        );
    }
    let place = k.message();
    for (at, (_, glance)) in things[..count].iter().enumerate() {
        k.write_own(place + at * Glance::LENGTH, &glance.to_bytes());
    }
    match request(k, JointRequest::Look { count: count as u32, waits }).granted {
        Granted::Ready => {
            for (at, (number, _)) in things[..count].iter().enumerate() {
                let mut seen = [0];
                k.read_own(place + at, &mut seen);
                let seen = usize::from(seen[0]);
                k.object(*number).sight.set(Sight::ALL[seen % Sight::ALL.len()]);
            }
            let mut is_over = true;
            for (number, _) in &things[..count] {
                let is_seen = k.object(*number).sight.get() != Sight::Waits;
                if is_seen
                    && datagrams::asks(k, k.object(*number))
                    && in_flight::decides(k, *number)
                {
                    datagrams::fetch(k, *number, Blocking::None);
                    send_queue::settle(k, *number);
                    is_over = false;
                }
            }
            Ok(is_over)
        }
        Granted::Nothing if has_others => Ok(true),
        Granted::Nothing => {
            wait_out(k, *first, Operation::Poll(PollScope::default()).pack(), patience)
                .map(|()| true)
        }
        _ => wait_in_vain(k, *first).map(|_| true),
    }
}
