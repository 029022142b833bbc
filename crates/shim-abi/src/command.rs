//! What the checker asks a worker to do.

/// What the worker shall do next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Request {
    /// Nothing.
    #[default]
    None,
    /// Apply the patches and take the first snapshot.
    Begin,
    /// Run executions from the start until one is not as expected.
    Run,
    /// Go on from where the execution stands.
    Continue,
    /// Take a snapshot under the number `slot`.
    Save,
    /// Restore the snapshot `slot` and go on from there.
    Resume,
}

/// How choices are made that no schedule gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Policy {
    /// At random.
    #[default]
    Random,
    /// The thread that runs goes on while it can, else the first that can; none that sleeps.
    First,
    /// By priorities that change a few times: probabilistic concurrency testing.
    Pct,
    /// By priorities of steps, drawn again for those that race: partial order sampling.
    Pos,
}

/// A request with what it needs.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Command {
    /// What to do.
    pub request: Request,
    /// How many choices of [`Region::schedule`](crate::Region::schedule) to follow.
    pub prefix: u32,
    /// Whether a choice that is not enabled is left out, instead of ending the execution.
    pub lenient: bool,
    /// For how many of them what else could be chosen need not be written down.
    pub known: u32,
    /// How choices are made after that.
    pub policy: Policy,
    /// With [`Policy::Pct`], the depth of the bugs to be found.
    pub depth: u32,
    /// With [`Policy::Pct`], how many steps an execution is expected to have at most.
    pub horizon: u32,
    /// Stop before the step with this number; 0 never.
    pub pause_at: u32,
    /// Which snapshot.
    pub slot: u32,
    /// The seed of the search.
    pub seed: u64,
    /// The number of the first execution.
    pub first: u64,
    /// How many executions at most; up to [`MAX_BATCH`](crate::MAX_BATCH) if their classes are wanted. With
    /// [`Policy::First`] and more than one, they are those of [`Region::orders`](crate::Region::orders).
    pub count: u64,
    /// Whether the next command will come soon, and somebody else has a processor meanwhile: then it
    /// is awaited without sleeping.
    pub attentive: bool,
}
