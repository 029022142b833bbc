//! `eventfd`: a counter to wait for.

use crate::blocking::{Blocking, Call, failed, through, until_done, waits};
use crate::errno;
use crate::host::Host;
use crate::iovec::Pieces;
use crate::lifetime::{check_flags, make};
use crate::object::{Kind, Object, key};
use crate::readiness::{IN, OUT};
use crate::state::Want;
use crate::wakeup::happened;
use everypath_shim_abi::{Moved, Operation, Sending};

const MOST: u64 = u64::MAX - 1;

/// Does what the system call does.
pub(crate) fn create(k: &impl Host, value: u32, flags: i32) -> Result<isize, i32> {
    const SEMAPHORE: i32 = 1;
    check_flags(flags & !SEMAPHORE)?;
    let (number, descriptor) = make(k, Kind::Event, flags & !SEMAPHORE)?;
    k.object(number).counter.set(value.into());
    k.object(number).interval.set((flags & SEMAPHORE) as u64);
    Ok(descriptor)
}

/// What can happen to an event at once.
pub(crate) fn ready(event: &Object) -> u32 {
    let counter = event.counter.get();
    (if counter > 0 { IN } else { 0 }) | if counter < MOST { OUT } else { 0 }
}

/// Whether so much can be added to the counter of an event.
pub(crate) fn fits(event: &Object, added: u64) -> bool {
    added <= MOST - event.counter.get()
}

#[inline(always)]
pub(crate) fn call(
    k: &impl Host,
    (descriptor, number): (i32, usize),
    operation: Operation,
    events: u32,
) -> Call {
    let patience = if waits(k, descriptor, 0) { Blocking::Forever } else { Blocking::None };
    let want = Want::Ready { number: number as u16, events };
    Call {
        operation: operation.pack(),
        touches: key(number),
        want,
        through: through(k, descriptor),
        patience,
    }
}

/// Reads a counter: all of it, or one if it is a semaphore.
pub(crate) fn read(
    k: &impl Host,
    descriptor: i32,
    number: usize,
    pieces: Pieces,
) -> Result<isize, i32> {
    if pieces.length(k) < 8 {
        return Err(errno::EINVAL);
    }
    let event = k.object(number);
    let got = until_done(
        k,
        call(k, (descriptor, number), Operation::Receive(Moved::Nothing), IN),
        || {
            let counter = event.counter.get();
            let taken = if event.interval.get() != 0 { counter.min(1) } else { counter };
            event.counter.set(counter - taken);
            (taken > 0).then_some(taken)
        },
    );
    let value = got.map_err(failed)?;
    happened(k, number);
    pieces.fill(k, &value.to_le_bytes())?;
    Ok(8)
}

/// Adds to a counter.
pub(crate) fn write(
    k: &impl Host,
    descriptor: i32,
    number: usize,
    pieces: Pieces,
) -> Result<isize, i32> {
    if pieces.length(k) < 8 {
        return Err(errno::EINVAL);
    }
    let mut added = [0; 8];
    pieces.first(k, &mut added)?;
    let added = u64::from_le_bytes(added);
    if added == u64::MAX {
        return Err(errno::EINVAL);
    }
    let event = k.object(number);
    let call = call(k, (descriptor, number), Operation::Send(Sending::Queue(Moved::Nothing)), OUT);
    let want = Want::Counter { number: number as u16, added };
    let done = until_done(k, Call { want, ..call }, || {
        fits(event, added).then(|| event.counter.set(event.counter.get() + added))
    });
    done.map_err(failed)?;
    happened(k, number);
    Ok(8)
}
