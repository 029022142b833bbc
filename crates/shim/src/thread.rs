//! Threads: creation, exit, join, names; thread-specific data.

use crate::cancel;
use crate::fail::stop;
use crate::libc;
use crate::memory::{load, map, store, zero};
use crate::multi_process;
use crate::objects;
use crate::region::setup;
use crate::scheduler::{Woken, ask, give_way, grant_all, point, reschedule, wait, withdraw};
use crate::state::{FIRST_TID, KEYS, State, Status, Thread, find, state};
use crate::sys::errno;
use crate::worker::KERNEL;
use core::arch::global_asm;
use core::ffi::c_int;
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use everypath_shim_abi::address_space::{GUARD, PAGE, SLOT, SLOTS, STACK_SIZE, stack_bottom};
use everypath_shim_abi::{MAX_THREADS, Operation, RobustMutexes, Splitmix, Waiting};
use everypath_vkernel::random;
use everypath_vkernel::timer::is_ringer;

/// Room for the resolver's state, below thread-local storage.
const RESOLVER: usize = 640;

global_asm!(
    // everypath_thread(thread): runs the thread's function. `pthread_exit` and cancellation unwind
    // to the jump buffer in this frame, as they do to that of libc's own start routine.
    ".globl everypath_thread",
    ".hidden everypath_thread",
    ".type everypath_thread,@function",
    "everypath_thread:",
    ".cfi_startproc",
    "push rbx",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_offset rbx, -16",
    "sub rsp, 256",
    ".cfi_adjust_cfa_offset 256",
    "mov rbx, rdi",
    "lea rdi, [rsp + 16]",
    "xor esi, esi",
    "call __sigsetjmp@PLT",
    "test eax, eax",
    "jne 2f",
    "lea rdi, [rsp + 16]",
    "call __pthread_register_cancel@PLT",
    "mov rdi, [rbx + {argument}]",
    "call [rbx + {function}]",
    "mov [rbx + {result}], rax",
    "2:",
    "mov rdi, rbx",
    "call {finish}",
    "ud2",
    ".cfi_endproc",
    argument = const offset_of!(Thread, argument),
    function = const offset_of!(Thread, function),
    result = const offset_of!(Thread, result),
    finish = sym finish,
);

unsafe extern "C" {
    fn everypath_thread(thread: &Thread) -> !;
    fn pthread_attr_setdetachstate(attributes: usize, state: c_int) -> c_int;
    fn pthread_attr_getdetachstate(attributes: usize, state: *mut c_int) -> c_int;
    fn pthread_attr_getstacksize(attributes: usize, size: *mut usize) -> c_int;
    fn pthread_attr_init(attributes: usize) -> c_int;
    fn pthread_attr_setstack(attributes: usize, low: usize, size: usize) -> c_int;
    fn pthread_attr_setguardsize(attributes: usize, size: usize) -> c_int;
    fn pthread_getspecific(key: u32) -> usize;
    fn pthread_setspecific(key: u32, value: usize) -> c_int;
}

/// The first frame of the thread that runs `main`, which libc has prepared.
pub(crate) extern "C" fn run_main(thread: usize) {
    // SAFETY: as for `run`. JUSTIFICATION: as for `run`.
    unsafe { everypath_thread(crate::memory::view(thread)) }
}

extern "C" fn run(thread: usize) {
    let thread: &Thread = crate::memory::view(thread);
    libc::enter_thread(thread.tcb.get(), thread.tls.get());
    crate::signals::deliver_pending();
    // SAFETY: the thread's function and argument are the program's own.
    // JUSTIFICATION: `pthread_exit` needs a frame that only assembly can lay out.
    unsafe { everypath_thread(thread) }
}

/// The end of a thread: destructors, then never again.
extern "C" fn finish(thread: &Thread) -> ! {
    cancel::is_over(thread);
    run_destructors();
    end(thread)
}

/// Ends the running thread for good.
pub(crate) fn end(thread: &Thread) -> ! {
    let state = state();
    if state.sections.get() != 0 {
        stop!("a thread exits inside an atomic section; call everypath_atomic_end before");
    }
    let robust = match thread.robust.get() {
        0 => RobustMutexes::None,
        _ => RobustMutexes::Owned,
    };
    point(Operation::Exit(robust), objects::memory(thread.tcb.get()));
    crate::sync::release_robust(thread);
    let keeps_alive = |other: &Thread| !other.is_injector() && !is_ringer(KERNEL, other.tcb.get());
    let is_left = |other: &&Thread| other.is_alive() && keeps_alive(other);
    if state.own_threads().filter(is_left).count() == 1 {
        // The last thread has ended without anybody calling exit: that is its last act.
        let exit = libc::real_cached!("exit", "GLIBC_2.2.5");
        libc::call!(exit, fn(i32), 0);
    }
    state.alive.set(state.alive.get() - 1);
    thread.set_status(Status::Ended);
    grant_all(Waiting::Join, objects::memory(thread.tcb.get()));
    if thread.detached.get() {
        forget_unless_panicked(state, thread);
    }
    reschedule(state);
    unreachable!("an ended thread is never chosen")
}

/// Frees the slot of a thread that cannot be joined any more. If a panic ended it, it stays until the
/// process ends, for the report.
fn forget_unless_panicked(state: &State, thread: &Thread) {
    if !thread.panicked.get() {
        forget(state, thread);
    }
}

/// Gives a thread's place free.
fn forget(state: &State, thread: &Thread) {
    if thread.number.get() != multi_process::main_thread() {
        libc::free_block(thread.tcb.get());
        thread.tcb.set(0);
    }
    thread.set_status(Status::Free);
    let used = state.threads().filter(|thread| thread.status() != Status::Free);
    state.limit.set(used.map(|thread| thread.number.get() + 1).max().unwrap_or(1));
}

/// Ends a blocked thread that nobody joins. All that it did happens before the step that ends it.
pub(crate) fn retire(thread: &Thread) {
    let state = state();
    withdraw(thread);
    count_unjoined(state, -1);
    forget(state, thread);
}

/// Destructors of thread-local variables, then of thread-specific data.
pub(crate) fn run_destructors() {
    libc::call_tls_dtors();
    const ROUNDS: usize = 4;
    for _ in 0..ROUNDS {
        let mut any = false;
        for key in 0..state().keys.get() {
            let destructor = state().key_destructors[key as usize].get();
            // SAFETY: libc's own functions, for a key that may exist. JUSTIFICATION: the values
            // live in libc's control block.
            let value = unsafe { pthread_getspecific(key) };
            if destructor != 0 && value != 0 {
                // SAFETY: as above.
                unsafe { pthread_setspecific(key, 0) };
                libc::call!(destructor, fn(usize), value);
                any = true;
            }
        }
        if !any {
            return;
        }
    }
}

static MAPPED: [AtomicBool; MAX_THREADS] = [const { AtomicBool::new(false) }; MAX_THREADS];

/// Maps the memory of a thread's slot, once for all executions.
pub(crate) fn map_slot(number: u16) {
    if !MAPPED[usize::from(number)].swap(true, Relaxed) {
        map(SLOTS + usize::from(number) * SLOT + GUARD, SLOT - GUARD);
    }
}

/// The number of a new thread: a function of who creates it and how many it has created, as far
/// as that is free, so that commuting creations give the same numbers.
fn number_for(state: &State, path: u64, parent: &Thread) -> u16 {
    let (main, most) = (multi_process::main_thread(), multi_process::threads_each());
    let direct = most / 2;
    let child = parent.children.get();
    let is_free = |number: u16| state.thread(number).status() == Status::Free;
    if parent.number.get() == main && child < direct && is_free(main + child + 1) {
        return main + child + 1;
    }
    // The last number may be taken.
    let others = u64::from(most - direct - 1 - u16::from(crate::process_faults::is_possible()));
    let candidates = (0..others).map(|i| direct + 1 + (path.wrapping_add(i) % others) as u16);
    let mut all = candidates.chain(1..=direct).map(|at| main + at).filter(|&at| is_free(at));
    all.next().unwrap_or_else(|| stop!("the program has more than {most} threads at a time"))
}

pub(crate) fn create(function: usize, argument: usize, detached: bool) -> &'static Thread {
    let state = state();
    let parent = state.current();
    let ordinal = u64::from(parent.children.get());
    let path = Splitmix(parent.path.get().wrapping_add(ordinal)).next();
    let number = number_for(state, path, parent);
    parent.children.set(parent.children.get() + 1);
    map_slot(number);
    let thread = state.thread(number);
    zero((&raw const *thread) as usize, size_of::<Thread>());
    thread.number.set(number);
    thread.path.set(path);
    thread.function.set(function);
    thread.argument.set(argument);
    thread.detached.set(detached);
    random::begin(KERNEL, thread);
    thread.task.blocked_signals.set(parent.task.blocked_signals.get());
    thread.name.set(parent.name.get());
    let slot_end = SLOTS + (usize::from(number) + 1) * SLOT;
    let (size, align) = libc::tls_info();
    let align = align.max(64);
    let tcb = (slot_end - PAGE - libc::block_size()) & !(align - 1);
    let tls = (tcb - (size - libc::block_size()) - RESOLVER) & !(align - 1);
    zero(tls, tcb - tls);
    thread.tcb.set(tcb);
    thread.tls.set(tls);
    libc::make_block(tcb, FIRST_TID + i32::from(number));
    let top = thread.stack_top();
    zero(top - PAGE, PAGE);
    thread.context.prepare(top, run as *const () as usize, (&raw const *thread) as usize, tcb);
    thread.announce(Operation::Start, objects::memory(tcb));
    thread.set_status(Status::Ready);
    state.limit.set(state.limit.get().max(number + 1));
    state.alive.set(state.alive.get() + 1);
    count_unjoined(state, 1);
    thread
}

/// Counts threads that were created and not joined.
fn count_unjoined(state: &State, more: i16) {
    for count in [&state.unjoined, &state.own_unjoined[multi_process::process()]] {
        count.set(count.get().wrapping_add_signed(more));
    }
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pthread_create(
    handle: usize,
    attributes: usize,
    function: usize,
    argument: usize,
) -> i32 {
    if !crate::ending::is_running() {
        stop!("pthread_create before main (in the constructor of a library) is not modelled");
    }
    let refused = &state().refused_threads;
    if refused.get() < setup().refused_threads {
        refused.set(refused.get() + 1);
        return errno::EAGAIN;
    }
    let (mut detached, mut size) = (0, 0);
    if attributes != 0 {
        // SAFETY: the program hands over its attributes. JUSTIFICATION: only libc knows them.
        unsafe {
            pthread_attr_getdetachstate(attributes, &raw mut detached);
            pthread_attr_getstacksize(attributes, &raw mut size);
        }
    }
    if size > STACK_SIZE {
        stop!("pthread_create with a stack of {size} bytes; the limit is {}", STACK_SIZE);
    }
    let was_concurrent = state().is_concurrent();
    point(Operation::Create, objects::memory(function));
    let thread = create(function, argument, detached != 0);
    crate::scheduler::note_creation(thread, was_concurrent);
    store(handle, thread.tcb.get());
    0
}

fn join(handle: usize, result: usize, deadline: Option<u64>, only_try: bool) -> i32 {
    let joined = objects::memory(handle);
    ask(if only_try { Operation::TryJoin } else { Operation::Join }, joined, deadline);
    let Some(thread) = find(handle) else { return errno::ESRCH };
    if thread.detached.get() || thread.joined.get() {
        return errno::EINVAL;
    }
    if thread.number.get() == state().current.get() {
        return errno::EDEADLK;
    }
    while thread.status() != Status::Ended {
        if only_try {
            return errno::EBUSY;
        }
        thread.joined.set(true);
        let woken = wait(Waiting::Join, joined, deadline);
        if woken == Woken::TimedOut {
            thread.joined.set(false);
            return errno::ETIMEDOUT;
        }
        if matches!(woken, Woken::Interrupted { .. }) {
            thread.joined.set(false);
            cancel::act_if_due();
        }
    }
    if result != 0 {
        store(result, thread.result.get());
    }
    let state = state();
    count_unjoined(state, -1);
    forget(state, thread);
    0
}

fn join_until(handle: usize, result: usize, clock: i32, until: usize) -> i32 {
    if until != 0 && !crate::time::is_valid(until) {
        return errno::EINVAL;
    }
    cancel::at_point(|| join(handle, result, crate::time::deadline(clock, until), false))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pthread_join(handle: usize, result: usize) -> i32 {
    cancel::at_point(|| join(handle, result, None, false))
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_tryjoin_np(handle: usize, result: usize) -> i32 {
    join(handle, result, None, true)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_timedjoin_np(handle: usize, result: usize, until: usize) -> i32 {
    join_until(handle, result, crate::time::REALTIME, until)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_clockjoin_np(handle: usize, result: usize, clock: i32, until: usize) -> i32 {
    join_until(handle, result, clock, until)
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pthread_detach(handle: usize) -> i32 {
    point(Operation::Detach, objects::memory(handle));
    let Some(thread) = find(handle) else { return errno::ESRCH };
    if thread.detached.get() {
        return errno::EINVAL;
    }
    if thread.status() == Status::Ended {
        forget_unless_panicked(state(), thread);
    }
    thread.detached.set(true);
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_getattr_np(handle: usize, attributes: usize) -> i32 {
    let Some(thread) = find(handle) else { return errno::ESRCH };
    let low = stack_bottom(thread.stack_top());
    // SAFETY: the program hands over memory for attributes. JUSTIFICATION: only libc knows them.
    unsafe {
        pthread_attr_init(attributes);
        pthread_attr_setstack(attributes, low, STACK_SIZE);
        pthread_attr_setguardsize(attributes, PAGE);
        pthread_attr_setdetachstate(attributes, c_int::from(thread.detached.get()));
    }
    0
}

/// Interposes libc's function: there is one policy, since the order of threads is ours.
#[unsafe(no_mangle)]
extern "C" fn pthread_getschedparam(handle: usize, policy: usize, parameters: usize) -> i32 {
    const OTHER: i32 = 0;
    if find(handle).is_none() {
        return errno::ESRCH;
    }
    store(policy, OTHER);
    store(parameters, 0i32);
    0
}

/// Interposes libc's function: a hint without effect.
#[unsafe(no_mangle)]
extern "C" fn pthread_setschedparam(handle: usize, _policy: i32, _parameters: usize) -> i32 {
    if find(handle).is_none() { errno::ESRCH } else { 0 }
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_setname_np(handle: usize, name: usize) -> i32 {
    let Some(thread) = find(handle) else { return errno::ESRCH };
    let name = crate::memory::c_string(name);
    if name.len() > 15 {
        return errno::ERANGE;
    }
    let mut bytes = [0; 16];
    bytes[..name.len()].copy_from_slice(name);
    thread.name.set(bytes);
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_getname_np(handle: usize, name: usize, length: usize) -> i32 {
    let Some(thread) = find(handle) else { return errno::ESRCH };
    if length < 16 {
        return errno::ERANGE;
    }
    crate::memory::write(name, &thread.name.get());
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn sched_yield() -> i32 {
    give_way();
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn pthread_yield() -> i32 {
    sched_yield()
}

/// Interposes libc's function: destructors are ours to call, in our own order.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pthread_key_create(key: usize, destructor: usize) -> i32 {
    let real = libc::real_cached!("pthread_key_create", "GLIBC_2.34", "GLIBC_2.2.5");
    let failed = libc::call!(real, fn(usize, usize) -> i32, key, 0);
    if failed == 0 {
        let made = load::<u32>(key);
        state().key_destructors[made as usize % KEYS].set(destructor);
        state().keys.set(state().keys.get().max(made + 1));
    }
    failed
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pthread_key_delete(key: u32) -> i32 {
    let real = libc::real_cached!("pthread_key_delete", "GLIBC_2.34", "GLIBC_2.2.5");
    state().key_destructors[key as usize % KEYS].set(0);
    libc::call!(real, fn(u32) -> i32, key)
}
