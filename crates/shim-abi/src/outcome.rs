/// How an execution ended, or why it stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Outcome {
    /// Nothing ran yet.
    #[default]
    None,
    /// The process ended; `detail` is its exit code.
    Exited,
    /// Another program of a closed system ended as it should not; `detail` is its exit code.
    OtherExited,
    /// A signal ended it; `detail` is the signal, `address` where it hit.
    Signalled,
    /// It called `abort`.
    Aborted,
    /// An assertion failed, a C `assert` or one of the library's; the text says which.
    Assertion,
    /// The heap was misused: `detail` is a [`HeapMisuse`].
    HeapMisuse,
    /// Two threads are about to access the same memory: `detail` is a [`Race`], `address` where.
    DataRace,
    /// A thread panicked and nobody looked at its result; `detail` is the thread.
    Panicked,
    /// Every thread waits for another.
    Deadlock,
    /// Every thread waits for the network, and nothing more can come; `detail` is 1 if the program
    /// listens.
    Idle,
    /// A peer failed because of what the program sent; the text says which and how.
    PeerFailed,
    /// Nothing has happened for long but that time passes, and the program waits for clients.
    Quiet,
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
    /// The program loads a library, which must be loaded before its `main`: the text is its name, and
    /// `detail` the flags of `dlopen`.
    NeedsLibrary,
    /// The program did what we cannot control; the text says what.
    Uncontrolled,
    /// Another process sent a signal; the text says which.
    Killed,
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
    /// A block was accessed that had been freed.
    UseAfterFree,
    /// A block is in use at the end, and nothing points to it.
    Leak,
}

impl HeapMisuse {
    /// The one with this number.
    pub fn from_detail(detail: i32) -> Option<Self> {
        let all = [
            HeapMisuse::DoubleFree,
            HeapMisuse::InvalidFree,
            HeapMisuse::Overflow,
            HeapMisuse::UseAfterFree,
            HeapMisuse::Leak,
        ];
        all.into_iter().find(|&misuse| misuse as i32 == detail)
    }
}

/// Two accesses of different threads that nothing orders. One of them writes, and one is plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The thread of the second access; that of the first is the one that ended the execution.
    pub other: u8,
    /// How many bytes they access, up to 127.
    pub sizes: [u8; 2],
    /// Which of them write.
    pub writes: [bool; 2],
    /// Which of them free the memory.
    pub frees: [bool; 2],
}

impl Race {
    /// As the detail of an outcome.
    pub fn to_detail(self) -> i32 {
        let [first, second] = self.sizes.map(|size| i32::from(size.min(127)));
        let [writes, frees] = [self.writes, self.frees].map(|flags| flags.map(i32::from));
        let flags = writes[0] | writes[1] << 1 | frees[0] << 2 | frees[1] << 3;
        i32::from(self.other) | first << 8 | second << 15 | flags << 22
    }

    /// What a detail says.
    pub fn from_detail(detail: i32) -> Self {
        Race {
            other: detail as u8,
            sizes: [(detail >> 8 & 127) as u8, (detail >> 15 & 127) as u8],
            writes: [22, 23].map(|bit| detail >> bit & 1 != 0),
            frees: [24, 25].map(|bit| detail >> bit & 1 != 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Race;

    #[test]
    fn a_race_is_read_as_it_was_written() {
        for (other, sizes, writes) in
            [(127, [8, 64], [true, false]), (0, [1, 127], [false, true]), (3, [4, 4], [true; 2])]
        {
            let race = Race { other, sizes, writes, frees: [writes[1], false] };
            assert_eq!(Race::from_detail(race.to_detail()), race);
        }
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
