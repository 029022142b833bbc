//! The descriptor table: files, sockets, pipes, events.
//!
//! Numbers follow from who opens, not from the order in which threads do: every thread has numbers
//! of its own, and a number that another thread has closed is not given out again. So opening in
//! one thread commutes with opening and closing in another, and `main` still sees the lowest free
//! number, as long as it closes what it opens.

use crate::fail::stop;
use crate::files;
use crate::memory::{store, view, zero};
use crate::multi_process;
use crate::net::{self, Object};
use crate::objects;
use crate::scheduler::point;
use crate::state::state;
use crate::sys::errno;
use core::cell::Cell;
use core::ops::Range;
use everypath_shim_abi::address_space::{BUFFERS, DESCRIPTORS, OBJECTS};
use everypath_shim_abi::{DescriptorUse, FileEffect, MAX_THREADS, Operation};

/// The first numbers are `main`'s.
const MAINS: usize = 256;
/// So many of the next are each other thread's; all of these fit into the sets of `select`.
const NEAR: usize = 6;
/// Numbers from here on are for threads that have used up theirs.
const FIRST_FAR: usize = 1024;
/// So many of them are each thread's.
const FAR: usize = 64;
/// How many numbers there are.
pub(crate) const LIMIT: usize = FIRST_FAR + MAX_THREADS * FAR;
/// How many ranges of numbers there are: two a thread.
pub(crate) const RANGES: usize = 2 * MAX_THREADS;

pub(crate) const ACCESS_MODE: i32 = 3;
pub(crate) const APPEND: i32 = 0o2000;
pub(crate) const NONBLOCK: i32 = 0o4000;
pub(crate) const CLOSE_ON_EXEC: i32 = 0o2_000_000;

/// What a descriptor is open on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    #[default]
    Closed,
    /// Standard input: at its end.
    Empty,
    /// Standard output or error, by number.
    Stream,
    /// A file of the machine, copied.
    Host,
    /// A file that the program wrote.
    Written,
    /// `/dev/null`.
    Null,
    /// `/dev/zero`.
    Zero,
    /// `/dev/urandom`.
    Random,
    /// A socket, a pipe, an event: an [`Object`].
    Object,
}

/// An open file, perhaps shared by several descriptors.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Open {
    pub(crate) kind: Kind,
    pub(crate) append: bool,
    /// How it is locked: see `files::flock`.
    pub(crate) lock: u8,
    pub(crate) references: u16,
    pub(crate) index: u16,
    pub(crate) flags: i32,
    pub(crate) offset: u64,
}

/// One number: a descriptor and something open, which need not belong together.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Slot {
    /// One more than the number of what the descriptor is open on; 0 if it is closed.
    descriptor: Cell<u16>,
    /// Whether a new program would not inherit it: nobody starts one, but programs look.
    close_on_exec: Cell<bool>,
    /// What was freed here by another thread is not given out again.
    retired_descriptor: Cell<bool>,
    retired_open: Cell<bool>,
    /// Whether the descriptor was ever open; and one more than the number of the thread that opened
    /// it again, 0 if none did.
    was_open: Cell<bool>,
    renewed_by: Cell<u16>,
    open: Cell<Open>,
}

/// How many bytes the table of descriptors has.
pub(crate) const SLOTS_LENGTH: usize = LIMIT * size_of::<Slot>();
const _: () = assert!(SLOTS_LENGTH <= BUFFERS - DESCRIPTORS, "descriptors overlap the buffers");

/// The slot with a number.
fn slot(number: usize) -> &'static Slot {
    view(DESCRIPTORS + (number % LIMIT) * size_of::<Slot>())
}

/// The numbers of a range.
fn numbers(range: usize) -> Range<usize> {
    match range {
        0 => 0..MAINS,
        near if near < MAX_THREADS => {
            let first = MAINS + (near - 1) * NEAR;
            first..first + NEAR
        }
        far => {
            let first = FIRST_FAR + (far - MAX_THREADS) * FAR;
            first..first + FAR
        }
    }
}

/// The range that a number lies in.
fn range_of(number: usize) -> usize {
    match number {
        0..MAINS => 0,
        MAINS..FIRST_FAR => 1 + (number - MAINS) / NEAR,
        _ => MAX_THREADS + (number - FIRST_FAR) / FAR,
    }
}

/// A table of things with numbers, and which of them were given out in this execution: what lies
/// beyond is left over from others.
#[derive(Clone, Copy)]
struct Table {
    address: usize,
    size: usize,
    used: &'static [Cell<u16>; RANGES],
    /// The thread that has the first range, and how many have some.
    first: usize,
    threads: usize,
}

/// The table of descriptors: each process has its own.
fn slots() -> Table {
    let (first, threads) =
        (multi_process::main_thread().into(), multi_process::threads_each().into());
    let used = &state().slots_used;
    Table { address: DESCRIPTORS, size: size_of::<Slot>(), used, first, threads }
}

/// The table of objects: there is one for all processes.
fn objects() -> Table {
    let used = &state().objects_used;
    let (first, threads) = (0, state().object_owners.get().into());
    Table { address: OBJECTS, size: size_of::<Object>(), used, first, threads }
}

impl Table {
    /// How many numbers of a range were given out.
    fn used(self, range: usize) -> &'static Cell<u16> {
        &self.used[(self.first + range) % RANGES]
    }

    /// Which of those that have numbers the running thread is.
    fn me(self) -> usize {
        usize::from(state().current.get()) - self.first
    }

    /// Whether a number is one of the running thread's.
    fn is_own(self, number: usize) -> bool {
        range_of(number) % MAX_THREADS == self.me()
    }

    fn is_given_out(self, number: usize) -> bool {
        let range = range_of(number);
        number - numbers(range).start < usize::from(self.used(range).get())
    }

    /// Makes a number one that was given out.
    fn give_out(self, number: usize) {
        let range = range_of(number);
        let used = self.used(range);
        let (from, to) = (usize::from(used.get()), number - numbers(range).start + 1);
        if to > from {
            let first = self.address + (numbers(range).start + from) * self.size;
            zero(first, (to - from) * self.size);
            used.set(to as u16);
        }
    }

    /// The running thread's lowest number that `is_free`, from `from` on.
    fn lowest(self, from: usize, is_free: impl Fn(usize) -> bool) -> Option<usize> {
        let thread = self.me();
        let mut own = [thread, MAX_THREADS + thread].into_iter().flat_map(numbers);
        let fits =
            |&number: &usize| number >= from && (!self.is_given_out(number) || is_free(number));
        let found = own.find(fits)?;
        self.give_out(found);
        Some(found)
    }

    /// The parts of the table that a snapshot holds, as address and length.
    fn spans(self) -> impl Iterator<Item = (usize, usize)> {
        let used = self.ranges().map(move |range| (range, usize::from(self.used(range).get())));
        used.filter(|&(_, used)| used != 0).map(move |(range, used)| {
            (self.address + numbers(range).start * self.size, used * self.size)
        })
    }

    /// The numbers that were ever given out.
    fn given_out(self) -> impl Iterator<Item = usize> + Clone {
        self.ranges().flat_map(move |range| {
            let first = numbers(range).start;
            first..first + usize::from(self.used(range).get())
        })
    }

    /// The ranges of those that have numbers.
    fn ranges(self) -> impl Iterator<Item = usize> + Clone {
        (0..self.threads).chain(MAX_THREADS..MAX_THREADS + self.threads)
    }
}

/// The parts of the table of descriptors that a snapshot holds, as address and length.
pub(crate) fn spans() -> impl Iterator<Item = (usize, usize)> {
    slots().spans()
}

/// The parts of the table of objects that a snapshot holds, as address and length.
pub(crate) fn object_spans() -> impl Iterator<Item = (usize, usize)> {
    objects().spans()
}

/// The numbers of all objects that there are or were.
pub(crate) fn object_numbers() -> impl Iterator<Item = usize> + Clone {
    objects().given_out()
}

/// The process of the thread that made an object.
pub(crate) fn maker(object: usize) -> usize {
    multi_process::owner((range_of(object) % MAX_THREADS) as u16)
}

/// Closes what is open on objects.
pub(crate) fn close_objects() {
    for number in slots().given_out() {
        if get(number as i32).is_some_and(|open| open.get().kind == Kind::Object) {
            close(number as i32);
        }
    }
}

/// Closes descriptors of objects at once, even if they are in use.
pub(crate) fn drop_objects() {
    for number in slots().given_out() {
        let open = &slot(number).open;
        if open.get().kind == Kind::Object {
            open.set(Open { references: 1, ..open.get() });
            release(number);
        }
    }
}

/// Puts back which descriptors of this process were given out.
pub(crate) fn restore_used(used: &[Cell<u16>; RANGES]) {
    for range in slots().ranges() {
        slots().used(range).set(used[range].get());
    }
}

/// Writes down which descriptors of this process were given out.
pub(crate) fn keep_used(used: &[Cell<u16>; RANGES]) {
    for range in slots().ranges() {
        used[range].set(slots().used(range).get());
    }
}

/// Everything that is open.
pub(crate) fn all_open() -> impl Iterator<Item = &'static Cell<Open>> {
    let open = slots().given_out().map(|number| &slot(number).open);
    open.filter(|open| open.get().kind != Kind::Closed)
}

/// A number for a new object; none if the thread has too many.
pub(crate) fn free_object() -> Option<usize> {
    let number = objects().lowest(0, |number| net::object(number).is_free())?;
    let owners = &state().object_owners;
    owners.set(owners.get().max(state().current.get() + 1));
    net::object(number).clear();
    Some(number)
}

/// Marks that an object was freed: see the module's documentation.
pub(crate) fn object_is_free(number: usize) {
    net::object(number).retire(!objects().is_own(number));
}

/// Opens the three standard streams.
pub(crate) fn open_standard_streams() {
    for (kind, index) in [(Kind::Empty, 0), (Kind::Stream, 1), (Kind::Stream, 2)] {
        open(Open { kind, index, flags: 2, ..Open::default() });
    }
}

/// Gives a descriptor to something newly opened.
pub(crate) fn open(open: Open) -> isize {
    let description = slots().lowest(0, |number| {
        let slot = slot(number);
        slot.open.get().kind == Kind::Closed && !slot.retired_open.get()
    });
    let (Some(description), Some(descriptor)) = (description, free_descriptor(0)) else {
        return too_many();
    };
    renew(descriptor);
    let flags = open.flags & !(files::OPENING | CLOSE_ON_EXEC);
    slot(description).open.set(Open { references: 1, flags, ..open });
    slot(descriptor).descriptor.set(description as u16 + 1);
    slot(descriptor).close_on_exec.set(open.flags & CLOSE_ON_EXEC != 0);
    descriptor as isize
}

fn free_descriptor(from: usize) -> Option<usize> {
    slots().lowest(from, |number| {
        let slot = slot(number);
        slot.descriptor.get() == 0 && !slot.retired_descriptor.get()
    })
}

/// No number is left: the kernel would say so too if none were retired.
fn too_many() -> isize {
    let is_retired = |number| slots().is_own(number) && slot(number).retired_descriptor.get();
    if slots().given_out().any(is_retired) {
        stop!("a thread opens more than {FAR} descriptors that other threads close");
    }
    -(errno::EMFILE as isize)
}

/// The number of what a descriptor is open on.
pub(crate) fn description(descriptor: i32) -> Option<usize> {
    let number = usize::try_from(descriptor).ok().filter(|&number| number < LIMIT)?;
    if !slots().is_given_out(number) {
        return None;
    }
    usize::from(slot(number).descriptor.get()).checked_sub(1)
}

/// What a descriptor is open on.
pub(crate) fn get(descriptor: i32) -> Option<&'static Cell<Open>> {
    description(descriptor).map(|number| &slot(number).open)
}

/// What is open under a number that `description` gave.
pub(crate) fn opened(description: usize) -> &'static Cell<Open> {
    &slot(description).open
}

/// Whether a descriptor is open.
pub(crate) fn is_open(descriptor: i32) -> bool {
    get(descriptor).is_some()
}

/// What a descriptor is open on, for a call that is a step by itself if it is.
///
/// That it is closed may be the doing of another thread: then it is a step to see that.
/// And so it may be that it is open on something else than before.
pub(crate) fn found(descriptor: i32) -> Option<&'static Cell<Open>> {
    match get(descriptor) {
        None if was_given_out(descriptor) => {
            point(Operation::DescriptorUse(DescriptorUse::Closed), objects::descriptor(descriptor));
        }
        Some(_) if is_renewed_by_another(descriptor) => {
            point(Operation::DescriptorUse(DescriptorUse::Other), objects::descriptor(descriptor));
        }
        _ => {}
    }
    get(descriptor)
}

fn is_renewed_by_another(descriptor: i32) -> bool {
    let by = slot(descriptor as usize).renewed_by.get();
    by != 0 && by != state().current.get() + 1
}

/// The number of that.
pub(crate) fn found_description(descriptor: i32) -> Result<usize, i32> {
    found(descriptor).and_then(|_| description(descriptor)).ok_or(errno::EBADF)
}

/// What a descriptor is open on, for a call that is no step otherwise: another thread may close it
/// before or after. Nobody closes the standard streams and devices while others use them.
pub(crate) fn used(descriptor: i32) -> Option<&'static Cell<Open>> {
    let open = found(descriptor)?.get();
    let found = match open.kind {
        Kind::Object => DescriptorUse::Socket(net::touches(usize::from(open.index))),
        Kind::Host | Kind::Written => DescriptorUse::Other,
        _ => return get(descriptor),
    };
    point(Operation::DescriptorUse(found), objects::descriptor(descriptor));
    get(descriptor)
}

/// The same for a call that changes where the next bytes of a file are read.
pub(crate) fn moved(descriptor: i32) -> Option<&'static Cell<Open>> {
    found(descriptor)?;
    let offset = objects::offset(description(descriptor)?);
    point(Operation::DescriptorMove(offset), objects::descriptor(descriptor));
    get(descriptor)
}

fn was_given_out(descriptor: i32) -> bool {
    usize::try_from(descriptor).is_ok_and(|number| number < LIMIT && slots().is_given_out(number))
}

/// The object that a descriptor is open on, by number, for a call.
pub(crate) fn object(descriptor: i32) -> Result<usize, i32> {
    found(descriptor);
    object_now(descriptor)
}

/// The same for who only looks: also while a thread is chosen, when no step can be taken.
pub(crate) fn object_now(descriptor: i32) -> Result<usize, i32> {
    match get(descriptor).map(Cell::get) {
        Some(open) if open.kind == Kind::Object => Ok(usize::from(open.index)),
        Some(_) => Err(errno::ENOTSOCK),
        None => Err(errno::EBADF),
    }
}

/// Does what the system call does.
pub(crate) fn close(descriptor: i32) -> isize {
    let Some(open) = found(descriptor) else { return -(errno::EBADF as isize) };
    match open.get().kind {
        Kind::Object => net::before_close(usize::from(open.get().index)),
        Kind::Written => replace(descriptor, FileEffect::Visible),
        _ if open.get().lock != 0 => replace(descriptor, FileEffect::Visible),
        _ => replace(descriptor, FileEffect::None),
    }
    // Others may have closed it meanwhile.
    let Some(description) = description(descriptor) else { return -(errno::EBADF as isize) };
    let number = descriptor as usize;
    slot(number).descriptor.set(0);
    slot(number).retired_descriptor.set(!slots().is_own(number));
    release(description);
    0
}

/// The scheduling point before a descriptor is opened again: others may know its number.
fn renew(number: usize) {
    let slot = slot(number);
    if slot.was_open.replace(true) {
        replace(number as i32, FileEffect::None);
        slot.renewed_by.set(state().current.get() + 1);
    }
}

/// The scheduling point before what a descriptor is open on changes.
fn replace(descriptor: i32, effect: FileEffect) {
    point(Operation::DescriptorClose(effect), objects::descriptor(descriptor));
}

/// Keeps an object open while a call uses it, even if its descriptors are closed.
pub(crate) fn hold(description: usize) {
    let slot = &slot(description).open;
    slot.set(Open { references: slot.get().references + 1, ..slot.get() });
}

/// Gives up a reference to something open.
pub(crate) fn release(description: usize) {
    let number = description;
    let slot = slot(number);
    let open = slot.open.get();
    if open.references > 1 {
        slot.open.set(Open { references: open.references - 1, ..open });
        return;
    }
    slot.open.set(Open::default());
    slot.retired_open.set(!slots().is_own(number));
    if open.lock != 0 {
        files::flock::given_back();
    }
    match open.kind {
        Kind::Written => files::forget_unused(usize::from(open.index)),
        Kind::Object => net::close(usize::from(open.index), number),
        _ => {}
    }
}

/// Does what the system calls do: the lowest free descriptor from `from` on, or exactly `exactly`.
pub(crate) fn duplicate(descriptor: i32, from: usize, exactly: Option<usize>) -> isize {
    if used(descriptor).is_none() {
        return -(errno::EBADF as isize);
    }
    let target = match exactly {
        Some(target) if target >= LIMIT => return -(errno::EBADF as isize),
        Some(target) if target == descriptor as usize => return target as isize,
        Some(target) => {
            slots().give_out(target);
            renew(target);
            // From here on, nobody sees it closed.
            if is_open(target as i32) {
                close(target as i32);
            }
            Some(target)
        }
        None => free_descriptor(from).inspect(|&target| renew(target)),
    };
    let Some(target) = target else { return too_many() };
    let Some(held) = description(descriptor) else { return -(errno::EBADF as isize) };
    hold(held);
    slot(target).descriptor.set(held as u16 + 1);
    slot(target).close_on_exec.set(false);
    target as isize
}

/// Does what the system call does.
pub(crate) fn control(descriptor: i32, command: i32, argument: usize) -> isize {
    const GET_LOCK: i32 = 5;
    const UNLOCKED: i16 = 2;
    let Some(open) = used(descriptor) else { return -(errno::EBADF as isize) };
    let close_on_exec = |descriptor: isize| &slot(descriptor as usize).close_on_exec;
    match command {
        0 => duplicate(descriptor, argument, None),
        1030 => {
            let copy = duplicate(descriptor, argument, None);
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
            net::before_mode(open.get(), flags);
            open.set(Open { append, flags, ..open.get() });
            0
        }
        // A process never excludes itself.
        GET_LOCK => {
            store(argument, UNLOCKED);
            0
        }
        6 | 7 => 0,
        36..=38 => {
            stop!("fcntl(F_OFD_SETLK) is not modelled")
        }
        // The size of a pipe.
        1032 if open.get().kind == Kind::Object => net::PIPE_CAPACITY as isize,
        _ => -(errno::EINVAL as isize),
    }
}
