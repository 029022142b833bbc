//! Properties (invariants) that every state must satisfy.

/// The name under which a panic inside a model is reported.
pub const PANIC: &str = "panic";

/// The outcome of a check: `Err` says why the state violates the property.
type Check<T> = Box<dyn Fn(&T) -> Result<(), String> + Send + Sync>;

/// A named assertion over states. It may capture parameters.
pub struct Property<T> {
    /// The name by which people refer to it.
    pub name: String,
    check: Check<T>,
}

impl<T> Property<T> {
    /// The property that `check` accepts the state; its error says why not.
    pub fn new(
        name: impl Into<String>,
        check: impl Fn(&T) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Property { name: name.into(), check: Box::new(check) }
    }

    /// Checks one state.
    pub fn check(&self, state: &T) -> Result<(), String> {
        (self.check)(state)
    }
}
