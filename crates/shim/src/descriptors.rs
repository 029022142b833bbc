//! The descriptor table of this process: see `everypath-vkernel`.

use crate::worker::KERNEL;
use core::cell::Cell;
use everypath_vkernel::fd_table;

pub(crate) use fd_table::{ACCESS_MODE, APPEND, CLOSE_ON_EXEC, Kind, LIMIT, Open, RANGES};

/// Everything that is open.
pub(crate) fn all_open() -> impl Iterator<Item = &'static Cell<Open>> {
    fd_table::all_open(KERNEL)
}

/// Gives a descriptor to something newly opened.
pub(crate) fn open(open: Open) -> isize {
    fd_table::open(KERNEL, open)
}

/// Opens the three standard streams.
pub(crate) fn open_standard_streams() {
    fd_table::open_standard_streams(KERNEL);
}

/// What a descriptor is open on.
pub(crate) fn get(descriptor: i32) -> Option<&'static Cell<Open>> {
    fd_table::get(KERNEL, descriptor)
}

/// Whether a descriptor is open.
pub(crate) fn is_open(descriptor: i32) -> bool {
    get(descriptor).is_some()
}

/// The same for a call that is a step by itself if it is open.
pub(crate) fn found(descriptor: i32) -> Option<&'static Cell<Open>> {
    fd_table::found(KERNEL, descriptor)
}

/// The same for a call that is no step otherwise.
pub(crate) fn used(descriptor: i32) -> Option<&'static Cell<Open>> {
    fd_table::used(KERNEL, descriptor)
}

/// The same for a call that changes where the next bytes of a file are read.
pub(crate) fn moved(descriptor: i32) -> Option<&'static Cell<Open>> {
    fd_table::moved(KERNEL, descriptor)
}

/// Does what the system call does.
pub(crate) fn close(descriptor: i32) -> isize {
    fd_table::close(KERNEL, descriptor)
}

/// Does what the system calls do: the lowest free descriptor from `from` on, or exactly `exactly`.
pub(crate) fn duplicate(descriptor: i32, from: usize, exactly: Option<usize>) -> isize {
    fd_table::duplicate(KERNEL, descriptor, from, exactly)
}

/// Does what the system call does.
pub(crate) fn control(descriptor: i32, command: i32, argument: usize) -> isize {
    fd_table::control(KERNEL, descriptor, command, argument)
}

/// Closes what is open on objects.
pub(crate) fn close_objects() {
    fd_table::close_objects(KERNEL);
}

/// Closes descriptors of objects at once, even if they are in use.
pub(crate) fn drop_objects() {
    fd_table::drop_objects(KERNEL);
}

/// Puts back which descriptors of this process were given out.
pub(crate) fn restore_used(used: &[Cell<u16>; RANGES]) {
    fd_table::restore_used(KERNEL, used);
}

/// Writes down which descriptors of this process were given out.
pub(crate) fn keep_used(used: &[Cell<u16>; RANGES]) {
    fd_table::keep_used(KERNEL, used);
}
