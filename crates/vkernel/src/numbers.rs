//! Numbers of descriptors and objects: which thread may give out which.
//!
//! Numbers follow from who opens, not from the order in which threads do: every thread has numbers
//! of its own, and a number that another thread has closed is not given out again. So opening in
//! one thread commutes with opening and closing in another, and `main` still sees the lowest free
//! number, as long as it closes what it opens.

use crate::host::{Host, Thread};
use crate::slot::{FAR, FIRST_FAR, MAINS, NEAR, RANGES};
use core::cell::Cell;
use core::ops::Range;
use everypath_shim_abi::MAX_THREADS;

/// The numbers of a range.
fn numbers(range: usize) -> Range<usize> {
    match range {
        0 => 0..MAINS,
        near if near < MAX_THREADS => {
            let first = MAINS + (near - 1) * NEAR;
            first..first + NEAR
        }
        far => {
            let first = FIRST_FAR + (far - MAX_THREADS) * FAR;
            first..first + FAR
        }
    }
}

/// The range that a number lies in.
fn range_of(number: usize) -> usize {
    match number {
        0..MAINS => 0,
        MAINS..FIRST_FAR => 1 + (number - MAINS) / NEAR,
        _ => MAX_THREADS + (number - FIRST_FAR) / FAR,
    }
}

/// The thread whose number it is, counted from the one that has the first range.
pub(crate) fn thread_of(number: usize) -> usize {
    range_of(number) % MAX_THREADS
}

/// What has numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Descriptors,
    Objects,
}

/// A table of things with numbers, and which of them were given out in this execution: what lies
/// beyond is left over from others.
pub(crate) struct Table<'a, H> {
    k: &'a H,
    of: Of,
    used: &'a [Cell<u16>; RANGES],
    /// The thread that has the first range, and how many have some.
    first: usize,
    threads: usize,
}

// Not derived: the host need not be copied.
impl<H> Clone for Table<'_, H> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<H> Copy for Table<'_, H> {}

/// The table of descriptors: each process has its own.
pub(crate) fn slots<H: Host>(k: &H) -> Table<'_, H> {
    let (first, threads) = (k.main_thread().into(), k.threads_each().into());
    Table { k, of: Of::Descriptors, used: &k.state().slots_used, first, threads }
}

/// The table of objects: there is one for all processes.
pub(crate) fn objects<H: Host>(k: &H) -> Table<'_, H> {
    let threads = k.state().object_owners.get().into();
    Table { k, of: Of::Objects, used: &k.state().objects_used, first: 0, threads }
}

impl<'a, H: Host> Table<'a, H> {
    /// How many numbers of a range were given out.
    pub(crate) fn used(self, range: usize) -> &'a Cell<u16> {
        &self.used[(self.first + range) % RANGES]
    }

    /// Which of those that have numbers the running thread is.
    fn me(self) -> usize {
        usize::from(self.k.current().number()) - self.first
    }

    /// Whether a number is one of the running thread's.
    pub(crate) fn is_own(self, number: usize) -> bool {
        thread_of(number) == self.me()
    }

    /// Whether a number was given out.
    pub(crate) fn is_given_out(self, number: usize) -> bool {
        let range = range_of(number);
        number - numbers(range).start < usize::from(self.used(range).get())
    }

    /// Makes a number one that was given out.
    pub(crate) fn give_out(self, number: usize) {
        let range = range_of(number);
        let used = self.used(range);
        let (start, from) = (numbers(range).start, usize::from(used.get()));
        let to = number - start + 1;
        if to > from {
            for new in start + from..start + to {
                match self.of {
                    Of::Descriptors => self.k.clear_slot(new),
                    Of::Objects => self.k.clear_object(new),
                }
            }
            used.set(to as u16);
        }
    }

    /// The running thread's lowest number that `is_free`, from `from` on.
    pub(crate) fn lowest(self, from: usize, is_free: impl Fn(usize) -> bool) -> Option<usize> {
        let thread = self.me();
        let mut own = [thread, MAX_THREADS + thread].into_iter().flat_map(numbers);
        let fits =
            |&number: &usize| number >= from && (!self.is_given_out(number) || is_free(number));
        let found = own.find(fits)?;
        self.give_out(found);
        Some(found)
    }

    /// The parts of the table that a snapshot holds, as numbers.
    pub(crate) fn spans(self) -> impl Iterator<Item = Range<usize>> + Clone {
        let used = self.ranges().map(move |range| (range, usize::from(self.used(range).get())));
        used.filter(|&(_, used)| used != 0).map(move |(range, used)| {
            let first = numbers(range).start;
            first..first + used
        })
    }

    /// The numbers that were ever given out.
    pub(crate) fn given_out(self) -> impl Iterator<Item = usize> + Clone {
        self.ranges().flat_map(move |range| {
            let first = numbers(range).start;
            first..first + usize::from(self.used(range).get())
        })
    }

    /// The ranges of those that have numbers.
    pub(crate) fn ranges(self) -> impl Iterator<Item = usize> + Clone {
        (0..self.threads).chain(MAX_THREADS..MAX_THREADS + self.threads)
    }
}
