//! Signals: who gets them, and which threads wait for them.

use crate::machine::{Ended, HANDLE, Machine, PROCESS, Stopped, WaitsForEver};
use everypath_vkernel::errno;
use everypath_vkernel::host::{Memory, Scheduler};
use everypath_vkernel::signal::{
    self, Arrived, await_one, bit, kill, pthread_kill, raise, rt_sigaction, rt_sigpending,
    rt_sigprocmask, tgkill,
};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

const USR1: i32 = 10;
const USR2: i32 = 12;
const CHLD: i32 = 17;
const HANDLER: usize = 0x1234;
const BLOCK: i32 = 0;
const UNBLOCK: i32 = 1;
const SET: i32 = 2;

/// Installs a handler that does nothing.
fn handle(machine: &Machine, signal: i32, flags: usize) {
    let action = machine.map(&[HANDLER, flags, 0, 0].map(usize::to_le_bytes).concat());
    assert_eq!(rt_sigaction(machine, signal, action, 0), Ok(0));
}

fn change_mask(machine: &Machine, how: i32, set: u64) -> u64 {
    let (new, old) = (machine.map(&set.to_le_bytes()), machine.map(&[0; 8]));
    assert_eq!(rt_sigprocmask(machine, how, new, old), Ok(0));
    machine.load(old).unwrap()
}

fn pending(machine: &Machine) -> u64 {
    let set = machine.map(&[0; 8]);
    assert_eq!(rt_sigpending(machine, set), Ok(0));
    machine.load(set).unwrap()
}

/// The signals that were handled, each with the thread.
fn handled(machine: &Machine) -> Vec<(i32, u16)> {
    machine.handled.borrow().iter().map(|&(signal, thread, _)| (signal, thread)).collect()
}

/// How a call ended that does not return.
fn end<T: Any + Clone>(call: impl FnOnce()) -> T {
    let ended = catch_unwind(AssertUnwindSafe(call)).expect_err("it returns");
    ended.downcast_ref::<T>().expect("it ends otherwise").clone()
}

#[test]
fn a_handler_is_called_at_once() {
    let machine = Machine::new();
    handle(&machine, USR1, 0);
    assert_eq!(raise(&machine, USR1), Ok(0));
    assert_eq!(handled(&machine), [(USR1, 0)]);
}

#[test]
fn an_action_is_told() {
    let machine = Machine::new();
    handle(&machine, USR1, 0x1000_0000);
    let old = machine.map(&[0; 32]);
    assert_eq!(rt_sigaction(&machine, USR1, 0, old), Ok(0));
    assert_eq!(machine.load::<[usize; 4]>(old), Ok([HANDLER, 0x1000_0000, 0, 0]));
}

#[test]
fn bad_calls_are_refused() {
    let machine = Machine::new();
    let action = machine.map(&[0; 32]);
    for signal in [0, 9, 19, 65, -1] {
        assert_eq!(rt_sigaction(&machine, signal, action, 0), Err(errno::EINVAL), "{signal}");
    }
    assert_eq!(rt_sigaction(&machine, USR1, 8, 0), Err(errno::EFAULT));
    assert_eq!(raise(&machine, 65), Err(errno::EINVAL));
    assert_eq!(tgkill(&machine, PROCESS - 1, USR1), Err(errno::ESRCH));
    assert_eq!(pthread_kill(&machine, 3, USR1), Err(errno::ESRCH));
    let set = machine.map(&[0; 8]);
    assert_eq!(rt_sigprocmask(&machine, 3, set, 0), Err(errno::EINVAL));
    // What is no signal only asks whether somebody is there.
    assert_eq!(kill(&machine, PROCESS, 0), Ok(0));
    assert_eq!(pthread_kill(&machine, HANDLE + 1, 0), Ok(0));
}

#[test]
fn without_a_handler_it_ends_the_program() {
    for (signal, expected) in [(USR1, USR1), (9, 9), (6, 6), (15, 15)] {
        let machine = Machine::new();
        assert_eq!(end::<Ended>(|| _ = raise(&machine, signal)), Ended(expected));
    }
}

#[test]
fn some_are_ignored_without_a_handler() {
    let machine = Machine::new();
    for signal in [CHLD, 18, 23, 28] {
        assert_eq!(raise(&machine, signal), Ok(0));
    }
    assert_eq!(handled(&machine), []);
}

#[test]
fn what_stops_the_process_is_not_modelled() {
    let machine = Machine::new();
    let Stopped(why) = end(|| _ = raise(&machine, 19));
    assert!(why.starts_with("signal 19, which stops the process"), "{why}");
    let Stopped(why) = end(|| _ = kill(&machine, PROCESS + 1, USR1));
    assert_eq!(why, "a signal to another process is not modelled");
}

#[test]
fn masks_are_changed_as_asked() {
    let machine = Machine::new();
    assert_eq!(change_mask(&machine, BLOCK, 0b110), 0);
    assert_eq!(change_mask(&machine, BLOCK, 0b1000), 0b110);
    assert_eq!(change_mask(&machine, UNBLOCK, 0b10), 0b1110);
    assert_eq!(change_mask(&machine, SET, 1), 0b1100);
    assert_eq!(signal::block(&machine, 7), 1);
}

#[test]
fn a_blocked_signal_is_pending_until_it_is_unblocked() {
    let machine = Machine::new();
    handle(&machine, USR1, 0);
    handle(&machine, USR2, 0);
    change_mask(&machine, BLOCK, bit(USR1) | bit(USR2));
    assert_eq!(raise(&machine, USR2), Ok(0));
    assert_eq!(raise(&machine, USR1), Ok(0));
    assert_eq!(raise(&machine, USR1), Ok(0));
    assert_eq!((pending(&machine), handled(&machine)), (bit(USR1) | bit(USR2), vec![]));
    change_mask(&machine, UNBLOCK, bit(USR1) | bit(USR2));
    // Once each, the lowest first.
    assert_eq!(handled(&machine), [(USR1, 0), (USR2, 0)]);
    assert_eq!(pending(&machine), 0);
}

#[test]
fn a_signal_of_the_process_goes_to_a_thread_that_does_not_block_it() {
    let machine = Machine::new();
    handle(&machine, USR1, 0);
    change_mask(&machine, BLOCK, bit(USR1));
    assert_eq!(kill(&machine, PROCESS, USR1), Ok(0));
    // The next thread has it.
    assert_eq!(pending(&machine), 0);
}

#[test]
fn who_sleeps_handles_a_signal_first() {
    for (flags, restart) in [(0, false), (0x1000_0000, true)] {
        let machine = Machine::new();
        handle(&machine, USR1, flags);
        machine.spawn(1, |machine| assert_eq!(tgkill(machine, PROCESS, USR1), Ok(0)));
        let woken = machine.wait(
            everypath_shim_abi::Waiting::Network,
            everypath_shim_abi::Object::NONE,
            None,
        );
        assert_eq!(woken, everypath_vkernel::host::Woken::Interrupted { restart });
        assert_eq!(handled(&machine), [(USR1, 0)]);
    }
}

#[test]
fn a_signal_is_taken_by_who_waits_for_it() {
    let machine = Machine::new();
    change_mask(&machine, BLOCK, bit(USR1));
    machine.spawn(1, |machine| assert_eq!(kill(machine, PROCESS, USR1), Ok(0)));
    let arrived = await_one(&machine, bit(USR1) | bit(USR2), None);
    assert_eq!(arrived, Ok(Arrived { signal: USR1, by_process: true, expiry: None }));
    assert_eq!(pending(&machine), 0);
}

#[test]
fn a_signal_that_is_pending_is_taken_at_once() {
    let machine = Machine::new();
    change_mask(&machine, BLOCK, bit(USR1));
    assert_eq!(raise(&machine, USR1), Ok(0));
    let arrived = await_one(&machine, bit(USR1), None);
    assert_eq!(arrived, Ok(Arrived { signal: USR1, by_process: false, expiry: None }));
}

#[test]
fn a_wait_for_signals_ends() {
    let machine = Machine::new();
    assert_eq!(await_one(&machine, bit(USR1), Some(50)), Err(errno::EAGAIN));
    assert_eq!(machine.clock(), 50);
    assert_eq!(end::<WaitsForEver>(|| _ = await_one(&machine, bit(USR1), None)), WaitsForEver);
}

#[test]
fn pause_ends_when_a_signal_was_handled() {
    let machine = Machine::new();
    handle(&machine, USR1, 0);
    machine.spawn(1, |machine| assert_eq!(tgkill(machine, PROCESS, USR1), Ok(0)));
    signal::pause(&machine);
    assert_eq!(handled(&machine), [(USR1, 0)]);
}

#[test]
fn suspend_lets_what_is_pending_through() {
    let machine = Machine::new();
    handle(&machine, USR1, 0);
    change_mask(&machine, BLOCK, bit(USR1));
    assert_eq!(raise(&machine, USR1), Ok(0));
    signal::suspend(&machine, 0);
    assert_eq!(handled(&machine), [(USR1, 0)]);
    // The mask is as it was.
    assert_eq!(change_mask(&machine, BLOCK, 0), bit(USR1));
}
