//! Sockets, pipes and events: every object that threads, processes and peers communicate through.
//!
//! None of them exists in the kernel. An [`Object`] is one end: a socket, an end of a pipe, an
//! event. What arrives waits in its buffer; what it sends goes straight into the buffer of its
//! partner, or, if its partner is a real process, into the communication tree (`peer`).
//!
//! Who must wait is woken by every change that lets it go on, tries again, and waits again if
//! another thread was faster: so the kernel does it too, and no choice is needed.

use crate::address::{Address, INET, UNIX};
use core::cell::Cell;
use everypath_shim_abi::{self as abi, Sight};

mod parts;

pub use parts::Transit;
pub(crate) use parts::{Arrivals, Clients, Options, PACKETS, Packets, Remote, WAVES};

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

/// Whether what is sent to an address, or connects to it, reaches a socket.
pub(crate) fn receives(socket: &Object, to: &Address) -> bool {
    let is_other = socket.options.get().only_ipv6 && to.family() == INET;
    socket.local.get().receives(to) && !is_other
}

/// Whether a socket is of the Unix family.
pub(crate) fn is_unix(object: &Object) -> bool {
    object.family.get() == UNIX
}
