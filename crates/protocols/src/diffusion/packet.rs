//! Packets, timers and commands of directed diffusion.

use everypath_net::{Canonical, NodeId};
use std::fmt;

/// A packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packet {
    /// An interest in data.
    #[default]
    Interest,
    /// Data.
    Data(Data),
    /// Send me data at the higher rate.
    Positive,
    /// Send me data at the lower rate.
    Negative,
}

/// Data, as it is sent along a gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Data {
    /// Its number among what the source sensed.
    pub number: u32,
    /// Whether it was sent along a reinforced gradient.
    pub reinforced: bool,
}

impl Canonical for Data {
    fn write(&self, bytes: &mut Vec<u8>) {
        (u64::from(self.number) << 1 | u64::from(self.reinforced)).write(bytes);
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        let mut packed = 0u64;
        packed.read(bytes);
        *self = Data { number: (packed >> 1) as u32, reinforced: packed & 1 == 1 };
    }
}

impl Canonical for Packet {
    fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Packet::Interest => bytes.push(0),
            Packet::Positive => bytes.push(1),
            Packet::Negative => bytes.push(2),
            Packet::Data(data) => {
                bytes.push(3);
                data.write(bytes);
            }
        }
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        let mut kind = 0u8;
        kind.read(bytes);
        *self = match kind {
            0 => Packet::Interest,
            1 => Packet::Positive,
            2 => Packet::Negative,
            _ => {
                let mut data = Data::default();
                data.read(bytes);
                Packet::Data(data)
            }
        };
    }
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Packet::Interest => "INTEREST",
            Packet::Data(_) => "DATA",
            Packet::Positive => "POSREINFORCE",
            Packet::Negative => "NEGREINFORCE",
        })
    }
}

/// A timer of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// The neighbour has not renewed its interest.
    Gradient(NodeId),
    /// A sample has been in the data cache for long enough.
    Data(Data),
    /// The time is over in which an interest is not passed on again.
    Quiet,
    /// The time after a reboot is over in which a node takes no part.
    Wait,
}

/// What an application can ask of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Ask for data, at the sink; from time to time, to keep gradients alive.
    Subscribe,
    /// Send what was sensed, at the source. Number 0 is what it senses when an interest is new.
    Sense(u32),
}
