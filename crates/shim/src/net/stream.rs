//! Stream sockets and pipes.

use super::address::{Address, INET6, UNIX, ephemeral_port};
use super::blocking::step_of_call;
use super::transfer::about_to_move;
use super::{Blocking, Call, End, Kind, Object, Stage, Transfer, Want};
use super::{bound, failed, free, happened, is_unix, key, make, object, open};
use super::{connect, faults, partitioned};
use super::{joint, partner, peer, until_done, waits};
use crate::descriptors;
use crate::fail::stop;
use crate::memory::{load, store};
use crate::multi_process;
use crate::scheduler::complete;
use crate::state::{Thread, state};
use crate::sys::errno;
use everypath_shim_abi::{
    Closing, Completion, Moved, NoticeKind, Operation, OperationKind, QueuedConnection, Span,
};

/// The size of an entry in the queue of a listener: the number of an object.
const ENTRY: usize = 2;

/// Connects two ends.
fn join(one: usize, other: usize) {
    object(one).partner.set(other as u16 + 1);
    object(other).partner.set(one as u16 + 1);
    object(one).across.set(object(other).owner.get());
    object(other).across.set(object(one).owner.get());
    object(one).stage.set(Stage::Connected);
    object(other).stage.set(Stage::Connected);
}

/// Does what the system call does.
pub(super) fn pipe(at: usize, flags: i32) -> Result<isize, i32> {
    const PACKETS: i32 = 0o40_000;
    if flags & PACKETS != 0 {
        stop!("pipe2(O_DIRECT) is not modelled");
    }
    super::check_flags(flags)?;
    let (reader, first) = make(Kind::Pipe, flags)?;
    let (writer, second) = make(Kind::Pipe, flags)?;
    join(reader, writer);
    object(reader).shut_sending.set(true);
    object(writer).shut_receiving.set(true);
    set_access(first as i32, 0);
    set_access(second as i32, 1);
    store(at, [first as i32, second as i32]);
    Ok(0)
}

fn set_access(descriptor: i32, mode: i32) {
    if let Some(slot) = descriptors::get(descriptor) {
        let open = slot.get();
        let flags = (open.flags & !descriptors::ACCESS_MODE) | mode;
        slot.set(descriptors::Open { flags, ..open });
    }
}

/// Does what the system call does.
pub(super) fn pair(kind: Kind, flags: i32, at: usize) -> Result<isize, i32> {
    let (one, first) = make(kind, flags)?;
    let (other, second) = make(kind, flags)?;
    for number in [one, other] {
        object(number).family.set(UNIX);
        object(number).local.set(Address::any(UNIX));
        object(number).foreign.set(Address::any(UNIX));
    }
    join(one, other);
    store(at, [first as i32, second as i32]);
    Ok(0)
}

/// Does what the system call does.
pub(super) fn bind(descriptor: i32, number: usize, wanted: Address) -> Result<isize, i32> {
    let socket = object(number);
    if wanted.family() != socket.family.get() {
        return Err(if wanted.family() == 0 { errno::EINVAL } else { errno::EAFNOSUPPORT });
    }
    let is_chosen = wanted.is_unnamed() || wanted.is_inet() && wanted.port() == 0;
    let touches = if is_chosen { key(number) } else { wanted.key() };
    step_of_call(descriptor, Operation::Bind(key(number)), touches)?;
    if socket.local.get().is_some() && !socket.local.get().is_unnamed() {
        return Err(errno::EINVAL);
    }
    let kind = socket.kind.get();
    let named = if wanted.is_inet() && wanted.port() == 0 {
        with_free_port(kind, wanted)?
    } else if wanted.is_unnamed() {
        Address::abstract_name(|name| bound(kind, |other| other.local.get() == *name).is_some())
            .ok_or(errno::EADDRINUSE)?
    } else {
        let reuses = socket.options.get().reuse_address;
        let taken = bound(kind, |other| {
            let local = other.local.get();
            (local.receives(&wanted) || wanted.receives(&local))
                && !other.options.get().shares_with(socket)
                && !(reuses && other.options.get().reuse_address && !is_listening(other))
        });
        if taken.is_some() {
            multi_process::notice(NoticeKind::PortTaken, wanted.port());
            return Err(errno::EADDRINUSE);
        }
        if let Some(path) = wanted.path() {
            crate::files::make_socket(path)?;
        }
        wanted
    };
    socket.local.set(named);
    socket.is_named.set(named == wanted);
    super::somebody_is_here();
    joint::datagrams::bind(number);
    Ok(0)
}

pub(super) fn is_listening(object: &Object) -> bool {
    object.stage.get() == Stage::Listening
}

/// The address with a port that nobody has.
pub(super) fn with_free_port(kind: Kind, address: Address) -> Result<Address, i32> {
    let is_taken = |port| bound(kind, |other| other.local.get().port() == port).is_some();
    ephemeral_port(is_taken).map(|port| address.with_port(port)).ok_or(errno::EADDRINUSE)
}

/// Does what the system call does.
pub(super) fn listen(descriptor: i32, number: usize, backlog: i32) -> Result<isize, i32> {
    let socket = object(number);
    if socket.kind.get() != Kind::Stream {
        return Err(errno::EOPNOTSUPP);
    }
    let local = socket.local.get();
    let touches = if local.is_some() { local.key() } else { key(number) };
    step_of_call(descriptor, Operation::Listen(key(number)), touches)?;
    if !matches!(socket.stage.get(), Stage::Fresh | Stage::Listening | Stage::Over) {
        return Err(errno::EINVAL);
    }
    if !socket.local.get().is_some() {
        if is_unix(socket) {
            return Err(errno::EINVAL);
        }
        let any = Address::any(socket.family.get());
        socket.local.set(with_free_port(Kind::Stream, any)?);
    }
    let local = socket.local.get();
    let other = bound(Kind::Stream, |other| {
        is_listening(other)
            && other.local.get() == local
            && !core::ptr::eq(other, socket)
            && !other.options.get().shares_with(socket)
    });
    if other.is_some() {
        multi_process::notice(NoticeKind::PortTaken, local.port());
        return Err(errno::EADDRINUSE);
    }
    // The kernel takes one more than it was asked for.
    socket.backlog.set(backlog.clamp(0, 4096) as u16 + 1);
    socket.stage.set(Stage::Listening);
    super::somebody_is_here();
    joint::listen(socket);
    Ok(0)
}

/// What connecting or accepting turns out to be now, in a system.
pub(super) fn queueing(thread: &Thread) -> Option<Operation> {
    let Transfer { object: number, waits, .. } = thread.transfer.get();
    let number = usize::from(number).checked_sub(1).filter(|_| waits)?;
    if thread.kind.get() == OperationKind::Accept {
        let queue = object(number);
        let taken = queue.taken.get() + ENTRY as u64;
        return Some(match queue.waiting() {
            _ if !is_listening(queue) => return None,
            0 => Operation::AwaitConnection,
            _ => Operation::AcceptQueued(Moved::up_to(taken, ENTRY as u64)),
        });
    }
    let key = thread.object.get();
    let listener = bound(Kind::Stream, |it| is_listening(it) && it.local.get().key() == key);
    let Some(queue) = listener.map(object) else { return Some(Operation::AwaitListener) };
    if partitioned::is_lost(thread, queue) {
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
pub(super) fn closing(thread: &Thread) -> Option<Closing> {
    let key = thread.object.get();
    let number = bound(Kind::Stream, |it| is_listening(it) && it.local.get().key() == key)?;
    let is_tried = object(number).waiting() > 0 || connect::awaiting(object(number)).is_some();
    Some(if is_tried { Closing::Backlog } else { Closing::Alone })
}

/// Who listens at an address.
pub(super) fn listener(to: &Address) -> Option<usize> {
    bound(Kind::Stream, |other| is_listening(other) && other.local.get().receives(to))
}

/// Whether one more connection can wait to be accepted, or nobody would accept it.
pub(super) fn has_room(queue: &Object) -> bool {
    !is_listening(queue) || queue.waiting() / 2 < usize::from(queue.backlog.get())
}

/// Gives a socket an address of its own, if it has none.
pub(super) fn name(socket: &Object, to: &Address) -> Result<(), i32> {
    if !socket.local.get().is_some() {
        let address = match to.family() {
            UNIX => Address::any(UNIX),
            _ => with_free_port(socket.kind.get(), Address::loopback(to.family()))?,
        };
        socket.local.set(address);
    }
    Ok(())
}

/// Puts a new connection into the queue of a listener.
pub(super) fn enter_queue(number: usize, listener: usize, to: Address) -> Result<(), i32> {
    let socket = object(number);
    name(socket, &to)?;
    let far = descriptors::free_object().ok_or(errno::EMFILE)?;
    let other = object(far);
    let queue = object(listener);
    other.kind.set(Kind::Stream);
    other.owner.set(queue.owner.get());
    other.family.set(queue.family.get());
    other.options.set(queue.options.get());
    let mapped = |address: Address| match (queue.family.get(), address.family()) {
        (INET6, super::address::INET) => address.mapped(),
        _ => address,
    };
    other.local.set(if is_unix(socket) { queue.local.get() } else { mapped(to) });
    other.foreign.set(mapped(socket.local.get()));
    socket.foreign.set(to);
    join(number, far);
    const CONNECTS: &[OperationKind] = &[OperationKind::Connect, OperationKind::ConnectQueued];
    complete(CONNECTS, Completion::Connected(far as u16));
    let entry = (far as u16).to_le_bytes();
    queue.push(listener, entry.as_ptr() as usize, entry.len());
    happened(listener);
    Ok(())
}

/// Does what the system call does.
pub(super) fn accept(
    descriptor: i32,
    (at, length_at): (usize, usize),
    flags: i32,
) -> Result<isize, i32> {
    let number = super::syscalls::socket(descriptor)?;
    let socket = object(number);
    if socket.kind.get() != Kind::Stream {
        return Err(errno::EOPNOTSUPP);
    }
    if !is_listening(socket) {
        // Another thread may be about to listen.
        step_of_call(descriptor, Operation::Accept, key(number))?;
    }
    if !is_listening(socket) {
        return Err(errno::EINVAL);
    }
    let waits = waits(descriptor, 0);
    let patience = match waits {
        true => Blocking::of_option(socket.options.get().receive_timeout),
        false => Blocking::None,
    };
    let want = Want::Ready { number: number as u16, events: super::poll::IN };
    let touches = socket.local.get().key();
    let through = super::through(descriptor);
    let call = Call { operation: Operation::Accept.pack(), touches, want, through, patience };
    faults::interrupt(waits)?;
    let always = if patience == Blocking::Forever { patience } else { Blocking::None };
    about_to_move(number, 0, always, false);
    let accepted = until_done(call, || {
        if !is_listening(socket) {
            return Some(Err(errno::EINVAL));
        }
        if socket.waiting() >= 2 {
            let entry: [u8; 2] = socket.contents(number)[..2].try_into().unwrap_or([0; 2]);
            socket.skip(2);
            happened(number);
            return Some(Ok(usize::from(u16::from_le_bytes(entry))));
        }
        peer::accept(number, patience).transpose()
    });
    state().current().transfer.set(Transfer::default());
    let far = match accepted {
        Ok(far) => far?,
        Err(unfinished) => return Err(failed(unfinished)),
    };
    connect::admit(number);
    const SOCKET_FLAGS: i32 = descriptors::NONBLOCK | descriptors::CLOSE_ON_EXEC;
    let got = open(far, flags & SOCKET_FLAGS)?;
    object(far).foreign.get().tell(at, length_at);
    Ok(got)
}

/// Does what the system call does.
pub(super) fn shutdown(descriptor: i32, number: usize, how: i32) -> Result<isize, i32> {
    let socket = object(number);
    if !matches!(how, 0..=2) {
        return Err(errno::EINVAL);
    }
    let closing = Closing::OtherEnd(super::other_end_of(number));
    step_of_call(descriptor, Operation::Shutdown(closing), super::touches(number))?;
    if socket.kind.get() == Kind::Stream && socket.stage.get() == Stage::Listening {
        // Blocked accepts are woken.
        socket.stage.set(Stage::Over);
        joint::unlisten(socket);
        connect::turn_away(socket);
        while socket.waiting() >= 2 {
            drop_first_in_queue(number);
        }
        happened(number);
        return Ok(0);
    }
    if socket.stage.get() == Stage::Awaiting {
        socket.stage.set(Stage::Over);
        happened(number);
        return Ok(0);
    }
    if !matches!(socket.stage.get(), Stage::Connected | Stage::Connecting) {
        return Err(errno::ENOTCONN);
    }
    if how != 0 && !socket.shut_sending.replace(true) {
        if peer::is_remote(socket) {
            peer::shut(number)?;
        } else if let Some(other) = partner(socket) {
            partitioned::end(other, End::Finished);
        }
    }
    if how != 1 {
        joint::refuse_to_stop_receiving(socket);
        socket.shut_receiving.set(true);
        if let Some(other) = partner(socket) {
            happened(other);
        }
    }
    happened(number);
    Ok(0)
}

fn drop_first_in_queue(listener: usize) {
    let queue = object(listener);
    let far = load::<u16>(queue.contents(listener).as_ptr() as usize);
    queue.skip(2);
    close(usize::from(far));
    free(usize::from(far));
}

/// The last descriptor of one end is gone.
pub(super) fn close(number: usize) {
    let socket = object(number);
    if socket.stage.get() == Stage::Listening {
        joint::unlisten(socket);
        connect::turn_away(socket);
        while socket.waiting() >= 2 {
            drop_first_in_queue(number);
        }
        return;
    }
    if joint::is_joint(socket) {
        joint::close(number);
    }
    let Some(other) = partner(socket) else { return };
    let far = object(other);
    let lingers = socket.options.get().linger() == Some(0);
    // Closing with unread bytes resets the connection, and so does SO_LINGER with 0.
    let breaks = socket.kind.get() == Kind::Stream && (socket.filled() > 0 || lingers);
    far.partner.set(0);
    partitioned::end(other, if breaks { End::Gone } else { End::Finished });
}
