//! A host for the kernel without a program: memory in a map, one thread that runs and others that
//! run when it blocks.

use everypath_commtree::Space;
use everypath_shim_abi::{
    self as abi, MAX_THREADS, NoticeKind, Operation, OperationKind, PackedCompletion,
    PackedOperation, Setup, Upcall, UpcallReply, Waiting,
};
use everypath_vkernel::buffer::CAPACITY;
use everypath_vkernel::fd_table::{Kind, Open};
use everypath_vkernel::host::{
    Environment, Files, LAST, Memory, Scheduler, Tables, Thread as ThreadOfHost, Threads, Woken,
};
use everypath_vkernel::{
    MAX_WATCHED, Object, OwnState, Slot, State, Task, Transit, errno, signal, timer,
};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::atomic::AtomicU64;

const PAGE: usize = 4096;
/// The program's memory begins here; what lies below is never mapped.
const PROGRAM: usize = 1 << 20;
/// The kernel's own memory: buffers, messages, what it lends. It is always there.
const OWN: usize = 1 << 40;
const MESSAGE: usize = OWN + (1 << 36);
const LENT: usize = OWN + (1 << 37);

/// How many bytes a file has.
pub(crate) const LENGTH: usize = 100;

/// What a call came to that would wait for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitsForEver;

/// The signal that an execution ended by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended(pub(crate) i32);

/// What a check would end with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stopped(pub(crate) String);

/// A thread.
#[derive(Debug)]
pub(crate) struct Thread {
    number: u16,
    task: Task,
    announced: Cell<PackedOperation>,
    object: Cell<abi::Object>,
    outcome: Cell<u16>,
    is_blocked: Cell<bool>,
    waiting: Cell<(Waiting, abi::Object)>,
    mask: Cell<u32>,
    /// Its place among those that wait.
    place: Cell<u32>,
    /// Why its wait ended, if a signal did that.
    interruption: Cell<Option<bool>>,
    /// The timer that it rings for, and when.
    rings: Cell<Option<(usize, u64)>>,
    has_ended: Cell<bool>,
}

impl ThreadOfHost for Thread {
    fn number(&self) -> u16 {
        self.number
    }

    fn kind(&self) -> OperationKind {
        self.announced.get().kind()
    }

    fn operation(&self) -> Operation {
        self.announced.get().operation()
    }

    fn object(&self) -> abi::Object {
        self.object.get()
    }

    fn outcome(&self) -> u16 {
        self.outcome.get()
    }

    fn path(&self) -> u64 {
        u64::from(self.number) + 1
    }

    fn announce(&self, operation: PackedOperation, object: abi::Object) {
        self.announced.set(operation);
        self.object.set(object);
    }

    fn task(&self) -> &Task {
        &self.task
    }

    fn mask(&self) -> &Cell<u32> {
        &self.mask
    }
}

type Program = Box<dyn FnOnce(&Machine)>;

/// All of it.
pub(crate) struct Machine {
    pages: RefCell<BTreeMap<usize, Box<[u8; PAGE]>>>,
    next_page: Cell<usize>,
    lent: Cell<usize>,
    objects: RefCell<BTreeMap<usize, &'static Object>>,
    slots: RefCell<BTreeMap<usize, &'static Slot>>,
    transits: RefCell<BTreeMap<usize, &'static Transit>>,
    watched: [AtomicU64; MAX_WATCHED],
    state: State,
    threads: Vec<Thread>,
    current: Cell<usize>,
    waiting_programs: RefCell<VecDeque<(usize, Program)>>,
    clock: Cell<u64>,
    pub(crate) setup: Cell<Setup>,
    /// The outcomes of the next choices; all others are 0.
    pub(crate) choices: RefCell<VecDeque<u16>>,
    /// What steps were taken.
    pub(crate) steps: RefCell<Vec<(u16, OperationKind)>>,
    pub(crate) signals: RefCell<Vec<i32>>,
    /// What handlers were called for, by which thread, at which moment.
    pub(crate) handled: RefCell<Vec<(i32, u16, u64)>>,
    own: OwnState,
    trees: Box<Space<16, 64, 1024>>,
}

/// The number of the process, which is that of its first thread, and a number that no handle is below.
pub(crate) const PROCESS: i32 = 100;
pub(crate) const HANDLE: usize = 500;

/// How many threads a machine has.
const THREADS: u16 = 8;

impl Machine {
    pub(crate) fn new() -> Self {
        let thread = |number| Thread {
            number,
            task: Task::default(),
            announced: Cell::new(Operation::Yield.pack()),
            object: Cell::default(),
            outcome: Cell::default(),
            is_blocked: Cell::default(),
            waiting: Cell::new((Waiting::Nothing, abi::Object::NONE)),
            mask: Cell::default(),
            place: Cell::default(),
            interruption: Cell::default(),
            rings: Cell::default(),
            has_ended: Cell::default(),
        };
        Machine {
            pages: RefCell::default(),
            next_page: Cell::new(PROGRAM / PAGE),
            lent: Cell::new(0),
            objects: RefCell::default(),
            slots: RefCell::default(),
            transits: RefCell::default(),
            watched: [const { AtomicU64::new(0) }; MAX_WATCHED],
            state: State::default(),
            threads: (0..THREADS).map(thread).collect(),
            current: Cell::new(0),
            waiting_programs: RefCell::default(),
            clock: Cell::new(0),
            setup: Cell::default(),
            choices: RefCell::default(),
            steps: RefCell::default(),
            signals: RefCell::default(),
            handled: RefCell::default(),
            own: OwnState::default(),
            trees: Box::new(Space::empty()),
        }
    }

    /// Lets another thread run a program as soon as the one that runs must wait.
    pub(crate) fn spawn(&self, thread: usize, program: impl FnOnce(&Machine) + 'static) {
        self.waiting_programs.borrow_mut().push_back((thread, Box::new(program)));
    }

    /// The threads that wait for something.
    fn waiters(&self, waiting: Waiting, object: abi::Object) -> impl Iterator<Item = &Thread> {
        let waits =
            move |it: &&Thread| it.is_blocked.get() && it.waiting.get() == (waiting, object);
        self.threads.iter().filter(waits)
    }

    /// Lets the timer ring that does so first, if that is before a deadline; says whether one did.
    fn ring(&self, deadline: Option<u64>) -> bool {
        let rings = |thread: &'_ Thread| thread.rings.get().map(|(_, moment)| moment);
        let Some(ringer) =
            self.threads.iter().filter(|it| rings(it).is_some()).min_by_key(|it| rings(it))
        else {
            return false;
        };
        let Some((timer, moment)) = ringer.rings.get() else { return false };
        if deadline.is_some_and(|deadline| deadline < moment) {
            return false;
        }
        self.clock.set(self.clock.get().max(moment));
        let me = self.current.replace(ringer.number.into());
        let next = timer::expire(self, timer);
        timer::signal(self, timer);
        let goes_on = timer::is_rung_by(self, timer, self.handle(ringer));
        ringer.rings.set(goes_on.then_some((timer, next)));
        self.current.set(me);
        true
    }

    /// A place behind all who wait.
    fn next_place(&self) -> u32 {
        self.threads.iter().map(|thread| thread.place.get()).max().unwrap_or(0) + 1
    }

    /// Maps memory of the program with these bytes, surrounded by memory that is not mapped.
    pub(crate) fn map(&self, bytes: &[u8]) -> usize {
        let first = self.next_page.get() + 1;
        let count = bytes.len().div_ceil(PAGE).max(1);
        self.next_page.set(first + count);
        for page in first..first + count {
            self.pages.borrow_mut().insert(page, Box::new([0; PAGE]));
        }
        self.write(first * PAGE, bytes).expect("it was mapped");
        first * PAGE
    }

    /// The bytes of the program's memory.
    pub(crate) fn bytes(&self, at: usize, length: usize) -> Vec<u8> {
        let mut out = vec![0; length];
        self.read(at, &mut out).expect("it is mapped");
        out
    }

    /// Calls `each` with the parts of memory that lie in one page.
    fn each_page(
        &self,
        at: usize,
        length: usize,
        mut each: impl FnMut(&mut [u8], usize),
    ) -> Result<(), i32> {
        let mut pages = self.pages.borrow_mut();
        let mut done = 0;
        while done < length {
            let place = at.wrapping_add(done);
            let (page, start) = (place / PAGE, place % PAGE);
            let count = (PAGE - start).min(length - done);
            if place >= OWN {
                pages.entry(page).or_insert_with(|| Box::new([0; PAGE]));
            }
            let page = pages.get_mut(&page).ok_or(errno::EFAULT)?;
            each(&mut page[start..start + count], done);
            done += count;
        }
        Ok(())
    }
}

impl Memory for Machine {
    fn read(&self, at: usize, out: &mut [u8]) -> Result<(), i32> {
        self.each_page(at, out.len(), |part, done| {
            out[done..done + part.len()].copy_from_slice(part);
        })
    }

    fn write(&self, at: usize, bytes: &[u8]) -> Result<(), i32> {
        self.each_page(at, bytes.len(), |part, done| {
            part.copy_from_slice(&bytes[done..done + part.len()]);
        })
    }

    fn check(&self, at: usize, length: usize) -> Result<(), i32> {
        self.each_page(at, length, |_, _| {})
    }

    fn writable(&self, at: usize, length: usize) -> Result<usize, i32> {
        let is_good = |bytes: &usize| self.check(at + bytes, 1).is_ok();
        match (0..length).find(|bytes| !is_good(bytes)) {
            Some(0) => Err(errno::EFAULT),
            good => Ok(good.unwrap_or(length)),
        }
    }

    fn copy(&self, to: usize, from: usize, length: usize) -> Result<(), i32> {
        let mut bytes = vec![0; length];
        self.read(from, &mut bytes)?;
        self.write(to, &bytes)
    }

    fn read_own(&self, at: usize, out: &mut [u8]) {
        assert!(at >= OWN, "{at:#x} is not the kernel's own memory");
        self.read(at, out).expect("it is always there");
    }

    fn write_own(&self, at: usize, bytes: &[u8]) {
        assert!(at >= OWN, "{at:#x} is not the kernel's own memory");
        self.write(at, bytes).expect("it is always there");
    }

    fn shift_own(&self, to: usize, from: usize, length: usize) {
        self.copy(to, from, length).expect("it is always there");
    }

    fn lend(&self, bytes: &[u8]) -> usize {
        let at = LENT + self.lent.get();
        self.lent.set(self.lent.get() + bytes.len().next_multiple_of(PAGE));
        self.write_own(at, bytes);
        at
    }
}

/// What is at a number, made if there is nothing.
fn entry<T: Default>(table: &RefCell<BTreeMap<usize, &'static T>>, number: usize) -> &'static T {
    table.borrow_mut().entry(number).or_insert_with(|| Box::leak(Box::default()))
}

impl Tables for Machine {
    fn state(&self) -> &State {
        &self.state
    }

    fn own_state(&self) -> &OwnState {
        &self.own
    }

    fn object(&self, number: usize) -> &Object {
        entry(&self.objects, number)
    }

    fn clear_object(&self, number: usize) {
        self.objects.borrow_mut().remove(&number);
    }

    fn slot(&self, number: usize) -> &Slot {
        entry(&self.slots, number)
    }

    fn clear_slot(&self, number: usize) {
        self.slots.borrow_mut().remove(&number);
    }

    fn buffer(&self, number: usize) -> usize {
        OWN + number * CAPACITY
    }

    fn transit(&self, number: usize, _start: usize) -> &Transit {
        entry(&self.transits, number)
    }

    fn watched(&self, _thread: u16) -> &[AtomicU64; MAX_WATCHED] {
        &self.watched
    }
}

impl Scheduler for Machine {
    type Thread = Thread;

    fn current(&self) -> &Thread {
        &self.threads[self.current.get()]
    }

    fn network_waiters(&self) -> impl Iterator<Item = &Thread> {
        let waits = |it: &&Thread| it.is_blocked.get() && it.waiting.get().0 == Waiting::Network;
        self.threads.iter().filter(waits)
    }

    fn is_alone(&self) -> bool {
        self.waiting_programs.borrow().is_empty()
    }

    fn clock(&self) -> u64 {
        self.clock.get()
    }

    fn steps(&self) -> u32 {
        self.steps.borrow().len() as u32
    }

    fn ask(&self, operation: PackedOperation, object: abi::Object, _: Option<u64>) -> u16 {
        let thread = self.current();
        thread.announce(operation, object);
        self.steps.borrow_mut().push((thread.number, operation.kind()));
        assert!(self.steps.borrow().len() < 100_000, "{operation:?} is requested for ever");
        let outcome = self.choices.borrow_mut().pop_front().unwrap_or(0);
        thread.outcome.set(outcome);
        outcome
    }

    fn request(&self, operation: PackedOperation, object: abi::Object, at: Option<u64>) -> u16 {
        self.ask(operation, object, at)
    }

    fn step(&self, operation: Operation, object: abi::Object) -> u16 {
        self.ask(operation.pack(), object, None)
    }

    fn choose(&self, operation: Operation, object: abi::Object) -> u16 {
        self.ask(operation.pack(), object, None)
    }

    fn stand_back(&self, _operation: Operation, _object: abi::Object) {}

    fn insists(&self) -> Option<bool> {
        None
    }

    fn leave_out_unfair(&self) {}

    fn wait(&self, waiting: Waiting, object: abi::Object, deadline: Option<u64>) -> Woken {
        let me = self.current.get();
        self.threads[me].waiting.set((waiting, object));
        self.threads[me].place.set(self.next_place());
        self.threads[me].is_blocked.set(true);
        while self.threads[me].is_blocked.get() {
            let next = self.waiting_programs.borrow_mut().pop_front();
            if let Some((thread, program)) = next {
                self.current.set(thread);
                program(self);
                self.current.set(me);
                continue;
            }
            if self.ring(deadline) {
                continue;
            }
            self.threads[me].is_blocked.set(false);
            let Some(deadline) = deadline else { std::panic::panic_any(WaitsForEver) };
            if deadline != LAST {
                self.clock.set(deadline);
            }
            return Woken::TimedOut;
        }
        match self.threads[me].interruption.take() {
            Some(restart) => {
                self.deliver_signals();
                Woken::Interrupted { restart }
            }
            None => Woken::Granted,
        }
    }

    fn grant(&self, thread: &Thread) {
        thread.is_blocked.set(false);
    }

    fn futex_waiters(&self, word: abi::Object, mask: u32) -> impl Iterator<Item = &Thread> {
        self.waiters(Waiting::Futex, word).filter(move |thread| thread.mask.get() & mask != 0)
    }

    fn first_waiter(&self, waiting: Waiting, object: abi::Object) -> Option<&Thread> {
        self.waiters(waiting, object).min_by_key(|thread| thread.place.get())
    }

    fn requeue(&self, thread: &Thread, waiting: Waiting, object: abi::Object) {
        thread.waiting.set((waiting, object));
        thread.place.set(self.next_place());
    }

    fn grant_all(&self, waiting: Waiting, object: abi::Object) {
        self.waiters(waiting, object).for_each(|thread| thread.is_blocked.set(false));
    }

    fn complete_earlier(
        &self,
        _after: u32,
        _kinds: &'static [OperationKind],
        _completion: PackedCompletion,
    ) {
    }

    fn next_deadline(&self) -> Option<u64> {
        None
    }

    fn is_alarm_set(&self) -> bool {
        timer::are_set(self)
    }

    fn is_cancelled(&self) -> bool {
        false
    }

    fn deliver_signals(&self) -> bool {
        let mut any = false;
        while let Some((signal, _)) = signal::next(self) {
            any = true;
            let action = self.own.actions[signal as usize].get();
            match action.effect(signal) {
                signal::Effect::Nothing => {}
                signal::Effect::Ends => self.end_by(signal),
                signal::Effect::Handled => {
                    let thread = self.current().number;
                    self.handled.borrow_mut().push((signal, thread, self.clock.get()));
                }
            }
        }
        any
    }

    fn raise(&self, signal: i32) {
        self.signals.borrow_mut().push(signal);
    }
}

impl Threads for Machine {
    fn own_threads(&self) -> impl Iterator<Item = &Thread> {
        self.threads.iter().filter(|thread| !thread.has_ended.get())
    }

    fn handle(&self, thread: &Thread) -> usize {
        HANDLE + usize::from(thread.number)
    }

    fn thread_of_handle(&self, handle: usize) -> Option<&Thread> {
        self.own_threads().find(|thread| self.handle(thread) == handle)
    }

    fn thread_of_number(&self, number: i32) -> Option<&Thread> {
        self.own_threads().find(|thread| PROCESS + i32::from(thread.number) == number)
    }

    fn process_number(&self) -> i32 {
        PROCESS
    }

    fn waits_for_signals(&self, thread: &Thread) -> bool {
        thread.is_blocked.get() && thread.waiting.get().0 == Waiting::Signal
    }

    fn interrupt(&self, thread: &Thread, restarts: bool) {
        if thread.is_blocked.replace(false) {
            thread.interruption.set(Some(restarts));
        }
    }

    fn end_by(&self, signal: i32) -> ! {
        std::panic::panic_any(Ended(signal))
    }

    fn end_if_cancelled(&self) {}

    fn is_concurrent(&self) -> bool {
        true
    }

    fn start_ringer(&self, timer: usize, _was_concurrent: bool) -> &Thread {
        // The last threads ring.
        let mut free = self.threads.iter().rev().filter(|thread| thread.rings.get().is_none());
        let thread = free.next().expect("few timers are armed at a time");
        thread.rings.set(Some((timer, 0)));
        thread.task.blocked_signals.set(u64::MAX);
        thread
    }

    fn is_asleep(&self, thread: &Thread) -> bool {
        thread.rings.get().is_some()
    }

    fn sleep_until(&self, ringer: &Thread, moment: u64) {
        ringer.rings.set(ringer.rings.get().map(|(timer, _)| (timer, moment)));
    }

    fn heard(&self, _ringer: &Thread) {}

    fn retire(&self, ringer: &Thread) {
        ringer.rings.set(None);
    }
}

impl Environment for Machine {
    type Trees = Space<16, 64, 1024>;

    fn setup(&self) -> Setup {
        self.setup.get()
    }

    fn process(&self) -> usize {
        0
    }

    fn is_one_of_several(&self) -> bool {
        false
    }

    fn threads_each(&self) -> u16 {
        MAX_THREADS as u16
    }

    fn main_thread(&self) -> u16 {
        0
    }

    fn owner(&self, _thread: u16) -> usize {
        0
    }

    fn stop(&self, why: fmt::Arguments<'_>) -> ! {
        std::panic::panic_any(Stopped(why.to_string()))
    }

    fn peer_failed(&self, how: &str) -> ! {
        panic!("{how}")
    }

    fn fail(&self, why: &str) -> ! {
        panic!("{why}")
    }

    fn notice(&self, _what: NoticeKind, _port: u16) {}

    fn trees(&self) -> &Self::Trees {
        &self.trees
    }

    fn upcall(&self, _upcall: Upcall) -> UpcallReply {
        // Nobody is outside: nothing is in the trees.
        UpcallReply::InTrees
    }

    fn message(&self) -> usize {
        MESSAGE
    }

    fn message_bytes(&self, length: usize) -> &[u8] {
        Box::leak(self.bytes(MESSAGE, length).into_boxed_slice())
    }

    fn count_cache_hit(&self) {}

    fn count_random(&self) {}

    fn count_overdue(&self) {}

    fn count_whole(&self) {}

    fn log(&self, _bytes: &[u8]) {}
}

impl Files for Machine {
    fn make_socket(&self, _path: &[u8]) -> Result<(), i32> {
        Ok(())
    }

    fn is_there(&self, _path: &[u8]) -> bool {
        false
    }

    fn written_is_closed(&self, _index: usize) {}

    /// All files of these tests are as long.
    fn length(&self, open: Open) -> Option<usize> {
        matches!(open.kind, Kind::Host | Kind::Written).then_some(LENGTH)
    }
}
