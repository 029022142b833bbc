//! The table of syscalls: every call of x86-64 Linux, its arguments, and what the shim does with it.
//!
//! The shim dispatches by it, checks pointers by it, and names calls in messages by it;
//! `everypath doctor --syscalls` prints it, and `docs/compatibility.md` is made from it. A call is
//! modelled, passed on to the kernel because it only looks at what never changes, or refused, which
//! makes the verdict inconclusive. None is answered with an error that the kernel would not give.

mod argument;
mod table;

pub use argument::{Argument, Length, Pointer};
pub use table::{SYSCALLS, number};

/// A syscall.
#[derive(Clone, Copy, Debug)]
pub struct Syscall {
    /// Its number.
    pub number: i64,
    /// Its name in the kernel's headers.
    pub name: &'static str,
    /// Its arguments, as far as anything is to be known of them.
    pub arguments: &'static [Argument],
    /// What the shim does with it.
    pub handling: Handling,
    /// Whether libc's function of that name is a cancellation point. What libc calls for itself is
    /// not, but for `read` and `write`, in which its streams end.
    pub is_cancellation_point: bool,
}

/// What the shim does with a syscall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handling {
    /// The shim answers it; the kernel does not see it.
    Modelled,
    /// The kernel answers it: why that is safe.
    Passed(&'static str),
    /// Control ends, and the verdict is inconclusive: why.
    Refused(&'static str),
}

/// One more than the highest number that may have a syscall.
pub const LIMIT: usize = 512;

/// Where in [`SYSCALLS`] each number is, plus one; 0 if there is no such call.
static INDEX: [u16; LIMIT] = {
    let mut index = [0; LIMIT];
    let mut at = 0;
    while at < SYSCALLS.len() {
        let slot = &mut index[SYSCALLS[at].number as usize];
        assert!(*slot == 0, "two syscalls have the same number");
        *slot = at as u16 + 1;
        at += 1;
    }
    index
};

/// The syscall with a number; none if x86-64 has no such.
pub fn syscall(number: i64) -> Option<&'static Syscall> {
    let index = usize::try_from(number).ok().and_then(|number| INDEX.get(number))?;
    SYSCALLS.get(usize::from(*index).checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_is_found_by_its_number() {
        for known in SYSCALLS {
            assert_eq!(syscall(known.number).map(|found| found.name), Some(known.name));
        }
        assert_eq!(syscall(number::LINKAT).map(|found| found.name), Some("linkat"));
        assert!([-1, 400, i64::MAX].into_iter().all(|number| syscall(number).is_none()));
    }

    #[test]
    fn lengths_come_from_arguments() {
        let read = syscall(number::READ).expect("it is in the table");
        let Argument::Pointer(buffer) = read.arguments[1] else { panic!("a buffer is a pointer") };
        assert!(buffer.is_written && !buffer.is_optional);
        assert_eq!(buffer.bytes(&[0, 0x1000, 7, 0, 0, 0]), 7);
        let poll = syscall(number::POLL).expect("it is in the table");
        let Argument::Pointer(entries) = poll.arguments[0] else {
            panic!("entries are pointed to")
        };
        assert_eq!(entries.bytes(&[0x1000, 3, 0, 0, 0, 0]), 24);
        assert_eq!(entries.bytes(&[0x1000, usize::MAX, 0, 0, 0, 0]), usize::MAX);
    }

    #[test]
    fn lengths_refer_to_arguments_that_there_are() {
        for call in SYSCALLS {
            assert!(call.arguments.len() <= 6, "{}", call.name);
            for argument in call.arguments {
                let Argument::Pointer(pointer) = argument else { continue };
                let named = match pointer.length {
                    Length::Bytes(_) => continue,
                    Length::Argument(named) | Length::Elements { count: named, .. } => named,
                };
                assert_eq!(call.arguments[named], Argument::Value, "{}", call.name);
            }
        }
    }
}
