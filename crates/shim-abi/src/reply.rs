//! What a worker replies: how the last execution ended, and what was counted.

use crate::{MAX_TEXT, Outcome};

/// What came of a command.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Reply {
    /// How the last execution ended.
    pub outcome: Outcome,
    /// The exit code, signal, thread or step that goes with it.
    pub detail: i32,
    /// The thread that ended the execution.
    pub thread: u16,
    /// How many steps it had.
    pub steps: u32,
    /// How many executions were run.
    pub executions: u64,
    /// The address that goes with a signal or a data race.
    pub address: u64,
    /// The calls of the heap that allocated and freed the block that goes with the outcome, counted from
    /// the start; 0 is none.
    pub heap_calls: [u32; 2],
    /// A hash over all executions since the start: choices, outcomes, output.
    pub digest: u64,
    /// The hash of its output and files, if these are judged.
    pub contents: u128,
    /// How it ended, if its output and files are accepted.
    pub ended: Outcome,
    /// The hash of the state, if the execution paused and memory is kept canonical.
    pub hash: u128,
    /// What went wrong, in words.
    pub text: [u8; MAX_TEXT],
}

impl Default for Reply {
    fn default() -> Self {
        Reply {
            outcome: Outcome::None,
            detail: 0,
            thread: 0,
            steps: 0,
            executions: 0,
            address: 0,
            heap_calls: [0; 2],
            digest: 0,
            contents: 0,
            ended: Outcome::None,
            hash: 0,
            text: [0; MAX_TEXT],
        }
    }
}

/// What was counted since the start.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Counters {
    /// Steps taken.
    pub steps: u64,
    /// Switches between threads.
    pub switches: u64,
    /// System calls that were trapped.
    pub traps: u64,
    /// Executions that were abandoned because an assumption was not met.
    pub abandoned: u64,
    /// Executions that ended because nothing but time passed.
    pub quiet: u64,
    /// Bytes that one restore copies.
    pub restored: u64,
    /// Spans of memory in the first snapshot.
    pub spans: u64,
    /// Messages to peers whose answer was known.
    pub cache_hits: u64,
    /// Answers of peers that were not late once more because they had been often enough.
    pub overdue: u64,
    /// How often a program read more than one byte of a connection that could have come in parts.
    pub whole: u64,
    /// How often a thread that locked one mutex again and again had to let others go on.
    pub relocks: u64,
    /// How often the program was given random values.
    pub random: u64,
    /// The most steps that a sampled execution had.
    pub longest: u64,
    /// The most threads that a sampled execution had, those that ended included.
    pub threads: u64,
}

/// The text in a field of fixed size, up to its first zero.
pub fn text(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    &bytes[..end]
}
