use super::{Launch, Modules, Worker};
use everypath_shim_abi::{Backend, Choice, Command, Outcome, Request, Setup, Splitmix};
use std::collections::BTreeSet;
use std::path::Path;
use std::process;
use tempfile::TempDir;

/// A worker that stands before `main` of a program.
fn worker_of(source: &str, backend: Backend, arguments: &[&str]) -> (Worker, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let mut compiler = if source.extension().is_some_and(|extension| extension == "rs") {
        let mut rustc = process::Command::new("rustc");
        rustc.args(["--edition", "2024", "-O"]);
        rustc
    } else {
        let mut cc = process::Command::new("cc");
        cc.args(["-O1", "-pthread"]);
        cc
    };
    let status = compiler.arg("-o").arg(&program).arg(source).status().unwrap();
    assert!(status.success());
    let setup = Setup { backend, canonical: true, max_steps: 1000, ..Setup::default() };
    let launch = Launch {
        arguments: arguments.iter().map(Into::into).collect(),
        setup,
        ..Launch::new(program)
    };
    (Worker::start(&launch, &Modules::default()).unwrap(), folder)
}

/// A worker that stands before `main` of the program that runs scripts.
fn worker(backend: Backend, scripts: &[&str]) -> (Worker, TempDir) {
    worker_of("../everypath/tests/programs/scripts.c", backend, scripts)
}

/// Follows a schedule of threads and returns the hash of the state it leads to.
fn hash_after(worker: &mut Worker, threads: &[u16]) -> u128 {
    let schedule: Vec<Choice> =
        threads.iter().map(|&thread| Choice { thread, outcome: 0 }).collect();
    let pause_at = schedule.len() as u32 + 1;
    let reply = worker.follow(&schedule, Command { pause_at, ..Command::default() }).unwrap();
    assert_eq!(reply.outcome, Outcome::Paused);
    reply.hash
}

#[test]
fn an_execution_goes_on_from_a_saved_state_as_it_did() {
    let (mut worker, _folder) = worker(Backend::Fibers, &["L0X0U0X1", "L0X0U0", "X1T0"]);
    for seed in 0..20 {
        let from = Command { pause_at: 8, seed, ..Command::default() };
        let paused = worker.follow(&[], from).unwrap();
        assert_eq!(paused.outcome, Outcome::Paused);
        worker.save(1).unwrap();
        let ends: Vec<_> = (0..3)
            .map(|_| {
                let resume = Command { request: Request::Resume, slot: 1, ..Command::default() };
                let again = worker.ask(Command { pause_at: 1, ..resume }).unwrap();
                assert_eq!((again.outcome, again.hash), (Outcome::Paused, paused.hash));
                let reply = worker.ask(resume).unwrap();
                (reply.outcome, reply.detail, worker.events())
            })
            .collect();
        assert_eq!(ends[0].0, Outcome::Exited);
        assert!(ends.iter().all(|end| *end == ends[0]));
    }
}

#[test]
fn a_state_has_one_hash_and_another_state_another() {
    let (mut worker, _folder) = worker(Backend::Fibers, &["X0X0", "X0X0"]);
    let start = [0, 0, 0, 1, 2];
    let mut after = |order: &[u16]| hash_after(&mut worker, &[&start[..], order].concat());
    assert_ne!(after(&[1, 2, 1]), after(&[2, 1, 1]));
    assert_eq!(after(&[1, 2, 1]), after(&[1, 2, 1]));
}

/// All orders of what each thread does, by thread.
fn orders(left: &[(u16, usize)]) -> Vec<Vec<u16>> {
    if left.iter().all(|&(_, steps)| steps == 0) {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for at in (0..left.len()).filter(|&at| left[at].1 > 0) {
        let mut rest = left.to_vec();
        rest[at].1 -= 1;
        all.extend(orders(&rest).into_iter().map(|order| [vec![left[at].0], order].concat()));
    }
    all
}

#[test]
fn independent_steps_in_either_order_lead_to_one_state() {
    for backend in [Backend::Fibers, Backend::Threads] {
        let (mut worker, _folder) = worker(backend, &["X0X0", "X1X1", "X2X2"]);
        let orders = orders(&[(1, 2), (2, 2), (3, 2)]);
        let hashes: BTreeSet<u128> = orders
            .iter()
            .map(|order| hash_after(&mut worker, &[&[0, 0, 0], &order[..]].concat()))
            .collect();
        assert_eq!((orders.len(), hashes.len()), (90, 1), "{backend:?}");
    }
}

/// The state that a schedule leads to; none if it cannot be followed.
fn state_after(worker: &mut Worker, schedule: &[Choice]) -> Option<u128> {
    let pause_at = schedule.len() as u32 + 1;
    let reply = worker.follow(schedule, Command { pause_at, ..Command::default() }).unwrap();
    // Where there is no choice, the schedule is not asked.
    let followed = reply.outcome == Outcome::Paused && worker.schedule() == schedule;
    followed.then_some(reply.hash)
}

/// Swaps neighbouring steps that have nothing to do with each other, again and again: the state
/// stays the same. How many swaps there were.
fn swap_at_random(worker: &mut Worker, seed: u64) -> u32 {
    let mut random = Splitmix::of(seed, 0);
    let whole = worker.follow(&[], Command { seed, ..Command::default() }).unwrap();
    assert_eq!(whole.outcome, Outcome::Exited);
    let length = 4 + random.below(whole.steps - 4) as usize;
    let mut schedule = worker.schedule()[..length].to_vec();
    // Nobody stops in the middle of a step.
    let Some(hash) = state_after(worker, &schedule) else { return 0 };
    let mut swaps = 0;
    for _ in 0..40 {
        let events = worker.events();
        let at = random.below(length as u32 - 1) as usize;
        let [first, second] =
            [events[at], events[at + 1]].map(|event| (event.thread, event.step().footprint()));
        if first.0 == second.0 || !first.1.is_apart_from(&second.1) {
            continue;
        }
        let before = schedule.clone();
        schedule.swap(at, at + 1);
        match state_after(worker, &schedule) {
            Some(swapped) => {
                assert_eq!(swapped, hash, "seed {seed}: {first:?} {second:?}");
                swaps += 1;
            }
            // One of them makes the other possible.
            None => {
                schedule = before;
                state_after(worker, &schedule).expect("it was followed before");
            }
        }
    }
    swaps
}

#[test]
fn swapping_steps_that_are_apart_changes_no_state() {
    for source in ["tests/programs/apart.c", "tests/programs/apart.rs"] {
        for backend in [Backend::Fibers, Backend::Threads] {
            let (mut worker, _folder) = worker_of(source, backend, &[]);
            let swaps: u32 = (0..40).map(|seed| swap_at_random(&mut worker, seed)).sum();
            assert!(swaps > 200, "{source}, {backend:?}: only {swaps}");
        }
    }
}

#[test]
fn what_was_written_is_part_of_the_state() {
    // Main creates both threads, and both start. Each locks and writes: to a stream in one step, to
    // a file in another.
    let cases = [(&[][..], &[1, 2][..], &[2, 1][..]), (&["letters"], &[1, 2, 1, 2], &[1, 2, 2, 1])];
    for (arguments, one, other) in cases {
        let (mut worker, _folder) =
            worker_of("tests/programs/writers.c", Backend::Fibers, arguments);
        let mut after = |order: &[u16]| hash_after(&mut worker, &[&[0, 0, 1, 2], order].concat());
        let hash = after(one);
        assert_ne!(hash, after(other), "{arguments:?}");
        assert_eq!(hash, after(one), "{arguments:?}");
    }
}
