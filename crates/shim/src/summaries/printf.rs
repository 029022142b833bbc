//! The `printf` family: what a call reads follows from its format, and what it writes from the length of
//! the result, which is measured first.

use super::functions::{length_of, reads_string, reads_up_to};
use super::{Range, access, is_recorded, reads, writes};
use crate::libc::{call, real_cached};
use crate::memory::{bytes, load, round_up};
use core::arch::global_asm;

/// Arguments that a function of C takes by their number: `va_list`, as the ABI has it.
#[derive(Clone, Copy)]
#[repr(C)]
struct Arguments {
    /// Where the next one is among the saved registers, and the next that is a float.
    words: u32,
    floats: u32,
    /// Where those are that did not fit into registers.
    stack: usize,
    /// The saved registers.
    registers: usize,
}

impl Arguments {
    fn word(&mut self) -> usize {
        if self.words < 48 {
            let at = self.registers + self.words as usize;
            self.words += 8;
            return load(at);
        }
        self.stack += 8;
        load(self.stack - 8)
    }

    fn skip_float(&mut self) {
        if self.floats < 176 {
            self.floats += 16;
        } else {
            self.stack += 8;
        }
    }

    fn skip_long_double(&mut self) {
        self.stack = round_up(self.stack, 16) + 16;
    }
}

/// No call is known that has more.
const MOST: usize = 24;

/// What a call accesses.
struct Ranges {
    all: [Range; MOST],
    count: usize,
}

impl AsRef<[Range]> for Ranges {
    fn as_ref(&self) -> &[Range] {
        &self.all[..self.count]
    }
}

impl Ranges {
    fn add(&mut self, range: Range) {
        if let Some(place) = self.all.get_mut(self.count) {
            *place = range;
            self.count += 1;
        }
    }
}

/// A conversion of a format.
#[derive(Default)]
struct Conversion {
    precision: Option<usize>,
    /// How many bytes `%n` writes.
    size: usize,
    is_long_double: bool,
    is_wide: bool,
}

/// Finds what the arguments of a format lead to. One that names its arguments by number is given up.
fn follow(format: usize, mut arguments: Arguments, found: &mut Ranges) {
    let mut text = bytes(format, length_of(format)).iter().copied().peekable();
    while let Some(byte) = text.next() {
        if byte != b'%' {
            continue;
        }
        let mut conversion = Conversion { size: 4, ..Conversion::default() };
        let mut has_point = false;
        while let Some(&byte) = text.peek() {
            match byte {
                b'$' => return,
                b'*' => {
                    let given = arguments.word() as i32;
                    if has_point {
                        conversion.precision = usize::try_from(given).ok();
                    }
                }
                b'.' => {
                    has_point = true;
                    conversion.precision = Some(0);
                }
                b'0'..=b'9' if has_point => {
                    let digit = usize::from(byte - b'0');
                    let before = conversion.precision.unwrap_or(0);
                    conversion.precision = Some(before.saturating_mul(10).saturating_add(digit));
                }
                b'0'..=b'9' | b'-' | b'+' | b' ' | b'#' | b'\'' | b'I' => {}
                b'h' => conversion.size /= 2,
                b'l' => (conversion.size, conversion.is_wide) = (8, true),
                b'j' | b'z' | b't' | b'q' => conversion.size = 8,
                b'L' => conversion.is_long_double = true,
                _ => break,
            }
            text.next();
        }
        let Some(kind) = text.next() else { return };
        if !convert(kind, &conversion, &mut arguments, found) {
            return;
        }
    }
}

/// What one conversion leads to; false if it is not known.
fn convert(
    kind: u8,
    conversion: &Conversion,
    arguments: &mut Arguments,
    found: &mut Ranges,
) -> bool {
    match kind {
        b'%' | b'm' => {}
        b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'C' | b'p' | b'S' => {
            arguments.word();
        }
        b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => match conversion.is_long_double {
            true => arguments.skip_long_double(),
            false => arguments.skip_float(),
        },
        b's' => match (arguments.word(), conversion.precision) {
            (0, _) => {}
            _ if conversion.is_wide => {}
            (string, None) => found.add(reads_string(string)),
            (string, Some(most)) => found.add(reads_up_to(string, most)),
        },
        b'n' => found.add(writes(arguments.word(), conversion.size)),
        _ => return false,
    }
    true
}

/// Records what a call accesses that writes so many bytes at most to an address.
fn record(format: usize, list: usize, to: (usize, usize)) {
    if is_recorded() {
        access(|| ranges(format, list, to));
    }
}

fn ranges(format: usize, list: usize, (to, room): (usize, usize)) -> Ranges {
    let mut found = Ranges { all: [reads(0, 0); MOST], count: 0 };
    found.add(reads_string(format));
    let arguments: Arguments = load(list);
    follow(format, arguments, &mut found);
    if room > 0 {
        let mut again = arguments;
        let again = (&raw mut again) as usize;
        let measure = real_cached!("vsnprintf", "GLIBC_2.2.5");
        let length = call!(measure, fn(usize, usize, usize, usize) -> i32, 0, 0, format, again);
        if let Ok(length) = usize::try_from(length) {
            found.add(writes(to, (length + 1).min(room)));
        }
    }
    found
}

const NOWHERE: (usize, usize) = (0, 0);
const UNBOUNDED: usize = usize::MAX;

/// Functions that take their arguments as a list, the last of theirs.
macro_rules! by_list {
    ($($name:ident = $symbol:literal $version:literal
       ($($argument:ident),*; $format:ident) $to:expr;)*) => {
        $(
            pub(super) extern "C" fn $name($($argument: usize,)* list: usize) -> i32 {
                record($format, list, $to);
                call!(
                    real_cached!($symbol, $version),
                    fn($(by_list!(@type $argument),)* usize) -> i32
                    $(, $argument)*, list
                )
            }
        )*
    };
    (@type $argument:ident) => { usize };
}

by_list! {
    vprintf = "vprintf" "GLIBC_2.2.5" (format; format) NOWHERE;
    vfprintf = "vfprintf" "GLIBC_2.2.5" (stream, format; format) NOWHERE;
    vdprintf = "vdprintf" "GLIBC_2.2.5" (descriptor, format; format) NOWHERE;
    vsprintf = "vsprintf" "GLIBC_2.2.5" (to, format; format) (to, UNBOUNDED);
    vsnprintf = "vsnprintf" "GLIBC_2.2.5" (to, size, format; format) (to, size);
    // The pointer to what it allocates.
    vasprintf = "vasprintf" "GLIBC_2.2.5" (to, format; format) (to, size_of::<usize>());
    __vprintf_chk = "__vprintf_chk" "GLIBC_2.3.4" (flag, format; format) NOWHERE;
    __vfprintf_chk = "__vfprintf_chk" "GLIBC_2.3.4" (stream, flag, format; format) NOWHERE;
    __vsprintf_chk = "__vsprintf_chk" "GLIBC_2.3.4" (to, flag, room, format; format)
        (to, UNBOUNDED);
    __vsnprintf_chk = "__vsnprintf_chk" "GLIBC_2.3.4" (to, size, flag, room, format; format)
        (to, size);
}

/// Functions that take their arguments by their number: each saves the registers as the ABI says, makes a
/// list of them, and goes on to the function with a list.
macro_rules! by_number {
    ($($name:ident = $symbol:literal, $fixed:literal arguments, list in $register:literal, $target:ident;)*) => {
        $(
            global_asm!(
                concat!(".hidden ", $symbol),
                concat!(".globl ", $symbol),
                concat!(".type ", $symbol, ",@function"),
                concat!($symbol, ":"),
                ".cfi_startproc",
                "sub rsp, 216",
                ".cfi_adjust_cfa_offset 216",
                "mov [rsp + 32], rdi",
                "mov [rsp + 40], rsi",
                "mov [rsp + 48], rdx",
                "mov [rsp + 56], rcx",
                "mov [rsp + 64], r8",
                "mov [rsp + 72], r9",
                "test al, al",
                "je 2f",
                "movaps [rsp + 80], xmm0",
                "movaps [rsp + 96], xmm1",
                "movaps [rsp + 112], xmm2",
                "movaps [rsp + 128], xmm3",
                "movaps [rsp + 144], xmm4",
                "movaps [rsp + 160], xmm5",
                "movaps [rsp + 176], xmm6",
                "movaps [rsp + 192], xmm7",
                "2:",
                "mov dword ptr [rsp], 8 * {fixed}",
                "mov dword ptr [rsp + 4], 48",
                "lea rax, [rsp + 224]",
                "mov [rsp + 8], rax",
                "lea rax, [rsp + 32]",
                "mov [rsp + 16], rax",
                concat!("mov ", $register, ", rsp"),
                "call {target}",
                "add rsp, 216",
                ".cfi_adjust_cfa_offset -216",
                "ret",
                ".cfi_endproc",
                fixed = const $fixed,
                target = sym $target,
            );
        )*
        // JUSTIFICATION: functions of C with any number of arguments cannot be written in Rust.
        unsafe extern "C" {
            $(
                #[link_name = $symbol]
                pub(super) fn $name();
            )*
        }
    };
}

by_number! {
    printf = "everypath_printf", 1 arguments, list in "rsi", vprintf;
    fprintf = "everypath_fprintf", 2 arguments, list in "rdx", vfprintf;
    dprintf = "everypath_dprintf", 2 arguments, list in "rdx", vdprintf;
    sprintf = "everypath_sprintf", 2 arguments, list in "rdx", vsprintf;
    snprintf = "everypath_snprintf", 3 arguments, list in "rcx", vsnprintf;
    asprintf = "everypath_asprintf", 2 arguments, list in "rdx", vasprintf;
    __printf_chk = "everypath_printf_chk", 2 arguments, list in "rdx", __vprintf_chk;
    __fprintf_chk = "everypath_fprintf_chk", 3 arguments, list in "rcx", __vfprintf_chk;
    __sprintf_chk = "everypath_sprintf_chk", 4 arguments, list in "r8", __vsprintf_chk;
    __snprintf_chk = "everypath_snprintf_chk", 5 arguments, list in "r9", __vsnprintf_chk;
}
