//! Memory accesses of libc and of the kernel, by summaries: what a function or a syscall accesses
//! follows from its arguments and its result.
//!
//! The pointers through which rewritten modules call these functions lead here (`shim-abi` has their
//! names), so that what libc does for itself is not recorded: it orders that by locks of its own. A call
//! is one step, whatever it accesses. `functions`: most of them; `printf`: those with a format.

mod functions;
mod printf;

use crate::accesses;
use crate::granules;
use crate::objects;
use crate::races::{self, Access};
use crate::scheduler::{glance, point};
use crate::state::state;
use everypath_shim_abi::syscalls::{Argument, Length, Syscall};
use everypath_shim_abi::{Attempt, LIBC_FUNCTIONS, Object, Operation, for_libc_functions};

/// Some bytes of the program's memory, and whether they are written.
#[derive(Clone, Copy)]
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
    accesses::is_armed() && crate::controller::is_running() && state().is_concurrent()
}

/// A call is about to access these ranges: a scheduling point, if threads have accessed some of them in
/// conflict; and they are recorded.
fn access(ranges: &[Range]) {
    if !is_recorded() {
        return;
    }
    let thread = state().current();
    let mut met = ranges.iter().filter(|range| granules::are_met(range.address, range.length));
    if let Some(first) = met.next() {
        let object = match met.next() {
            None => object_met(first.address, first.length),
            // Several at once: in conflict with everything.
            Some(_) => objects::bytes(first.address, usize::MAX >> 1),
        };
        let met = ranges.iter().filter(|range| granules::are_met(range.address, range.length));
        let plain = |range: &Range| Access::plain(range.address, range.length, range.writes);
        races::begin_all(thread, met.map(plain));
        if ranges.iter().any(|range| range.writes) {
            point(Operation::Store, object);
        } else {
            glance(Operation::Load(Attempt::First), object);
        }
        races::end(thread);
    }
    for range in ranges {
        accesses::record_call(range.address, range.length, range.writes);
    }
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

/// The memory that the kernel reads, before a call.
pub(crate) fn before_syscall(known: &Syscall, arguments: &[usize; 6]) {
    if is_recorded() {
        for (argument, &address) in known.arguments.iter().zip(arguments) {
            match argument {
                Argument::Pointer(pointer) if !pointer.is_written && address != 0 => {
                    access(&[reads(address, pointer.bytes(arguments))]);
                }
                _ => {}
            }
        }
    }
}

/// The memory that the kernel has written, after a call that returned this.
pub(crate) fn after_syscall(known: &Syscall, arguments: &[usize; 6], answer: isize) {
    if answer < 0 || !is_recorded() {
        return;
    }
    for (argument, &address) in known.arguments.iter().zip(arguments) {
        match argument {
            Argument::Pointer(pointer) if pointer.is_written && address != 0 => {
                let most = pointer.bytes(arguments);
                // What fills a buffer says how far.
                let length = match pointer.length {
                    Length::Argument(_) => most.min(answer as usize),
                    _ => most,
                };
                access(&[writes(address, length)]);
            }
            _ => {}
        }
    }
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
