use crate::region::MAX_TEXT;

/// The longest message that is sent to a peer in one piece.
pub const MAX_MESSAGE: usize = 1 << 20;
/// The longest address of a socket.
pub const MAX_ADDRESS: usize = 112;

/// What the program needs to know in the middle of an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Asked {
    /// Nothing.
    #[default]
    Nothing,
    /// Whether a server is there, and what it says first.
    Connect,
    /// Whether one more client comes, and what it says first.
    Accept,
    /// What a peer answers to the bytes in `Region::message`.
    Write,
    /// What a peer answers to the end of what is sent.
    Finish,
    /// Whether anybody receives a datagram.
    Datagram,
    /// Whether one more client sends datagrams, and what it sends first.
    Call,
    /// Nothing: connections can be made to an address from now on.
    Listening,
    /// Nothing: datagrams can be sent to an address from now on.
    Receiving,
    /// What comes of a wish to another program.
    JointRequest,
    /// What comes of the last wish of a thread, in one of several ways.
    Way,
    /// The checker's answer that there is none; the text says why.
    Refused,
}

/// What a program wants of another one that is explored on its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum JointRequest {
    /// To be connected to at `address`, by `name[1]` at a time.
    #[default]
    Listen,
    /// Not to be connected to any more, at the listener `position`.
    Unlisten,
    /// A connection to `address`, the thread's number `name[1]`.
    Connect,
    /// A connection of another program to the listener `position`; `name[2]` says whether it
    /// waits.
    Accept,
    /// To send the bytes in `Region::message` on the connection `position`.
    Send,
    /// At most `name[1]` bytes that came on it; `name[2]` says whether it waits.
    Receive,
    /// To know which of the things in `Region::message` ([`Glance`]) would not have to wait;
    /// `name[2]` says whether it waits for one of them.
    Look,
    /// To send no more on it.
    Shut,
    /// To be rid of it.
    Close,
    /// To be sent datagrams at `address`: from the port one below `name[0]` only, unless that is 0;
    /// `name[1]` says whether it was not before, `name[3]` whether any port will do.
    Bind,
    /// Not to be sent any more at the port `position`.
    Unbind,
    /// To send the datagram in `Region::message` from the port `position` to `address`.
    SendTo,
    /// A datagram that came to the port `position`; `name[2]` says whether it waits.
    ReceiveFrom,
}

/// What comes of a wish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Granted {
    /// It was done; a new connection or listener is `position`, and so is the port for datagrams.
    #[default]
    Done,
    /// `length` bytes in `Region::message`; a datagram came from the port `position`.
    Bytes,
    /// The connection `position`.
    Accepted,
    /// Nothing more comes.
    End,
    /// The connection is broken.
    Reset,
    /// The bytes went to an end that is closed.
    Lost,
    /// Nobody listens any more.
    Refused,
    /// Nothing is there yet.
    Nothing,
    /// A [`Sight`] of each thing that was looked at, in `Region::message`.
    Ready,
    /// It waits for ever.
    Never,
}

/// How far something is that a program looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Sight {
    /// Whoever used it would wait.
    #[default]
    Waits,
    /// Something is there.
    Input,
    /// Nothing comes after that.
    End,
    /// The other end, of the Unix family, is closed.
    Gone,
    /// The connection is broken.
    Broken,
}

impl Sight {
    /// All of them, each at the place that it has as a number.
    pub const ALL: [Sight; 5] =
        [Sight::Waits, Sight::Input, Sight::End, Sight::Gone, Sight::Broken];
}

/// Something that a program looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glance {
    /// Whether somebody waits to be accepted by the listener with this number.
    Connections(u32),
    /// Whether something came on the connection with this number, and whether it makes a
    /// difference that nothing comes after it.
    Bytes(u32, bool),
    /// Whether a datagram came to a port.
    Datagrams(u16),
}

impl Glance {
    /// How many bytes one takes in a message.
    pub const LENGTH: usize = 5;
    /// How many things a program may look at together.
    pub const MOST: usize = 6;

    /// As it stands in a message.
    pub fn to_bytes(self) -> [u8; Glance::LENGTH] {
        let (kind, number) = match self {
            Glance::Connections(listener) => (0, listener),
            Glance::Bytes(connection, sees_end) => (1 + u8::from(sees_end), connection),
            Glance::Datagrams(port) => (3, u32::from(port)),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [kind, a, b, c, d]
    }

    /// What stands in a message.
    pub fn from_bytes(bytes: [u8; Glance::LENGTH]) -> Self {
        let [kind, a, b, c, d] = bytes;
        let number = u32::from_le_bytes([a, b, c, d]);
        match kind {
            0 => Glance::Connections(number),
            3 => Glance::Datagrams(number as u16),
            _ => Glance::Bytes(number, kind == 2),
        }
    }
}

/// A question of the program to the world outside. The answer is in the trees; of a wish, here.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Upcall {
    /// What is asked.
    pub asked: Asked,
    /// Where the connection stands.
    pub position: u32,
    /// How many bytes of `Region::message` count.
    pub length: u32,
    /// How many bytes of `address` count.
    pub address_length: u32,
    /// What is wished.
    pub wish: JointRequest,
    /// What came of it, if there is one way only.
    pub granted: Granted,
    /// In how many ways it can be granted.
    pub ways: u32,
    /// How many steps the execution has taken.
    pub step: u32,
    /// The thread that asks, by how it was created.
    pub thread: u64,
    /// The name of a new connection.
    pub name: [u64; 4],
    /// Where it leads to, or where the program listens, as the kernel lays it out.
    pub address: [u8; MAX_ADDRESS],
    /// Why there is no answer.
    pub text: [u8; MAX_TEXT],
}

impl Default for Upcall {
    fn default() -> Self {
        Upcall {
            asked: Asked::Nothing,
            position: 0,
            length: 0,
            address_length: 0,
            wish: JointRequest::Listen,
            granted: Granted::Done,
            ways: 0,
            step: 0,
            thread: 0,
            name: [0; 4],
            address: [0; MAX_ADDRESS],
            text: [0; MAX_TEXT],
        }
    }
}
