//! The file that `--emit` writes and `--against` reads: all that a program does with others, and
//! which of it is not right.

use crate::usage::Usage;
use everypath_native::histories::failures::{Failure, Kind};
use everypath_native::histories::{
    Act, Answer, Event, Link, Port, Readiness, Request, Script, Watched,
};
use everypath_native::{Finish, JointSetting};
use everypath_trace::Coverage;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// What a file of another kind, or another version, does not have.
const FORMAT: &str = "everypath-behaviours-1";

/// All that a program does with others.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Listing {
    format: String,
    /// The program, by a name for people, and its command.
    pub(super) component: String,
    command: String,
    /// The command that is right.
    reference: String,
    /// How many events behaviours may have, if that was bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    pub(super) failures: Vec<Told>,
    behaviours: Vec<Behaviour>,
}

/// What is shown to others that is not right.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Told {
    kind: KindName,
    port: Place,
    after: Bytes,
    expected: Bytes,
    shown: Bytes,
    /// The behaviours that show it, by their places.
    behaviours: Vec<usize>,
    /// Whether it makes another program fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) propagates: Option<bool>,
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

#[derive(Debug, Serialize, Deserialize)]
struct Happened {
    thread: u64,
    /// The events of this behaviour that come before, by their places.
    past: Vec<u32>,
    request: Asked,
    answer: Answered,
}

/// A connection: who made it, and which of its maker's it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Connection {
    program: String,
    port: Place,
    maker: u64,
    which: u64,
}

/// Where programs find each other: a port, or a name of the Unix family, a character a byte.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Place {
    Port(u16),
    Name(String),
}

impl From<Port> for Place {
    fn from(port: Port) -> Self {
        match port {
            Port::Inet(number) => Place::Port(number),
            Port::Unix(name) => Place::Name(name.iter().map(|&byte| char::from(byte)).collect()),
        }
    }
}

impl Place {
    fn to_port(&self) -> Port {
        match self {
            Place::Port(number) => Port::Inet(*number),
            Place::Name(name) => {
                let byte = |letter: char| u8::try_from(letter).unwrap_or(b'?');
                Port::unix(&name.chars().map(byte).collect::<Vec<u8>>())
            }
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Asked {
    Listen {
        port: Place,
        backlog: usize,
    },
    Unlisten {
        port: Place,
    },
    Connect(Connection),
    Accept {
        port: Place,
        #[serde(default = "always", skip_serializing_if = "is_always")]
        waits: bool,
    },
    Send {
        on: Connection,
        bytes: Bytes,
    },
    Receive {
        on: Connection,
        most: usize,
        #[serde(default = "always", skip_serializing_if = "is_always")]
        waits: bool,
    },
    Look {
        at: Vec<Sought>,
        waits: bool,
    },
    Shut(Connection),
    Close(Connection),
    Break(Connection),
    Bind {
        port: u16,
        only: Option<u16>,
    },
    Unbind {
        port: u16,
    },
    SendTo {
        from: u16,
        to: u16,
        bytes: Bytes,
    },
    ReceiveFrom {
        port: u16,
        waits: bool,
    },
}

/// Most calls wait, so it is said only of those that do not.
fn always() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_always(waits: &bool) -> bool {
    *waits
}

/// Something that is looked at.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Sought {
    Connections { port: Place },
    Datagrams { port: u16 },
    Bytes { on: Connection, sees_end: bool },
}

/// How far it is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Seen {
    Waits,
    Input,
    End,
    Gone,
    Broken,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Answered {
    Done,
    Bytes(Bytes),
    Datagram { from: u16, bytes: Bytes },
    Accepted(Connection),
    End,
    Reset,
    Lost,
    Refused,
    Nothing,
    Ready(Vec<Seen>),
    Never,
}

/// Bytes, two digits each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Bytes(Vec<u8>);

impl From<Bytes> for String {
    fn from(Bytes(bytes): Bytes) -> String {
        bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

impl TryFrom<String> for Bytes {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let byte = |pair: &[u8]| {
            let digits = std::str::from_utf8(pair).ok().filter(|_| pair.len() == 2)?;
            u8::from_str_radix(digits, 16).ok()
        };
        let bytes = text.as_bytes().chunks(2).map(byte).collect::<Option<_>>();
        bytes.map(Bytes).ok_or_else(|| format!("expected two hexadecimal digits a byte: {text}"))
    }
}

/// What a listing is about.
pub(super) struct About<'a> {
    /// The names of all programs, the listed one first.
    pub(super) names: &'a [String],
    pub(super) command: String,
    pub(super) reference: String,
    pub(super) coverage: Coverage,
}

impl Listing {
    /// All histories of a program, each with whether it happens, and what is wrong with those.
    pub(super) fn new<'f>(
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
        Listing {
            format: FORMAT.into(),
            component: about.names[0].clone(),
            command: about.command.clone(),
            reference: about.reference.clone(),
            depth: match about.coverage {
                Coverage::Bounded { depth } => Some(depth),
                _ => None,
            },
            failures: failures
                .map(|(failure, behaviours)| Told::new(failure, behaviours))
                .collect(),
            behaviours: shown.iter().map(behaviour).collect(),
        }
    }

    /// The file's content.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec_pretty(self).expect("it has string keys");
        json.push(b'\n');
        json
    }

    /// How many events behaviours may have, if that was bounded.
    pub(super) fn bound(&self) -> Option<u32> {
        self.depth
    }

    /// Reads a file that was written so.
    pub(super) fn read(path: &Path) -> Result<Self, Usage> {
        let wrong = |why: &dyn std::fmt::Display| {
            Usage::new(format!(
                "--against {}: {why}; expected a file that --emit wrote",
                path.display()
            ))
        };
        let text = fs::read_to_string(path)
            .map_err(|error| Usage::new(format!("--against {}: {error}", path.display())))?;
        let listing: Listing = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
        if listing.format != FORMAT {
            return Err(wrong(&format_args!("it has the format {}", listing.format)));
        }
        let ends = |behaviour: &Behaviour| {
            let events = behaviour.events.iter().zip(0..);
            events.into_iter().all(|(event, at)| event.past.iter().all(|&before| before < at))
        };
        if !listing.behaviours.iter().all(ends) {
            return Err(wrong(&"an event names one that does not come before it"));
        }
        Ok(listing)
    }

    /// The program that was listed, for a search of programs with these names.
    pub(super) fn environment(&self, names: &[String]) -> Result<JointSetting, Usage> {
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
            None => Err(Usage::new(format!(
                "--against: {} was listed together with {name}, which is not there; add it by \
                 --with",
                self.component
            ))),
        };
        let script = |behaviour: &Behaviour| {
            let event = |event: &Happened| event.to_event(side);
            let events = behaviour.events.iter().map(event).collect::<Result<_, Usage>>()?;
            let end = match behaviour.end {
                EndName::Ended => Finish::Ended,
                EndName::Waiting => Finish::Waiting,
                EndName::Cut => Finish::Cut,
            };
            Ok(Script { events, end: end.to_word() })
        };
        let scripts = self.behaviours.iter().map(script).collect::<Result<_, Usage>>()?;
        Ok(JointSetting { name: self.component.clone(), scripts })
    }

    /// The failures, and whether each is among behaviours that something is wrong with.
    pub(super) fn judged(&self, is_wrong: impl Fn(usize) -> bool) -> Vec<Told> {
        let judged = |told: &Told| {
            let propagates = told.behaviours.iter().any(|&behaviour| is_wrong(behaviour));
            Told { propagates: Some(propagates), ..told.clone() }
        };
        self.failures.iter().map(judged).collect()
    }
}

impl Told {
    fn new(failure: &Failure, behaviours: Vec<usize>) -> Self {
        let Failure { port, kind, after, expected, shown } = failure.clone();
        let kind = match kind {
            Kind::WrongData => KindName::WrongData,
            Kind::EarlyClose => KindName::EarlyClose,
            Kind::Silence => KindName::Silence,
        };
        let (after, expected, shown) = (Bytes(after), Bytes(expected), Bytes(shown));
        Told { kind, port: port.into(), after, expected, shown, behaviours, propagates: None }
    }

    /// The failure in words.
    pub(super) fn text(&self) -> String {
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

impl Connection {
    fn new(link: Link, names: &[String]) -> Self {
        let Link { side, port, maker, which } = link;
        Connection { program: names[side].clone(), port: port.into(), maker, which }
    }
}

impl Happened {
    fn new(event: &Event, names: &[String]) -> Self {
        let on = |link: &Link| Connection::new(*link, names);
        let request = match &event.act.request {
            Request::Listen { port, backlog } => {
                Asked::Listen { port: (*port).into(), backlog: *backlog }
            }
            Request::Unlisten { port } => Asked::Unlisten { port: (*port).into() },
            Request::Connect(link) => Asked::Connect(on(link)),
            Request::Accept { port, waits } => {
                Asked::Accept { port: (*port).into(), waits: *waits }
            }
            Request::Send { link, bytes } => {
                Asked::Send { on: on(link), bytes: Bytes(bytes.clone()) }
            }
            Request::Receive { link, most, waits } => {
                Asked::Receive { on: on(link), most: *most, waits: *waits }
            }
            Request::Look { at, waits } => {
                let sought = |watched: &Watched| match watched {
                    Watched::Connections { port } => Sought::Connections { port: (*port).into() },
                    Watched::Datagrams { port } => Sought::Datagrams { port: *port },
                    Watched::Bytes { link, sees_end } => {
                        Sought::Bytes { on: on(link), sees_end: *sees_end }
                    }
                };
                Asked::Look { at: at.iter().map(sought).collect(), waits: *waits }
            }
            Request::Shut(link) => Asked::Shut(on(link)),
            Request::Close(link) => Asked::Close(on(link)),
            Request::Break(link) => Asked::Break(on(link)),
            Request::Bind { port, only } => Asked::Bind { port: *port, only: *only },
            Request::Unbind { port } => Asked::Unbind { port: *port },
            Request::SendTo { from, to, bytes } => {
                Asked::SendTo { from: *from, to: *to, bytes: Bytes(bytes.clone()) }
            }
            Request::ReceiveFrom { port, waits } => {
                Asked::ReceiveFrom { port: *port, waits: *waits }
            }
        };
        let answer = match &event.act.answer {
            Answer::Done => Answered::Done,
            Answer::Bytes(bytes) => Answered::Bytes(Bytes(bytes.clone())),
            Answer::Datagram { from, bytes } => {
                Answered::Datagram { from: *from, bytes: Bytes(bytes.clone()) }
            }
            Answer::Accepted(link) => Answered::Accepted(on(link)),
            Answer::End => Answered::End,
            Answer::Reset => Answered::Reset,
            Answer::Lost => Answered::Lost,
            Answer::Refused => Answered::Refused,
            Answer::Nothing => Answered::Nothing,
            Answer::Ready(found) => {
                let seen = |found: &Readiness| match found {
                    Readiness::Waits => Seen::Waits,
                    Readiness::Input => Seen::Input,
                    Readiness::End => Seen::End,
                    Readiness::Gone => Seen::Gone,
                    Readiness::Broken => Seen::Broken,
                };
                Answered::Ready(found.iter().map(seen).collect())
            }
            Answer::Never => Answered::Never,
        };
        Happened { thread: event.thread, past: event.past.clone(), request, answer }
    }

    /// The connections that this is about, or makes.
    fn connections(&self) -> Vec<&Connection> {
        match (&self.request, &self.answer) {
            (_, Answered::Accepted(on)) => vec![on],
            (Asked::Connect(on) | Asked::Shut(on), _) => vec![on],
            (Asked::Close(on) | Asked::Break(on), _) => vec![on],
            (Asked::Send { on, .. } | Asked::Receive { on, .. }, _) => vec![on],
            (Asked::Look { at, .. }, _) => {
                let mut links = Vec::new();
                for sought in at {
                    if let Sought::Bytes { on, .. } = sought {
                        links.push(on);
                    }
                }
                links
            }
            _ => Vec::new(),
        }
    }

    fn to_event(&self, side: impl Fn(&String) -> Result<usize, Usage>) -> Result<Event, Usage> {
        let link = |on: &Connection| {
            let Connection { program, port, maker, which } = on;
            Ok::<Link, Usage>(Link {
                side: side(program)?,
                port: port.to_port(),
                maker: *maker,
                which: *which,
            })
        };
        let request = match &self.request {
            Asked::Listen { port, backlog } => {
                Request::Listen { port: port.to_port(), backlog: *backlog }
            }
            Asked::Unlisten { port } => Request::Unlisten { port: port.to_port() },
            Asked::Connect(on) => Request::Connect(link(on)?),
            Asked::Accept { port, waits } => {
                Request::Accept { port: port.to_port(), waits: *waits }
            }
            Asked::Send { on, bytes } => Request::Send { link: link(on)?, bytes: bytes.0.clone() },
            Asked::Receive { on, most, waits } => {
                Request::Receive { link: link(on)?, most: *most, waits: *waits }
            }
            Asked::Look { at, waits } => {
                let watched = |sought: &Sought| {
                    Ok(match sought {
                        Sought::Connections { port } => {
                            Watched::Connections { port: port.to_port() }
                        }
                        Sought::Datagrams { port } => Watched::Datagrams { port: *port },
                        Sought::Bytes { on, sees_end } => {
                            Watched::Bytes { link: link(on)?, sees_end: *sees_end }
                        }
                    })
                };
                let at = at.iter().map(watched).collect::<Result<_, Usage>>()?;
                Request::Look { at, waits: *waits }
            }
            Asked::Shut(on) => Request::Shut(link(on)?),
            Asked::Close(on) => Request::Close(link(on)?),
            Asked::Break(on) => Request::Break(link(on)?),
            Asked::Bind { port, only } => Request::Bind { port: *port, only: *only },
            Asked::Unbind { port } => Request::Unbind { port: *port },
            Asked::SendTo { from, to, bytes } => {
                Request::SendTo { from: *from, to: *to, bytes: bytes.0.clone() }
            }
            Asked::ReceiveFrom { port, waits } => {
                Request::ReceiveFrom { port: *port, waits: *waits }
            }
        };
        let answer = self.answer.to_answer(link)?;
        Ok(Event { thread: self.thread, act: Act { request, answer }, past: self.past.clone() })
    }
}

impl Answered {
    fn to_answer(
        &self,
        link: impl Fn(&Connection) -> Result<Link, Usage>,
    ) -> Result<Answer, Usage> {
        Ok(match self {
            Answered::Done => Answer::Done,
            Answered::Bytes(Bytes(bytes)) => Answer::Bytes(bytes.clone()),
            Answered::Datagram { from, bytes } => {
                Answer::Datagram { from: *from, bytes: bytes.0.clone() }
            }
            Answered::Accepted(on) => Answer::Accepted(link(on)?),
            Answered::End => Answer::End,
            Answered::Reset => Answer::Reset,
            Answered::Lost => Answer::Lost,
            Answered::Refused => Answer::Refused,
            Answered::Nothing => Answer::Nothing,
            Answered::Ready(seen) => {
                let found = |seen: &Seen| match seen {
                    Seen::Waits => Readiness::Waits,
                    Seen::Input => Readiness::Input,
                    Seen::End => Readiness::End,
                    Seen::Gone => Readiness::Gone,
                    Seen::Broken => Readiness::Broken,
                };
                Answer::Ready(seen.iter().map(found).collect())
            }
            Answered::Never => Answer::Never,
        })
    }
}
