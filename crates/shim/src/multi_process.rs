//! Several processes as one closed system: shared tables, and the hand-off between them.
//!
//! There is one thread table and one table of sockets for all, and the scheduler chooses among all
//! threads. All of that lies in memory that the processes share, at the same addresses. One process
//! runs at a time: if the next step belongs to a thread of another process, it hands off by a futex
//! and waits. The first process, the program that is checked, talks to the checker. Each process
//! restores its own memory when it first runs in an execution.
//!
//! A program that is alone is a system of one process.

use crate::descriptors;
use crate::memory::{map, round_up};
use crate::partition;
use crate::region::{self, SysFutex, setup};
use crate::run_state::{Common, RunState};
use crate::scheduler::{Ending, reschedule, withdraw};
use crate::state::{State, Thread, state};
use crate::symmetry;
use crate::sys::{number, sys};
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicUsize, Ordering};
use everypath_shim_abi::address_space::{BUFFERS, OBJECTS, PAGE, RUN_STATE, STATE};
use everypath_shim_abi::{
    Baton, IdleMode, MAX_NOTICES, MAX_PROCESSES, MAX_THREADS, Notice, NoticeKind, Outcome,
    reserved_fds,
};

/// The process that talks to the checker.
pub(crate) const FIRST: usize = 0;
static PROCESS: AtomicUsize = AtomicUsize::new(FIRST);
static PROCESSES: AtomicUsize = AtomicUsize::new(1);
/// How many threads each process may have.
static EACH: AtomicU16 = AtomicU16::new(MAX_THREADS as u16);

/// The hand-off: a baton for each process.
static TURNS: Common<[Baton; MAX_PROCESSES]> = Common::at(offset_of!(RunState, turns));

/// Finds out which process this is, and maps what it shares with others, or has for itself.
pub(crate) fn join() {
    if region::open() {
        let setup = setup();
        PROCESS.store(usize::from(setup.process), Ordering::Relaxed);
        PROCESSES.store(usize::from(setup.processes.max(1)), Ordering::Relaxed);
        EACH.store(setup.threads_each() as u16, Ordering::Relaxed);
    }
    let mut offset = 0;
    for (address, length) in [
        (STATE, offset_of!(State, own)),
        (RUN_STATE, size_of::<RunState>()),
        (OBJECTS, crate::kernel::OBJECTS_LENGTH),
        (BUFFERS, crate::kernel::BUFFERS_LENGTH),
    ] {
        let length = round_up(length, PAGE);
        if is_one_of_several() {
            map_shared(address, length, offset);
        } else {
            map(address, length);
        }
        offset += length;
    }
    if is_one_of_several() {
        sys!(number::CLOSE, reserved_fds::SHARED_STATE);
    }
}

fn map_shared(address: usize, length: usize, offset: usize) {
    const READ_WRITE: usize = 3;
    const SHARED_FIXED_NOREPLACE: usize = 0x10_0001;
    let (flags, fd) = (SHARED_FIXED_NOREPLACE, reserved_fds::SHARED_STATE);
    let got = sys!(number::MMAP, address, length, READ_WRITE, flags, fd, offset);
    if got != address as isize {
        crate::fail::fatal("the memory that the processes of a system share cannot be mapped");
    }
}

/// The number of this process.
pub(crate) fn process() -> usize {
    PROCESS.load(Ordering::Relaxed)
}

/// How many processes there are.
pub(crate) fn processes() -> usize {
    PROCESSES.load(Ordering::Relaxed)
}

/// Whether there are others.
pub(crate) fn is_one_of_several() -> bool {
    processes() > 1
}

/// Whether this process is the program that is checked.
pub(crate) fn is_first() -> bool {
    process() == FIRST
}

/// How many threads each process may have.
pub(crate) fn threads_each() -> u16 {
    EACH.load(Ordering::Relaxed)
}

/// The number of the thread that runs this program's `main`.
pub(crate) fn main_thread() -> u16 {
    process() as u16 * threads_each()
}

/// The process that a thread belongs to.
pub(crate) fn owner(thread: u16) -> usize {
    usize::from(thread / threads_each())
}

/// Whether a thread is one of this process.
pub(crate) fn is_own(thread: &Thread) -> bool {
    // A division takes longer than everything else that is asked at a switch.
    !is_one_of_several() || owner(thread.number.get()) == process()
}

/// Lets all processes run on the processor that the first one was on: only one of them runs at a
/// time, and waking one on another processor takes far longer.
pub(crate) fn stay_together() {
    static IS_TOGETHER: AtomicBool = AtomicBool::new(false);
    static PROCESSOR: Common<AtomicU32> = Common::at(offset_of!(RunState, processor));
    const WORDS: usize = 16;
    if !is_one_of_several() || IS_TOGETHER.swap(true, Ordering::Relaxed) {
        return;
    }
    if is_first() {
        let here = AtomicU32::new(0);
        sys!(number::GETCPU, here.as_ptr(), 0, 0);
        PROCESSOR.store(here.into_inner(), Ordering::Relaxed);
    }
    let processor = PROCESSOR.load(Ordering::Relaxed) as usize;
    let mut set = [0u64; WORDS];
    if let Some(word) = set.get_mut(processor / 64) {
        *word = 1 << (processor % 64);
        // If it may not, it is slower.
        sys!(number::SCHED_SETAFFINITY, 0, size_of_val(&set), set.as_ptr());
    }
}

/// Passes the turn on.
pub(crate) fn pass_to(process: usize) {
    TURNS[process % MAX_PROCESSES].pass(&SysFutex);
}

/// Waits for the turn.
pub(crate) fn await_turn() {
    TURNS[process()].take(&SysFutex);
}

/// Whether this process can end unnoticed: it is one of several, and ends no threads that could have
/// gone on.
pub(crate) fn ends_unnoticed() -> bool {
    is_one_of_several() && state().own_unjoined[process()].get() == 0
}

/// Ends this process, while others go on. What it has open is closed, one step each.
pub(crate) fn leave() -> ! {
    let state = state();
    let me = state.current();
    state.exclusive.set(0);
    state.sections.set(0);
    symmetry::be_seen(state, process());
    for other in state.own_threads().filter(|other| other.is_alive()) {
        if !core::ptr::eq(other, me) && !partition::is_one(other) {
            withdraw(other);
        }
    }
    descriptors::close_objects();
    withdraw(me);
    reschedule(state);
    unreachable!("a thread of a process that has ended is never chosen")
}

/// Tells the checker of something unusual among the processes of a system, which no peer can have
/// caused.
pub(crate) fn notice(what: NoticeKind, port: u16) {
    if is_one_of_several() {
        note(Notice { what, process: process() as u8, port });
    }
}

/// Tells the checker that threads of a process wait for others, while one of these waits for clients.
pub(crate) fn note_idle_workers(process: usize) {
    note(Notice { what: NoticeKind::IdleWorkers, process: process as u8, port: 0 });
}

/// Tells the checker that standard input was read, which is empty.
pub(crate) fn note_empty_input() {
    note(Notice { what: NoticeKind::EmptyInput, process: process() as u8, port: 0 });
}

/// Tells the checker that the program makes memory executable.
pub(crate) fn note_generated_code() {
    note(Notice { what: NoticeKind::GeneratedCode, process: process() as u8, port: 0 });
}

fn note(notice: Notice) {
    let region = region::region();
    let count = region.notice_count.get() as usize;
    let is_known = region.notices.iter().take(count).any(|known| known.get() == notice);
    if count < MAX_NOTICES && !is_known {
        region.notices[count].set(notice);
        region.notice_count.set(count as u32 + 1);
    }
}

/// The exit code of the program that is checked, if it has ended as it should not.
pub(crate) fn failed_before() -> Option<i32> {
    let state = state();
    let is_over = !state.threads().any(|thread| is_alive_in(thread, FIRST));
    Some(state.exit_code.get()).filter(|&code| is_over && code != setup().exit_code)
}

/// How an execution ends in which nothing has happened for long but that time passes, if every process
/// waits for clients, or the program that is checked has ended as expected; none if it goes on.
pub(crate) fn idle_in_time(state: &State) -> Option<Ending> {
    let is_over = |process| !state.threads().any(|thread| is_alive_in(thread, process));
    let is_fine = |process| match crate::net::idle_in_time(state, process) {
        Some(listens) => listens || is_over(FIRST),
        None => false,
    };
    let all_are = (0..processes()).filter(|&process| !is_over(process)).all(is_fine);
    let exited_well = !is_over(FIRST) || state.exit_code.get() == setup().exit_code;
    (all_are && exited_well).then_some(Ending { outcome: Outcome::Quiet, detail: 0 })
}

fn is_alive_in(thread: &Thread, process: usize) -> bool {
    owner(thread.number.get()) == process && thread.is_alive()
}

/// How an execution ends in which no step is enabled.
pub(crate) fn stuck(state: &State) -> Ending {
    let is_over = |process| !state.threads().any(|thread| is_alive_in(thread, process));
    let mut listens = true;
    for process in (0..processes()).filter(|&process| !is_over(process)) {
        match crate::net::idle(state, process) {
            Some(also) => listens &= also,
            None => return Ending { outcome: Outcome::Deadlock, detail: 0 },
        }
    }
    let code = state.exit_code.get();
    let is_fine = listens || setup().idle == IdleMode::Fine || code != setup().exit_code;
    if is_over(FIRST) && is_fine {
        return Ending { outcome: Outcome::Exited, detail: code };
    }
    Ending { outcome: Outcome::Idle, detail: (listens && !is_over(FIRST)).into() }
}
