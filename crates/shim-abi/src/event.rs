//! Steps that were taken.

use crate::payload::AsWord;
use crate::{
    Delivered, Moved, NetworkChange, Object, Operation, OperationKind, PackedOperation, Payload,
    Phase, Span, Step, TIMEOUT,
};
use core::mem::offset_of;

/// One step that was taken.
///
/// It is written when the step is chosen, before its thread performs it: whatever happens then, be it
/// a failed assertion, happens in a step that is on record. What only performing it shows is a
/// [`Completion`] beside it; the operation stays what it was when it was chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Event {
    /// The thread's number.
    pub thread: u16,
    kind: OperationKind,
    /// Whether it is a request or goes on.
    pub phase: Phase,
    /// Which outcome was chosen.
    pub outcome: u16,
    /// How many choices there were, saturating.
    pub alternatives: u16,
    /// What it works on.
    pub object: Object,
    payload: Payload,
    completion: u64,
    /// For a thread that goes on after having waited, one more than the number of the step that
    /// granted it; 0 for all others.
    pub granted_by: u32,
    completed: CompletionKind,
    /// Whether it is a timeout that fired only because no thread could go on.
    pub is_last: bool,
    /// Events are hashed as bytes, so none is padding.
    spare: [u8; 2],
    /// The hash of the log of what its thread accessed until its next step; zeros if that is nothing, or
    /// if nobody looks.
    pub accesses: [u64; 2],
}

impl Event {
    /// Where its kind and that of its completion are.
    pub(crate) const KIND: usize = offset_of!(Event, kind);
    pub(crate) const COMPLETED: usize = offset_of!(Event, completed);
}

/// What performing a step showed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Completion {
    /// Nothing, or it was not performed to its end.
    #[default]
    None,
    /// The number of the thread that was created.
    Created(u16),
    /// How many units are left in the semaphore.
    Units(u32),
    /// The semaphore had no unit, and the thread waits.
    NoUnits,
    /// The thread did not own the lock that it released: another thread released it after the step was
    /// announced.
    NotOwner,
    /// The socket at the other end of a new connection.
    Connected(u16),
    /// What was put into a stream or a queue, or taken out.
    Moved(Moved),
    /// What the network did to a datagram.
    Delivered(Delivered),
    /// What happened to the network between processes.
    NetworkChanged(NetworkChange),
    /// Where the text of a note begins among all notes of the execution.
    Noted(u64),
    /// The thread woke up although nobody woke it.
    Spurious,
    /// The connection broke, as a choice of the search.
    Reset,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CompletionKind {
    #[default]
    None,
    Created,
    Units,
    NoUnits,
    NotOwner,
    Connected,
    Moved,
    Delivered,
    NetworkChanged,
    Noted,
    Spurious,
    Reset,
}

impl CompletionKind {
    const ALL: [CompletionKind; 12] = [
        CompletionKind::None,
        CompletionKind::Created,
        CompletionKind::Units,
        CompletionKind::NoUnits,
        CompletionKind::NotOwner,
        CompletionKind::Connected,
        CompletionKind::Moved,
        CompletionKind::Delivered,
        CompletionKind::NetworkChanged,
        CompletionKind::Noted,
        CompletionKind::Spurious,
        CompletionKind::Reset,
    ];

    fn from_number(number: u64) -> Self {
        Self::ALL.get(number as usize).copied().unwrap_or_default()
    }
}

/// What performing a step showed, as the shim passes it on; without padding, as operations are.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PackedCompletion {
    kind: u64,
    word: u64,
}

impl Completion {
    /// As the shim passes it on.
    #[inline(always)]
    pub fn pack(self) -> PackedCompletion {
        let (kind, word) = match self {
            Completion::None => (CompletionKind::None, 0),
            Completion::Created(thread) => (CompletionKind::Created, thread.into()),
            Completion::Units(left) => (CompletionKind::Units, left.into()),
            Completion::NoUnits => (CompletionKind::NoUnits, 0),
            Completion::NotOwner => (CompletionKind::NotOwner, 0),
            Completion::Connected(socket) => (CompletionKind::Connected, socket.into()),
            Completion::Moved(moved) => (CompletionKind::Moved, moved.word()),
            Completion::Delivered(delivered) => (CompletionKind::Delivered, delivered.word()),
            Completion::NetworkChanged(change) => (CompletionKind::NetworkChanged, change.word()),
            Completion::Noted(start) => (CompletionKind::Noted, start),
            Completion::Spurious => (CompletionKind::Spurious, 0),
            Completion::Reset => (CompletionKind::Reset, 0),
        };
        PackedCompletion { kind: kind as u64, word }
    }

    fn unpack(kind: CompletionKind, word: u64) -> Self {
        match kind {
            CompletionKind::None => Completion::None,
            CompletionKind::Created => Completion::Created(word as u16),
            CompletionKind::Units => Completion::Units(word as u32),
            CompletionKind::NoUnits => Completion::NoUnits,
            CompletionKind::NotOwner => Completion::NotOwner,
            CompletionKind::Connected => Completion::Connected(word as u16),
            CompletionKind::Moved => Completion::Moved(Moved::from_word(word)),
            CompletionKind::Delivered => {
                Delivered::from_word(word).map_or(Completion::None, Completion::Delivered)
            }
            CompletionKind::NetworkChanged => Completion::NetworkChanged(NetworkChange::of(word)),
            CompletionKind::Noted => Completion::Noted(word),
            CompletionKind::Spurious => Completion::Spurious,
            CompletionKind::Reset => Completion::Reset,
        }
    }
}

impl Event {
    /// The step alone, whatever its thread accessed then, and whether a search lets its timeout race
    /// with others or not.
    pub fn without_accesses(&self) -> Self {
        let phase = if self.phase == Phase::Patient { Phase::Limited } else { self.phase };
        Event { phase, accesses: [0; 2], ..*self }
    }

    /// A step of a thread that works on something.
    pub fn new(thread: u16, operation: Operation, object: Object) -> Self {
        Event::announced(thread, operation.pack(), object)
    }

    /// The same, of a thread that has announced it.
    #[inline]
    pub fn announced(thread: u16, operation: PackedOperation, object: Object) -> Self {
        let (kind, payload) = (operation.kind(), operation.payload());
        Event { thread, kind, payload, object, ..Event::default() }
    }

    /// What it did.
    #[inline]
    pub fn operation(&self) -> Operation {
        Operation::unpack(self.kind, self.payload)
    }

    /// The same without what goes with it.
    #[inline]
    pub fn kind(&self) -> OperationKind {
        self.kind
    }

    /// What performing it showed.
    pub fn completion(&self) -> Completion {
        Completion::unpack(self.completed, self.completion)
    }

    /// The step with what performing it showed. That shows once: a step that is complete stays as it
    /// is, and so does one of which it was known before what it would move.
    #[must_use]
    pub fn completed(self, PackedCompletion { kind, word }: PackedCompletion) -> Self {
        let is_known = kind == CompletionKind::Moved as u64 && self.moved().is_some();
        match self.completed {
            CompletionKind::None if !is_known => {
                let completed = CompletionKind::from_number(kind);
                Event { completed, completion: word, ..self }
            }
            _ => self,
        }
    }

    /// The step, as the dependence relation sees it.
    pub fn step(&self) -> Step {
        Step {
            timed_out: self.outcome == TIMEOUT,
            completion: self.completion(),
            ..Step::new(self.operation(), self.phase, self.object)
        }
    }

    /// Whether the thread only wants others to move: it yields, or repeats an atomic instruction that
    /// found no change.
    pub fn stands_back(&self) -> bool {
        self.operation().stands_back()
    }

    /// What the step put into a stream or a queue, or took out, if that is known.
    pub fn moved(&self) -> Option<Span> {
        let announced = match self.operation() {
            Operation::ConnectQueued(connection) => Moved::Span(connection.entry),
            Operation::Send(crate::Sending::Queue(moved))
            | Operation::SendWhole(moved)
            | Operation::Receive(moved)
            | Operation::ReceiveWhole(moved)
            | Operation::AcceptQueued(moved) => moved,
            _ => Moved::Nothing,
        };
        match self.completion() {
            Completion::Moved(moved) => moved.span(),
            _ => announced.span(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Delivery;

    #[test]
    fn a_completion_survives_in_its_event() {
        let event = Event::new(1, Operation::MutexLock, Object::memory(0, 8));
        assert_eq!(event.completion(), Completion::None);
        for completion in [
            Completion::Created(7),
            Completion::Units(3),
            Completion::NoUnits,
            Completion::NotOwner,
            Completion::Connected(9),
            Completion::Moved(Moved::up_to(5, 2)),
            Completion::Delivered(Delivered {
                delivery: Delivery::Late { packet: 3 },
                to_peer: true,
            }),
            Completion::NetworkChanged(NetworkChange::Cut(1, 2)),
            Completion::Noted(u64::MAX),
            Completion::Spurious,
            Completion::Reset,
        ] {
            let completed = event.completed(completion.pack());
            assert_eq!(completed.completion(), completion);
            assert_eq!(completed.operation(), Operation::MutexLock);
            assert_eq!(completed.completed(Completion::Units(0).pack()), completed);
        }
    }

    #[test]
    fn what_shows_late_goes_before_what_was_announced() {
        let event = Event::new(1, Operation::SendWhole(Moved::Unknown), Object::socket(1));
        assert_eq!(event.moved(), None);
        let completed = event.completed(Completion::Moved(Moved::up_to(5, 2)).pack());
        assert_eq!(completed.moved(), Some(Span { end: 5, count: 2 }));
    }
}
