//! Startup: from the loader to the first snapshot.

use crate::atomics;
use crate::controller;
use crate::fail::die;
use crate::libc;
use crate::memory::{bytes, c_string, load, round_up, store, write};
use crate::multi_process;
use crate::objects;
use crate::region::{own, region, setup};
use crate::snapshot::{self, OURS, add_fixed};
use crate::state::{first_tid, state};
use crate::sys::{number, sys};
use crate::text::{OWN, PROGRAM, STACK_TOP};
use crate::thread::map_slot;
use core::ffi::c_void;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use everypath_shim_abi::address_space::{PAGE, TRAMPOLINES_SIZE};
use everypath_shim_abi::{
    MAX_MODULES, MAX_TEXT, MAX_THREADS, ModuleEntry, Operation, Outcome, PatchHeader, PatchKind,
    Restart, Splitmix, patch_records, preload,
};

static MAIN_FUNCTION: AtomicUsize = AtomicUsize::new(0);
static ARGUMENTS: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];
unsafe extern "C" {
    fn dl_iterate_phdr(
        callback: extern "C" fn(&Module, usize, *mut c_void) -> i32,
        data: *mut c_void,
    ) -> i32;
    fn backtrace(buffer: *mut usize, size: i32) -> i32;
    static __rseq_offset: isize;
    static __rseq_size: u32;
    static mut __libc_single_threaded: u8;
}

/// The head of libc's `struct dl_phdr_info`.
#[repr(C)]
struct Module {
    base: usize,
    name: usize,
    headers: usize,
    header_count: u16,
}

/// A program header.
#[derive(Clone, Copy)]
#[repr(C)]
struct Header {
    kind: u32,
    flags: u32,
    offset: usize,
    address: usize,
    physical: usize,
    file_size: usize,
    size: usize,
    align: usize,
}

const LOADED: u32 = 1;
const EXECUTABLE: u32 = 1;
const WRITABLE: u32 = 2;

impl Module {
    fn segments(&self) -> impl Iterator<Item = (u32, usize, usize)> {
        let headers = self.headers;
        let base = self.base;
        (0..usize::from(self.header_count))
            .map(move |at| load::<Header>(headers + at * size_of::<Header>()))
            .filter(|header| header.kind == LOADED)
            .map(move |h| (h.flags, base + h.address, base + h.address + h.size))
    }
}

/// Interposes libc's function: our `main` runs before the program's.
#[unsafe(no_mangle)]
extern "C" fn __libc_start_main(
    main: usize,
    argc: i32,
    argv: usize,
    init: usize,
    fini: usize,
    rtld_fini: usize,
    stack_end: usize,
) -> i32 {
    let real = libc::real_cached!("__libc_start_main", "GLIBC_2.34", "GLIBC_2.2.5");
    let first = if crate::region::open() {
        MAIN_FUNCTION.store(main, Relaxed);
        before_main as *const () as usize
    } else {
        main
    };
    libc::call!(
        real,
        fn(usize, i32, usize, usize, usize, usize, usize) -> i32,
        first,
        argc,
        argv,
        init,
        fini,
        rtld_fini,
        stack_end
    )
}

extern "C" fn before_main(argc: i32, argv: usize, environment: usize) -> i32 {
    libc::find_insides();
    let block = crate::context::fs_base();
    unregister_rseq(block);
    libc::adopt_main(block, first_tid());
    // SAFETY: libc's own variable, and no other thread runs.
    // JUSTIFICATION: libc must take its locks, since it does not create our threads.
    unsafe { __libc_single_threaded = 0 };
    warm_up();
    libc::find_real();
    clean(environment);
    crate::libraries::load_listed();
    ARGUMENTS[0].store(argc as usize, Relaxed);
    ARGUMENTS[1].store(argv, Relaxed);
    ARGUMENTS[2].store(environment, Relaxed);
    STACK_TOP.store(argv, Relaxed);
    // SAFETY: the callback keeps nothing. JUSTIFICATION: the loader's own list of what it loaded.
    unsafe { dl_iterate_phdr(list_module, core::ptr::null_mut()) };
    own().atomics_entries.set(atomics::entries().map(|entry| entry as u64));
    own().summaries.set(crate::summaries::addresses());
    prepare_main(block);
    controller::serve()
}

/// The kernel would write the number of the processor into the block of `main` at any time.
fn unregister_rseq(block: usize) {
    const UNREGISTER: usize = 1;
    const SIGNATURE: usize = 0x5305_3053;
    // SAFETY: constants of libc. JUSTIFICATION: libc registered it and tells where.
    let (offset, size) = unsafe { (__rseq_offset, __rseq_size) };
    if size != 0 {
        let area = block.wrapping_add_signed(offset);
        sys!(number::RSEQ, area, 32, UNREGISTER, SIGNATURE);
        store(area, [0u32, (-2i32) as u32]);
    }
}

/// What libc would otherwise load or set up in the middle of every execution.
fn warm_up() {
    let mut frames = [0usize; 2];
    // SAFETY: the buffer has two places. JUSTIFICATION: makes libc load its unwinder.
    unsafe { backtrace(frames.as_mut_ptr(), 2) };
    const LAZY_NO_LOAD: i32 = 1 | 4;
    let unwinder = crate::libraries::dlopen(c"libgcc_s.so.1".as_ptr() as usize, LAZY_NO_LOAD);
    libc::unwinder_is(unwinder);
}

/// Takes what made the loader load us out of the environment.
fn clean(environment: usize) {
    let mut kept = environment;
    let mut at = environment;
    loop {
        let entry: usize = load(at);
        if entry == 0 {
            store(kept, 0usize);
            return;
        }
        let text = c_string(entry);
        let own = preload::own_tunables(text);
        if let Some(length) = own.filter(|&length| length > 0) {
            store(entry + length, 0u8);
        }
        if own != Some(0) && !preload::is_of_loader(text) {
            store(kept, entry);
            kept += 8;
        }
        at += 8;
    }
}

/// Describes a module to the checker, and finds our own.
extern "C" fn list_module(module: &Module, _size: usize, _data: *mut c_void) -> i32 {
    let here = list_module as *const () as usize;
    let ours = module.segments().any(|(_, low, high)| (low..high).contains(&here));
    if ours {
        for (flags, low, high) in module.segments() {
            let at = if flags & EXECUTABLE != 0 {
                0
            } else if flags & WRITABLE != 0 {
                2
            } else {
                continue;
            };
            OWN[at].store(low & !(PAGE - 1), Relaxed);
            OWN[at + 1].store(round_up(high, PAGE), Relaxed);
        }
    }
    let count = own().module_count.get() as usize;
    if count == MAX_MODULES {
        die(
            Outcome::Uncontrolled,
            format_args!("the program loads more than {MAX_MODULES} libraries"),
        );
    }
    let mut path = [0u8; MAX_TEXT];
    let name = c_string(module.name);
    if count == 0 {
        sys!(number::READLINK, c"/proc/self/exe".as_ptr(), path.as_mut_ptr(), MAX_TEXT - 1);
    } else {
        write_path(name, &mut path);
    }
    let low = module.segments().map(|(_, low, _)| low).min().unwrap_or(0);
    let high = module.segments().map(|(_, _, high)| high).max().unwrap_or(0);
    libc::is_given(low, high);
    if count == 0 {
        PROGRAM[0].store(low, Relaxed);
        PROGRAM[1].store(high, Relaxed);
    }
    let size = room_for_stubs(module);
    let trampolines = if ours { 0 } else { reserve_near(low & !(PAGE - 1), size) as u64 };
    let (base, trampolines_size) = (module.base as u64, size as u64);
    own().modules[count].set(ModuleEntry { base, trampolines, trampolines_size, path });
    own().module_count.set(count as u32 + 1);
    0
}

/// Writes the path of a module as an absolute one, but for that of the kernel's own pages: it is patched
/// only if its file is found.
fn write_path(name: &[u8], path: &mut [u8; MAX_TEXT]) {
    let mut length = 0;
    if !name.starts_with(b"/") && !name.starts_with(b"linux-vdso") && !name.is_empty() {
        let got = sys!(number::GETCWD, path.as_mut_ptr(), MAX_TEXT - 1);
        length = usize::try_from(got).map_or(0, |got| got.saturating_sub(1));
        path[length] = b'/';
        length += 1;
    }
    let kept = name.len().min(MAX_TEXT - 1 - length.min(MAX_TEXT - 1));
    path[length..length + kept].copy_from_slice(&name[..kept]);
    path[length + kept] = 0;
}

/// How much room stubs and copies of functions may need: copies are two to three times as long.
fn room_for_stubs(module: &Module) -> usize {
    if !setup().memory {
        return TRAMPOLINES_SIZE;
    }
    let code = module.segments().filter(|(flags, ..)| flags & EXECUTABLE != 0);
    let length: usize = code.map(|(_, low, high)| high - low).sum();
    TRAMPOLINES_SIZE + round_up(5 * length, PAGE)
}

/// Reserves space from which a jump reaches the module.
fn reserve_near(low: usize, size: usize) -> usize {
    const STEP: usize = 0x100_0000;
    const FLAGS: usize = 0x10_4022;
    const READ_WRITE: usize = 3;
    let below = (1..128usize).filter_map(|k| low.checked_sub(k * STEP)).filter(|&at| at > STEP);
    let above = (16..100usize).map(|k| low + k * STEP);
    for address in below.chain(above) {
        let got = sys!(number::MMAP, address, size, READ_WRITE, FLAGS, usize::MAX, 0);
        if got == address as isize {
            return address;
        }
        if got > 0 {
            sys!(number::MUNMAP, got, size);
        }
    }
    0
}

/// Makes the thread that runs the program's `main`.
fn prepare_main(block: usize) {
    let number = multi_process::main_thread();
    map_slot(number);
    let main = state().thread(number);
    if !multi_process::is_first() {
        // What follows from who a thread is must not be the same in two processes.
        main.path.set(Splitmix(u64::from(number)).next());
    }
    everypath_vkernel::random::begin(crate::worker::KERNEL, main);
    main.tcb.set(block);
    main.announce(Operation::Start, objects::memory(block));
    let mut name = [0; 16];
    name[..4].copy_from_slice(b"main");
    main.name.set(name);
    main.function.set(call_main as *const () as usize);
    let entry = crate::thread::run_main as *const () as usize;
    main.context.prepare(main.stack_top(), entry, (&raw const *main) as usize, block);
    crate::descriptors::open_standard_streams();
    crate::files::receive();
    state().umask.set(0o022);
    controller::main_is_ready();
}

extern "C" fn call_main(_argument: usize) {
    let [argc, argv, environment] = ARGUMENTS.each_ref().map(|argument| argument.load(Relaxed));
    let main = MAIN_FUNCTION.load(Relaxed);
    crate::random::choose_stream();
    let code = libc::call!(main, fn(i32, usize, usize) -> i32, argc as i32, argv, environment);
    let exit = libc::real_cached!("exit", "GLIBC_2.2.5");
    libc::call!(exit, fn(i32), code);
}

/// Patches the program and takes the copy that every execution starts from.
pub(crate) fn begin() {
    crate::log::arm();
    apply_patches();
    crate::accesses::arm();
    crate::detour::install();
    find_mappings();
    if setup().canonical {
        // Whoever is first to use a slot must not differ from the next.
        (0..MAX_THREADS as u16).for_each(map_slot);
    }
    if setup().faults.are_explored() {
        // There are choices even for a thread that is alone.
        let state = state();
        state.unjoined.set(state.unjoined.get() + 1);
        state.selectable.set(state.selectable.get() + 1);
    }
    crate::traps::arm();
    make_counter_fault();
    snapshot::save_first();
    arm_tracking();
    crate::dispatch::arm();
}

fn arm_tracking() {
    const LARGE: u64 = 1 << 20;
    let large = region().counters.get().restored > LARGE;
    match setup().restart {
        Restart::Tracked if !crate::dirty_pages::arm() => die(
            Outcome::Uncontrolled,
            format_args!("this kernel cannot track written pages (Linux 6.7 or newer can)"),
        ),
        Restart::Automatic if large => {
            crate::dirty_pages::arm();
        }
        // State matching hashes all of the memory, and takes snapshots within executions.
        Restart::Automatic if !setup().canonical => crate::write_protect::arm(),
        _ => {}
    }
}

/// Reading the processor's time counter faults from now on, and is answered by us.
fn make_counter_fault() {
    const SET_TIME_COUNTER: usize = 26;
    const FAULT: usize = 2;
    sys!(number::PRCTL, SET_TIME_COUNTER, FAULT);
}

/// Writes what the checker prepared.
fn apply_patches() {
    let records = bytes(own().patches.as_ptr() as usize, own().patch_bytes.get() as usize);
    let (mut sites, mut traps): (&[u8], &[u8]) = (&[], &[]);
    for record in patch_records(records) {
        let Ok((PatchHeader { kind, address, .. }, content)) = record else {
            crate::fail::fatal("the checker sent a patch of an unknown kind")
        };
        match kind {
            PatchKind::Stubs | PatchKind::Text => patch(address as usize, content),
            PatchKind::Sites => sites = content,
            PatchKind::Traps => traps = content,
            PatchKind::Granules => crate::granules::install(content),
            PatchKind::Pointer => redirect_pointer(address as usize, content),
        }
    }
    atomics::install(sites, traps);
    release_unused_trampolines();
}

/// Writes a pointer to a function over another. It may be in pages that the loader has protected, and
/// that nobody writes any more: they stay writable, which changes nothing for the program.
fn redirect_pointer(address: usize, contents: &[u8]) {
    const READ_WRITE: usize = 3;
    let low = address & !(PAGE - 1);
    let length = round_up(address + contents.len(), PAGE) - low;
    if sys!(number::MPROTECT, low, length, READ_WRITE) != 0 {
        crate::fail::fatal("cannot redirect the program's calls of libc");
    }
    write(address, contents);
}

pub(crate) fn patch(address: usize, contents: &[u8]) {
    const READ_WRITE: usize = 3;
    const READ_EXECUTE: usize = 5;
    let low = address & !(PAGE - 1);
    let length = round_up(address + contents.len(), PAGE) - low;
    if sys!(number::MPROTECT, low, length, READ_WRITE) != 0 {
        crate::fail::fatal("cannot patch the program's instructions");
    }
    write(address, contents);
    sys!(number::MPROTECT, low, length, READ_EXECUTE);
}

/// What no stub was written to is not needed.
fn release_unused_trampolines() {
    let count = own().module_count.get() as usize;
    for module in own().modules[..count].iter().map(|module| module.get()) {
        let (address, size) = (module.trampolines as usize, module.trampolines_size as usize);
        if address != 0 && load::<u64>(address) == 0 {
            sys!(number::MUNMAP, address, size);
        } else if address != 0 {
            const READ_EXECUTE: usize = 5;
            sys!(number::MPROTECT, address, size, READ_EXECUTE);
        }
    }
}

/// Finds every writable private mapping that is not ours.
fn find_mappings() {
    let own_data = (OWN[2].load(Relaxed), OWN[3].load(Relaxed));
    let ours = [own_data, OURS[0], OURS[1]];
    each_mapping(|low, high, flags, name| {
        if flags != *b"rw-p" || crate::region::holds(low) {
            return;
        }
        if name.starts_with(b"[stack") {
            // The arguments and the environment, which programs change.
            add_fixed(ARGUMENTS[1].load(Relaxed), high, &ours);
        } else if !name.starts_with(b"[v") {
            add_fixed(low, high, &ours);
        }
    });
}

/// Calls `each` with start, end, permissions and name of every mapping. The list may be of any length:
/// it is read in pieces, and a line that is cut off is completed by the next piece.
fn each_mapping(mut each: impl FnMut(usize, usize, [u8; 4], &[u8])) {
    let mut text = [0u8; 1 << 14];
    let maps = sys!(number::OPEN, c"/proc/self/maps".as_ptr(), 0o2_000_000, 0);
    let mut length = 0;
    loop {
        let room = text.len() - length;
        let got = sys!(number::READ, maps, text.as_mut_ptr() as usize + length, room);
        if got <= 0 {
            break;
        }
        length += got as usize;
        let whole = text[..length].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        for line in text[..whole].split(|&byte| byte == b'\n') {
            if let Some((low, high, flags, name)) = parse(line) {
                each(low, high, flags, name);
            }
        }
        text.copy_within(whole..length, 0);
        length -= whole;
    }
    sys!(number::CLOSE, maps);
}

/// A line of the kernel's list: start, end, permissions, name.
fn parse(line: &[u8]) -> Option<(usize, usize, [u8; 4], &[u8])> {
    let hexadecimal = |digits: &[u8]| {
        digits.iter().try_fold(0usize, |value, &digit| {
            Some(value * 16 + (digit as char).to_digit(16)? as usize)
        })
    };
    let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let mut range = words.next()?.split(|&byte| byte == b'-');
    let (low, high) = (hexadecimal(range.next()?)?, hexadecimal(range.next()?)?);
    let flags = words.next()?.try_into().ok()?;
    Some((low, high, flags, words.nth(3).unwrap_or(b"")))
}
