//! Snapshots of the process, and restoring them.
//!
//! A copy holds every writable private mapping that is not ours, the scheduler's state, the live
//! part of every stack, thread-local storage and the heap up to its top. The kernel merges
//! neighbouring mappings, so what is ours is left out by exact addresses, never by mapping.

use crate::above::Above;
use crate::fail::die;
use crate::memory::{Span, bytes, copy, map, zero};
use crate::multi_process;
use crate::region::{count, region};
use crate::run_state::{BEGUN, STEPS};
use crate::state::{State, Status, Thread, state};
use crate::worker::KERNEL;
use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use everypath_shim_abi::address_space::{ARENA, HEAP, HEAP_END, PAGE, PRIVATE, PRIVATE_END};
use everypath_shim_abi::address_space::{
    MAX_SNAPSHOTS, SNAPSHOT_SIZE, SNAPSHOTS, STATE, stack_bottom,
};
use everypath_shim_abi::{MAX_PROCESSES, OUTPUTS, Outcome, Splitmix};

/// How many writable mappings a program may have when it starts.
const MAX_FIXED: usize = 4096;
/// How many spans a copy may have: these, and those of threads, descriptors and sockets.
pub(crate) const MAX_SPANS: usize = MAX_FIXED + 1024;

/// State outside the program's memory that must be restored with it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Book {
    begun: bool,
    steps: u32,
    random: Splitmix,
    output: [u64; OUTPUTS * MAX_PROCESSES],
}

/// The head of a copy; the bytes of its spans follow.
#[repr(C)]
struct Image {
    book: Cell<Book>,
    count: Cell<usize>,
    length: Cell<usize>,
    spans: [Cell<Span>; MAX_SPANS],
}

/// The mappings of the program: written once, before the first copy.
struct Fixed {
    spans: [Cell<Span>; MAX_FIXED],
    count: AtomicUsize,
}
// SAFETY: written before the program runs, read by the controller only.
// JUSTIFICATION: a static must be `Sync`.
unsafe impl Sync for Fixed {}
static FIXED: Fixed = Fixed {
    spans: [const { Cell::new(Span { address: 0, length: 0 }) }; MAX_FIXED],
    count: AtomicUsize::new(0),
};

static MAPPED: [AtomicUsize; MAX_SNAPSHOTS as usize] =
    [const { AtomicUsize::new(0) }; MAX_SNAPSHOTS as usize];

/// The mappings of the program.
pub(crate) fn fixed() -> impl Iterator<Item = Span> {
    FIXED.spans[..FIXED.count.load(Relaxed)].iter().map(Cell::get)
}

/// Adds a mapping of the program, without what lies in `ours`.
pub(crate) fn add_fixed(low: usize, high: usize, ours: &[(usize, usize)]) {
    if low >= high {
        return;
    }
    for &(start, end) in ours {
        if start < high && end > low {
            add_fixed(low, start.max(low), ours);
            add_fixed(end.min(high), high, ours);
            return;
        }
    }
    let at = FIXED.count.fetch_add(1, Relaxed);
    if at >= FIXED.spans.len() {
        die(
            Outcome::Uncontrolled,
            format_args!(
                "the program has more than {MAX_FIXED} writable mappings at the start of main, \
                 more than a snapshot can hold"
            ),
        );
    }
    FIXED.spans[at].set(Span { address: low, length: high - low });
}

/// What is ours by address.
pub(crate) const OURS: [(usize, usize); 2] = [(PRIVATE, PRIVATE_END), (STATE, HEAP_END)];

/// The live part of a thread's stack.
fn live_stack(thread: &Thread) -> Span {
    let low = thread.context.rsp.get();
    Span { address: low, length: thread.stack_top() - low }
}

/// A thread's own storage: thread-local variables, control block, and the resolver below them.
fn storage(thread: &Thread) -> Span {
    let length = thread.tcb.get() + crate::libc::block_size() - thread.tls.get();
    Span { address: thread.tls.get(), length }
}

/// Calls `each` for every span of the present state.
fn for_each_span(state: &State, mut each: impl FnMut(Span)) {
    for_each_memory_span(state, &mut each);
    each(state.own_span());
    if multi_process::is_first() {
        each(state.common_span());
    }
}

/// Calls `each` for everything that is not on the heap and may point there: static variables, the live
/// stacks of threads, and their thread-local variables.
pub(crate) fn for_each_root(state: &State, mut each: impl FnMut(Span)) {
    fixed().for_each(&mut each);
    for thread in state.own_threads().filter(|thread| thread.is_alive()) {
        each(live_stack(thread));
        if thread.number.get() != multi_process::main_thread() && thread.tcb.get() != 0 {
            each(storage(thread));
        }
    }
}

/// Calls `each` for every span of the program's own memory.
pub(crate) fn for_each_memory_span(state: &State, mut each: impl FnMut(Span)) {
    fixed().for_each(&mut each);
    for thread in state.own_threads().filter(|thread| thread.status() != Status::Free) {
        if thread.is_alive() && !thread.is_injector() {
            each(live_stack(thread));
        }
        if thread.number.get() != multi_process::main_thread() && thread.tcb.get() != 0 {
            each(storage(thread));
        }
    }
    KERNEL.each_table(multi_process::is_first(), &mut each);
    each(state.protected_span());
    for (number, top) in state.arena_tops.iter().enumerate() {
        let base = HEAP + number * ARENA;
        if top.get() > base && multi_process::owner(number as u16) == multi_process::process() {
            each(Span { address: base, length: top.get() - base });
        }
    }
}

fn place(slot: u32) -> usize {
    SNAPSHOTS + slot as usize * SNAPSHOT_SIZE
}

/// Keeps a copy of the present state.
pub(crate) fn save(slot: u32) {
    let slot = slot % MAX_SNAPSHOTS;
    let base = place(slot);
    if MAPPED[slot as usize].swap(1, Relaxed) == 0 {
        map(base, SNAPSHOT_SIZE);
    }
    let image: &Image = crate::memory::view(base);
    let region = region();
    image.book.set(Book {
        begun: BEGUN.load(Relaxed),
        steps: STEPS.load(Relaxed),
        random: region.random.get(),
        output: region.output.each_ref().map(|output| output.length.get()),
    });
    let mut at = base + size_of::<Image>();
    let mut used = 0;
    crate::protection::lift();
    for_each_span(state(), |span| {
        if span.length == 0 {
            return;
        }
        if used == MAX_SPANS || at + span.length > base + SNAPSHOT_SIZE {
            crate::fail::unable("the program's memory is too large to be copied");
        }
        image.spans[used].set(span);
        copy(at, span.address, span.length);
        at += crate::memory::round_up(span.length, 64);
        used += 1;
    });
    image.count.set(used);
    image.length.set(at - base);
    crate::protection::apply();
}

/// Puts a copy back.
pub(crate) fn load(slot: u32) {
    let slot = slot % MAX_SNAPSHOTS;
    if MAPPED[slot as usize].load(Relaxed) == 0 {
        crate::fail::fatal("there is no such saved state");
    }
    if multi_process::is_first() {
        forget_threads();
    }
    let base = place(slot);
    let image: &Image = crate::memory::view(base);
    let mut at = base + size_of::<Image>();
    crate::protection::lift();
    for span in &image.spans[..image.count.get()] {
        let span = span.get();
        if (HEAP..HEAP_END).contains(&span.address) {
            crate::protection::open_arena(span.address + span.length);
        }
        copy(span.address, at, span.length);
        at += crate::memory::round_up(span.length, 64);
    }
    if multi_process::is_first() {
        restore_book(image);
    }
    crate::protection::close_arenas();
    crate::protection::apply();
}

/// Frees the places of all threads: a copy brings back its own, and nothing of later ones.
pub(crate) fn forget_threads() {
    state().threads().for_each(|thread| thread.set_status(Status::Free));
}

/// Puts back what a copy remembers beside memory.
fn restore_book(image: &Image) {
    let book = image.book.get();
    BEGUN.store(book.begun, Relaxed);
    STEPS.store(book.steps, Relaxed);
    region().random.set(book.random);
    for (output, length) in region().output.iter().zip(book.output) {
        output.length.set(length);
    }
}

/// The copy that every execution starts from.
const FIRST: u32 = 0;

/// Keeps the copy that every execution starts from.
pub(crate) fn save_first() {
    save(FIRST);
    let image: &Image = crate::memory::view(place(FIRST));
    count(|counters| {
        counters.restored = image.length.get() as u64;
        counters.spans = image.count.get() as u64;
    });
}

/// Puts the program back to its start.
pub(crate) fn restore_first() {
    if crate::write_protect::is_armed() {
        crate::write_protect::restore();
    } else {
        load(FIRST);
    }
}

/// Clears what lies below a thread's stack pointer: it is dead, but frames to come may keep some of
/// it. Done by the controller before the thread runs, so that it leaves no traces itself.
pub(crate) fn scrub(thread: &Thread) {
    let low = thread.context.rsp.get();
    let bottom = stack_bottom(thread.stack_top());
    let mut page = low & !(PAGE - 1);
    zero(page, low - page);
    while page > bottom && !is_clear(page - PAGE) {
        page -= PAGE;
        zero(page, PAGE);
    }
}

fn is_clear(page: usize) -> bool {
    bytes(page, PAGE).iter().all(|&byte| byte == 0)
}

/// The spans of the first copy and where their bytes are kept.
pub(crate) fn first_image(mut each: impl FnMut(Span, usize)) {
    let base = place(FIRST);
    let image: &Image = crate::memory::view(base);
    let mut at = base + size_of::<Image>();
    for span in &image.spans[..image.count.get()] {
        each(span.get(), at);
        at += crate::memory::round_up(span.get().length, 64);
    }
}

/// Puts back what the first copy remembers beside memory.
pub(crate) fn restore_first_book() {
    restore_book(crate::memory::view(place(FIRST)));
}
