//! Sockets, pipes and events: every object that threads, processes and peers communicate through.
//!
//! None of them exists in the kernel. An [`Object`] is one end: a socket, an end of a pipe, an
//! event. What arrives waits in its buffer; what it sends goes straight into the buffer of its
//! partner, or, if its partner is a real process, into the communication tree (`peer`).
//!
//! Who must wait is woken by every change that lets it go on, tries again, and waits again if
//! another thread was faster: so the kernel does it too, and no choice is needed.

use crate::arrival::Arrivals;
use crate::fd_table::{self, Kind as OpenKind, NONBLOCK, Open};
use crate::host::Host;
use crate::peer::Remote;
use crate::sockaddr::{Address, INET, UNIX};
use crate::sockopt::Options;
use crate::{epoll, errno, joint, peer, tcp, udp};
use core::cell::Cell;
use everypath_shim_abi::{self as abi, Closing, Operation, Sight};

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
#[derive(Debug, Default)]
#[repr(C)]
pub struct Object {
    pub(crate) kind: Cell<Kind>,
    pub(crate) stage: Cell<Stage>,
    /// Where in its buffer the bytes are that wait.
    pub(crate) start: Cell<u32>,
    pub(crate) end: Cell<u32>,
    /// How many of them have not arrived, because the network is cut.
    pub(crate) held: Cell<u32>,
    /// What the partner did.
    pub(crate) partner_end: Cell<End>,
    /// What was last seen of another program that is explored on its own.
    pub(crate) sight: Cell<Sight>,
    /// What it did since the network was cut.
    pub(crate) later_end: Cell<End>,
    /// The process whose end this is, and the one at the other end.
    pub(crate) owner: Cell<u8>,
    pub(crate) across: Cell<u8>,
    /// Whether this end neither receives nor sends any more.
    pub(crate) shut_receiving: Cell<bool>,
    pub(crate) shut_sending: Cell<bool>,
    /// Whether the network is unreliable for messages in flight to here.
    pub(crate) unreliable: Cell<bool>,
    /// Whether it was freed by a thread that it does not belong to.
    pub(crate) retired: Cell<bool>,
    /// Whether the program chose its port, so that others may know it.
    pub(crate) is_named: Cell<bool>,
    /// Whether clients outside were asked what they send to it, and whether it has heard any.
    pub(crate) has_invited: Cell<bool>,
    pub(crate) hears_clients: Cell<bool>,
    pub(crate) family: Cell<u16>,
    /// One more than the number of the other end, if that is in this program.
    pub(crate) partner: Cell<u16>,
    /// The port of the peer that it first sent a datagram to.
    pub(crate) first_peer: Cell<u16>,
    /// Whether it has sent to several peers: what they answer comes in any order.
    pub(crate) has_several_peers: Cell<bool>,
    /// One more than the place, in the order of sending, of the message that arrives next, if that was
    /// decided between several peers.
    pub(crate) next_place: Cell<u16>,
    /// One more than the number of its send queue.
    pub(crate) outbox: Cell<u16>,
    /// How many connections may wait to be accepted.
    pub(crate) backlog: Cell<u16>,
    /// How many connections of peers were accepted.
    pub(crate) accepted: Cell<u16>,
    /// What the next call fails with.
    pub(crate) error: Cell<i32>,
    /// Goes up whenever something happens that may let somebody go on.
    pub(crate) activity: Cell<u32>,
    /// An event's counter; when a timer expires; what a closed reader has left in a pipe; the number of a listener, or the port of a
    /// datagram socket, that other programs know it by.
    pub(crate) counter: Cell<u64>,
    /// Whether an event is a semaphore; how often a timer expires after that.
    pub(crate) interval: Cell<u64>,
    /// How many bytes were ever put in and taken out.
    pub(crate) put: Cell<u64>,
    pub(crate) taken: Cell<u64>,
    /// How many messages.
    pub(crate) entered: Cell<u32>,
    pub(crate) left: Cell<u32>,
    pub(crate) local: Cell<Address>,
    pub(crate) foreign: Cell<Address>,
    pub(crate) options: Cell<Options>,
    pub(crate) remote: Cell<Remote>,
    pub(crate) arrivals: Cell<Arrivals>,
    /// The moment of the last exchange with a peer, and until when it is known to have said nothing.
    pub(crate) spoken_at: Cell<u64>,
    pub(crate) quiet_until: Cell<u64>,
    /// The moment at which the peer has said what is on its way, or a later one; 0 if that is known to be
    /// over.
    pub(crate) answered_at: Cell<u64>,
    /// How often the peer has spoken by itself since the program sent something, and since it received
    /// something.
    pub(crate) unasked: Cell<u32>,
    pub(crate) unheard: Cell<u32>,
}

impl Object {
    pub(crate) fn is_free(&self) -> bool {
        self.kind.get() == Kind::Free && !self.retired.get()
    }

    pub(crate) fn retire(&self, retired: bool) {
        self.kind.set(Kind::Free);
        self.retired.set(retired);
    }

    pub(crate) fn takes_error(&self) -> Option<i32> {
        match self.error.replace(0) {
            0 => None,
            error => Some(error),
        }
    }
}

/// The other end, if it is in this program.
pub(crate) fn partner(object: &Object) -> Option<usize> {
    usize::from(object.partner.get()).checked_sub(1)
}

/// What stands for an object in the footprints of steps.
pub(crate) fn key(number: usize) -> abi::Object {
    abi::Object::socket(number as u16)
}

/// Refuses flags that no call knows but those that say whether a new program inherits a descriptor
/// and whether calls on it wait.
pub(crate) fn check_flags(flags: i32) -> Result<(), i32> {
    let unknown = flags & !(NONBLOCK | fd_table::CLOSE_ON_EXEC);
    if unknown == 0 { Ok(()) } else { Err(errno::EINVAL) }
}

/// Makes an object and opens it.
pub(crate) fn make(k: &impl Host, kind: Kind, flags: i32) -> Result<(usize, isize), i32> {
    let number = fd_table::free_object(k).ok_or(errno::EMFILE)?;
    k.object(number).kind.set(kind);
    k.object(number).owner.set(k.process() as u8);
    Ok((number, open(k, number, flags)?))
}

/// Opens an object: a descriptor.
pub(crate) fn open(k: &impl Host, number: usize, flags: i32) -> Result<isize, i32> {
    let open =
        Open { kind: OpenKind::Object, index: number as u16, flags: flags | 2, ..Open::default() };
    match fd_table::open(k, open) {
        descriptor if descriptor >= 0 => Ok(descriptor),
        error => {
            fd_table::object_is_free(k, number);
            Err(-error as i32)
        }
    }
}

/// The scheduling point before a descriptor of an object is closed.
pub(crate) fn before_close(k: &impl Host, number: usize) {
    k.point(Operation::Close(Closing::OtherEnd(other_end_of(k, number))), touches(k, number));
}

/// The scheduling point before the flags of a descriptor change: whether calls wait at a socket is
/// seen by whoever uses it.
pub(crate) fn before_mode(k: &impl Host, open: Open, flags: i32) {
    if open.kind == OpenKind::Object && (open.flags ^ flags) & NONBLOCK != 0 {
        before_change(k, usize::from(open.index));
    }
}

/// The scheduling point before something changes that decides how long calls wait at a socket.
pub(crate) fn before_change(k: &impl Host, number: usize) {
    k.point(Operation::SocketState(other_end_of(k, number)), touches(k, number));
}

/// What an object is, in footprints: its address, if that is where others meet it.
pub(crate) fn touches(k: &impl Host, number: usize) -> abi::Object {
    let object = k.object(number);
    let local = object.local.get();
    let meets = match object.kind.get() {
        Kind::Datagram => partner(object).is_none() && local.is_some() && !local.is_unnamed(),
        _ => object.stage.get() == Stage::Listening,
    };
    if meets { local.key() } else { key(number) }
}

/// The other end, in footprints; if there is none, this end once more.
pub(crate) fn other_end_of(k: &impl Host, number: usize) -> abi::Object {
    partner(k.object(number)).map_or(key(number), key)
}

/// The last descriptor of an object is gone.
pub(crate) fn close(k: &impl Host, number: usize, description: usize) {
    epoll::forget(k, description);
    let object = k.object(number);
    match object.kind.get() {
        Kind::Stream | Kind::Pipe => tcp::close(k, number),
        Kind::Datagram => udp::close(k, number),
        Kind::Event | Kind::Timer | Kind::Epoll | Kind::Outbox | Kind::Free => {}
    }
    free(k, number);
}

/// Frees an object.
pub(crate) fn free(k: &impl Host, number: usize) {
    let object = k.object(number);
    object.start.set(0);
    object.end.set(0);
    object.held.set(0);
    object.later_end.set(End::Open);
    object.partner.set(0);
    object.local.set(Address::default());
    fd_table::object_is_free(k, number);
}

/// The socket of a `kind` that is bound to an address.
pub(crate) fn bound(k: &impl Host, kind: Kind, accepts: impl Fn(&Object) -> bool) -> Option<usize> {
    fd_table::object_numbers(k).find(|&number| {
        let object = k.object(number);
        object.kind.get() == kind && object.local.get().is_some() && accepts(object)
    })
}

/// Whether what is sent to an address, or connects to it, reaches a socket.
pub(crate) fn receives(socket: &Object, to: &Address) -> bool {
    let is_other = socket.options.get().only_ipv6 && to.family() == INET;
    socket.local.get().receives(to) && !is_other
}

/// Whether a socket is of the Unix family.
pub(crate) fn is_unix(object: &Object) -> bool {
    object.family.get() == UNIX
}

/// What can be seen of all sockets: it changes with whatever happens to one, but not with peers that
/// say nothing.
pub fn visible(k: &impl Host) -> impl Iterator<Item = [u64; 8]> {
    let of = |number: usize| {
        let object = k.object(number);
        let kind = object.kind.get();
        let remote = object.remote.get();
        // Where a conversation in datagrams stands changes with every silence.
        let stands = if kind == Kind::Stream { u64::from(remote.position.word()) } else { 0 };
        let flags = [object.shut_receiving.get(), object.shut_sending.get()].map(u64::from);
        let ends = [object.stage.get() as u64, object.partner_end.get() as u64];
        let small = ends[0] | ends[1] << 8 | flags[0] << 16 | flags[1] << 17;
        matches!(kind, Kind::Stream | Kind::Datagram).then(|| {
            [
                number as u64 | u64::from(object.activity.get()) << 32,
                small | u64::from(object.accepted.get()) << 32,
                object.put.get(),
                object.taken.get(),
                u64::from(object.entered.get()) | u64::from(object.left.get()) << 32,
                u64::from(object.start.get()) | u64::from(object.end.get()) << 32,
                peer::taken(object),
                stands,
            ]
        })
    };
    fd_table::object_numbers(k).filter_map(of)
}

/// Whether an object is an end of a pipe.
pub fn is_pipe(k: &impl Host, number: usize) -> bool {
    k.object(number).kind.get() == Kind::Pipe
}

/// Whether clients can connect to a socket, or send to it: to a port or name that the program chose, since
/// nobody knows another.
pub(crate) fn is_open_to_clients(k: &impl Host, object: &Object) -> bool {
    // Other programs under control may answer to any port.
    let is_known = object.is_named.get()
        || object.local.get().is_some() && (k.is_one_of_several() || joint::is_on(k));
    match object.kind.get() {
        Kind::Stream => object.stage.get() == Stage::Listening,
        Kind::Datagram => is_known && !object.foreign.get().is_some(),
        _ => false,
    }
}
