/// What may go wrong with connections to peers, and how often in one execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Faults {
    /// How often each [`Fault`] may happen.
    pub budget: [u8; Fault::ALL.len()],
    /// Whether what a peer sends may arrive in pieces, as often as that can be told.
    pub chunks: bool,
}

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Fault {
    /// A connection is refused.
    Refuse,
    /// A connection breaks, and what follows some prefix of what the peer sent is lost.
    Reset,
    /// Less is written than could be.
    ShortWrite,
    /// A call that may wait is interrupted.
    Interrupt,
    /// A call that makes a socket finds no descriptor free.
    NoDescriptor,
}

impl Fault {
    /// All of them, in the order of their numbers.
    pub const ALL: [Fault; 5] =
        [Fault::Refuse, Fault::Reset, Fault::ShortWrite, Fault::Interrupt, Fault::NoDescriptor];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Fault::Refuse => "refuse",
            Fault::Reset => "reset",
            Fault::ShortWrite => "short-write",
            Fault::Interrupt => "eintr",
            Fault::NoDescriptor => "emfile",
        }
    }

    /// What it is called in traces and charts.
    pub const fn words(self) -> &'static str {
        match self {
            Fault::Refuse => "connection refused",
            Fault::Reset => "connection reset",
            Fault::ShortWrite => "short write",
            Fault::Interrupt => "EINTR",
            Fault::NoDescriptor => "EMFILE",
        }
    }
}

impl Faults {
    /// How often something may happen.
    pub fn of(&self, fault: Fault) -> u8 {
        self.budget[fault as usize]
    }

    /// Whether there are any choices.
    pub fn are_explored(&self) -> bool {
        self.chunks || self.budget.iter().any(|&most| most > 0)
    }
}
