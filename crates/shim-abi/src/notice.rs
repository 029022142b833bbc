//! What a person should know, whatever the verdict.

/// How many of them an execution can have.
pub const MAX_NOTICES: usize = 32;
/// How many goals (`sometimes`, `reachable`) all executions together can reach.
pub const MAX_GOALS: usize = 1024;

/// What was strange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum NoticeKind {
    /// A process wanted a port that another one had.
    #[default]
    PortTaken,
    /// A process wanted to connect to a port at which nobody ever listened.
    NobodyListens,
    /// A process sent a datagram to a port that nobody ever had.
    NobodyBound,
    /// Threads of a process waited for others, and one of these for clients: no deadlock, unless a
    /// wakeup was lost.
    IdleWorkers,
    /// A process read standard input, which is at its end.
    EmptyInput,
    /// The program makes memory executable: code that it generates.
    GeneratedCode,
}

/// Something strange that did not end the execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C)]
pub struct Notice {
    /// What.
    pub what: NoticeKind,
    /// To which process it happened.
    pub process: u8,
    /// The port that it is about; 0 if it is an address without one.
    pub port: u16,
}
