//! Connections to programs that are explored on their own: everything that is done with one is a
//! wish that the checker grants, in one of the ways that the other programs make possible.
//!
//! Which ways these are follows from what the program itself did before, so a wish is one step, and
//! if there are several ways a second one chooses among them, before anybody else moves. A wish that
//! is never granted waits for ever: whatever could grant it would be a way.

use super::address::{Address, UNIX};
use super::message::Pieces;
use super::ready::{self, IN};
use super::remote::{self, Remote};
use super::{End, Kind, Object, Stage, Want, happened, object, stream};
use crate::descriptors;
use crate::fail::stop;
use crate::region::{region, setup};
use crate::scheduler::{STEPS, Woken, step, wait};
use crate::state::state;
use crate::sys::errno;
use core::sync::atomic::Ordering::Relaxed;
use everypath_shim_abi::{Asked, Granted, MAX_MESSAGE, Operation, Question, Waiting, Wish};

/// Whether whatever is outside is a program that is explored on its own.
pub(super) fn is_on() -> bool {
    setup().joint
}

/// Whether a socket is connected to such a program.
pub(super) fn is_joint(socket: &Object) -> bool {
    is_on() && remote::is_remote(socket)
}

/// Refuses calls that would not wait, or not for ever: what they see is that nothing is there yet.
pub(super) fn require_waiting(waits_for_ever: bool) {
    if is_on() && !waits_for_ever {
        stop!(
            "the program looks at a connection to another program without waiting, or waits for \
             some time only, which --joint does not model"
        );
    }
}

/// Lets the checker grant a wish. What comes of it may be in [`region`]'s message.
fn wish(wish: Wish, question: Question) -> (Granted, Question) {
    let thread = state().current().path.get();
    let step = STEPS.load(Relaxed);
    remote::ask(Question { asked: Asked::Wish, wish, thread, step, ..question });
    let mut answer = region().question.get();
    if answer.ways > 1 {
        let which = choose(answer.ways);
        remote::ask(Question { asked: Asked::Way, thread, position: which, ..Question::default() });
        answer = region().question.get();
    }
    let waits = matches!(wish, Wish::Connect | Wish::Accept | Wish::Receive);
    if answer.granted == Granted::Never && !waits {
        // There were more events than are to be explored.
        loop {
            wait(Waiting::Network, 0, None);
        }
    }
    (answer.granted, answer)
}

/// Chooses one of several ways, before any other thread moves.
fn choose(ways: u32) -> u32 {
    let state = state();
    let exclusive = state.exclusive.replace(state.current.get() + 1);
    state.selectable.set(state.selectable.get() + 1);
    let chosen = step(Operation::Choose, 0, u64::from(ways));
    state.selectable.set(state.selectable.get() - 1);
    state.exclusive.set(exclusive);
    u32::from(chosen)
}

fn about(socket: &Object) -> Question {
    Question { position: socket.remote.get().handle(), ..Question::default() }
}

fn at(address: &Address) -> Question {
    Question { name: [u64::from(address.port()), 0, 0, 0], ..Question::default() }
}

/// Tells that the program listens.
pub(super) fn listen(socket: &Object) {
    let local = socket.local.get();
    if is_on() && local.is_inet() {
        let backlog = u64::from(socket.backlog.get().saturating_sub(1));
        let name = [u64::from(local.port()), backlog, 0, 0];
        wish(Wish::Listen, Question { name, ..Question::default() });
    }
}

/// Tells that it does not any more.
pub(super) fn unlisten(socket: &Object) {
    let local = socket.local.get();
    if is_on() && local.is_inet() {
        wish(Wish::Unlisten, at(&local));
    }
}

/// Refuses a connection of the program to itself, if others could use the same listener.
pub(super) fn refuse_own(to: &Address) {
    if is_on() && to.is_inet() {
        stop!("the program connects to itself, which --joint does not model");
    }
}

/// Connects to another program.
pub(super) fn connect(number: usize, to: Address, waits: bool) -> Result<isize, i32> {
    require_waiting(waits);
    if to.family() == UNIX {
        stop!("the program connects to a Unix socket of another one, which --joint does not model");
    }
    let socket = object(number);
    let thread = state().current();
    let which = thread.connections.get();
    thread.connections.set(which + 1);
    let name = [u64::from(to.port()), u64::from(which), 0, 0];
    match wish(Wish::Connect, Question { name, ..Question::default() }) {
        (Granted::Done, answer) => {
            stream::name(socket, &to)?;
            socket.foreign.set(to);
            stand(socket, answer.position);
            Ok(0)
        }
        (Granted::Never, _) => wait_in_vain(number),
        _ => stream::refuse(socket, errno::ECONNREFUSED, waits),
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
pub(super) fn accept(listener: usize) -> Result<Option<usize>, i32> {
    let queue = object(listener);
    if !queue.local.get().is_inet() {
        return Ok(None);
    }
    require_waiting(queue.options.get().receive_timeout == 0);
    let (granted, answer) = wish(Wish::Accept, at(&queue.local.get()));
    if granted != Granted::Accepted {
        return Ok(None);
    }
    let number = descriptors::free_object().ok_or(errno::EMFILE)?;
    let socket = object(number);
    socket.kind.set(Kind::Stream);
    let family = queue.family.get();
    socket.family.set(family);
    socket.local.set(queue.local.get().concrete());
    socket.foreign.set(Address::loopback(family).with_port(remote::CLIENT_PORTS));
    stand(socket, answer.position);
    Ok(Some(number))
}

/// Sends to another program; returns how many bytes were sent.
pub(super) fn send(number: usize, pieces: Pieces) -> Result<usize, i32> {
    let socket = object(number);
    let total = pieces.length();
    let mut sent = 0;
    while sent < total {
        let length = remote::gather(pieces, sent, (total - sent).min(MAX_MESSAGE)).len();
        let (granted, _) = wish(Wish::Send, Question { length: length as u32, ..about(socket) });
        match granted {
            Granted::Reset => {
                broke(socket);
                return if sent > 0 { Ok(sent) } else { Err(errno::ECONNRESET) };
            }
            // The other machine takes it and answers that nobody is there.
            Granted::Lost => {
                socket.error.set(errno::EPIPE);
                socket.shut_sending.set(true);
                return Ok(total);
            }
            _ => sent += length,
        }
    }
    Ok(sent)
}

fn broke(socket: &Object) {
    socket.shut_sending.set(true);
    socket.partner_end.set(End::Gone);
}

/// Receives what another program has sent; none if nothing will come.
pub(super) fn receive(
    number: usize,
    pieces: Pieces,
    received: &mut usize,
    peeks: bool,
) -> Option<Result<(), i32>> {
    let socket = object(number);
    if socket.shut_receiving.get() {
        return Some(Ok(()));
    }
    if peeks {
        stop!("the program peeks at what another program sent, which --joint does not model");
    }
    let waits = state().current().transfer.get().waits;
    require_waiting(waits && socket.options.get().receive_timeout == 0);
    let most = (pieces.length() - *received).min(MAX_MESSAGE) as u64;
    let question = Question { name: [0, most, 0, 0], ..about(socket) };
    let (granted, answer) = wish(Wish::Receive, question);
    match granted {
        Granted::Bytes => {
            let mut from = region().message.as_ptr() as usize;
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
        Granted::Never
            if ready::is_satisfied(Want::Ready { number: number as u16, events: IN }) =>
        {
            Some(wait_in_vain(number).map(drop))
        }
        Granted::Never => None,
        _ => Some(Ok(())),
    }
}

/// Tells another program that nothing more will be sent.
pub(super) fn shut(socket: &Object) {
    wish(Wish::Shut, about(socket));
}

/// Gives up a connection.
pub(super) fn close(number: usize) {
    let socket = object(number);
    wish(Wish::Close, about(socket));
    socket.remote.set(Remote::default());
    happened(number);
}

/// Whether something can be read at once: whoever asks must not see the answer.
pub(super) fn look() {
    if state().current().operation.get() == Operation::Poll {
        stop!(
            "the program waits for several things at once, a connection to another program among \
             them, which --joint does not model"
        );
    }
}
