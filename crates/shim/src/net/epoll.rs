//! `epoll`: its interest list is stored in the buffer of its object.

use super::poll::{self, ERROR, HANG_UP};
use super::{Blocking, Call, Kind, Want, event, faults, joint, key, make, object};
use crate::descriptors;
use crate::memory::{load, store};
use crate::scheduler::point;
use crate::sys::errno;
use everypath_shim_abi::{self as abi, Operation};

const EDGE: u32 = 1 << 31;
const ONE_SHOT: u32 = 1 << 30;

/// Something that is watched.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Entry {
    descriptor: i32,
    /// What the descriptor was open on when it was added, and the object behind that.
    description: u32,
    object: u16,
    events: u32,
    /// What had happened when it was last reported, plus one; 0 if it never was.
    seen: u32,
    data: u64,
    disarmed: bool,
}

const SIZE: usize = size_of::<Entry>();

fn count(number: usize) -> usize {
    object(number).waiting() / SIZE
}

fn entry_at(number: usize, at: usize) -> usize {
    object(number).contents(number).as_ptr() as usize + at * SIZE
}

fn entries(number: usize) -> impl Iterator<Item = (usize, Entry)> {
    (0..count(number)).map(move |at| (at, load(entry_at(number, at))))
}

/// Does what the system call does.
pub(super) fn create(flags: i32) -> Result<isize, i32> {
    if flags & !descriptors::CLOSE_ON_EXEC != 0 {
        return Err(errno::EINVAL);
    }
    make(Kind::Epoll, flags).map(|(_, descriptor)| descriptor)
}

/// What has happened to an object, as a number that is never 0.
fn moment(number: usize) -> u32 {
    let object = object(number);
    let expirations =
        if object.kind.get() == Kind::Timer { event::expirations(object) as u32 } else { 0 };
    object.activity.get().wrapping_add(expirations).wrapping_add(1)
}

/// What an entry would report now.
fn report(entry: &Entry) -> u32 {
    if entry.disarmed {
        return 0;
    }
    let number = usize::from(entry.object);
    let wanted = entry.events & !(EDGE | ONE_SHOT) | ERROR | HANG_UP;
    let events = poll::of_object(number) & wanted;
    let new = entry.seen != moment(number);
    if entry.events & EDGE != 0 && !new { 0 } else { events }
}

/// What is watched, by number, and for which events.
pub(super) fn watched(number: usize) -> impl Iterator<Item = (usize, u32)> {
    entries(number).filter(|(_, entry)| !entry.disarmed).map(|(_, entry)| {
        joint::refuse_edges(usize::from(entry.object), entry.events & EDGE != 0);
        (usize::from(entry.object), entry.events)
    })
}

/// Whether an entry has something to report.
pub(super) fn has_ready(number: usize) -> bool {
    entries(number).any(|(_, entry)| report(&entry) != 0)
}

/// Does what the system call does.
pub(super) fn control(
    epoll: i32,
    operation: i32,
    descriptor: i32,
    at: usize,
) -> Result<isize, i32> {
    const ADD: i32 = 1;
    const DELETE: i32 = 2;
    const MODIFY: i32 = 3;
    let number = this(epoll)?;
    descriptors::used(descriptor);
    let description = descriptors::found_description(descriptor)?;
    let watched = match descriptors::object_now(descriptor) {
        Ok(watched) if watched != number => watched,
        Ok(_) => return Err(errno::EINVAL),
        Err(_) => return Err(errno::EPERM),
    };
    point(Operation::EpollControl, key(number));
    let same = |(_, entry): &(usize, Entry)| {
        entry.descriptor == descriptor && entry.description == description as u32
    };
    let known = entries(number).find(same);
    let wanted = || {
        let events = load::<u32>(at);
        let data = load::<[u32; 2]>(at + 4);
        let data = u64::from(data[0]) | u64::from(data[1]) << 32;
        let (seen, disarmed) = (0, false);
        let (description, object) = (description as u32, watched as u16);
        Entry { descriptor, description, object, events, seen, data, disarmed }
    };
    match (operation, known) {
        (ADD, Some(_)) => return Err(errno::EEXIST),
        (ADD, None) => {
            let entry = wanted();
            if object(number).room(super::buffer::CAPACITY) < SIZE {
                return Err(errno::ENOSPC);
            }
            object(number).push(number, (&raw const entry) as usize, SIZE);
        }
        (DELETE | MODIFY, None) => return Err(errno::ENOENT),
        (DELETE, Some((at, _))) => object(number).cut(number, at * SIZE, SIZE),
        (MODIFY, Some((at, _))) => store(entry_at(number, at), wanted()),
        _ => return Err(errno::EINVAL),
    }
    super::happened(number);
    Ok(0)
}

fn this(descriptor: i32) -> Result<usize, i32> {
    let number = match descriptors::object(descriptor) {
        Ok(number) => number,
        Err(errno::EBADF) => return Err(errno::EBADF),
        Err(_) => return Err(errno::EINVAL),
    };
    match object(number).kind.get() {
        Kind::Epoll => Ok(number),
        _ => Err(errno::EINVAL),
    }
}

/// Does what the system calls do.
pub(super) fn wait(epoll: i32, (at, most): (usize, i32), patience: Blocking) -> Result<isize, i32> {
    let number = this(epoll)?;
    if most <= 0 {
        return Err(errno::EINVAL);
    }
    faults::interrupt(patience != Blocking::None)?;
    let want = Want::Ready { number: number as u16, events: poll::IN };
    let operation = poll::looking(want);
    let through = super::through(epoll);
    let call = Call { operation, touches: abi::Object::NONE, want, through, patience };
    poll::or_none_ready(call, || collect(number, at, most as usize))
}

/// Writes down what is ready.
fn collect(number: usize, to: usize, most: usize) -> usize {
    let mut found = 0;
    for at in 0..count(number) {
        let place = entry_at(number, at);
        let entry: Entry = load(place);
        let events = report(&entry);
        if events == 0 || found == most {
            continue;
        }
        let event = to + found * 12;
        store(event, events);
        store(event + 4, [entry.data as u32, (entry.data >> 32) as u32]);
        found += 1;
        let seen = moment(usize::from(entry.object));
        let disarmed = entry.events & ONE_SHOT != 0;
        store(place, Entry { seen, disarmed, ..entry });
    }
    if found == most {
        rotate(number, found);
    }
    found
}

/// Puts the first entries last, so that all get their turn.
fn rotate(number: usize, reported: usize) {
    let object = object(number);
    for _ in 0..reported.min(count(number)) {
        let entry: Entry = load(entry_at(number, 0));
        object.skip(SIZE);
        object.push(number, (&raw const entry) as usize, SIZE);
    }
}

/// What was open is not any more: nobody watches it.
pub(super) fn forget(description: usize) {
    for number in descriptors::object_numbers() {
        let is_own = descriptors::maker(number) == crate::multi_process::process();
        if object(number).kind.get() != Kind::Epoll || !is_own {
            continue;
        }
        let gone = |(_, entry): &(usize, Entry)| entry.description == description as u32;
        while let Some((at, _)) = entries(number).find(gone) {
            object(number).cut(number, at * SIZE, SIZE);
        }
    }
}
