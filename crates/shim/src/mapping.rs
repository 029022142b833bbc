//! `mmap` and its kin at run time: mappings come from the program's heap.

use crate::fail::stop;
use crate::heap;
use crate::libc::result;
use crate::memory::{copy, round_up, zero};
use crate::sys::{errno, number, sys};
use everypath_shim_abi::address_space::PAGE;

const ANONYMOUS: i32 = 0x20;
const FIXED: i32 = 0x10;
const SHARED: i32 = 0x01;
const WRITABLE: i32 = 2;
const EXECUTABLE: i32 = 4;
const MAY_MOVE: i32 = 1;

/// The arguments of `mmap`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) address: usize,
    pub(crate) length: usize,
    pub(crate) protection: i32,
    pub(crate) flags: i32,
    pub(crate) descriptor: i32,
    pub(crate) offset: usize,
}

/// Does what the system call does.
pub(crate) fn map(request: Request) -> isize {
    let Request { address, length, protection, flags, descriptor, offset } = request;
    if !crate::controller::is_running() {
        return sys!(number::MMAP, address, length, protection, flags, descriptor, offset);
    }
    if length == 0 {
        return -(errno::EINVAL as isize);
    }
    if protection & EXECUTABLE != 0 {
        stop!("mmap(PROT_EXEC) is not modelled: code generated at run time is not patched");
    }
    let length = round_up(length, PAGE);
    let anonymous = flags & ANONYMOUS != 0;
    // A read-only mapping of a file that does not change may as well be private.
    let is_constant = protection & WRITABLE == 0 && crate::files::is_of_machine(descriptor);
    if flags & SHARED != 0 && !anonymous && !is_constant {
        stop!("mmap(MAP_SHARED) of a file is not modelled");
    }
    let target = if flags & FIXED == 0 {
        heap::allocate_mapping(length)
    } else if heap::holds(address) {
        zero(address, length);
        address
    } else {
        stop!("mmap(MAP_FIXED) outside the program's own mappings is not modelled");
    };
    if target == 0 {
        return -(errno::ENOMEM as isize);
    }
    if !anonymous {
        let _ = crate::descriptors::used(descriptor);
        match crate::files::contents(descriptor) {
            Some((start, size)) => {
                copy(target, start + offset.min(size), length.min(size.saturating_sub(offset)));
            }
            // Memory of zeros is what was allocated.
            None if crate::files::is_zeros(descriptor) => {}
            None if crate::descriptors::is_open(descriptor) => return -(errno::ENODEV as isize),
            None => return -(errno::EBADF as isize),
        }
    }
    target as isize
}

/// Does what the system call does. What is unmapped in part stays reserved, cleared.
pub(crate) fn unmap(address: usize, length: usize) -> isize {
    if !address.is_multiple_of(PAGE) || length == 0 {
        return -(errno::EINVAL as isize);
    }
    let length = round_up(length, PAGE);
    if heap::holds(address) {
        heap::release_mapping(address, length);
        return 0;
    }
    if crate::controller::is_running() {
        stop!("munmap of memory that was mapped before main is not modelled");
    }
    sys!(number::MUNMAP, address, length)
}

/// Does what the system call does.
pub(crate) fn remap(address: usize, old: usize, new: usize, flags: i32) -> isize {
    if !heap::holds(address) || flags & !MAY_MOVE != 0 {
        stop!("mremap with these arguments is not modelled");
    }
    let (old, new) = (round_up(old, PAGE), round_up(new, PAGE));
    if new == 0 || !address.is_multiple_of(PAGE) {
        return -(errno::EINVAL as isize);
    }
    if new <= old {
        heap::shorten_mapping(address, old, new);
        return address as isize;
    }
    let target = if flags & MAY_MOVE == 0 { 0 } else { heap::allocate_mapping(new) };
    if target == 0 {
        return -(errno::ENOMEM as isize);
    }
    copy(target, address, old);
    heap::release_mapping(address, old);
    target as isize
}

/// Does what the system call does: the heap stays readable and writable.
pub(crate) fn protect(address: usize, length: usize, protection: i32) -> isize {
    if protection & EXECUTABLE != 0 && crate::controller::is_running() {
        stop!("mprotect(PROT_EXEC) is not modelled: code generated at run time is not patched");
    }
    if heap::holds(address) || crate::controller::is_running() {
        return 0;
    }
    sys!(number::MPROTECT, address, length, protection)
}

/// Does what the system call does.
pub(crate) fn advise(address: usize, length: usize, advice: i32) -> isize {
    const DONT_NEED: i32 = 4;
    if advice == DONT_NEED && heap::holds(address) {
        zero(address, length);
    }
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn mmap(
    address: usize,
    length: usize,
    protection: i32,
    flags: i32,
    descriptor: i32,
    offset: usize,
) -> isize {
    result(map(Request { address, length, protection, flags, descriptor, offset }))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn mmap64(
    address: usize,
    length: usize,
    protection: i32,
    flags: i32,
    descriptor: i32,
    offset: usize,
) -> isize {
    result(map(Request { address, length, protection, flags, descriptor, offset }))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn munmap(address: usize, length: usize) -> i32 {
    result(unmap(address, length)) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn mprotect(address: usize, length: usize, protection: i32) -> i32 {
    result(protect(address, length, protection)) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn madvise(address: usize, length: usize, advice: i32) -> i32 {
    result(advise(address, length, advice)) as i32
}
