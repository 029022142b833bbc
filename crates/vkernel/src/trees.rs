//! Communication trees as the kernel uses them: looked up and read, never grown.

use everypath_commtree::{End, Lookup, Name, Opening, Position, Reader, Sent, Space, Take};

/// Communication trees of some size.
pub trait Trees {
    /// What became of opening a connection, if that is known.
    fn find(&self, name: Name) -> Option<Opening>;

    /// Where sending something leads to, if that is known.
    fn write(&self, from: Position, sent: Sent<'_>) -> Lookup;

    /// How many bytes a reader can read at a position.
    fn readable(&self, reader: Reader, at: Position) -> u64;

    /// Reads bytes; returns how many.
    fn read(&self, reader: &mut Reader, at: Position, out: &mut [u8], take: Take) -> usize;

    /// What a reader that has read everything finds.
    fn end(&self, reader: Reader, at: Position) -> End;

    /// What the peer did to its end.
    fn peer_end(&self, at: Position) -> End;

    /// How many bytes the peer has sent from the beginning up to a position.
    fn received(&self, at: Position) -> u64;

    /// Whether the peer may send more by itself, after some time.
    fn is_timed(&self, at: Position) -> bool;
}

impl<const ROOTS: usize, const NODES: usize, const BYTES: usize> Trees
    for Space<ROOTS, NODES, BYTES>
{
    fn find(&self, name: Name) -> Option<Opening> {
        self.find(name)
    }

    fn write(&self, from: Position, sent: Sent<'_>) -> Lookup {
        self.write(from, sent)
    }

    fn readable(&self, reader: Reader, at: Position) -> u64 {
        self.readable(reader, at)
    }

    fn read(&self, reader: &mut Reader, at: Position, out: &mut [u8], take: Take) -> usize {
        self.read(reader, at, out, take)
    }

    fn end(&self, reader: Reader, at: Position) -> End {
        self.end(reader, at)
    }

    fn peer_end(&self, at: Position) -> End {
        self.peer_end(at)
    }

    fn received(&self, at: Position) -> u64 {
        self.received(at)
    }

    fn is_timed(&self, at: Position) -> bool {
        self.is_timed(at)
    }
}
