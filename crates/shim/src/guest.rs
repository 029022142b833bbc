//! The program's memory, as syscalls see it: a bad address is `EFAULT`, not a crash.
//!
//! What a syscall is given are addresses that the program chose. They are followed here and nowhere
//! else, by a few instructions that may fault: the handler of faults recognises them by their
//! address ([`recover`]) and lets them return how many bytes are left. A page that is read-only
//! because no execution has written it so far is made writable, and the access goes on.
//!
//! Functions of libc that follow pointers by themselves (`pthread_mutex_lock`, `strlen`) crash for
//! a bad one, natively and here: they use [`crate::memory`].
//!
//! A slice of the program's memory is good until the next scheduling point: others may unmap it.

use crate::machine::Machine;
use crate::memory;
use crate::sys::errno;
use core::arch::global_asm;
use everypath_shim_abi::address_space::PAGE;

global_asm!(
    // Each returns how many bytes it could not access: 0 if all went well. Meanwhile rcx is that.
    ".type everypath_guest_start,@function",
    "everypath_guest_start:",
    // everypath_guest_copy(to, from, length)
    "everypath_guest_copy:",
    ".cfi_startproc",
    "mov rcx, rdx",
    "cmp rdx, 8",
    "jne 2f",
    "mov rax, [rsi]",
    "mov [rdi], rax",
    "xor eax, eax",
    "ret",
    "2:",
    "rep movsb",
    "xor eax, eax",
    "ret",
    // everypath_guest_clear(to, length)
    "everypath_guest_clear:",
    "mov rcx, rsi",
    "xor eax, eax",
    "rep stosb",
    "ret",
    // everypath_guest_look(at): reads a byte.
    "everypath_guest_look:",
    "mov ecx, 1",
    "mov al, [rdi]",
    "xor eax, eax",
    "ret",
    // everypath_guest_touch(at): writes a byte that is there already.
    "everypath_guest_touch:",
    "mov ecx, 1",
    "mov al, [rdi]",
    "mov [rdi], al",
    "xor eax, eax",
    "ret",
    "everypath_guest_end:",
    "everypath_guest_fault:",
    "mov rax, rcx",
    "ret",
    ".cfi_endproc",
);

unsafe extern "C" {
    static everypath_guest_start: u8;
    static everypath_guest_end: u8;
    static everypath_guest_fault: u8;
    fn everypath_guest_copy(to: usize, from: usize, length: usize) -> usize;
    fn everypath_guest_clear(to: usize, length: usize) -> usize;
    fn everypath_guest_look(at: usize) -> usize;
    fn everypath_guest_touch(at: usize) -> usize;
}

/// Lets an access of this module that faulted return; false if it was none.
pub(crate) fn recover(machine: &Machine) -> bool {
    let (start, end) = (&raw const everypath_guest_start, &raw const everypath_guest_end);
    let is_ours = (start as u64..end as u64).contains(&machine.rip.get());
    if is_ours {
        machine.rip.set((&raw const everypath_guest_fault) as u64);
    }
    is_ours
}

/// What may be read from and written to the program's memory: any bytes are a value.
pub(crate) trait Plain: Copy + Default {}
impl Plain for u8 {}
impl Plain for u16 {}
impl Plain for u32 {}
impl Plain for i32 {}
impl Plain for u64 {}
impl Plain for i64 {}
impl Plain for usize {}
impl<T: Plain, const N: usize> Plain for [T; N] where [T; N]: Default {}

/// Reads a value. Not inlined, nor is writing one: what it needs would stay on the stack of a thread that
/// blocks later, and stacks are hashed.
#[inline(never)]
pub(crate) fn load<T: Plain>(address: usize) -> Result<T, i32> {
    let mut value = T::default();
    transfer((&raw mut value) as usize, address, size_of::<T>())?;
    Ok(value)
}

/// Writes a value.
#[inline(never)]
pub(crate) fn store<T: Plain>(address: usize, value: T) -> Result<(), i32> {
    transfer(address, (&raw const value) as usize, size_of::<T>())
}

/// Writes a value where the program wants it, if it does.
pub(crate) fn store_if_wanted<T: Plain>(address: usize, value: T) -> Result<(), i32> {
    if address == 0 { Ok(()) } else { store(address, value) }
}

/// Reads bytes.
pub(crate) fn read(address: usize, out: &mut [u8]) -> Result<(), i32> {
    transfer(out.as_mut_ptr() as usize, address, out.len())
}

/// Writes bytes.
pub(crate) fn write(address: usize, from: &[u8]) -> Result<(), i32> {
    transfer(address, from.as_ptr() as usize, from.len())
}

/// Copies bytes, of which one side is the program's.
fn transfer(to: usize, from: usize, length: usize) -> Result<(), i32> {
    // SAFETY: one side is a value or a slice of the caller's, of this length; a fault on the other
    // side ends the copy. JUSTIFICATION: only the processor knows which addresses are good.
    all(unsafe { everypath_guest_copy(to, from, length) })
}

/// Copies bytes between the program's memory and buffers of the kernel, either way.
pub(crate) fn copy(to: usize, from: usize, length: usize) -> Result<(), i32> {
    transfer(to, from, length)
}

/// Clears bytes.
pub(crate) fn zero(address: usize, length: usize) -> Result<(), i32> {
    // SAFETY: the program wants this memory to be written; a fault ends it.
    // JUSTIFICATION: as for `transfer`.
    all(unsafe { everypath_guest_clear(address, length) })
}

fn all(left: usize) -> Result<(), i32> {
    if left == 0 { Ok(()) } else { Err(errno::EFAULT) }
}

fn is_readable(address: usize) -> bool {
    // SAFETY: reads a byte or faults, which ends it. JUSTIFICATION: as for `transfer`.
    unsafe { everypath_guest_look(address) == 0 }
}

fn is_writable(address: usize) -> bool {
    // SAFETY: changes nothing, since no other thread runs. JUSTIFICATION: as for `transfer`.
    unsafe { everypath_guest_touch(address) == 0 }
}

/// Whether a program can have memory there at all: the kernel asks that first, whatever the length.
pub(crate) fn check_range(address: usize, length: usize) -> Result<(), i32> {
    /// The kernel's half of the address space begins above it.
    const END: usize = (1 << 47) - PAGE;
    let end = address.checked_add(length);
    if end.is_some_and(|end| end <= END) { Ok(()) } else { Err(errno::EFAULT) }
}

/// How many bytes from an address on a test accepts; an error if there should be some and are none.
fn prefix(address: usize, length: usize, is_good: fn(usize) -> bool) -> Result<usize, i32> {
    let mut good = 0;
    while good < length && is_good(address.wrapping_add(good)) {
        good += PAGE - (address.wrapping_add(good) & (PAGE - 1));
    }
    if good == 0 && length > 0 { Err(errno::EFAULT) } else { Ok(good.min(length)) }
}

/// The bytes that can be read from an address on: as many as there are, of `length`.
pub(crate) fn readable(address: usize, length: usize) -> Result<&'static [u8], i32> {
    let length = prefix(address, length, is_readable)?;
    Ok(memory::bytes(address, length))
}

/// The bytes that can be written from an address on: as many as there are, of `length`.
pub(crate) fn writable(address: usize, length: usize) -> Result<&'static mut [u8], i32> {
    let length = prefix(address, length, is_writable)?;
    Ok(memory::bytes_mut(address, length))
}

/// All bytes from an address on, to be read.
pub(crate) fn bytes(address: usize, length: usize) -> Result<&'static [u8], i32> {
    readable(address, length)
        .and_then(|bytes| if bytes.len() == length { Ok(bytes) } else { Err(errno::EFAULT) })
}

/// Whether a call may write so many bytes.
pub(crate) fn expect_room(address: usize, length: usize) -> Result<(), i32> {
    match writable(address, length)?.len() == length {
        true => Ok(()),
        false => Err(errno::EFAULT),
    }
}

/// The bytes of a C string, without its end.
pub(crate) fn c_string(address: usize) -> Result<&'static [u8], i32> {
    let mut length = 0;
    loop {
        // A page at a time: what follows the string need not be there.
        let at = address.wrapping_add(length);
        let page = readable(at, PAGE - (at & (PAGE - 1)))?;
        match page.iter().position(|&byte| byte == 0) {
            Some(end) => return Ok(memory::bytes(address, length + end)),
            None => length += page.len(),
        }
    }
}
