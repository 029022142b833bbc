//! Internals of libc: looked up by name and version, measured, never assumed.

use crate::memory::load;
use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

unsafe extern "C" {
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
    fn __errno_location() -> *mut c_int;
}

const RTLD_DEFAULT: usize = 0;
const RTLD_NEXT: usize = usize::MAX;

macro_rules! insides {
    ($($field:ident = $name:literal;)*) => {
        /// Addresses inside libc and the loader.
        #[derive(Debug)]
        pub(crate) struct Insides {
            $(pub(crate) $field: AtomicUsize,)*
        }

        static INSIDES: Insides = Insides { $($field: AtomicUsize::new(0),)* };

        /// Looks everything up; says what this libc does not have.
        pub(crate) fn find_insides() {
            $(
                let found = private(concat!($name, "\0"));
                if found == 0 {
                    crate::fail::die(
                        everypath_shim_abi::Outcome::Uncontrolled,
                        format_args!("this libc has no {}: it is not a glibc that everypath knows (2.34 or newer)", $name),
                    );
                }
                INSIDES.$field.store(found, Relaxed);
            )*
        }
    };
}

insides! {
    allocate_tls = "_dl_allocate_tls";
    deallocate_tls = "_dl_deallocate_tls";
    tls_info = "_dl_get_tls_static_info";
    call_tls_dtors = "__call_tls_dtors";
    ctype_init = "__ctype_init";
    enable_locks = "_IO_enable_locks";
    offset_of_tid = "_thread_db_pthread_tid";
    sizeof_pthread = "_thread_db_sizeof_pthread";
    resolver = "__resp";
}

fn private(name: &str) -> usize {
    let version = c"GLIBC_PRIVATE";
    // SAFETY: both are C strings, and looking up a symbol changes nothing.
    // JUSTIFICATION: only the loader knows where libc's symbols are.
    unsafe { dlvsym(RTLD_DEFAULT as *mut c_void, name.as_ptr().cast(), version.as_ptr()) as usize }
}

/// A function that this library stands in for. Its names end with a zero.
pub(crate) struct Real {
    name: &'static str,
    versions: &'static [&'static str],
    found: AtomicUsize,
}

impl Real {
    /// One that is looked up before the program starts.
    pub(crate) const fn new(name: &'static str, versions: &'static [&'static str]) -> Self {
        Real { name, versions, found: AtomicUsize::new(0) }
    }

    fn find(&self) {
        for version in self.versions {
            let (name, version) = (self.name.as_ptr().cast(), version.as_ptr().cast());
            for library in [RTLD_NEXT, UNWINDER.load(Relaxed)] {
                // SAFETY: as for `private`.
                let found = unsafe { dlvsym(library as *mut c_void, name, version) };
                if !found.is_null() {
                    return self.found.store(found as usize, Relaxed);
                }
            }
        }
    }

    /// Its address.
    pub(crate) fn address(&self) -> usize {
        if self.found.load(Relaxed) == 0 {
            self.find();
        }
        match self.found.load(Relaxed) {
            0 => crate::fail::unable("libc lacks a function that everypath stands in for"),
            found => found,
        }
    }
}

unsafe extern "C" {
    static __start_everypath_real: u8;
    static __stop_everypath_real: u8;
}

/// The library with which libc unwinds. Those who are not linked with it do not see it.
static UNWINDER: AtomicUsize = AtomicUsize::new(RTLD_NEXT);

/// Remembers libc's unwinder, if it is loaded.
pub(crate) fn unwinder_is(found: usize) {
    if found != 0 {
        UNWINDER.store(found, Relaxed);
    }
}

/// Looks up all that the program may call: the loader must leave no traces on its stacks.
pub(crate) fn find_real() {
    let first = (&raw const __start_everypath_real) as usize;
    let end = (&raw const __stop_everypath_real) as usize;
    for at in (first..end).step_by(size_of::<Real>()) {
        crate::memory::view::<Real>(at).find();
    }
}

/// The function that this library stands in for.
macro_rules! real_cached {
    ($name:literal $(, $version:literal)+) => {{
        // SAFETY: the section holds nothing else.
        // JUSTIFICATION: the linker collects them, so that none is forgotten.
        #[used]
        #[unsafe(link_section = "everypath_real")]
        static REAL: $crate::libc::Real =
            $crate::libc::Real::new(concat!($name, "\0"), &[$(concat!($version, "\0")),+]);
        REAL.address()
    }};
}
pub(crate) use real_cached;

/// Calls a function of libc by address.
macro_rules! call {
    ($address:expr, fn($($type:ty),*) $(-> $result:ty)? $(, $argument:expr)*) => {{
        let function: extern "C" fn($($type),*) $(-> $result)? = {
            // SAFETY: the address was looked up by the name of a function with this signature.
            // JUSTIFICATION: private functions of libc cannot be linked against.
            unsafe { core::mem::transmute($address) }
        };
        function($($argument),*)
    }};
}
pub(crate) use call;

/// The addresses that libc has.
static TEXT: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Looks whether a module is libc.
pub(crate) fn is_given(low: usize, high: usize) {
    if (low..high).contains(&INSIDES.ctype_init.load(Relaxed)) {
        TEXT[0].store(low, Relaxed);
        TEXT[1].store(high, Relaxed);
    }
}

/// Whether an instruction is one of libc's.
pub(crate) fn is_own_text(address: u64) -> bool {
    (TEXT[0].load(Relaxed)..TEXT[1].load(Relaxed)).contains(&(address as usize))
}

/// The size of a thread control block.
pub(crate) fn block_size() -> usize {
    load::<u32>(INSIDES.sizeof_pthread.load(Relaxed)) as usize
}

/// Where a control block keeps its thread's number.
fn offset_of_tid() -> usize {
    load::<[u32; 3]>(INSIDES.offset_of_tid.load(Relaxed))[2] as usize
}

/// The size and alignment of static thread-local storage, control block included.
pub(crate) fn tls_info() -> (usize, usize) {
    let (mut size, mut align) = (0usize, 0usize);
    call!(
        INSIDES.tls_info.load(Relaxed),
        fn(*mut usize, *mut usize),
        &raw mut size,
        &raw mut align
    );
    (size, align)
}

/// What the control block of `main` has that every other needs too.
#[derive(Debug)]
pub(crate) struct MainBlock {
    address: AtomicUsize,
    resolver_offset: AtomicUsize,
}

static MAIN_BLOCK: MainBlock =
    MainBlock { address: AtomicUsize::new(0), resolver_offset: AtomicUsize::new(0) };

const TCB_SELF: usize = 0x00;
const TCB_THREAD: usize = 0x10;
const TCB_MULTIPLE_THREADS: usize = 0x18;
const TCB_STACK_GUARD: usize = 0x28;
const TCB_POINTER_GUARD: usize = 0x30;

/// Tells libc that there are several threads, and remembers the block of `main`.
pub(crate) fn adopt_main(block: usize, tid: i32) {
    MAIN_BLOCK.address.store(block, Relaxed);
    let resolver = INSIDES.resolver.load(Relaxed).wrapping_sub(block);
    MAIN_BLOCK.resolver_offset.store(resolver, Relaxed);
    call!(INSIDES.enable_locks.load(Relaxed), fn());
    crate::memory::store(block + TCB_MULTIPLE_THREADS, 1i32);
    crate::memory::store(block + offset_of_tid(), tid);
}

/// Makes a thread control block with its thread-local storage.
pub(crate) fn make_block(block: usize, tid: i32) {
    let main = MAIN_BLOCK.address.load(Relaxed);
    crate::memory::zero(block, block_size());
    crate::memory::store(block + TCB_SELF, block);
    crate::memory::store(block + TCB_THREAD, block);
    if call!(INSIDES.allocate_tls.load(Relaxed), fn(usize) -> usize, block) == 0 {
        crate::fail::unable("no memory for thread-local storage");
    }
    crate::memory::store(block + TCB_MULTIPLE_THREADS, 1i32);
    for offset in [TCB_STACK_GUARD, TCB_POINTER_GUARD] {
        crate::memory::store(block + offset, load::<usize>(main + offset));
    }
    crate::memory::store(block + offset_of_tid(), tid);
}

/// What a new thread does first: tables for characters, state of the resolver.
pub(crate) fn enter_thread(block: usize, resolver: usize) {
    call!(INSIDES.ctype_init.load(Relaxed), fn());
    let offset = MAIN_BLOCK.resolver_offset.load(Relaxed);
    crate::memory::store(block.wrapping_add(offset), resolver);
}

/// Runs the destructors of C++ and Rust thread-local variables.
pub(crate) fn call_tls_dtors() {
    call!(INSIDES.call_tls_dtors.load(Relaxed), fn());
}

/// Gives back what `make_block` took from the heap.
pub(crate) fn free_block(block: usize) {
    call!(INSIDES.deallocate_tls.load(Relaxed), fn(usize, c_int), block, 0);
}

/// Sets `errno` and returns -1.
pub(crate) fn fail(error: i32) -> isize {
    // SAFETY: libc's own way to its thread-local variable, valid in every thread.
    // JUSTIFICATION: errno has no other access.
    unsafe { *__errno_location() = error };
    -1
}

/// Turns a system call's result into a libc function's.
pub(crate) fn result(value: isize) -> isize {
    if (-4095..0).contains(&value) { fail(-value as i32) } else { value }
}
