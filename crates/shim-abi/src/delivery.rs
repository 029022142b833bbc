/// What the network did to a datagram, and in which direction it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// What it did.
    pub delivery: Delivery,
    /// Whether the datagram was on its way to a peer.
    pub to_peer: bool,
}

impl Delivered {
    const TO_PEER: u32 = 63;

    /// As one word.
    pub(crate) fn word(self) -> u64 {
        self.delivery.word() | u64::from(self.to_peer) << Self::TO_PEER
    }

    /// From a word.
    pub(crate) fn from_word(word: u64) -> Option<Self> {
        let delivery = Delivery::from_word(word & !(1 << Self::TO_PEER))?;
        Some(Delivered { delivery, to_peer: word >> Self::TO_PEER != 0 })
    }
}

/// What the network did to a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Nothing arrives of what was sent.
    Nothing {
        /// So many packets are lost for good.
        lost: u32,
    },
    /// A packet arrives when it should.
    InOrder {
        /// Its number, from 0.
        packet: u32,
    },
    /// A packet arrives that did before.
    Again {
        /// Its number, from 0.
        packet: u32,
    },
    /// A packet arrives after one that was sent later.
    Late {
        /// Its number, from 0.
        packet: u32,
    },
    /// A packet arrives before one that was sent earlier.
    Early {
        /// Its number, from 0.
        packet: u32,
    },
    /// What a peer did is seen now.
    Answer,
    /// What a peer did is not seen yet.
    Delayed,
}

impl Delivery {
    /// As one word.
    fn word(self) -> u64 {
        let (kind, number) = match self {
            Delivery::Nothing { lost } => (0, lost),
            Delivery::InOrder { packet } => (1, packet),
            Delivery::Again { packet } => (2, packet),
            Delivery::Late { packet } => (3, packet),
            Delivery::Early { packet } => (4, packet),
            Delivery::Answer => (5, 0),
            Delivery::Delayed => (6, 0),
        };
        kind << 32 | u64::from(number)
    }

    /// From a word.
    fn from_word(word: u64) -> Option<Self> {
        let number = word as u32;
        Some(match word >> 32 {
            0 => Delivery::Nothing { lost: number },
            1 => Delivery::InOrder { packet: number },
            2 => Delivery::Again { packet: number },
            3 => Delivery::Late { packet: number },
            4 => Delivery::Early { packet: number },
            5 => Delivery::Answer,
            6 => Delivery::Delayed,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_deliveries() {
        for delivery in [
            Delivery::Nothing { lost: 2 },
            Delivery::InOrder { packet: 0 },
            Delivery::Again { packet: 7 },
            Delivery::Late { packet: u32::MAX },
            Delivery::Early { packet: 1 },
            Delivery::Answer,
            Delivery::Delayed,
        ] {
            assert_eq!(Delivery::from_word(delivery.word()), Some(delivery));
        }
        assert_eq!(Delivery::from_word(u64::MAX), None);
    }
}
