//! The file that `--emit` writes and `--against` reads: all that a program does with others, and
//! which of it is not right.

mod event;

use crate::error::CheckError;
use event::{Bytes, Happened, Place};
use everypath_native::histories::Script;
use everypath_native::histories::failures::{Failure, Kind};
use everypath_native::{Finish, JointSetting};
use everypath_report::grouped;
use everypath_trace::Coverage;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// What a file of another kind, or another version, does not have.
const FORMAT: &str = "everypath-behaviours-1";

/// All that a program does with others.
#[derive(Debug, Serialize, Deserialize)]
pub struct FailureFile {
    format: String,
    /// The program, by a name for people, and its command.
    pub(crate) component: String,
    command: String,
    /// The command that is right.
    reference: String,
    /// How many events behaviours may have, if that was bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    pub(crate) failures: Vec<VisibleFailure>,
    behaviours: Vec<Behaviour>,
}

/// The externally visible failures of a program.
#[derive(Clone, Debug, Serialize)]
pub struct Emission {
    /// The program.
    #[serde(skip)]
    pub component: String,
    /// Its failures.
    pub failures: Vec<VisibleFailure>,
    /// Whether it is known what becomes of them.
    #[serde(skip)]
    pub is_judged: bool,
}

impl Emission {
    /// The verdict, in a line.
    pub fn headline(&self, coverage: Coverage) -> String {
        let (kind, component) = (coverage.kind(), &self.component);
        match self.failures.len() as u64 {
            0 => format!("HOLDS ({kind}): {component} shows nothing that is not right"),
            1 => format!("VIOLATED: {component} shows 1 failure ({kind})"),
            count => format!("VIOLATED: {component} shows {} failures ({kind})", grouped(count)),
        }
    }
}

/// A failure of a program that others can see.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VisibleFailure {
    kind: KindName,
    port: Place,
    after: Bytes,
    expected: Bytes,
    shown: Bytes,
    /// The behaviours that show it, by their places.
    behaviours: Vec<usize>,
    /// Whether it makes another program fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub propagates: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KindName {
    WrongData,
    EarlyClose,
    Silence,
}

/// One history.
#[derive(Debug, Serialize, Deserialize)]
struct Behaviour {
    end: EndName,
    /// Whether it was seen to happen together with what others do.
    happens: bool,
    events: Vec<Happened>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum EndName {
    Ended,
    Waiting,
    Cut,
}

/// What a file is about.
pub(crate) struct About<'a> {
    /// The names of all programs, the listed one first.
    pub(crate) names: &'a [String],
    pub(crate) command: String,
    pub(crate) reference: String,
    pub(crate) coverage: Coverage,
}

impl FailureFile {
    /// All histories of a program, each with whether it happens, and what is wrong with those.
    pub(crate) fn new<'f>(
        about: &About<'_>,
        shown: &[(Script, bool)],
        failures: impl Iterator<Item = (&'f Failure, Vec<usize>)>,
    ) -> Self {
        let behaviour = |(script, happens): &(Script, bool)| Behaviour {
            end: match Finish::of(script.end) {
                Finish::Ended => EndName::Ended,
                Finish::Waiting => EndName::Waiting,
                Finish::Cut => EndName::Cut,
            },
            happens: *happens,
            events: script.events.iter().map(|event| Happened::new(event, about.names)).collect(),
        };
        FailureFile {
            format: FORMAT.into(),
            component: about.names[0].clone(),
            command: about.command.clone(),
            reference: about.reference.clone(),
            depth: match about.coverage {
                Coverage::Bounded { depth } => Some(depth),
                _ => None,
            },
            failures: failures
                .map(|(failure, behaviours)| VisibleFailure::new(failure, behaviours))
                .collect(),
            behaviours: shown.iter().map(behaviour).collect(),
        }
    }

    /// The file's content.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec_pretty(self).expect("it has string keys");
        json.push(b'\n');
        json
    }

    /// How many events behaviours may have, if that was bounded.
    pub(crate) fn bound(&self) -> Option<u32> {
        self.depth
    }

    /// Reads a file that was written so.
    pub(crate) fn read(path: &Path) -> Result<Self, CheckError> {
        let wrong = |why: &dyn std::fmt::Display| {
            CheckError::options(format!(
                "--against {}: {why}; expected a file that --emit wrote",
                path.display()
            ))
        };
        let bytes = fs::read(path).map_err(|error| {
            CheckError::options(format!("--against {}: {error}", path.display()))
        })?;
        FailureFile::from_bytes(&bytes).map_err(|why| wrong(&why))
    }

    /// Reads what [`FailureFile::to_bytes`] wrote; or why it is no such file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let file: FailureFile = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if file.format != FORMAT {
            return Err(format!("it has the format {}", file.format));
        }
        let ends = |behaviour: &Behaviour| {
            let events = behaviour.events.iter().zip(0..);
            events.into_iter().all(|(event, at)| event.past.iter().all(|&before| before < at))
        };
        if !file.behaviours.iter().all(ends) {
            return Err("an event names one that does not come before it".into());
        }
        Ok(file)
    }

    /// The program that was listed, for a search of programs with these names.
    pub(crate) fn environment(&self, names: &[String]) -> Result<JointSetting, CheckError> {
        let others = self.behaviours.iter().flat_map(|behaviour| &behaviour.events);
        let others = others.flat_map(Happened::connections).map(|link| &link.program);
        let mut unknown: Vec<&String> =
            others.filter(|&name| *name != self.component && !names.contains(name)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        let side = |name: &String| match names.iter().position(|known| known == name) {
            _ if *name == self.component => Ok(names.len()),
            Some(known) => Ok(known),
            // Whoever takes the place of a program that is not there.
            None if unknown.len() == 1 => Ok(0),
            None => Err(CheckError::options(format!(
                "--against: {} was listed together with {name}, which is not there; add it by \
                 --with",
                self.component
            ))),
        };
        let script = |behaviour: &Behaviour| {
            let event = |event: &Happened| event.to_event(side);
            let events = behaviour.events.iter().map(event).collect::<Result<_, CheckError>>()?;
            let end = match behaviour.end {
                EndName::Ended => Finish::Ended,
                EndName::Waiting => Finish::Waiting,
                EndName::Cut => Finish::Cut,
            };
            Ok(Script { events, end: end.to_word() })
        };
        let scripts = self.behaviours.iter().map(script).collect::<Result<_, CheckError>>()?;
        Ok(JointSetting { name: self.component.clone(), scripts })
    }

    /// The failures, and whether each is among behaviours that something is wrong with.
    pub(crate) fn judged(&self, is_wrong: impl Fn(usize) -> bool) -> Vec<VisibleFailure> {
        let judged = |told: &VisibleFailure| {
            let propagates = told.behaviours.iter().any(|&behaviour| is_wrong(behaviour));
            VisibleFailure { propagates: Some(propagates), ..told.clone() }
        };
        self.failures.iter().map(judged).collect()
    }
}

impl VisibleFailure {
    fn new(failure: &Failure, behaviours: Vec<usize>) -> Self {
        let Failure { port, kind, after, expected, shown } = failure.clone();
        let kind = match kind {
            Kind::WrongData => KindName::WrongData,
            Kind::EarlyClose => KindName::EarlyClose,
            Kind::Silence => KindName::Silence,
        };
        let (after, expected, shown) = (Bytes(after), Bytes(expected), Bytes(shown));
        VisibleFailure {
            kind,
            port: port.into(),
            after,
            expected,
            shown,
            behaviours,
            propagates: None,
        }
    }

    /// The failure in words.
    pub fn text(&self) -> String {
        let quoted = |Bytes(bytes): &Bytes| format!("\"{}\"", bytes.escape_ascii());
        let expected = match self.expected.0.is_empty() {
            true if self.kind == KindName::WrongData => "nothing".into(),
            true => "more".into(),
            false => quoted(&self.expected),
        };
        let what = match self.kind {
            KindName::WrongData => {
                format!("wrong data, {} instead of {expected}", quoted(&self.shown))
            }
            KindName::EarlyClose => format!("early close instead of {expected}"),
            KindName::Silence => format!("silence instead of {expected}"),
        };
        let after = match self.after.0.is_empty() {
            true => String::new(),
            false => format!(" after {}", quoted(&self.after)),
        };
        format!("{}{after}: {what}", self.port.to_port())
    }
}
