//! Models in tests: `explore(&model).bfs().max_depth(30).run()?`.

use everypath_explore::{
    Control, Counts, Ended, Fairness, Found, Model, PANIC, Property, PropertyKind, Search,
    SearchOrder, Task, VisitedKind, check_liveness, describe,
};
use everypath_report::text;
use everypath_trace::{Config, Coverage, SearchRecord, Step, Trace, Verdict};
use std::fmt;

/// Starts an exploration of a model: breadth-first, all properties, no limits but the model's own
/// depth bound.
///
/// ```
/// # use everypath_model::net::{Network, Options, Topology};
/// # use everypath_protocols::Arq;
/// let arq = Network::<Arq>::new(Options::new(Topology::chain(2)));
/// let explored = everypath_model::explore(&arq).bfs().max_depth(12).run()?;
/// explored.assert_holds();
/// assert_eq!(explored.coverage.kind(), "bounded");
/// # Ok::<(), everypath_model::ExploreError>(())
/// ```
pub fn explore<M: Model>(model: &M) -> Explore<'_, M> {
    Explore {
        model,
        search: Search { max_depth: M::DEFAULT_DEPTH, ..Search::default() },
        rank: None,
        fairness: model.fairness(),
        names: Names::default(),
        also: Vec::new(),
    }
}

/// An exploration that is being described.
#[must_use = "nothing happens before run()"]
pub struct Explore<'a, M: Model> {
    model: &'a M,
    search: Search,
    rank: Option<String>,
    fairness: Fairness,
    names: Names,
    also: Vec<Property<M::State>>,
}

/// Names that are looked up when it runs.
#[derive(Default)]
struct Names {
    properties: Vec<String>,
    disabled: Vec<String>,
    weak: Vec<String>,
    strong: Vec<String>,
    must_contain: Option<String>,
}

/// The outcome of an exploration.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The answer.
    pub verdict: Verdict,
    /// What the answer speaks of.
    pub coverage: Coverage,
    /// Why there is no answer, if there is none.
    pub reason: Option<String>,
    /// What was counted.
    pub counts: Counts,
    /// How often each event was executed, in the order of [`Model::EVENTS`].
    pub events: Vec<(&'static str, u64)>,
    /// For each property that some state must satisfy, its name and the steps to one that does.
    pub witnesses: Vec<(String, Option<Vec<Step>>)>,
    /// A counterexample, if there is one: [`Explored::text`] shows it.
    pub counterexample: Option<Trace>,
}

/// Why an exploration could not be started: a name that the model does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExploreError(String);

impl fmt::Display for ExploreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ExploreError {}

/// The outcome, or why there is none.
pub type Result<T> = std::result::Result<T, ExploreError>;

impl<M: Model> Explore<'_, M> {
    /// Breadth-first: the counterexample is a shortest one.
    pub fn bfs(mut self) -> Self {
        self.search.order = SearchOrder::Bfs;
        self
    }

    /// Depth-first.
    pub fn dfs(mut self) -> Self {
        self.search.order = SearchOrder::Dfs;
        self
    }

    /// Best-first, by the rank of this name.
    pub fn best_first(mut self, rank: &str) -> Self {
        self.search.order = SearchOrder::Befs;
        self.rank = Some(rank.into());
        self
    }

    /// Executions of up to so many steps.
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.search.max_depth = Some(depth);
        self
    }

    /// Executions of any length, also of a model that has a depth bound of its own.
    pub fn any_depth(mut self) -> Self {
        self.search.max_depth = None;
        self
    }

    /// Stops when so many states are stored.
    pub fn max_states(mut self, states: u64) -> Self {
        self.search.max_states = Some(states);
        self
    }

    /// How visited states are recognised.
    pub fn visited(mut self, visited: VisitedKind) -> Self {
        self.search.visited = visited;
        self
    }

    /// On so many threads; any number gives the same result.
    pub fn threads(mut self, threads: usize) -> Self {
        self.search.threads = threads;
        self
    }

    /// Goes on after a violation and counts them all.
    pub fn keep_going(mut self) -> Self {
        self.search.keep_going = true;
        self
    }

    /// Checks the property of this name, and others that are named; all, if none is.
    pub fn property(mut self, name: &str) -> Self {
        self.names.properties.push(name.into());
        self
    }

    /// Switches an event off.
    pub fn disable(mut self, event: &str) -> Self {
        self.names.disabled.push(event.into());
        self
    }

    /// Only violations count whose path contains this event.
    pub fn must_contain(mut self, event: &str) -> Self {
        self.names.must_contain = Some(event.into());
        self
    }

    /// An event that happens again and again if it is enabled all the time.
    pub fn weakly_fair(mut self, event: &str) -> Self {
        self.names.weak.push(event.into());
        self
    }

    /// An event that happens again and again if it is enabled again and again.
    pub fn strongly_fair(mut self, event: &str) -> Self {
        self.names.strong.push(event.into());
        self
    }

    /// Counts states in which nothing can happen as violations, unless `may_end` accepts them.
    pub fn no_deadlock(
        mut self,
        may_end: impl Fn(&M::State) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.also.push(Property::no_deadlock(may_end));
        self
    }

    /// Checks this property besides those of the model.
    pub fn also(mut self, property: Property<M::State>) -> Self {
        self.also.push(property);
        self
    }

    /// Explores.
    pub fn run(mut self) -> Result<Explored> {
        self.look_up()?;
        let mut properties = self.model.properties();
        let known: Vec<String> = properties.iter().map(|property| property.name.clone()).collect();
        for name in &self.names.properties {
            find("property", name, known.iter().map(String::as_str))?;
        }
        let wanted = &self.names.properties;
        properties.retain(|property| wanted.is_empty() || wanted.contains(&property.name));
        properties.append(&mut self.also);
        let ranks = self.model.ranks();
        let rank = match &self.rank {
            Some(name) => Some(&ranks[find("rank", name, ranks.iter().map(|r| r.name.as_str()))?]),
            None => None,
        };
        let (system, search) = (self.model, &self.search);
        let task = Task { system, properties: &properties, rank, search };
        let mut explored = everypath_explore::explore(&task, &Control::default());
        let lives = properties.iter().any(|property| property.kind() == PropertyKind::Liveness);
        let mut bounded = explored.counts.deepest > 0;
        if lives && explored.ended == Ended::Complete {
            let rules = (search, &self.fairness);
            let liveness = check_liveness(system, &properties, rules, &Control::default());
            explored.found.extend(liveness.found);
            explored.ended = liveness.ended;
            bounded |= liveness.bounded;
        }
        self.conclude(explored, bounded)
    }

    /// Turns names of events into numbers.
    fn look_up(&mut self) -> Result<()> {
        let event = |name: &String| {
            let names = M::EVENTS.iter().map(|event| event.name);
            find("event", name, names).map(|at| at as u16)
        };
        let events = |names: &[String]| names.iter().map(event).collect::<Result<Vec<u16>>>();
        self.search.disabled = events(&self.names.disabled)?;
        self.search.must_contain = self.names.must_contain.as_ref().map(event).transpose()?;
        self.fairness.weak.extend(events(&self.names.weak)?);
        self.fairness.strong.extend(events(&self.names.strong)?);
        Ok(())
    }

    fn conclude(
        &self,
        explored: everypath_explore::Exploration,
        bounded: bool,
    ) -> Result<Explored> {
        let found = explored.found.first();
        let counterexample = found.map(|found: &Found| {
            let record = SearchRecord {
                strategy: self.search.order.to_string(),
                add: self.search.add.to_string(),
                visited: self.search.visited.to_string(),
                max_depth: self.search.max_depth,
                rank: self.rank.clone(),
                must_contain: self.names.must_contain.clone(),
                disabled: self.names.disabled.clone(),
                weakly_fair: self.names.weak.clone(),
                strongly_fair: self.names.strong.clone(),
                ..SearchRecord::default()
            };
            describe(self.model, &Config::default(), found, record)
        });
        let unreached = explored.witnesses.iter().find(|(_, steps)| steps.is_none());
        let reason = match (&explored.ended, &counterexample) {
            (_, Some(Err(why))) => Some(format!("a violation could not be repeated: {why}")),
            (_, Some(Ok(_))) => None,
            (Ended::Complete | Ended::Violation, None) => None,
            (
                Ended::Unconfirmed(why)
                | Ended::NotSymmetric(why)
                | Ended::NotIndependent(why)
                | Ended::Failed(why),
                None,
            ) => Some(why.clone()),
            (ended, None) => Some(format!("the search ended early: {ended:?}")),
        };
        let verdict = match (&counterexample, &reason) {
            (Some(Ok(_)), _) => Verdict::Violated,
            (_, Some(_)) => Verdict::Inconclusive,
            (_, None) if unreached.is_some() && !bounded => Verdict::Violated,
            (_, None) if unreached.is_some() => Verdict::Inconclusive,
            (_, None) => Verdict::Holds,
        };
        let reason = reason.or_else(|| {
            unreached.map(|(name, _)| format!("no state that satisfies \"{name}\" was reached"))
        });
        let coverage = match (&explored.ended, self.search.max_depth) {
            (Ended::Complete, Some(depth)) if bounded => Coverage::Bounded { depth },
            (Ended::Complete, _) => Coverage::Exhaustive,
            _ if explored.checked_depth > 0 => Coverage::Bounded { depth: explored.checked_depth },
            _ => Coverage::Partial,
        };
        let taken = |number: usize| explored.by_event.get(number).copied().unwrap_or(0);
        let events = M::EVENTS.iter().enumerate();
        Ok(Explored {
            verdict,
            coverage,
            reason,
            events: events.map(|(number, event)| (event.name, taken(number))).collect(),
            counts: explored.counts,
            witnesses: explored.witnesses,
            counterexample: counterexample.and_then(std::result::Result::ok),
        })
    }
}

impl Explored {
    /// The counterexample as text, or the verdict in a line.
    pub fn text(&self) -> String {
        match (&self.counterexample, &self.reason) {
            (Some(trace), _) => text(trace, "everypath replay", "TRACE"),
            (None, Some(reason)) => format!("{}: {reason}", self.verdict),
            (None, None) => format!("{}", self.verdict),
        }
    }

    /// The name of the property that is violated, if one is.
    pub fn violated(&self) -> Option<&str> {
        let property = self.counterexample.as_ref().map(|trace| trace.violation.property.as_str());
        property.filter(|name| *name != PANIC)
    }

    /// Panics with the counterexample unless all properties hold.
    ///
    /// # Panics
    ///
    /// If they do not, or if that is not known.
    #[track_caller]
    pub fn assert_holds(&self) {
        assert!(self.verdict == Verdict::Holds, "{}", self.text());
    }
}

/// The number of a name among those that the model has.
fn find<'n>(what: &str, name: &str, known: impl Iterator<Item = &'n str>) -> Result<usize> {
    crate::suggest::find(what, name, known).map_err(|error| ExploreError(error.to_string()))
}
