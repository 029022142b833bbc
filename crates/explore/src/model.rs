//! A system with names, bugs, properties and ranks: what the command line needs of a model.

use crate::graph::Makeup;
use crate::{Fairness, Property, Rank, System};
use everypath_trace::{Config, Line, Step};

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
    /// The features that can be switched on and off.
    const FEATURES: &'static [Feature] = &[];
    /// The numeric parameters that can be set.
    const PARAMETERS: &'static [Parameter] = &[];
    /// The events, in the order of their numbers in [`Step::event`].
    const EVENTS: &'static [EventKind];
    /// The depth bound when none is given; `None` explores to the end.
    const DEFAULT_DEPTH: Option<u32> = None;

    /// The links of a network of so many nodes if none are asked for; `None` leaves them to
    /// [`Model::build`].
    fn default_links(_nodes: u32) -> Option<Vec<(u16, u16)>> {
        None
    }

    /// Builds the model. The number of nodes is within [`Model::NODES`], the bugs and features are
    /// all among [`Model::BUGS`] and [`Model::FEATURES`], links are between different nodes and
    /// each is there once, and [`Model::check`] has not objected.
    fn build(config: &Config) -> Self;

    /// Says why the model cannot be built like this, if so. A model without a network has neither
    /// links to choose nor packets to duplicate.
    fn check(config: &Config) -> Result<(), String> {
        if config.links.is_some() {
            return Err("it has no network, so its topology cannot be chosen".into());
        }
        if config.duplicate {
            return Err("it has no network, so no packets can be duplicated".into());
        }
        if !config.faults.is_empty() {
            return Err("it has no network, so it has no faults".into());
        }
        if config.identical {
            return Err("it has no network, so no packets are identical".into());
        }
        Ok(())
    }

    /// The properties, in the order in which they are checked.
    fn properties(&self) -> Vec<Property<Self::State>>;

    /// Which executions the properties of infinite executions are asked of, unless others are asked
    /// for: the numbers of the events that are fair.
    fn fairness(&self) -> Fairness {
        Fairness::default()
    }

    /// Whether an execution may end in a state in which nothing is enabled. If not, it is a deadlock
    /// where deadlocks are looked for.
    fn may_end(&self, _state: &Self::State) -> bool {
        false
    }

    /// Whether an event can ever happen in a model that was built like this one. If one can that never
    /// does, a person is told.
    fn is_possible(&self, _event: u16) -> bool {
        true
    }

    /// Whether an event is of the network alone, which no program notices: that a packet is lost, say.
    /// It need not be in the log of a program.
    fn is_unobserved(&self, _event: u16) -> bool {
        false
    }

    /// What the model is made of, so that the graph of one version can be used for the next. A
    /// model that does not say cannot be explored incrementally.
    ///
    /// The properties themselves are part of it; which of them are checked is added by others.
    fn makeup(&self) -> Option<Makeup> {
        None
    }

    /// The actors that are alike, in ascending order: exchanging any two of them changes neither what
    /// can happen nor what is violated. An error says why there are none.
    fn symmetric(&self) -> Result<Vec<u16>, String> {
        Err("it does not say which of its actors are alike".into())
    }

    /// Exchanges two actors that are alike.
    fn exchange(&self, _state: &mut Self::State, _a: u16, _b: u16) {}

    /// Makes a state the one that stands for all that differ from it by exchanges of actors.
    fn representative(&self, _state: &mut Self::State) {}

    /// Whether steps of different actors commute if [`Model::letter`] names them. An error says why not.
    fn commuting(&self) -> Result<(), String> {
        Err("it does not say which of its steps commute".into())
    }

    /// What names a step, in whichever state its actor takes it: by its name a step that stays enabled
    /// is found again in later states, and equal names lead from a state to the same one. A step that
    /// may not commute with those of other actors has no name.
    fn letter(&self, _state: &Self::State, _step: Step) -> Option<u128> {
        None
    }

    /// The ranks for best-first search; the first is the default.
    fn ranks(&self) -> Vec<Rank<Self::State>> {
        Vec::new()
    }

    /// The name of an actor.
    fn actor(&self, actor: u16) -> String {
        format!("node {actor}")
    }

    /// The description of a step, taken in the state before it.
    fn describe_step(&self, before: &Self::State, step: Step) -> String;

    /// The description of a state, a line for each part of the system.
    fn describe_state(&self, state: &Self::State) -> Vec<Line>;

    /// What is in flight in the initial state.
    fn in_flight(&self, _initial: &Self::State) -> Vec<Packet> {
        Vec::new()
    }

    /// What a step does to the packets in flight.
    fn transit(&self, _before: &Self::State, _step: Step, _after: &Self::State) -> Transit {
        Transit::default()
    }
}

/// A packet in flight, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The actor that sent it.
    pub from: u16,
    /// Its receiver.
    pub to: u16,
    /// What it is.
    pub text: String,
}

/// What a step does to the packets in flight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transit {
    /// A packet that arrives.
    pub arrived: Option<Packet>,
    /// A packet that is in flight once more.
    pub duplicated: Option<Packet>,
    /// Packets that are lost.
    pub lost: Vec<Packet>,
    /// Packets that are sent.
    pub sent: Vec<Packet>,
}

/// How many nodes a model can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeRange {
    /// The fewest.
    pub min: u32,
    /// The most.
    pub max: u32,
    /// The default.
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

/// A part of a model that can be switched on and off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Its name: lower-case words with dashes.
    pub name: &'static str,
    /// One line that says what it does.
    pub about: &'static str,
}

/// A numeric parameter of a model.
///
/// Where a model is built, [`Parameter::of`] has its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name: lower-case words with dashes.
    pub name: &'static str,
    /// One line that says what it does.
    pub about: &'static str,
    /// The least value.
    pub min: i64,
    /// The greatest value.
    pub max: i64,
    /// The value if none is set.
    pub default: i64,
}

impl Parameter {
    /// The value of the parameter.
    pub fn of(&self, config: &Config) -> i64 {
        config.set.get(self.name).copied().unwrap_or(self.default)
    }
}

/// A kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventKind {
    /// Its name: lower-case words with dashes.
    pub name: &'static str,
    /// One line that says what happens.
    pub about: &'static str,
}
