/// How an execution ended, or why it stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Outcome {
    /// Nothing ran yet.
    #[default]
    None,
    /// The process ended; `detail` is its exit code.
    Exited,
    /// A signal ended it; `detail` is the signal, `address` where it hit.
    Signalled,
    /// It called `abort`.
    Aborted,
    /// An assertion failed, a C `assert` or one of the library's; the text says which.
    Assertion,
    /// The heap was misused: `detail` is a [`HeapMisuse`], `address` the number of the call that
    /// allocated the block in its upper half, and of the one that freed it in its lower half.
    HeapMisuse,
    /// A thread panicked and nobody looked at its result; `detail` is the thread.
    Panicked,
    /// Every thread waits for another.
    Deadlock,
    /// Every thread waits for the network, and nothing more can come; `detail` is 1 if the program
    /// listens.
    Idle,
    /// Threads go round without changing anything.
    Livelock,
    /// A thread runs without reaching a scheduling point; `detail` is the thread, and `address` is 1
    /// if its state was seen to repeat.
    Hang,
    /// The program needs to know something that only a peer knows: see `Region::question`.
    Asking,
    /// The execution stands at the step it was asked to stop at.
    Paused,
    /// The schedule named a choice that is not there; `detail` is the step.
    Diverged,
    /// Whatever could go on has been explored from here before.
    SleepSetBlocked,
    /// Something else was wanted before it had ended: it does not count.
    Unwanted,
    /// It ended well, but what it left behind is not known to be right.
    Unaccepted,
    /// An assumption was not met: what the execution did does not count.
    Abandoned,
    /// A step limit was reached.
    TooLong,
    /// The program did what we cannot control; the text says what.
    Uncontrolled,
    /// The shim has a defect; the text says which.
    Defect,
}

/// How the heap was misused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum HeapMisuse {
    /// A block was freed that had been freed.
    DoubleFree,
    /// An address was freed that is no block.
    InvalidFree,
    /// Something was written behind the end of a block.
    Overflow,
}

impl HeapMisuse {
    /// The one with this number.
    pub fn from_detail(detail: i32) -> Option<Self> {
        let all = [HeapMisuse::DoubleFree, HeapMisuse::InvalidFree, HeapMisuse::Overflow];
        all.into_iter().find(|&misuse| misuse as i32 == detail)
    }
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Waiting {
    /// Nothing: it can run.
    #[default]
    Nothing,
    /// A mutex.
    Mutex,
    /// A mutex that is a word.
    Word,
    /// A signal on a condition variable.
    Cond,
    /// A read-write lock, to read.
    Read,
    /// A read-write lock, to write.
    Write,
    /// A read-write lock that is a word, to read.
    WordRead,
    /// The same, to write.
    WordWrite,
    /// Others at a barrier.
    Barrier,
    /// A spin lock.
    Spin,
    /// A semaphore.
    Semaphore,
    /// The end of another thread.
    Join,
    /// Another thread that runs an initialiser.
    Once,
    /// A wake on a futex.
    Futex,
    /// Something to happen at a socket, a pipe or an event.
    Network,
    /// The lock of a file.
    FileLock,
    /// A signal.
    Signal,
    /// Time to pass.
    Time,
    /// Nothing that can come: it has ended.
    Ended,
}
