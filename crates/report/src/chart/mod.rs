//! Sequence charts: the participants of an execution and the messages between them.
//!
//! [`Chart`] is where everything is; `table` draws it as text for a terminal.

mod table;

use crate::text::plain;
use crate::timeline::Ways;
use everypath_trace::{Message, Moment, Party, Trace, TraceStep};
use std::collections::{BTreeMap, BTreeSet};

/// If there are more sockets than this, those of a program are one lifeline.
const MOST_SOCKETS: usize = 6;

/// A chart: rows from top to bottom, lifelines from left to right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    lifelines: Vec<String>,
    arrows: Vec<Arrow>,
    faults: Vec<Fault>,
}

/// A fault that is not what became of one message: a reset, a crash, a call that was interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    /// The row that it stands before.
    before: usize,
    step: usize,
    words: String,
}

/// Faults that are noted beside the message that had them.
const OF_MESSAGES: [&str; 3] = ["loss", "duplication", "reordering"];

/// A message that goes from one lifeline to another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Arrow {
    from: usize,
    to: usize,
    content: Content,
    begins: Place,
    end: End,
}

/// A row, and the step that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    row: usize,
    step: usize,
}

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Arrives {
        at: Place,
        /// How many of its copies came before.
        copies: usize,
        /// Whether something that was sent later came before.
        is_late: bool,
    },
    Lost,
    /// It was never read.
    Unread,
}

/// What is written at an arrow: bytes, and how many there are beyond those that are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Content {
    shown: String,
    length: u64,
    is_whole: bool,
}

impl Content {
    /// In so many characters, about.
    fn within(&self, width: usize) -> String {
        let Content { shown, length, is_whole } = self;
        if *is_whole && shown.chars().count() + 2 <= width {
            return format!("\"{shown}\"");
        }
        let count = format!(" {length} bytes");
        let room = width.saturating_sub(count.len() + 3).max(4);
        format!("\"{}…\"{count}", first_signs(shown, room))
    }
}

/// The beginning of escaped bytes, in so many characters at most: no escape is cut in two.
fn first_signs(shown: &str, room: usize) -> &str {
    let mut end = 0;
    while let Some(rest) = shown.get(end..).filter(|rest| !rest.is_empty()) {
        let sign = match rest.as_bytes() {
            [b'\\', b'x', ..] => 4,
            [b'\\', ..] => 2,
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        if end + sign > room || !shown.is_char_boundary(end + sign) {
            break;
        }
        end += sign;
    }
    &shown[..end]
}

/// The first characters, with a sign that there are more.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.into();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

impl Chart {
    /// The messages of an execution, if there are any.
    pub fn of_messages(trace: &Trace) -> Option<Self> {
        let messages = &trace.messages;
        if messages.is_empty() {
            return None;
        }
        let parties: BTreeSet<&Party> =
            messages.iter().flat_map(|message| [&message.from, &message.to]).collect();
        let is_merged = parties.len() > MOST_SOCKETS;
        let mut lifelines = Vec::new();
        let rows = Rows::of(messages);
        let mut arrows = Vec::new();
        let ways = Ways::of(messages);
        for message in messages {
            let from = lifeline(&mut lifelines, &message.from, is_merged);
            let to = lifeline(&mut lifelines, &message.to, is_merged);
            let content = Content {
                shown: plain(&message.content),
                length: message.length,
                is_whole: message.kept == message.length,
            };
            let begins = rows.place(message.sent);
            for end in rows.ends(message, &ways) {
                arrows.push(Arrow { from, to, content: content.clone(), begins, end });
            }
        }
        let faults = faults(trace, &arrows);
        Some(Chart { lifelines, arrows, faults })
    }
}

fn faults(trace: &Trace, arrows: &[Arrow]) -> Vec<Fault> {
    let places: Vec<Place> = arrows.iter().flat_map(Arrow::places).collect();
    let fault = |(step, of): (usize, &TraceStep)| {
        let name = of.fault.as_ref().filter(|name| !OF_MESSAGES.contains(&name.as_str()))?;
        let rows = places.iter().filter(|place| place.step <= step).map(|place| place.row + 1);
        Some(Fault {
            before: rows.max().unwrap_or(0),
            step,
            words: format!("{} ({})", plain(name), plain(&of.actor)),
        })
    };
    (1..).zip(&trace.steps).filter_map(fault).collect()
}

impl Arrow {
    /// Where it begins, and where it arrives.
    fn places(&self) -> impl Iterator<Item = Place> {
        let arrives = match self.end {
            End::Arrives { at, .. } => Some(at),
            End::Lost | End::Unread => None,
        };
        [self.begins].into_iter().chain(arrives)
    }
}

/// The number of a participant's lifeline.
fn lifeline(lifelines: &mut Vec<String>, party: &Party, is_merged: bool) -> usize {
    let (process, address) = (plain(&party.process), plain(&party.address));
    let name = match is_merged || address.is_empty() {
        true => process,
        false => format!("{process} {address}"),
    };
    let known = lifelines.iter().position(|other| *other == name);
    known.unwrap_or_else(|| {
        lifelines.push(name);
        lifelines.len() - 1
    })
}

/// Which row each moment has. What arrives before anything else happens does so in the row in which
/// it was sent.
struct Rows {
    rows: BTreeMap<usize, usize>,
}

impl Rows {
    fn of(messages: &[Message]) -> Self {
        let at_once: BTreeMap<usize, usize> = messages
            .iter()
            .filter_map(|message| Some((message.arrivals.first()?.order, message.sent.order)))
            .collect();
        let moments = messages
            .iter()
            .flat_map(|message| [message.sent].into_iter().chain(message.arrivals.iter().copied()));
        let orders: BTreeSet<usize> = moments.map(|moment| moment.order).collect();
        let mut rows = BTreeMap::new();
        let (mut count, mut before) = (0, None);
        for order in orders {
            if before.is_none() || at_once.get(&order).copied() != before {
                count += 1;
            }
            rows.insert(order, count - 1);
            before = Some(order);
        }
        Rows { rows }
    }

    fn place(&self, moment: Moment) -> Place {
        Place { row: self.rows.get(&moment.order).copied().unwrap_or(0), step: moment.step }
    }

    /// What becomes of a message: each of its arrivals, or that it has none.
    fn ends(&self, message: &Message, ways: &Ways<'_>) -> Vec<End> {
        if message.arrivals.is_empty() {
            return vec![if message.lost { End::Lost } else { End::Unread }];
        }
        let ends = message.arrivals.iter().enumerate().map(|(copies, &at)| End::Arrives {
            at: self.place(at),
            copies,
            is_late: ways.is_overtaken(message, at.order),
        });
        ends.collect()
    }
}

#[cfg(test)]
pub(crate) mod tests;
