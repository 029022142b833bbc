//! Stream sockets: bind, listen, accept, shut down, close; those of the Unix family, too.

use crate::blocking::{Blocking, Call, failed, step_of_call, through, until_done, waits};
use crate::footprint::{other_end_of, touches};
use crate::host::{Host, Thread};
use crate::lifetime::{bound, free, open};
use crate::object::{End, Kind, Object, Stage, is_unix, key, partner, receives};
use crate::readiness::IN;
use crate::sockaddr::{Address, INET, INET6, UNIX, ephemeral_port};
use crate::state::{Transfer, Want};
use crate::stream::about_to_move;
use crate::syscalls::this_socket;
use crate::wakeup::{happened, somebody_is_here};
use crate::{connect, errno, faults, fd_table, joint, partition, peer};
use everypath_shim_abi::{
    Closing, Completion, Moved, NoticeKind, Operation, OperationKind, QueuedConnection, Span,
};

/// The size of an entry in the queue of a listener: the number of an object.
const ENTRY: usize = 2;

/// Connects two ends.
pub(crate) fn join(k: &impl Host, one: usize, other: usize) {
    k.object(one).partner.set(other as u16 + 1);
    k.object(other).partner.set(one as u16 + 1);
    k.object(one).across.set(k.object(other).owner.get());
    k.object(other).across.set(k.object(one).owner.get());
    k.object(one).stage.set(Stage::Connected);
    k.object(other).stage.set(Stage::Connected);
}

/// Does what the system call does.
pub(crate) fn bind(
    k: &impl Host,
    descriptor: i32,
    number: usize,
    wanted: Address,
) -> Result<isize, i32> {
    let socket = k.object(number);
    if wanted.family() != socket.family.get() {
        return Err(if wanted.family() == 0 { errno::EINVAL } else { errno::EAFNOSUPPORT });
    }
    let is_chosen = wanted.is_unnamed() || wanted.is_inet() && wanted.port() == 0;
    let touches = if is_chosen { key(number) } else { wanted.key() };
    step_of_call(k, descriptor, Operation::Bind(key(number)), touches)?;
    if socket.local.get().is_some() && !socket.local.get().is_unnamed() {
        // Who asks for any name has one.
        return if wanted.is_unnamed() { Ok(0) } else { Err(errno::EINVAL) };
    }
    let kind = socket.kind.get();
    let named = if wanted.is_inet() && wanted.port() == 0 {
        with_free_port(k, kind, wanted)?
    } else if wanted.is_unnamed() {
        Address::abstract_name(k, |name| {
            bound(k, kind, |other| other.local.get() == *name).is_some()
        })
        .ok_or(errno::EADDRINUSE)?
    } else {
        let reuses = socket.options.get().reuse_address;
        let taken = bound(k, kind, |other| {
            let local = other.local.get();
            let is_apart = socket.options.get().only_ipv6 && local.family() == INET;
            (receives(other, &wanted) || wanted.receives(&local) && !is_apart)
                && !other.options.get().shares_with(socket)
                && !(reuses && other.options.get().reuse_address && !is_listening(other))
        });
        if taken.is_some() {
            k.notice(NoticeKind::PortTaken, wanted.port());
            return Err(errno::EADDRINUSE);
        }
        if let Some(path) = wanted.path() {
            k.make_socket(path)?;
        }
        wanted
    };
    socket.local.set(named);
    socket.is_named.set(named == wanted);
    somebody_is_here(k);
    joint::datagrams::bind(k, number);
    Ok(0)
}

pub(crate) fn is_listening(object: &Object) -> bool {
    object.stage.get() == Stage::Listening
}

/// The address with a port that nobody has.
pub(crate) fn with_free_port(k: &impl Host, kind: Kind, address: Address) -> Result<Address, i32> {
    let is_taken = |port| bound(k, kind, |other| other.local.get().port() == port).is_some();
    ephemeral_port(k, is_taken).map(|port| address.with_port(port)).ok_or(errno::EADDRINUSE)
}

/// Does what the system call does.
pub(crate) fn listen(
    k: &impl Host,
    descriptor: i32,
    number: usize,
    backlog: i32,
) -> Result<isize, i32> {
    let socket = k.object(number);
    if socket.kind.get() != Kind::Stream {
        return Err(errno::EOPNOTSUPP);
    }
    let local = socket.local.get();
    let touches = if local.is_some() { local.key() } else { key(number) };
    step_of_call(k, descriptor, Operation::Listen(key(number)), touches)?;
    if !matches!(socket.stage.get(), Stage::Fresh | Stage::Listening | Stage::Over) {
        return Err(errno::EINVAL);
    }
    if !socket.local.get().is_some() {
        if is_unix(socket) {
            return Err(errno::EINVAL);
        }
        let any = Address::any(socket.family.get());
        socket.local.set(with_free_port(k, Kind::Stream, any)?);
    }
    let local = socket.local.get();
    let other = bound(k, Kind::Stream, |other| {
        is_listening(other)
            && other.local.get() == local
            && !core::ptr::eq(other, socket)
            && !other.options.get().shares_with(socket)
    });
    if other.is_some() {
        k.notice(NoticeKind::PortTaken, local.port());
        return Err(errno::EADDRINUSE);
    }
    // The kernel takes one more than it was asked for.
    socket.backlog.set(backlog.clamp(0, 4096) as u16 + 1);
    socket.stage.set(Stage::Listening);
    somebody_is_here(k);
    joint::listen(k, socket);
    Ok(0)
}

/// What connecting or accepting turns out to be now, in a system.
pub(crate) fn queueing(k: &impl Host, thread: &impl Thread) -> Option<Operation> {
    let Transfer { object: number, waits, .. } = thread.task().transfer.get();
    let number = usize::from(number).checked_sub(1).filter(|_| waits)?;
    if thread.kind() == OperationKind::Accept {
        let queue = k.object(number);
        let taken = queue.taken.get() + ENTRY as u64;
        return Some(match queue.waiting() {
            _ if !is_listening(queue) => return None,
            0 => Operation::AwaitConnection,
            _ => Operation::AcceptQueued(Moved::up_to(taken, ENTRY as u64)),
        });
    }
    let key = thread.object();
    let listener = bound(k, Kind::Stream, |it| is_listening(it) && it.local.get().key() == key);
    let Some(queue) = listener.map(|number| k.object(number)) else {
        return Some(Operation::AwaitListener);
    };
    if partition::is_lost(k, thread, queue) {
        return None;
    }
    let put = queue.put.get() + ENTRY as u64;
    // It must fit even if nothing had ever been taken out: then who accepts makes no difference.
    let is_sure = put <= u64::from(queue.backlog.get()) * ENTRY as u64;
    let entry = Span { end: put, count: ENTRY as u32 };
    let connection = QueuedConnection { socket: number as u16, entry };
    is_sure.then_some(Operation::ConnectQueued(connection))
}

/// Who sees that a listener is closed, if it is one.
pub(crate) fn closing(k: &impl Host, thread: &impl Thread) -> Option<Closing> {
    let key = thread.object();
    let number = bound(k, Kind::Stream, |it| is_listening(it) && it.local.get().key() == key)?;
    let is_tried =
        k.object(number).waiting() > 0 || connect::awaiting(k, k.object(number)).is_some();
    Some(if is_tried { Closing::Backlog } else { Closing::Alone })
}

/// Who listens at an address.
pub(crate) fn listener(k: &impl Host, to: &Address) -> Option<usize> {
    bound(k, Kind::Stream, |other| is_listening(other) && receives(other, to))
}

/// Whether one more connection can wait to be accepted, or nobody would accept it.
pub(crate) fn has_room(queue: &Object) -> bool {
    !is_listening(queue) || queue.waiting() / 2 < usize::from(queue.backlog.get())
}

/// Gives a socket an address of its own, if it has none.
pub(crate) fn name(k: &impl Host, socket: &Object, to: &Address) -> Result<(), i32> {
    if !socket.local.get().is_some() {
        let address = match to.family() {
            UNIX => Address::any(UNIX),
            _ => with_free_port(k, socket.kind.get(), Address::loopback(to.family()))?,
        };
        socket.local.set(address);
    }
    Ok(())
}

/// Puts a new connection into the queue of a listener.
pub(crate) fn enter_queue(
    k: &impl Host,
    number: usize,
    listener: usize,
    to: Address,
) -> Result<(), i32> {
    let socket = k.object(number);
    name(k, socket, &to)?;
    let far = fd_table::free_object(k).ok_or(errno::EMFILE)?;
    let other = k.object(far);
    let queue = k.object(listener);
    other.kind.set(Kind::Stream);
    other.owner.set(queue.owner.get());
    other.family.set(queue.family.get());
    other.options.set(queue.options.get());
    let mapped = |address: Address| match (queue.family.get(), address.family()) {
        (INET6, INET) => address.mapped(),
        _ => address,
    };
    other.local.set(if is_unix(socket) { queue.local.get() } else { mapped(to) });
    other.foreign.set(mapped(socket.local.get()));
    socket.foreign.set(to);
    join(k, number, far);
    const CONNECTS: &[OperationKind] = &[OperationKind::Connect, OperationKind::ConnectQueued];
    k.complete(CONNECTS, Completion::Connected(far as u16));
    queue.push_own(k, listener, &(far as u16).to_le_bytes());
    happened(k, listener);
    Ok(())
}

/// Does what the system call does.
pub(crate) fn accept(
    k: &impl Host,
    descriptor: i32,
    (at, length_at): (usize, usize),
    flags: i32,
) -> Result<isize, i32> {
    let number = this_socket(k, descriptor)?;
    // As in the kernel: before anything is looked at.
    faults::no_descriptor(k)?;
    let socket = k.object(number);
    if socket.kind.get() != Kind::Stream {
        return Err(errno::EOPNOTSUPP);
    }
    if !is_listening(socket) {
        // Another thread may be about to listen.
        step_of_call(k, descriptor, Operation::Accept, key(number))?;
    }
    if !is_listening(socket) {
        return Err(errno::EINVAL);
    }
    let waits = waits(k, descriptor, 0);
    let patience = match waits {
        true => Blocking::of_option(k, socket.options.get().receive_timeout),
        false => Blocking::None,
    };
    let want = Want::Ready { number: number as u16, events: IN };
    let touches = socket.local.get().key();
    let through = through(k, descriptor);
    let call = Call { operation: Operation::Accept.pack(), touches, want, through, patience };
    faults::interrupt(k, waits)?;
    let always = if patience == Blocking::Forever { patience } else { Blocking::None };
    about_to_move(k, number, 0, always, false);
    let accepted = until_done(k, call, || {
        if !is_listening(socket) {
            return Some(Err(errno::EINVAL));
        }
        if socket.waiting() >= 2 {
            let far = take_first_in_queue(k, number);
            happened(k, number);
            return Some(Ok(far));
        }
        peer::accept(k, number, patience).transpose()
    });
    k.current().task().transfer.set(Transfer::default());
    let far = match accepted {
        Ok(far) => far?,
        Err(unfinished) => return Err(failed(unfinished)),
    };
    connect::admit(k, number);
    const SOCKET_FLAGS: i32 = fd_table::NONBLOCK | fd_table::CLOSE_ON_EXEC;
    let got = open(k, far, flags & SOCKET_FLAGS)?;
    k.object(far).foreign.get().tell(k, at, length_at)?;
    Ok(got)
}

/// Does what the system call does.
pub(crate) fn shutdown(
    k: &impl Host,
    descriptor: i32,
    number: usize,
    how: i32,
) -> Result<isize, i32> {
    let socket = k.object(number);
    if !matches!(how, 0..=2) {
        return Err(errno::EINVAL);
    }
    let closing = match peer::is_in_turn(k, socket) {
        true => Closing::Backlog,
        false => Closing::OtherEnd(other_end_of(k, number)),
    };
    step_of_call(k, descriptor, Operation::Shutdown(closing), touches(k, number))?;
    if socket.kind.get() == Kind::Stream && socket.stage.get() == Stage::Listening {
        // Blocked accepts are woken.
        socket.stage.set(if is_unix(socket) { Stage::Over } else { Stage::Fresh });
        joint::unlisten(k, socket);
        connect::turn_away(k, socket);
        while socket.waiting() >= 2 {
            drop_first_in_queue(k, number);
        }
        happened(k, number);
        return Ok(0);
    }
    if socket.stage.get() == Stage::Awaiting {
        socket.stage.set(Stage::Over);
        happened(k, number);
        return Ok(0);
    }
    if is_unix(socket) && socket.stage.get() == Stage::Fresh {
        socket.shut_sending.set(socket.shut_sending.get() || how != 0);
        socket.shut_receiving.set(socket.shut_receiving.get() || how != 1);
        happened(k, number);
        return Ok(0);
    }
    if !matches!(socket.stage.get(), Stage::Connected | Stage::Connecting) {
        return Err(errno::ENOTCONN);
    }
    // Nothing is left of a connection that both ends have finished.
    let is_over = socket.shut_sending.get() && socket.partner_end.get() == End::Finished;
    if is_over && !is_unix(socket) {
        return Err(errno::ENOTCONN);
    }
    if how != 0 && !socket.shut_sending.replace(true) {
        if peer::is_remote(socket) {
            peer::shut(k, number)?;
        } else if let Some(other) = partner(socket) {
            partition::end(k, other, End::Finished);
        }
    }
    if how != 1 {
        joint::refuse_to_stop_receiving(k, socket);
        socket.shut_receiving.set(true);
        if let Some(other) = partner(socket) {
            happened(k, other);
        }
    }
    happened(k, number);
    Ok(0)
}

fn drop_first_in_queue(k: &impl Host, listener: usize) {
    let far = take_first_in_queue(k, listener);
    leave(k, far, Leaving::Reset);
    free(k, far);
}

/// The connection that has waited longest to be accepted.
fn take_first_in_queue(k: &impl Host, listener: usize) -> usize {
    let queue = k.object(listener);
    let mut entry = [0; ENTRY];
    k.read_own(queue.contents(k, listener), &mut entry);
    queue.skip(ENTRY);
    usize::from(u16::from_le_bytes(entry))
}

/// The last descriptor of one end is gone.
pub(crate) fn close(k: &impl Host, number: usize) {
    let socket = k.object(number);
    if socket.stage.get() == Stage::Listening {
        joint::unlisten(k, socket);
        connect::turn_away(k, socket);
        while socket.waiting() >= 2 {
            drop_first_in_queue(k, number);
        }
        return;
    }
    if joint::is_joint(k, socket) {
        joint::close(k, number);
    }
    leave(k, number, Leaving::Closed);
}

/// How one end is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaving {
    Closed,
    /// It was never accepted.
    Reset,
}

/// Lets the other end learn that this one is gone.
fn leave(k: &impl Host, number: usize, how: Leaving) {
    let socket = k.object(number);
    let Some(other) = partner(socket) else { return };
    let far = k.object(other);
    let lingers = socket.options.get().linger() == Some(0);
    // Closing with unread bytes resets the connection, and so does SO_LINGER with 0.
    let unread = socket.kind.get() == Kind::Stream && (socket.filled() > 0 || lingers);
    let breaks = unread || how == Leaving::Reset;
    far.partner.set(0);
    if socket.kind.get() == Kind::Pipe {
        far.counter.set(socket.filled() as u64);
    }
    partition::end(k, other, if breaks { End::Gone } else { End::Finished });
}
