//! Mappings.

use super::Handlers;
use crate::fail::stop;
use crate::mapping;
use crate::sys::{answer, number};

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
    (number::BRK, |_, _| stop!("brk is not modelled: memory comes from mappings")),
    (number::MLOCK, |_, _| Ok(0)),
    (number::MLOCK2, |_, _| Ok(0)),
    (number::MUNLOCK, |_, _| Ok(0)),
    (number::MLOCKALL, |_, _| Ok(0)),
    (number::MUNLOCKALL, |_, _| Ok(0)),
];
