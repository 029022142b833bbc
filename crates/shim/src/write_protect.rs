//! Write protection: pages that no execution has written so far need not be restored.
//!
//! Most memory of a small program are variables of libc that are never written. Their pages are
//! made read-only before the first execution. The first write to one faults: from then on the page
//! is writable, and is restored with all the others. So a page costs one fault in the life of a
//! worker, and nothing after that.
//!
//! A syscall that writes to a protected page fails with `EFAULT`, so the shim unprotects its
//! buffers before ([`expect_write`]).

use crate::memory::{Span, copy, round_up};
use crate::multi_process;
use crate::region::count;
use crate::snapshot::{MAX_SPANS, first_image, fixed, forget_threads, restore_first_book};
use crate::sys::{number, sys};
use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use everypath_shim_abi::address_space::PAGE;

/// Programs with more than these are large, and their written pages are tracked by the kernel.
const MAX_PAGES: usize = 512;
/// A span is one run, and one more for each page in it that is left out.
const MAX_RUNS: usize = MAX_SPANS + MAX_PAGES;

/// Adjacent bytes that are restored at once, and their copy.
#[derive(Clone, Copy)]
struct Run {
    to: usize,
    from: usize,
    length: usize,
}

/// What is read-only, and what is restored.
struct Pages {
    /// In ascending order within each mapping; 0 if it was written.
    untouched: [AtomicUsize; MAX_PAGES],
    count: AtomicUsize,
    runs: [Cell<Run>; MAX_RUNS],
    run_count: AtomicUsize,
    /// Whether a page was written that the runs do not have yet.
    is_news: AtomicBool,
}

// SAFETY: the runs are used by the controller only. JUSTIFICATION: a static must be `Sync`.
unsafe impl Sync for Pages {}

static PAGES: Pages = Pages {
    untouched: [const { AtomicUsize::new(0) }; MAX_PAGES],
    count: AtomicUsize::new(0),
    runs: [const { Cell::new(Run { to: 0, from: 0, length: 0 }) }; MAX_RUNS],
    run_count: AtomicUsize::new(0),
    is_news: AtomicBool::new(false),
};

/// Makes the program's variables read-only; the first copy has been kept.
pub(crate) fn arm() {
    for span in fixed() {
        let (low, high) = whole_pages(span);
        let pages = (high - low) / PAGE;
        let count = PAGES.count.load(Relaxed);
        if pages == 0 || count + pages > MAX_PAGES || !protect(low, high - low, READ) {
            continue;
        }
        for page in 0..pages {
            PAGES.untouched[count + page].store(low + page * PAGE, Relaxed);
        }
        PAGES.count.store(count + pages, Relaxed);
    }
    PAGES.is_news.store(true, Relaxed);
}

/// Whether anything is read-only by our doing.
pub(crate) fn is_armed() -> bool {
    PAGES.count.load(Relaxed) != 0
}

/// The whole pages in a span.
fn whole_pages(span: Span) -> (usize, usize) {
    let low = round_up(span.address, PAGE);
    (low, ((span.address + span.length) & !(PAGE - 1)).max(low))
}

const READ: usize = 1;
const READ_WRITE: usize = 3;

fn protect(address: usize, length: usize, protection: usize) -> bool {
    sys!(number::MPROTECT, address, length, protection) == 0
}

fn untouched() -> &'static [AtomicUsize] {
    &PAGES.untouched[..PAGES.count.load(Relaxed)]
}

/// Lets a page be written that is about to be; false if that is not why it cannot be.
pub(crate) fn is_written(address: usize) -> bool {
    let page = address & !(PAGE - 1);
    let found = untouched().iter().find(|untouched| untouched.load(Relaxed) == page && page != 0);
    let Some(found) = found else { return false };
    found.store(0, Relaxed);
    PAGES.is_news.store(true, Relaxed);
    protect(page, PAGE, READ_WRITE)
}

/// Lets the kernel write to memory of the program.
pub(crate) fn expect_write(address: usize, length: usize) {
    if is_armed() {
        let first = address & !(PAGE - 1);
        (first..address + length).step_by(PAGE).for_each(|page| {
            is_written(page);
        });
    }
}

/// Puts the program back to its start.
pub(crate) fn restore() {
    if PAGES.is_news.swap(false, Relaxed) {
        find_runs();
    }
    if multi_process::is_first() {
        forget_threads();
    }
    crate::protection::lift();
    for run in &PAGES.runs[..PAGES.run_count.load(Relaxed)] {
        let Run { to, from, length } = run.get();
        copy(to, from, length);
    }
    crate::protection::close_arenas();
    if multi_process::is_first() {
        restore_first_book();
    }
}

/// Computes what is restored from now on.
fn find_runs() {
    PAGES.run_count.store(0, Relaxed);
    first_image(|span, image| {
        let mut at = span.address;
        let end = span.address + span.length;
        while at < end {
            let next = (at & !(PAGE - 1)) + PAGE;
            let length = next.min(end) - at;
            if !is_untouched(at) {
                add_run(Run { to: at, from: image + (at - span.address), length });
            }
            at += length;
        }
    });
    let runs = &PAGES.runs[..PAGES.run_count.load(Relaxed)];
    let bytes: usize = runs.iter().map(|run| run.get().length).sum();
    count(|counters| counters.restored = bytes as u64);
}

fn is_untouched(address: usize) -> bool {
    let page = address & !(PAGE - 1);
    untouched().iter().any(|untouched| untouched.load(Relaxed) == page)
}

/// Adds bytes to restore, to the last run if they continue it.
fn add_run(run: Run) {
    let runs = PAGES.run_count.load(Relaxed);
    if let Some(last) = runs.checked_sub(1).map(|last| &PAGES.runs[last]) {
        let Run { to, from, length } = last.get();
        if (to + length, from + length) == (run.to, run.from) {
            last.set(Run { length: length + run.length, ..last.get() });
            return;
        }
    }
    if runs == MAX_RUNS {
        crate::fail::unable("the program's memory has too many mappings; try --restart copy");
    }
    PAGES.runs[runs].set(run);
    PAGES.run_count.store(runs + 1, Relaxed);
}
