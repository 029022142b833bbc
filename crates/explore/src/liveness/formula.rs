//! What must happen eventually, and which executions are asked for it.

use crate::property::Predicate;

/// A formula over infinite executions.
///
/// Each is watched by a monitor of one bit, the *obligation*: whether the goal is still to come. A
/// formula is violated by an execution in which the obligation stays for ever. (The general way, a
/// Büchi automaton for the negation, comes to the same for these formulas, and is nondeterministic.)
pub(crate) struct Formula<T> {
    /// When the obligation arises: at the start, or with a state.
    trigger: Trigger<T>,
    /// When it is met.
    goal: Predicate<T>,
    /// What must be true as long as it is not met.
    hold: Option<Predicate<T>>,
}

enum Trigger<T> {
    Start,
    State(Predicate<T>),
}

/// What a formula sees of a state, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label(u8);

const TRIGGER: u8 = 1;
const GOAL: u8 = 2;
const HOLD: u8 = 4;

impl<T> Formula<T> {
    pub(crate) fn eventually(goal: Predicate<T>) -> Self {
        Formula { trigger: Trigger::Start, goal, hold: None }
    }

    pub(crate) fn leads_to(trigger: Predicate<T>, goal: Predicate<T>) -> Self {
        Formula { trigger: Trigger::State(trigger), goal, hold: None }
    }

    pub(crate) fn until(hold: Predicate<T>, goal: Predicate<T>) -> Self {
        Formula { trigger: Trigger::Start, goal, hold: Some(hold) }
    }

    /// What the formula sees of a state.
    pub(crate) fn label(&self, state: &T) -> Label {
        let trigger = match &self.trigger {
            Trigger::Start => false,
            Trigger::State(is) => is(state),
        };
        let hold = self.hold.as_ref().is_none_or(|hold| hold(state));
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        Label(bit(trigger, TRIGGER) | bit((self.goal)(state), GOAL) | bit(hold, HOLD))
    }

    /// Whether there is an obligation in the initial state.
    pub(crate) fn starts_obliged(&self, label: Label) -> bool {
        !label.goal() && (matches!(self.trigger, Trigger::Start) || label.trigger())
    }

    /// Whether the obligation can arise only at the start.
    pub(crate) fn only_at_start(&self) -> bool {
        matches!(self.trigger, Trigger::Start)
    }
}

impl Label {
    fn trigger(self) -> bool {
        self.0 & TRIGGER != 0
    }

    fn goal(self) -> bool {
        self.0 & GOAL != 0
    }

    /// Whether what must be true until the goal is.
    pub(crate) fn hold(self) -> bool {
        self.0 & HOLD != 0
    }

    /// Whether there is an obligation in a state with this label, if there was one before it.
    pub(crate) fn obliged(self, before: bool) -> bool {
        (before || self.trigger()) && !self.goal()
    }
}

/// Which executions count: those in which events are not put off for ever.
///
/// An event is meant at each actor by itself: delivery to node 1 and delivery to node 2.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fairness {
    /// The numbers of events that happen again and again if they are enabled all the time, from some
    /// state on.
    pub weak: Vec<u16>,
    /// The numbers of events that happen again and again if they are enabled again and again.
    pub strong: Vec<u16>,
}
