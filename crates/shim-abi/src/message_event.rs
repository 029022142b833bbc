//! What passes between sockets, for whoever reads the trace.

/// What happened to something that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum MessageEventKind {
    /// It is on its way.
    Sent,
    /// It was sent and received at once.
    Handed,
    /// A receiver has it.
    Received,
    /// It is not on its way any more: if nobody received it, it is lost.
    Gone,
}

/// Something that happened to messages or to bytes of a stream on their way to a socket. It is
/// followed by the address of the sender, that of the receiver, and the first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageEvent {
    /// What happened.
    pub what: MessageEventKind,
    /// Whether whole messages pass, not bytes.
    pub is_datagram: bool,
    /// In which step, counted from 1; 0 before the first one.
    pub step: u32,
    /// The thread that took it.
    pub thread: u16,
    /// The sender: one more than the number of its object; 0 if it is outside.
    pub sender: u16,
    /// The object in which it waits to be received, and whose that is.
    pub object: u16,
    /// The process of the receiver; [`MessageEvent::OUTSIDE`] if that is none.
    pub process: u8,
    /// Which of all messages, or bytes, that ever went there: the first of them.
    pub first: u64,
    /// How many bytes there are.
    pub length: u32,
    /// How long what follows is: the two addresses, and the bytes that are kept.
    pub following: [u8; 3],
}

impl MessageEvent {
    /// Of processes: none of those that are checked.
    pub const OUTSIDE: u8 = u8::MAX;
    /// So many bytes are kept of what was sent.
    pub const KEPT: usize = 96;
    /// How many bytes it has, without those that follow.
    pub const LENGTH: usize = 28;

    /// As bytes.
    pub fn to_bytes(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[0] = self.what as u8;
        bytes[1] = u8::from(self.is_datagram);
        bytes[2..4].copy_from_slice(&self.thread.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.step.to_le_bytes());
        bytes[8..10].copy_from_slice(&self.sender.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.object.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.first.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.length.to_le_bytes());
        bytes[24..27].copy_from_slice(&self.following);
        bytes[27] = self.process;
        bytes
    }

    /// From bytes.
    pub fn from_bytes(bytes: &[u8; Self::LENGTH]) -> Self {
        let short = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let word = |at: usize| u32::from(short(at)) | u32::from(short(at + 2)) << 16;
        MessageEvent {
            what: match bytes[0] {
                0 => MessageEventKind::Sent,
                1 => MessageEventKind::Handed,
                2 => MessageEventKind::Received,
                _ => MessageEventKind::Gone,
            },
            is_datagram: bytes[1] != 0,
            thread: short(2),
            step: word(4),
            sender: short(8),
            object: short(10),
            first: u64::from(word(12)) | u64::from(word(16)) << 32,
            length: word(20),
            following: [bytes[24], bytes[25], bytes[26]],
            process: bytes[27],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_events_survive_being_bytes() {
        for what in [
            MessageEventKind::Sent,
            MessageEventKind::Handed,
            MessageEventKind::Received,
            MessageEventKind::Gone,
        ] {
            let event = MessageEvent {
                what,
                is_datagram: what == MessageEventKind::Sent,
                step: 0x0102_0304,
                thread: 0x0506,
                sender: 0x0708,
                object: 0x090a,
                process: 11,
                first: 0x0c0d_0e0f_1011_1213,
                length: 0x1415_1617,
                following: [24, 25, 26],
            };
            assert_eq!(MessageEvent::from_bytes(&event.to_bytes()), event);
        }
    }
}
