//! Who the program is.

use super::Handlers;
use crate::credentials::{
    EFFECTIVE, GROUP, USER, become_all, become_one, become_real, capabilities, get_priority,
    identity, own, set_groups, set_priority, tell,
};
use crate::state::first_tid;
use crate::sys::{errno, number};

pub(super) const HANDLERS: Handlers = &[
    (number::GETUID, |_, _| Ok(identity(USER)[0] as isize)),
    (number::GETEUID, |_, _| Ok(identity(USER)[EFFECTIVE] as isize)),
    (number::GETGID, |_, _| Ok(identity(GROUP)[0] as isize)),
    (number::GETEGID, |_, _| Ok(identity(GROUP)[EFFECTIVE] as isize)),
    (number::GETRESUID, |_, [a, b, c, ..]| tell(USER, [a, b, c])),
    (number::GETRESGID, |_, [a, b, c, ..]| tell(GROUP, [a, b, c])),
    (number::SETUID, |_, [a, ..]| become_one(USER, a as u32)),
    (number::SETGID, |_, [a, ..]| become_one(GROUP, a as u32)),
    (number::SETREUID, |_, [a, b, ..]| become_real(USER, a as u32, b as u32)),
    (number::SETREGID, |_, [a, b, ..]| become_real(GROUP, a as u32, b as u32)),
    (number::SETRESUID, |_, [a, b, c, ..]| become_all(USER, [a, b, c])),
    (number::SETRESGID, |_, [a, b, c, ..]| become_all(GROUP, [a, b, c])),
    (number::SETGROUPS, |_, [a, b, ..]| set_groups(a, b)),
    (number::CAPGET, |_, [a, b, ..]| capabilities(number::CAPGET, a, b)),
    (number::CAPSET, |_, [a, b, ..]| capabilities(number::CAPSET, a, b)),
    // It leads its group, as what a shell starts does, so it cannot begin a session.
    (number::SETSID, |_, _| Err(errno::EPERM)),
    (number::GETSID, |_, [a, ..]| own(a).map(|()| first_tid() as isize - 1)),
    (number::GETPGID, |_, [a, ..]| own(a).map(|()| first_tid() as isize)),
    (number::SETPGID, |_, [a, b, ..]| own(a).and_then(|()| own(b)).map(|()| 0)),
    (number::GETPRIORITY, |_, [a, b, ..]| get_priority(a, b)),
    (number::SETPRIORITY, |_, [a, b, c, ..]| set_priority(a, b, c as i32)),
];
