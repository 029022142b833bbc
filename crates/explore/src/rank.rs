//! Which states look closest to a violation.

/// Appends the components of a state's tuple.
type Measure<T> = Box<dyn Fn(&T, &mut Vec<i64>) + Send + Sync>;

/// A ranking of states for best-first search (Sobeih 2008, section 3.3.3).
///
/// A state is mapped to a tuple of any length. Tuples are compared lexicographically (a tuple is
/// greater than its own prefix) and the highest is explored first; among equals, the state that
/// was generated last.
pub struct Rank<T> {
    /// The name by which people choose it.
    pub name: String,
    /// One line that says what it prefers.
    pub about: String,
    measure: Measure<T>,
}

impl<T> Rank<T> {
    /// The rank whose tuple is what `measure` appends.
    pub fn new(
        name: impl Into<String>,
        about: impl Into<String>,
        measure: impl Fn(&T, &mut Vec<i64>) + Send + Sync + 'static,
    ) -> Self {
        Rank { name: name.into(), about: about.into(), measure: Box::new(measure) }
    }

    /// The tuple of a state.
    pub fn tuple(&self, state: &T) -> Vec<i64> {
        let mut tuple = Vec::new();
        (self.measure)(state, &mut tuple);
        tuple
    }
}
