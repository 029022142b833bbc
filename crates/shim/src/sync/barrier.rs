//! Barriers.

use crate::memory::view;
use crate::objects;
use crate::scheduler::{grant_all, point, wait};
use crate::state::state;
use core::cell::Cell;
use everypath_shim_abi::{Operation, Waiting};

/// A `pthread_barrier_t`.
#[repr(C)]
struct Barrier {
    arrived: Cell<u32>,
    round: Cell<u32>,
    count: Cell<u32>,
}

const SERIAL_THREAD: i32 = -1;

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_barrier_wait(address: usize) -> i32 {
    let object = objects::memory(address);
    point(Operation::BarrierWait, object);
    let barrier: &Barrier = view(address);
    barrier.arrived.set(barrier.arrived.get() + 1);
    let round = barrier.round.get();
    if barrier.arrived.get() >= barrier.count.get() {
        barrier.arrived.set(0);
        barrier.round.set(round.wrapping_add(1));
        grant_all(Waiting::Barrier, object);
        return SERIAL_THREAD;
    }
    while barrier.round.get() == round {
        state().current().announce(Operation::BarrierWait, object);
        wait(Waiting::Barrier, object, None);
    }
    0
}

/// Interposes libc's function, which would wait for those who are still leaving.
#[unsafe(no_mangle)]
extern "C" fn pthread_barrier_destroy(_barrier: usize) -> i32 {
    0
}
