/// How a part of a step uses an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Asks for a lock: locks are granted in the order of the requests.
    Request,
    /// Gets a lock without blocking: it cannot come before the release by the last owner.
    Acquire,
    /// Releases a lock.
    Release,
    /// Asks for a shared lock, or releases one: other parts keep the order, but a step that only
    /// reads or tries the lock sees it.
    Share,
    /// Reads.
    Read,
    /// One of several uses that do not see each other, but are seen by a step that looks at them all.
    Touch,
    /// Writes, and everything else.
    Write,
    /// Takes one of the messages that are there: it could have taken one that is sent later instead,
    /// but one that was sent before and not taken makes no difference to it. See [`Relation::Missed`].
    Miss,
    /// The first of several steps whose order is fixed, whatever they do.
    Lead,
    /// The next of them.
    Follow,
    /// Conflicts with every other step.
    Everything,
    /// Conflicts with nothing but the end of the process.
    Nothing,
}

impl Mode {
    const ALL: [Mode; 12] = [
        Mode::Request,
        Mode::Acquire,
        Mode::Release,
        Mode::Share,
        Mode::Read,
        Mode::Write,
        Mode::Miss,
        Mode::Touch,
        Mode::Lead,
        Mode::Follow,
        Mode::Everything,
        Mode::Nothing,
    ];
}

/// A part of a step: one object that it uses, and how.
///
/// A step has several parts if it uses several objects, or if it asks for a lock and gets it at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// How it is used.
    pub mode: Mode,
    /// The object, by its address.
    pub object: u64,
}

/// How two parts of steps of different threads are related, in the order in which they happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// They commute.
    Independent,
    /// They conflict, but are no race: the second cannot come before the first.
    Ordered,
    /// A race: they conflict, and could come in the other order.
    Racing,
    /// They commute, so neither happens before the other; but had the second come first, the first
    /// would have had more outcomes. A receive is so related to a later send: the state after both is
    /// the same in either order, but only after the send could the receive have got that message. The
    /// other way round they are independent: a receive after a send that takes another message might
    /// as well have come before it.
    Missed,
}

/// What a part can be related to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Only to parts that conflict with everything.
    Nothing,
    /// To those, and to parts that use the same object.
    Object(u64),
    /// To every part, as a race.
    Everything,
}

impl Part {
    /// How this part and a later one of another thread are related. Whether they race does not depend
    /// on which of them is the later; only one of them can have missed the other.
    pub const fn relation(self, later: Part) -> Relation {
        use Mode::{
            Acquire, Everything, Follow, Lead, Miss, Nothing, Read, Release, Request, Share, Touch,
            Write,
        };
        match (self.mode, later.mode) {
            (Everything, _) | (_, Everything) => return Relation::Racing,
            (Nothing, _) | (_, Nothing) => return Relation::Independent,
            _ if self.object != later.object => return Relation::Independent,
            _ => {}
        }
        match (self.mode, later.mode) {
            (Lead, Follow) => Relation::Ordered,
            (Lead | Follow, _) | (_, Lead | Follow) => Relation::Independent,
            (Touch, Touch) => Relation::Independent,
            (Touch, _) | (_, Touch) => Relation::Racing,
            (Miss, Write) => Relation::Missed,
            (Miss, _) | (_, Miss) => Relation::Independent,
            // The order of requests, and all that writers do.
            (Request | Read | Release | Share | Write, Write) => Relation::Racing,
            (Write, Request | Read | Release | Share) | (Request, Request) => Relation::Racing,
            // A reader sees whether a lock is held.
            (Read, Request | Release | Share) => Relation::Racing,
            (Request | Release | Share, Read) => Relation::Racing,
            // A lock that is got without blocking was released before by every owner.
            (Release, Acquire) => Relation::Ordered,
            // A lock can be requested while it is held, and released while it is requested.
            (Request, Release) | (Release, Request) => Relation::Independent,
            // There is one owner at a time, so these are ordered by the parts between them. A lock
            // that was granted cannot be taken away any more.
            (Release, Release) | (Acquire, Acquire | Release | Request | Read | Write) => {
                Relation::Independent
            }
            (Share, Share | Request | Release | Acquire) => Relation::Independent,
            (Request | Release | Acquire, Share) => Relation::Independent,
            (Read, Read | Acquire) => Relation::Independent,
            (Request | Write, Acquire) => Relation::Independent,
            (Everything | Nothing, _) | (_, Everything | Nothing) => Relation::Racing,
        }
    }

    /// Whether this part and a later one of another thread can be swapped, and the first would have no
    /// more outcomes then.
    pub fn commutes(self, later: Part) -> bool {
        matches!(self.relation(later), Relation::Independent | Relation::Ordered)
    }

    /// What the part can be related to.
    pub fn scope(self) -> Scope {
        match self.mode {
            Mode::Nothing => Scope::Nothing,
            Mode::Everything => Scope::Everything,
            _ => Scope::Object(self.object),
        }
    }

    /// Whether the part is getting a lock. It and the parts after it would be a step of their own if
    /// the thread had to block.
    pub fn is_acquisition(self) -> bool {
        self.mode == Mode::Acquire
    }

    /// Whether both parts take from one queue, or put there: the later one would get something else if
    /// it came first, even if what it gets was not there yet.
    pub fn competes(self, later: Part) -> bool {
        (self.mode, later.mode) == (Mode::Write, Mode::Write) && self.object == later.object
    }

    /// Whether every part that is related to an earlier part of the same object is related to this one,
    /// too.
    pub fn covers(self, earlier: Part) -> bool {
        // Nothing is ordered by what was missed, so each part has missed it on its own.
        let has_missed = (self.mode, earlier.mode) == (Mode::Miss, Mode::Miss);
        !has_missed
            && Mode::ALL.into_iter().all(|mode| {
                let later = Part { mode, object: self.object };
                earlier.relation(later) == Relation::Independent
                    || self.relation(later) != Relation::Independent
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn races_do_not_depend_on_the_order() {
        for a in Mode::ALL {
            for b in Mode::ALL {
                let (a, b) = (Part { mode: a, object: 8 }, Part { mode: b, object: 8 });
                let races = |a: Part, b: Part| a.relation(b) == Relation::Racing;
                assert_eq!(races(a, b), races(b, a), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn a_receive_misses_only_what_is_sent_later() {
        let [receive, send] = [Mode::Miss, Mode::Write].map(|mode| Part { mode, object: 8 });
        assert_eq!(receive.relation(send), Relation::Missed);
        assert_eq!(send.relation(receive), Relation::Independent);
    }
}
