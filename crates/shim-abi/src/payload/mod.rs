//! What goes with an operation, and how that becomes a word in shared memory.
//!
//! Each type is encoded and decoded here and nowhere else.

mod network;

pub use network::{
    Closing, Connecting, Moved, PeerConnection, PollScope, QueuedConnection, Sending, Span,
};

use crate::{Fault, Object};

/// What an operation carries, as a word.
pub(crate) trait AsWord: Copy {
    /// As a word.
    fn word(self) -> u64;
    /// From such a word.
    fn from_word(word: u64) -> Self;
}

impl AsWord for u64 {
    fn word(self) -> u64 {
        self
    }

    fn from_word(word: u64) -> Self {
        word
    }
}

impl AsWord for u32 {
    fn word(self) -> u64 {
        self.into()
    }

    fn from_word(word: u64) -> Self {
        word as u32
    }
}

impl AsWord for Object {
    fn word(self) -> u64 {
        Object::word(self)
    }

    fn from_word(word: u64) -> Self {
        Object::from_word(word)
    }
}

impl AsWord for Fault {
    fn word(self) -> u64 {
        self as u64
    }

    fn from_word(word: u64) -> Self {
        Fault::ALL[word as usize % Fault::ALL.len()]
    }
}

/// Makes words of an enum without fields: 0 is the first variant.
macro_rules! plain {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$about])* $variant,)*
        }

        impl $name {
            /// All of them, in the order of their words.
            pub const ALL: &[$name] = &[$($name::$variant,)*];
        }

        impl AsWord for $name {
            #[inline]
            fn word(self) -> u64 {
                self as u64
            }

            #[inline]
            fn from_word(word: u64) -> Self {
                $name::ALL[word as usize % $name::ALL.len()]
            }
        }
    };
}

plain! {
    /// Whether the thread that releases a lock owns it. To release it otherwise is undefined, but the
    /// lock is free then, whoever owned it.
    Ownership {
        /// It does.
        Owner,
        /// It does not.
        NotOwner,
    }
}

plain! {
    /// Whether a thread that ends owns robust mutexes, which it then releases.
    RobustMutexes {
        /// It owns none.
        None,
        /// It owns some.
        Owned,
    }
}

plain! {
    /// In which order a read-write lock is granted.
    LockOrder {
        /// In no order that is known: a lock of pthreads.
        Unordered,
        /// In the order of requests: a reader does not overtake a writer that waits.
        Fifo,
        /// The same, requested again because another thread was faster.
        FifoRetry,
    }
}

plain! {
    /// Who releases a read-write lock.
    RwRelease {
        /// It is not known: a lock of pthreads.
        Unordered,
        /// The writer of a lock that is granted in the order of requests.
        Writer,
        /// A reader of such a lock.
        Reader,
    }
}

plain! {
    /// Whether the count of a semaphore may become too large.
    Overflow {
        /// It is far from that.
        Impossible,
        /// It is so large that posting may fail.
        Possible,
    }
}

plain! {
    /// Whether an atomic instruction is repeated by a thread that spins.
    Attempt {
        /// It is not.
        First,
        /// It found the same several times before: the thread waits for a change.
        Repeated,
    }
}

plain! {
    /// Whether closing a descriptor changes what others find in files.
    FileEffect {
        /// It does not.
        None,
        /// The file was written, or its lock is released.
        Visible,
    }
}

plain! {
    /// Whether the network's faults are limited for all datagrams of an execution together.
    FaultLimit {
        /// What becomes of one datagram does not depend on others.
        None,
        /// It does: they share a budget, or clients answer what they have received.
        Shared,
    }
}

/// The mutex that a thread releases while it waits on a condition variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CondMutex {
    /// The mutex.
    pub mutex: Object,
    /// Whether the thread owns it.
    pub ownership: Ownership,
}

impl CondMutex {
    /// A mutex that the thread owns.
    pub fn owned(mutex: Object) -> Self {
        CondMutex { mutex, ownership: Ownership::Owner }
    }
}

impl AsWord for CondMutex {
    fn word(self) -> u64 {
        self.mutex.word() | self.ownership.word() << Object::FREE_BIT
    }

    fn from_word(word: u64) -> Self {
        CondMutex {
            mutex: Object::from_word(word & !(1 << Object::FREE_BIT)),
            ownership: Ownership::from_word(word >> Object::FREE_BIT & 1),
        }
    }
}

/// What a call finds under a file descriptor that it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptorUse {
    /// Something else than a socket.
    Other,
    /// Nothing: it is closed.
    Closed,
    /// A socket, a pipe or an event.
    Socket(Object),
}

impl AsWord for DescriptorUse {
    fn word(self) -> u64 {
        match self {
            DescriptorUse::Other => 0,
            DescriptorUse::Closed => u64::MAX,
            DescriptorUse::Socket(object) => object.word(),
        }
    }

    fn from_word(word: u64) -> Self {
        match word {
            0 => DescriptorUse::Other,
            u64::MAX => DescriptorUse::Closed,
            word => DescriptorUse::Socket(Object::from_word(word)),
        }
    }
}

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessEnd {
    /// Its exit code.
    pub code: u8,
    /// Whether no thread of any process is ended by that which could have gone on: it is one of
    /// several, and no other thread of it is left.
    pub is_unnoticed: bool,
}

impl AsWord for ProcessEnd {
    fn word(self) -> u64 {
        u64::from(self.code) | u64::from(self.is_unnoticed) << 8
    }

    fn from_word(word: u64) -> Self {
        ProcessEnd { code: word as u8, is_unnoticed: word >> 8 & 1 != 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::fmt::Debug;

    fn survives<T: AsWord + PartialEq + Debug>(values: impl IntoIterator<Item = T>) {
        for value in values {
            assert_eq!(T::from_word(value.word()), value);
        }
    }

    #[test]
    fn what_goes_with_an_operation_survives_being_a_word() {
        let (mutex, socket) = (Object::memory(3, 0x7fff_0008), Object::socket(7));
        let span = Span { end: 0xff_ffff_fffe, count: 0xff_ffff };
        let moved = [Moved::Nothing, Moved::Unknown, Moved::Span(span), Moved::up_to(1, 1)];
        survives(Ownership::ALL.iter().map(|&ownership| CondMutex { mutex, ownership }));
        survives(LockOrder::ALL.iter().copied());
        survives(RwRelease::ALL.iter().copied());
        survives(Fault::ALL);
        survives([DescriptorUse::Other, DescriptorUse::Closed, DescriptorUse::Socket(socket)]);
        survives(moved);
        survives(moved.map(Sending::Queue).into_iter().chain([Sending::Client]));
        let socket = Object::socket(u16::MAX);
        survives([true, false].map(|in_turn| PeerConnection { socket, in_turn }));
        survives([Connecting::Nothing, Connecting::Socket(0), Connecting::Socket(u16::MAX)]);
        let entry = Span { end: 0xff_ffff_fffe, count: 2 };
        survives([0, u16::MAX].map(|socket| QueuedConnection { socket, entry }));
        survives([Closing::Alone, Closing::OtherEnd(socket), Closing::Backlog]);
        survives(
            [(false, false), (true, false), (false, true), (true, true)]
                .map(|(clients, arrivals)| PollScope { clients, arrivals }),
        );
        survives([false, true].map(|is_unnoticed| ProcessEnd { code: 255, is_unnoticed }));
    }

    #[test]
    fn a_span_begins_where_the_one_before_it_ended() {
        let [first, second] = [Moved::up_to(3, 3), Moved::up_to(10, 7)].map(|moved| moved.span());
        assert_eq!((first.unwrap().start(), first.unwrap().end), (0, second.unwrap().start()));
    }
}
