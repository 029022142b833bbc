//! Instructions that access more than eight bytes: no processor promises that to be one access, so it is
//! one for each eight bytes.
//!
//! The copy of the instruction works on a copy of its operand in the context of the log; here the words
//! go from memory to that, or from that to memory, each in a step of its own if its granule is armed.

use crate::accesses::{record_call, wide_operand};
use crate::granules;
use crate::memory::{load, store};
use crate::objects;
use crate::races;
use crate::scheduler::{glance, point};
use crate::state::Thread;
use crate::write_protect::expect_write;
use everypath_shim_abi::{Attempt, Operation, Site, SiteKind};

/// Moves the operand word by word.
pub(crate) fn access(thread: &Thread, site: &Site, operand: usize) {
    let writes = site.kind == SiteKind::Store;
    let mut words = wide_operand().get();
    let places = || (operand..operand + usize::from(site.size)).step_by(8);
    for (word, at) in words.iter_mut().zip(places()) {
        if granules::are_met(at, 8) {
            races::begin(thread, site, (at, 8));
            match writes {
                true => drop(point(Operation::Store, objects::bytes(at, 8))),
                false => glance(Operation::Load(Attempt::First), objects::bytes(at, 8)),
            }
            races::end(thread);
            record_call(at, 8, writes);
        }
        if writes {
            expect_write(at, 8);
            store(at, *word);
        } else {
            *word = load(at);
        }
    }
    // What was stored is stored once more behind the point, and must not undo what others did meanwhile.
    for (word, at) in words.iter_mut().zip(places()).filter(|_| writes) {
        *word = load(at);
    }
    wide_operand().set(words);
}
