//! Patch sites: the handlers of atomic instructions and of inlined locks.
//!
//! The checker finds them and writes the stubs; a stub saves the flags and rax, pushes the address
//! of the operand and the number of the site, and calls `everypath_atomic`.

use crate::machine::Machine;
use crate::memory::{load, view};
use crate::objects;
use crate::scheduler::{LOOKS, glance, note_in_vain, note_look, point, skips, spin, times_in_vain};
use crate::state::{Stage, State, state};
use crate::sync::inlined_std::{Use, belongs, enter};
use crate::sync::{rust_condvar, rust_mutex, rust_rwlock};
use core::arch::global_asm;
use core::arch::x86_64::__cpuid_count;
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use everypath_shim_abi::{Attempt, Object, Operation, Site, SiteKind, StubFrame, Trap};

global_asm!(
    ".globl everypath_atomic",
    ".hidden everypath_atomic",
    ".globl everypath_atomic_lower",
    ".hidden everypath_atomic_lower",
    ".macro everypath_enter",
    // There is nobody else: nothing to see. Costs three instructions.
    "movabs rax, {unjoined}",
    "cmp word ptr [rax], 0",
    "jne 2f",
    "ret",
    "2:",
    "push rcx",
    "push rdx",
    "push rsi",
    "push rdi",
    "push r8",
    "push r9",
    "push r10",
    "push r11",
    "push rbp",
    "mov rbp, rsp",
    "and rsp, -64",
    "cmp byte ptr [rip + {lower_halves}], 0",
    "je 4f",
    ".endm",
    "everypath_atomic:",
    "everypath_enter",
    // Most of the time only the lower halves of the vector registers are in use, and saving those
    // takes a tenth of the time. To ask takes as long as to save them, so who knows does not ask.
    "mov ecx, 1",
    "xgetbv",
    "test eax, 0xe4",
    "jnz 4f",
    "jmp 5f",
    "everypath_atomic_lower:",
    "everypath_enter",
    "5:",
    "sub rsp, 256",
    "movaps [rsp], xmm0",
    "movaps [rsp + 16], xmm1",
    "movaps [rsp + 32], xmm2",
    "movaps [rsp + 48], xmm3",
    "movaps [rsp + 64], xmm4",
    "movaps [rsp + 80], xmm5",
    "movaps [rsp + 96], xmm6",
    "movaps [rsp + 112], xmm7",
    "movaps [rsp + 128], xmm8",
    "movaps [rsp + 144], xmm9",
    "movaps [rsp + 160], xmm10",
    "movaps [rsp + 176], xmm11",
    "movaps [rsp + 192], xmm12",
    "movaps [rsp + 208], xmm13",
    "movaps [rsp + 224], xmm14",
    "movaps [rsp + 240], xmm15",
    "mov rdi, rbp",
    "xor esi, esi",
    "call {point}",
    // Nothing that is called from here uses the upper halves, and switching clears them.
    "movaps xmm0, [rsp]",
    "movaps xmm1, [rsp + 16]",
    "movaps xmm2, [rsp + 32]",
    "movaps xmm3, [rsp + 48]",
    "movaps xmm4, [rsp + 64]",
    "movaps xmm5, [rsp + 80]",
    "movaps xmm6, [rsp + 96]",
    "movaps xmm7, [rsp + 112]",
    "movaps xmm8, [rsp + 128]",
    "movaps xmm9, [rsp + 144]",
    "movaps xmm10, [rsp + 160]",
    "movaps xmm11, [rsp + 176]",
    "movaps xmm12, [rsp + 192]",
    "movaps xmm13, [rsp + 208]",
    "movaps xmm14, [rsp + 224]",
    "movaps xmm15, [rsp + 240]",
    "3:",
    "mov rsp, rbp",
    "pop rbp",
    "pop r11",
    "pop r10",
    "pop r9",
    "pop r8",
    "pop rdi",
    "pop rsi",
    "pop rdx",
    "pop rcx",
    "ret",
    "4:",
    "sub rsp, 2816",
    "mov qword ptr [rsp + 512], 0",
    "mov qword ptr [rsp + 520], 0",
    "mov qword ptr [rsp + 528], 0",
    "mov qword ptr [rsp + 536], 0",
    "mov qword ptr [rsp + 544], 0",
    "mov qword ptr [rsp + 552], 0",
    "mov qword ptr [rsp + 560], 0",
    "mov qword ptr [rsp + 568], 0",
    // Vector registers and masks; x87 is not used by anything called from here.
    "mov eax, 0xe6",
    "xor edx, edx",
    "xsavec64 [rsp]",
    "mov rdi, rbp",
    "mov rsi, rsp",
    "call {point}",
    "mov eax, 0xe6",
    "xor edx, edx",
    "xrstor64 [rsp]",
    "jmp 3b",
    unjoined = const everypath_shim_abi::address_space::STATE + offset_of!(State, unjoined),
    point = sym before_instruction,
    lower_halves = sym LOWER_HALVES,
);

/// Whether the lower halves of the vector registers may be saved alone if the others are not in
/// use: the processor says so by `xgetbv`, and nobody needs the one form of [`crate::xsave`].
static LOWER_HALVES: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    static everypath_atomic: u8;
    static everypath_atomic_lower: u8;
}

/// Where stubs call: those of any module, and those of modules without upper halves.
pub(crate) fn entries() -> [usize; 2] {
    [(&raw const everypath_atomic) as usize, (&raw const everypath_atomic_lower) as usize]
}

static SITES: AtomicUsize = AtomicUsize::new(0);
static TRAPS: AtomicUsize = AtomicUsize::new(0);
static TRAP_COUNT: AtomicUsize = AtomicUsize::new(0);

/// The tables of sites and of traps as the checker wrote them, which stay where they are.
pub(crate) fn install(sites: &'static [u8], traps: &'static [u8]) {
    let (entries, rest) = sites.as_chunks();
    // From here on sites are read in place, so each must be of a kind that we know.
    if !rest.is_empty() || entries.iter().any(|&entry| Site::from_bytes(entry).is_err()) {
        crate::fail::fatal("the checker sent a site of an unknown kind");
    }
    SITES.store(sites.as_ptr() as usize, Relaxed);
    TRAPS.store(traps.as_ptr() as usize, Relaxed);
    TRAP_COUNT.store(traps.len() / Trap::LENGTH, Relaxed);
    const TELLS_WHAT_IS_IN_USE: u32 = 1 << 2;
    let tells = __cpuid_count(0xd, 1).eax & TELLS_WHAT_IS_IN_USE != 0;
    LOWER_HALVES.store(tells && !crate::region::setup().canonical, Relaxed);
}

/// Sends a thread that hit a trap of ours to its stub.
pub(crate) fn redirect(machine: &Machine) -> bool {
    let address = machine.rip.get() - 1;
    let traps: usize = TRAPS.load(Relaxed);
    let (mut low, mut high) = (0, TRAP_COUNT.load(Relaxed));
    while low < high {
        let middle = (low + high) / 2;
        let trap: Trap = load(traps + middle * Trap::LENGTH);
        if trap.address == address {
            machine.rip.set(trap.stub);
            return true;
        }
        if trap.address < address {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    false
}

/// From the frame of `everypath_atomic` to what the stub pushed: nine registers and the return
/// address.
const PUSHED: usize = 10 * size_of::<u64>();
/// Within that frame: `rsi`, which a function finds its second argument in.
const SECOND_ARGUMENT: usize = 48;
/// Within that frame: `rcx`, which says how often an instruction is repeated.
const REPETITIONS: usize = 64;
/// From that frame to the stack pointer of the program.
const BEFORE: u64 = (PUSHED + StubFrame::TO_PROGRAM) as u64;

/// Runs before a patched instruction, on the stack of its thread.
extern "C" fn before_instruction(frame: usize, vectors: usize) {
    if !crate::ending::is_running() {
        return;
    }
    if crate::region::setup().canonical {
        crate::xsave::make_canonical(vectors);
    }
    let StubFrame { site, operand, rax, .. } = load(frame + PUSHED);
    let (operand, rbp) = (operand as usize, load::<u64>(frame));
    let site: &Site = view(SITES.load(Relaxed) + site as u32 as usize * Site::LENGTH);
    let times = if site.is_repeated { load(frame + REPETITIONS) } else { 1 };
    let length = times * usize::from(site.size);
    if site.is_armed && !crate::granules::are_met(operand, length) {
        return;
    }
    let thread = state().current();
    thread.at.set([site.address, frame as u64 + BEFORE, rbp]);
    let value = crate::accesses::divided_value();
    let how = match site.kind {
        SiteKind::CompareExchange | SiteKind::ReadLock | SiteKind::WriteLock => {
            Use::Compare(rax as u32)
        }
        SiteKind::Load => Use::Look,
        _ => Use::Other,
    };
    if site.is_wide {
        crate::wide::access(thread, site, operand);
    } else if !belongs(thread, operand, how) {
        crate::races::begin(thread, site, (operand, length));
        let second = load(frame + SECOND_ARGUMENT);
        begin_step(site, Accessed { operand, length, second }, rax);
        crate::races::end(thread);
    }
    thread.at.set([0; 3]);
    crate::accesses::restore_divided_value(value);
}

/// What a patched instruction works on.
#[derive(Clone, Copy)]
struct Accessed {
    operand: usize,
    /// How many bytes.
    length: usize,
    /// The second argument, if it is a call.
    second: usize,
}

/// What happens at a patched instruction that is a step, or the first of several in one.
fn begin_step(site: &Site, accessed: Accessed, rax: u64) {
    let Accessed { operand, length, second } = accessed;
    // A try-lock expects a free lock; an instruction that expects another value compares words.
    let finds_free = rax as u32 == 0;
    match site.kind {
        SiteKind::CompareExchange => compare_exchange(operand, site, rax),
        SiteKind::Exchange => exchange(operand, site),
        SiteKind::FetchModify => write(Operation::FetchModify, operand, length),
        SiteKind::Store => write(Operation::Store, operand, length),
        SiteKind::Load | SiteKind::LoadCall => look(operand, length, site),
        SiteKind::Pause => spin(Operation::Pause, Object::NONE),
        SiteKind::Fence => {
            point(Operation::Fence, objects::whole_process());
        }
        // What follows loads a constant.
        SiteKind::Random => {}
        SiteKind::Lock if finds_free => rust_mutex::before_taking(operand),
        SiteKind::Lock => compare_exchange(operand, site, rax),
        SiteKind::LockCall => {
            rust_mutex::before_taking(operand);
            enter(Stage::Lock, operand, 0);
        }
        SiteKind::Unlock => rust_mutex::before_giving_back(operand),
        SiteKind::UnlockCall => {
            rust_mutex::before_giving_back(operand);
            enter(Stage::Lock, operand, 0);
        }
        SiteKind::CondvarWait => rust_condvar::before_waiting(operand, second, false),
        SiteKind::CondvarWaitTimeout => rust_condvar::before_waiting(operand, second, true),
        SiteKind::NotifyOne => rust_condvar::before_notifying(operand, Operation::CondSignal),
        SiteKind::NotifyAll => rust_condvar::before_notifying(operand, Operation::CondBroadcast),
        SiteKind::ReadLock => {
            rust_rwlock::before_reading(operand);
            enter_slow_path(operand, rax);
        }
        SiteKind::ReadLockCall => {
            rust_rwlock::before_reading(operand);
            enter(Stage::ReadWriteLock, operand, 0);
        }
        SiteKind::WriteLock if finds_free => {
            rust_rwlock::before_writing(operand);
            enter_slow_path(operand, rax);
        }
        SiteKind::WriteLock => compare_exchange(operand, site, rax),
        SiteKind::WriteLockCall => {
            rust_rwlock::before_writing(operand);
            enter(Stage::ReadWriteLock, operand, 0);
        }
        SiteKind::RwUnlock => rust_rwlock::before_giving_back(operand),
        SiteKind::RwUnlockCall => {
            rust_rwlock::before_giving_back(operand);
            enter(Stage::Lock, operand, 0);
        }
    }
}

/// A compare-and-exchange of a read-write lock expects what it found before the step. If that has
/// changed it fails, and the slow path that follows belongs to the step.
fn enter_slow_path(operand: usize, rax: u64) {
    if load::<u32>(operand) != rax as u32 {
        enter(Stage::ReadWriteLock, operand, 0);
    }
}

/// An instruction that changes a word, whatever it finds there.
#[inline(always)]
fn write(operation: Operation, operand: usize, length: usize) {
    point(operation, objects::bytes(operand, length));
    rust_mutex::watch(operand);
}

/// What an operand of up to eight bytes holds.
fn value(operand: usize, size: u8) -> u64 {
    match size {
        1 => u64::from(load::<u8>(operand)),
        2 => u64::from(load::<u16>(operand)),
        4 => u64::from(load::<u32>(operand)),
        _ => load(operand),
    }
}

/// A comparison that fails again and again, with nothing changed since it first did, waits for a
/// change.
fn compare_exchange(operand: usize, site: &Site, rax: u64) {
    let size = site.size;
    let bits = u32::from(size.min(8)) * 8;
    let expected = if bits < 64 { rax & ((1 << bits) - 1) } else { rax };
    let now = value(operand, size);
    let fails = now != expected && size <= 8;
    if fails && skips(state().current(), operand, now) {
        return;
    }
    if fails && times_in_vain(site.address, operand, now) >= LOOKS {
        spin(
            Operation::CompareExchange(Attempt::Repeated),
            objects::bytes(operand, site.size.into()),
        );
    } else {
        point(
            Operation::CompareExchange(Attempt::First),
            objects::bytes(operand, site.size.into()),
        );
    }
    let now = value(operand, size);
    if now != expected && size <= 8 {
        note_in_vain(site.address, operand, now);
        rust_rwlock::note_look(operand, now);
    } else {
        state().current().in_vain.set([0; 4]);
    }
    rust_mutex::watch(operand);
}

/// An exchange that found what it then left there, and finds it again and again, waits for a
/// change.
fn exchange(operand: usize, site: &Site) {
    let now = value(operand, site.size);
    let times = times_in_vain(site.address, operand, now);
    // What it finds twice in a row it has left there itself.
    if now != 0 && times >= 2 && skips(state().current(), operand, now) {
        return;
    }
    if now != 0 && times >= LOOKS {
        spin(Operation::Exchange(Attempt::Repeated), objects::bytes(operand, site.size.into()));
    } else {
        point(Operation::Exchange(Attempt::First), objects::bytes(operand, site.size.into()));
    }
    let now = value(operand, site.size);
    note_in_vain(site.address, operand, now);
    rust_mutex::watch(operand);
}

/// Looking changes nothing for others. A thread that looks again and again waits for a change.
fn look(operand: usize, length: usize, site: &Site) {
    let thread = state().current();
    let [last_site, found, times] = thread.looked.get();
    let now = value(operand, site.size);
    if skips(thread, operand, now) {
        return;
    }
    // Several words may be looked at by one instruction, in a loop or in a function.
    let place = site.address ^ (operand as u64).rotate_left(32);
    let again = last_site == place && found == now;
    if again && times >= LOOKS {
        spin(Operation::Load(Attempt::Repeated), objects::bytes(operand, length));
    } else {
        glance(Operation::Load(Attempt::First), objects::bytes(operand, length));
    }
    let now = value(operand, site.size);
    let times = if last_site == place && found == now { (times + 1).min(LOOKS) } else { 1 };
    note_look(thread, operand, now);
    rust_rwlock::note_look(operand, now);
    thread.looked.set([place, now, times]);
}
