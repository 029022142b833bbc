//! Properties: what must hold in every state, in every step, in some state, or in the end.

use crate::liveness::Formula;

/// The name under which a panic inside a model is reported.
pub const PANIC: &str = "panic";

/// The name under which a deadlock is reported.
pub const DEADLOCK: &str = "deadlock";

/// The outcome of a check: `Err` says why the state violates the property.
type Check<T> = Box<dyn Fn(&T) -> Result<(), String> + Send + Sync>;

/// The outcome of the check of a step, from the state before it to the one after it.
type StepCheck<T> = Box<dyn Fn(&T, &T) -> Result<(), String> + Send + Sync>;

/// Whether something is true of a state.
pub(crate) type Predicate<T> = Box<dyn Fn(&T) -> bool + Send + Sync>;

/// A named property. It may capture parameters.
pub struct Property<T> {
    /// The name by which people refer to it.
    pub name: String,
    pub(crate) kind: Kind<T>,
    respects_relation: bool,
}

/// What a property speaks of.
pub(crate) enum Kind<T> {
    /// Every state.
    Invariant(Check<T>),
    /// Every step.
    Step(StepCheck<T>),
    /// Some state: a witness is looked for.
    Sometimes(Predicate<T>),
    /// States in which nothing is enabled: those of which the function is false are deadlocks.
    Deadlock(Predicate<T>),
    /// Infinite executions.
    Liveness(Formula<T>),
}

/// Which kind of property, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// It must hold in every state.
    Invariant,
    /// It must hold in every step.
    Step,
    /// It must hold in some state.
    Sometimes,
    /// Nothing may be stuck.
    Deadlock,
    /// Something must happen eventually.
    Liveness,
}

impl<T> Property<T> {
    fn of(name: impl Into<String>, kind: Kind<T>) -> Self {
        Property { name: name.into(), kind, respects_relation: false }
    }

    /// An invariant: `check` accepts every state; its error says why not.
    pub fn new(
        name: impl Into<String>,
        check: impl Fn(&T) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Property::of(name, Kind::Invariant(Box::new(check)))
    }

    /// A property of every step: `check` accepts every pair of a state and the one that a step leads
    /// to; its error says why not.
    pub fn step(
        name: impl Into<String>,
        check: impl Fn(&T, &T) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Property::of(name, Kind::Step(Box::new(check)))
    }

    /// Some state is reachable in which `is` is true. The search shows how, and the property is
    /// violated if it ends without having found any.
    pub fn sometimes(
        name: impl Into<String>,
        is: impl Fn(&T) -> bool + Send + Sync + 'static,
    ) -> Self {
        Property::of(name, Kind::Sometimes(Box::new(is)))
    }

    /// No execution ends but in states of which `may_end` is true.
    pub fn no_deadlock(may_end: impl Fn(&T) -> bool + Send + Sync + 'static) -> Self {
        Property::of(DEADLOCK, Kind::Deadlock(Box::new(may_end)))
    }

    /// In every execution, `goal` becomes true.
    ///
    /// Which executions count is a matter of [`Fairness`](crate::Fairness).
    pub fn eventually(
        name: impl Into<String>,
        goal: impl Fn(&T) -> bool + Send + Sync + 'static,
    ) -> Self {
        Property::of(name, Kind::Liveness(Formula::eventually(Box::new(goal))))
    }

    /// Whenever `trigger` is true, `goal` is true at the same time or later. With a trigger that is
    /// always true: `goal` is true again and again.
    pub fn leads_to(
        name: impl Into<String>,
        trigger: impl Fn(&T) -> bool + Send + Sync + 'static,
        goal: impl Fn(&T) -> bool + Send + Sync + 'static,
    ) -> Self {
        Property::of(name, Kind::Liveness(Formula::leads_to(Box::new(trigger), Box::new(goal))))
    }

    /// In every execution, `goal` becomes true, and `hold` is true until then.
    pub fn until(
        name: impl Into<String>,
        hold: impl Fn(&T) -> bool + Send + Sync + 'static,
        goal: impl Fn(&T) -> bool + Send + Sync + 'static,
    ) -> Self {
        Property::of(name, Kind::Liveness(Formula::until(Box::new(hold), Box::new(goal))))
    }

    /// The same property, which never tells a state from one that
    /// [simulates](crate::SimulationRelation) it. Only with such properties can a search prune by the
    /// relation. Of invariants and properties of steps this can be true; the others tell more.
    #[must_use]
    pub fn respecting_relation(mut self) -> Self {
        self.respects_relation = matches!(self.kind, Kind::Invariant(_) | Kind::Step(_));
        self
    }

    /// Whether a search for it may prune by the simulation relation.
    pub fn respects_relation(&self) -> bool {
        self.respects_relation
    }

    /// What it speaks of.
    pub fn kind(&self) -> PropertyKind {
        match self.kind {
            Kind::Invariant(_) => PropertyKind::Invariant,
            Kind::Step(_) => PropertyKind::Step,
            Kind::Sometimes(_) => PropertyKind::Sometimes,
            Kind::Deadlock(_) => PropertyKind::Deadlock,
            Kind::Liveness(_) => PropertyKind::Liveness,
        }
    }

    /// Checks one state, as far as the property speaks of single states.
    pub fn check(&self, state: &T) -> Result<(), String> {
        match &self.kind {
            Kind::Invariant(check) => check(state),
            _ => Ok(()),
        }
    }

    /// Checks one state and the step to it, if there was one, as far as the property speaks of these.
    #[inline]
    pub fn check_from(&self, before: Option<&T>, state: &T) -> Result<(), String> {
        match (&self.kind, before) {
            (Kind::Invariant(check), _) => check(state),
            (Kind::Step(check), Some(before)) => check(before, state),
            _ => Ok(()),
        }
    }
}
