//! The backends: all threads as fibers on one kernel thread, or one kernel thread each.
//!
//! Either way a thread's registers are saved in its own memory whenever it does not run, so
//! snapshots know nothing of kernel threads. A kernel thread waits on a stack of the shim and holds
//! no state of the program: it outlives executions.

use crate::above::Above;
use crate::context::Context;
use crate::memory::map;
use crate::region::{SysFutex, setup};
use crate::state::{Thread, state};
use crate::worker::KERNEL;
use core::arch::global_asm;
use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use everypath_shim_abi::address_space::{KERNEL_STACKS, PAGE};
use everypath_shim_abi::{Backend, Baton, MAX_THREADS};

/// A place that only one kernel thread uses.
struct Own(Context);
// SAFETY: see above. JUSTIFICATION: a static must be `Sync`, and these are not shared.
unsafe impl Sync for Own {}

impl Own {
    const fn new() -> Self {
        Own(Context { rsp: Cell::new(0), fs: Cell::new(0) })
    }
}

/// Where the controller is when a thread of the program runs on its kernel thread.
static HOME: Own = Own::new();
/// Where kernel threads hand over and wait, each on its own stack.
static WAITING: [Own; MAX_THREADS] = [const { Own::new() }; MAX_THREADS];

const CONTROLLER: u16 = MAX_THREADS as u16;
const STACK: usize = 0x4_0000;

static BATONS: [Baton; MAX_THREADS + 1] = [const { Baton::new() }; MAX_THREADS + 1];
static STARTED: [AtomicBool; MAX_THREADS] = [const { AtomicBool::new(false) }; MAX_THREADS];
/// To whom the kernel thread that runs hands over.
static TO: AtomicU16 = AtomicU16::new(0);

global_asm!(
    // everypath_clone(flags, stack, entry, argument): a kernel thread that calls entry(argument).
    ".globl everypath_clone",
    ".hidden everypath_clone",
    "everypath_clone:",
    "push r12",
    "push r13",
    "mov r12, rdx",
    "mov r13, rcx",
    "xor edx, edx",
    "xor r10d, r10d",
    "xor r8d, r8d",
    "mov eax, 56",
    "syscall",
    "test rax, rax",
    "jnz 2f",
    "xor ebp, ebp",
    "mov rdi, r13",
    "call r12",
    "ud2",
    "2:",
    "pop r13",
    "pop r12",
    "ret",
);

unsafe extern "C" {
    fn everypath_clone(
        flags: usize,
        stack: usize,
        entry: extern "C" fn(usize) -> !,
        argument: usize,
    ) -> isize;
}

/// Runs a thread of the program until control comes back to the controller.
pub(crate) fn enter(thread: &Thread) {
    match setup().backend {
        Backend::Fibers => {
            HOME.0.fs.set(crate::context::fs_base());
            HOME.0.swap(&thread.context);
        }
        Backend::Threads => {
            post(thread.number.get());
            await_baton(CONTROLLER);
        }
    }
}

/// The way from the thread that runs to another: what to go on with once it is saved.
pub(crate) fn way(from: &Thread, to: &'static Thread) -> &'static Context {
    match setup().backend {
        Backend::Fibers => &to.context,
        Backend::Threads => hand_over(from, to.number.get()),
    }
}

/// The way from the thread that runs to the controller.
pub(crate) fn way_home(from: &Thread) -> &'static Context {
    match setup().backend {
        Backend::Fibers => &HOME.0,
        Backend::Threads => hand_over(from, CONTROLLER),
    }
}

/// Goes back to the controller; returns when this thread goes on.
pub(crate) fn leave(from: &Thread) {
    from.context.swap(way_home(from));
}

/// In a forked process there is one kernel thread: the others must be made again.
pub(crate) fn forget() {
    STARTED.iter().for_each(|started| started.store(false, Ordering::Relaxed));
    BATONS.iter().for_each(Baton::reset);
}

/// Only from its own stack may a kernel thread let another one run: the program's thread on
/// it may be hashed, restored and cleared from then on.
fn hand_over(from: &Thread, to: u16) -> &'static Context {
    let me = from.number.get();
    TO.store(to, Ordering::Relaxed);
    let waiting = &WAITING[usize::from(me)].0;
    let next = wait_for_turn as *const () as usize;
    waiting.prepare(stack_top(me), next, usize::from(me), from.context.fs.get());
    waiting
}

fn stack_top(number: u16) -> usize {
    KERNEL_STACKS + usize::from(number) * 2 * STACK + STACK - 64
}

extern "C" fn wait_for_turn(me: usize) {
    post(TO.load(Ordering::Relaxed));
    await_baton(me as u16);
    state().thread(me as u16).context.resume()
}

fn post(to: u16) {
    if to != CONTROLLER && !STARTED[usize::from(to)].swap(true, Ordering::Relaxed) {
        start(to);
    }
    BATONS[usize::from(to)].pass(&SysFutex);
}

fn await_baton(me: u16) {
    BATONS[usize::from(me)].take(&SysFutex);
}

/// Starts the kernel thread that carries thread `number` from now on.
fn start(number: u16) {
    /// Memory, file system, files, handlers, thread group and semaphores are shared.
    const FLAGS: usize = 0x100 | 0x200 | 0x400 | 0x800 | 0x1_0000 | 0x4_0000;
    let top = stack_top(number);
    let bottom = (top - STACK + 64) & !(PAGE - 1);
    if !is_mapped(number) {
        map(bottom, STACK);
    }
    // SAFETY: the stack is fresh and `carry` never returns.
    // JUSTIFICATION: libc's threads have state that snapshots would have to know.
    let made = unsafe { everypath_clone(FLAGS, top, carry, usize::from(number)) };
    if made < 0 {
        crate::fail::unable(
            "cannot start a kernel thread: no more processes (ulimit -u) or memory",
        );
    }
}

static MAPPED: [AtomicBool; MAX_THREADS] = [const { AtomicBool::new(false) }; MAX_THREADS];

fn is_mapped(number: u16) -> bool {
    MAPPED[usize::from(number)].swap(true, Ordering::Relaxed)
}

extern "C" fn carry(number: usize) -> ! {
    KERNEL.kernel_thread_begins(number);
    let me = number as u16;
    await_baton(me);
    state().thread(me).context.resume()
}
