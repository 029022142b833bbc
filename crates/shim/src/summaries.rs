//! Memory accesses of libc and of the kernel, by summaries: what a function or a syscall accesses
//! follows from its arguments and its result.
//!
//! The pointers through which rewritten modules call these functions lead here (`shim-abi` has their
//! names), so that what libc does for itself is not recorded: it orders that by locks of its own. A call
//! is one step, whatever it accesses.

use crate::accesses;
use crate::granules;
use crate::libc::{call, real_cached};
use crate::objects;
use crate::races::{self, Access};
use crate::scheduler::{glance, point};
use crate::state::state;
use everypath_shim_abi::syscalls::{Argument, Length, Syscall};
use everypath_shim_abi::{Attempt, LIBC_FUNCTIONS, Operation};

/// Some bytes of the program's memory, and whether they are written.
#[derive(Clone, Copy)]
struct Range {
    address: usize,
    length: usize,
    writes: bool,
}

fn reads(address: usize, length: usize) -> Range {
    Range { address, length, writes: false }
}

fn writes(address: usize, length: usize) -> Range {
    Range { address, length, writes: true }
}

/// Whether anybody wants to know.
fn is_recorded() -> bool {
    accesses::is_armed() && crate::controller::is_running() && state().is_concurrent()
}

/// A call is about to access these ranges: a scheduling point, if threads have accessed some of them in
/// conflict; and they are recorded.
fn access(ranges: &[Range]) {
    if !is_recorded() {
        return;
    }
    let thread = state().current();
    let mut met = ranges.iter().filter(|range| granules::are_met(range.address, range.length));
    if let Some(first) = met.next() {
        let object = match met.next() {
            None => objects::bytes(first.address, first.length),
            // Several at once: in conflict with everything.
            Some(_) => objects::bytes(first.address, usize::MAX >> 1),
        };
        for range in ranges {
            races::begin_access(thread, Access::plain(range.address, range.length, range.writes));
        }
        if ranges.iter().any(|range| range.writes) {
            point(Operation::Store, object);
        } else {
            glance(Operation::Load(Attempt::First), object);
        }
        races::end(thread);
    }
    for range in ranges {
        accesses::record_call(range.address, range.length, range.writes);
    }
}

/// A block is about to be freed, which no access of another thread may come after. Returns whether other
/// threads may have run.
pub(crate) fn free(address: usize, length: usize) -> bool {
    if !is_recorded() {
        return false;
    }
    let thread = state().current();
    let is_step = granules::are_met(address, length);
    if is_step {
        races::begin_access(thread, Access::free(address, length));
        point(Operation::Store, objects::bytes(address, length));
        races::end(thread);
    }
    accesses::record_call(address, length, true);
    is_step
}

/// The memory that the kernel reads, before a call.
pub(crate) fn before_syscall(known: &Syscall, arguments: &[usize; 6]) {
    if is_recorded() {
        for (argument, &address) in known.arguments.iter().zip(arguments) {
            match argument {
                Argument::Pointer(pointer) if !pointer.is_written && address != 0 => {
                    access(&[reads(address, pointer.bytes(arguments))]);
                }
                _ => {}
            }
        }
    }
}

/// The memory that the kernel has written, after a call that returned this.
pub(crate) fn after_syscall(known: &Syscall, arguments: &[usize; 6], answer: isize) {
    if answer < 0 || !is_recorded() {
        return;
    }
    for (argument, &address) in known.arguments.iter().zip(arguments) {
        match argument {
            Argument::Pointer(pointer) if pointer.is_written && address != 0 => {
                let most = pointer.bytes(arguments);
                // What fills a buffer says how far.
                let length = match pointer.length {
                    Length::Argument(_) => most.min(answer as usize),
                    _ => most,
                };
                access(&[writes(address, length)]);
            }
            _ => {}
        }
    }
}

fn length_of(string: usize) -> usize {
    call!(real_cached!("strlen", "GLIBC_2.2.5"), fn(usize) -> usize, string)
}

fn length_up_to(string: usize, most: usize) -> usize {
    call!(real_cached!("strnlen", "GLIBC_2.2.5"), fn(usize, usize) -> usize, string, most)
}

/// A string with its end.
fn reads_string(string: usize) -> Range {
    reads(string, length_of(string) + 1)
}

/// A string with its end, or as much of it as may be looked at.
fn reads_up_to(string: usize, most: usize) -> Range {
    reads(string, (length_up_to(string, most) + 1).min(most))
}

/// How far two strings are compared: up to the first difference, or their ends.
fn compared(one: usize, other: usize, most: usize) -> usize {
    let (one, other) = (reads_up_to(one, most), reads_up_to(other, most));
    let bytes = |range: Range| crate::memory::bytes(range.address, range.length).iter();
    let same = bytes(one).zip(bytes(other)).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
    (same + 1).min(one.length).min(other.length)
}

/// Functions with a summary: what each accesses before it is called.
macro_rules! summaries {
    ($($name:ident = $symbol:literal $version:literal
       ($($argument:ident),*) [$($range:expr),*];)*) => {
        $(
            extern "C" fn $name($($argument: usize),*) -> usize {
                if is_recorded() {
                    access(&[$($range),*]);
                }
                call!(
                    real_cached!($symbol, $version),
                    fn($(summaries!(@type $argument)),*) -> usize
                    $(, $argument)*
                )
            }
        )*
    };
    (@type $argument:ident) => { usize };
}

summaries! {
    memcpy = "memcpy" "GLIBC_2.14" (to, from, n) [reads(from, n), writes(to, n)];
    memmove = "memmove" "GLIBC_2.2.5" (to, from, n) [reads(from, n), writes(to, n)];
    mempcpy = "mempcpy" "GLIBC_2.2.5" (to, from, n) [reads(from, n), writes(to, n)];
    memset = "memset" "GLIBC_2.2.5" (to, byte, n) [writes(to, n)];
    memcmp = "memcmp" "GLIBC_2.2.5" (a, b, n) [reads(a, n), reads(b, n)];
    bcmp = "bcmp" "GLIBC_2.2.5" (a, b, n) [reads(a, n), reads(b, n)];
    memrchr = "memrchr" "GLIBC_2.2.5" (a, byte, n) [reads(a, n)];
    memmem = "memmem" "GLIBC_2.2.5" (a, n, b, m) [reads(a, n), reads(b, m)];
    strlen = "strlen" "GLIBC_2.2.5" (s) [reads_string(s)];
    strnlen = "strnlen" "GLIBC_2.2.5" (s, n) [reads_up_to(s, n)];
    strcpy = "strcpy" "GLIBC_2.2.5" (to, s) [reads_string(s), writes(to, length_of(s) + 1)];
    stpcpy = "stpcpy" "GLIBC_2.2.5" (to, s) [reads_string(s), writes(to, length_of(s) + 1)];
    strncpy = "strncpy" "GLIBC_2.2.5" (to, s, n) [reads_up_to(s, n), writes(to, n)];
    strcat = "strcat" "GLIBC_2.2.5" (to, s)
        [reads_string(s), reads_string(to), writes(to + length_of(to), length_of(s) + 1)];
    strncat = "strncat" "GLIBC_2.2.5" (to, s, n)
        [reads_up_to(s, n), reads_string(to), writes(to + length_of(to), length_up_to(s, n) + 1)];
    strcmp = "strcmp" "GLIBC_2.2.5" (a, b)
        [reads(a, compared(a, b, MOST)), reads(b, compared(a, b, MOST))];
    strncmp = "strncmp" "GLIBC_2.2.5" (a, b, n)
        [reads(a, compared(a, b, n)), reads(b, compared(a, b, n))];
    strcasecmp = "strcasecmp" "GLIBC_2.2.5" (a, b)
        [reads(a, compared(a, b, MOST)), reads(b, compared(a, b, MOST))];
    strncasecmp = "strncasecmp" "GLIBC_2.2.5" (a, b, n)
        [reads(a, compared(a, b, n)), reads(b, compared(a, b, n))];
    strrchr = "strrchr" "GLIBC_2.2.5" (s, byte) [reads_string(s)];
    strstr = "strstr" "GLIBC_2.2.5" (s, t) [reads_string(s), reads_string(t)];
    strdup = "strdup" "GLIBC_2.2.5" (s) [reads_string(s)];
    strndup = "strndup" "GLIBC_2.2.5" (s, n) [reads_up_to(s, n)];
    strtol = "strtol" "GLIBC_2.2.5" (s, end, base) [reads_string(s)];
    strtoul = "strtoul" "GLIBC_2.2.5" (s, end, base) [reads_string(s)];
    strtoll = "strtoll" "GLIBC_2.2.5" (s, end, base) [reads_string(s)];
    strtoull = "strtoull" "GLIBC_2.2.5" (s, end, base) [reads_string(s)];
    atoi = "atoi" "GLIBC_2.2.5" (s) [reads_string(s)];
    atol = "atol" "GLIBC_2.2.5" (s) [reads_string(s)];
    qsort = "qsort" "GLIBC_2.2.5" (a, n, size, by) [writes(a, n.saturating_mul(size))];
    fputs = "fputs" "GLIBC_2.2.5" (s, stream) [reads_string(s)];
    puts = "puts" "GLIBC_2.2.5" (s) [reads_string(s)];
    fwrite = "fwrite" "GLIBC_2.2.5" (a, size, n, stream) [reads(a, n.saturating_mul(size))];
}

const MOST: usize = usize::MAX >> 1;

/// Functions that look as far as they must.
macro_rules! searches {
    ($($name:ident = $symbol:literal ($($argument:ident),*) |$found:ident| $range:expr;)*) => {
        $(
            extern "C" fn $name($($argument: usize),*) -> usize {
                let real = real_cached!($symbol, "GLIBC_2.2.5");
                let find = || {
                    call!(real, fn($(summaries!(@type $argument)),*) -> usize $(, $argument)*)
                };
                if is_recorded() {
                    let $found = find();
                    access(&[$range]);
                }
                find()
            }
        )*
    };
}

searches! {
    memchr = "memchr" (s, byte, n) |found| reads(s, if found == 0 { n } else { found + 1 - s });
    strchr = "strchr" (s, byte) |found|
        if found == 0 { reads_string(s) } else { reads(s, found + 1 - s) };
}

extern "C" fn strtod(s: usize, end: usize) -> f64 {
    if is_recorded() {
        access(&[reads_string(s)]);
    }
    call!(real_cached!("strtod", "GLIBC_2.2.5"), fn(usize, usize) -> f64, s, end)
}

extern "C" fn fread(to: usize, size: usize, n: usize, stream: usize) -> usize {
    let real = real_cached!("fread", "GLIBC_2.2.5");
    let count = call!(real, fn(usize, usize, usize, usize) -> usize, to, size, n, stream);
    if is_recorded() {
        access(&[writes(to, count.saturating_mul(size))]);
    }
    count
}

extern "C" fn fgets(to: usize, n: usize, stream: usize) -> usize {
    let real = real_cached!("fgets", "GLIBC_2.2.5");
    let got = call!(real, fn(usize, usize, usize) -> usize, to, n, stream);
    if is_recorded() && got != 0 {
        access(&[writes(to, length_of(to) + 1)]);
    }
    got
}

/// Where the functions are, in the order of their names.
pub(crate) fn addresses() -> [u64; LIBC_FUNCTIONS.len()] {
    [
        memcpy as *const () as u64,
        memmove as *const () as u64,
        mempcpy as *const () as u64,
        memset as *const () as u64,
        memcmp as *const () as u64,
        bcmp as *const () as u64,
        memchr as *const () as u64,
        memrchr as *const () as u64,
        memmem as *const () as u64,
        strlen as *const () as u64,
        strnlen as *const () as u64,
        strcpy as *const () as u64,
        stpcpy as *const () as u64,
        strncpy as *const () as u64,
        strcat as *const () as u64,
        strncat as *const () as u64,
        strcmp as *const () as u64,
        strncmp as *const () as u64,
        strcasecmp as *const () as u64,
        strncasecmp as *const () as u64,
        strchr as *const () as u64,
        strrchr as *const () as u64,
        strstr as *const () as u64,
        strdup as *const () as u64,
        strndup as *const () as u64,
        strtol as *const () as u64,
        strtoul as *const () as u64,
        strtoll as *const () as u64,
        strtoull as *const () as u64,
        strtod as *const () as u64,
        atoi as *const () as u64,
        atol as *const () as u64,
        qsort as *const () as u64,
        fputs as *const () as u64,
        puts as *const () as u64,
        fwrite as *const () as u64,
        fread as *const () as u64,
        fgets as *const () as u64,
    ]
}
