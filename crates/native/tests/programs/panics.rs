//! One panic for each argument: whether it counts depends on who looks at it.
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc;
use std::thread;

struct CatchesInDrop;

impl Drop for CatchesInDrop {
    fn drop(&mut self) {
        let _caught = panic::catch_unwind(|| panic!("caught while unwinding"));
    }
}

#[inline(never)]
fn fails(what: &str) {
    panic!("{what}");
}

/// Waits until the other end is dropped, which happens when its thread unwinds.
fn spawn_and_await(work: impl FnOnce() + Send + 'static) -> thread::JoinHandle<()> {
    let (sender, receiver) = mpsc::channel::<()>();
    let handle = thread::Builder::new().name("worker".into()).spawn(move || {
        let _dropped_last = sender;
        work();
    });
    let _disconnected = receiver.recv();
    handle.expect("a thread can be started")
}

fn main() {
    let case = std::env::args().nth(1).expect("a case");
    match case.as_str() {
        "main" => fails("in main"),
        "thread" => {
            // The handle lives until main ends, and nobody joins.
            let _handle = spawn_and_await(|| fails("in a thread"));
            thread::yield_now();
        }
        "detached" => {
            drop(spawn_and_await(|| fails("detached")));
            thread::yield_now();
        }
        "unwrapped" => thread::spawn(|| fails("carried on")).join().expect("no panic"),
        "rethrown" => drop(spawn_and_await(|| {
            let caught = panic::catch_unwind(|| fails("thrown again"));
            panic::resume_unwind(caught.expect_err("it panics"));
        })),
        "second" => drop(spawn_and_await(|| {
            let _caught = panic::catch_unwind(|| fails("caught"));
            fails("not caught");
        })),
        "joined" => assert!(thread::spawn(|| fails("joined")).join().is_err()),
        "caught" => assert!(panic::catch_unwind(|| fails("caught")).is_err()),
        "caught in a thread" => drop(spawn_and_await(|| {
            let _caught = panic::catch_unwind(|| fails("caught in a thread"));
        })),
        "caught deeper" => drop(spawn_and_await(|| {
            let _caught = panic::catch_unwind(AssertUnwindSafe(|| {
                let _catches = CatchesInDrop;
                fails("caught outside");
            }));
        })),
        "scoped" => {
            let carried = panic::catch_unwind(|| {
                thread::scope(|scope| drop(scope.spawn(|| fails("in a scope"))));
            });
            assert!(carried.is_err());
        }
        "finished" => {
            let handle = thread::spawn(|| fails("looked at late"));
            while !handle.is_finished() {
                thread::yield_now();
            }
            assert!(handle.join().is_err());
        }
        _ => unreachable!("a case of the list"),
    }
}
