//! What steps of this process work on, as all processes know it.

use crate::multi_process;
use everypath_shim_abi::Object;

fn process() -> u8 {
    multi_process::process() as u8
}

/// A lock, a word or a thread handle in this process's memory.
pub(crate) fn memory(address: usize) -> Object {
    Object::memory(process(), address as u64)
}

/// Bytes that an instruction accesses.
pub(crate) fn bytes(address: usize, length: usize) -> Object {
    Object::bytes(process(), address as u64, length as u64)
}

/// An open file, by its number.
pub(crate) fn file(number: u16) -> Object {
    Object::file(process(), u32::from(number) + 1)
}

/// Files by their paths.
pub(crate) fn paths() -> Object {
    Object::file(process(), 0)
}

/// Standard output or standard error, by descriptor.
pub(crate) fn stream(number: usize) -> Object {
    Object::stream(process(), number as u8)
}

/// This process as a whole.
pub(crate) fn whole_process() -> Object {
    Object::process(process())
}

/// The address of an object in this process's memory.
pub(crate) fn address(object: Object) -> usize {
    object.memory_address() as usize
}
