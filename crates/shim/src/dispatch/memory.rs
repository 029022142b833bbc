//! Mappings.

use super::Handlers;
use crate::fail::stop;
use crate::mapping;
use crate::sys::{answer, errno, number};
use everypath_shim_abi::address_space::PAGE;

pub(super) const HANDLERS: Handlers = &[
    (number::MMAP, |_, [a, b, c, d, e, f]| {
        answer(mapping::map(mapping::Request {
            address: a,
            length: b,
            protection: c as i32,
            flags: d as i32,
            descriptor: e as i32,
            offset: f,
        }))
    }),
    (number::MUNMAP, |_, [a, b, ..]| answer(mapping::unmap(a, b))),
    (number::MREMAP, |_, [a, b, c, d, ..]| answer(mapping::remap(a, b, c, d as i32))),
    (number::MPROTECT, |_, [a, b, c, ..]| answer(mapping::protect(a, b, c as i32))),
    (number::MADVISE, |_, [a, b, c, ..]| answer(mapping::advise(a, b, c as i32))),
    // The mapping is the file.
    (number::MSYNC, |_, [a, ..]| if a % PAGE == 0 { Ok(0) } else { Err(errno::EINVAL) }),
    // As on a processor without protection keys.
    (number::PKEY_ALLOC, |_, _| Err(errno::ENOSPC)),
    (number::PKEY_FREE, |_, _| Err(errno::EINVAL)),
    (number::PKEY_MPROTECT, |_, [a, b, c, key, ..]| match key as i32 {
        -1 => answer(mapping::protect(a, b, c as i32)),
        _ => Err(errno::EINVAL),
    }),
    // As on a kernel that was built without it: programs fall back to what they did before.
    (number::IO_URING_SETUP, |_, _| Err(errno::ENOSYS)),
    (number::BRK, |_, _| stop!("brk is not modelled: memory comes from mappings")),
    (number::MLOCK, |_, _| Ok(0)),
    (number::MLOCK2, |_, _| Ok(0)),
    (number::MUNLOCK, |_, _| Ok(0)),
    (number::MLOCKALL, |_, _| Ok(0)),
    (number::MUNLOCKALL, |_, _| Ok(0)),
];
