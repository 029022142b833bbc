//! Logs of programs and simulations, compared with a model.

use crate::catalog::Entry;
use everypath_explore::{AnyModel, LogEntry, Possible, Validated};
use everypath_report::grouped;
use serde_json::Value;
use std::fmt;

/// How many states are followed at a time along a log.
const MOST_STATES: usize = 100_000;

/// An event as a log names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Logged {
    event: String,
    actor: Option<String>,
    received: Option<String>,
    sent: Option<Vec<String>>,
}

impl fmt::Display for Logged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.event)?;
        self.actor.iter().try_for_each(|actor| write!(f, " at {actor}"))?;
        self.received.iter().try_for_each(|packet| write!(f, ", receives {packet}"))?;
        match &self.sent {
            None => Ok(()),
            Some(packets) if packets.is_empty() => write!(f, ", sends nothing"),
            Some(packets) => write!(f, ", sends {}", packets.join(" and ")),
        }
    }
}

/// Reads a log: a JSON object on each line, or a file in the Informal Trace Format.
pub(crate) fn read(text: &str) -> Result<Vec<Logged>, String> {
    if let Ok(Value::Object(file)) = serde_json::from_str(text)
        && let Some(states) = file.get("states").and_then(Value::as_array)
    {
        // The first state is the initial one, to which no action led.
        return states.iter().skip(1).map(|state| one(state, "action")).collect();
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| line_of(line).map_err(|why| format!("line {}: {why}", number + 1)))
        .collect()
}

/// Reads an event from one line.
pub(crate) fn line_of(line: &str) -> Result<Logged, String> {
    let value: Value =
        serde_json::from_str(line).map_err(|error| format!("it is no JSON object: {error}"))?;
    one(&value, "event")
}

fn one(value: &Value, key: &str) -> Result<Logged, String> {
    let event = value.get(key).and_then(Value::as_str).ok_or(format!("it has no \"{key}\""))?;
    let word = |name: &str, word: &Value| match word {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(format!("its \"{name}\" is neither a text nor a number: {other}")),
    };
    let words = |name: &str| match value.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(one) => word(name, one).map(Some),
    };
    let sent = match value.get("sent") {
        None | Some(Value::Null) => None,
        Some(Value::Array(packets)) => {
            Some(packets.iter().map(|packet| word("sent", packet)).collect::<Result<_, _>>()?)
        }
        Some(one) => Some(vec![word("sent", one)?]),
    };
    Ok(Logged {
        event: event.into(),
        actor: words("actor")?.filter(|name| !name.is_empty()),
        received: words("received")?,
        sent,
    })
}

/// A model that logs are compared with.
pub(crate) struct Comparison<'a> {
    pub(crate) entry: &'a Entry,
    pub(crate) model: &'a dyn AnyModel,
    /// The events that need not be in a log, besides those of the network if no log entry is of one.
    pub(crate) hidden: Vec<u16>,
}

/// What a comparison shows.
pub(crate) enum Judged {
    /// The log is a path of the model.
    Path,
    /// No path has the entry of this number, counted from 1.
    Refused { number: usize, entry: String, possible: Vec<String> },
    /// It cannot be told, and why.
    TooMany(String),
}

impl Comparison<'_> {
    /// Whether a log is a path of the model. An error says what is wrong with the log, or that the model
    /// panics.
    pub(crate) fn judge(&self, log: &[Logged]) -> Result<Judged, String> {
        let entries = (1..).zip(log).map(|(number, logged)| {
            self.resolve(logged).map_err(|why| format!("entry {number}: {why}"))
        });
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        let hidden = self.hidden_in(&entries);
        Ok(match self.model.validate(&entries, &hidden, MOST_STATES)? {
            Validated::Path(_) => Judged::Path,
            Validated::Refused(at, possible) => Judged::Refused {
                number: at + 1,
                entry: log[at].to_string(),
                possible: possible
                    .into_iter()
                    .filter(|possible| !hidden.contains(&possible.step.event))
                    .map(|possible| self.describe(possible))
                    .collect(),
            },
            Validated::TooMany(at) => Judged::TooMany(format!(
                "at entry {} of the log, {} may be in more than {} states; log more, hide fewer events, \
                 or bound faults (--faults)",
                at + 1,
                self.entry.kind.name,
                grouped(MOST_STATES as u64)
            )),
        })
    }

    /// The events that may happen without an entry: what the network does is not logged by programs, and
    /// is by simulations.
    fn hidden_in(&self, log: &[LogEntry]) -> Vec<u16> {
        let unobserved = |event: &u16| self.model.is_unobserved(*event);
        let logs_network = log.iter().any(|entry| unobserved(&entry.event));
        let events = 0..self.entry.kind.events.len() as u16;
        let network = events.filter(unobserved).filter(|_| !logs_network);
        self.hidden.iter().copied().chain(network).collect()
    }

    fn resolve(&self, logged: &Logged) -> Result<LogEntry, String> {
        let event = self.entry.event(&logged.event).map_err(|error| error.to_string())?;
        let actor = logged.actor.as_ref().map(|actor| self.find_actor(actor)).transpose()?;
        let Logged { received, sent, .. } = logged.clone();
        Ok(LogEntry { event, actor, received, sent })
    }

    /// The number of an actor that a log names.
    fn find_actor(&self, actor: &str) -> Result<u16, String> {
        let nodes = self.model.config().nodes.max(1) as u16;
        let by_number = actor.parse().ok().filter(|number| *number < nodes);
        by_number
            .or_else(|| (0..nodes).find(|&number| self.model.actor(number) == actor))
            .ok_or_else(|| {
                let names: Vec<String> =
                    (0..nodes).map(|number| self.model.actor(number)).collect();
                format!("there is no actor {actor}; there are: {}", names.join(", "))
            })
    }

    fn describe(&self, Possible { step, received, sent }: Possible) -> String {
        let event = self.entry.kind.events[usize::from(step.event)].name.into();
        let actor = Some(self.model.actor(step.actor));
        let sent = Some(sent).filter(|sent| received.is_some() || !sent.is_empty());
        Logged { event, actor, received, sent }.to_string()
    }
}
