//! Memory accesses of libc and of the kernel, by summaries: what a function or a syscall accesses
//! follows from its arguments and its result.
//!
//! The pointers through which rewritten modules call these functions lead here (`shim-abi` has their
//! names), so that what libc does for itself is not recorded: it orders that by locks of its own. A call
//! is one step, whatever it accesses. `functions`: most of them; `printf`: those with a format;
//! `kernel`: syscalls.

mod functions;
mod kernel;
mod printf;

pub(crate) use kernel::{after_syscall, before_syscall};

use crate::accesses;
use crate::granules;
use crate::objects;
use crate::races;
use crate::scheduler::{glance, point};
use crate::state::{Access, MOST_ACCESSES, state};
use everypath_shim_abi::{Attempt, LIBC_FUNCTIONS, Object, Operation, for_libc_functions};

/// Some bytes of the program's memory, and whether they are written.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Range {
    address: usize,
    length: usize,
    writes: bool,
}

fn reads(address: usize, length: usize) -> Range {
    Range { address, length, writes: false }
}

fn writes(address: usize, length: usize) -> Range {
    Range { address, length, writes: true }
}

/// Whether anybody wants to know.
fn is_recorded() -> bool {
    accesses::is_armed() && crate::ending::is_running() && state().is_concurrent()
}

/// A call is about to access some ranges: a scheduling point, if threads have accessed some of them in
/// conflict; and they are recorded. What others do meanwhile may make the call access others.
fn access<R: AsRef<[Range]>>(ranges: impl Fn() -> R) {
    if !is_recorded() {
        return;
    }
    let mut known = ranges();
    while stand_before(known.as_ref()) {
        let now = ranges();
        if now.as_ref() == known.as_ref() {
            break;
        }
        known = now;
    }
    for range in known.as_ref() {
        accesses::record_call(range.address, range.length, range.writes);
    }
}

/// Lets others take their steps before a call that accesses these ranges, if any of them is armed. So
/// many ranges at a time are compared with what others are about to access: all in the end.
fn stand_before(ranges: &[Range]) -> bool {
    let met =
        || ranges.iter().filter(|range| granules::are_met(range.address, range.length)).copied();
    let count = met().count();
    if count == 0 {
        return false;
    }
    let thread = state().current();
    let object = match met().next() {
        Some(only) if count == 1 => object_met(only.address, only.length),
        // Several at once: in conflict with everything.
        _ => objects::bytes(ranges[0].address, usize::MAX >> 1),
    };
    for first in (0..count).step_by(MOST_ACCESSES) {
        let some = met().skip(first).take(MOST_ACCESSES);
        let plain = |range: Range| Access::plain(range.address, range.length, range.writes);
        races::begin_all(thread, some.map(plain));
        if ranges.iter().any(|range| range.writes) {
            point(Operation::Store, object);
        } else {
            glance(Operation::Load(Attempt::First), object);
        }
        races::end(thread);
    }
    true
}

/// A call is about to access bytes of a file that is mapped.
pub(crate) fn of_file(address: usize, length: usize, writes: bool) {
    access(|| [Range { address, length, writes }]);
}

/// What of some bytes others access in conflict, as far as is known: the rest makes no step dependent.
fn object_met(address: usize, length: usize) -> Object {
    let (address, length) = granules::span_met(address, length).unwrap_or((address, length));
    objects::bytes(address, length)
}

/// A block is about to be freed, which no access of another thread may come after. Returns whether other
/// threads may have run.
pub(crate) fn free(address: usize, length: usize) -> bool {
    if !is_recorded() {
        return false;
    }
    let thread = state().current();
    let is_step = granules::are_met(address, length);
    if is_step {
        races::begin_all(thread, [Access::free(address, length)].into_iter());
        point(Operation::Store, object_met(address, length));
        races::end(thread);
    }
    accesses::record_call(address, length, true);
    is_step
}

/// Where the functions are, in the order of their names.
#[expect(clippy::wildcard_imports, reason = "the names are listed once, in the contract")]
pub(crate) fn addresses() -> [u64; LIBC_FUNCTIONS.len()] {
    use functions::*;
    use printf::*;
    macro_rules! addresses {
        ($($name:ident)*) => { [$($name as *const () as u64),*] };
    }
    for_libc_functions!(addresses)
}
