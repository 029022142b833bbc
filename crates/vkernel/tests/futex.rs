//! Futexes: who sleeps, and who is woken.

use crate::machine::{Machine, Stopped, WaitsForEver};
use everypath_vkernel::combination::{Combination, ways};
use everypath_vkernel::errno;
use everypath_vkernel::futex::{Call, futex};
use everypath_vkernel::host::{Memory, Scheduler};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

const WAIT: i32 = 0;
const WAKE: i32 = 1;
const REQUEUE: i32 = 3;
const CMP_REQUEUE: i32 = 4;
const UNLOCK_INHERITING: i32 = 7;
const WAIT_BITSET: i32 = 9;
const WAKE_BITSET: i32 = 10;
const PRIVATE: i32 = 128;
const REALTIME: i32 = 256;

fn call(word: usize, operation: i32, value: u32) -> Call {
    Call { word, operation, value, timeout: 0, other: 0, third: 0 }
}

fn word(machine: &Machine, value: u32) -> usize {
    machine.map(&value.to_le_bytes())
}

#[test]
fn a_word_that_has_changed_is_not_waited_at() {
    let machine = Machine::new();
    let at = word(&machine, 5);
    assert_eq!(futex(&machine, call(at, WAIT, 4)), Err(errno::EAGAIN));
    assert_eq!(futex(&machine, call(at, WAIT | PRIVATE, 4)), Err(errno::EAGAIN));
}

#[test]
fn a_sleeper_is_woken() {
    let machine = Machine::new();
    let at = word(&machine, 5);
    machine.spawn(1, move |machine| assert_eq!(futex(machine, call(at, WAKE, 1)), Ok(1)));
    assert_eq!(futex(&machine, call(at, WAIT, 5)), Ok(0));
}

#[test]
fn a_wake_at_another_word_wakes_nobody() {
    let machine = Machine::new();
    let (at, other) = (word(&machine, 5), word(&machine, 5));
    machine.spawn(1, move |machine| assert_eq!(futex(machine, call(other, WAKE, 9)), Ok(0)));
    let ended = catch_unwind(AssertUnwindSafe(|| futex(&machine, call(at, WAIT, 5))));
    assert_eq!(ended.unwrap_err().downcast_ref(), Some(&WaitsForEver));
}

#[test]
fn a_sleep_ends_after_its_time() {
    let machine = Machine::new();
    let at = word(&machine, 0);
    let timeout = machine.map(&[1_u64, 5].map(u64::to_le_bytes).concat());
    let ended = futex(&machine, Call { timeout, ..call(at, WAIT, 0) });
    assert_eq!((ended, machine.clock()), (Err(errno::ETIMEDOUT), 1_000_000_005));
}

#[test]
fn a_sleep_ends_when_a_clock_shows_it() {
    for (flags, second) in [(0, 1001_u64), (REALTIME, 1_700_000_001)] {
        let machine = Machine::new();
        let at = word(&machine, 0);
        let timeout = machine.map(&[second, 0].map(u64::to_le_bytes).concat());
        let sleep = Call { timeout, third: 1, ..call(at, WAIT_BITSET | flags, 0) };
        assert_eq!(futex(&machine, sleep), Err(errno::ETIMEDOUT));
        assert_eq!(machine.clock(), 1_000_000_000);
    }
}

#[test]
fn bad_calls_are_refused() {
    let machine = Machine::new();
    let at = word(&machine, 0);
    assert_eq!(futex(&machine, call(at + 2, WAIT, 0)), Err(errno::EINVAL));
    assert_eq!(futex(&machine, call(at, WAIT_BITSET, 0)), Err(errno::EINVAL));
    assert_eq!(futex(&machine, call(at, WAKE_BITSET, 0)), Err(errno::EINVAL));
    assert_eq!(futex(&machine, call(at + 4096, WAIT, 0)), Err(errno::EFAULT));
    assert_eq!(futex(&machine, Call { timeout: 12, ..call(at, WAIT, 0) }), Err(errno::EFAULT));
    assert_eq!(futex(&machine, call(at, UNLOCK_INHERITING, 0)), Err(errno::EPERM));
    let ended = catch_unwind(AssertUnwindSafe(|| futex(&machine, call(at, 6, 0))));
    let Some(Stopped(why)) = ended.unwrap_err().downcast_ref().cloned() else { panic!() };
    assert_eq!(why, "futex operation 6 is not modelled");
}

/// Lets three threads sleep at a word, each with a mask, and then `wakes`; returns who woke up, in that
/// order.
fn sleepers(masks: [u32; 3], wakes: impl FnOnce(&Machine, usize) + 'static) -> Vec<usize> {
    let machine = Machine::new();
    let at = word(&machine, 0);
    let woken = Rc::new(RefCell::new(Vec::new()));
    let sleep = |who: usize| {
        let woken = Rc::clone(&woken);
        move |machine: &Machine| {
            let third = masks[who] as usize;
            let ended = futex(machine, Call { third, ..call(at, WAIT_BITSET, 0) });
            assert_eq!(ended, Ok(0));
            woken.borrow_mut().push(who);
        }
    };
    // Each begins while the one before it sleeps.
    machine.spawn(1, sleep(1));
    machine.spawn(2, sleep(2));
    machine.spawn(3, move |machine| wakes(machine, at));
    let ended = catch_unwind(AssertUnwindSafe(|| sleep(0)(&machine)));
    if let Err(why) = ended {
        assert_eq!(why.downcast_ref(), Some(&WaitsForEver));
    }
    drop(machine);
    Rc::try_unwrap(woken).unwrap().into_inner()
}

#[test]
fn all_are_woken() {
    let mut woken = sleepers([!0; 3], |machine, at| {
        assert_eq!(futex(machine, call(at, WAKE, u32::MAX)), Ok(3));
    });
    woken.sort_unstable();
    assert_eq!(woken, [0, 1, 2]);
}

#[test]
fn a_mask_says_who_is_woken() {
    let woken = sleepers([1, 2, 4], |machine, at| {
        let wake = |mask| Call { third: mask, ..call(at, WAKE_BITSET, 9) };
        assert_eq!(futex(machine, wake(8)), Ok(0));
        assert_eq!(futex(machine, wake(6)), Ok(2));
    });
    assert_eq!(woken, [2, 1]);
}

#[test]
fn which_waiter_is_woken_is_a_choice() {
    for chosen in 0..3 {
        let woken = sleepers([!0; 3], move |machine, at| {
            machine.choices.borrow_mut().push_back(chosen);
            assert_eq!(futex(machine, call(at, WAKE, 1)), Ok(1));
            // Only whoever began last can go on before the others.
        });
        let expected = if chosen == 2 { vec![2] } else { vec![] };
        assert_eq!(woken, expected, "{chosen}");
    }
}

#[test]
fn waiters_are_moved_to_another_word() {
    let mut woken = sleepers([!0; 3], |machine, at| {
        let other = word(machine, 7);
        let moved = Call { timeout: 1, other, ..call(at, REQUEUE, 1) };
        assert_eq!(futex(machine, moved), Ok(2));
        // One was woken, one was moved, and one is left.
        assert_eq!(futex(machine, call(other, WAKE, 9)), Ok(1));
        assert_eq!(futex(machine, call(at, WAKE, 9)), Ok(1));
    });
    woken.sort_unstable();
    assert_eq!(woken, [0, 1, 2]);
}

#[test]
fn waiters_are_moved_only_if_the_word_is_as_expected() {
    sleepers([!0; 3], |machine, at| {
        let other = word(machine, 7);
        let moved = Call { timeout: 9, other, third: 1, ..call(at, CMP_REQUEUE, 0) };
        assert_eq!(futex(machine, moved), Err(errno::EAGAIN));
        assert_eq!(futex(machine, Call { third: 0, ..moved }), Ok(3));
        assert_eq!(futex(machine, call(at, WAKE, 9)), Ok(0));
        assert_eq!(futex(machine, call(other, WAKE, 9)), Ok(3));
    });
}

#[test]
fn combinations_are_all_different() {
    for all in 0..7_u32 {
        for take in 0..=all {
            let mut seen: Vec<Vec<bool>> = (0..ways(all, take))
                .map(|index| {
                    let mut combination = Combination::new(all, take, index);
                    (0..all).map(|_| combination.takes_next()).collect()
                })
                .collect();
            let is_whole =
                |it: &Vec<bool>| it.iter().filter(|taken| **taken).count() as u32 == take;
            assert!(seen.iter().all(is_whole), "{all}, {take}");
            let count = seen.len();
            seen.sort();
            seen.dedup();
            assert_eq!(seen.len(), count, "{all}, {take}");
        }
    }
}

#[test]
fn memory_is_read_where_the_word_is() {
    let machine = Machine::new();
    let at = word(&machine, 1);
    machine.store(at, 2_u32).unwrap();
    assert_eq!(futex(&machine, call(at, WAIT, 1)), Err(errno::EAGAIN));
}
