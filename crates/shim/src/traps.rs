//! Signals that the kernel and the processor send: faults, traps, calls that are sent back, the watchdog.

use crate::ending::{ended, is_running};
use crate::fail::{die, faulted};
use crate::guest;
use crate::hang;
use crate::log::log;
use crate::machine::Machine;
use crate::memory::load;
use crate::region::reply;
use crate::signals::{SIGBUS, SIGSEGV, call_handler};
use crate::state::state;
use crate::sys::{number, sys};
use crate::text;
use core::arch::global_asm;
use everypath_shim_abi::address_space::{PRIVATE, SIGNAL_STACKS, SLOTS};
use everypath_shim_abi::{LogKind, Outcome};
use everypath_vkernel::signal::IGNORE;

const SIGILL: i32 = 4;
const SIGTRAP: i32 = 5;
const SIGFPE: i32 = 8;
/// The watchdog's signal.
const SIGXCPU: i32 = 24;
const SIGSYS: i32 = 31;

const SA_SIGINFO: usize = 4;
const SA_RESTORER: usize = 0x0400_0000;
const SA_ONSTACK: usize = 0x0800_0000;
const SA_NODEFER: usize = 0x4000_0000;

global_asm!(
    ".globl everypath_restorer",
    ".hidden everypath_restorer",
    "everypath_restorer:",
    "mov eax, 15",
    "syscall",
);

unsafe extern "C" {
    static everypath_restorer: u8;
}

/// A handler of the kernel's kind.
type Handler = extern "C" fn(i32, usize, &Machine);

/// Installs a handler of ours with the kernel.
fn install(signal: i32, handler: Handler, flags: usize) {
    let restorer = (&raw const everypath_restorer) as usize;
    let flags = flags | SA_SIGINFO | SA_RESTORER | SA_NODEFER;
    let action = [handler as *const () as usize, flags, restorer, 0];
    if sys!(number::RT_SIGACTION, signal, action.as_ptr(), 0, 8) != 0 {
        crate::fail::fatal("cannot install a signal handler");
    }
}

/// Installs what we need to see.
pub(crate) fn arm() {
    for signal in [SIGSEGV, SIGBUS, SIGILL, SIGFPE] {
        install(signal, on_fault, SA_ONSTACK);
    }
    install(SIGTRAP, on_trap, 0);
    install(SIGSYS, crate::dispatch::on_system_call, 0);
    install(SIGXCPU, on_watchdog, SA_ONSTACK);
    arm_kernel_thread(0);
}

const ALTERNATE_SIZE: usize = 0x2_0000;
static MAPPED: [core::sync::atomic::AtomicBool; everypath_shim_abi::MAX_THREADS] =
    [const { core::sync::atomic::AtomicBool::new(false) }; everypath_shim_abi::MAX_THREADS];

/// Gives a kernel thread a stack for faults: the program's own may be the reason.
pub(crate) fn arm_kernel_thread(number: usize) {
    let stack = SIGNAL_STACKS + number * ALTERNATE_SIZE;
    if !MAPPED[number].swap(true, core::sync::atomic::Ordering::Relaxed) {
        crate::memory::map(stack, ALTERNATE_SIZE);
    }
    let description = [stack, 0, ALTERNATE_SIZE];
    sys!(number::SIGALTSTACK, description.as_ptr(), 0);
}

extern "C" fn on_fault(signal: i32, info: usize, machine: &Machine) {
    // Signals that a program sends are modelled: one that a process sent is from outside.
    if load::<i32>(info + 8) <= 0 {
        let sender = load::<i32>(info + 16);
        die(
            Outcome::Killed,
            format_args!("sent signal {signal} from outside, by process {sender}"),
        );
    }
    let address = load::<u64>(info + 16);
    let is_ours = || {
        crate::accesses::is_full(address, machine)
            || crate::write_protect::is_written(address as usize)
    };
    if signal == SIGSEGV && is_ours()
        || crate::time::emulate_counter(info, machine)
        || guest::recover(machine)
    {
        return;
    }
    let registers = [machine.rip.get(), machine.rsp.get(), machine.rbp.get()];
    log(LogKind::Fault, [signal as u64, address, registers[0]]);
    if is_defect(signal, address as usize, machine) {
        faulted(signal, address, machine);
    }
    if !is_running() {
        die(
            Outcome::Uncontrolled,
            format_args!("signal {signal} before main, at {:#x}", registers[0]),
        );
    }
    let state = state();
    let action = state.own_kernel.actions[signal as usize].get();
    if action.handler > IGNORE {
        call_handler(signal, &action, info, (&raw const *machine) as usize);
        return;
    }
    let thread = state.current();
    thread.at.set(registers);
    reply(|reply| reply.address = address);
    ended(Outcome::Signalled, signal)
}

/// Whether a fault is the shim's own: at one of its instructions, and not because a function of libc
/// that it stands in for follows a bad pointer of the program's.
fn is_defect(signal: i32, address: usize, machine: &Machine) -> bool {
    let is_ours = (PRIVATE..SLOTS).contains(&address);
    let is_memory = signal == SIGSEGV || signal == SIGBUS;
    text::is_our_text(machine.rip.get() as usize)
        && (!is_memory
            || is_ours
            || !is_running()
            || state().current().in_syscall.get()
            || text::is_stack_of_controller(machine.rsp.get() as usize))
}

extern "C" fn on_trap(signal: i32, info: usize, machine: &Machine) {
    if hang::is_traced(info, machine) {
        return;
    }
    if !crate::atomics::redirect(machine) {
        crate::accesses::refuse_unseen(machine.rip.get() as usize - 1);
        on_fault(signal, info, machine);
    }
}

extern "C" fn on_watchdog(signal: i32, _info: usize, machine: &Machine) {
    if crate::controller::pass_on(signal) {
        return;
    }
    let rip = machine.rip.get() as usize;
    if !is_running() || text::is_our_text(rip) {
        return;
    }
    hang::trace(machine);
}
