//! Parts of objects, and what lies in their buffers: plain data, whose meaning is told where it is used.

use core::cell::Cell;
use everypath_commtree::{Position, Reader};
use everypath_perturb::{Channel, Rules};
use everypath_shim_abi::client_ports;

/// So many answers of a connection can be on their way separately; others come with the last.
pub(crate) const WAVES: usize = 8;

/// What of a peer's doings is visible at an object. Without padding: it is part of states.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Arrivals {
    /// How much has arrived since the beginning: bytes, datagrams or connections.
    pub(crate) shown: u64,
    /// What there was when somebody last looked in vain.
    pub(crate) refused: u64,
    /// How many bytes there are when each answer that is on its way has arrived.
    pub(crate) waves: [u32; WAVES],
    pub(crate) waiting: u16,
    /// How often somebody has looked in vain since something arrived.
    pub(crate) refusals: u16,
    /// Whether the end of a connection has arrived, as a number.
    pub(crate) ended: u32,
}

/// Where a connection to a peer stands.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Remote {
    pub(crate) is_connected: bool,
    /// Whether it broke, as a choice of the search.
    pub(crate) is_reset: bool,
    /// Whether the peer is a server.
    pub(crate) is_to_server: bool,
    pub(crate) position: Position,
    pub(crate) reader: Reader,
}

/// Options with a number that is only kept: debug, keep-alive, priority, low-water marks and others.
pub(crate) const KEPT: usize = 8;
/// To how many groups a socket may belong.
pub(crate) const GROUPS: usize = 4;

/// The options of a socket.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Options {
    pub(crate) reuse_address: bool,
    pub(crate) reuse_port: bool,
    pub(crate) broadcast: bool,
    pub(crate) has_linger: bool,
    pub(crate) linger_seconds: i32,
    pub(crate) send_buffer: i32,
    pub(crate) receive_buffer: i32,
    /// In nanoseconds; 0 is for ever.
    pub(crate) receive_timeout: u64,
    pub(crate) send_timeout: u64,
    /// Whether its own messages to a group do not come back to this machine.
    pub(crate) no_loop: bool,
    /// Whether it hears only groups that it joined itself.
    pub(crate) only_joined: bool,
    /// Whether it gets no IPv4, although it is bound to all addresses.
    pub(crate) only_ipv6: bool,
    /// The groups it belongs to.
    pub(crate) groups: [[u8; 16]; GROUPS],
    /// Others, by level and number.
    pub(crate) kept: [(i32, i32, i32); KEPT],
}

/// How many packets may be in flight to a socket.
pub(crate) const PACKETS: usize = 64;

/// What precedes the messages of a socket if something may happen to them.
#[derive(Debug)]
#[repr(C)]
pub struct Transit {
    /// What may happen to them, whatever becomes of the socket meanwhile, and whose faults that
    /// are.
    pub(crate) rules: Cell<Rules>,
    pub(crate) account: Cell<u32>,
    /// The number of the first message in the buffer.
    pub(crate) first: Cell<u32>,
    /// One more than the number of the packet that has arrived and was not read; 0 if none has.
    pub(crate) arrived: Cell<u32>,
    pub(crate) channel: Cell<Packets>,
}

pub(crate) type Packets = Channel<PACKETS>;

impl Transit {
    /// Nothing is on its way.
    pub fn new() -> Self {
        Transit {
            rules: Cell::new(Rules::RELIABLE),
            account: Cell::new(0),
            first: Cell::new(0),
            arrived: Cell::new(0),
            channel: Cell::new(Channel::EMPTY),
        }
    }
}

impl Default for Transit {
    fn default() -> Self {
        Self::new()
    }
}

/// All clients that send datagrams.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Clients {
    pub(crate) count: Cell<u16>,
    /// Whether all of them were waited for since something was said to any, and none spoke.
    pub(crate) are_silent: Cell<bool>,
    /// Whether the running step is said to speak to clients.
    pub(crate) may_speak: Cell<bool>,
    /// Where the conversations stand, in the order of the clients' ports.
    pub(crate) known: [Cell<Remote>; client_ports::MOST],
}

impl Default for Clients {
    fn default() -> Self {
        Clients {
            count: Cell::default(),
            are_silent: Cell::default(),
            may_speak: Cell::default(),
            known: core::array::from_fn(|_| Cell::default()),
        }
    }
}
