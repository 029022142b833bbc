//! What functions of libc access, most of them by their arguments alone.

use super::{Range, access, is_recorded, reads, writes};
use crate::libc::{call, real_cached};

pub(super) fn length_of(string: usize) -> usize {
    call!(real_cached!("strlen", "GLIBC_2.2.5"), fn(usize) -> usize, string)
}

fn length_up_to(string: usize, most: usize) -> usize {
    call!(real_cached!("strnlen", "GLIBC_2.2.5"), fn(usize, usize) -> usize, string, most)
}

/// A string with its end.
pub(super) fn reads_string(string: usize) -> Range {
    reads(string, length_of(string) + 1)
}

/// A string with its end, or as much of it as may be looked at.
pub(super) fn reads_up_to(string: usize, most: usize) -> Range {
    reads(string, (length_up_to(string, most) + 1).min(most))
}

/// Where a number ends is written if somebody wants to know.
fn writes_end(end: usize) -> Range {
    writes(end, if end == 0 { 0 } else { size_of::<usize>() })
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
            pub(super) extern "C" fn $name($($argument: usize),*) -> usize {
                if is_recorded() {
                    access(|| [$($range),*]);
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
    strtol = "strtol" "GLIBC_2.2.5" (s, end, base) [reads_string(s), writes_end(end)];
    strtoul = "strtoul" "GLIBC_2.2.5" (s, end, base) [reads_string(s), writes_end(end)];
    strtoll = "strtoll" "GLIBC_2.2.5" (s, end, base) [reads_string(s), writes_end(end)];
    strtoull = "strtoull" "GLIBC_2.2.5" (s, end, base) [reads_string(s), writes_end(end)];
    atoi = "atoi" "GLIBC_2.2.5" (s) [reads_string(s)];
    atol = "atol" "GLIBC_2.2.5" (s) [reads_string(s)];
    qsort = "qsort" "GLIBC_2.2.5" (a, n, size, by) [writes(a, n.saturating_mul(size))];
    fputs = "fputs" "GLIBC_2.2.5" (s, stream) [reads_string(s)];
    puts = "puts" "GLIBC_2.2.5" (s) [reads_string(s)];
    fwrite = "fwrite" "GLIBC_2.2.5" (a, size, n, stream) [reads(a, n.saturating_mul(size))];
    perror = "perror" "GLIBC_2.2.5" (s) [reads_string(s)];
    fopen = "fopen" "GLIBC_2.2.5" (path, how) [reads_string(path), reads_string(how)];
    fopen64 = "fopen64" "GLIBC_2.2.5" (path, how) [reads_string(path), reads_string(how)];
    mktime = "mktime" "GLIBC_2.2.5" (parts) [writes(parts, TIME_PARTS)];
    localtime_r = "localtime_r" "GLIBC_2.2.5" (time, parts)
        [reads(time, 8), writes(parts, TIME_PARTS)];
    gmtime_r = "gmtime_r" "GLIBC_2.2.5" (time, parts) [reads(time, 8), writes(parts, TIME_PARTS)];
    rand_r = "rand_r" "GLIBC_2.2.5" (seed) [writes(seed, 4)];
    __memcpy_chk = "__memcpy_chk" "GLIBC_2.3.4" (to, from, n, room) [reads(from, n), writes(to, n)];
    __memmove_chk = "__memmove_chk" "GLIBC_2.3.4" (to, from, n, room)
        [reads(from, n), writes(to, n)];
    __memset_chk = "__memset_chk" "GLIBC_2.3.4" (to, byte, n, room) [writes(to, n)];
    __strcpy_chk = "__strcpy_chk" "GLIBC_2.3.4" (to, s, room)
        [reads_string(s), writes(to, length_of(s) + 1)];
    __strncpy_chk = "__strncpy_chk" "GLIBC_2.3.4" (to, s, n, room)
        [reads_up_to(s, n), writes(to, n)];
    __strcat_chk = "__strcat_chk" "GLIBC_2.3.4" (to, s, room)
        [reads_string(s), reads_string(to), writes(to + length_of(to), length_of(s) + 1)];
}

const MOST: usize = usize::MAX >> 1;
/// The size of `struct tm`, `struct stat` and `struct statx`.
const TIME_PARTS: usize = 56;
const STAT: usize = 144;
const STATX: usize = 256;

/// Functions that say by their result what they have written.
macro_rules! fills {
    ($($name:ident = $symbol:literal $version:literal ($($argument:ident),*) -> $type:ty
       |$result:ident| $is_done:expr => [$($range:expr),*];)*) => {
        $(
            pub(super) extern "C" fn $name($($argument: usize),*) -> $type {
                let $result = call!(
                    real_cached!($symbol, $version),
                    fn($(summaries!(@type $argument)),*) -> $type
                    $(, $argument)*
                );
                if is_recorded() && $is_done {
                    access(|| [$($range),*]);
                }
                $result
            }
        )*
    };
}

fills! {
    fread = "fread" "GLIBC_2.2.5" (to, size, n, stream) -> usize
        |count| count > 0 => [writes(to, count.saturating_mul(size))];
    fgets = "fgets" "GLIBC_2.2.5" (to, n, stream) -> usize
        |got| got != 0 => [writes(to, length_of(to) + 1)];
    getcwd = "getcwd" "GLIBC_2.2.5" (to, size) -> usize
        |got| got != 0 && to != 0 => [writes(to, length_of(to) + 1)];
    realpath = "realpath" "GLIBC_2.3" (path, to) -> usize
        |got| got != 0 => [reads_string(path), writes(got, length_of(got) + 1)];
    readlink = "readlink" "GLIBC_2.2.5" (path, to, size) -> isize
        |count| count > 0 => [reads_string(path), writes(to, count as usize)];
    stat = "stat" "GLIBC_2.33" (path, to) -> i32
        |result| result == 0 => [reads_string(path), writes(to, STAT)];
    stat64 = "stat64" "GLIBC_2.33" (path, to) -> i32
        |result| result == 0 => [reads_string(path), writes(to, STAT)];
    lstat = "lstat" "GLIBC_2.33" (path, to) -> i32
        |result| result == 0 => [reads_string(path), writes(to, STAT)];
    lstat64 = "lstat64" "GLIBC_2.33" (path, to) -> i32
        |result| result == 0 => [reads_string(path), writes(to, STAT)];
    statx = "statx" "GLIBC_2.28" (folder, path, flags, mask, to) -> i32
        |result| result == 0 => [reads_string(path), writes(to, STATX)];
    __xpg_strerror_r = "__xpg_strerror_r" "GLIBC_2.3.4" (number, to, size) -> i32
        |result| result == 0 => [writes(to, length_of(to) + 1)];
    strftime = "strftime" "GLIBC_2.2.5" (to, size, format, parts) -> usize
        |count| count > 0 => [reads_string(format), reads(parts, TIME_PARTS), writes(to, count + 1)];
}

/// Functions that look as far as they must.
macro_rules! searches {
    ($($name:ident = $symbol:literal ($($argument:ident),*) |$found:ident| $range:expr;)*) => {
        $(
            pub(super) extern "C" fn $name($($argument: usize),*) -> usize {
                let real = real_cached!($symbol, "GLIBC_2.2.5");
                let find = || {
                    call!(real, fn($(summaries!(@type $argument)),*) -> usize $(, $argument)*)
                };
                if is_recorded() {
                    let $found = find();
                    access(|| [$range]);
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

pub(super) extern "C" fn strtod(s: usize, end: usize) -> f64 {
    if is_recorded() {
        access(|| [reads_string(s), writes_end(end)]);
    }
    call!(real_cached!("strtod", "GLIBC_2.2.5"), fn(usize, usize) -> f64, s, end)
}
