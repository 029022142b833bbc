use crate::{Mode, Part};

/// As many parts as a step has that connects within a time limit, and is the first of a process that
/// is like another.
pub const MAX_PARTS: usize = 10;

/// What a step touches: its parts, in the order in which they happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    parts: [Option<Part>; MAX_PARTS],
}

impl Footprint {
    /// A step with these parts.
    pub fn of(parts: &[(Mode, u64)]) -> Self {
        parts.iter().map(|&(mode, object)| Part { mode, object }).collect()
    }

    /// A step that commutes with every other.
    pub fn nothing() -> Self {
        Footprint::of(&[(Mode::Nothing, 0)])
    }

    /// A step that commutes with no other.
    pub fn everything() -> Self {
        Footprint::of(&[(Mode::Everything, 0)])
    }

    /// The parts.
    pub fn parts(&self) -> impl Iterator<Item = Part> + Clone + '_ {
        self.parts.iter().flatten().copied()
    }

    /// The parts, without the footprint.
    pub fn into_parts(self) -> impl Iterator<Item = Part> + Clone {
        self.parts.into_iter().flatten()
    }

    /// Whether this step and a later one of another thread can be swapped, and the first would have no
    /// more outcomes then.
    pub fn commutes(&self, later: &Footprint) -> bool {
        self.parts().all(|part| later.parts().all(|other| part.commutes(other)))
    }

    /// Whether two steps of different threads use no common object: both orders lead to the same
    /// state, and neither can disable the other. That is more than to commute: releasing a mutex and
    /// asking for it leave it with the same owner in either order, but that owner has gone on in one of
    /// them only.
    pub fn is_apart_from(&self, other: &Footprint) -> bool {
        let meet = |part: Part, other: Part| match (part.mode, other.mode) {
            (Mode::Everything, _) | (_, Mode::Everything) => true,
            (Mode::Nothing, _) | (_, Mode::Nothing) => false,
            _ => part.object == other.object,
        };
        !self.parts().any(|part| other.parts().any(|other| meet(part, other)))
    }

    /// Whether the step commutes with no other.
    pub fn conflicts_with_all(&self) -> bool {
        self.parts().any(|part| part.mode == Mode::Everything)
    }

    /// The queue from which the step takes one of several messages, if it does.
    pub fn misses_at(&self) -> Option<u64> {
        self.parts().find(|part| part.mode == Mode::Miss).map(|part| part.object)
    }
}

impl FromIterator<Part> for Footprint {
    /// The parts of a step. More than fit are taken to conflict with everything, which is sound.
    fn from_iter<I: IntoIterator<Item = Part>>(parts: I) -> Self {
        let mut footprint = Footprint::default();
        let mut slots = footprint.parts.iter_mut();
        for part in parts {
            match slots.next() {
                Some(slot) => *slot = Some(part),
                None => return Footprint::everything(),
            }
        }
        footprint
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_do_not_fit_conflict_with_all() {
        let row = |length: u64| -> Footprint {
            (0..length).map(|object| Part { mode: Mode::Read, object }).collect()
        };
        assert!(!row(MAX_PARTS as u64).conflicts_with_all());
        assert!(row(MAX_PARTS as u64 + 1).conflicts_with_all());
    }
}
