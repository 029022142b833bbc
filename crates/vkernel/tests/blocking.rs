//! Calls that wait, and who wakes them.

use crate::machine::{Machine, WaitsForEver};
use everypath_vkernel::host::{Memory, Scheduler};
use everypath_vkernel::syscalls::{self, answer};
use everypath_vkernel::{errno, fd_table};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn pipe(machine: &Machine) -> (i32, i32) {
    let at = machine.map(&[0; 8]);
    assert_eq!(answer(|| syscalls::pipe2(machine, at, 0)), 0);
    let [reader, writer]: [i32; 2] = machine.load(at).unwrap();
    (reader, writer)
}

fn read(machine: &Machine, descriptor: i32, length: usize) -> Result<Vec<u8>, i32> {
    let at = machine.map(&vec![0; length]);
    match answer(|| syscalls::read(machine, descriptor, at, length)) {
        count @ 0.. => Ok(machine.bytes(at, count as usize)),
        error => Err(-error as i32),
    }
}

fn write(machine: &Machine, descriptor: i32, bytes: &[u8]) -> isize {
    let at = machine.map(bytes);
    answer(|| syscalls::write(machine, descriptor, at, bytes.len()))
}

fn waits_for_ever(call: impl FnOnce()) -> bool {
    let ended = catch_unwind(AssertUnwindSafe(call));
    ended.is_err_and(|why| why.downcast_ref() == Some(&WaitsForEver))
}

#[test]
fn a_reader_waits_for_a_writer() {
    let machine = Machine::new();
    let (reader, writer) = pipe(&machine);
    machine.spawn(1, move |machine| assert_eq!(write(machine, writer, b"late"), 4));
    assert_eq!(read(&machine, reader, 9), Ok(b"late".to_vec()));
}

#[test]
fn a_reader_waits_for_ever_if_nobody_writes() {
    let machine = Machine::new();
    let (reader, _writer) = pipe(&machine);
    assert!(waits_for_ever(|| drop(read(&machine, reader, 1))));
}

#[test]
fn a_reader_is_woken_by_the_end() {
    let machine = Machine::new();
    let (reader, writer) = pipe(&machine);
    machine.spawn(1, move |machine| assert_eq!(fd_table::close(machine, writer), 0));
    assert_eq!(read(&machine, reader, 9), Ok(Vec::new()));
}

#[test]
fn a_writer_waits_for_room() {
    let machine = Machine::new();
    let (reader, writer) = pipe(&machine);
    assert_eq!(write(&machine, writer, &[7; 65_536]), 65_536);
    machine.spawn(1, move |machine| assert_eq!(read(machine, reader, 9).unwrap().len(), 9));
    machine.spawn(1, move |machine| {
        assert_eq!(read(machine, reader, 65_536).unwrap().len(), 65_527);
    });
    // Not divided: it waits until all of it fits.
    assert_eq!(write(&machine, writer, &[8; 10]), 10);
}

#[test]
fn a_long_write_goes_part_by_part() {
    let machine = Machine::new();
    let (reader, writer) = pipe(&machine);
    for _ in 0..2 {
        machine.spawn(1, move |machine| {
            assert_eq!(read(machine, reader, 65_536).unwrap().len(), 65_536);
        });
    }
    assert_eq!(write(&machine, writer, &[8; 150_000]), 150_000);
}

#[test]
fn a_writer_that_waits_is_told_that_nobody_reads() {
    let machine = Machine::new();
    let (reader, writer) = pipe(&machine);
    assert_eq!(write(&machine, writer, &[7; 65_536]), 65_536);
    machine.spawn(1, move |machine| assert_eq!(fd_table::close(machine, reader), 0));
    assert_eq!(write(&machine, writer, b"x"), -(errno::EPIPE as isize));
    assert_eq!(*machine.signals.borrow(), [13]);
}

#[test]
fn a_waiter_tries_again_if_another_thread_was_faster() {
    let machine = Machine::new();
    let (reader, writer) = pipe(&machine);
    machine.spawn(1, move |machine| {
        assert_eq!(write(machine, writer, b"1"), 1);
        assert_eq!(read(machine, reader, 9), Ok(b"1".to_vec()));
    });
    machine.spawn(2, move |machine| assert_eq!(write(machine, writer, b"2"), 1));
    assert_eq!(read(&machine, reader, 9), Ok(b"2".to_vec()));
}

#[test]
fn an_eventfd_wakes_its_reader() {
    let machine = Machine::new();
    let event = answer(|| syscalls::eventfd2(&machine, 0, 0)) as i32;
    machine.spawn(1, move |machine| assert_eq!(write(machine, event, &3u64.to_le_bytes()), 8));
    assert_eq!(read(&machine, event, 8), Ok(3u64.to_le_bytes().to_vec()));
}

#[test]
fn a_full_eventfd_waits_for_a_reader() {
    let machine = Machine::new();
    let event = answer(|| syscalls::eventfd2(&machine, 0, 0)) as i32;
    let most = u64::MAX - 1;
    assert_eq!(write(&machine, event, &most.to_le_bytes()), 8);
    machine.spawn(1, move |machine| {
        assert_eq!(read(machine, event, 8), Ok(most.to_le_bytes().to_vec()));
    });
    assert_eq!(write(&machine, event, &5u64.to_le_bytes()), 8);
    assert_eq!(read(&machine, event, 8), Ok(5u64.to_le_bytes().to_vec()));
}

#[test]
fn poll_waits_until_its_time_is_over() {
    let machine = Machine::new();
    let (reader, _writer) = pipe(&machine);
    let at = machine.map(&(u64::from(reader as u32) | 1 << 32).to_le_bytes());
    assert_eq!(answer(|| syscalls::poll(&machine, (at, 1), 25)), 0);
    assert_eq!(machine.clock(), 25_000_000);
}

#[test]
fn poll_is_woken_by_a_writer() {
    let machine = Machine::new();
    let (reader, writer) = pipe(&machine);
    let at = machine.map(&(u64::from(reader as u32) | 1 << 32).to_le_bytes());
    machine.spawn(1, move |machine| assert_eq!(write(machine, writer, b"x"), 1));
    assert_eq!(answer(|| syscalls::poll(&machine, (at, 1), -1)), 1);
    assert_eq!(machine.clock(), 0);
}

#[test]
fn select_is_woken_by_a_writer() {
    let machine = Machine::new();
    let (reader, writer) = pipe(&machine);
    let set = machine.map(&(1u64 << reader).to_le_bytes());
    machine.spawn(1, move |machine| assert_eq!(write(machine, writer, b"x"), 1));
    let count = reader as usize + 1;
    assert_eq!(answer(|| syscalls::select(&machine, count, [set, 0, 0], 0)), 1);
    assert_eq!(machine.load::<u64>(set), Ok(1 << reader));
}

#[test]
fn select_leaves_what_is_left_of_its_time() {
    let machine = Machine::new();
    let (reader, _writer) = pipe(&machine);
    let set = machine.map(&(1u64 << reader).to_le_bytes());
    let time = machine.map(&[0u64.to_le_bytes(), 500_000u64.to_le_bytes()].concat());
    let count = reader as usize + 1;
    assert_eq!(answer(|| syscalls::select(&machine, count, [set, 0, 0], time)), 0);
    assert_eq!(machine.load::<u64>(set), Ok(0));
    assert_eq!(machine.load::<[u64; 2]>(time), Ok([0, 0]));
    assert_eq!(machine.clock(), 500_000_000);
}

#[test]
fn a_timer_expires_again_and_again() {
    let machine = Machine::new();
    let timer = answer(|| syscalls::timerfd_create(&machine, 1, 0)) as i32;
    // Every 10 ms, first after 30 ms.
    let times = [0u64, 10_000_000, 0, 30_000_000].map(u64::to_le_bytes).concat();
    let new = machine.map(&times);
    assert_eq!(answer(|| syscalls::timerfd_settime(&machine, timer, 0, (new, 0))), 0);
    assert_eq!(read(&machine, timer, 8), Ok(1u64.to_le_bytes().to_vec()));
    assert_eq!(machine.clock(), 30_000_000);
    assert_eq!(read(&machine, timer, 8), Ok(1u64.to_le_bytes().to_vec()));
    assert_eq!(machine.clock(), 40_000_000);
}

#[test]
fn a_timer_that_is_not_set_never_expires() {
    let machine = Machine::new();
    let timer = answer(|| syscalls::timerfd_create(&machine, 1, 0)) as i32;
    assert!(waits_for_ever(|| drop(read(&machine, timer, 8))));
}

#[test]
fn a_timer_says_what_is_left() {
    let machine = Machine::new();
    let timer = answer(|| syscalls::timerfd_create(&machine, 1, 0)) as i32;
    let new = machine.map(&[0u64, 0, 2, 500].map(u64::to_le_bytes).concat());
    let old = machine.map(&[0; 32]);
    assert_eq!(answer(|| syscalls::timerfd_settime(&machine, timer, 0, (new, 0))), 0);
    assert_eq!(answer(|| syscalls::timerfd_gettime(&machine, timer, old)), 0);
    assert_eq!(machine.load::<[u64; 4]>(old), Ok([0, 0, 2, 499]));
}

#[test]
fn a_timer_refuses_what_is_no_time() {
    let machine = Machine::new();
    let timer = answer(|| syscalls::timerfd_create(&machine, 1, 0)) as i32;
    let new = machine.map(&[0u64, 0, 0, 1_000_000_000].map(u64::to_le_bytes).concat());
    let refused = -(errno::EINVAL as isize);
    assert_eq!(answer(|| syscalls::timerfd_settime(&machine, timer, 0, (new, 0))), refused);
    assert_eq!(answer(|| syscalls::timerfd_create(&machine, 99, 0)), refused);
}
