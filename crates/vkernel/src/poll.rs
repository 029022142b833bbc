//! `poll`, and how long calls wait.

use crate::blocking::{Blocking, Call, Unfinished, failed, until_done};
use crate::footprint::touches;
use crate::host::Host;
use crate::object::{Kind, Stage};
use crate::readiness::{ERROR, HANG_UP, INVALID, NORMAL_OUT, OUT, of_descriptor};
use crate::state::Want;
use crate::wants::looking;
use crate::{errno, faults, fd_table, joint};
use everypath_shim_abi as abi;

/// The size of a `struct pollfd`.
const ENTRY: usize = 8;

/// The entries of `poll`, each a descriptor and what is wanted of it; none for one that cannot be
/// read any more.
pub(crate) fn entries(
    k: &impl Host,
    entries: usize,
    count: usize,
) -> impl Iterator<Item = (i32, u32)> + Clone {
    (0..count).filter_map(move |at| {
        let entry = entries + at * ENTRY;
        Some((k.load::<i32>(entry).ok()?, u32::from(k.load::<u16>(entry + 4).ok()?)))
    })
}

/// What to say of an entry of `poll`.
pub(crate) fn ready(k: &impl Host, (descriptor, wanted): (i32, u32)) -> u32 {
    match descriptor {
        ..0 => 0,
        _ => of_descriptor(k, descriptor) & (wanted | ERROR | HANG_UP | INVALID),
    }
}

/// What a call that looks at several descriptors touches: one object that is only read from, or
/// everything that is sent and received.
pub(crate) fn touched(
    k: &impl Host,
    mut descriptors: impl Iterator<Item = (i32, u32)>,
) -> abi::Object {
    let only = |(descriptor, events): (i32, u32)| {
        let number = fd_table::object_now(k, descriptor).ok()?;
        let plain =
            matches!(k.object(number).kind.get(), Kind::Stream | Kind::Datagram | Kind::Pipe)
                && k.object(number).stage.get() != Stage::Listening;
        (plain && events & (OUT | NORMAL_OUT) == 0).then(|| touches(k, number))
    };
    match (descriptors.next(), descriptors.next()) {
        (Some(first), None) => only(first).unwrap_or_default(),
        _ => abi::Object::NONE,
    }
}

/// How long a call waits that was given milliseconds; less than 0 is for ever.
pub(crate) fn milliseconds(k: &impl Host, timeout: i32) -> Blocking {
    match timeout {
        0 => Blocking::None,
        ..0 => Blocking::Forever,
        some => Blocking::Until(k.clock() + some as u64 * 1_000_000),
    }
}

/// How long a call waits that was given seconds and parts of seconds, or nothing.
pub(crate) fn duration(k: &impl Host, at: usize, unit: u64) -> Result<Blocking, i32> {
    if at == 0 {
        return Ok(Blocking::Forever);
    }
    let [seconds, parts] = k.load::<[i64; 2]>(at)?;
    if seconds < 0 || parts < 0 {
        return Err(errno::EINVAL);
    }
    let nanoseconds = (seconds as u64).saturating_mul(1_000_000_000) + parts as u64 * unit;
    Ok(match nanoseconds {
        0 => Blocking::None,
        some => Blocking::Until(k.clock().saturating_add(some)),
    })
}

/// Does what the system calls do.
pub(crate) fn poll(
    k: &impl Host,
    (at, count): (usize, usize),
    patience: Blocking,
) -> Result<isize, i32> {
    // The entries can be read and written, or nothing is done.
    (0..count).try_for_each(|index| k.load::<u64>(at + index * ENTRY).map(drop))?;
    let touches = touched(k, entries(k, at, count).filter(|entry| entry.0 >= 0));
    faults::interrupt(k, patience != Blocking::None)?;
    let want = Want::Poll { entries: at, count };
    let operation = looking(k, want);
    let call = Call { operation, touches, want, through: None, patience };
    or_none_ready(k, call, || {
        let mut found = 0;
        for (index, entry) in entries(k, at, count).enumerate() {
            let events = ready(k, entry);
            k.store(at + index * ENTRY + 6, events as u16)?;
            found += usize::from(events != 0);
        }
        Ok(found)
    })
}

/// Counts what is ready until there is something; that nothing was in time is no failure.
pub(crate) fn or_none_ready(
    k: &impl Host,
    call: Call,
    count: impl Fn() -> Result<usize, i32>,
) -> Result<isize, i32> {
    let outcome = until_done(k, call, || {
        let looked = joint::look(k, call.want, call.patience).and_then(|()| count());
        let looked = looked.map(|count| count as isize);
        (looked != Ok(0)).then_some(looked)
    });
    match outcome {
        Ok(ready) => ready,
        Err(Unfinished::WouldWait | Unfinished::TimedOut) => Ok(0),
        Err(unfinished) => Err(failed(unfinished)),
    }
}
