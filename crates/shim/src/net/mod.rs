//! Sockets, pipes and events: every object that threads, processes and peers communicate through.
//!
//! None of them exists in the kernel. An [`Object`] is one end: a socket, an end of a pipe, an
//! event. What arrives waits in its buffer; what it sends goes straight into the buffer of its
//! partner, or, if its partner is a real process, into the communication tree (`peer`).
//!
//! Who must wait is woken by every change that lets it go on, tries again, and waits again if
//! another thread was faster: so the kernel does it too, and no choice is needed.

pub(crate) mod address;
mod blocking;
pub(crate) mod buffer;
mod connect;
mod control;
mod datagram;
mod epoll;
mod event;
pub(crate) mod faults;
mod frames;
mod groups;
mod in_flight;
mod joint;
mod message;
mod message_log;
mod options;
mod partitioned;
mod peer;
mod poll;
mod send_queue;
mod stream;
pub(crate) mod syscalls;
mod transfer;
pub(crate) mod udp_clients;

use crate::descriptors::{self, Kind as OpenKind, LIMIT, NONBLOCK, Open};
use crate::memory::view;
use crate::multi_process;
use crate::scheduler::{grant, point};
use crate::state::{State, Status, Thread, state};
use crate::sys::errno;
use address::{Address, UNIX};
use blocking::{Blocking, Call, Unfinished, failed, through, until_done};
use core::cell::Cell;
use everypath_shim_abi::address_space::{OBJECTS, SLOTS};
use everypath_shim_abi::{
    self as abi, Closing, Moved, Operation, OperationKind, PollScope, Sight, Waiting,
};
use options::Options;
use peer::Remote;

pub(crate) use buffer::{BUFFERS_LENGTH, spans};
pub(crate) use partitioned::{mended, other_end};

/// How many bytes a pipe holds.
pub(crate) const PIPE_CAPACITY: usize = 1 << 16;
const SIGPIPE: i32 = 13;

/// What an object is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    #[default]
    Free,
    /// A stream socket.
    Stream,
    /// A datagram socket.
    Datagram,
    /// What a datagram socket has sent to peers, as long as nobody looks for an answer.
    Outbox,
    /// An end of a pipe.
    Pipe,
    /// `eventfd`.
    Event,
    /// `timerfd`.
    Timer,
    /// `epoll`.
    Epoll,
}

/// How far a stream socket has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Stage {
    #[default]
    Fresh,
    Listening,
    /// There was no room for it yet, and the program does not wait for that.
    Awaiting,
    /// Connected, but the program was told that this takes time and has not asked again.
    Connecting,
    Connected,
    /// It was, or tried to be.
    Over,
}

/// What the other side did to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum End {
    #[default]
    Open,
    /// It sends nothing any more.
    Finished,
    /// It is gone.
    Gone,
}

/// One end of a communication.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Object {
    kind: Cell<Kind>,
    stage: Cell<Stage>,
    /// Where in its buffer the bytes are that wait.
    start: Cell<u32>,
    end: Cell<u32>,
    /// How many of them have not arrived, because the network is cut.
    held: Cell<u32>,
    /// What the partner did.
    partner_end: Cell<End>,
    /// What was last seen of another program that is explored on its own.
    sight: Cell<Sight>,
    /// What it did since the network was cut.
    later_end: Cell<End>,
    /// The process whose end this is, and the one at the other end.
    owner: Cell<u8>,
    across: Cell<u8>,
    /// Whether this end neither receives nor sends any more.
    shut_receiving: Cell<bool>,
    shut_sending: Cell<bool>,
    /// Whether the network is unreliable for messages in flight to here.
    unreliable: Cell<bool>,
    /// Whether it was freed by a thread that it does not belong to.
    retired: Cell<bool>,
    /// Whether the program chose its port, so that others may know it.
    is_named: Cell<bool>,
    /// Whether clients outside were asked what they send to it, and whether it has heard any.
    has_invited: Cell<bool>,
    hears_clients: Cell<bool>,
    family: Cell<u16>,
    /// One more than the number of the other end, if that is in this program.
    partner: Cell<u16>,
    /// The port of the peer that it first sent a datagram to.
    first_peer: Cell<u16>,
    /// One more than the number of its send queue.
    outbox: Cell<u16>,
    /// How many connections may wait to be accepted.
    backlog: Cell<u16>,
    /// How many connections of peers were accepted.
    accepted: Cell<u16>,
    /// What the next call fails with.
    error: Cell<i32>,
    /// Goes up whenever something happens that may let somebody go on.
    activity: Cell<u32>,
    /// An event's counter; when a timer expires; the number of a listener, or the port of a
    /// datagram socket, that other programs know it by.
    counter: Cell<u64>,
    /// Whether an event is a semaphore; how often a timer expires after that.
    interval: Cell<u64>,
    /// How many bytes were ever put in and taken out.
    put: Cell<u64>,
    taken: Cell<u64>,
    /// How many messages.
    entered: Cell<u32>,
    left: Cell<u32>,
    local: Cell<Address>,
    foreign: Cell<Address>,
    options: Cell<Options>,
    remote: Cell<Remote>,
}

impl Object {
    pub(crate) fn is_free(&self) -> bool {
        self.kind.get() == Kind::Free && !self.retired.get()
    }

    pub(crate) fn retire(&self, retired: bool) {
        self.kind.set(Kind::Free);
        self.retired.set(retired);
    }

    /// Makes it as good as new.
    pub(crate) fn clear(&self) {
        crate::memory::zero((&raw const *self) as usize, size_of::<Object>());
    }

    fn takes_error(&self) -> Option<i32> {
        match self.error.replace(0) {
            0 => None,
            error => Some(error),
        }
    }
}

/// How many bytes the table of objects has.
pub(crate) const OBJECTS_LENGTH: usize = LIMIT * size_of::<Object>();
const _: () = assert!(OBJECTS_LENGTH <= SLOTS - OBJECTS, "objects overlap the stacks");

/// The object with a number.
pub(crate) fn object(number: usize) -> &'static Object {
    view(OBJECTS + (number % LIMIT) * size_of::<Object>())
}

/// The other end, if it is in this program.
fn partner(object: &Object) -> Option<usize> {
    usize::from(object.partner.get()).checked_sub(1)
}

/// What stands for an object in the footprints of steps.
fn key(number: usize) -> abi::Object {
    abi::Object::socket(number as u16)
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) enum Want {
    #[default]
    Nothing,
    /// That one of these can happen to an object.
    Ready { number: u16, events: u32 },
    /// That so many bytes can be sent, or some of them, or that sending fails.
    Space { number: u16, length: u32 },
    /// That a listener has room for one more connection, or is gone.
    Room { listener: u16 },
    /// That somebody is there, at an address with this key.
    Somebody { kind: Kind, key: abi::Object },
    /// That somebody listens at an address with this key whom this process can reach.
    Reachable { from: u16, key: abi::Object },
    /// That something happens to one of the objects that a thread of another process has written
    /// down, so many; or to any, if there are too many.
    OneOf { thread: u16, count: u16 },
    /// `poll`: where its entries are and how many.
    Poll { entries: usize, count: usize },
    /// `select`: copies of its three sets and how many descriptors.
    Select { sets: usize, count: usize },
}

/// Refuses flags that no call knows but those that say whether a new program inherits a descriptor
/// and whether calls on it wait.
fn check_flags(flags: i32) -> Result<(), i32> {
    let unknown = flags & !(NONBLOCK | descriptors::CLOSE_ON_EXEC);
    if unknown == 0 { Ok(()) } else { Err(errno::EINVAL) }
}

/// What a thread is about to send or receive.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Transfer {
    /// One more than the number of the stream, or of the socket that receives; 0 if neither.
    object: u16,
    /// Whether it would wait for bytes, or for space.
    waits: bool,
    /// Whether it is content with less.
    divisible: bool,
    length: u32,
}

/// The connection with a peer that a thread is about to send or receive on, and how many bytes at
/// most, if it can be told how many it were.
fn divisible(thread: &Thread) -> Option<(&'static Object, usize)> {
    let Transfer { object: number, divisible, length, .. } = thread.transfer.get();
    let socket = object(usize::from(number).checked_sub(1)?);
    (divisible && peer::is_remote(socket)).then_some((socket, length as usize))
}

/// What the next step of a thread turns out to be, now: whether it gets all that it asks for, and
/// how many bytes will have been put in or taken out then.
pub(crate) fn refined(thread: &Thread) -> Option<Operation> {
    match thread.kind.get() {
        OperationKind::Connect | OperationKind::Accept if multi_process::is_one_of_several() => {
            return stream::queueing(thread);
        }
        // A look that finds nothing decides nothing.
        OperationKind::Arrive if !poll::has_traffic(thread.want.get()) => {
            let clients = poll::has_door(thread.want.get());
            return Some(Operation::Poll(PollScope { clients, arrivals: true }));
        }
        OperationKind::Close => return stream::closing(thread).map(Operation::Close),
        OperationKind::Shutdown => return stream::closing(thread).map(Operation::Shutdown),
        _ => {}
    }
    let Transfer { object: number, waits, length, divisible } = thread.transfer.get();
    let number = usize::from(number).checked_sub(1)?;
    let length = length as usize;
    if joint::datagrams::hears(object(number)) {
        // Receiving is one look at what others sent, whatever else there is.
        let looks = thread.kind.get() == OperationKind::Receive;
        return looks.then_some(Operation::ReceiveWhole(Moved::Unknown));
    }
    if matches!(object(number).kind.get(), Kind::Datagram | Kind::Outbox) {
        if partitioned::is_lost(thread, object(number)) {
            return None;
        }
        return datagram::refined(thread.kind.get(), number, (waits, length));
    }
    match thread.kind.get() {
        // What is there does not depend on what others do at the same time.
        OperationKind::Receive if joint::is_joint(object(number)) => {
            Some(Operation::ReceiveWhole(Moved::Unknown))
        }
        OperationKind::Send if waits && !transfer::can_send(number, length) => {
            Some(Operation::AwaitSpace)
        }
        // A connection may break before, while or after its bytes are awaited.
        OperationKind::Receive if divisible && faults::may_reset(object(number)) => None,
        OperationKind::Receive if waits && !transfer::can_receive(number) => {
            Some(Operation::AwaitBytes)
        }
        OperationKind::Send => Some(transfer::sending(number, length)),
        // A non-blocking call observes that nothing is there, so every arrival is dependent.
        OperationKind::Receive if waits => Some(transfer::receiving(number, length)),
        _ => None,
    }
}

/// Makes an object and opens it.
fn make(kind: Kind, flags: i32) -> Result<(usize, isize), i32> {
    let number = descriptors::free_object().ok_or(errno::EMFILE)?;
    object(number).kind.set(kind);
    object(number).owner.set(multi_process::process() as u8);
    Ok((number, open(number, flags)?))
}

/// Opens an object: a descriptor.
fn open(number: usize, flags: i32) -> Result<isize, i32> {
    let open =
        Open { kind: OpenKind::Object, index: number as u16, flags: flags | 2, ..Open::default() };
    match descriptors::open(open) {
        descriptor if descriptor >= 0 => Ok(descriptor),
        error => {
            descriptors::object_is_free(number);
            Err(-error as i32)
        }
    }
}

/// Lets all go on who waited for what has just happened to an object.
fn happened(number: usize) {
    let object = object(number);
    object.activity.set(object.activity.get().wrapping_add(1));
    wake();
}

/// Lets all look again who wait for a timer that was set: they must wait for another moment.
fn changed(timer: usize) {
    object(timer).activity.set(object(timer).activity.get().wrapping_add(1));
    wake_if(|want| poll::is_about(want, timer));
}

/// Lets those go on who wait for somebody at an address: only in a system does anybody.
fn somebody_is_here() {
    if multi_process::is_one_of_several() {
        wake();
    }
}

/// Lets all go on who can.
fn wake() {
    wake_if(poll::is_satisfied);
}

/// Lets those go on who wait for something like this.
fn wake_if(is_meant: impl Fn(Want) -> bool) {
    let waiting = |thread: &&Thread| {
        thread.status() == Status::Blocked && thread.waiting.get() == Waiting::Network
    };
    for thread in state().threads().filter(waiting) {
        if is_meant(thread.want.get()) {
            grant(thread);
        }
    }
}

/// The scheduling point before a descriptor of an object is closed.
pub(crate) fn before_close(number: usize) {
    point(Operation::Close(Closing::OtherEnd(other_end_of(number))), touches(number));
}

/// The scheduling point before the flags of a descriptor change: whether calls wait at a socket is
/// seen by whoever uses it.
pub(crate) fn before_mode(open: Open, flags: i32) {
    if open.kind == OpenKind::Object && (open.flags ^ flags) & NONBLOCK != 0 {
        before_change(usize::from(open.index));
    }
}

/// The scheduling point before something changes that decides how long calls wait at a socket.
fn before_change(number: usize) {
    point(Operation::SocketState(other_end_of(number)), touches(number));
}

/// What an object is, in footprints: its address, if that is where others meet it.
pub(crate) fn touches(number: usize) -> abi::Object {
    let object = object(number);
    let local = object.local.get();
    let meets = match object.kind.get() {
        Kind::Datagram => partner(object).is_none() && local.is_some() && !local.is_unnamed(),
        _ => object.stage.get() == Stage::Listening,
    };
    if meets { local.key() } else { key(number) }
}

/// The other end, in footprints; if there is none, this end once more.
fn other_end_of(number: usize) -> abi::Object {
    partner(object(number)).map_or(key(number), key)
}

/// The last descriptor of an object is gone.
pub(crate) fn close(number: usize, description: usize) {
    epoll::forget(description);
    let object = object(number);
    match object.kind.get() {
        Kind::Stream | Kind::Pipe => stream::close(number),
        Kind::Datagram => datagram::close(number),
        Kind::Event | Kind::Timer | Kind::Epoll | Kind::Outbox | Kind::Free => {}
    }
    free(number);
}

/// Frees an object.
fn free(number: usize) {
    let object = object(number);
    object.start.set(0);
    object.end.set(0);
    object.held.set(0);
    object.later_end.set(End::Open);
    object.partner.set(0);
    object.local.set(Address::default());
    descriptors::object_is_free(number);
}

/// The socket of a `kind` that is bound to an address.
fn bound(kind: Kind, accepts: impl Fn(&Object) -> bool) -> Option<usize> {
    descriptors::object_numbers().find(|&number| {
        let object = object(number);
        object.kind.get() == kind && object.local.get().is_some() && accepts(object)
    })
}

/// Whether a call on a descriptor waits.
fn waits(descriptor: i32, flags: i32) -> bool {
    const DONT_WAIT: i32 = 0x40;
    let nonblocking = descriptors::get(descriptor).is_some_and(|o| o.get().flags & NONBLOCK != 0);
    !nonblocking && flags & DONT_WAIT == 0
}

/// Everybody waits, and somebody for the network: nothing more can come. Says whether the program
/// listens, and nobody waits to be accepted or for room to send, which whoever listens would have
/// to give; none if a thread waits for anything else but the end of another thread.
pub(crate) fn idle(state: &State, process: usize) -> Option<bool> {
    let is_its = |thread: &Thread| multi_process::owner(thread.number.get()) == process;
    let blocked = || {
        let blocked = |thread: &&Thread| is_its(thread) && thread.status() == Status::Blocked;
        state.threads().filter(blocked)
    };
    let for_network = blocked().any(|thread| thread.waiting.get() == Waiting::Network);
    let for_nothing_else =
        blocked().all(|thread| matches!(thread.waiting.get(), Waiting::Network | Waiting::Join));
    let listens = descriptors::object_numbers().any(|number| {
        let object = object(number);
        descriptors::maker(number) == process
            && match object.kind.get() {
                Kind::Stream => object.stage.get() == Stage::Listening,
                Kind::Datagram => object.local.get().is_some() && !object.foreign.get().is_some(),
                _ => false,
            }
    });
    let is_kept_waiting = |thread: &Thread| {
        thread.waiting.get() == Waiting::Network
            && matches!(thread.kind.get(), OperationKind::Connect | OperationKind::Send)
    };
    (for_network && for_nothing_else).then(|| listens && !blocked().any(is_kept_waiting))
}

/// Sends the signal of a broken pipe to the running thread, unless the call asked not to.
fn broken_pipe(flags: i32) -> i32 {
    const NO_SIGNAL: i32 = 0x4000;
    if flags & NO_SIGNAL == 0 {
        crate::signals::send_to_current(SIGPIPE);
    }
    errno::EPIPE
}

/// Whether a socket is of the Unix family.
fn is_unix(object: &Object) -> bool {
    object.family.get() == UNIX
}

/// Whether an object is an end of a pipe.
pub(crate) fn is_pipe(number: usize) -> bool {
    object(number).kind.get() == Kind::Pipe
}
