//! A host for the kernel without a program: memory in a map, one thread that runs and others that
//! run when it blocks.

use everypath_commtree::Space;
use everypath_shim_abi::{
    self as abi, MAX_THREADS, NoticeKind, Operation, OperationKind, PackedCompletion,
    PackedOperation, Setup, Upcall, UpcallReply, Waiting,
};
use everypath_vkernel::buffer::CAPACITY;
use everypath_vkernel::host::{
    Environment, Files, LAST, Memory, Scheduler, Tables, Thread as ThreadOfHost, Woken,
};
use everypath_vkernel::{MAX_WATCHED, Object, Slot, State, Task, Transit, errno};
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

/// What a call came to that would wait for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitsForEver;

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
    trees: Box<Space<16, 64, 1024>>,
}

/// How many threads a machine has.
const THREADS: u16 = 4;

impl Machine {
    pub(crate) fn new() -> Self {
        let thread = |number| Thread {
            number,
            task: Task::default(),
            announced: Cell::new(Operation::Yield.pack()),
            object: Cell::default(),
            outcome: Cell::default(),
            is_blocked: Cell::default(),
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
            trees: Box::new(Space::empty()),
        }
    }

    /// Lets another thread run a program as soon as the one that runs must wait.
    pub(crate) fn spawn(&self, thread: usize, program: impl FnOnce(&Machine) + 'static) {
        self.waiting_programs.borrow_mut().push_back((thread, Box::new(program)));
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
        self.threads.iter().filter(|thread| thread.is_blocked.get())
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

    fn wait(&self, waiting: Waiting, _object: abi::Object, deadline: Option<u64>) -> Woken {
        assert_eq!(waiting, Waiting::Network);
        let me = self.current.get();
        self.threads[me].is_blocked.set(true);
        while self.threads[me].is_blocked.get() {
            let next = self.waiting_programs.borrow_mut().pop_front();
            if let Some((thread, program)) = next {
                self.current.set(thread);
                program(self);
                self.current.set(me);
                continue;
            }
            self.threads[me].is_blocked.set(false);
            let Some(deadline) = deadline else { std::panic::panic_any(WaitsForEver) };
            if deadline != LAST {
                self.clock.set(deadline);
            }
            return Woken::TimedOut;
        }
        Woken::Granted
    }

    fn grant(&self, thread: &Thread) {
        thread.is_blocked.set(false);
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
        false
    }

    fn is_cancelled(&self) -> bool {
        false
    }

    fn deliver_signals(&self) -> bool {
        false
    }

    fn raise(&self, signal: i32) {
        self.signals.borrow_mut().push(signal);
    }

    fn block_signals(&self, _mask: u64) -> u64 {
        0
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

    fn lock_is_released(&self) {}
}
