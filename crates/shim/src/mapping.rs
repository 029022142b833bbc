//! `mmap` and its kin at run time: mappings come from the program's heap, and what the program does to
//! their protection the kernel does ([`protection`]).

use crate::fail::stop;
use crate::heap;
use crate::libc::result;
use crate::memory::{copy, round_up, zero};
use crate::multi_process;
use crate::protection;
use crate::sys::{errno, number, returned, sys};
use everypath_shim_abi::address_space::PAGE;

const ANONYMOUS: i32 = 0x20;
const FIXED: i32 = 0x10;
const SHARED: i32 = 0x01;
const READABLE: i32 = 1;
const WRITABLE: i32 = 2;
const EXECUTABLE: i32 = 4;
const ALL: i32 = READABLE | WRITABLE | EXECUTABLE;
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
    let Request { address, length, protection: access, flags, descriptor, offset } = request;
    if !crate::ending::is_running() {
        return sys!(number::MMAP, address, length, access, flags, descriptor, offset);
    }
    if length == 0 {
        return -(errno::EINVAL as isize);
    }
    if access & EXECUTABLE != 0 {
        if flags & ANONYMOUS == 0
            && let Some(path) = crate::files::path_of_library(descriptor)
        {
            crate::libraries::is_mapped(path);
        }
        if flags & ANONYMOUS == 0 || flags & FIXED != 0 {
            stop!("mmap(PROT_EXEC) of a file, or at a fixed address, is not modelled");
        }
        multi_process::note_generated_code();
    }
    let length = round_up(length, PAGE);
    let anonymous = flags & ANONYMOUS != 0;
    // A read-only mapping of a file that does not change may as well be private.
    let is_constant = access & WRITABLE == 0 && crate::files::is_of_machine(descriptor);
    if flags & SHARED != 0 && !anonymous && !is_constant && !crate::files::is_zeros(descriptor) {
        if flags & FIXED != 0 {
            stop!("mmap(MAP_SHARED | MAP_FIXED) of a file is not modelled");
        }
        if multi_process::is_one_of_several() {
            stop!("mmap(MAP_SHARED) of a file is not modelled in a closed system");
        }
        if !offset.is_multiple_of(PAGE) {
            return -(errno::EINVAL as isize);
        }
        let is_writable = access & WRITABLE != 0;
        return returned(crate::files::map_shared(descriptor, (offset, length), is_writable));
    }
    let target = if flags & FIXED == 0 {
        heap::allocate_mapping(length)
    } else if protection::is_used_heap(address, length) {
        set_access(address, length, protection::READ_WRITE);
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
    if access & WRITABLE == 0 || access & EXECUTABLE != 0 {
        set_access(target, length, (access & ALL) as usize);
    }
    target as isize
}

/// Protects pages, or ends control: an error that the kernel would not give must not be seen.
fn set_access(address: usize, length: usize, access: usize) {
    if !protection::set(address, length, access) {
        stop!("too many ranges of pages that are protected or unmapped are not modelled");
    }
}

/// Does what the system call does. What is unmapped in part stays reserved.
pub(crate) fn unmap(address: usize, length: usize) -> isize {
    if !address.is_multiple_of(PAGE) || length == 0 {
        return -(errno::EINVAL as isize);
    }
    let length = round_up(length, PAGE);
    if protection::holds(address) {
        if crate::files::is_shared_mapping(address, length) {
            return 0;
        }
        if protection::is_used_heap(address, length) {
            set_access(address, length, protection::READ_WRITE);
            heap::release_mapping(address, length);
            set_access(address, length, protection::UNMAPPED);
        }
        return 0;
    }
    if crate::ending::is_running() {
        stop!("munmap of memory that was mapped before main is not modelled");
    }
    sys!(number::MUNMAP, address, length)
}

/// Does what the system call does.
pub(crate) fn remap(address: usize, old: usize, new: usize, flags: i32) -> isize {
    if !protection::holds(address) || flags & !MAY_MOVE != 0 {
        stop!("mremap with these arguments is not modelled");
    }
    if crate::files::is_shared_mapping(address, old) {
        stop!("mremap of a file that is mapped with MAP_SHARED is not modelled");
    }
    let (old, new) = (round_up(old, PAGE), round_up(new, PAGE));
    if new == 0 || !address.is_multiple_of(PAGE) {
        return -(errno::EINVAL as isize);
    }
    if !protection::is_used_heap(address, old) || protection::is_unmapped(address, old) {
        return -(errno::EFAULT as isize);
    }
    if new <= old {
        if new < old {
            set_access(address + new, old - new, protection::READ_WRITE);
            heap::shorten_mapping(address, old, new);
            set_access(address + new, old - new, protection::UNMAPPED);
        }
        return address as isize;
    }
    let target = if flags & MAY_MOVE == 0 { 0 } else { heap::allocate_mapping(new) };
    if target == 0 {
        return -(errno::ENOMEM as isize);
    }
    protection::lifted_at(address, old, || copy(target, address, old));
    unmap(address, old);
    target as isize
}

/// Does what the system call does.
pub(crate) fn protect(address: usize, length: usize, access: i32) -> isize {
    if !crate::ending::is_running() {
        return sys!(number::MPROTECT, address, length, access);
    }
    if access & EXECUTABLE != 0 && !protection::holds(address) {
        stop!("mprotect(PROT_EXEC) of memory that was mapped before main is not modelled");
    }
    if access & EXECUTABLE != 0 {
        multi_process::note_generated_code();
    }
    if protection::holds(address) && crate::files::is_shared_mapping(address, length) {
        stop!("mprotect of a file that is mapped with MAP_SHARED is not modelled");
    }
    if access & !ALL != 0 {
        stop!("mprotect with the protection {access:#x} is not modelled");
    }
    if !address.is_multiple_of(PAGE) {
        return -(errno::EINVAL as isize);
    }
    let length = round_up(length, PAGE);
    if length == 0 {
        return 0;
    }
    let is_mapped = !protection::holds(address) || protection::is_used_heap(address, length);
    if !is_mapped || protection::is_unmapped(address, length) {
        return -(errno::ENOMEM as isize);
    }
    if protection::is_restored(address, length) {
        set_access(address, length, access as usize);
    } else if access != READABLE {
        stop!("mprotect of memory that is not writable at the start of main is not modelled");
    }
    0
}

/// Does what the system call does.
pub(crate) fn advise(address: usize, length: usize, advice: i32) -> isize {
    const DONT_NEED: i32 = 4;
    let is_shared = || crate::files::is_shared_mapping(address, length);
    if advice == DONT_NEED && protection::is_used_heap(address, length) && !is_shared() {
        protection::lifted_at(address, length, || zero(address, length));
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
extern "C" fn mprotect(address: usize, length: usize, access: i32) -> i32 {
    result(protect(address, length, access)) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn madvise(address: usize, length: usize, advice: i32) -> i32 {
    result(advise(address, length, advice)) as i32
}
