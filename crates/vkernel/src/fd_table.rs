//! The descriptor table: files, sockets, pipes, events. `numbers` says who gives out which.

use crate::host::{Host, Thread};
use crate::numbers::{objects, slots, thread_of};
use crate::slot::FAR;
use crate::{errno, footprint, lifetime, object, pipe, stop};
use core::cell::Cell;
use core::ops::Range;
use everypath_shim_abi::{self as abi, DescriptorUse, FileEffect, Operation, Waiting};

use crate::slot::OPENING;
pub use crate::slot::{
    ACCESS_MODE, APPEND, CLOSE_ON_EXEC, Kind, LIMIT, NONBLOCK, Open, RANGES, Slot,
};

/// The parts of the table of descriptors that a snapshot holds, as numbers.
pub fn slot_spans(k: &impl Host) -> impl Iterator<Item = Range<usize>> {
    slots(k).spans()
}

/// The parts of the table of objects that a snapshot holds, as numbers.
pub fn object_spans(k: &impl Host) -> impl Iterator<Item = Range<usize>> {
    objects(k).spans()
}

/// The numbers of all objects that there are or were.
pub(crate) fn object_numbers(k: &impl Host) -> impl Iterator<Item = usize> + Clone {
    objects(k).given_out()
}

/// The process of the thread that made an object.
pub(crate) fn maker(k: &impl Host, object: usize) -> usize {
    k.owner(thread_of(object) as u16)
}

/// Closes what is open on objects.
pub fn close_objects(k: &impl Host) {
    for number in slots(k).given_out() {
        if get(k, number as i32).is_some_and(|open| open.get().kind == Kind::Object) {
            close(k, number as i32);
        }
    }
}

/// Closes descriptors of objects at once, even if they are in use.
pub fn drop_objects(k: &impl Host) {
    for number in slots(k).given_out() {
        let open = &k.slot(number).open;
        if open.get().kind == Kind::Object {
            open.set(Open { references: 1, ..open.get() });
            release(k, number);
        }
    }
}

/// Puts back which descriptors of this process were given out.
pub fn restore_used(k: &impl Host, used: &[Cell<u16>; RANGES]) {
    for range in slots(k).ranges() {
        slots(k).used(range).set(used[range].get());
    }
}

/// Writes down which descriptors of this process were given out.
pub fn keep_used(k: &impl Host, used: &[Cell<u16>; RANGES]) {
    for range in slots(k).ranges() {
        used[range].set(slots(k).used(range).get());
    }
}

/// A descriptor, in footprints.
fn footprint(k: &impl Host, descriptor: i32) -> abi::Object {
    abi::Object::descriptor(k.process() as u8, descriptor as u32)
}

/// Everything that is open.
pub fn all_open(k: &impl Host) -> impl Iterator<Item = &Cell<Open>> {
    let open = slots(k).given_out().map(|number| &k.slot(number).open);
    open.filter(|open| open.get().kind != Kind::Closed)
}

/// A number for a new object; none if the thread has too many.
pub(crate) fn free_object(k: &impl Host) -> Option<usize> {
    let number = objects(k).lowest(0, |number| k.object(number).is_free())?;
    let owners = &k.state().object_owners;
    owners.set(owners.get().max(k.current().number() + 1));
    k.clear_object(number);
    Some(number)
}

/// Marks that an object was freed: see the module's documentation.
pub(crate) fn object_is_free(k: &impl Host, number: usize) {
    k.object(number).retire(!objects(k).is_own(number));
}

/// Opens the three standard streams.
pub fn open_standard_streams(k: &impl Host) {
    for (kind, index) in [(Kind::Empty, 0), (Kind::Stream, 1), (Kind::Stream, 2)] {
        open(k, Open { kind, index, flags: 2, ..Open::default() });
    }
}

/// Gives a descriptor to something newly opened.
pub fn open(k: &impl Host, open: Open) -> isize {
    let description = slots(k).lowest(0, |number| {
        let slot = k.slot(number);
        slot.open.get().kind == Kind::Closed && !slot.retired_open.get()
    });
    let (Some(description), Some(descriptor)) = (description, free_descriptor(k, 0)) else {
        return too_many(k);
    };
    renew(k, descriptor);
    let flags = open.flags & !(OPENING | CLOSE_ON_EXEC);
    k.slot(description).open.set(Open { references: 1, flags, ..open });
    k.slot(descriptor).descriptor.set(description as u16 + 1);
    k.slot(descriptor).close_on_exec.set(open.flags & CLOSE_ON_EXEC != 0);
    descriptor as isize
}

fn free_descriptor(k: &impl Host, from: usize) -> Option<usize> {
    slots(k).lowest(from, |number| {
        let slot = k.slot(number);
        slot.descriptor.get() == 0 && !slot.retired_descriptor.get()
    })
}

/// No number is left: the kernel would say so too if none were retired.
fn too_many(k: &impl Host) -> isize {
    let is_retired = |number| slots(k).is_own(number) && k.slot(number).retired_descriptor.get();
    if slots(k).given_out().any(is_retired) {
        stop!(k, "a thread opens more than {FAR} descriptors that other threads close");
    }
    -(errno::EMFILE as isize)
}

/// The number of what a descriptor is open on.
pub(crate) fn description(k: &impl Host, descriptor: i32) -> Option<usize> {
    let number = usize::try_from(descriptor).ok().filter(|&number| number < LIMIT)?;
    if !slots(k).is_given_out(number) {
        return None;
    }
    usize::from(k.slot(number).descriptor.get()).checked_sub(1)
}

/// What a descriptor is open on.
pub fn get(k: &impl Host, descriptor: i32) -> Option<&Cell<Open>> {
    description(k, descriptor).map(|number| &k.slot(number).open)
}

/// What is open under a number that `description` gave.
pub(crate) fn opened(k: &impl Host, description: usize) -> &Cell<Open> {
    &k.slot(description).open
}

/// Whether a descriptor is open.
pub(crate) fn is_open(k: &impl Host, descriptor: i32) -> bool {
    get(k, descriptor).is_some()
}

/// What a descriptor is open on, for a call that is a step by itself if it is.
///
/// That it is closed may be the doing of another thread: then it is a step to see that.
/// And so it may be that it is open on something else than before.
pub fn found(k: &impl Host, descriptor: i32) -> Option<&Cell<Open>> {
    match get(k, descriptor) {
        None if was_given_out(k, descriptor) => {
            k.point(Operation::DescriptorUse(DescriptorUse::Closed), footprint(k, descriptor));
        }
        Some(_) if is_renewed_by_another(k, descriptor) => {
            k.point(Operation::DescriptorUse(DescriptorUse::Other), footprint(k, descriptor));
        }
        _ => {}
    }
    get(k, descriptor)
}

fn is_renewed_by_another(k: &impl Host, descriptor: i32) -> bool {
    let by = k.slot(descriptor as usize).renewed_by.get();
    by != 0 && by != k.current().number() + 1
}

/// The number of that.
pub(crate) fn found_description(k: &impl Host, descriptor: i32) -> Result<usize, i32> {
    found(k, descriptor).and_then(|_| description(k, descriptor)).ok_or(errno::EBADF)
}

/// What a descriptor is open on, for a call that is no step otherwise: another thread may close it
/// before or after. Nobody closes the standard streams and devices while others use them.
pub fn used(k: &impl Host, descriptor: i32) -> Option<&Cell<Open>> {
    let open = found(k, descriptor)?.get();
    let found = match open.kind {
        Kind::Object => DescriptorUse::Socket(footprint::touches(k, usize::from(open.index))),
        Kind::Host | Kind::Written => DescriptorUse::Other,
        _ => return get(k, descriptor),
    };
    k.point(Operation::DescriptorUse(found), footprint(k, descriptor));
    get(k, descriptor)
}

/// The same for a call that changes where the next bytes of a file are read.
pub fn moved(k: &impl Host, descriptor: i32) -> Option<&Cell<Open>> {
    found(k, descriptor)?;
    let offset = abi::Object::offset(k.process() as u8, description(k, descriptor)? as u32);
    k.point(Operation::DescriptorMove(offset), footprint(k, descriptor));
    get(k, descriptor)
}

fn was_given_out(k: &impl Host, descriptor: i32) -> bool {
    usize::try_from(descriptor).is_ok_and(|number| number < LIMIT && slots(k).is_given_out(number))
}

/// The object that a descriptor is open on, by number, for a call.
pub(crate) fn object(k: &impl Host, descriptor: i32) -> Result<usize, i32> {
    found(k, descriptor);
    object_now(k, descriptor)
}

/// The same for who only looks: also while a thread is chosen, when no step can be taken.
pub(crate) fn object_now(k: &impl Host, descriptor: i32) -> Result<usize, i32> {
    match get(k, descriptor).map(Cell::get) {
        Some(open) if open.kind == Kind::Object => Ok(usize::from(open.index)),
        Some(_) => Err(errno::ENOTSOCK),
        None => Err(errno::EBADF),
    }
}

/// Does what the system call does.
pub fn close(k: &impl Host, descriptor: i32) -> isize {
    let Some(open) = found(k, descriptor) else { return -(errno::EBADF as isize) };
    match open.get().kind {
        Kind::Object => lifetime::before_close(k, usize::from(open.get().index)),
        Kind::Written => replace(k, descriptor, FileEffect::Visible),
        _ if open.get().lock != 0 => replace(k, descriptor, FileEffect::Visible),
        _ => replace(k, descriptor, FileEffect::None),
    }
    // Others may have closed it meanwhile.
    let Some(description) = description(k, descriptor) else { return -(errno::EBADF as isize) };
    let number = descriptor as usize;
    k.slot(number).descriptor.set(0);
    k.slot(number).retired_descriptor.set(!slots(k).is_own(number));
    release(k, description);
    0
}

/// The scheduling point before a descriptor is opened again: others may know its number.
fn renew(k: &impl Host, number: usize) {
    let slot = k.slot(number);
    if slot.was_open.replace(true) {
        replace(k, number as i32, FileEffect::None);
        slot.renewed_by.set(k.current().number() + 1);
    }
}

/// The scheduling point before what a descriptor is open on changes.
fn replace(k: &impl Host, descriptor: i32, effect: FileEffect) {
    k.point(Operation::DescriptorClose(effect), footprint(k, descriptor));
}

/// Keeps an object open while a call uses it, even if its descriptors are closed.
pub(crate) fn hold(k: &impl Host, description: usize) {
    let slot = &k.slot(description).open;
    slot.set(Open { references: slot.get().references + 1, ..slot.get() });
}

/// Gives up a reference to something open.
pub(crate) fn release(k: &impl Host, description: usize) {
    let number = description;
    let slot = k.slot(number);
    let open = slot.open.get();
    if open.references > 1 {
        slot.open.set(Open { references: open.references - 1, ..open });
        return;
    }
    slot.open.set(Open::default());
    slot.retired_open.set(!slots(k).is_own(number));
    if open.lock != 0 {
        lock_is_released(k);
    }
    match open.kind {
        Kind::Written => k.written_is_closed(usize::from(open.index)),
        Kind::Object => lifetime::close(k, usize::from(open.index), number),
        _ => {}
    }
}

/// Files by their paths, in footprints: what a thread that waits for a lock waits on.
pub(crate) fn paths(k: &impl Host) -> abi::Object {
    abi::Object::file(k.process() as u8, 0)
}

/// A lock of a file was released: all waiters retry.
pub(crate) fn lock_is_released(k: &impl Host) {
    k.grant_all(Waiting::FileLock, paths(k));
}

/// Does what the system calls do: the lowest free descriptor from `from` on, or exactly `exactly`.
pub fn duplicate(k: &impl Host, descriptor: i32, from: usize, exactly: Option<usize>) -> isize {
    if used(k, descriptor).is_none() {
        return -(errno::EBADF as isize);
    }
    let target = match exactly {
        Some(target) if target >= LIMIT => return -(errno::EBADF as isize),
        Some(target) if target == descriptor as usize => return target as isize,
        Some(target) => {
            slots(k).give_out(target);
            renew(k, target);
            // From here on, nobody sees it closed.
            if is_open(k, target as i32) {
                close(k, target as i32);
            }
            Some(target)
        }
        None => free_descriptor(k, from).inspect(|&target| renew(k, target)),
    };
    let Some(target) = target else { return too_many(k) };
    let Some(held) = description(k, descriptor) else { return -(errno::EBADF as isize) };
    hold(k, held);
    k.slot(target).descriptor.set(held as u16 + 1);
    k.slot(target).close_on_exec.set(false);
    target as isize
}

/// Whether a file is open once, so that nobody else can have a lock of it.
fn is_alone(k: &impl Host, this: Open) -> bool {
    let same = |open: &&Cell<Open>| (open.get().kind, open.get().index) == (this.kind, this.index);
    all_open(k).filter(same).count() <= 1
}

/// Does what the system call does.
pub fn control(k: &impl Host, descriptor: i32, command: i32, argument: usize) -> isize {
    const GET_LOCK: i32 = 5;
    const GET_OPEN_LOCK: i32 = 36;
    const SET_PIPE_SIZE: i32 = 1031;
    const GET_PIPE_SIZE: i32 = 1032;
    const UNLOCKED: i16 = 2;
    let Some(open) = used(k, descriptor) else { return -(errno::EBADF as isize) };
    let close_on_exec = |descriptor: isize| &k.slot(descriptor as usize).close_on_exec;
    match command {
        0 => duplicate(k, descriptor, argument, None),
        1030 => {
            let copy = duplicate(k, descriptor, argument, None);
            if copy >= 0 {
                close_on_exec(copy).set(true);
            }
            copy
        }
        1 => isize::from(close_on_exec(descriptor as isize).get()),
        2 => {
            close_on_exec(descriptor as isize).set(argument & 1 != 0);
            0
        }
        3 => open.get().flags as isize,
        4 => {
            let append = argument as i32 & APPEND != 0;
            let flags = (open.get().flags & ACCESS_MODE) | argument as i32;
            lifetime::before_mode(k, open.get(), flags);
            open.set(Open { append, flags, ..open.get() });
            0
        }
        // A process never excludes itself.
        36..=38 if !is_alone(k, open.get()) => {
            stop!(k, "fcntl(F_OFD_SETLK) of a file that is open twice is not modelled")
        }
        37 | 38 => 0,
        GET_LOCK | GET_OPEN_LOCK => match k.store(argument, UNLOCKED) {
            Ok(()) => 0,
            Err(error) => -(error as isize),
        },
        6 | 7 => 0,
        // The size of a pipe.
        GET_PIPE_SIZE | SET_PIPE_SIZE if open.get().kind == Kind::Object => {
            let number = usize::from(open.get().index);
            match k.object(number).kind.get() {
                object::Kind::Pipe if command == GET_PIPE_SIZE => {
                    pipe::capacity(k.object(number)) as isize
                }
                object::Kind::Pipe => {
                    // Whoever writes, or looks whether there is room, depends on it.
                    k.point(
                        Operation::SocketState(abi::Object::NONE),
                        footprint::touches(k, number),
                    );
                    pipe::set_capacity(k, number, argument).unwrap_or_else(|it| -(it as isize))
                }
                _ => -(errno::EBADF as isize),
            }
        }
        GET_PIPE_SIZE | SET_PIPE_SIZE => -(errno::EBADF as isize),
        _ => -(errno::EINVAL as isize),
    }
}
