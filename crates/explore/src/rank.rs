//! Ranks: heuristics that order the frontier of best-first search.

/// Appends the components of a state's tuple.
type Measure<T> = Box<dyn Fn(&T, &mut Vec<i64>) + Send + Sync>;

/// Why a state ranks as it does.
type Why<T> = Box<dyn Fn(&T) -> String + Send + Sync>;

/// A ranking of states for best-first search (Sobeih 2008, section 3.3.3).
///
/// A state is mapped to a tuple of any length. Tuples are compared lexicographically (a tuple is
/// greater than its own prefix) and the highest is explored first; among equals, the state that
/// [`Ties`] names.
pub struct Rank<T> {
    /// The name by which people choose it.
    pub name: String,
    /// One line that says what it prefers.
    pub about: String,
    /// Which of equally ranked states comes first.
    pub ties: Ties,
    measure: Measure<T>,
    why: Option<Why<T>>,
}

/// Which of equally ranked states is explored first.
///
/// The paper does not say, but its counts do: with the last one first, ours agree with table 6.1,
/// and long chains of AODV stay small as in table 4.3. (With the first one first, equals are
/// explored breadth-first, and a chain of nine nodes takes thousands of times as many events.)
/// For directed diffusion the first one first needs far fewer events; `docs/case-studies.md` says
/// what is known of why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// The one that was generated last.
    #[default]
    Last,
    /// The one that was generated first.
    First,
}

impl<T> Rank<T> {
    /// The rank whose tuple is what `measure` appends.
    pub fn new(
        name: impl Into<String>,
        about: impl Into<String>,
        measure: impl Fn(&T, &mut Vec<i64>) + Send + Sync + 'static,
    ) -> Self {
        Rank {
            name: name.into(),
            about: about.into(),
            ties: Ties::default(),
            measure: Box::new(measure),
            why: None,
        }
    }

    /// The same rank, which says why a state ranks as it does. A counterexample found with it says so
    /// of every state.
    #[must_use]
    pub fn explained(self, why: impl Fn(&T) -> String + Send + Sync + 'static) -> Self {
        Rank { why: Some(Box::new(why)), ..self }
    }

    /// Why a state ranks as it does, after its tuple; `None` if the rank does not say.
    pub fn explain(&self, state: &T) -> Option<String> {
        let why = self.why.as_ref()?(state);
        let tuple: Vec<String> = self.tuple(state).iter().map(ToString::to_string).collect();
        Some(format!("({}): {why}", tuple.join(", ")))
    }

    /// The same rank, with another order among equals.
    #[must_use]
    pub fn with_ties(self, ties: Ties) -> Self {
        Rank { ties, ..self }
    }

    /// The tuple of a state.
    pub fn tuple(&self, state: &T) -> Vec<i64> {
        let mut tuple = Vec::new();
        self.append(state, &mut tuple);
        tuple
    }

    /// Appends the tuple of a state to others.
    pub(crate) fn append(&self, state: &T, tuples: &mut Vec<i64>) {
        (self.measure)(state, tuples);
    }
}
