//! Mutexes, condition variables, read-write locks, barriers, semaphores and initialisers.

use super::{Step, nothing, of};
use crate::{
    Completion, CondMutex, Facet, Footprint, LockOrder, Mode, Overflow, Ownership, Providers,
    RwRelease,
};

/// A lock is requested: who asks first gets it first.
pub(super) fn lock(step: &Step) -> Footprint {
    step.acquiring(Mode::Request)
}

/// Whatever changes an object and does not wait.
pub(super) fn change(step: &Step) -> Footprint {
    step.alone(Mode::Write)
}

/// Whatever only reads it.
pub(super) fn look(step: &Step) -> Footprint {
    step.alone(Mode::Read)
}

/// Whatever changes an object and may wait there.
pub(super) fn wait(step: &Step) -> Footprint {
    step.acquiring(Mode::Write)
}

/// Whether a thread owns what it releases, as far as it was announced or performing it showed.
fn owns(step: &Step, announced: Ownership) -> bool {
    announced == Ownership::Owner && step.completion != Completion::NotOwner
}

/// A lock is released. Whoever owns it loses it if another thread releases it, at any moment, and the
/// next waiter gets it.
pub(super) fn unlock(step: &Step, ownership: Ownership) -> Footprint {
    step.alone(if owns(step, ownership) { Mode::Release } else { Mode::Write })
}

/// A thread begins to wait on a condition variable, and releases the mutex.
pub(super) fn cond_wait(step: &Step, CondMutex { mutex, ownership }: CondMutex) -> Footprint {
    let releases = if owns(step, ownership) { Mode::Release } else { Mode::Write };
    of(&[step.uses(Mode::Write, Facet::Whole), (releases, mutex, Facet::Whole)])
}

/// A thread was woken from a condition variable and requests the mutex again.
pub(super) fn relock(step: &Step, CondMutex { mutex, .. }: CondMutex) -> Footprint {
    Step { object: mutex, ..*step }.acquiring(Mode::Request)
}

/// A read-write lock is requested to write. If it is granted in the order of requests, only that order
/// matters, and all readers have released it; others who change the word see all of it.
pub(super) fn write_lock(step: &Step, order: LockOrder) -> Footprint {
    if order == LockOrder::Unordered {
        return step.acquiring(Mode::Write);
    }
    let parts = [
        step.uses(Mode::Request, Facet::Whole),
        step.uses(Mode::Write, Facet::Requested),
        step.uses(Mode::Acquire, Facet::Whole),
        step.uses(Mode::Acquire, Facet::Readers),
    ];
    of(if step.granted { &parts } else { &parts[..2] })
}

/// The same to read: the order of requests does not matter among readers.
pub(super) fn read_lock(step: &Step, order: LockOrder) -> Footprint {
    if order == LockOrder::Unordered {
        return step.acquiring(Mode::Read);
    }
    let parts = [
        step.uses(Mode::Share, Facet::Whole),
        step.uses(Mode::Read, Facet::Requested),
        step.uses(Mode::Acquire, Facet::Whole),
    ];
    of(if step.granted { &parts } else { &parts[..2] })
}

/// A read-write lock is tried to read.
pub(super) fn try_read_lock(step: &Step) -> Footprint {
    step.acquiring(Mode::Read)
}

/// A writer that waited has the lock: all readers have released it, one of them last. Who must request
/// it again has got nothing.
pub(super) fn got_write_lock(step: &Step, order: LockOrder) -> Footprint {
    match order {
        LockOrder::Fifo => {
            of(&[step.uses(Mode::Acquire, Facet::Whole), step.uses(Mode::Acquire, Facet::Readers)])
        }
        LockOrder::Unordered | LockOrder::FifoRetry => nothing(),
    }
}

/// The same for a reader.
pub(super) fn got_read_lock(step: &Step, order: LockOrder) -> Footprint {
    match order {
        LockOrder::Fifo | LockOrder::FifoRetry => step.alone(Mode::Acquire),
        LockOrder::Unordered => nothing(),
    }
}

/// A read-write lock is released.
pub(super) fn rw_unlock(step: &Step, by: RwRelease) -> Footprint {
    match by {
        RwRelease::Unordered => step.alone(Mode::Write),
        RwRelease::Writer => step.alone(Mode::Release),
        RwRelease::Reader => {
            of(&[step.uses(Mode::Share, Facet::Whole), step.uses(Mode::Release, Facet::Readers)])
        }
    }
}

/// A unit of a semaphore is requested. Units are put in at one end and taken out at the other, in the
/// order of requests. Who requests one sees nothing of those who post, but for the unit that it gets:
/// the step that it came with is said of the step itself, and it need not be the last such step. If
/// that is not known, all steps before may have provided it.
pub(super) fn sem_wait(step: &Step) -> Footprint {
    if step.providers == Providers::Unknown {
        return sem_both_ends(step);
    }
    let parts = [step.uses(Mode::Request, Facet::Head), step.uses(Mode::Acquire, Facet::Whole)];
    of(if step.granted { &parts } else { &parts[..1] })
}

/// A unit is posted. If there may be too many, that depends on how many were taken out.
pub(super) fn sem_post(step: &Step, overflow: Overflow) -> Footprint {
    match overflow {
        Overflow::Impossible => step.alone(Mode::Write),
        Overflow::Possible => sem_both_ends(step),
    }
}

/// Who only looks or tries sees both ends of a semaphore.
pub(super) fn sem_both_ends(step: &Step) -> Footprint {
    of(&[step.uses(Mode::Write, Facet::Whole), step.uses(Mode::Write, Facet::Head)])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{OBJECT, is_ordered, limited, on, request};
    use super::*;
    use crate::{Attempt, Object, Operation, Phase};

    const OTHER: Object = Object::memory(0, 0x2008);

    fn unlock(ownership: Ownership) -> Step {
        Step::new(Operation::MutexUnlock(ownership), Phase::Request, OBJECT)
    }

    #[test]
    fn requests_of_one_lock_race_and_of_two_do_not() {
        let lock = request(Operation::MutexLock);
        assert!(!lock.commutes(&lock));
        assert!(lock.commutes(&on(OTHER, Operation::MutexLock)));
    }

    #[test]
    fn a_release_commutes_with_a_request_but_is_not_apart_from_it() {
        let (lock, unlock) = (request(Operation::MutexLock), unlock(Ownership::Owner).footprint());
        assert!(unlock.commutes(&lock) && !unlock.is_apart_from(&lock));
        assert!(is_ordered(unlock, lock));
    }

    #[test]
    fn a_release_is_seen_by_who_tries_or_reads_or_has_a_timeout() {
        let unlock = unlock(Ownership::Owner).footprint();
        assert!(!unlock.commutes(&request(Operation::MutexTrylock)));
        let load = request(Operation::Load(Attempt::First));
        assert!(!load.commutes(&unlock) && !load.commutes(&request(Operation::MutexLock)));
        assert!(!limited(OBJECT, Operation::MutexLock).commutes(&unlock));
    }

    #[test]
    fn a_release_by_another_thread_than_the_owner_is_seen_by_all() {
        let lock = request(Operation::MutexLock);
        assert!(!lock.commutes(&unlock(Ownership::NotOwner).footprint()));
        let found = Step { completion: Completion::NotOwner, ..unlock(Ownership::Owner) };
        assert!(!lock.commutes(&found.footprint()), "which may show only when it is performed");
        let wait =
            |ownership| on(OTHER, Operation::CondWait(CondMutex { mutex: OBJECT, ownership }));
        assert!(lock.commutes(&wait(Ownership::Owner)));
        assert!(!lock.commutes(&wait(Ownership::NotOwner)));
    }

    #[test]
    fn a_woken_thread_requests_the_mutex() {
        let wait = Operation::CondWait(CondMutex::owned(OBJECT));
        let woken = Step::new(wait, Phase::Resume, OTHER).footprint();
        assert!(!woken.commutes(&request(Operation::MutexLock)));
        assert!(woken.commutes(&on(OTHER, Operation::CondSignal)));
    }

    #[test]
    fn units_are_posted_unseen_by_who_waits_for_one() {
        let post = request(Operation::SemPost(Overflow::Impossible));
        let wait = request(Operation::SemWait);
        assert!(post.commutes(&wait) && wait.commutes(&post));
        assert!(!post.commutes(&post) && !wait.commutes(&wait));
        assert!(!post.is_apart_from(&wait), "who has waited goes on by a step of its own");
        let tries = request(Operation::SemTrywait);
        assert!(!tries.commutes(&post) && !tries.commutes(&wait));
        let limited = limited(OBJECT, Operation::SemWait);
        assert!(!limited.commutes(&post) && !limited.commutes(&wait));
        assert!(!request(Operation::SemPost(Overflow::Possible)).commutes(&wait));
        let step = Step::new(Operation::SemWait, Phase::Request, OBJECT);
        let unknown = Step { providers: Providers::Unknown, ..step }.footprint();
        assert!(!unknown.commutes(&post), "any of them may have provided its unit");
    }

    #[test]
    fn readers_of_a_lock_that_keeps_order_do_not_see_each_other() {
        let read = request(Operation::ReadLock(LockOrder::Fifo));
        let write = request(Operation::WriteLock(LockOrder::Fifo));
        let [writer, reader] =
            [RwRelease::Writer, RwRelease::Reader].map(|by| request(Operation::RwUnlock(by)));
        assert!(read.commutes(&read) && !write.commutes(&write));
        assert!(!read.commutes(&write) && !write.commutes(&read));
        for unlock in [writer, reader] {
            for asks in [read, write] {
                assert!(unlock.commutes(&asks) && asks.commutes(&unlock));
            }
            for looks in [Operation::Load, Operation::CompareExchange] {
                assert!(!unlock.commutes(&request(looks(Attempt::First))));
            }
        }
        assert!(is_ordered(writer, read) && is_ordered(writer, write));
        assert!(is_ordered(reader, write) && !is_ordered(reader, read));
    }

    #[test]
    fn who_must_request_a_lock_again_has_got_nothing() {
        let resumed =
            |order| Step::new(Operation::WriteLock(order), Phase::Resume, OBJECT).footprint();
        let release = request(Operation::RwUnlock(RwRelease::Writer));
        assert!(is_ordered(release, resumed(LockOrder::Fifo)));
        assert!(!is_ordered(release, resumed(LockOrder::FifoRetry)));
    }
}
