//! What workers send each other: flat bytes for a worker, many records in one message.

use everypath_explore::Canonical;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

/// The number of a worker, and what is for it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Message {
    pub(crate) to: u64,
    pub(crate) bytes: ByteBuf,
}

/// A state that was generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Generated<'a> {
    pub(crate) print: u128,
    pub(crate) link: Link,
    pub(crate) bytes: &'a [u8],
}

/// How a state was reached. The least of several counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Link {
    /// A part of the fingerprint of the parent, which does not depend on who has it.
    pub(crate) key: u64,
    /// Which of the parent's steps it was.
    pub(crate) choice: u32,
    /// Where the parent is.
    pub(crate) parent: u64,
}

/// The parent of the initial state.
pub(crate) const ROOT: u64 = u64::MAX;

/// Bytes of a record in front of those of its state.
const HEAD: usize = 16 + 8 + 4 + 8 + 4;

impl<'a> Generated<'a> {
    /// Appends the state to a message.
    pub(crate) fn write(&self, to: &mut Vec<u8>) {
        to.extend(self.print.to_le_bytes());
        to.extend(self.link.key.to_le_bytes());
        to.extend(self.link.choice.to_le_bytes());
        to.extend(self.link.parent.to_le_bytes());
        to.extend((self.bytes.len() as u32).to_le_bytes());
        to.extend(self.bytes);
    }

    /// Takes a state from the front of a message.
    pub(crate) fn read(from: &mut &'a [u8]) -> Option<Generated<'a>> {
        let (head, rest) = from.split_first_chunk::<HEAD>()?;
        let (print, head) = head.split_first_chunk()?;
        let (key, head) = head.split_first_chunk()?;
        let (choice, head) = head.split_first_chunk()?;
        let (parent, head) = head.split_first_chunk()?;
        let (bytes, rest) = rest.split_at(u32::from_le_bytes(*head.first_chunk()?) as usize);
        *from = rest;
        let (key, parent) = (u64::from_le_bytes(*key), u64::from_le_bytes(*parent));
        let link = Link { key, choice: u32::from_le_bytes(*choice), parent };
        Some(Generated { print: u128::from_le_bytes(*print), link, bytes })
    }
}

/// What a worker tells all others at the end of a level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// States that are new to the worker in this level, and all that it has.
    pub(crate) fresh: u64,
    pub(crate) states: u64,
    /// Paths that have come to their end.
    pub(crate) executions: u64,
    /// Whether it was stopped before the end of the level.
    pub(crate) stopped: bool,
    /// The least violation of each property, and the least state that satisfies one which some state
    /// must satisfy.
    pub(crate) violations: Vec<Place>,
    pub(crate) witnesses: Vec<Place>,
}

everypath_explore::canonical!(struct Summary {
    fresh, states, executions, stopped, violations, witnesses,
});

/// Where a property is violated or satisfied: ordered by what does not depend on the workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// A part of the fingerprint of the state that was expanded.
    pub(crate) key: u64,
    /// The step that was taken; 0 for none.
    pub(crate) choice: u64,
    pub(crate) property: u64,
    /// Where the state is.
    pub(crate) state: u64,
}

everypath_explore::canonical!(struct Place { key, choice, property, state });

/// What a worker has counted in all, in the order of the fields of `Counts`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Total {
    pub(crate) counts: Vec<u64>,
    pub(crate) depth: u32,
    pub(crate) by_property: Vec<u64>,
    pub(crate) by_event: Vec<u64>,
}

everypath_explore::canonical!(struct Total { counts, depth, by_property, by_event });

/// A step back from states on the way to which everybody waits: the number of the way, the parent, the
/// choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Back {
    pub(crate) way: u64,
    pub(crate) parent: u64,
    pub(crate) choice: u32,
}

everypath_explore::canonical!(struct Back { way, parent, choice });

/// The bytes of something that is sent to everybody.
pub(crate) fn written(value: &impl Canonical) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.write(&mut bytes);
    bytes
}

/// What was sent to everybody.
pub(crate) fn read<T: Canonical + Default>(mut bytes: &[u8]) -> T {
    let mut value = T::default();
    value.read(&mut bytes);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_as_they_were_written() {
        let link = Link { key: 7, choice: 8, parent: ROOT };
        let states = [
            Generated { print: u128::MAX - 5, link, bytes: b"state" },
            Generated { print: 3, link: Link::default(), bytes: b"" },
        ];
        let mut bytes = Vec::new();
        states.iter().for_each(|state| state.write(&mut bytes));
        let mut rest = bytes.as_slice();
        let read: Vec<_> = std::iter::from_fn(|| Generated::read(&mut rest)).collect();
        assert_eq!(read, states);
    }
}
