//! Every call that we stand in for does what libc's own does: the same program, by itself and under
//! control.

mod common;
#[path = "common/conforming.rs"]
mod conforming;

use conforming::conforms;

const C: [&str; 3] = ["-O1", "-g", "-pthread"];

#[test]
fn mutexes() {
    conforms("mutexes.c", &C);
}

#[test]
fn mutexes_that_inherit_priorities() {
    conforms("priorities.c", &C);
}

#[test]
fn read_write_locks() {
    conforms("rwlocks.c", &C);
}

#[test]
fn conditions_barriers_semaphores_and_spin_locks() {
    conforms("waiting.c", &C);
}

#[test]
fn threads() {
    conforms("threads.c", &C);
}

#[test]
fn threads_of_c11() {
    conforms("c11.c", &C);
}

#[test]
fn futexes() {
    conforms("futexes.c", &C);
}
