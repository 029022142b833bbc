//! One visible action of one actor.

/// One step of a system: which actor does what, and which of the possible outcomes.
///
/// The three numbers are those of the system itself: the actor (a node, a thread), the kind of
/// event, and a parameter that tells apart the several ways in which the event can happen in one
/// state. A sequence of steps is a schedule: enough to repeat an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct Step {
    /// Who acts.
    pub actor: u16,
    /// What kind of event happens.
    pub event: u16,
    /// Which of the event's possible outcomes.
    pub param: u32,
}
