//! What steps work on, and which aspect of it.

use core::fmt;

/// Something that steps of several threads may work on: a word in memory, a socket, a file.
///
/// In shared memory it is one word, so two objects are compared by one instruction; what the word
/// stands for is told by [`Object::kind`].
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Object(u64);

/// What an [`Object`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// There is none.
    None,
    /// A lock, a word or a thread handle in the memory of a process.
    Memory {
        /// The process.
        process: u8,
        /// Its address there.
        address: u64,
    },
    /// One end of a connection or a pipe, or an event; sockets are numbered across processes.
    Socket(u16),
    /// An address at which sockets of all processes meet, by a number that follows from it.
    Address(u64),
    /// A file descriptor of a process.
    Descriptor {
        /// The process.
        process: u8,
        /// The descriptor.
        number: u32,
    },
    /// The offset of an open file description, which several descriptors may share.
    Offset {
        /// The process.
        process: u8,
        /// The number of the description.
        description: u32,
    },
    /// A file of a process; 0 for steps that look one up by its path.
    File {
        /// The process.
        process: u8,
        /// One more than its number.
        number: u32,
    },
    /// Standard output or standard error of a process, by descriptor.
    Stream {
        /// The process.
        process: u8,
        /// The descriptor.
        number: u8,
    },
    /// A process as a whole.
    Process(u8),
    /// Something that there is one of, for all processes or for each.
    Global(Global),
}

/// What there is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Global {
    /// All sockets, pipes and events, for steps that look at several.
    Network,
    /// The faults that the network has left in an execution, and what clients have received.
    FaultBudget,
    /// All timeouts: which of them fires first depends on who began to wait first.
    Timers,
    /// The files of a process: which of them are the same is not known before they are opened.
    Files(u8),
    /// The fences of a process, which have one order: what comes before one is seen after the next.
    Fences(u8),
    /// The signals of a process.
    Signals(u8),
    /// The events that programs log (`note`), which are compared with a model.
    Events,
    /// The order in which identical processes first use the network, by process.
    Turn(u8),
}

/// An aspect of an object that steps can use without using the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Facet {
    /// The object itself; of a queue, the end at which something is put in.
    Whole,
    /// The end of a queue at which something is taken out.
    Head,
    /// The backlog of a listener, where connections are put in.
    Tail,
    /// That nobody listens at an address any more.
    Gone,
    /// Whether a socket is open, and what is configured that only its users see.
    Open,
    /// Who has requested a read-write lock: readers do not see each other.
    Requested,
    /// Where readers release a read-write lock.
    Readers,
}

/// The fields of the word, from the lowest bit: id, facet, space, process.
const FACET_SHIFT: u32 = 48;
const SPACE_SHIFT: u32 = 52;
const PROCESS_SHIFT: u32 = 56;
const ID_MASK: u64 = (1 << FACET_SHIFT) - 1;

/// What the id of an object is; memory comes first, so an address is its own word in process 0.
#[repr(u8)]
enum Space {
    Memory,
    Socket,
    Address,
    Descriptor,
    Offset,
    File,
    Stream,
    Process,
    Global,
    GlobalOfProcess,
    TwoWords,
    FourWords,
    EightWords,
    ManyWords,
}

const TWO_WORDS: u64 = Space::TwoWords as u64;
const FOUR_WORDS: u64 = Space::FourWords as u64;
const EIGHT_WORDS: u64 = Space::EightWords as u64;
const MANY_WORDS: u64 = Space::ManyWords as u64;

/// The bytes of a word. Accesses to different bytes of one word count as accesses to the same.
const WORD: u64 = 4;

impl Object {
    /// No object at all.
    pub const NONE: Object = Object(0);

    const fn new(space: Space, process: u8, id: u64) -> Object {
        Object((id & ID_MASK) | (space as u64) << SPACE_SHIFT | (process as u64) << PROCESS_SHIFT)
    }

    /// A word in the memory of a process.
    #[inline]
    pub const fn memory(process: u8, address: u64) -> Object {
        Object::new(Space::Memory, process, address)
    }

    /// Bytes in the memory of a process, which may be several words.
    #[inline]
    pub const fn bytes(process: u8, address: u64, size: u64) -> Object {
        let space = match (address % WORD + size).div_ceil(WORD) {
            0 | 1 => Space::Memory,
            2 => Space::TwoWords,
            3 | 4 => Space::FourWords,
            5..=8 => Space::EightWords,
            _ => Space::ManyWords,
        };
        Object::new(space, process, address)
    }

    /// The words of an object in memory, at least those that were meant; none if they are too many
    /// to be told apart.
    pub(crate) fn words(self) -> Option<impl Iterator<Item = Object>> {
        let words = match self.space() {
            TWO_WORDS => 2,
            FOUR_WORDS => 4,
            EIGHT_WORDS => 8,
            MANY_WORDS => return None,
            _ => 1,
        };
        let (process, first) = (self.owner(), self.memory_address() & !(WORD - 1));
        Some((0..words).map(move |word| Object::memory(process, first + word * WORD)))
    }

    /// A socket, a pipe or an event, by number.
    #[inline]
    pub const fn socket(number: u16) -> Object {
        Object::new(Space::Socket, 0, number as u64)
    }

    /// A network address, by a number that follows from it.
    #[inline]
    pub const fn address(number: u64) -> Object {
        Object::new(Space::Address, 0, number)
    }

    /// A file descriptor of a process.
    #[inline]
    pub const fn descriptor(process: u8, number: u32) -> Object {
        Object::new(Space::Descriptor, process, number as u64)
    }

    /// The offset of an open file description of a process.
    #[inline]
    pub const fn offset(process: u8, description: u32) -> Object {
        Object::new(Space::Offset, process, description as u64)
    }

    /// A file of a process: one more than its number; 0 if a path is looked up.
    #[inline]
    pub const fn file(process: u8, number: u32) -> Object {
        Object::new(Space::File, process, number as u64)
    }

    /// Standard output or standard error of a process, by descriptor.
    #[inline]
    pub const fn stream(process: u8, number: u8) -> Object {
        Object::new(Space::Stream, process, number as u64)
    }

    /// A process as a whole.
    #[inline]
    pub const fn process(process: u8) -> Object {
        Object::new(Space::Process, process, 0)
    }

    /// What there is one of.
    #[inline]
    pub const fn global(global: Global) -> Object {
        match global {
            Global::Network => Object::new(Space::Global, 0, 0),
            Global::FaultBudget => Object::new(Space::Global, 0, 1),
            Global::Timers => Object::new(Space::Global, 0, 2),
            Global::Events => Object::new(Space::Global, 0, 3),
            Global::Files(process) => Object::new(Space::GlobalOfProcess, process, 0),
            Global::Fences(process) => Object::new(Space::GlobalOfProcess, process, 1),
            Global::Signals(process) => Object::new(Space::GlobalOfProcess, process, 2),
            Global::Turn(process) => Object::new(Space::GlobalOfProcess, process, 3),
        }
    }

    const fn space(self) -> u64 {
        const SPACES: u64 = (1 << (PROCESS_SHIFT - SPACE_SHIFT)) - 1;
        self.0 >> SPACE_SHIFT & SPACES
    }

    /// What it is.
    pub const fn kind(self) -> ObjectKind {
        let (id, process) = (self.0 & ID_MASK, self.owner());
        match (self.space(), id) {
            _ if self.0 == 0 => ObjectKind::None,
            (0 | TWO_WORDS..=MANY_WORDS, address) => ObjectKind::Memory { process, address },
            (1, number) => ObjectKind::Socket(number as u16),
            (2, number) => ObjectKind::Address(number),
            (3, number) => ObjectKind::Descriptor { process, number: number as u32 },
            (4, number) => ObjectKind::Offset { process, description: number as u32 },
            (5, number) => ObjectKind::File { process, number: number as u32 },
            (6, number) => ObjectKind::Stream { process, number: number as u8 },
            (7, _) => ObjectKind::Process(process),
            (8, 0) => ObjectKind::Global(Global::Network),
            (8, 1) => ObjectKind::Global(Global::FaultBudget),
            (8, 2) => ObjectKind::Global(Global::Timers),
            (8, _) => ObjectKind::Global(Global::Events),
            (_, 0) => ObjectKind::Global(Global::Files(process)),
            (_, 1) => ObjectKind::Global(Global::Fences(process)),
            (_, 2) => ObjectKind::Global(Global::Signals(process)),
            (_, _) => ObjectKind::Global(Global::Turn(process)),
        }
    }

    /// Whether there is none.
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The process that it belongs to; 0 for what belongs to all.
    #[inline]
    pub const fn owner(self) -> u8 {
        (self.0 >> PROCESS_SHIFT) as u8
    }

    /// The address of an object in memory.
    #[inline]
    pub const fn memory_address(self) -> u64 {
        self.0 & ID_MASK
    }

    /// Whether it belongs to the network that all processes share.
    #[inline]
    pub const fn is_of_network(self) -> bool {
        matches!(self.kind(), ObjectKind::Socket(_) | ObjectKind::Address(_))
    }

    /// The number that stands for an aspect of it in footprints.
    #[inline]
    pub const fn facet(self, facet: Facet) -> u64 {
        self.0 | (facet as u64) << FACET_SHIFT
    }

    /// A bit that no object has: operations work on objects as a whole, not on facets.
    pub(crate) const FREE_BIT: u32 = FACET_SHIFT;

    /// As one word, for the payload of an operation.
    pub(crate) const fn word(self) -> u64 {
        self.0
    }

    /// From such a word.
    pub(crate) const fn from_word(word: u64) -> Object {
        Object(word)
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind().fmt(f)
    }
}

/// Addresses as they are usually written, everything else by what it is.
impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            ObjectKind::None => f.write_str("0x0"),
            ObjectKind::Memory { address, .. } => write!(f, "{address:#x}"),
            ObjectKind::Socket(number) => write!(f, "socket {number}"),
            ObjectKind::Address(number) => write!(f, "address {number}"),
            kind => write!(f, "{kind:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_read_as_it_was_made() {
        let cases = [
            (Object::NONE, ObjectKind::None),
            (
                Object::memory(15, 0x7fff_ffff_fff8),
                ObjectKind::Memory { process: 15, address: 0x7fff_ffff_fff8 },
            ),
            (Object::socket(u16::MAX), ObjectKind::Socket(u16::MAX)),
            (Object::address(0x1_ffff_ffff), ObjectKind::Address(0x1_ffff_ffff)),
            (Object::descriptor(1, 3), ObjectKind::Descriptor { process: 1, number: 3 }),
            (Object::offset(1, 3), ObjectKind::Offset { process: 1, description: 3 }),
            (Object::file(2, 0), ObjectKind::File { process: 2, number: 0 }),
            (Object::stream(2, 1), ObjectKind::Stream { process: 2, number: 1 }),
            (Object::process(4), ObjectKind::Process(4)),
        ];
        for (object, kind) in cases {
            assert_eq!(object.kind(), kind);
        }
        for global in globals() {
            assert_eq!(Object::global(global).kind(), ObjectKind::Global(global));
        }
    }

    #[test]
    fn no_two_objects_or_aspects_are_the_same() {
        let objects = [
            Object::memory(0, 2),
            Object::memory(1, 2),
            Object::socket(2),
            Object::address(2),
            Object::descriptor(0, 2),
            Object::offset(0, 2),
            Object::file(0, 2),
            Object::stream(0, 2),
            Object::process(2),
        ];
        let all = objects.into_iter().chain(globals().map(Object::global));
        let facets = [
            Facet::Whole,
            Facet::Head,
            Facet::Tail,
            Facet::Gone,
            Facet::Open,
            Facet::Requested,
            Facet::Readers,
        ];
        let words = || all.clone().flat_map(|object| facets.map(|facet| object.facet(facet)));
        for (index, word) in words().enumerate() {
            assert!(words().skip(index + 1).all(|other| other != word), "{word:#x}");
        }
    }

    fn globals() -> impl Iterator<Item = Global> + Clone {
        let of_all = [Global::Network, Global::FaultBudget, Global::Timers, Global::Events];
        of_all.into_iter().chain([1, 2].into_iter().flat_map(|process| {
            [Global::Files, Global::Fences, Global::Signals, Global::Turn].map(|of| of(process))
        }))
    }
}
