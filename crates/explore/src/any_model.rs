//! Models whose type is known only to whoever made them: chosen by name, explored as one of many.

use crate::graph::Makeup;
use crate::{
    Bug, Config, Control, EventKind, Exploration, Feature, Found, Incremental, Incremented, Line,
    Model, NodeRange, PANIC, Property, Search, Task, explore, explore_incrementally, replay,
};
use everypath_trace::{SearchRecord, Step, Target, Trace, TraceStep, Violation};

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
    /// [`Model::EVENTS`]
    pub events: &'static [EventKind],
    /// [`Model::DEFAULT_DEPTH`]
    pub default_depth: Option<u32>,
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
            events: M::EVENTS,
            default_depth: M::DEFAULT_DEPTH,
            check: M::check,
            build: |config| Box::new(Built { model: M::build(&config), config }),
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

/// A model that was built, whatever its type.
pub trait AnyModel {
    /// How it was built.
    fn config(&self) -> &Config;
    /// The names of the properties.
    fn properties(&self) -> Vec<String>;
    /// The names of the ranks, and what they prefer.
    fn ranks(&self) -> Vec<(String, String)>;
    /// Explores the model for the properties of these names.
    fn explore(&self, request: &Request, control: &Control) -> Exploration;
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
    /// Takes a schedule again and returns what its end violates: names of properties, and why.
    fn recheck(&self, schedule: &[Step]) -> Result<Vec<(String, String)>, String>;
    /// The state after a schedule, in words, and what can happen then.
    fn look(&self, schedule: &[Step]) -> Result<Look, String>;
}

/// A state, and what can happen in it.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// The state in words.
    pub state: Vec<Line>,
    /// The steps that are enabled, each in words.
    pub enabled: Vec<(Step, String)>,
    /// What the state violates: names of properties, and why.
    pub violated: Vec<(String, String)>,
}

/// What to explore, and how.
pub struct Request {
    /// The search.
    pub search: Search,
    /// The name of the rank, for best-first search.
    pub rank: Option<String>,
    /// The names of the properties to check.
    pub properties: Vec<String>,
}

struct Built<M> {
    model: M,
    config: Config,
}

impl<M: Model> Built<M> {
    /// Does something with a request, in the engine's terms.
    fn with_task<R>(&self, request: &Request, explore: impl FnOnce(&Task<'_, M>) -> R) -> R {
        let mut properties = self.model.properties();
        properties.retain(|property| request.properties.contains(&property.name));
        let ranks = self.model.ranks();
        let rank = ranks.iter().find(|rank| Some(&rank.name) == request.rank.as_ref());
        let search = &request.search;
        explore(&Task { system: &self.model, properties: &properties, rank, search })
    }
}

impl<M: Model> AnyModel for Built<M> {
    fn config(&self) -> &Config {
        &self.config
    }

    fn properties(&self) -> Vec<String> {
        self.model.properties().into_iter().map(|property| property.name).collect()
    }

    fn ranks(&self) -> Vec<(String, String)> {
        self.model.ranks().into_iter().map(|rank| (rank.name, rank.about)).collect()
    }

    fn explore(&self, request: &Request, control: &Control) -> Exploration {
        self.with_task(request, |task| explore(task, control))
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
        let look = |state: &M::State, fingerprint, next: Option<Step>| {
            let text = next.map(|step| self.model.describe_step(state, step));
            Seen {
                lines: self.model.describe_state(state),
                fingerprint: format!("{fingerprint}"),
                text,
            }
        };
        let replayed =
            replay(&self.model, &found.schedule, look).map_err(|error| error.to_string())?;
        let mut states = replayed.seen.into_iter();
        let mut before = states.next().ok_or("the replay saw no state")?;
        let (initial, initial_fingerprint) = (before.lines, before.fingerprint);
        let mut steps = Vec::new();
        for &step in &found.schedule {
            let text = before.text.take().unwrap_or_default();
            let after = states.next();
            steps.push(TraceStep {
                step,
                actor: self.model.actor(step.actor),
                event: M::EVENTS[step.event as usize].name.into(),
                text,
                state: after.as_ref().map_or(Vec::new(), |seen| seen.lines.clone()),
                fingerprint: after.as_ref().map(|seen| seen.fingerprint.clone()),
                ..TraceStep::default()
            });
            before = after.unwrap_or_default();
        }
        Ok(Trace {
            target: Target::Model { name: M::NAME.into(), config: self.config.clone() },
            search,
            violation: Violation {
                property: found.property.clone(),
                message: found.message.clone(),
                ..Violation::default()
            },
            initial,
            initial_fingerprint,
            steps,
            ..Trace::default()
        })
    }

    fn look(&self, schedule: &[Step]) -> Result<Look, String> {
        let properties = self.model.properties();
        let mut found = Look::default();
        let look = |state: &M::State, _, next: Option<Step>| {
            if next.is_none() {
                let mut enabled = Vec::new();
                self.model.enabled(state, &mut enabled);
                let event = |step: &Step| M::EVENTS[usize::from(step.event)].name;
                let words = |step: Step| {
                    let (event, actor) = (event(&step), self.model.actor(step.actor));
                    format!("{event} at {actor}: {}", self.model.describe_step(state, step))
                };
                found = Look {
                    state: self.model.describe_state(state),
                    enabled: enabled.into_iter().map(|step| (step, words(step))).collect(),
                    violated: violations(&properties, state),
                };
            }
        };
        let replayed = replay(&self.model, schedule, look).map_err(|error| error.to_string())?;
        found.violated.extend(replayed.panic.map(|message| (PANIC.to_string(), message)));
        Ok(found)
    }

    fn recheck(&self, schedule: &[Step]) -> Result<Vec<(String, String)>, String> {
        let properties = self.model.properties();
        let mut at_end = Vec::new();
        let look = |state: &M::State, _, next: Option<Step>| {
            if next.is_none() {
                at_end = violations(&properties, state);
            }
        };
        let replayed = replay(&self.model, schedule, look).map_err(|error| error.to_string())?;
        at_end.extend(replayed.panic.map(|message| (PANIC.to_string(), message)));
        Ok(at_end)
    }
}

/// The properties that a state violates, and why.
fn violations<T>(properties: &[Property<T>], state: &T) -> Vec<(String, String)> {
    let check = |property: &Property<T>| {
        property.check(state).err().map(|message| (property.name.clone(), message))
    };
    properties.iter().filter_map(check).collect()
}

/// What a replay saw of a state.
#[derive(Default)]
struct Seen {
    lines: Vec<Line>,
    fingerprint: String,
    /// What the next step does, if there is one.
    text: Option<String>,
}
