//! The beginning and the end of executions, and the commands of the checker.

use crate::backend;
use crate::ending::{self, note_end};
use crate::fingerprint::fingerprint;
use crate::log::log;
use crate::multi_process;
use crate::process_faults;
use crate::region::{count, hand_over, own, region, reply, setup};
use crate::run_state::{BEGUN, CHOSEN, Common, RunState, STEPS};
use crate::scheduler::{self, SWITCHES};
use crate::snapshot;
use crate::state::{Ending, Status, Thread, state};
use crate::sys::{number, sys};
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use everypath_shim_abi::{
    Command, LogKind, MAX_BATCH, Outcome, Policy, Request, Restart, Splitmix, ThreadEntry,
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Whether the program has taken a step since it was restored.
static MOVED: AtomicBool = AtomicBool::new(false);
/// Whether the next process to run shall only describe its threads.
static DESCRIBING: Common<AtomicBool> = Common::at(offset_of!(RunState, describing));
/// The number of the present execution, and the one that this process was restored for.
static EXECUTION: Common<AtomicU64> = Common::at(offset_of!(RunState, execution));
static PUT_BACK: AtomicU64 = AtomicU64::new(0);
/// The process that runs the present execution, while forking.
static CHILD: AtomicU32 = AtomicU32::new(0);

/// Serves the checker's commands; the program is ready to run from its start.
pub(crate) fn serve() -> ! {
    loop {
        hand_over();
        let command = own().command.get();
        log(LogKind::Request, [command.request as u64, command.count, 0]);
        scheduler::obey(&command);
        crate::heap::obey(&setup());
        match command.request {
            Request::Begin => {
                crate::start::begin();
                if !multi_process::is_first() {
                    process_faults::remember_start();
                    crate::region::give_back();
                    attend();
                }
            }
            Request::Run => run(&command),
            Request::Continue => go_on(),
            Request::Save => snapshot::save(command.slot),
            Request::Resume => {
                snapshot::load(command.slot);
                go_on();
            }
            Request::None => {}
        }
    }
}

/// Takes part in a system: does what is to be done whenever this process has the turn.
fn attend() -> ! {
    ending::take_control();
    loop {
        multi_process::await_turn();
        multi_process::stay_together();
        let execution = EXECUTION.load(Relaxed);
        if PUT_BACK.swap(execution, Relaxed) != execution {
            snapshot::restore_first();
        }
        let next = if DESCRIBING.load(Relaxed) {
            describe_own();
            multi_process::FIRST
        } else {
            run_own()
        };
        multi_process::pass_to(next);
    }
}

/// Runs executions until one is not as expected.
fn run(command: &Command) {
    ending::take_control();
    multi_process::stay_together();
    region().notice_count.set(0);
    let ordered = crate::batch::are_given(command);
    if ordered {
        crate::batch::begin();
    }
    for number in 0..command.count {
        reset();
        if ordered {
            crate::batch::take_over(number);
        }
        region().random.set(Splitmix::of(command.seed, command.first + number));
        scheduler::begin();
        match setup().restart {
            Restart::Fork => fork_one(),
            Restart::Automatic | Restart::Copy | Restart::Tracked => go_on(),
        }
        if command.policy != Policy::First {
            let class = crate::trace_hash::class(region().reply.get().steps);
            region().classes[number as usize % MAX_BATCH].set(class);
        }
        if region().reply.get().outcome == Outcome::Unwanted {
            reply(|reply| reply.executions = number);
            return;
        }
        reply(|reply| reply.executions = number + 1);
        let abandoned = region().reply.get().outcome == Outcome::Abandoned;
        let quiet = region().reply.get().outcome == Outcome::Quiet;
        count(|counters| {
            counters.abandoned += u64::from(abandoned);
            counters.quiet += u64::from(quiet);
        });
        let goes_on = match ordered {
            true => crate::batch::keep(number, is_expected()),
            false => is_expected(),
        };
        if !goes_on {
            return;
        }
    }
}

/// Puts the program back to its start if it has moved.
fn reset() {
    if MOVED.swap(true, Relaxed) {
        match setup().restart {
            Restart::Fork => {}
            _ if crate::dirty_pages::is_armed() => crate::dirty_pages::restore(),
            _ => snapshot::restore_first(),
        }
    }
    STEPS.store(0, Relaxed);
    crate::accesses::begin_execution();
    BEGUN.store(false, Relaxed);
    CHOSEN.store(false, Relaxed);
    EXECUTION.fetch_add(1, Relaxed);
    region().output.iter().for_each(|output| output.length.set(0));
    region().reached_before.set(region().reached_count.get());
}

/// Lets the program go on until its execution ends or pauses.
fn go_on() {
    reply(|reply| {
        reply.outcome = Outcome::None;
        reply.address = 0;
        reply.text[0] = 0;
    });
    let before = STEPS.load(Relaxed);
    run_threads();
    let steps = STEPS.load(Relaxed);
    region().schedule_length.set(steps);
    count(|counters| {
        counters.steps += u64::from(steps.saturating_sub(before));
        counters.switches = SWITCHES.get();
    });
    reply(|reply| reply.steps = steps);
    if setup().digest && region().reply.get().outcome != Outcome::Paused {
        digest();
    }
    if setup().judged && is_expected() {
        crate::output_digest::settle();
    }
    let in_vain = [Outcome::SleepSetBlocked, Outcome::Unwanted];
    if !is_expected() && !in_vain.contains(&region().reply.get().outcome) {
        describe_threads();
    }
}

/// Lets threads run until the execution ends or pauses.
fn run_threads() {
    loop {
        let next = run_own();
        if has_ended() {
            return;
        }
        multi_process::pass_to(next);
        multi_process::await_turn();
    }
}

fn has_ended() -> bool {
    region().reply.get().outcome != Outcome::None
}

/// Lets threads of this process run until the turn is another's: whose.
fn run_own() -> usize {
    let state = state();
    while !has_ended() {
        if BEGUN.swap(true, Relaxed) && !CHOSEN.swap(false, Relaxed) {
            let next = match scheduler::pauses(state) {
                Ok(true) => Err(pause()),
                Ok(false) => scheduler::next(state).map(|_thread| ()),
                Err(ending) => Err(ending),
            };
            if let Err(ending) = next {
                note_end(ending);
                break;
            }
        }
        let owner = multi_process::owner(state.current.get());
        if owner != multi_process::process() {
            CHOSEN.store(true, Relaxed);
            return owner;
        }
        if state.current().is_injector() {
            process_faults::meet(state.current());
            continue;
        }
        if setup().canonical {
            snapshot::scrub(state.current());
        }
        backend::enter(state.current());
    }
    multi_process::FIRST
}

/// The execution stands before a choice. The detail says whether a thread stands back: then
/// steps depend on more than their footprints.
fn pause() -> Ending {
    if setup().canonical {
        reply(|reply| reply.hash = fingerprint());
    }
    let stands_back = |thread: &Thread| thread.is_alive() && thread.idle_step.get();
    let detail = i32::from(state().threads().any(stands_back));
    Ending { outcome: Outcome::Paused, detail }
}

fn is_expected() -> bool {
    let reply = region().reply.get();
    setup().expects(reply.outcome, reply.detail)
}

/// Runs one execution in a process of its own.
fn fork_one() {
    const SIGCHLD: usize = 17;
    const SIGKILL: usize = 9;
    const DIE_WITH_PARENT: usize = 1;
    const INTERRUPTED: isize = 4;
    match sys!(number::CLONE, SIGCHLD, 0, 0, 0, 0) {
        0 => {
            sys!(number::PRCTL, DIE_WITH_PARENT, SIGKILL);
            backend::forget();
            crate::dispatch::arm();
            go_on();
            loop {
                sys!(number::EXIT_GROUP, 0);
            }
        }
        child if child > 0 => {
            CHILD.store(child as u32, Relaxed);
            // The watchdog's signal interrupts the wait, and is passed on.
            while sys!(number::WAIT4, child, 0, 0, 0) == -INTERRUPTED {}
            CHILD.store(0, Relaxed);
        }
        _ => crate::fail::unable("cannot fork: no more processes (ulimit -u) or memory"),
    }
}

/// Passes a signal on to the process that runs the present execution; false if there is none.
pub(crate) fn pass_on(signal: i32) -> bool {
    let child = CHILD.load(Relaxed);
    if child != 0 {
        sys!(number::KILL, child, signal);
    }
    child != 0
}

/// Adds the execution to the hash over all of them.
fn digest() {
    let region = region();
    let reply_now = region.reply.get();
    let ending = [reply_now.outcome as u64, reply_now.detail as u64, u64::from(reply_now.steps)];
    let mut sum = reply_now.digest;
    let mut add = |address: usize, length: usize| {
        sum = xxh3_64_with_seed(crate::memory::bytes(address, length), sum);
    };
    add(ending.as_ptr() as usize, size_of_val(&ending));
    add(region.events.as_ptr() as usize, reply_now.steps as usize * size_of_val(&region.events[0]));
    for output in &region.output {
        let kept = (output.length.get() as usize).min(output.bytes.len());
        add(output.bytes.as_ptr() as usize, kept);
    }
    reply(|reply| reply.digest = sum);
}

/// Describes every thread for the checker.
fn describe_threads() {
    region().thread_count.set(0);
    describe_own();
    DESCRIBING.store(true, Relaxed);
    for process in 1..multi_process::processes() {
        multi_process::pass_to(process);
        multi_process::await_turn();
    }
    DESCRIBING.store(false, Relaxed);
}

/// Describes the threads of this process, which alone knows the owners of their locks.
fn describe_own() {
    let region = region();
    let mut described = region.thread_count.get() as usize;
    for thread in state().own_threads().filter(|thread| thread.status() != Status::Free) {
        let at = thread.at.get();
        let (far, across) = crate::net::other_end(thread).unwrap_or_default();
        let entry = ThreadEntry {
            number: thread.number.get(),
            operation: thread.kind.get(),
            phase: thread.phase.get(),
            waiting: match thread.status() {
                Status::Ended => everypath_shim_abi::Waiting::Ended,
                _ => thread.waiting.get(),
            },
            object: thread.object.get(),
            holder: crate::sync::holder(thread),
            far,
            across,
            allocation: crate::heap::allocation_of(thread.object.get()),
            registers: match at {
                _ if thread.is_injector() => [0; 3],
                [0, ..] => thread.context.registers(),
                _ => at,
            },
            stack_top: thread.stack_top() as u64,
            name: thread.name.get(),
        };
        region.threads[described].set(entry);
        described += 1;
    }
    region.thread_count.set(described as u32);
}

/// The thread that the program starts with is ready to run.
pub(crate) fn main_is_ready() {
    state().current.set(multi_process::main_thread());
    MOVED.store(false, Relaxed);
}
