//! The shim's log: what it did last, for whoever looks for a defect of it.
//!
//! It is a ring in the region, written only on request, and printed by the checker when a worker
//! dies.

/// How many entries the ring has.
pub const MAX_LOG: usize = 256;
/// How many frames of the shim's stack are kept when it faults.
pub const MAX_FRAMES: usize = 24;

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LogKind {
    /// A command of the checker: its number.
    Request,
    /// A syscall begins: its number and two arguments.
    Syscall,
    /// A syscall returns: its number and the result.
    Returned,
    /// A thread was chosen: the step's number and the operation's.
    Step,
    /// A signal of the processor: its number, its address, the instruction.
    Fault,
    /// An execution ends: the outcome's number and its detail.
    Ended,
}

impl LogKind {
    /// All of them, in the order of their numbers.
    pub const ALL: [LogKind; 6] = [
        LogKind::Request,
        LogKind::Syscall,
        LogKind::Returned,
        LogKind::Step,
        LogKind::Fault,
        LogKind::Ended,
    ];
}

/// One entry; plain numbers, since a program may have overwritten them.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct LogEntry {
    /// The number of a [`LogKind`].
    pub kind: u32,
    /// The thread that ran.
    pub thread: u32,
    /// What goes with it.
    pub words: [u64; 3],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_stand_in_the_order_of_their_numbers() {
        for (number, kind) in LogKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
        }
    }
}
