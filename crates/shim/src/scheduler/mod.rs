//! The scheduler: scheduling points, choices, blocking and wakeups.
//!
//! `alternatives`: the enabled steps and their outcomes. `replay`: choices that the checker gives.
//! Others are made by a `strategy`, one file each: `dfs` (exhaustive search), `pct`, `pos`, `random`.
//! `spinning`: threads that look in vain, again and again. `quiet`: executions that end
//! because only time passes.
//!
//! A thread announces its next visible operation and then calls the scheduler. The chosen thread
//! performs what it announced. A blocking call is two steps: the request, which is always enabled,
//! and resuming once it was granted. Everything here is a function of the program's own past and
//! the choices.

mod alternatives;
mod cycles;
mod dfs;
mod exits;
mod pct;
mod pos;
mod priorities;
pub(crate) mod quiet;
mod random;
mod relocking;
mod replay;
mod spinning;
mod strategy;

pub(crate) use everypath_vkernel::host::{LAST, PEERS, Woken};
pub(crate) use exits::begin_to_exit;
pub(crate) use relocking::before_locking;
pub(crate) use spinning::{
    LOOKS, give_way, insists, leave_out_unfair, note_in_vain, note_look, skips, spin, times_in_vain,
};

use crate::above::Above;
use crate::backend;
use crate::context::Context;
use crate::ending;
use crate::fail::stop;
use crate::log::log;
use crate::multi_process;
use crate::objects;
use crate::region::{region, setup};
use crate::run_state::{CHOSEN, Common, Counter, RunState, STEPS, Setting};
use crate::state::{Ending, Interruption, State, Status, Thread, state};
use crate::symmetry;
use crate::worker::KERNEL;
use alternatives::{can_run, comes_last, offers, outcomes, spurious_wakeups_are_left};
use core::cell::Cell;
use core::mem::offset_of;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use everypath_shim_abi::{
    BatchEntry, Choice, Command, Completion, Event, LogKind, MAX_EVENTS, Object, Operation,
    OperationKind, Outcome, PackedCompletion, PackedOperation, Phase, Policy, TIMEOUT, TimeMode,
    Waiting,
};
use strategy::Among;

/// The execution pauses before the first choice after so many steps.
static PAUSE_AFTER: Common<AtomicU32> = Common::at(offset_of!(RunState, pause_after));
/// After so many steps the controller makes the choices, on its own stack.
static LEAVE_AFTER: Common<AtomicU32> = Common::at(offset_of!(RunState, leave_after));
const NEVER: u32 = u32::MAX;
static MAX_STEPS: Common<AtomicU32> = Common::at(offset_of!(RunState, max_steps));
static TIME: Common<Setting<TimeMode>> = Common::at(offset_of!(RunState, time));
static POLICY: Common<Setting<Policy>> = Common::at(offset_of!(RunState, policy));
/// How many spurious wakeups an execution may have.
static SPURIOUS: Setting<u16> = Setting(Cell::new(0));

/// Whether a scheduling point is a step even if no other thread is there.
static ALWAYS: Setting<bool> = Setting(Cell::new(false));

/// Takes over what a command asks for.
pub(crate) fn obey(command: &Command) {
    let setup = setup();
    let pause_after = command.pause_at.checked_sub(1).unwrap_or(NEVER);
    PAUSE_AFTER.store(pause_after, Relaxed);
    // Choosing leaves dead bytes on the stack that it runs on.
    LEAVE_AFTER.store(if setup.canonical { 0 } else { pause_after }, Relaxed);
    MAX_STEPS.store(setup.max_steps.min(MAX_EVENTS as u32), Relaxed);
    TIME.0.set(setup.time);
    ALWAYS.0.set(setup.joint);
    SPURIOUS.0.set(setup.spurious);
    POLICY.0.set(command.policy);
    replay::obey(command);
    strategy::ALL.iter().for_each(|strategy| strategy.obey(command));
}

/// Takes over what an order asks for.
pub(crate) fn follow(order: BatchEntry) {
    replay::follow(order.prefix);
    strategy::ALL.iter().for_each(|strategy| strategy.follow(order));
}

/// Begins an execution, whose generator is set.
pub(crate) fn begin() {
    [&COMPARED_FROM, &CLOCK_READ].into_iter().for_each(|counter| counter.set(0));
    quiet::begin();
    relocking::begin();
    strategy::of(POLICY.get()).begin();
}

/// How far the virtual clock advances when every runnable thread has yielded.
const IDLE_ROUND_NANOSECONDS: u64 = 1_000_000;
/// After so many rounds without a visible change, it is a livelock if the program's memory repeats:
/// spinning that is meant to end does so after tens or hundreds. More rounds would exceed the usual
/// limit of steps.
const LIVELOCK_ROUNDS: u32 = 45_000;
/// Rounds of many steps would exceed that limit as well: after so many steps fewer rounds are enough, if
/// nobody waits for a clock to advance.
const LATE_STEPS: u32 = 80_000;
const LATE_ROUNDS: u32 = 1000;
/// Within so many rounds the memory must repeat.
const REPEATING_ROUNDS: u32 = 1000;
/// The round from which on it is compared; 0 if it is not.
static COMPARED_FROM: Counter = Counter::new();
/// The step in which a clock was read last.
static CLOCK_READ: Counter = Counter::new();
/// What it was before.
static MEMORY_BEFORE: [Counter; 2] = [const { Counter::new() }; 2];
/// A thread that is alone takes no steps while it spins, and may have much to count.
const LONELY_ROUNDS: u32 = 50_000_000;
/// In an atomic section no other thread can change what a thread waits for.
const SECTION_ROUNDS: u32 = 1000;

/// A scheduling point: any thread may go on, this one with `operation`. Returns the outcome.
#[inline(always)]
pub(crate) fn point(operation: Operation, object: Object) -> u16 {
    ask(operation, object, None)
}

/// A scheduling point of an operation that may block, until a deadline if there is one. A [`wait`]
/// with a deadline must follow a request with the same one.
#[inline(always)]
pub(crate) fn ask(operation: Operation, object: Object, deadline: Option<u64>) -> u16 {
    ask_packed(operation.pack(), object, deadline)
}

/// The same for an operation as it is passed on.
pub(crate) fn ask_packed(operation: PackedOperation, object: Object, deadline: Option<u64>) -> u16 {
    let outcome = request(operation, object, deadline);
    KERNEL.step_begins();
    outcome
}

/// The same for callers that check themselves whether the thread was cancelled.
pub(crate) fn request(operation: PackedOperation, object: Object, deadline: Option<u64>) -> u16 {
    let phase = match deadline {
        None => Phase::Request,
        Some(_) if setup().patient => Phase::Patient,
        Some(_) => Phase::Limited,
    };
    if state().is_concurrent() || ALWAYS.get() { take_part(operation, phase, object) } else { 0 }
}

/// A scheduling point that is a step even if no other thread is there. Returns the outcome.
#[inline(always)]
pub(crate) fn step(operation: Operation, object: Object) -> u16 {
    take_part(operation.pack(), Phase::Request, object)
}

fn take_part(operation: PackedOperation, phase: Phase, object: Object) -> u16 {
    if !ending::is_running() {
        return 0;
    }
    let state = state();
    let thread = state.current();
    thread.announce_packed(operation, object);
    thread.phase.set(phase);
    reschedule(state);
    thread.outcome.get()
}

/// A scheduling point of a read: it wakes no thread that waits for a change.
#[inline(always)]
pub(crate) fn glance(operation: Operation, object: Object) {
    glance_packed(operation.pack(), object);
}

fn glance_packed(operation: PackedOperation, object: Object) {
    let state = state();
    if state.is_concurrent() && ending::is_running() {
        let thread = state.current();
        thread.announce_packed(operation, object);
        thread.idle_step.set(true);
        reschedule(state);
    }
}

/// A point at which the thread only wants others to move.
#[inline(always)]
pub(crate) fn stand_back(operation: Operation, object: Object) {
    stand_back_packed(operation.pack(), object);
}

fn stand_back_packed(operation: PackedOperation, object: Object) {
    let state = state();
    if !ending::is_running() {
        return;
    }
    let thread = state.current();
    thread.announce_packed(operation, object);
    thread.idle_step.set(true);
    // The last rounds are steps, in which its registers are saved and can be compared.
    if !state.is_lonely() || state.idle_rounds.get() >= LONELY_ROUNDS {
        state.standing.change(thread.number.get(), true);
        reschedule(state);
    } else {
        or_end(idle_round(state));
    }
    KERNEL.step_begins();
}

/// Blocks the thread until another grants it what it waits for, or its deadline passes.
pub(crate) fn wait(waiting: Waiting, object: Object, deadline: Option<u64>) -> Woken {
    let state = state();
    let thread = state.current();
    if state.exclusive.get() != 0 {
        stop!("{} would block inside an atomic section", thread.kind.get());
    }
    if thread.is_cancelled() {
        return Woken::Interrupted { restart: false };
    }
    thread.place.set(next_place(state, object));
    thread.object.set(object);
    thread.waiting.set(waiting);
    state.selectable.set(state.selectable.get() + u16::from(is_selectable(waiting)));
    set_deadline(thread, deadline.map_or(0, |at| at.max(1)));
    thread.timed_out.set(false);
    thread.set_status(Status::Blocked);
    thread.phase.set(Phase::Resume);
    reschedule(state);
    thread.mask.set(0);
    thread.place.set(0);
    match thread.interruption.replace(Interruption::None) {
        Interruption::None if thread.timed_out.replace(false) => Woken::TimedOut,
        Interruption::None => Woken::Granted,
        kind => Woken::Interrupted { restart: kind == Interruption::Restarting },
    }
}

/// Blocks another thread, which has announced its wait, until a moment; or changes until when.
pub(crate) fn block_until(thread: &Thread, moment: u64) {
    thread.waiting.set(Waiting::Time);
    thread.timed_out.set(false);
    set_deadline(thread, moment.max(1));
    thread.set_status(Status::Blocked);
    thread.phase.set(Phase::Resume);
}

/// The place of who is the next to wait. Not inlined: what it looks at would stay on the stack of
/// the thread that waits, and become part of its state.
#[inline(never)]
fn next_place(state: &State, object: Object) -> u16 {
    let last = state.waiters_on(object).map(|other| other.place.get()).max();
    last.map_or(1, |place| place + 1)
}

/// Lets a waiting thread go on.
pub(crate) fn grant(thread: &Thread) {
    thread.set_status(Status::Ready);
    // The step that is being taken has been counted already.
    thread.granted_by.set(STEPS.load(Relaxed));
    let waited = thread.waiting.replace(Waiting::Nothing);
    let selectable = &state().selectable;
    selectable.set(selectable.get() - u16::from(is_selectable(waited)));
    set_deadline(thread, 0);
}

/// Ends a thread, which may wait, for good.
pub(crate) fn withdraw(thread: &Thread) {
    grant(thread);
    let state = state();
    state.standing.change(thread.number.get(), false);
    state.alive.set(state.alive.get() - 1);
    let chooses = u16::from(thread.is_injector());
    state.selectable.set(state.selectable.get() - chooses);
    thread.set_status(Status::Ended);
}

/// Whether a wakeup of such a wait chooses among the waiters.
fn is_selectable(waiting: Waiting) -> bool {
    matches!(waiting, Waiting::Cond | Waiting::Futex)
}

/// Sets when a wait ends by itself, and counts the waits that do.
fn set_deadline(thread: &Thread, deadline: u64) {
    let before = thread.deadline.replace(deadline);
    let deadlines = &state().deadlines;
    deadlines.set(deadlines.get() + u16::from(deadline != 0) - u16::from(before != 0));
}

/// The thread that has waited longest for something.
pub(crate) fn first_waiter(waiting: Waiting, object: Object) -> Option<&'static Thread> {
    state().waiters(waiting, object).min_by_key(|thread| thread.place.get())
}

/// How many threads wait on a condition: of pthreads, or of Rust, where those count that sleep at its
/// word without having begun as a step.
fn waiters_on_condition(state: &State, condition: Object) -> u32 {
    let waits = |thread: &&Thread| matches!(thread.waiting.get(), Waiting::Cond | Waiting::Futex);
    state.waiters_on(condition).filter(waits).count() as u32
}

/// The threads that wait on a futex with a mask.
pub(crate) fn futex_waiters(
    state: &State,
    word: Object,
    mask: u32,
) -> impl Iterator<Item = &Thread> {
    // Conditions of Rust are futexes; those of pthreads have no mask.
    let waits = |thread: &Thread| matches!(thread.waiting.get(), Waiting::Futex | Waiting::Cond);
    let waiters = state.waiters_on(word).filter(move |thread| waits(thread));
    waiters.filter(move |thread| thread.mask.get() & mask != 0)
}

/// Lets a waiting thread wait at another object, after all who do so already.
pub(crate) fn requeue(thread: &Thread, waiting: Waiting, object: Object) {
    let last = state().waiters(waiting, object).map(|other| other.place.get()).max();
    thread.place.set(last.map_or(1, |place| place + 1));
    thread.object.set(object);
}

/// Lets all who wait for something go on.
pub(crate) fn grant_all(waiting: Waiting, object: Object) {
    state().waiters(waiting, object).for_each(grant);
}

/// Suspends the running thread until it is chosen, and resumes the chosen one.
pub(crate) fn reschedule(state: &'static State) {
    crate::accesses::end_step(state);
    state.current().context.yield_to(decide);
    KERNEL.goes_on();
}

/// Chooses, once the thread that ran is saved.
extern "C" fn decide() -> *const Context {
    let state = state();
    let from = state.current();
    if state.freed.get() != 0 {
        KERNEL.hand_over(state);
    }
    if STEPS.load(Relaxed) >= LEAVE_AFTER.load(Relaxed) {
        return backend::way_home(from);
    }
    match next(state) {
        Ok(to) if core::ptr::eq(to, from) => core::ptr::null(),
        Ok(to) if multi_process::is_own(to) && !to.is_injector() => backend::way(from, to),
        Ok(_) => {
            CHOSEN.store(true, Relaxed);
            backend::way_home(from)
        }
        Err(ending) => {
            ending::note_end(ending);
            backend::way_home(from)
        }
    }
}

/// Chooses the next thread, and takes its step as far as the thread does not do that itself.
pub(crate) fn next(state: &'static State) -> Result<&'static Thread, Ending> {
    cycles::look(state)?;
    relocking::look(state);
    let (choice, alternatives) = choose(state)?;
    take(state, choice, alternatives)?;
    cycles::note(choice.thread);
    if choice.thread != state.current.get() {
        state.current.set(choice.thread);
        SWITCHES.set(SWITCHES.get() + 1);
    }
    Ok(state.thread(choice.thread))
}

/// Whether the execution pauses here, before a thread is chosen.
pub(crate) fn pauses(state: &'static State) -> Result<bool, Ending> {
    let step = STEPS.load(Relaxed);
    if step < PAUSE_AFTER.load(Relaxed) {
        return Ok(false);
    }
    check_length(step)?;
    let mode = TIME.get();
    settle(state, mode)?;
    dfs::write_down(state, mode)?;
    Ok(true)
}

/// How often another thread was chosen than the one that ran.
pub(crate) static SWITCHES: Common<Counter> = Common::at(offset_of!(RunState, switches));

/// Advances the virtual clock until a step is enabled; returns what can be chosen from.
fn settle(state: &State, mode: TimeMode) -> Result<Among, Ending> {
    loop {
        // Most of the time nothing but threads is chosen from: no time-out, no waiter to pick.
        let able = can_run(state);
        let simple = state.deadlines.get() == 0
            && (state.selectable.get() == 0
                || !spurious_wakeups_are_left(state)
                    && state.members(able).all(|thread| outcomes(state, thread) == 1));
        let total = if simple {
            able.count_ones()
        } else {
            state.threads().map(|thread| offers(state, thread, mode)).sum()
        };
        if total > 0 {
            if able == 0 {
                quiet::look(state)?;
            }
            return Ok(Among { total, simple });
        }
        if state.ready.bits() == 0 && KERNEL.hand_over_unseen(state) {
            continue;
        }
        if state.ready.bits() == 0 {
            return Err(KERNEL.stuck(state));
        }
        if let Some(ending) = symmetry::stuck(state) {
            return Err(ending);
        }
        idle_round(state)?;
    }
}

/// The next choice and how many there were.
fn choose(state: &'static State) -> Result<(Choice, u32), Ending> {
    let mode = TIME.get();
    let strategy = strategy::of(POLICY.get());
    strategy.goes_on()?;
    let among = settle(state, mode)?;
    if replay::are_left()
        && let Some(wanted) = replay::next(state, mode)?
    {
        strategy.note_given(state, mode)?;
        return Ok((wanted, among.total));
    }
    Ok((strategy.choose(state, mode, among)?, among.total))
}

/// One of several ways to go on; each of them is explored.
pub(crate) fn choose_way(ways: u32) -> u16 {
    let selectable = &state().selectable;
    selectable.set(selectable.get() + 1);
    let chosen = step(Operation::Choose(ways), Object::NONE);
    selectable.set(selectable.get() - 1);
    chosen
}

/// Takes a chosen step: records it, and fires its time-out if that is what it is.
fn take(state: &State, choice: Choice, alternatives: u32) -> Result<(), Ending> {
    let thread = state.thread(choice.thread);
    record(thread, choice.outcome, alternatives)?;
    symmetry::note(state, thread);
    if !thread.idle_step.get() {
        state.idle_rounds.set(0);
        state.standing.clear();
        thread.looked.set([0; 3]);
        thread.yields.set(0);
        spinning::forget(thread);
    } else {
        state.standing.change(thread.number.get(), false);
    }
    thread.clock_reads.set(0);
    thread.outcome.set(choice.outcome);
    if choice.outcome == TIMEOUT && thread.status() == Status::Blocked {
        match thread.deadline.get() {
            0 => {
                state.spurious.set(state.spurious.get() + 1);
                complete(&[OperationKind::CondWait], Completion::Spurious);
            }
            LAST | PEERS => thread.timed_out.set(true),
            deadline => {
                quiet::note_timeout(state, thread);
                state.clock.set(state.clock.get().max(deadline));
                thread.timed_out.set(true);
            }
        }
        grant(thread);
    }
    Ok(())
}

/// Whether another step is allowed.
fn check_length(step: u32) -> Result<(), Ending> {
    if step < MAX_STEPS.load(Relaxed) {
        return Ok(());
    }
    Err(Ending { outcome: Outcome::TooLong, detail: step as i32 })
}

/// Writes a step down for the checker.
fn record(thread: &Thread, outcome: u16, alternatives: u32) -> Result<(), Ending> {
    let step = STEPS.load(Relaxed);
    check_length(step)?;
    let mut event = Event::announced(thread.number.get(), announced(thread), thread.object.get());
    event.phase = thread.phase.get();
    event.outcome = outcome;
    event.is_last = outcome == TIMEOUT && comes_last(state(), thread);
    event.alternatives = alternatives.min(u32::from(u16::MAX)) as u16;
    if event.phase == Phase::Resume {
        // Forgotten then, or states would differ by the number of steps that led to them.
        event.granted_by = thread.granted_by.replace(0);
    }
    log(LogKind::Step, [u64::from(step), event.kind() as u64, event.thread.into()]);
    region().events[step as usize].set(event);
    region().schedule[step as usize].set(Choice { thread: event.thread, outcome });
    STEPS.store(step + 1, Relaxed);
    crate::accesses::begin_step(thread.number.get(), step);
    moved();
    Ok(())
}

/// What a thread would do now, as precisely as is known.
fn announced(thread: &Thread) -> PackedOperation {
    if thread.kind.get() == OperationKind::ProcessExit
        && let Some(refined) = exits::refined(thread)
    {
        return refined;
    }
    match KERNEL.refined(thread) {
        Some(refined) => refined.pack(),
        None => thread.announced(),
    }
}

/// Records what performing the step showed that is being taken, if that is one of these: a thread that
/// is alone takes no steps, and the last one is another then.
#[inline(always)]
pub(crate) fn complete(kinds: &'static [OperationKind], completion: Completion) {
    complete_earlier(0, kinds, completion.pack());
}

/// The same for a step that so many others of the same thread followed, which belong to it. Not
/// inlined: what it looks at would stay on the stack of the thread, and become part of its state.
#[inline(never)]
pub(crate) fn complete_earlier(
    after: u32,
    kinds: &'static [OperationKind],
    completion: PackedCompletion,
) {
    let Some(step) = STEPS.load(Relaxed).checked_sub(1 + after) else { return };
    let event = &region().events[step as usize];
    if kinds.contains(&event.get().kind()) {
        event.set(event.get().completed(completion));
    }
}

/// Writes down that a thread was created: there was a choice before it only if others could run.
pub(crate) fn note_creation(created: &Thread, was_concurrent: bool) {
    let state = state();
    if !was_concurrent {
        crate::accesses::end_step(state);
        let thread = state.current();
        thread.announce(Operation::Create, objects::memory(created.function.get()));
        strategy::of(POLICY.get()).note_only(thread);
        replay::pass(thread.number.get());
        or_end(take(state, Choice { thread: thread.number.get(), outcome: 0 }, 1));
    }
    // An alarm that is armed creates a thread that rings.
    let creates = &[OperationKind::Create, OperationKind::TimerSet];
    complete(creates, Completion::Created(created.number.get()));
}

/// Ends the execution that a thread is in the middle of, if something says so.
fn or_end(result: Result<(), Ending>) {
    if let Err(ending) = result {
        ending::ended(ending.outcome, ending.detail);
    }
}

/// Tells the watchdog that the program moves.
fn moved() {
    let progress = &region().progress;
    // Nobody else writes it, so this need not be one instruction.
    progress.store(progress.load(Relaxed).wrapping_add(1), Relaxed);
}

/// Every runnable thread has yielded: the clock advances, and they may retry.
fn idle_round(state: &State) -> Result<(), Ending> {
    let rounds = state.idle_rounds.get() + 1;
    state.idle_rounds.set(rounds);
    state.clock.set(state.clock.get() + IDLE_ROUND_NANOSECONDS);
    state.standing.clear();
    moved();
    let most = match state.is_lonely() {
        _ if state.exclusive.get() != 0 => SECTION_ROUNDS,
        true => LONELY_ROUNDS,
        false => livelock_rounds(rounds),
    };
    if rounds <= most {
        return Ok(());
    }
    if state.exclusive.get() != 0 {
        let said =
            "livelock inside an atomic section: the thread spins for others, which cannot run";
        ending::say(format_args!("{said}"));
        return Err(Ending { outcome: Outcome::Uncontrolled, detail: 0 });
    }
    if repeats(state, rounds - most) {
        return Err(Ending { outcome: Outcome::Livelock, detail: 0 });
    }
    // Other threads take steps while they spin, of which the number is limited.
    if rounds > most + REPEATING_ROUNDS && state.is_lonely() {
        let said = "a thread spins for others, of which there are none, while memory changes: \
                    whether it gives up is not known";
        ending::say(format_args!("{said}"));
        return Err(Ending { outcome: Outcome::Uncontrolled, detail: 0 });
    }
    Ok(())
}

/// After how many rounds the memory of several threads that spin is compared.
fn livelock_rounds(rounds: u32) -> u32 {
    if COMPARED_FROM.get() > u64::from(rounds) {
        COMPARED_FROM.set(0);
    }
    let steps = STEPS.load(Relaxed);
    let is_late = steps >= LATE_STEPS && rounds > LATE_ROUNDS;
    if COMPARED_FROM.get() == 0 && is_late && CLOCK_READ.get() < u64::from(steps / 2) {
        COMPARED_FROM.set(rounds.into());
    }
    match COMPARED_FROM.get() {
        0 => LIVELOCK_ROUNDS,
        from => LIVELOCK_ROUNDS.min(from as u32 - 1),
    }
}

/// A thread has read a clock: it may wait until that shows a certain time.
pub(crate) fn note_clock_read() {
    CLOCK_READ.set(STEPS.load(Relaxed).into());
}

/// Whether the memory of the program is what it was before, in the first of these rounds. The memory of
/// other processes cannot be seen, and is taken to repeat.
#[inline(never)]
fn repeats(state: &State, round: u32) -> bool {
    if multi_process::is_one_of_several() {
        return true;
    }
    if round > REPEATING_ROUNDS {
        return false;
    }
    let now = crate::fingerprint::of_memory(state);
    let now = [now as u64, (now >> 64) as u64];
    let before = [MEMORY_BEFORE[0].get(), MEMORY_BEFORE[1].get()];
    // Not only the first one: the threads may have been about to begin their last cycle.
    if round.is_power_of_two() {
        MEMORY_BEFORE.iter().zip(now).for_each(|(before, now)| before.set(now));
    }
    round > 1 && now == before
}
