//! A schedule plus what became visible.

use crate::{CheckConfig, Excerpt, Frame, Message, Place, Span, Step};
use std::collections::BTreeMap;

/// A recorded counterexample: everything a report or a replay needs.
///
/// A trace holds no times, paths or machine names, so the same search writes the same bytes on
/// every machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct Trace {
    /// What was explored.
    pub target: Target,
    /// How it was explored.
    pub search: SearchRecord,
    /// What the last state (or the last step) violates.
    pub violation: Violation,
    /// The initial state in words.
    pub initial: Vec<Line>,
    /// Fingerprint of the initial state's canonical bytes, in hexadecimal.
    pub initial_fingerprint: String,
    /// The steps in order.
    pub steps: Vec<TraceStep>,
    /// Why it came to this, if that is known: of native programs.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Option::is_none"))]
    pub explanation: Option<Explanation>,
    /// What was sent from one party to another, in the order of sending.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub messages: Vec<Message>,
    /// Lock holds and waits, by where they begin.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub spans: Vec<Span>,
    /// Excerpts of the sources that stacks name, as far as they could be read.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub sources: Vec<Excerpt>,
    /// What the violation, or its absence, rests on.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub assumptions: Vec<Assumption>,
    /// The schedule that the search found, if `steps` is a minimised one.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub found: Vec<FoundStep>,
    /// The number of a step, counted from 1: it and all that come after it can be repeated for ever.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Option::is_none"))]
    pub repeats_from: Option<usize>,
}

/// One step of the schedule that the search found, before that was minimised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct FoundStep {
    /// The step itself.
    pub step: Step,
    /// The actor's name.
    pub actor: String,
    /// What happens, in words.
    pub text: String,
    /// Whether the actor of the step before could have gone on instead.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub preempts: bool,
}

/// Something that a verdict takes for granted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct Assumption {
    /// A short name that scripts can rely on.
    pub id: String,
    /// A sentence.
    pub text: String,
}

/// Which step decided, and against which other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct Explanation {
    /// The number of the step after which every execution fails, counted from 1; 0 if every
    /// execution does from the start.
    pub critical_step: usize,
    /// Whether some execution that begins with the steps before it does not fail. If not, an
    /// earlier step may be the critical one.
    pub exact: bool,
    /// The critical step, and the one that comes before it where all ends well; or nothing.
    pub race: Vec<RacingStep>,
}

/// One of two steps whose order decides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct RacingStep {
    /// Its number in the trace, counted from 1; absent if it is not taken there.
    pub number: Option<usize>,
    /// The actor's name.
    pub actor: String,
    /// What happens, in words.
    pub text: String,
    /// Where in the program, innermost frame first.
    pub stack: Vec<String>,
}

/// What was explored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(tag = "kind", rename_all = "lowercase"))]
pub enum Target {
    /// A protocol model.
    Model {
        /// The model's name.
        name: String,
        /// How it was built.
        #[cfg_attr(feature = "file", serde(flatten))]
        config: Config,
    },
    /// A native program.
    Native {
        /// 128 bits of XXH3 of the program's file, in hexadecimal.
        hash: String,
        /// What programs that were explored one by one did to it, a line for each answer.
        #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Vec::is_empty"))]
        script: Vec<String>,
        /// The memory accesses that were scheduling points: module, `+`, address in hexadecimal.
        #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Vec::is_empty"))]
        armed: Vec<String>,
        /// The check that found it: enough to repeat it.
        #[cfg_attr(feature = "file", serde(serialize_with = "crate::check_config::sparse"))]
        config: Box<CheckConfig>,
    },
    /// A native program, in a trace of format version 1 or 2, which did not contain the configuration
    /// of the check: it can be shown, but not replayed.
    Unconfigured {
        /// Where the program was.
        program: String,
    },
}

/// How a model is built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
pub struct Config {
    /// How many nodes.
    pub nodes: u32,
    /// Which bugs are switched on, in the order of the model's own list.
    pub bugs: Vec<String>,
    /// Which features are switched on, in the order of the model's own list; `None` leaves the
    /// choice to the model.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Option::is_none"))]
    pub features: Option<Vec<String>>,
    /// The links of the network, the smaller node first; `None` leaves them to the model. They
    /// stand here whatever they were made from, so that a trace needs no other file.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Option::is_none"))]
    pub links: Option<Vec<(u16, u16)>>,
    /// Whether packets may be duplicated in flight.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub duplicate: bool,
    /// The numeric parameters that were set, by name.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "BTreeMap::is_empty"))]
    pub set: BTreeMap<String, i64>,
    /// How often each fault may happen in an execution, by name.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "BTreeMap::is_empty"))]
    pub faults: BTreeMap<String, u32>,
    /// Whether an event happens once for packets that are identical.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub identical: bool,
}

impl Default for Target {
    fn default() -> Self {
        Target::Unconfigured { program: String::new() }
    }
}

impl Trace {
    /// Whether it is of an execution that violates nothing: an example of what a program or a model
    /// does. Then the name of the violated property is empty.
    pub fn is_passing(&self) -> bool {
        self.violation.property.is_empty()
    }

    /// How many steps are of another actor than the one before.
    pub fn switches(&self) -> usize {
        self.steps.windows(2).filter(|pair| pair[0].step.actor != pair[1].step.actor).count()
    }

    /// How many of them come although the actor of the step before could have gone on.
    pub fn preemptions(&self) -> usize {
        self.steps.iter().filter(|step| step.preempts).count()
    }
}

impl Config {
    /// So many nodes, and nothing else out of the ordinary.
    pub fn new(nodes: u32) -> Self {
        Config { nodes, ..Config::default() }
    }

    /// Whether a bug is switched on.
    pub fn has(&self, bug: &str) -> bool {
        self.bugs.iter().any(|name| name == bug)
    }
}

/// How a trace was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct SearchRecord {
    /// The name of the strategy.
    pub strategy: String,
    /// When duplicates were removed: `next` or `current`.
    pub add: String,
    /// How visited states were recognised.
    pub visited: String,
    /// The depth bound, if there was one.
    pub max_depth: Option<u32>,
    /// The generator and seed of the shuffle, if events were shuffled.
    pub shuffle: Option<ShuffleRecord>,
    /// The name of the rank, in best-first search.
    pub rank: Option<String>,
    /// The event that every counterexample had to contain.
    pub must_contain: Option<String>,
    /// The events that were switched off.
    pub disabled: Vec<String>,
    /// The events that were assumed to be weakly fair.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub weakly_fair: Vec<String>,
    /// The events that were assumed to be strongly fair.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub strongly_fair: Vec<String>,
}

/// The generator behind a shuffle; its name pins its output on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct ShuffleRecord {
    /// The generator's name.
    pub generator: String,
    /// Its seed.
    pub seed: u64,
}

/// What was violated, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct Violation {
    /// The property's name.
    pub property: String,
    /// Why the state violates it.
    pub message: String,
    /// Where the actors are that take part in it: both of a data race, all that are blocked in a
    /// deadlock, the one that crashed.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub places: Vec<Place>,
}

/// One step and the state it leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct TraceStep {
    /// The step itself, enough to repeat it.
    pub step: Step,
    /// The actor's name.
    pub actor: String,
    /// The event's name.
    pub event: String,
    /// What happens, in words.
    pub text: String,
    /// The state after the step; empty if the step never completed.
    pub state: Vec<Line>,
    /// Fingerprint of that state's canonical bytes; absent if the step never completed.
    pub fingerprint: Option<String>,
    /// Whether the actor of the step before could have gone on instead: of native programs.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub preempts: bool,
    /// What the step works on, such as `mutex forks[1]`.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Option::is_none"))]
    pub object: Option<String>,
    /// Where in the program, innermost frame first.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub stack: Vec<Frame>,
    /// The steps of other actors that happen before this one, counted from 1, without those that
    /// follow from others.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub after: Vec<usize>,
    /// The name of the fault that was injected in this step.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Option::is_none"))]
    pub fault: Option<String>,
    /// Whether a time-out fired in this step.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub timeout: bool,
    /// Whether a library or the runtime of the language took it on the way to something else: of native
    /// programs.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub runtime: bool,
}

/// One line of a state in words: whose part of the state, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct Line {
    /// A node, the network, or another part of the system.
    pub part: String,
    /// Its contents.
    pub text: String,
}

impl Line {
    /// A line that says `text` of `part`.
    pub fn new(part: impl Into<String>, text: impl Into<String>) -> Self {
        Line { part: part.into(), text: text.into() }
    }
}
