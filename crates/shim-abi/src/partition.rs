//! Partitions of the network between processes: which may happen, and what happened.

use crate::MAX_PROCESSES;

/// Between which processes the network may be cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Partitions {
    /// How often in an execution.
    pub most: u16,
    /// For each process, a bit for each that it may be cut off from.
    pub severable: [u16; MAX_PROCESSES],
}

impl Partitions {
    /// Lets the network between two processes be cut.
    pub fn allow(&mut self, one: usize, other: usize) {
        self.severable[one] |= 1 << other;
        self.severable[other] |= 1 << one;
    }
}

/// A change of the network between processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkChange {
    /// It stays as it is from now on.
    None,
    /// It is cut between two processes.
    Cut(usize, usize),
    /// It works again between two processes.
    Mended(usize, usize),
}

impl NetworkChange {
    /// As one word.
    pub(crate) fn word(self) -> u64 {
        let word =
            |kind: u64, one: usize, other: usize| kind | (one as u64) << 8 | (other as u64) << 16;
        match self {
            NetworkChange::None => 0,
            NetworkChange::Cut(one, other) => word(1, one, other),
            NetworkChange::Mended(one, other) => word(2, one, other),
        }
    }

    /// From a word.
    pub(crate) fn of(word: u64) -> NetworkChange {
        let (one, other) = ((word >> 8 & 0xff) as usize, (word >> 16 & 0xff) as usize);
        match word & 0xff {
            1 => NetworkChange::Cut(one, other),
            2 => NetworkChange::Mended(one, other),
            _ => NetworkChange::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_read_as_it_was_written() {
        for change in [NetworkChange::None, NetworkChange::Cut(0, 15), NetworkChange::Mended(3, 4)]
        {
            assert_eq!(NetworkChange::of(change.word()), change);
        }
    }
}
