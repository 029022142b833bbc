//! `epoll`: its interest list is stored in the buffer of its object.

use crate::blocking::{Blocking, Call, through};
use crate::buffer::CAPACITY;
use crate::host::Host;
use crate::lifetime::make;
use crate::object::{Kind, key};
use crate::readiness::{ERROR, HANG_UP, IN, of_object};
use crate::state::Want;
use crate::wakeup::happened;
use crate::wants::looking;
use crate::{errno, faults, fd_table, joint, poll, timerfd};
use everypath_shim_abi::{self as abi, Operation};

const EDGE: u32 = 1 << 31;
const ONE_SHOT: u32 = 1 << 30;

/// Something that is watched.
#[derive(Clone, Copy, Debug)]
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

/// How many bytes an entry takes in the buffer.
const SIZE: usize = 32;

impl Entry {
    fn to_buffer(self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        bytes[..4].copy_from_slice(&self.descriptor.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.description.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.events.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.seen.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.data.to_le_bytes());
        bytes[24..26].copy_from_slice(&self.object.to_le_bytes());
        bytes[26] = self.disarmed.into();
        bytes
    }

    fn from_buffer(bytes: &[u8; SIZE]) -> Self {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Entry {
            descriptor: word(0) as i32,
            description: word(4),
            events: word(8),
            seen: word(12),
            data: u64::from(word(16)) | u64::from(word(20)) << 32,
            object: word(24) as u16,
            disarmed: bytes[26] != 0,
        }
    }
}

fn count(k: &impl Host, number: usize) -> usize {
    k.object(number).waiting() / SIZE
}

fn place(k: &impl Host, number: usize, at: usize) -> usize {
    k.object(number).contents(k, number) + at * SIZE
}

fn entry(k: &impl Host, number: usize, at: usize) -> Entry {
    let mut bytes = [0; SIZE];
    k.read_own(place(k, number, at), &mut bytes);
    Entry::from_buffer(&bytes)
}

fn set_entry(k: &impl Host, number: usize, at: usize, entry: Entry) {
    k.write_own(place(k, number, at), &entry.to_buffer());
}

fn entries(k: &impl Host, number: usize) -> impl Iterator<Item = (usize, Entry)> {
    (0..count(k, number)).map(move |at| (at, entry(k, number, at)))
}

/// Does what the system call does.
pub(crate) fn create(k: &impl Host, flags: i32) -> Result<isize, i32> {
    if flags & !fd_table::CLOSE_ON_EXEC != 0 {
        return Err(errno::EINVAL);
    }
    make(k, Kind::Epoll, flags).map(|(_, descriptor)| descriptor)
}

/// What has happened to an object, as a number that is never 0.
fn moment(k: &impl Host, number: usize) -> u32 {
    let object = k.object(number);
    let expirations =
        if object.kind.get() == Kind::Timer { timerfd::expirations(k, object) as u32 } else { 0 };
    object.activity.get().wrapping_add(expirations).wrapping_add(1)
}

/// What an entry would report now.
fn report(k: &impl Host, entry: &Entry) -> u32 {
    if entry.disarmed {
        return 0;
    }
    let number = usize::from(entry.object);
    let wanted = entry.events & !(EDGE | ONE_SHOT) | ERROR | HANG_UP;
    let events = of_object(k, number) & wanted;
    let new = entry.seen != moment(k, number);
    if entry.events & EDGE != 0 && !new { 0 } else { events }
}

/// What is watched, by number, and for which events.
pub(crate) fn watched(k: &impl Host, number: usize) -> impl Iterator<Item = (usize, u32)> {
    entries(k, number).filter(|(_, entry)| !entry.disarmed).map(move |(_, entry)| {
        joint::refuse_edges(k, usize::from(entry.object), entry.events & EDGE != 0);
        (usize::from(entry.object), entry.events)
    })
}

/// Whether an entry has something to report.
pub(crate) fn has_ready(k: &impl Host, number: usize) -> bool {
    entries(k, number).any(|(_, entry)| report(k, &entry) != 0)
}

/// Does what the system call does.
pub(crate) fn control(
    k: &impl Host,
    epoll: i32,
    operation: i32,
    descriptor: i32,
    at: usize,
) -> Result<isize, i32> {
    const ADD: i32 = 1;
    const DELETE: i32 = 2;
    const MODIFY: i32 = 3;
    let number = this(k, epoll)?;
    fd_table::used(k, descriptor);
    let description = fd_table::found_description(k, descriptor)?;
    let watched = match fd_table::object_now(k, descriptor) {
        Ok(watched) if watched != number => watched,
        Ok(_) => return Err(errno::EINVAL),
        Err(_) => return Err(errno::EPERM),
    };
    k.point(Operation::EpollControl, key(number));
    let same = |(_, entry): &(usize, Entry)| {
        entry.descriptor == descriptor && entry.description == description as u32
    };
    let known = entries(k, number).find(same);
    let wanted = || {
        let events = k.load::<u32>(at)?;
        let data = k.load::<[u32; 2]>(at + 4)?;
        let data = u64::from(data[0]) | u64::from(data[1]) << 32;
        let (seen, disarmed) = (0, false);
        let (description, object) = (description as u32, watched as u16);
        Ok::<_, i32>(Entry { descriptor, description, object, events, seen, data, disarmed })
    };
    match (operation, known) {
        (ADD, Some(_)) => return Err(errno::EEXIST),
        (ADD, None) => {
            let entry = wanted()?;
            if k.object(number).room(CAPACITY) < SIZE {
                return Err(errno::ENOSPC);
            }
            k.object(number).push_own(k, number, &entry.to_buffer());
        }
        (DELETE | MODIFY, None) => return Err(errno::ENOENT),
        (DELETE, Some((at, _))) => k.object(number).cut(k, number, (at * SIZE, SIZE)),
        (MODIFY, Some((at, _))) => set_entry(k, number, at, wanted()?),
        _ => return Err(errno::EINVAL),
    }
    happened(k, number);
    Ok(0)
}

fn this(k: &impl Host, descriptor: i32) -> Result<usize, i32> {
    let number = match fd_table::object(k, descriptor) {
        Ok(number) => number,
        Err(errno::EBADF) => return Err(errno::EBADF),
        Err(_) => return Err(errno::EINVAL),
    };
    match k.object(number).kind.get() {
        Kind::Epoll => Ok(number),
        _ => Err(errno::EINVAL),
    }
}

/// Does what the system calls do.
pub(crate) fn wait(
    k: &impl Host,
    epoll: i32,
    (at, most): (usize, i32),
    patience: Blocking,
) -> Result<isize, i32> {
    let number = this(k, epoll)?;
    if most <= 0 {
        return Err(errno::EINVAL);
    }
    faults::interrupt(k, patience != Blocking::None)?;
    let want = Want::Ready { number: number as u16, events: IN };
    let operation = looking(k, want);
    let through = through(k, epoll);
    let call = Call { operation, touches: abi::Object::NONE, want, through, patience };
    poll::or_none_ready(k, call, || collect(k, number, at, most as usize))
}

/// Writes down what is ready.
fn collect(k: &impl Host, number: usize, to: usize, most: usize) -> Result<usize, i32> {
    let mut found = 0;
    for at in 0..count(k, number) {
        let entry = entry(k, number, at);
        let events = report(k, &entry);
        if events == 0 || found == most {
            continue;
        }
        let event = to + found * 12;
        k.store(event, events)?;
        k.store(event + 4, [entry.data as u32, (entry.data >> 32) as u32])?;
        found += 1;
        let seen = moment(k, usize::from(entry.object));
        let disarmed = entry.events & ONE_SHOT != 0;
        set_entry(k, number, at, Entry { seen, disarmed, ..entry });
    }
    if found == most {
        rotate(k, number, found);
    }
    Ok(found)
}

/// Puts the first entries last, so that all get their turn.
fn rotate(k: &impl Host, number: usize, reported: usize) {
    let object = k.object(number);
    for _ in 0..reported.min(count(k, number)) {
        let first = entry(k, number, 0);
        object.skip(SIZE);
        object.push_own(k, number, &first.to_buffer());
    }
}

/// What was open is not any more: nobody watches it.
pub(crate) fn forget(k: &impl Host, description: usize) {
    for number in fd_table::object_numbers(k) {
        let is_own = fd_table::maker(k, number) == k.process();
        if k.object(number).kind.get() != Kind::Epoll || !is_own {
            continue;
        }
        let gone = |(_, entry): &(usize, Entry)| entry.description == description as u32;
        while let Some((at, _)) = entries(k, number).find(gone) {
            k.object(number).cut(k, number, (at * SIZE, SIZE));
        }
    }
}
