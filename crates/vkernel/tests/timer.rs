//! Timers that send signals.

use crate::machine::{HANDLE, Machine, PROCESS, Stopped};
use everypath_vkernel::clock::SECOND;
use everypath_vkernel::errno;
use everypath_vkernel::host::{Memory, Scheduler};
use everypath_vkernel::itimer::{alarm, getitimer, setitimer};
use everypath_vkernel::posix_timer::{
    self, timer_create, timer_delete, timer_getoverrun, timer_gettime, timer_settime,
};
use everypath_vkernel::signal::{await_one, bit, rt_sigaction, rt_sigprocmask};
use everypath_vkernel::timer::Expiry;
use std::panic::{AssertUnwindSafe, catch_unwind};

const ALRM: i32 = 14;
const USR1: i32 = 10;
const MILLISECOND: u64 = 1_000_000;

/// Installs a handler, and sleeps for a while; returns when handlers ran.
fn moments(machine: &Machine, until: u64) -> Vec<u64> {
    let action = machine.map(&[0x1234_usize, 0, 0, 0].map(usize::to_le_bytes).concat());
    assert_eq!(rt_sigaction(machine, ALRM, action, 0), Ok(0));
    while machine.clock() < until {
        let (waiting, nowhere) =
            (everypath_shim_abi::Waiting::Time, everypath_shim_abi::Object::NONE);
        machine.wait(waiting, nowhere, Some(until));
    }
    machine.handled.borrow().iter().map(|&(_, _, moment)| moment).collect()
}

/// A `struct itimerval`: how often, and when.
fn itimerval(machine: &Machine, [again, after]: [u64; 2]) -> usize {
    let parts = [again, after].map(|time| [time / SECOND, time % SECOND / 1000]).concat();
    machine.map(&parts.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<_>>())
}

/// A `struct itimerspec`.
fn itimerspec(machine: &Machine, [again, after]: [u64; 2]) -> usize {
    let parts = [again, after].map(|time| [time / SECOND, time % SECOND]).concat();
    machine.map(&parts.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<_>>())
}

#[test]
fn an_alarm_rings_once() {
    let machine = Machine::new();
    assert_eq!(alarm(&machine, 3), 0);
    assert_eq!(moments(&machine, 9 * SECOND), [3 * SECOND]);
    assert_eq!(alarm(&machine, 0), 0);
}

#[test]
fn an_alarm_says_what_is_left_and_is_taken_back() {
    let machine = Machine::new();
    assert_eq!(alarm(&machine, 10), 0);
    assert_eq!(moments(&machine, 4 * SECOND), []);
    // It rounds, but not to nothing.
    assert_eq!(alarm(&machine, 5), 6);
    assert_eq!(alarm(&machine, 0), 5);
    assert_eq!(moments(&machine, 20 * SECOND), []);
    assert_eq!(alarm(&machine, 0), 0);
}

#[test]
fn an_interval_timer_rings_again_and_again() {
    let machine = Machine::new();
    let new = itimerval(&machine, [20 * MILLISECOND, 50 * MILLISECOND]);
    assert_eq!(setitimer(&machine, 0, new, 0), Ok(0));
    let expected = [50, 70, 90].map(|moment| moment * MILLISECOND);
    assert_eq!(moments(&machine, 100 * MILLISECOND), expected);
}

#[test]
fn an_interval_timer_says_what_it_was_set_to() {
    let machine = Machine::new();
    let new = itimerval(&machine, [2 * SECOND, 3 * SECOND + 1000]);
    assert_eq!(setitimer(&machine, 0, new, 0), Ok(0));
    let old = machine.map(&[0; 32]);
    assert_eq!(getitimer(&machine, 0, old), Ok(0));
    assert_eq!(machine.load::<[u64; 4]>(old), Ok([2, 0, 3, 1]));
    let none = itimerval(&machine, [0, 0]);
    assert_eq!(setitimer(&machine, 0, none, old), Ok(0));
    assert_eq!(machine.load::<[u64; 4]>(old), Ok([2, 0, 3, 1]));
    assert_eq!(getitimer(&machine, 0, old), Ok(0));
    assert_eq!(machine.load::<[u64; 4]>(old), Ok([0; 4]));
}

#[test]
fn bad_interval_timers_are_refused() {
    let machine = Machine::new();
    let new = itimerval(&machine, [0, SECOND]);
    assert_eq!(setitimer(&machine, 3, new, 0), Err(errno::EINVAL));
    assert_eq!(getitimer(&machine, -1, new), Err(errno::EINVAL));
    assert_eq!(setitimer(&machine, 0, 8, 0), Err(errno::EFAULT));
    let wrong = machine.map(&[0, 0, 0, 1_000_000_u64].map(u64::to_le_bytes).concat());
    assert_eq!(setitimer(&machine, 0, wrong, 0), Err(errno::EINVAL));
    let ended = catch_unwind(AssertUnwindSafe(|| setitimer(&machine, 1, new, 0)));
    let Some(Stopped(why)) = ended.unwrap_err().downcast_ref().cloned() else { panic!() };
    assert!(why.starts_with("setitimer of CPU time is not modelled"), "{why}");
}

/// A timer that sends a signal with a value.
fn timer(machine: &Machine, clock: i32, [value, signal]: [u64; 2]) -> usize {
    let event = machine.map(&[value, signal, 0, 0].map(u64::to_le_bytes).concat());
    let made = machine.map(&[0; 4]);
    assert_eq!(timer_create(machine, clock, event, made), Ok(0));
    machine.load::<i32>(made).unwrap() as usize
}

#[test]
fn a_timer_tells_its_number_and_value() {
    let machine = Machine::new();
    let set = machine.map(&bit(USR1).to_le_bytes());
    assert_eq!(rt_sigprocmask(&machine, 0, set, 0), Ok(0));
    let first = timer(&machine, 1, [7, USR1 as u64]);
    let second = timer(&machine, 1, [9, USR1 as u64]);
    let (soon, later) = (itimerspec(&machine, [0, SECOND]), itimerspec(&machine, [0, 2 * SECOND]));
    assert_eq!(timer_settime(&machine, second, 0, (soon, 0)), Ok(0));
    assert_eq!(timer_settime(&machine, first, 0, (later, 0)), Ok(0));
    let expiry = |timer: usize, value| Some(Expiry { timer: timer as i32, value });
    assert_eq!(await_one(&machine, bit(USR1), None).unwrap().expiry, expiry(second, 9));
    assert_eq!(machine.clock(), SECOND);
    assert_eq!(await_one(&machine, bit(USR1), None).unwrap().expiry, expiry(first, 7));
    assert_eq!(machine.clock(), 2 * SECOND);
}

#[test]
fn an_absolute_timer_rings_when_its_clock_shows_that() {
    for (clock, shown) in [(0, 1_700_000_002), (1, 1002)] {
        let machine = Machine::new();
        let id = timer(&machine, clock, [0, ALRM as u64]);
        let at = itimerspec(&machine, [0, shown * SECOND]);
        assert_eq!(timer_settime(&machine, id, 1, (at, 0)), Ok(0));
        assert_eq!(moments(&machine, 5 * SECOND), [2 * SECOND], "{clock}");
    }
}

#[test]
fn a_timer_says_what_is_left() {
    let machine = Machine::new();
    let id = timer(&machine, 1, [0, ALRM as u64]);
    let new = itimerspec(&machine, [SECOND, 5 * SECOND]);
    assert_eq!(timer_settime(&machine, id, 0, (new, 0)), Ok(0));
    assert_eq!(moments(&machine, 2 * SECOND), []);
    let old = machine.map(&[0; 32]);
    assert_eq!(timer_gettime(&machine, id, old), Ok(0));
    assert_eq!(machine.load::<[u64; 4]>(old), Ok([1, 0, 3, 0]));
    assert_eq!(timer_getoverrun(&machine, id), Ok(0));
}

#[test]
fn a_deleted_timer_is_gone() {
    let machine = Machine::new();
    let id = timer(&machine, 1, [0, ALRM as u64]);
    let new = itimerspec(&machine, [0, SECOND]);
    assert_eq!(timer_settime(&machine, id, 0, (new, 0)), Ok(0));
    assert_eq!(timer_delete(&machine, id), Ok(0));
    assert_eq!(moments(&machine, 3 * SECOND), []);
    assert_eq!(timer_delete(&machine, id), Err(errno::EINVAL));
    assert_eq!(timer_gettime(&machine, id, new), Err(errno::EINVAL));
    // Its number comes back late.
    assert_ne!(timer(&machine, 1, [0, ALRM as u64]), id);
}

#[test]
fn a_timer_of_processor_time_never_rings() {
    let machine = Machine::new();
    let id = timer(&machine, 2, [0, ALRM as u64]);
    let new = itimerspec(&machine, [0, SECOND]);
    assert_eq!(timer_settime(&machine, id, 0, (new, 0)), Ok(0));
    assert_eq!(moments(&machine, 3 * SECOND), []);
}

#[test]
fn bad_timers_are_refused() {
    let machine = Machine::new();
    let made = machine.map(&[0; 4]);
    let create = |clock: i32, event: [u32; 6]| {
        let event = machine.map(&event.map(u32::to_le_bytes).concat());
        timer_create(&machine, clock, event, made)
    };
    let by_signal = [0, 0, USR1 as u32, 0, 0, 0];
    assert_eq!(create(10, by_signal), Err(errno::EINVAL));
    assert_eq!(create(5, by_signal), Err(errno::EOPNOTSUPP));
    assert_eq!(create(1, [0, 0, 99, 0, 0, 0]), Err(errno::EINVAL));
    // Only libc starts threads.
    assert_eq!(create(1, [0, 0, 0, 2, 0, 0]), Err(errno::EINVAL));
    assert_eq!(create(1, [0, 0, USR1 as u32, 4, 1, 0]), Err(errno::EINVAL));
    assert_eq!(create(1, [0, 0, USR1 as u32, 4, PROCESS as u32, 0]), Ok(0));
    assert_eq!(timer_create(&machine, 1, 0, 8), Err(errno::EFAULT));
    let wrong = machine.map(&[0, 0, 0, SECOND].map(u64::to_le_bytes).concat());
    assert_eq!(timer_settime(&machine, 0, 0, (wrong, 0)), Err(errno::EINVAL));
    assert_eq!(timer_settime(&machine, 0, 0, (0, 0)), Err(errno::EINVAL));
    assert_eq!(posix_timer::create(&machine, 1, 0, true), Ok(1));
    assert_ne!(HANDLE, 0);
}

#[test]
fn there_are_not_more_than_the_table_holds() {
    let machine = Machine::new();
    for _ in 0..32 {
        assert!(posix_timer::create(&machine, 1, 0, true).is_ok());
    }
    let ended = catch_unwind(AssertUnwindSafe(|| posix_timer::create(&machine, 1, 0, true)));
    let Some(Stopped(why)) = ended.unwrap_err().downcast_ref().cloned() else { panic!() };
    assert_eq!(why, "the program has more than 32 timers at a time");
}
