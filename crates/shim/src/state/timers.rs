//! The timers of a process.

/// The alarm of a process, and up to 32 timers of `timer_create`.
pub(crate) const TIMERS: usize = 33;
/// A timer of a process.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Timer {
    /// When it rings; 0 if it is not set.
    pub(crate) at: u64,
    /// After which time it rings again; 0 if it does not.
    pub(crate) again: u64,
    /// The control block of its ringer; 0 if there is none.
    pub(crate) ringer: usize,
    pub(crate) notice: Notice,
    /// Whether `timer_create` made it, and it was not deleted.
    pub(crate) exists: bool,
    /// Whether its signal was sent and not taken yet.
    pub(crate) is_sent: bool,
}

/// Whom a timer tells, and what.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Notice {
    pub(crate) how: i32,
    pub(crate) signal: i32,
    /// The thread that the signal goes to, by its number for the kernel.
    pub(crate) thread: i32,
    pub(crate) clock: i32,
    /// What the program gave for the signal or the thread.
    pub(crate) value: usize,
    /// What a thread that is started begins with.
    pub(crate) function: usize,
}
