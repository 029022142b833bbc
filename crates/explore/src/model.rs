//! A system with names: what a person needs to build, choose and understand it.

use crate::{Property, Rank, System};
use everypath_trace::{Line, Step};

/// A protocol model that the command line can build, explore and explain.
///
/// Implement [`System`] for what the model does and this trait for how people refer to it.
pub trait Model: System + Sized {
    /// The name on the command line.
    const NAME: &'static str;
    /// One line that says what it models.
    const ABOUT: &'static str;
    /// How many nodes it can be built with.
    const NODES: NodeRange;
    /// The bugs that can be switched on.
    const BUGS: &'static [Bug] = &[];
    /// The events, in the order of their numbers in [`Step::event`].
    const EVENTS: &'static [EventKind];
    /// The depth bound when none is given; `None` explores to the end.
    const DEFAULT_DEPTH: Option<u32> = None;

    /// Builds the model. The number of nodes is within [`Model::NODES`] and the bugs are all
    /// among [`Model::BUGS`].
    fn build(config: &Config) -> Self;

    /// The properties, in the order in which they are checked.
    fn properties(&self) -> Vec<Property<Self::State>>;

    /// The ranks for best-first search; the first is the default.
    fn ranks(&self) -> Vec<Rank<Self::State>> {
        Vec::new()
    }

    /// The name of an actor.
    fn actor(&self, actor: u16) -> String {
        format!("node {actor}")
    }

    /// What a step does in the state before it, in words.
    fn describe_step(&self, before: &Self::State, step: Step) -> String;

    /// A state in words, a line for each part of the system.
    fn describe_state(&self, state: &Self::State) -> Vec<Line>;
}

/// How many nodes a model can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeRange {
    /// The fewest.
    pub min: u32,
    /// The most.
    pub max: u32,
    /// How many when nobody says.
    pub default: u32,
}

impl NodeRange {
    /// Always exactly `count` nodes.
    pub const fn exactly(count: u32) -> Self {
        NodeRange { min: count, max: count, default: count }
    }
}

/// A bug that can be switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bug {
    /// Its name: lower-case words with dashes.
    pub name: &'static str,
    /// One line that says what is wrong then.
    pub about: &'static str,
}

/// A kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventKind {
    /// Its name: lower-case words with dashes.
    pub name: &'static str,
    /// One line that says what happens.
    pub about: &'static str,
}

/// How a model is to be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// How many nodes.
    pub nodes: u32,
    /// Which bugs, in the order of [`Model::BUGS`].
    pub bugs: Vec<String>,
}

impl Config {
    /// Whether a bug is switched on.
    pub fn has(&self, bug: &str) -> bool {
        self.bugs.iter().any(|name| name == bug)
    }
}
