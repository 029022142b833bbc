//! The active timers of a node.

use super::queue::Moment;
use std::collections::BTreeMap;

/// The active timers of a node, each with one event in the queue.
///
/// A timer that is set again is mostly set to a later time, often for every packet. Its event is
/// then left where it is, and moved when its turn comes; so the queue holds as many events as
/// there are timers, not as many as they were set.
pub(super) struct Timers<T>(BTreeMap<T, Armed>);

/// When a timer is due, and where its event is in the queue.
struct Armed {
    due: Moment,
    queued: Moment,
}

/// What to do with the event of a timer whose turn has come.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The timer fires.
    Fire,
    /// The timer was set again, to this moment.
    Later(Moment),
    /// The timer was stopped.
    Stopped,
}

impl<T: Ord> Timers<T> {
    pub(super) fn new() -> Self {
        Timers(BTreeMap::new())
    }

    /// Sets a timer; whether an event at this moment is needed.
    pub(super) fn set(&mut self, timer: T, due: Moment) -> bool {
        match self.0.get_mut(&timer) {
            Some(armed) if armed.queued <= due => {
                armed.due = due;
                false
            }
            _ => {
                self.0.insert(timer, Armed { due, queued: due });
                true
            }
        }
    }

    /// Stops a timer.
    pub(super) fn cancel(&mut self, timer: &T) {
        self.0.remove(timer);
    }

    /// Whether these are the active timers.
    pub(super) fn are(&self, timers: impl Iterator<Item = T>) -> bool {
        let mut count = 0;
        let known = timers.inspect(|_| count += 1).all(|timer| self.0.contains_key(&timer));
        known && count == self.0.len()
    }

    /// Stops all timers.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The turn of a timer's event has come.
    pub(super) fn turn(&mut self, timer: &T, now: Moment) -> Turn {
        match self.0.get_mut(timer) {
            Some(armed) if armed.queued != now => Turn::Stopped,
            None => Turn::Stopped,
            Some(armed) if armed.due != now => {
                armed.queued = armed.due;
                Turn::Later(armed.due)
            }
            Some(_) => {
                self.0.remove(timer);
                Turn::Fire
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::Queue;
    use super::*;

    #[test]
    fn a_timer_fires_when_it_was_last_set_to_and_only_then() {
        let mut queue = Queue::<()>::new();
        let [two, five, nine, three] = [2, 5, 9, 3].map(|time| queue.moment(time));
        let mut timers = Timers::new();
        assert!(timers.set('a', five));
        assert!(!timers.set('a', nine), "its event is left where it is");
        assert_eq!(timers.turn(&'a', five), Turn::Later(nine));
        assert!(timers.set('a', two), "earlier needs an event of its own");
        assert_eq!(timers.turn(&'a', two), Turn::Fire);
        assert_eq!(timers.turn(&'a', nine), Turn::Stopped);
        assert!(timers.set('a', three));
        timers.cancel(&'a');
        assert_eq!(timers.turn(&'a', three), Turn::Stopped);
        assert!(timers.set('a', nine) && timers.set('b', nine));
        timers.clear();
        assert_eq!(timers.turn(&'b', nine), Turn::Stopped);
    }
}
