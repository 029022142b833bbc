//! The trait `System`: initial state, enabled steps, transition, simulation relation.

use crate::{Canonical, MultisetSketch, Step};

/// Anything whose next step is chosen from outside.
///
/// The engine owns one or two working states per thread and moves them about: it fills a state
/// from canonical bytes, asks which steps are enabled, takes one in place, and writes the bytes
/// of the result. Nothing is cloned.
///
/// Everything must be a function of the state: no clocks, no randomness, no global variables.
/// A violation is replayed from its schedule before it is reported, so a system that breaks this
/// rule is found out, and the verdict is then inconclusive.
pub trait System: Send + Sync {
    /// The working state.
    type State: Canonical + Send;

    /// The state in which every execution starts.
    fn initial(&self) -> Self::State;

    /// Appends the steps enabled in `state`, in a fixed order.
    fn enabled(&self, state: &Self::State, steps: &mut Vec<Step>);

    /// Takes an enabled step, in place.
    fn take(&self, state: &mut Self::State, step: Step);

    /// Makes `state` equal to `original`, whose canonical bytes are `bytes`.
    ///
    /// The default reads the bytes, which reuses the memory of `state`. Override it with a plain
    /// assignment if the state is small and `Copy`.
    fn restore(&self, _original: &Self::State, bytes: &[u8], state: &mut Self::State) {
        state.read(&mut &bytes[..]);
    }

    /// The simulation relation, if the system has one beyond equality.
    fn relation(&self) -> Option<&dyn SimulationRelation> {
        None
    }
}

/// A simulation relation over canonical bytes, after Sobeih (2008), section 3.3.1.
///
/// State `a` simulates state `b` if both satisfy the same properties and every step of `b` can be
/// matched by a step of `a` into a state that again simulates. A state simulated by a visited one
/// need not be explored. The relation must be reflexive and transitive.
///
/// A search uses it only if all properties [respect it](crate::Property::respecting_relation), and takes
/// a sample of what it has pruned up again: a step that cannot be matched makes the verdict
/// inconclusive.
///
/// Canonical bytes fall into two parts: a key, at the front, that must be equal for one state to
/// simulate another, and the rest. The engine finds states with the same key through an index and
/// compares only those.
pub trait SimulationRelation: Sync {
    /// The length of the key at the front of `bytes`.
    fn key_len(&self, bytes: &[u8]) -> usize;

    /// A sketch of the rest of a state: [`SimulationRelation::simulates`] is asked only if that of the
    /// larger [may include](MultisetSketch::may_include) that of the smaller.
    fn sketch(&self, _rest: &[u8]) -> MultisetSketch {
        MultisetSketch::default()
    }

    /// Whether the state whose rest is `larger` simulates the one whose rest is `smaller`; their
    /// keys are equal.
    fn simulates(&self, larger: &[u8], smaller: &[u8]) -> bool;
}
