//! The messages of an execution that was told to record them.

use crate::closed::System;
use crate::peers::Address;
use everypath_shim_abi::{MessageEvent, MessageEventKind};
use everypath_trace::{Message, Moment, Party};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// A message event with the bytes that follow it.
struct Told<'a> {
    event: MessageEvent,
    from: &'a [u8],
    to: &'a [u8],
    content: &'a [u8],
}

/// Reads the first message event; one that is cut off at the end is none.
fn first(bytes: &[u8]) -> Option<(Told<'_>, &[u8])> {
    let (event, rest) = bytes.split_first_chunk()?;
    let event = MessageEvent::from_bytes(event);
    let [from, to, content] = event.following.map(usize::from);
    let (from, rest) = rest.split_at_checked(from)?;
    let (to, rest) = rest.split_at_checked(to)?;
    let (content, rest) = rest.split_at_checked(content)?;
    Some((Told { event, from, to, content }, rest))
}

/// The messages of recorded events, in the order of sending; `outside` is the name of the peer.
pub(crate) fn messages(events: &[u8], system: &System, outside: &str) -> Vec<Message> {
    let mut log = Log { system, outside, messages: Vec::new(), on_their_way: BTreeMap::new() };
    let mut rest = events;
    for order in 0.. {
        let Some((told, after)) = first(rest) else { break };
        log.add(&told, Moment { order, step: told.event.step as usize });
        rest = after;
    }
    log.messages
}

struct Log<'a> {
    system: &'a System,
    outside: &'a str,
    messages: Vec<Message>,
    /// What was sent to each object: which of all that went there, and its place in the list.
    on_their_way: BTreeMap<u16, Vec<(u64, usize)>>,
}

impl Log<'_> {
    fn add(&mut self, told: &Told<'_>, moment: Moment) {
        let MessageEvent { what, object, first, length, is_datagram, .. } = told.event;
        match what {
            MessageEventKind::Sent | MessageEventKind::Handed => {
                let message = self.message(told, moment);
                let sent = self.on_their_way.entry(object).or_default();
                if what == MessageEventKind::Sent {
                    if first == 0 {
                        // The number of an object that is gone is given to a new one.
                        sent.clear();
                    }
                    sent.push((first, self.messages.len()));
                }
                self.messages.push(message);
            }
            MessageEventKind::Received => {
                for (start, at) in self.on_their_way.get(&object).into_iter().flatten() {
                    let message = &mut self.messages[*at];
                    let end = start + if is_datagram { 1 } else { message.length };
                    if first < end && end <= first + u64::from(length) {
                        message.arrivals.push(moment);
                    }
                }
            }
            MessageEventKind::Gone => {
                for (start, at) in self.on_their_way.get(&object).into_iter().flatten() {
                    let message = &mut self.messages[*at];
                    message.lost |= *start == first && message.arrivals.is_empty();
                }
            }
        }
    }

    fn message(&self, told: &Told<'_>, sent: Moment) -> Message {
        let MessageEvent { what, thread, sender, object, process, length, is_datagram, .. } =
            told.event;
        let names = self.system.names();
        let name = |process: usize| names.get(process).map_or(self.outside, String::as_str).into();
        let sends = usize::from(sender).checked_sub(1);
        let from = Party {
            process: sends.map_or(self.outside.into(), |_| name(self.system.owner(thread))),
            address: place(told.from, sends),
            outside: sends.is_none(),
        };
        let is_inside = process != MessageEvent::OUTSIDE;
        let to = Party {
            process: if is_inside { name(process.into()) } else { self.outside.into() },
            address: place(told.to, is_inside.then_some(object.into())),
            outside: !is_inside,
        };
        let arrivals = if what == MessageEventKind::Handed { vec![sent] } else { Vec::new() };
        Message {
            from,
            to,
            content: escaped(told.content),
            length: length.into(),
            kept: told.content.len() as u64,
            datagram: is_datagram,
            sent,
            arrivals,
            lost: false,
        }
    }
}

/// An address in words: the port alone if it is of this machine, the number of the socket if there
/// is none.
fn place(address: &[u8], socket: Option<usize>) -> String {
    let internet = |address: SocketAddr| {
        let ip = address.ip().to_canonical();
        let is_here = ip.is_loopback() || ip.is_unspecified();
        if is_here { format!(":{}", address.port()) } else { address.to_string() }
    };
    match Address::from_system(address) {
        Some(Address::Tcp(address) | Address::Udp(address)) => internet(address),
        Some(Address::Path(path)) => path.display().to_string(),
        Some(Address::Abstract(name)) => format!("@{}", escaped(&name)),
        None => socket.map(|number| format!("socket {number}")).unwrap_or_default(),
    }
}

/// Bytes as text that a terminal shows as it is.
fn escaped(bytes: &[u8]) -> String {
    let escape = |&byte: &u8| match byte {
        b'\n' => "\\n".into(),
        b'\r' => "\\r".into(),
        b'\t' => "\\t".into(),
        b'\\' => "\\\\".into(),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    bytes.iter().map(escape).collect()
}
