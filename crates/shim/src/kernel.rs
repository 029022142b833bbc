//! The kernel's host: where its state lies in the address space of a worker, and how it reaches the
//! scheduler, the checker and the program's memory.
//!
//! The type has no size and every address is a constant, so that calls through it cost nothing.

use crate::cancel;
use crate::ending;
use crate::files;
use crate::guest;
use crate::memory::{self, view};
use crate::multi_process;
use crate::output;
use crate::region::{self, count, region, reply};
use crate::run_state::{Common, RunState, STEPS};
use crate::scheduler;
use crate::signals::{self, SIGABRT};
use crate::state::{self, Status, state};
use crate::sync::rust_condvar;
use crate::tables::{object_at, slot_at};
use crate::timers;
use crate::worker::Worker;
use core::cell::Cell;
use core::fmt;
use core::mem::offset_of;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use everypath_commtree as commtree;
use everypath_shim_abi::address_space::BUFFERS;
use everypath_shim_abi::{
    MAX_THREADS, NoticeKind, Object as Footprint, Operation, OperationKind, Outcome,
    PackedCompletion, PackedOperation, Setup, Upcall, UpcallReply, Waiting,
};
use everypath_vkernel::buffer::CAPACITY;
use everypath_vkernel::fd_table::Open;
use everypath_vkernel::host::{
    Environment, Files, Memory, PEERS, Scheduler, Tables, Thread, Threads, Woken,
};
use everypath_vkernel::{MAX_WATCHED, Object, OwnState, Slot, State, Task, Transit, signal, timer};

impl Memory for Worker {
    fn read(&self, at: usize, out: &mut [u8]) -> Result<(), i32> {
        guest::read(at, out)
    }

    fn write(&self, at: usize, bytes: &[u8]) -> Result<(), i32> {
        guest::write(at, bytes)
    }

    fn check(&self, at: usize, length: usize) -> Result<(), i32> {
        guest::bytes(at, length).map(drop)
    }

    fn writable(&self, at: usize, length: usize) -> Result<usize, i32> {
        guest::writable(at, length).map(|room| room.len())
    }

    fn copy(&self, to: usize, from: usize, length: usize) -> Result<(), i32> {
        guest::copy(to, from, length)
    }

    fn read_own(&self, at: usize, out: &mut [u8]) {
        memory::copy(out.as_mut_ptr() as usize, at, out.len());
    }

    fn write_own(&self, at: usize, bytes: &[u8]) {
        memory::write(at, bytes);
    }

    fn shift_own(&self, to: usize, from: usize, length: usize) {
        memory::shift(to, from, length);
    }

    fn lend(&self, bytes: &[u8]) -> usize {
        bytes.as_ptr() as usize
    }
}

/// For each thread, the objects that it waits for.
static WATCHED: Common<[[AtomicU64; MAX_WATCHED]; MAX_THREADS]> =
    Common::at(offset_of!(RunState, watched));

impl Tables for Worker {
    fn state(&self) -> &State {
        &state().kernel
    }

    fn own_state(&self) -> &OwnState {
        &state().own_kernel
    }

    fn object(&self, number: usize) -> &Object {
        view(object_at(number))
    }

    fn clear_object(&self, number: usize) {
        memory::zero(object_at(number), size_of::<Object>());
    }

    fn slot(&self, number: usize) -> &Slot {
        view(slot_at(number))
    }

    fn clear_slot(&self, number: usize) {
        memory::zero(slot_at(number), size_of::<Slot>());
    }

    fn buffer(&self, number: usize) -> usize {
        BUFFERS + number * CAPACITY
    }

    fn transit(&self, number: usize, start: usize) -> &Transit {
        view(self.buffer(number) + start)
    }

    fn watched(&self, thread: u16) -> &[AtomicU64; MAX_WATCHED] {
        &WATCHED[usize::from(thread) % MAX_THREADS]
    }

    fn change<T: Copy, R>(&self, cell: &Cell<T>, change: impl FnOnce(&mut T) -> R) -> R {
        memory::change(cell.as_ptr() as usize, change)
    }
}

impl Thread for state::Thread {
    fn number(&self) -> u16 {
        self.number.get()
    }

    fn kind(&self) -> OperationKind {
        self.kind.get()
    }

    fn operation(&self) -> Operation {
        self.operation()
    }

    fn object(&self) -> Footprint {
        self.object.get()
    }

    fn outcome(&self) -> u16 {
        self.outcome.get()
    }

    fn path(&self) -> u64 {
        self.path.get()
    }

    fn announce(&self, operation: PackedOperation, object: Footprint) {
        self.announce_packed(operation, object);
    }

    fn task(&self) -> &Task {
        &self.task
    }

    fn mask(&self) -> &Cell<u32> {
        &self.mask
    }
}

impl Scheduler for Worker {
    type Thread = state::Thread;

    fn current(&self) -> &state::Thread {
        state().current()
    }

    fn network_waiters(&self) -> impl Iterator<Item = &state::Thread> {
        let is_blocked = |thread: &&state::Thread| {
            thread.status() == Status::Blocked && thread.waiting.get() == Waiting::Network
        };
        state().members(state().blocked.bits()).filter(is_blocked)
    }

    fn is_alone(&self) -> bool {
        state().is_lonely()
    }

    fn clock(&self) -> u64 {
        state().clock.get()
    }

    fn steps(&self) -> u32 {
        STEPS.load(Relaxed)
    }

    fn ask(&self, operation: PackedOperation, object: Footprint, deadline: Option<u64>) -> u16 {
        scheduler::ask_packed(operation, object, deadline)
    }

    fn request(&self, operation: PackedOperation, object: Footprint, deadline: Option<u64>) -> u16 {
        scheduler::request(operation, object, deadline)
    }

    fn step(&self, operation: Operation, object: Footprint) -> u16 {
        scheduler::step(operation, object)
    }

    fn choose(&self, operation: Operation, object: Footprint) -> u16 {
        let state = state();
        let exclusive = state.exclusive.replace(state.current.get() + 1);
        state.selectable.set(state.selectable.get() + 1);
        let chosen = scheduler::step(operation, object);
        state.selectable.set(state.selectable.get() - 1);
        state.exclusive.set(exclusive);
        chosen
    }

    fn stand_back(&self, operation: Operation, object: Footprint) {
        scheduler::stand_back(operation, object);
    }

    fn insists(&self) -> Option<bool> {
        scheduler::insists()
    }

    fn leave_out_unfair(&self) {
        scheduler::leave_out_unfair();
    }

    fn wait(&self, waiting: Waiting, object: Footprint, deadline: Option<u64>) -> Woken {
        scheduler::wait(waiting, object, deadline)
    }

    fn grant(&self, thread: &state::Thread) {
        scheduler::grant(thread);
    }

    fn futex_waiters(&self, word: Footprint, mask: u32) -> impl Iterator<Item = &state::Thread> {
        scheduler::futex_waiters(state(), word, mask)
    }

    fn first_waiter(&self, waiting: Waiting, object: Footprint) -> Option<&state::Thread> {
        scheduler::first_waiter(waiting, object)
    }

    fn requeue(&self, thread: &state::Thread, waiting: Waiting, object: Footprint) {
        scheduler::requeue(thread, waiting, object);
    }

    fn mutex_of_sleeper(&self, word: usize) -> Option<usize> {
        rust_condvar::mutex_of_sleeper(state().current(), word)
    }

    fn has_slept(&self, mutex: usize) {
        rust_condvar::woken(mutex);
    }

    fn notifies(&self, word: usize) -> bool {
        rust_condvar::notifies(state().current(), word)
    }

    fn grant_all(&self, waiting: Waiting, object: Footprint) {
        scheduler::grant_all(waiting, object);
    }

    fn complete_earlier(
        &self,
        after: u32,
        kinds: &'static [OperationKind],
        completion: PackedCompletion,
    ) {
        scheduler::complete_earlier(after, kinds, completion);
    }

    fn next_deadline(&self) -> Option<u64> {
        let blocked = state().threads().filter(|thread| thread.status() == Status::Blocked);
        blocked.map(|thread| thread.deadline.get()).filter(|at| (1..PEERS).contains(at)).min()
    }

    fn is_alarm_set(&self) -> bool {
        timer::are_set(self)
    }

    fn is_cancelled(&self) -> bool {
        cancel::is_due()
    }

    fn deliver_signals(&self) -> bool {
        signals::deliver_pending()
    }

    fn raise(&self, signal: i32) {
        // A thread can always send itself one.
        let _ = signal::raise(self, signal);
    }
}

impl Threads for Worker {
    fn own_threads(&self) -> impl Iterator<Item = &state::Thread> {
        state().own_threads().filter(|thread| thread.is_alive())
    }

    fn handle(&self, thread: &state::Thread) -> usize {
        thread.tcb.get()
    }

    fn thread_of_handle(&self, handle: usize) -> Option<&state::Thread> {
        state::find(handle)
    }

    fn thread_of_number(&self, number: i32) -> Option<&state::Thread> {
        self.own_threads().find(|thread| thread.tid() == number)
    }

    fn process_number(&self) -> i32 {
        state::first_tid()
    }

    fn waits_for_signals(&self, thread: &state::Thread) -> bool {
        thread.status() == Status::Blocked && thread.waiting.get() == Waiting::Signal
    }

    fn interrupt(&self, thread: &state::Thread, restarts: bool) {
        signals::interrupt(thread, restarts);
    }

    fn end_by(&self, signal: i32) -> ! {
        ending::ended(if signal == SIGABRT { Outcome::Aborted } else { Outcome::Signalled }, signal)
    }

    fn end_if_cancelled(&self) {
        cancel::act_if_due();
    }

    fn is_concurrent(&self) -> bool {
        state().is_concurrent()
    }

    fn start_ringer(&self, timer: usize, was_concurrent: bool) -> &state::Thread {
        timers::start(timer, was_concurrent)
    }

    fn is_asleep(&self, thread: &state::Thread) -> bool {
        thread.status() == Status::Blocked
    }

    fn sleep_until(&self, ringer: &state::Thread, moment: u64) {
        scheduler::block_until(ringer, moment);
    }

    fn heard(&self, ringer: &state::Thread) {
        ringer.is_unheard.set(false);
    }

    fn retire(&self, ringer: &state::Thread) {
        crate::thread::retire(ringer);
    }
}

impl Environment for Worker {
    type Trees = commtree::Memory;

    fn setup(&self) -> Setup {
        region::setup()
    }

    fn process(&self) -> usize {
        multi_process::process()
    }

    fn is_one_of_several(&self) -> bool {
        multi_process::is_one_of_several()
    }

    fn threads_each(&self) -> u16 {
        multi_process::threads_each()
    }

    fn main_thread(&self) -> u16 {
        multi_process::main_thread()
    }

    fn owner(&self, thread: u16) -> usize {
        multi_process::owner(thread)
    }

    fn stop(&self, why: fmt::Arguments<'_>) -> ! {
        crate::fail::uncontrolled(why)
    }

    fn peer_failed(&self, how: &str) -> ! {
        ending::ended_with(Outcome::PeerFailed, 0, format_args!("{how}"))
    }

    fn fail(&self, why: &str) -> ! {
        crate::fail::fatal(why)
    }

    fn notice(&self, what: NoticeKind, port: u16) {
        multi_process::notice(what, port);
    }

    fn trees(&self) -> &commtree::Memory {
        region::trees()
    }

    fn upcall(&self, upcall: Upcall) -> UpcallReply {
        region().upcall.set(upcall);
        reply(|reply| reply.outcome = Outcome::Asking);
        region::hand_over();
        reply(|reply| reply.outcome = Outcome::None);
        region().upcall_reply.get()
    }

    fn message(&self) -> usize {
        region().message.as_ptr() as usize
    }

    fn message_bytes(&self, length: usize) -> &[u8] {
        memory::bytes(self.message(), length)
    }

    fn count_overdue(&self) {
        count(|counters| counters.overdue += 1);
    }

    fn count_random(&self) {
        count(|counters| counters.random += 1);
    }

    fn count_whole(&self) {
        count(|counters| counters.whole += 1);
    }

    fn note_sent(&self) {
        scheduler::quiet::note_sent();
    }

    fn count_cache_hit(&self) {
        count(|counters| counters.cache_hits += 1);
    }

    fn log(&self, bytes: &[u8]) {
        /// The stream that messages are kept in.
        const MESSAGES: usize = 4;
        output::append(MESSAGES, bytes);
    }
}

impl Files for Worker {
    fn make_socket(&self, path: &[u8]) -> Result<(), i32> {
        files::make_socket(path)
    }

    fn is_there(&self, path: &[u8]) -> bool {
        files::is_there(path)
    }

    fn written_is_closed(&self, index: usize) {
        files::forget_unused(index);
    }

    fn length(&self, open: Open) -> Option<usize> {
        files::length(open)
    }
}
