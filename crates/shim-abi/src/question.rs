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
    /// The checker's answer that there is none; the text says why.
    Refused,
}

/// A question of the program to the world outside. The answer is in the trees.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Question {
    /// What is asked.
    pub asked: Asked,
    /// Where the connection stands.
    pub position: u32,
    /// How many bytes of `Region::message` count.
    pub length: u32,
    /// How many bytes of `address` count.
    pub address_length: u32,
    /// The name of a new connection.
    pub name: [u64; 4],
    /// Where it leads to, or where the program listens, as the kernel lays it out.
    pub address: [u8; MAX_ADDRESS],
    /// Why there is no answer.
    pub text: [u8; MAX_TEXT],
}

impl Default for Question {
    fn default() -> Self {
        Question {
            asked: Asked::Nothing,
            position: 0,
            length: 0,
            address_length: 0,
            name: [0; 4],
            address: [0; MAX_ADDRESS],
            text: [0; MAX_TEXT],
        }
    }
}
