//! Communication events as text.

use everypath_commtree::joint::{
    Answer, Event, Link, PROCESS, Performed, Readiness, Request, Side, Surprise, Watched,
};
use std::collections::BTreeMap;

/// The events, a line each; in a deadlock, the blocked requests at the end.
pub(super) fn messages(
    sides: &[Side],
    names: &[&str],
    order: &[Performed],
    is_stuck: bool,
) -> Vec<String> {
    let mut words = Words { names, numbers: BTreeMap::new() };
    let mut lines = Vec::new();
    let mut waiting = Vec::new();
    for &Performed { side, event } in order {
        let Event { act, thread, .. } = sides[side].get(event);
        // That a process which failed is gone is not part of how it came to that.
        if !is_stuck && (*thread == PROCESS || act.answer == Answer::Never) {
            continue;
        }
        let line = words.line(side, &act.request, &act.answer);
        match act.answer {
            Answer::Never => waiting.push(line),
            _ => lines.push(line),
        }
    }
    lines.extend(waiting);
    lines
}

/// What could happen to a side that does only what was listed.
pub(super) fn sentence(names: &[&str], surprise: &Surprise) -> String {
    let mut words = Words { names, numbers: BTreeMap::new() };
    words.line(surprise.side, &surprise.request, &surprise.answer)
}

struct Words<'a> {
    names: &'a [&'a str],
    /// Connections, in the order in which they were made.
    numbers: BTreeMap<Link, usize>,
}

impl Words<'_> {
    fn connection(&mut self, link: Link) -> String {
        let next = self.numbers.len() + 1;
        format!("connection {}", self.numbers.entry(link).or_insert(next))
    }

    /// What a look at several things comes to.
    fn look(&mut self, at: &[Watched], answer: &Answer) -> String {
        let mut named = |watched: &Watched| match *watched {
            Watched::Connections { port } => format!("connections to {port}"),
            Watched::Datagrams { port } => format!("datagrams at port {port}"),
            Watched::Bytes { link, .. } => self.connection(link),
        };
        let (what, found): (_, Vec<String>) = match answer {
            Answer::Ready(found) => {
                let seen = at.iter().zip(found).filter(|(_, it)| **it != Readiness::Waits);
                ("sees something on", seen.map(|(at, _)| named(at)).collect())
            }
            Answer::Nothing => ("sees nothing on", at.iter().map(named).collect()),
            _ => ("waits for ever for something on", at.iter().map(named).collect()),
        };
        format!("{what} {}", found.join(" and "))
    }

    fn line(&mut self, side: usize, request: &Request, answer: &Answer) -> String {
        let name = self.names[side];
        let waits = *answer == Answer::Never;
        let what = match request {
            Request::Listen { port, .. } => format!("listens on {port}"),
            Request::Unlisten { port } => format!("no longer listens on {port}"),
            Request::Connect(link) if waits => {
                format!("waits for ever to connect to {}", link.port)
            }
            Request::Connect(link) if *answer == Answer::Refused => {
                format!("is refused at {}", link.port)
            }
            Request::Connect(link) => {
                format!("connects to {} ({})", link.port, self.connection(*link))
            }
            Request::Accept { port, .. } => match answer {
                Answer::Accepted(link) => format!("accepts {}", self.connection(*link)),
                Answer::Nothing => format!("finds no connection to {port}"),
                _ => format!("waits for ever for a connection to {port}"),
            },
            Request::Send { link, bytes } => {
                let on = self.connection(*link);
                let sent = shown(bytes);
                match answer {
                    Answer::Lost => format!("sends {sent} on {on}, which is closed"),
                    Answer::Reset => format!("cannot send {sent} on {on}, which broke"),
                    _ => format!("sends {sent} on {on}"),
                }
            }
            Request::Receive { link, .. } => {
                let on = self.connection(*link);
                match answer {
                    Answer::Bytes(bytes) => format!("receives {} on {on}", shown(bytes)),
                    Answer::Reset => format!("finds {on} broken"),
                    Answer::Nothing => format!("finds nothing on {on}"),
                    Answer::Never => format!("waits for ever to receive on {on}"),
                    _ => format!("finds the end of {on}"),
                }
            }
            Request::Look { at, .. } => self.look(at, answer),
            Request::Bind { port, only: None } => format!("is bound to UDP port {port}"),
            Request::Bind { port, only: Some(from) } => {
                format!("is bound to UDP port {port}, for datagrams from port {from} only")
            }
            Request::Unbind { port } => format!("is no longer bound to UDP port {port}"),
            Request::SendTo { from, to, bytes } => {
                let sent = format!("{} from port {from} to port {to}", shown(bytes));
                match answer {
                    Answer::Lost => format!("sends {sent}, where nobody takes it"),
                    Answer::Never => format!("waits for ever to send {sent}"),
                    _ => format!("sends {sent}"),
                }
            }
            Request::ReceiveFrom { port, .. } => match answer {
                Answer::Datagram { from, bytes } => {
                    format!("receives {} from port {from} at port {port}", shown(bytes))
                }
                Answer::Nothing => format!("finds no datagram at port {port}"),
                _ => format!("waits for ever for a datagram at port {port}"),
            },
            Request::Shut(link) => format!("ends what it sends on {}", self.connection(*link)),
            Request::Close(link) => format!("closes {}", self.connection(*link)),
            Request::Break(link) => format!("loses {}", self.connection(*link)),
        };
        format!("{name} {what}")
    }
}

/// Bytes for people.
fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 40;
    let text = bytes[..bytes.len().min(MOST)].escape_ascii();
    match bytes.len() {
        more if more > MOST => format!("\"{text}…\" ({more} bytes)"),
        _ => format!("\"{text}\""),
    }
}
