//! The models that a command line offers.

use crate::network::check_links;
use crate::simulated::Simulated;
use crate::suggest;
use crate::usage::Usage;
use everypath_explore::graph::Makeup;
use everypath_explore::{
    Bug, Config, Control, EventKind, Exploration, Feature, Found, Incremental, Incremented, Line,
    Model, NodeRange, PANIC, Property, Search, Task, explore, explore_incrementally, replay,
};
use everypath_net::{Network, Scenario, Traffic};
use everypath_protocols::{Aodv, Arq, Diffusion};
use everypath_trace::{SearchRecord, Step, Target, Trace, TraceStep, Violation};

/// The models to choose from.
#[derive(Default)]
pub struct Catalog {
    entries: Vec<Entry>,
}

impl Catalog {
    /// The case studies that come with Everypath.
    pub fn built_in() -> Self {
        Catalog::default().simulated::<Arq>().simulated::<Aodv>().simulated::<Diffusion>()
    }

    /// A catalog of one model.
    pub fn of<M: Model + 'static>() -> Self {
        Catalog::default().with::<M>()
    }

    /// Adds a model.
    #[must_use]
    pub fn with<M: Model + 'static>(mut self) -> Self {
        self.entries.push(Entry {
            name: M::NAME,
            about: M::ABOUT,
            nodes: M::NODES,
            bugs: M::BUGS,
            features: M::FEATURES,
            events: M::EVENTS,
            default_depth: M::DEFAULT_DEPTH,
            check: M::check,
            build: |config| Box::new(Built { model: M::build(&config), config }),
            simulated: None,
        });
        self
    }

    /// Adds a protocol that can be explored and simulated.
    #[must_use]
    pub fn simulated<P: Scenario + Traffic + 'static>(mut self) -> Self {
        self = self.with::<Network<P>>();
        self.entries.last_mut().expect("one was just added").simulated = Some(Simulated::of::<P>());
        self
    }

    /// Whether there is any model that can be simulated.
    pub(crate) fn simulates(&self) -> bool {
        self.entries.iter().any(|entry| entry.simulated.is_some())
    }

    /// The model of this name, and its simulation.
    pub(crate) fn find_simulated(&self, name: &str) -> Result<(&Entry, Simulated), Usage> {
        let entry = self.find(name)?;
        let able = self.entries.iter().filter(|entry| entry.simulated.is_some());
        let able: Vec<&str> = able.map(|entry| entry.name).collect();
        let choice = if able.is_empty() {
            String::new()
        } else {
            format!("; choose from: {}", able.join(", "))
        };
        let unable = || Usage::new(format!("{name} can be explored but not simulated{choice}"));
        Ok((entry, entry.simulated.ok_or_else(unable)?))
    }

    /// The model of this name.
    pub(crate) fn find(&self, name: &str) -> Result<&Entry, Usage> {
        let names = self.entries.iter().map(|entry| entry.name);
        Ok(&self.entries[suggest::find("model", name, names)?])
    }

    /// The models with their bugs and features, a line each, for the help text.
    pub(crate) fn overview(&self) -> String {
        let mut lines = String::from("Models:\n");
        for entry in &self.entries {
            lines += &format!("  {:<16} {}\n", entry.name, entry.about);
            for bug in entry.bugs {
                lines += &format!("    --bug {:<14} {}\n", bug.name, bug.about);
            }
            for feature in entry.features {
                lines += &format!("    --feature {:<10} {}\n", feature.name, feature.about);
            }
        }
        lines
    }
}

/// What is known of a model before it is built.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    about: &'static str,
    pub(crate) nodes: NodeRange,
    bugs: &'static [Bug],
    features: &'static [Feature],
    pub(crate) events: &'static [EventKind],
    pub(crate) default_depth: Option<u32>,
    check: fn(&Config) -> Result<(), String>,
    build: fn(Config) -> Box<dyn Explorable>,
    simulated: Option<Simulated>,
}

impl Entry {
    /// Builds the model, after checking the request.
    pub(crate) fn build(&self, mut config: Config) -> Result<Box<dyn Explorable>, Usage> {
        self.check_nodes("the number of nodes is", config.nodes, self.nodes)?;
        config.bugs = self.bugs(&config.bugs)?;
        config.features = self.features(config.features.as_deref())?;
        if let Some(links) = &config.links {
            check_links(config.nodes, links)?;
        }
        match (self.check)(&config) {
            Ok(()) => Ok((self.build)(config)),
            Err(why) => Err(Usage::new(format!("{} cannot be explored so: {why}", self.name))),
        }
    }

    /// Checks a number of nodes, and where it comes from.
    pub(crate) fn check_nodes(
        &self,
        origin: &str,
        nodes: u32,
        range: NodeRange,
    ) -> Result<(), Usage> {
        let NodeRange { min, max, .. } = range;
        if (min..=max).contains(&nodes) {
            return Ok(());
        }
        let range = if min == max { format!("{min}") } else { format!("{min} to {max}") };
        let name = self.name;
        Err(Usage::new(format!("{origin} {nodes}: {name} has {range} nodes")))
    }

    /// The bugs of these names, in their own order, each once.
    pub(crate) fn bugs(&self, names: &[String]) -> Result<Vec<String>, Usage> {
        let known: Vec<&str> = self.bugs.iter().map(|bug| bug.name).collect();
        choose(&format!("bug of {}", self.name), names, &known)
    }

    /// The features of these names, in their own order, each once.
    pub(crate) fn features(&self, names: Option<&[String]>) -> Result<Option<Vec<String>>, Usage> {
        let known: Vec<&str> = self.features.iter().map(|feature| feature.name).collect();
        let choose = |names| choose(&format!("feature of {}", self.name), names, &known);
        names.map(choose).transpose()
    }

    /// The number of the event of this name.
    pub(crate) fn event(&self, name: &str) -> Result<u16, Usage> {
        let what = format!("event of {}", self.name);
        suggest::find(&what, name, self.events.iter().map(|event| event.name)).map(|at| at as u16)
    }
}

/// The `known` ones of these names, in the order in which they are known, each once.
fn choose(what: &str, names: &[String], known: &[&str]) -> Result<Vec<String>, Usage> {
    let find = |name: &String| suggest::find(what, name, known.iter().copied());
    let mut chosen = names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen.into_iter().map(|at| known[at].into()).collect())
}

/// A model that was built, whatever its type.
pub(crate) trait Explorable {
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
    /// Explores the model as [`Explorable::explore`] does, with what is left of earlier searches.
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
}

/// What to explore, and how.
pub(crate) struct Request {
    pub(crate) search: Search,
    pub(crate) rank: Option<String>,
    pub(crate) properties: Vec<String>,
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

impl<M: Model> Explorable for Built<M> {
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
                preempts: false,
            });
            before = after.unwrap_or_default();
        }
        Ok(Trace {
            target: Target::Model { name: M::NAME.into(), config: self.config.clone() },
            search,
            violation: Violation {
                property: found.property.clone(),
                message: found.message.clone(),
            },
            initial,
            initial_fingerprint,
            steps,
            explanation: None,
            messages: Vec::new(),
        })
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
