//! What holds for all operations; the families have tests of their own.

use super::*;
use crate::payload::AsWord;
use crate::{OperationKind, Payload, ProcessEnd, Relation};

/// Every operation, with several of the things that may go with it.
pub(crate) fn all_operations() -> impl Iterator<Item = Operation> + Clone {
    let payloads = [0, 1, 2, 3, 7 << 24 | 3, u64::MAX - 1, u64::MAX];
    let objects = [Object::socket(2), Object::address(80), Object::memory(0, 0x1008)];
    let words = payloads.into_iter().chain(objects.map(AsWord::word));
    OperationKind::ALL.iter().flat_map(move |&kind| {
        words.clone().map(move |word| Operation::unpack(kind, Payload::of(word)))
    })
}

/// The lock, word or thread handle that most tests are about.
pub(super) const OBJECT: Object = Object::memory(0, 0x1008);

/// A request that works on [`OBJECT`].
pub(super) fn request(operation: Operation) -> Footprint {
    on(OBJECT, operation)
}

/// A request that works on something.
pub(super) fn on(object: Object, operation: Operation) -> Footprint {
    Step::new(operation, Phase::Request, object).footprint()
}

/// A request with a timeout that works on something.
pub(super) fn limited(object: Object, operation: Operation) -> Footprint {
    Step::new(operation, Phase::Limited, object).footprint()
}

/// Whether a step cannot come before an earlier one.
pub(super) fn is_ordered(earlier: Footprint, later: Footprint) -> bool {
    let comes_after = |a: Part| later.parts().any(|b| a.relation(b) == Relation::Ordered);
    earlier.parts().any(comes_after)
}

#[test]
fn the_end_of_the_process_commutes_with_nothing() {
    let end = ProcessEnd { code: 0, is_unnoticed: false };
    let end = on(Object::NONE, Operation::ProcessExit(end));
    for operation in all_operations() {
        assert!(!end.commutes(&request(operation)), "{operation:?}");
    }
}

#[test]
fn what_is_apart_commutes() {
    for a in all_operations() {
        for b in all_operations() {
            for object in [OBJECT, Object::memory(0, 0x2008)] {
                let (a, b) = (request(a), on(object, b));
                assert!(!a.is_apart_from(&b) || a.commutes(&b), "{a:?} {b:?}");
            }
        }
    }
}

#[test]
fn races_do_not_depend_on_the_order() {
    let races = |a: &Footprint, b: &Footprint| {
        a.parts().any(|a| b.parts().any(|b| a.relation(b) == Relation::Racing))
    };
    for a in all_operations() {
        for b in all_operations() {
            for phase in [Phase::Request, Phase::Limited, Phase::Resume] {
                let (a, b) = (request(a), Step::new(b, phase, OBJECT).footprint());
                assert_eq!(races(&a, &b), races(&b, &a), "{a:?} {b:?}");
            }
        }
    }
}

#[test]
fn a_timeout_conflicts_with_everything() {
    for operation in all_operations() {
        let step = Step::new(operation, Phase::Resume, OBJECT);
        assert!(Step { timed_out: true, ..step }.footprint().conflicts_with_all());
    }
}

#[test]
fn which_timeout_fires_first_depends_on_who_asks_first() {
    let lock = limited(OBJECT, Operation::MutexLock);
    let join = limited(Object::memory(0, 0x2008), Operation::Join);
    assert!(!lock.commutes(&join));
}
