//! What a step touches: the one table from which dependence follows.

use crate::client_ports;
use crate::operation::connected;
use crate::{Operation, PROCESS_BITS, Phase, TIMEOUT, units};
use everypath_dependence::{Footprint, Mode, Part};

/// All fences are one object: they have one order, and what comes before one is seen after the next.
const FENCES: u64 = 3;
/// All files are one object: which of them are the same is not known before they are opened.
const FILES: u64 = 1;
/// All sockets, pipes and events, for steps that look at several.
const NETWORK: u64 = 2;
/// What waits at an object is taken out here, and put in at the object itself.
const HEAD: u64 = 8;
/// The faults of the network that an execution has left, and what clients have heard.
const BUDGET: u64 = 5;
/// Connections are put in here, and who listens is said at the address itself.
const TAIL: u64 = 16;
/// Nobody listens at an address any more.
const GONE: u64 = 24;
/// Whether a socket is open, for who asks or sets something that nobody else sees.
const OPEN: u64 = 4;
/// All that happens after some time: which of them comes first depends on who began to wait.
const TIMERS: u64 = 4;
/// All signals of a process.
const SIGNALS: u64 = 6;

/// Of the value of a look that waits for nothing: clients may send something there.
pub const POLL_DOOR: u64 = 1;
/// Of the same: it would have decided what arrives if anything were on its way.
pub const POLL_ARRIVES: u64 = 2;

/// The value of a step that closes a listener while connections wait to be accepted.
pub const ABANDONED: u64 = u64::MAX;

/// The value of a step that finds a descriptor closed.
pub const CLOSED: u64 = u64::MAX;

/// The value of a step that gives back a lock which its thread does not hold. Of one that waits on a
/// condition, it goes with the address of the mutex.
pub const NOT_HELD: u64 = 1;

/// The value of a step with a read-write lock that serves all in the order in which they ask: who
/// reads does not go before a writer that waits.
pub const IN_ORDER: u64 = 1;
/// Of the same: who gives such a lock back has held it to read.
pub const BY_READER: u64 = 2;
/// Of the same: who asks has done so before, and somebody else was faster.
pub const AGAIN: u64 = 4;
/// Who asks for such a lock, as an object: readers do not see each other. Locks are words, so nothing
/// else is there.
const ASKED: u64 = 1;
/// Where readers give it back.
const READ: u64 = 2;

/// What there is one of in each process, as an object: processes do not share it.
const fn of_process(what: u64, object: u64) -> u64 {
    what | object >> PROCESS_BITS << PROCESS_BITS
}

/// What a step touches. `granted` says that what it asks for, it has at once.
#[expect(clippy::too_many_lines, reason = "one table, in which no operation may be missing")]
pub fn footprint(
    (operation, phase): (Operation, Phase),
    (object, value): (u64, u64),
    outcome: u16,
    granted: bool,
) -> Footprint {
    use Mode::{Acquire, Miss, Nothing, Read, Release, Request, Share, Touch, Write};
    if outcome == TIMEOUT {
        return Footprint::everything();
    }
    if phase == Phase::Limited {
        // Who waits for some time only sees whether what it waits for was there before it.
        let operation = match operation {
            Operation::SendWhole | Operation::AwaitSpace => Operation::Send,
            Operation::ReceiveWhole | Operation::ReceiveAny | Operation::AwaitBytes => {
                Operation::Receive
            }
            Operation::ConnectQueued | Operation::AwaitListener => Operation::Connect,
            Operation::AcceptQueued | Operation::AwaitConnection => Operation::Accept,
            other => other,
        };
        let unlimited = footprint((operation, Phase::Request), (object, value), 0, granted);
        // Units that come early keep it from giving up.
        let also = (operation == Operation::SemWait).then_some((Write, object));
        return limited(unlimited, also);
    }
    let then = |first: Mode, object| match granted {
        true => Footprint::of(&[(first, object), (Acquire, object)]),
        false => Footprint::of(&[(first, object)]),
    };
    let networking = |mode| Footprint::of(&[(mode, object), (Touch, NETWORK)]);
    // What a socket is called and what it is good for, others may ask or use.
    let changing = |socket| match socket {
        0 => [(Nothing, 0); 2],
        socket => [(Write, socket), (Write, socket + OPEN)],
    };
    match (operation, phase) {
        // Whoever has waited for the network tries again, which is a step like the first.
        (Operation::EpollControl | Operation::TimerSet, _) => networking(Write),
        (Operation::Bind | Operation::Listen, _) => {
            let [socket, use_of_it] = changing(value);
            Footprint::of(&[(Write, object), (Touch, NETWORK), socket, use_of_it])
        }
        // At an address, connections are put in at one end of a queue and taken out at the other.
        // Who may find the queue full, or empty, or nobody there, sees all of that.
        (Operation::Accept, _) => Footprint::of(&[
            (Write, object),
            (Write, object + HEAD),
            (Write, object + TAIL),
            (Touch, NETWORK),
        ]),
        // The value says which sockets are connected: others may use them at the same time.
        (Operation::Connect, _) => {
            let (socket, far) = connected(object, value);
            let [socket, use_of_it] = changing(socket);
            Footprint::of(&[
                (Write, object),
                (Write, object + HEAD),
                (Write, object + TAIL),
                (Touch, NETWORK),
                socket,
                use_of_it,
                if far == 0 { (Nothing, 0) } else { (Write, far) },
            ])
        }
        // Who finds somebody there does not see when that began, nor what is taken out.
        (Operation::ConnectQueued, _) => {
            let (socket, far) = connected(object, value);
            let [socket, use_of_it] = changing(socket);
            let far = if far == 0 { (Nothing, 0) } else { (Write, far) };
            Footprint::of(&[(Write, object + TAIL), (Touch, NETWORK), socket, use_of_it, far])
        }
        (Operation::AcceptQueued, _) => Footprint::of(&[(Write, object + HEAD), (Touch, NETWORK)]),
        // Nobody is there yet, or nobody any more: only the latter could have been otherwise.
        (Operation::AwaitListener, _) => Footprint::of(&[(Read, object + GONE)]),
        (Operation::AwaitConnection, _) => Footprint::of(&[(Read, object + HEAD)]),
        // Bytes are put in at one end of a stream and taken out at the other. Who gets all it
        // asks for does not see what is done at the far end, except that its bytes were put in.
        (Operation::SendWhole, _) => networking(Write),
        (Operation::ReceiveWhole, _) => Footprint::of(&[(Write, object + HEAD), (Touch, NETWORK)]),
        // One of the datagrams that are there, but for those sent later it could be another one.
        (Operation::ReceiveAny, _) => {
            Footprint::of(&[(Write, object + HEAD), (Miss, object), (Touch, NETWORK)])
        }
        // That bytes or space are awaited is seen by nobody, and whether they come before or
        // after that makes no difference; but somebody else may have been faster to take them.
        (Operation::AwaitSpace, _) => Footprint::of(&[(Read, object)]),
        (Operation::AwaitBytes, _) => Footprint::of(&[(Read, object + HEAD)]),
        // A client answers there, or to where it came from, which is looked at by who looks.
        (Operation::Send, _) if value == client_ports::SPEAKS => Footprint::of(&[
            (Write, object),
            (Write, object + HEAD),
            (Touch, NETWORK),
            (Write, BUDGET),
        ]),
        (Operation::Send, _) => {
            Footprint::of(&[(Write, object), (Read, object + HEAD), (Touch, NETWORK)])
        }
        (Operation::Receive, _) => {
            Footprint::of(&[(Write, object + HEAD), (Read, object), (Touch, NETWORK)])
        }
        // Only a connection that breaks is seen by others.
        (Operation::Fault, _) if object == 0 => Footprint::nothing(),
        (Operation::Fault, _) => {
            Footprint::of(&[(Write, object), (Write, object + HEAD), (Touch, NETWORK)])
        }
        // Connections to peers do not see each other, but see who begins to listen here.
        (Operation::SendAway, _) => networking(Read),
        (Operation::ConnectPeer, _) => {
            let [socket, use_of_it] = changing(value);
            Footprint::of(&[(Read, object), (Touch, NETWORK), socket, use_of_it])
        }
        // All ends see it that wait to be accepted, whichever they are.
        (Operation::Shutdown | Operation::Close, _) if value == ABANDONED => {
            Footprint::everything()
        }
        // Without another end there is nothing of it to be seen.
        (Operation::Shutdown | Operation::Close, _) if value == 0 => Footprint::of(&[
            (Write, object),
            (Write, object + HEAD),
            (Write, object + TAIL),
            (Write, object + GONE),
            (Touch, NETWORK),
            (Write, object + OPEN),
        ]),
        (Operation::Shutdown | Operation::Close, _) => Footprint::of(&[
            (Write, object),
            (Write, object + HEAD),
            (Write, value),
            (Write, value + HEAD),
            (Touch, NETWORK),
            (Write, object + OPEN),
        ]),
        (Operation::SocketState, _) if value == 0 => Footprint::of(&[
            (Write, object),
            (Write, object + HEAD),
            (Write, object + TAIL),
            (Touch, NETWORK),
        ]),
        // Whether calls wait is changed, in both directions.
        (Operation::SocketState, _) => Footprint::of(&[
            (Write, object),
            (Write, object + HEAD),
            (Write, object + TAIL),
            (Write, value),
            (Write, value + HEAD),
            (Touch, NETWORK),
        ]),
        // The value says whether clients may send something there.
        (Operation::Poll, _) => {
            let limit = if value & POLL_DOOR == 0 { Nothing } else { Read };
            let parts = [(Read, object), (Read, object + HEAD), (Touch, NETWORK)];
            let [first, second, third] =
                if object == 0 { [(Read, NETWORK), (Nothing, 0), (Nothing, 0)] } else { parts };
            Footprint::of(&[first, second, third, (limit, BUDGET)])
        }
        // What is on its way is lost or arrives when somebody looks. Who may lose what depends
        // on what others lost if there is a limit, which the value says; and what clients say
        // depends on what they heard.
        (Operation::Arrive, _) => {
            let limit = if value == 0 { Nothing } else { Write };
            let parts = [(Write, object), (Write, object + HEAD), (Touch, NETWORK)];
            let [first, second, third] =
                if object == 0 { [(Write, NETWORK), (Nothing, 0), (Nothing, 0)] } else { parts };
            Footprint::of(&[first, second, third, (limit, BUDGET)])
        }
        // Whoever goes on after having waited comes after the step that let it: that is said of
        // the step itself, since no table can know which of several it was.
        (Operation::CondWait, Phase::Resume) => then(Request, value & !NOT_HELD),
        // All readers have given it back, one of them last. Who must ask again has got nothing.
        (Operation::WriteLock, Phase::Resume) if value & (IN_ORDER | AGAIN) == IN_ORDER => {
            Footprint::of(&[(Acquire, object), (Acquire, object + READ)])
        }
        (Operation::ReadLock, Phase::Resume) if value & IN_ORDER != 0 => {
            Footprint::of(&[(Acquire, object)])
        }
        (Operation::Sleep, Phase::Resume) => Footprint::everything(),
        (_, Phase::Resume) => Footprint::nothing(),
        (
            Operation::Start
            | Operation::Create
            | Operation::Yield
            | Operation::Pause
            | Operation::Sleep
            | Operation::Choose
            | Operation::Deliver
            | Operation::Note
            | Operation::TestCancel
            | Operation::AtomicEnd,
            _,
        ) => Footprint::nothing(),
        // A thread that ends with robust mutexes gives them back, whichever they are.
        (Operation::Exit, _) if value != 0 => Footprint::everything(),
        (Operation::Exit, _) => Footprint::of(&[(Release, object)]),
        (Operation::Join | Operation::MutexLock | Operation::SpinLock, _) => then(Request, object),
        // Whoever holds it loses it then, at any moment, and who waits gets it.
        (Operation::MutexUnlock | Operation::SpinUnlock, _) if value == NOT_HELD => {
            Footprint::of(&[(Write, object)])
        }
        (Operation::MutexUnlock | Operation::SpinUnlock, _) => Footprint::of(&[(Release, object)]),
        (Operation::CondWait, _) if value & NOT_HELD != 0 => {
            Footprint::of(&[(Write, object), (Write, value & !NOT_HELD)])
        }
        (Operation::CondWait, _) => Footprint::of(&[(Write, object), (Release, value)]),
        // Only the order of asking matters, and that not among readers. Others who change the word
        // see all of it.
        (Operation::WriteLock, _) if value & IN_ORDER != 0 => {
            let parts = [
                (Request, object),
                (Write, object + ASKED),
                (Acquire, object),
                (Acquire, object + READ),
            ];
            Footprint::of(if granted { &parts } else { &parts[..2] })
        }
        (Operation::ReadLock, _) if value & IN_ORDER != 0 => {
            let parts = [(Share, object), (Read, object + ASKED), (Acquire, object)];
            Footprint::of(if granted { &parts } else { &parts[..2] })
        }
        (Operation::RwUnlock, _) if value & IN_ORDER != 0 => match value & BY_READER {
            0 => Footprint::of(&[(Release, object)]),
            _ => Footprint::of(&[(Share, object), (Release, object + READ)]),
        },
        (Operation::ReadLock | Operation::TryReadLock, _) => then(Read, object),
        (Operation::OnceSeen | Operation::Load, _) => Footprint::of(&[(Read, object)]),
        (
            Operation::Detach
            | Operation::TryJoin
            | Operation::MutexInit
            | Operation::MutexDestroy
            | Operation::MutexTrylock
            | Operation::CondSignal
            | Operation::CondBroadcast
            | Operation::TryWriteLock
            | Operation::RwUnlock
            | Operation::SpinTrylock
            | Operation::OnceDone
            | Operation::FutexWake
            | Operation::CompareExchange
            | Operation::Exchange
            | Operation::FetchModify
            | Operation::Store,
            _,
        ) => Footprint::of(&[(Write, object)]),
        (
            Operation::WriteLock | Operation::BarrierWait | Operation::Once | Operation::FutexWait,
            _,
        ) => then(Write, object),
        // Units are put in at one end and taken out at the other, in the order in which they are
        // asked for. Who asks sees nothing of those who put in, but for the unit that it gets: the
        // step that it came with is said of the step itself. It need not be the last such step.
        (Operation::SemWait, _) => match granted {
            true => Footprint::of(&[(Request, object + HEAD), (Acquire, object)]),
            false => Footprint::of(&[(Request, object + HEAD)]),
        },
        (Operation::SemPost, _) if value != units::OVERFLOW => Footprint::of(&[(Write, object)]),
        // Who only looks or tries sees both ends.
        (Operation::SemPost | Operation::SemTrywait, _) => {
            Footprint::of(&[(Write, object), (Write, object + HEAD)])
        }
        (Operation::FutexRequeue, _) => Footprint::of(&[(Write, object), (Write, value)]),
        (Operation::Fence, _) => Footprint::of(&[(Write, of_process(FENCES, object))]),
        // Which of those who wait for the same signal gets it; who sends one touches everything.
        (Operation::SignalWait, _) => Footprint::of(&[(Write, of_process(SIGNALS, object))]),
        (Operation::Output, _) => Footprint::of(&[(Write, object)]),
        (Operation::FileRead, _) => Footprint::of(&[(Read, of_process(FILES, object))]),
        (Operation::FileWrite, _) => Footprint::of(&[(Write, of_process(FILES, object))]),
        // A descriptor that is closed may have been one of the network's.
        (Operation::DescriptorUse, _) if value == CLOSED => {
            Footprint::of(&[(Read, object), (Read, NETWORK)])
        }
        (Operation::DescriptorUse, _) if value != 0 => {
            Footprint::of(&[(Read, object), (Read, value + OPEN)])
        }
        (Operation::DescriptorUse, _) => Footprint::of(&[(Read, object)]),
        // Where the next bytes are read is common to all descriptors of an open file.
        (Operation::DescriptorMove, _) => Footprint::of(&[(Read, object), (Write, value)]),
        (Operation::DescriptorClose, _) if value != 0 => {
            Footprint::of(&[(Write, object), (Write, of_process(FILES, object))])
        }
        (Operation::DescriptorClose, _) => Footprint::of(&[(Write, object)]),
        // One of several processes ends, and nobody is left in it whom that could stop.
        (Operation::ProcessExit, _) if object != 0 => Footprint::nothing(),
        // What an atomic section touches is not known when it begins, nor what a thread does that
        // is interrupted.
        (
            Operation::Signal
            | Operation::Cancel
            | Operation::ProcessExit
            | Operation::Kill
            | Operation::Partition
            | Operation::AtomicBegin,
            _,
        ) => Footprint::everything(),
    }
}

/// What a step might touch if it came earlier, when it may get what it does not get now, or not get
/// what it gets: at least that. None if it would touch no more. There is no less room earlier.
pub fn may_touch(
    (operation, phase): (Operation, Phase),
    (object, value): (u64, u64),
) -> Option<Footprint> {
    let essence = match operation {
        Operation::AwaitSpace => Operation::Send,
        Operation::ReceiveWhole | Operation::ReceiveAny | Operation::AwaitBytes => {
            Operation::Receive
        }
        Operation::ConnectQueued | Operation::AwaitListener => Operation::Connect,
        Operation::AwaitConnection => Operation::AcceptQueued,
        Operation::Poll if value & POLL_ARRIVES != 0 => Operation::Arrive,
        _ => return None,
    };
    Some(footprint((essence, phase), (object, value), 0, true))
}

/// What the step touches if it gives up after some time. It can do that only while it waits, so
/// what is given back must not come before it asks as if that made no difference.
fn limited(unlimited: Footprint, also: Option<(Mode, u64)>) -> Footprint {
    let timers = [(Mode::Write, TIMERS)].into_iter().chain(also);
    let timers = timers.map(|(mode, object)| Part { mode, object });
    let others = unlimited.into_parts().map(|part| match part.mode {
        Mode::Request => Part { mode: Mode::Write, ..part },
        _ => part,
    });
    timers.chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use everypath_dependence::Relation;

    fn step(operation: Operation, object: u64) -> Footprint {
        footprint((operation, Phase::Request), (object, 0), 0, true)
    }

    #[test]
    fn asking_for_one_lock_races_and_for_two_does_not() {
        let lock = |object| step(Operation::MutexLock, object);
        assert!(!lock(8).commutes(&lock(8)));
        assert!(lock(8).commutes(&lock(16)));
    }

    #[test]
    fn a_unit_is_put_in_unseen_by_who_waits_for_one() {
        let post = step(Operation::SemPost, 64);
        let wait = step(Operation::SemWait, 64);
        assert!(post.commutes(&wait) && wait.commutes(&post));
        assert!(!post.commutes(&post) && !wait.commutes(&wait));
        assert!(!post.is_apart_from(&wait), "who has waited goes on by a step of its own");
        let tries = step(Operation::SemTrywait, 64);
        assert!(!tries.commutes(&post) && !tries.commutes(&wait));
        let limited = footprint((Operation::SemWait, Phase::Limited), (64, 0), 0, true);
        assert!(!limited.commutes(&post) && !limited.commutes(&wait));
        let overflowing =
            footprint((Operation::SemPost, Phase::Request), (64, units::OVERFLOW), 0, true);
        assert!(!overflowing.commutes(&wait));
    }

    #[test]
    fn readers_of_a_lock_that_keeps_order_do_not_see_each_other() {
        let other = step;
        let step = |operation, value| {
            footprint((operation, Phase::Request), (8, IN_ORDER | value), 0, true)
        };
        let (read, write) = (step(Operation::ReadLock, 0), step(Operation::WriteLock, 0));
        let unlocks = [0, BY_READER].map(|by| step(Operation::RwUnlock, by));
        assert!(read.commutes(&read) && !write.commutes(&write));
        assert!(!read.commutes(&write) && !write.commutes(&read));
        for unlock in unlocks {
            for asks in [read, write] {
                assert!(unlock.commutes(&asks) && asks.commutes(&unlock));
            }
            for looks in [Operation::Load, Operation::CompareExchange] {
                assert!(!unlock.commutes(&other(looks, 8)));
            }
        }
        let comes_after = |unlock: Footprint, asks: Footprint| {
            let is_ordered = |a: Part| asks.parts().any(|b| a.relation(b) == Relation::Ordered);
            unlock.parts().any(is_ordered)
        };
        let [writer, reader] = unlocks;
        assert!(comes_after(writer, read) && comes_after(writer, write));
        assert!(comes_after(reader, write) && !comes_after(reader, read));
    }

    #[test]
    fn who_looks_at_a_lock_sees_whether_it_is_held() {
        for operation in [Operation::MutexLock, Operation::MutexUnlock] {
            assert!(!step(Operation::Load, 8).commutes(&step(operation, 8)));
        }
    }

    #[test]
    fn giving_back_is_seen_by_who_only_tries() {
        let unlock = step(Operation::MutexUnlock, 8);
        assert!(!unlock.commutes(&step(Operation::MutexTrylock, 8)));
    }

    #[test]
    fn giving_back_what_another_holds_is_seen_by_all() {
        let foreign =
            |operation, value| footprint((operation, Phase::Request), (8, value), 0, true);
        let lock = step(Operation::MutexLock, 8);
        assert!(lock.commutes(&foreign(Operation::MutexUnlock, 0)));
        assert!(!lock.commutes(&foreign(Operation::MutexUnlock, NOT_HELD)));
        let wait = |value| footprint((Operation::CondWait, Phase::Request), (64, value), 0, true);
        assert!(lock.commutes(&wait(8)) && !lock.commutes(&wait(8 | NOT_HELD)));
    }

    #[test]
    fn giving_back_is_seen_by_who_waits_for_some_time_only() {
        let lock = footprint((Operation::MutexLock, Phase::Limited), (8, 0), 0, true);
        assert!(!lock.commutes(&step(Operation::MutexUnlock, 8)));
        let other = footprint((Operation::Join, Phase::Limited), (16, 0), 0, true);
        assert!(!lock.commutes(&other), "which of them gives up first depends on who asks first");
    }

    #[test]
    fn bytes_are_seen_by_who_waits_for_some_time_only() {
        let send = step(Operation::SendWhole, 8);
        for operation in [Operation::ReceiveWhole, Operation::AwaitBytes] {
            assert!(send.commutes(&step(operation, 8)), "{operation}");
            let limited = footprint((operation, Phase::Limited), (8, 0), 0, true);
            assert!(!send.commutes(&limited), "{operation}");
        }
    }

    #[test]
    fn the_end_of_the_process_commutes_with_nothing() {
        let end = step(Operation::ProcessExit, 0);
        for &operation in Operation::ALL {
            assert!(!end.commutes(&step(operation, 8)), "{operation}");
        }
    }

    #[test]
    fn what_is_apart_can_be_swapped_but_not_the_other_way_round() {
        let (lock, unlock) = (step(Operation::MutexLock, 8), step(Operation::MutexUnlock, 8));
        assert!(unlock.commutes(&lock) && !unlock.is_apart_from(&lock));
        for &a in Operation::ALL {
            for &b in Operation::ALL {
                for object in [8, 24] {
                    let (a, b) = (step(a, 8), step(b, object));
                    assert!(!a.is_apart_from(&b) || a.commutes(&b), "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn dependence_does_not_depend_on_the_order() {
        for &a in Operation::ALL {
            for &b in Operation::ALL {
                for phases in
                    [Phase::Request, Phase::Limited, Phase::Resume].map(|b| (Phase::Request, b))
                {
                    let a = footprint((a, phases.0), (8, 16), 0, true);
                    let b = footprint((b, phases.1), (8, 16), 0, true);
                    let races = |a: &Footprint, b: &Footprint| {
                        a.parts().any(|a| b.parts().any(|b| a.relation(b) == Relation::Racing))
                    };
                    assert_eq!(races(&a, &b), races(&b, &a), "{a:?} {b:?}");
                }
            }
        }
    }
}
