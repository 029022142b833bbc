//! Restoring only the pages that the kernel reports as dirty, for programs with much memory.
//!
//! The kernel marks pages as they are written (userfaultfd in asynchronous write-protection mode,
//! Linux 6.7) and lists them (`PAGEMAP_SCAN`). The price is about two microseconds a written page,
//! whatever the size of the program.

use crate::memory::{Span, copy, round_up};
use crate::snapshot::first_image;
use crate::sys::{number, sys};
use core::cell::Cell;
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};
use everypath_shim_abi::address_space::PAGE;
use everypath_shim_abi::userfault::{self, Pages};

static USERFAULT: AtomicI64 = AtomicI64::new(-1);
static PAGEMAP: AtomicI64 = AtomicI64::new(-1);

const LISTED: usize = 512;
struct List([Cell<Pages>; LISTED]);
// SAFETY: only the controller uses it. JUSTIFICATION: too large for a stack.
unsafe impl Sync for List {}
static LIST: List = List([const { Cell::new(Pages { start: 0, end: 0, categories: 0 }) }; LISTED]);

/// Whether written pages are being tracked.
pub(crate) fn is_armed() -> bool {
    USERFAULT.load(Relaxed) >= 0
}

/// Whole pages around a span.
fn pages(span: Span) -> (usize, usize) {
    (span.address & !(PAGE - 1), round_up(span.address + span.length, PAGE))
}

/// Starts tracking the pages of the first snapshot; false if the kernel cannot.
pub(crate) fn arm() -> bool {
    const CLOSE_ON_EXEC_NONBLOCK: u64 = 0o2_004_000;
    let flags = CLOSE_ON_EXEC_NONBLOCK | userfault::USER_MODE_ONLY;
    let descriptor = sys!(number::USERFAULTFD, flags);
    if descriptor < 0 {
        return false;
    }
    let api = [userfault::API, userfault::FEATURES, 0];
    let pagemap = sys!(number::OPEN, c"/proc/self/pagemap".as_ptr(), 0o2_000_000, 0);
    if sys!(number::IOCTL, descriptor, userfault::IOCTL_API, api.as_ptr()) < 0 || pagemap < 0 {
        sys!(number::CLOSE, descriptor);
        return false;
    }
    USERFAULT.store(descriptor as i64, Relaxed);
    PAGEMAP.store(pagemap as i64, Relaxed);
    let mut good = true;
    first_image(|span, _| {
        let (low, high) = pages(span);
        let registration = [low as u64, (high - low) as u64, userfault::MODE_WRITE_PROTECT, 0];
        let request = userfault::IOCTL_REGISTER;
        good &= sys!(number::IOCTL, descriptor, request, registration.as_ptr()) == 0;
        good &= protect(low, high);
    });
    if !good {
        sys!(number::CLOSE, descriptor);
        sys!(number::CLOSE, pagemap);
        USERFAULT.store(-1, Relaxed);
    }
    good
}

fn protect(low: usize, high: usize) -> bool {
    let range = [low as u64, (high - low) as u64, userfault::PROTECT];
    let request = userfault::IOCTL_WRITE_PROTECT;
    sys!(number::IOCTL, USERFAULT.load(Relaxed), request, range.as_ptr()) == 0
}

/// Copies back what was written since the last restore.
pub(crate) fn restore() {
    crate::snapshot::forget_threads();
    crate::protection::lift();
    first_image(restore_span);
    crate::protection::close_arenas();
    crate::snapshot::restore_first_book();
}

fn restore_span(span: Span, image: usize) {
    let (mut low, high) = pages(span);
    while low < high {
        let list = LIST.0.as_ptr() as u64;
        let scan =
            userfault::scan(userfault::CHECK_ASYNC, low as u64, high as u64, list, LISTED as u64);
        let request = userfault::IOCTL_SCAN;
        let found = sys!(number::IOCTL, PAGEMAP.load(Relaxed), request, scan.as_ptr());
        if found < 0 {
            crate::fail::fatal("the kernel does not list written pages");
        }
        for pages in &LIST.0[..found as usize] {
            let Pages { start, end, .. } = pages.get();
            let from = start.max(span.address);
            let to = end.min(span.address + span.length);
            if from < to {
                copy(from, image + (from - span.address), to - from);
            }
            protect(start, end);
        }
        low = match found as usize {
            LISTED => LIST.0[LISTED - 1].get().end,
            _ => high,
        };
    }
}
