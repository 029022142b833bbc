//! What the checker reads from memory that the program could have overwritten.
//!
//! Not every byte of an enum or a `bool` is valid. [`Untrusted::is_valid`] looks at the bytes before
//! they are taken for a value; lengths and indices are looked at by whoever uses them.

use crate::{
    Choice, CompletionKind, EnabledStep, Event, MAX_THREADS, Notice, NoticeKind, OperationKind,
    Outcome, Phase, Record, Reply, ThreadEntry, Waiting,
};
use core::mem::offset_of;

/// A type of which not all bytes are values.
pub trait Untrusted: Copy {
    /// Whether these bytes, as many as the type has, are a value.
    fn is_valid(bytes: &[u8]) -> bool;
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn is_outcome(number: u32) -> bool {
    number <= Outcome::Defect as u32
}

fn is_operation(number: u8) -> bool {
    usize::from(number) < OperationKind::ALL.len()
}

fn is_phase(number: u8) -> bool {
    number <= Phase::Resume as u8
}

fn is_thread(number: u16) -> bool {
    usize::from(number) < MAX_THREADS
}

impl Untrusted for Reply {
    fn is_valid(bytes: &[u8]) -> bool {
        is_outcome(word(bytes, offset_of!(Reply, outcome)))
            && is_outcome(word(bytes, offset_of!(Reply, ended)))
            && is_thread(half(bytes, offset_of!(Reply, thread)))
    }
}

impl Untrusted for Record {
    fn is_valid(bytes: &[u8]) -> bool {
        is_outcome(word(bytes, offset_of!(Record, outcome)))
    }
}

impl Untrusted for Event {
    fn is_valid(bytes: &[u8]) -> bool {
        is_thread(half(bytes, offset_of!(Event, thread)))
            && is_operation(bytes[Event::KIND])
            && is_phase(bytes[offset_of!(Event, phase)])
            && bytes[Event::COMPLETED] <= CompletionKind::Reset as u8
            && bytes[offset_of!(Event, is_last)] <= 1
    }
}

impl Untrusted for EnabledStep {
    fn is_valid(bytes: &[u8]) -> bool {
        is_thread(half(bytes, offset_of!(EnabledStep, thread)))
            && is_operation(bytes[EnabledStep::KIND])
            && is_phase(bytes[offset_of!(EnabledStep, phase)])
            && bytes[offset_of!(EnabledStep, stands_back)] <= 1
            && bytes[offset_of!(EnabledStep, is_last)] <= 1
    }
}

impl Untrusted for ThreadEntry {
    fn is_valid(bytes: &[u8]) -> bool {
        is_thread(half(bytes, offset_of!(ThreadEntry, number)))
            && usize::from(half(bytes, offset_of!(ThreadEntry, holder))) <= MAX_THREADS
            && is_operation(bytes[offset_of!(ThreadEntry, operation)])
            && is_phase(bytes[offset_of!(ThreadEntry, phase)])
            && bytes[offset_of!(ThreadEntry, waiting)] <= Waiting::Ended as u8
    }
}

impl Untrusted for Notice {
    fn is_valid(bytes: &[u8]) -> bool {
        bytes[offset_of!(Notice, what)] <= NoticeKind::GeneratedCode as u8
    }
}

impl Untrusted for Choice {
    fn is_valid(_bytes: &[u8]) -> bool {
        true
    }
}

impl Untrusted for u32 {
    fn is_valid(_bytes: &[u8]) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wild_numbers_of_enums_are_no_values() {
        assert!(Record::is_valid(&[0; 12]) && Event::is_valid(&[0; size_of::<Event>()]));
        assert!(!Record::is_valid(&[0xff; 12]));
        let bytes = [Event::KIND, offset_of!(Event, phase), Event::COMPLETED];
        for at in bytes.into_iter().chain([offset_of!(Event, is_last)]) {
            let mut bytes = [0; size_of::<Event>()];
            bytes[at] = 0xee;
            assert!(!Event::is_valid(&bytes), "byte {at}");
        }
        for at in [offset_of!(EnabledStep, stands_back), offset_of!(EnabledStep, is_last)] {
            let mut bytes = [0; size_of::<EnabledStep>()];
            bytes[at] = 2;
            assert!(!EnabledStep::is_valid(&bytes), "a bool is 0 or 1");
        }
        let mut bytes = [0; size_of::<Reply>()];
        bytes[offset_of!(Reply, outcome)] = Outcome::Defect as u8 + 1;
        assert!(!Reply::is_valid(&bytes));
    }
}
