//! Where the tables of the kernel lie.

use everypath_shim_abi::address_space::{BUFFERS, DESCRIPTORS, OBJECTS, SLOTS};
use everypath_vkernel::buffer::CAPACITY;
use everypath_vkernel::fd_table::LIMIT;
use everypath_vkernel::{Object, Slot};

/// How many bytes the tables of descriptors and of objects have, and all buffers together.
pub(crate) const SLOTS_LENGTH: usize = LIMIT * size_of::<Slot>();
pub(crate) const OBJECTS_LENGTH: usize = LIMIT * size_of::<Object>();
pub(crate) const BUFFERS_LENGTH: usize = LIMIT * CAPACITY;
const _: () = assert!(SLOTS_LENGTH <= BUFFERS - DESCRIPTORS, "descriptors overlap the buffers");
const _: () = assert!(BUFFERS_LENGTH <= OBJECTS - BUFFERS, "buffers overlap the objects");
const _: () = assert!(OBJECTS_LENGTH <= SLOTS - OBJECTS, "objects overlap the stacks");

/// Where an object is.
pub(crate) fn object_at(number: usize) -> usize {
    OBJECTS + (number % LIMIT) * size_of::<Object>()
}

/// Where a slot is.
pub(crate) fn slot_at(number: usize) -> usize {
    DESCRIPTORS + (number % LIMIT) * size_of::<Slot>()
}
