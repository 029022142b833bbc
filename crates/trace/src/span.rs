//! What lasts longer than a step: lock holds and waits.

/// An actor holds something, or waits for something, from one step to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct Span {
    /// Whether it holds or waits.
    pub kind: SpanKind,
    /// The actor's name.
    pub actor: String,
    /// What is held or waited for, such as `mutex forks[1]`.
    pub object: String,
    /// The step in which it begins, counted from 1.
    pub from: usize,
    /// The step in which it ends; absent if it lasts to the end of the trace.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Option::is_none"))]
    pub to: Option<usize>,
    /// Of a wait that lasts to the end: the actor that it waits for, if that is known.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Option::is_none"))]
    pub awaits: Option<String>,
}

/// What a [`Span`] is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(rename_all = "lowercase"))]
pub enum SpanKind {
    /// The actor holds a lock.
    #[default]
    Hold,
    /// The actor is blocked.
    Wait,
}

impl Span {
    /// Whether it lasts beyond a step, counted from 1.
    pub fn covers(&self, step: usize) -> bool {
        self.from <= step && self.to.is_none_or(|to| step < to)
    }
}
