//! Context switches between fibers.
//!
//! A context is a stack pointer and an FS base; everything else that must survive is pushed on the
//! stack it points to. Registers that a call may clobber are cleared on the way in: what is dead
//! must not leak into a thread's memory, or equal states would not have equal hashes.

use core::arch::global_asm;
use core::cell::Cell;

/// A fiber that does not run.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Context {
    /// Its stack pointer: above it lie the saved registers.
    pub(crate) rsp: Cell<usize>,
    /// Its thread control block.
    pub(crate) fs: Cell<usize>,
}

global_asm!(
    // everypath_swap(from, to): saves the running fiber in `from` and goes on with `to`.
    ".globl everypath_swap",
    ".hidden everypath_swap",
    ".type everypath_swap,@function",
    "everypath_swap:",
    ".cfi_startproc",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "push 0",
    "stmxcsr [rsp]",
    "fnstcw [rsp + 4]",
    "mov [rdi], rsp",
    "mov rax, rsi",
    "everypath_resume_rax:",
    // What controls the arithmetic was just saved, and is mostly the same for all.
    "mov rcx, [rsp]",
    "2:",
    "mov rsp, [rax]",
    "mov rdx, [rax + 8]",
    "wrfsbase rdx",
    "cmp rcx, [rsp]",
    "je 3f",
    "ldmxcsr [rsp]",
    "fldcw [rsp + 4]",
    "3:",
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    "xor eax, eax",
    "xor ecx, ecx",
    "xor edx, edx",
    "xor esi, esi",
    "xor edi, edi",
    "xor r8d, r8d",
    "xor r9d, r9d",
    "xor r10d, r10d",
    "xor r11d, r11d",
    // Sixteen of these take half as long as `vzeroall`.
    "vzeroupper",
    "xorps xmm0, xmm0",
    "xorps xmm1, xmm1",
    "xorps xmm2, xmm2",
    "xorps xmm3, xmm3",
    "xorps xmm4, xmm4",
    "xorps xmm5, xmm5",
    "xorps xmm6, xmm6",
    "xorps xmm7, xmm7",
    "xorps xmm8, xmm8",
    "xorps xmm9, xmm9",
    "xorps xmm10, xmm10",
    "xorps xmm11, xmm11",
    "xorps xmm12, xmm12",
    "xorps xmm13, xmm13",
    "xorps xmm14, xmm14",
    "xorps xmm15, xmm15",
    "ret",
    ".cfi_endproc",
    ".size everypath_swap, . - everypath_swap",
    // everypath_yield(from, decide): saves the running fiber in `from`, then calls `decide`, which
    // returns the context to switch to, or null for this fiber. What is saved cannot depend on it.
    ".globl everypath_yield",
    ".hidden everypath_yield",
    ".type everypath_yield,@function",
    "everypath_yield:",
    ".cfi_startproc",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "push 0",
    ".cfi_adjust_cfa_offset 56",
    "stmxcsr [rsp]",
    "fnstcw [rsp + 4]",
    "mov [rdi], rsp",
    "call rsi",
    "test rax, rax",
    "jnz everypath_resume_rax",
    // `decide` has preserved all that was saved.
    "add rsp, 56",
    ".cfi_adjust_cfa_offset -56",
    "ret",
    ".cfi_endproc",
    ".size everypath_yield, . - everypath_yield",
    // everypath_resume(to): goes on with `to`; what ran is forgotten.
    ".globl everypath_resume",
    ".hidden everypath_resume",
    "everypath_resume:",
    "mov rax, rdi",
    "mov rcx, -1",
    "jmp 2b",
    // The first frame of every fiber: r12(r13). Nothing called it, which ends every backtrace.
    ".globl everypath_first_frame",
    ".hidden everypath_first_frame",
    ".type everypath_first_frame,@function",
    "everypath_first_frame:",
    ".cfi_startproc",
    ".cfi_undefined rip",
    "nop",
    "xor ebp, ebp",
    "mov rdi, r13",
    "call r12",
    "ud2",
    ".cfi_endproc",
);

unsafe extern "C" {
    fn everypath_swap(from: *const Context, to: *const Context);
    fn everypath_resume(to: *const Context) -> !;
    fn everypath_yield(from: *const Context, decide: Decide);
    static everypath_first_frame: u8;
}

/// Chooses the context to switch to after a fiber was saved; null stays on it.
pub(crate) type Decide = extern "C" fn() -> *const Context;

/// The words between a saved stack pointer and the return address.
pub(crate) const SAVED_WORDS: usize = 7;

impl Context {
    /// Makes this a fiber that will call `function(argument)` on a fresh stack.
    pub(crate) fn prepare(&self, top: usize, function: usize, argument: usize, fs: usize) {
        // As the ABI wants it, the stack is aligned before the call in the first frame.
        let top = top & !63;
        let rsp = top - 16 - (SAVED_WORDS + 1) * 8;
        let control = 0x1f80 | (0x37f << 32);
        let words = [
            control,
            0,
            0,
            argument,
            function,
            0,
            0,
            (&raw const everypath_first_frame) as usize,
            0,
            0,
        ];
        for (at, word) in words.into_iter().enumerate() {
            crate::memory::store(rsp + at * 8, word);
        }
        self.rsp.set(rsp);
        self.fs.set(fs);
    }

    /// Saves the running fiber here and goes on with `to`; returns when this is resumed.
    pub(crate) fn swap(&self, to: &Context) {
        // SAFETY: `to` was prepared or saved, and what it points to was restored with it.
        // JUSTIFICATION: no language construct switches stacks.
        unsafe { everypath_swap(self, to) }
    }

    /// Goes on with this fiber; what ran is forgotten.
    pub(crate) fn resume(&self) -> ! {
        // SAFETY: as for `swap`.
        unsafe { everypath_resume(self) }
    }

    /// Saves the running fiber here and goes on with whom `decide` says; returns when this is
    /// resumed.
    pub(crate) fn yield_to(&self, decide: Decide) {
        // SAFETY: as for `swap`; `decide` runs below what was saved and returns.
        unsafe { everypath_yield(self, decide) }
    }

    /// Instruction pointer, stack pointer and frame pointer of this fiber.
    pub(crate) fn registers(&self) -> [u64; 3] {
        let rsp = self.rsp.get();
        let rbp: u64 = crate::memory::load(rsp + (SAVED_WORDS - 1) * 8);
        let rip: u64 = crate::memory::load(rsp + SAVED_WORDS * 8);
        [rip, (rsp + (SAVED_WORDS + 1) * 8) as u64, rbp]
    }
}

/// The FS base of this kernel thread.
pub(crate) fn fs_base() -> usize {
    let base: usize;
    // SAFETY: reads a register. JUSTIFICATION: libc has no function for it.
    unsafe { core::arch::asm!("rdfsbase {}", out(reg) base, options(nomem, nostack)) };
    base
}
