//! Scripts: histories apart from their side, to be saved and loaded.

use super::{Event, EventId, History, HistoryId, Request, Side};
use std::vec::Vec;

/// A history by itself, apart from its side: events know those before them by their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// What happened; whatever is before an event comes before it.
    pub events: Vec<Event>,
    /// How it ended, in whatever way its owner tells ends apart.
    pub end: u64,
}

impl Script {
    /// Whether it tells of datagrams.
    pub fn has_datagrams(&self) -> bool {
        self.events.iter().any(|event| matches!(event.act.request, Request::Bind { .. }))
    }
}

impl Side {
    /// A history of this side by itself.
    pub fn script(&self, history: HistoryId) -> Script {
        let History { events, end } = self.history(history);
        let place = |event: &EventId| events.binary_search(event).expect("pasts are inside");
        let one = |&number: &EventId| {
            let event = self.get(number);
            let past = event.past.iter().map(|before| place(before) as EventId).collect();
            Event { past, ..event.clone() }
        };
        Script { events: events.iter().map(one).collect(), end: *end }
    }

    /// Lets the side do this besides whatever else it does. A side with scripts is never explored:
    /// it does nothing else. None if an event names what does not come before it.
    pub fn play(&mut self, script: &Script) -> Option<HistoryId> {
        let mut numbers: Vec<EventId> = Vec::new();
        for Event { thread, act, past } in &script.events {
            let number = |&place: &EventId| numbers.get(place as usize).copied();
            let mut past = past.iter().map(number).collect::<Option<Vec<_>>>()?;
            past.sort_unstable();
            past.dedup();
            numbers.push(self.event(*thread, act.clone(), past));
        }
        numbers.sort_unstable();
        numbers.dedup();
        Some(self.add_scripted(History { events: numbers, end: script.end }))
    }
}
