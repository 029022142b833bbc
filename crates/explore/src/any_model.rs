//! Models whose type is known only to whoever made them: chosen by name, explored as one of many.

use crate::confirm::violated_at_end;
use crate::describe::describe;
use crate::disk::{Disk, DiskError, explore_on_disk};
use crate::expander::{Expand, expander};
use crate::graph::Makeup;
use crate::liveness::confirm_lasso;
use crate::sleep_sets::explore_with_sleep_sets;
use crate::symmetry::explore_quotient;
use crate::walk::draw;
use crate::{
    Add, Bug, Canonical, Config, Control, Ended, EventKind, Exploration, Fairness, Feature, Found,
    Incremental, Incremented, Line, Liveness, LogEntry, Model, NodeRange, PANIC, Parameter,
    Property, PropertyKind, Search, SearchOrder, SimulationRelation, StateGraph, System, Task,
    Validated, Walk, Walked, check_liveness, explore, explore_incrementally, panic_capture, replay,
    validate, walk,
};
use everypath_trace::{SearchRecord, Step, Trace};
use std::sync::Arc;

/// The links of a network, if it has any of its own.
type Links = Option<Vec<(u16, u16)>>;

/// What is known of a model before it is built.
#[derive(Clone, Copy)]
pub struct ModelKind {
    /// [`Model::NAME`]
    pub name: &'static str,
    /// [`Model::ABOUT`]
    pub about: &'static str,
    /// [`Model::NODES`]
    pub nodes: NodeRange,
    /// [`Model::BUGS`]
    pub bugs: &'static [Bug],
    /// [`Model::FEATURES`]
    pub features: &'static [Feature],
    /// [`Model::PARAMETERS`]
    pub parameters: &'static [Parameter],
    /// [`Model::EVENTS`]
    pub events: &'static [EventKind],
    /// [`Model::DEFAULT_DEPTH`]
    pub default_depth: Option<u32>,
    /// [`Model::default_links`]
    pub default_links: fn(u32) -> Links,
    check: fn(&Config) -> Result<(), String>,
    build: fn(Config) -> Box<dyn AnyModel>,
}

impl ModelKind {
    /// The kind of a model.
    pub fn of<M: Model + 'static>() -> Self {
        ModelKind {
            name: M::NAME,
            about: M::ABOUT,
            nodes: M::NODES,
            bugs: M::BUGS,
            features: M::FEATURES,
            parameters: M::PARAMETERS,
            events: M::EVENTS,
            default_depth: M::DEFAULT_DEPTH,
            default_links: M::default_links,
            check: M::check,
            build: |config| Box::new(Built { model: Arc::new(M::build(&config)), config }),
        }
    }

    /// Builds a model, or says why it cannot be explored so ([`Model::check`]).
    pub fn build(&self, config: Config) -> Result<Box<dyn AnyModel>, String> {
        (self.check)(&config)?;
        Ok((self.build)(config))
    }

    /// The number of the event of this name.
    pub fn event(&self, name: &str) -> Option<u16> {
        self.events.iter().position(|event| event.name == name).map(|at| at as u16)
    }
}

impl Request {
    /// All invariants of a model, by this search.
    pub fn new(model: &dyn AnyModel, search: Search, rank: Option<String>) -> Self {
        let is = |property: &PropertyInfo| property.kind == PropertyKind::Invariant;
        let invariants = model.properties().into_iter().filter(is);
        let properties = invariants.map(|property| property.name).collect();
        Request {
            search,
            rank,
            properties,
            fairness: model.fairness(),
            symmetry: false,
            sleep: false,
        }
    }
}

/// A model that was built, whatever its type.
pub trait AnyModel: Send + Sync {
    /// How it was built.
    fn config(&self) -> &Config;
    /// The properties, of which the last is that there is no deadlock.
    fn properties(&self) -> Vec<PropertyInfo>;
    /// The names of the ranks, and what they prefer.
    fn ranks(&self) -> Vec<(String, String)>;
    /// Explores the model for the properties of these names.
    fn explore(&self, request: &Request, control: &Control) -> Exploration;
    /// Explores the model as [`AnyModel::explore`] does, with its states in files.
    fn explore_on_disk(
        &self,
        request: &Request,
        disk: Disk<'_>,
        control: &Control,
    ) -> Result<Exploration, DiskError>;
    /// Lets somebody expand states of the model, recognised by their fingerprints.
    fn with_expander(&self, request: &Request, expand: &mut dyn FnMut(Box<dyn Expand + '_>));
    /// What it is made of, if it says so.
    fn makeup(&self) -> Option<Makeup>;
    /// Explores the model as [`AnyModel::explore`] does, with what is left of earlier searches.
    fn explore_incrementally(
        &self,
        request: &Request,
        incremental: Incremental<'_>,
        control: &Control,
    ) -> Incremented;
    /// The violation with every state on the way to it in words.
    fn describe(&self, found: &Found, search: SearchRecord) -> Result<Trace, String>;
    /// Takes a schedule again, of which the steps from a number on (counted from 0) may be repeated for
    /// ever, and returns what its end or its loop violates: names of properties, and why.
    fn recheck(
        &self,
        lasso: (&[Step], Option<usize>),
        request: &Request,
    ) -> Result<Vec<(String, String)>, String>;
    /// [`Model::fairness`]
    fn fairness(&self) -> Fairness;
    /// [`Model::is_possible`]
    fn is_possible(&self, event: u16) -> bool;
    /// [`Model::is_unobserved`]
    fn is_unobserved(&self, event: u16) -> bool;
    /// Looks for infinite executions that violate the properties of these names.
    fn check_liveness(&self, request: &Request, control: &Control) -> Liveness;
    /// Walks through the model at random.
    fn walk(&self, request: &Request, how: &Walk, control: &Control) -> Walked;
    /// The schedule of one random walk.
    fn draw(&self, request: &Request, how: &Walk) -> Result<Vec<Step>, String>;
    /// The shortest way to a violation that begins with a schedule, if there is one.
    fn explore_from(
        &self,
        schedule: &[Step],
        request: &Request,
        control: &Control,
    ) -> Result<Option<Found>, String>;
    /// Whether a log is a path of the model.
    fn validate(&self, log: &[LogEntry], hidden: &[u16], limit: usize)
    -> Result<Validated, String>;
    /// What there is to see of the state that a schedule leads to.
    fn look(&self, schedule: &[Step]) -> Result<Look, String>;
    /// All states and steps, within the bounds of a search, with the description of each state.
    fn state_graph(&self, request: &Request, control: &Control) -> (StateGraph, Vec<Vec<Line>>);
    /// The steps that belong to a sequence of edges of such a graph.
    fn schedule(&self, graph: &StateGraph, request: &Request, path: &[u32]) -> Vec<Step>;
    /// [`Model::symmetric`]
    fn symmetric(&self) -> Result<Vec<u16>, String>;
    /// [`Model::commuting`]
    fn commuting(&self) -> Result<(), String>;
    /// [`Model::actor`]
    fn actor(&self, actor: u16) -> String;
    /// The state of these canonical bytes in words.
    fn describe_bytes(&self, bytes: &[u8]) -> Vec<Line>;
}

/// A state, and what can happen in it.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// The state in words.
    pub state: Vec<Line>,
    /// The steps that are enabled, each in words.
    pub enabled: Vec<(Step, String)>,
    /// What the state, or the step to it, violates: names of properties, and why.
    pub violated: Vec<(String, String)>,
}

/// A system that begins where a schedule of another leads.
struct From<'a, S> {
    system: &'a S,
    schedule: &'a [Step],
}

impl<S: System> System for From<'_, S> {
    type State = S::State;

    fn initial(&self) -> S::State {
        let mut state = self.system.initial();
        self.schedule.iter().for_each(|&step| self.system.take(&mut state, step));
        state
    }

    fn enabled(&self, state: &S::State, steps: &mut Vec<Step>) {
        self.system.enabled(state, steps);
    }

    fn take(&self, state: &mut S::State, step: Step) {
        self.system.take(state, step);
    }

    fn restore(&self, original: &S::State, bytes: &[u8], state: &mut S::State) {
        self.system.restore(original, bytes, state);
    }

    fn relation(&self) -> Option<&dyn SimulationRelation> {
        self.system.relation()
    }
}

/// What is known of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyInfo {
    /// Its name.
    pub name: String,
    /// What it speaks of.
    pub kind: PropertyKind,
    /// Whether a search for it may prune by the simulation relation of the model, if it has one.
    pub respects_relation: bool,
}

/// What to explore, and how.
pub struct Request {
    /// The search.
    pub search: Search,
    /// The name of the rank, for best-first search.
    pub rank: Option<String>,
    /// The names of the properties to check.
    pub properties: Vec<String>,
    /// Which executions properties of infinite executions are asked of.
    pub fairness: Fairness,
    /// Whether states that differ only in which of several like actors is which are one. Only a search
    /// of [`AnyModel::explore`] uses it, and it must not prune by the relation.
    pub symmetry: bool,
    /// Whether steps that commute are taken in one order only. Only a search of [`AnyModel::explore`]
    /// uses it; it is breadth-first, by equality, on one thread, and stops at the first violation.
    pub sleep: bool,
}

struct Built<M> {
    model: Arc<M>,
    config: Config,
}

impl<M: Model + 'static> Built<M> {
    /// The property that there is no deadlock.
    fn deadlock(&self) -> Property<M::State> {
        let model = Arc::clone(&self.model);
        Property::no_deadlock(move |state| model.may_end(state))
    }

    /// Does something with a request, in the engine's terms.
    fn with_task<R>(&self, request: &Request, explore: impl FnOnce(&Task<'_, M>) -> R) -> R {
        let mut properties = self.model.properties();
        properties.push(self.deadlock());
        properties.retain(|property| request.properties.contains(&property.name));
        let ranks = self.model.ranks();
        let rank = ranks.iter().find(|rank| Some(&rank.name) == request.rank.as_ref());
        let search = &request.search;
        explore(&Task { system: &*self.model, properties: &properties, rank, search })
    }
}

impl<M: Model + 'static> AnyModel for Built<M> {
    fn config(&self) -> &Config {
        &self.config
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        let mut properties = self.model.properties();
        properties.push(self.deadlock());
        let has_relation = self.model.relation().is_some();
        let info = |property: Property<M::State>| PropertyInfo {
            kind: property.kind(),
            respects_relation: property.respects_relation() || !has_relation,
            name: property.name,
        };
        properties.into_iter().map(info).collect()
    }

    fn ranks(&self) -> Vec<(String, String)> {
        self.model.ranks().into_iter().map(|rank| (rank.name, rank.about)).collect()
    }

    fn explore(&self, request: &Request, control: &Control) -> Exploration {
        self.with_task(request, |task| match (request.symmetry, request.sleep) {
            (true, _) => explore_quotient(task, control),
            (false, true) => explore_with_sleep_sets(task, control),
            (false, false) => explore(task, control),
        })
    }

    fn explore_on_disk(
        &self,
        request: &Request,
        disk: Disk<'_>,
        control: &Control,
    ) -> Result<Exploration, DiskError> {
        self.with_task(request, |task| explore_on_disk(task, disk, control))
    }

    fn with_expander(&self, request: &Request, expand: &mut dyn FnMut(Box<dyn Expand + '_>)) {
        self.with_task(request, |task| expand(expander(task)));
    }

    fn makeup(&self) -> Option<Makeup> {
        self.model.makeup()
    }

    fn explore_incrementally(
        &self,
        request: &Request,
        incremental: Incremental<'_>,
        control: &Control,
    ) -> Incremented {
        self.with_task(request, |task| explore_incrementally(task, incremental, control))
    }

    fn describe(&self, found: &Found, search: SearchRecord) -> Result<Trace, String> {
        describe(&*self.model, &self.config, found, search)
    }

    fn recheck(
        &self,
        lasso: (&[Step], Option<usize>),
        request: &Request,
    ) -> Result<Vec<(String, String)>, String> {
        let mut properties = self.model.properties();
        properties.push(self.deadlock());
        let (schedule, _) = lasso;
        let disabled = &request.search.disabled;
        let violated = violated_at_end(&*self.model, &properties, disabled, schedule)
            .map_err(|error| error.to_string())?;
        let name = |number: usize| properties.get(number).map_or(PANIC, |property| &property.name);
        let mut found: Vec<(String, String)> =
            violated.into_iter().map(|(number, why)| (name(number).to_string(), why)).collect();
        let rules = (&request.search, &request.fairness);
        for property in
            properties.iter().filter(|property| property.kind() == PropertyKind::Liveness)
        {
            if let Ok(why) = confirm_lasso(&*self.model, property, rules, lasso) {
                found.push((property.name.clone(), why));
            }
        }
        Ok(found)
    }

    fn fairness(&self) -> Fairness {
        self.model.fairness()
    }

    fn is_possible(&self, event: u16) -> bool {
        self.model.is_possible(event)
    }

    fn is_unobserved(&self, event: u16) -> bool {
        self.model.is_unobserved(event)
    }

    fn check_liveness(&self, request: &Request, control: &Control) -> Liveness {
        self.with_task(request, |task| {
            let rules = (task.search, &request.fairness);
            check_liveness(task.system, task.properties, rules, control)
        })
    }

    fn walk(&self, request: &Request, how: &Walk, control: &Control) -> Walked {
        self.with_task(request, |task| {
            walk(task.system, task.properties, (task.search, how), control)
        })
    }

    fn draw(&self, request: &Request, how: &Walk) -> Result<Vec<Step>, String> {
        panic_capture::run(|| draw(&*self.model, &request.search, how))
    }

    fn explore_from(
        &self,
        schedule: &[Step],
        request: &Request,
        control: &Control,
    ) -> Result<Option<Found>, String> {
        let from = From { system: &*self.model, schedule };
        let mut properties = self.model.properties();
        properties.push(self.deadlock());
        properties.retain(|property| request.properties.contains(&property.name));
        let order = SearchOrder::Bfs;
        let search = Search { order, add: Add::Next, shuffle: None, ..request.search.clone() };
        let task = Task { system: &from, properties: &properties, rank: None, search: &search };
        let explored = explore(&task, control);
        match (explored.found.into_iter().next(), explored.ended) {
            (Some(mut found), _) => {
                found.schedule.splice(0..0, schedule.iter().copied());
                Ok(Some(found))
            }
            (None, Ended::Complete) => Ok(None),
            (None, ended) => Err(format!("{ended:?}")),
        }
    }

    fn validate(
        &self,
        log: &[LogEntry],
        hidden: &[u16],
        limit: usize,
    ) -> Result<Validated, String> {
        panic_capture::run(|| validate(&*self.model, log, hidden, limit))
    }

    fn look(&self, schedule: &[Step]) -> Result<Look, String> {
        let mut properties = self.model.properties();
        properties.push(self.deadlock());
        let violated = violated_at_end(&*self.model, &properties, &[], schedule)
            .map_err(|error| error.to_string())?;
        let name = |number: usize| properties.get(number).map_or(PANIC, |property| &property.name);
        let violated: Vec<(String, String)> =
            violated.into_iter().map(|(number, why)| (name(number).to_string(), why)).collect();
        let mut look = Look { violated, ..Look::default() };
        replay(&*self.model, schedule, |state: &M::State, _, next| {
            if next.is_none() {
                let mut steps = Vec::new();
                self.model.enabled(state, &mut steps);
                look.state = self.model.describe_state(state);
                let words = |step: Step| {
                    let event = M::EVENTS[usize::from(step.event)].name;
                    let actor = self.model.actor(step.actor);
                    format!("{event} at {actor}: {}", self.model.describe_step(state, step))
                };
                look.enabled = steps.into_iter().map(|step| (step, words(step))).collect();
            }
        })
        .map_err(|error| error.to_string())?;
        Ok(look)
    }

    fn state_graph(&self, request: &Request, control: &Control) -> (StateGraph, Vec<Vec<Line>>) {
        let mut states = Vec::new();
        let graph = StateGraph::new(&*self.model, &request.search, control, |state| {
            states.push(self.model.describe_state(state));
        });
        (graph, states)
    }

    fn schedule(&self, graph: &StateGraph, request: &Request, path: &[u32]) -> Vec<Step> {
        graph.schedule(&*self.model, &request.search, path)
    }

    fn symmetric(&self) -> Result<Vec<u16>, String> {
        self.model.symmetric()
    }

    fn commuting(&self) -> Result<(), String> {
        self.model.commuting()
    }

    fn actor(&self, actor: u16) -> String {
        self.model.actor(actor)
    }

    fn describe_bytes(&self, bytes: &[u8]) -> Vec<Line> {
        let mut state = self.model.initial();
        state.read(&mut &bytes[..]);
        self.model.describe_state(&state)
    }
}
