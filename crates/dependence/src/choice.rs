/// What is chosen at one scheduling point: a thread, and the outcome of its step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C)]
pub struct Choice {
    /// The thread's number.
    pub thread: u16,
    /// Which outcome.
    pub outcome: u16,
}
