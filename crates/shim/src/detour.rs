//! Detours: internal calls of libc, which interposition does not reach, made to jump to the shim.
//!
//! `printf` ends in libc's own `write`, bound when libc was built. The system call in it would be
//! trapped, which costs more than all the rest of the step; so the function itself is made to jump
//! here. Whatever is not listed is trapped as before: this saves time, not control.

use crate::dispatch;
use crate::memory::write;
use core::ffi::{c_char, c_int, c_void};

/// `jmp [rip]` and the address behind it: no register is touched.
const JUMP: usize = 14;

/// libc's `Dl_info`.
#[repr(C)]
struct Info {
    name: usize,
    base: usize,
    symbol: usize,
    address: usize,
}

/// An entry of an ELF symbol table.
#[repr(C)]
struct Symbol {
    name: u32,
    kind: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

unsafe extern "C" {
    fn dladdr1(address: usize, info: *mut Info, symbol: *mut *const Symbol, flags: c_int) -> c_int;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> usize;
}

/// Makes libc's functions jump to ours.
pub(crate) fn install() {
    divert(c"write", dispatch::write as *const () as usize);
    divert(c"read", dispatch::read as *const () as usize);
    divert(c"fstat64", dispatch::fstat64 as *const () as usize);
    divert(c"lseek64", dispatch::lseek64 as *const () as usize);
    divert(c"close", dispatch::close as *const () as usize);
    // Allocators look for it behind themselves (`RTLD_NEXT`), where it is libc's.
    divert(c"pthread_create", crate::thread::pthread_create as *const () as usize);
    divert(c"_exit", crate::process::_exit as *const () as usize);
}

fn divert(name: &core::ffi::CStr, to: usize) {
    const NEXT: usize = usize::MAX;
    const WITH_SYMBOL: c_int = 1;
    let mut info = Info { name: 0, base: 0, symbol: 0, address: 0 };
    let mut symbol = core::ptr::null();
    // SAFETY: the name is a C string, the results are of this frame.
    // JUSTIFICATION: only the loader knows where the function is and how long.
    let (function, size) = unsafe {
        let function = dlsym(NEXT as *mut c_void, name.as_ptr());
        let found = dladdr1(function, &raw mut info, &raw mut symbol, WITH_SYMBOL);
        let known = found != 0 && !symbol.is_null();
        (function, if known { (*symbol).size as usize } else { 0 })
    };
    if function == 0 || function == to || size < JUMP {
        return;
    }
    let mut jump = [0xff, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    write(jump.as_mut_ptr() as usize + 6, &to.to_le_bytes());
    crate::start::patch(function, &jump);
}
