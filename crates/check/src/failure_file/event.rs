//! One history as it is written in a file: events, and the bytes that were sent.

use crate::error::CheckError;
use everypath_native::histories::{Act, Answer, Event, Link, Port, Readiness, Request, Watched};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Something that a program did with others.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Happened {
    thread: u64,
    /// The events of this behaviour that come before, by their places.
    pub(super) past: Vec<u32>,
    request: Asked,
    answer: Answered,
}

/// A connection: who made it, and which of its maker's it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Connection {
    pub(super) program: String,
    port: Place,
    maker: u64,
    which: u64,
}

/// Where programs find each other: a port, or a name of the Unix family, a character a byte.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Place {
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
    pub(super) fn to_port(&self) -> Port {
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
pub(super) enum Asked {
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
pub(super) enum Sought {
    Connections { port: Place },
    Datagrams { port: u16 },
    Bytes { on: Connection, sees_end: bool },
}

/// How far it is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Seen {
    Waits,
    Input,
    End,
    Gone,
    Broken,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answered {
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
pub(super) struct Bytes(pub(super) Vec<u8>);

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

impl Connection {
    fn new(link: Link, names: &[String]) -> Self {
        let Link { side, port, maker, which } = link;
        Connection { program: names[side].clone(), port: port.into(), maker, which }
    }
}

impl Happened {
    pub(super) fn new(event: &Event, names: &[String]) -> Self {
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
    pub(super) fn connections(&self) -> Vec<&Connection> {
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

    pub(super) fn to_event(
        &self,
        side: impl Fn(&String) -> Result<usize, CheckError>,
    ) -> Result<Event, CheckError> {
        let link = |on: &Connection| {
            let Connection { program, port, maker, which } = on;
            Ok::<Link, CheckError>(Link {
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
                let at = at.iter().map(watched).collect::<Result<_, CheckError>>()?;
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
        link: impl Fn(&Connection) -> Result<Link, CheckError>,
    ) -> Result<Answer, CheckError> {
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
