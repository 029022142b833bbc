//! Locks and offsets of open files.

use crate::calls::{Call::*, same};
use crate::machine::{Machine, WaitsForEver};
use everypath_vkernel::errno;
use everypath_vkernel::fd_table::{self, Kind, Open};
use everypath_vkernel::flock::flock;
use everypath_vkernel::lseek::lseek;
use std::panic::{AssertUnwindSafe, catch_unwind};

same! {
    readers_share_a_lock: [File, Again(0), Lock(0, 1), Lock(1, 1), Lock(1, 2), Lock(0, 2)];
    a_writer_excludes_all_others: [File, Again(0), Lock(0, 2), Lock(1, 1), Lock(1, 2), Lock(0, 2)];
    a_lock_is_released: [File, Again(0), Lock(0, 2), Lock(0, 8), Lock(1, 2), Lock(0, 8)];
    a_lock_belongs_to_what_is_open: [File, Again(0), Dup(0), Lock(0, 2), Lock(2, 2), Lock(2, 8),
        Lock(1, 2)];
    the_last_descriptor_releases: [File, Again(0), Dup(0), Lock(0, 2), Close(0), Lock(1, 2),
        Close(2), Lock(1, 2)];
    files_are_locked_apart: [File, File, Lock(0, 2), Lock(1, 2)];
    a_vain_change_gives_up_the_lock: [File, Again(0), Again(0), Lock(0, 1), Lock(1, 1), Lock(0, 2),
        Lock(1, 8), Lock(2, 2)];
    a_closed_descriptor_is_not_locked: [File, Close(0), Lock(0, 1), Seek(0, 0, 0)];
    offsets: [File, Seek(0, 7, 0), Seek(0, 3, 1), Seek(0, -11, 1), Seek(0, -10, 2), Seek(0, 9, 2),
        Seek(0, 0, 1)];
    holes: [File, Seek(0, 7, 3), Seek(0, 7, 4), Seek(0, 100, 3), Seek(0, 100, 4), Seek(0, 99, 3)];
    an_offset_belongs_to_what_is_open: [File, Again(0), Dup(0), Seek(0, 7, 0), Seek(1, 0, 1),
        Seek(2, 0, 1)];
    pipes_have_no_offset: [Pipe, Seek(0, 0, 1), Seek(1, 5, 0)];
    sockets_have_no_offset: [Tcp, Seek(0, 0, 1)];
}

const EXCLUSIVE: i32 = 2;
const UNLOCK: i32 = 8;

/// The same file, opened twice.
fn opened_twice(machine: &Machine) -> [i32; 2] {
    let open = Open { kind: Kind::Written, index: 3, flags: 2, ..Open::default() };
    [(); 2].map(|()| fd_table::open(machine, open) as i32)
}

#[test]
fn who_wants_a_lock_waits_until_it_is_released() {
    let machine = Machine::new();
    let [one, other] = opened_twice(&machine);
    assert_eq!(flock(&machine, one, EXCLUSIVE), Ok(0));
    machine.spawn(1, move |machine| assert_eq!(flock(machine, one, UNLOCK), Ok(0)));
    assert_eq!(flock(&machine, other, EXCLUSIVE), Ok(0));
}

#[test]
fn who_wants_a_lock_waits_until_its_owner_is_closed() {
    let machine = Machine::new();
    let [one, other] = opened_twice(&machine);
    assert_eq!(flock(&machine, one, EXCLUSIVE), Ok(0));
    machine.spawn(1, move |machine| assert_eq!(fd_table::close(machine, one), 0));
    assert_eq!(flock(&machine, other, EXCLUSIVE), Ok(0));
}

#[test]
fn a_lock_that_nobody_releases_is_awaited_for_ever() {
    let machine = Machine::new();
    let [one, other] = opened_twice(&machine);
    assert_eq!(flock(&machine, one, EXCLUSIVE), Ok(0));
    let ended = catch_unwind(AssertUnwindSafe(|| flock(&machine, other, EXCLUSIVE)));
    assert_eq!(ended.unwrap_err().downcast_ref(), Some(&WaitsForEver));
}

#[test]
fn what_is_no_kind_of_lock_is_refused() {
    let machine = Machine::new();
    let [one, _] = opened_twice(&machine);
    for how in [0, 3, 4, 16] {
        assert_eq!(flock(&machine, one, how), Err(errno::EINVAL), "{how}");
    }
    assert_eq!(lseek(&machine, one, 0, 5), Err(errno::EINVAL));
}
