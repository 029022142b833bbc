use crate::Footprint;

/// A step that is enabled: it could be taken.
///
/// A search meets many more of these than it takes, and asks little of most, so nothing is computed
/// before it is asked for.
pub trait Enabled: Clone {
    /// What the step would touch if it were taken now.
    fn footprint(&self) -> Footprint;

    /// Whether the step commutes with no other.
    fn conflicts_with_all(&self) -> bool {
        self.footprint().conflicts_with_all()
    }

    /// Whether the thread yields: others shall go first, although it could go on. It goes on if a
    /// race asks for that, or if every step of the others sleeps, and not otherwise: threads that
    /// spin would have executions without end.
    fn yields(&self) -> bool {
        false
    }

    /// Whether the thread decides here whether it goes on spinning: if others go first, that is no
    /// preemption.
    fn spins(&self) -> bool {
        false
    }

    /// Whether the step may be disabled without having been taken, or may disable steps of others:
    /// then no race tells which schedules are missing. A step that only changes what others find, and
    /// is taken in every execution that ends by itself, is not of this kind.
    fn may_disable(&self) -> bool {
        self.conflicts_with_all()
    }

    /// Whether the step is enabled only because nothing else is but steps of this kind: a time-out that
    /// fires once no thread can go on. All that came before happens before it, and it happens before
    /// all that comes after; neither is a race.
    fn comes_last(&self) -> bool {
        false
    }
}

impl Enabled for Footprint {
    fn footprint(&self) -> Footprint {
        *self
    }
}
