//! Clocks and times.

use crate::machine::Machine;
use everypath_vkernel::clock::{
    self, BOOTTIME, MONOTONIC, REALTIME, SECOND, TAI, is_processor_time, is_time, timespec,
};
use everypath_vkernel::errno;
use proptest::prelude::*;

#[test]
fn a_time_is_what_the_kernel_takes_for_one() {
    for (time, is_one) in [
        ([0, 0], true),
        ([5, 999_999_999], true),
        ([5, 1_000_000_000], false),
        ([-1, 0], false),
        ([0, -1], false),
    ] {
        assert_eq!(is_time(time), is_one, "{time:?}");
    }
}

#[test]
fn a_timeout_need_not_be_given() {
    let machine = Machine::new();
    assert_eq!(clock::given_timeout(&machine, 0), Ok(u64::MAX));
    assert_eq!(clock::given_timeout(&machine, 8), Err(errno::EFAULT));
    let wrong = machine.map(&[0_u64, SECOND].map(u64::to_le_bytes).concat());
    assert_eq!(clock::given_timeout(&machine, wrong), Err(errno::EINVAL));
    let right = machine.map(&[2_u64, 7].map(u64::to_le_bytes).concat());
    assert_eq!(clock::given_timeout(&machine, right), Ok(2 * SECOND + 7));
}

#[test]
fn clocks_of_the_day_and_others_begin_apart() {
    assert_eq!(clock::origin(REALTIME), clock::origin(TAI));
    assert_eq!(clock::origin(MONOTONIC), clock::origin(BOOTTIME));
    assert!(clock::origin(REALTIME) > clock::origin(MONOTONIC));
}

#[test]
fn clocks_of_processor_time_are_known() {
    // Those of a process and of a thread, and one of another process by its number.
    let all = [2, 3, !1234 << 3 | 2];
    assert!(all.into_iter().all(is_processor_time));
    assert!(![REALTIME, MONOTONIC, BOOTTIME, TAI].into_iter().any(is_processor_time));
}

proptest! {
    #[test]
    fn what_a_clock_shows_is_a_moment(clock in 0..12, moment in 0..u64::MAX / 2) {
        let shown = moment + clock::origin(clock);
        prop_assert_eq!(clock::virtual_moment(clock, shown), moment);
        prop_assert_eq!(clock::virtual_moment(clock, 0), 0);
    }

    #[test]
    fn times_are_read_as_they_are_written(time in 0..u64::MAX / 2) {
        let written = timespec(time).map(|part| part as i64);
        prop_assert!(is_time(written));
        prop_assert_eq!(clock::nanoseconds(written), time);
    }
}
