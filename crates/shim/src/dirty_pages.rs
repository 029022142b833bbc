//! Restoring only the pages that the kernel reports as dirty, for programs with much memory.
//!
//! The kernel marks pages as they are written (userfaultfd in asynchronous write-protection mode,
//! Linux 6.7) and lists them (`PAGEMAP_SCAN`). The price is about two microseconds a written page,
//! whatever the size of the program.

use crate::memory::{copy, round_up};
use crate::snapshot::{Span, first_image};
use crate::sys::{number, sys};
use core::cell::Cell;
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};
use everypath_shim_abi::address_space::PAGE;

static USERFAULT: AtomicI64 = AtomicI64::new(-1);
static PAGEMAP: AtomicI64 = AtomicI64::new(-1);

const API: usize = 0xc018_aa3f;
const REGISTER: usize = 0xc020_aa00;
const WRITE_PROTECT: usize = 0xc018_aa06;
const SCAN: usize = 0xc060_6610;

const FEATURE_ASYNC: u64 = 1 << 15;
const FEATURE_UNPOPULATED: u64 = 1 << 13;
const MODE_WRITE_PROTECT: u64 = 2;
const CHECK_ASYNC: u64 = 2;
const WRITTEN: u64 = 2;

/// A stretch of written pages, as the kernel lists it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Stretch {
    start: usize,
    end: usize,
    categories: u64,
}

const LISTED: usize = 512;
struct List([Cell<Stretch>; LISTED]);
// SAFETY: only the controller uses it. JUSTIFICATION: too large for a stack.
unsafe impl Sync for List {}
static LIST: List =
    List([const { Cell::new(Stretch { start: 0, end: 0, categories: 0 }) }; LISTED]);

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
    const CLOSE_ON_EXEC_NONBLOCK_USER_MODE: usize = 0o2_004_000 | 1;
    let descriptor = sys!(number::USERFAULTFD, CLOSE_ON_EXEC_NONBLOCK_USER_MODE);
    if descriptor < 0 {
        return false;
    }
    let api = [0xaa_u64, FEATURE_ASYNC | FEATURE_UNPOPULATED, 0];
    let pagemap = sys!(number::OPEN, c"/proc/self/pagemap".as_ptr(), 0o2_000_000, 0);
    if sys!(number::IOCTL, descriptor, API, api.as_ptr()) < 0 || pagemap < 0 {
        sys!(number::CLOSE, descriptor);
        return false;
    }
    USERFAULT.store(descriptor as i64, Relaxed);
    PAGEMAP.store(pagemap as i64, Relaxed);
    let mut good = true;
    first_image(|span, _| {
        let (low, high) = pages(span);
        let registration = [low as u64, (high - low) as u64, MODE_WRITE_PROTECT, 0];
        good &= sys!(number::IOCTL, descriptor, REGISTER, registration.as_ptr()) == 0;
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
    let request = [low as u64, (high - low) as u64, 1];
    sys!(number::IOCTL, USERFAULT.load(Relaxed), WRITE_PROTECT, request.as_ptr()) == 0
}

/// Copies back what was written since the last restore.
pub(crate) fn restore() {
    crate::snapshot::forget_threads();
    first_image(restore_span);
    crate::snapshot::restore_first_book();
}

fn restore_span(span: Span, image: usize) {
    let (mut low, high) = pages(span);
    while low < high {
        let scan = [
            96,
            CHECK_ASYNC,
            low as u64,
            high as u64,
            0,
            LIST.0.as_ptr() as u64,
            LISTED as u64,
            0,
            0,
            WRITTEN,
            0,
            WRITTEN,
        ];
        let found = sys!(number::IOCTL, PAGEMAP.load(Relaxed), SCAN, scan.as_ptr());
        if found < 0 {
            crate::fail::fatal("the kernel does not list written pages");
        }
        for stretch in &LIST.0[..found as usize] {
            let Stretch { start, end, .. } = stretch.get();
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
