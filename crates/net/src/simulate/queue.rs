//! The event queue: events ordered by time, and by creation at equal times.

use super::Nanos;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// When an event happens: its time, and among events of one time the order of their making.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment {
    /// The time.
    pub(super) time: Nanos,
    /// How many moments were made before this one.
    number: u64,
}

/// Events that have not happened yet.
///
/// No two moments are equal, so the order depends on nothing but the order of making.
pub(super) struct Queue<E> {
    heap: BinaryHeap<Entry<E>>,
    made: u64,
}

struct Entry<E> {
    moment: Moment,
    event: E,
}

impl<E> Queue<E> {
    pub(super) fn new() -> Self {
        Queue { heap: BinaryHeap::new(), made: 0 }
    }

    /// A moment at this time, after all others of the same time.
    pub(super) fn moment(&mut self, time: Nanos) -> Moment {
        self.made += 1;
        Moment { time, number: self.made }
    }

    /// Adds an event at a moment.
    pub(super) fn put(&mut self, moment: Moment, event: E) {
        self.heap.push(Entry { moment, event });
    }

    /// Takes the earliest event, unless it is later than `end`.
    pub(super) fn take(&mut self, end: Nanos) -> Option<(Moment, E)> {
        let due = self.heap.peek().is_some_and(|entry| entry.moment.time <= end);
        due.then(|| self.heap.pop()).flatten().map(|entry| (entry.moment, entry.event))
    }

    /// The events, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &E> {
        self.heap.iter().map(|entry| &entry.event)
    }
}

// The heap gives its greatest entry first, so the earliest must be the greatest.
impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.moment.cmp(&self.moment)
    }
}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.moment == other.moment
    }
}

impl<E> Eq for Entry<E> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_then_by_the_order_of_their_making() {
        let mut queue = Queue::new();
        for (time, event) in [(5, 'c'), (1, 'a'), (5, 'd'), (9, 'e'), (1, 'b')] {
            let moment = queue.moment(time);
            queue.put(moment, event);
        }
        let taken: String = std::iter::from_fn(|| queue.take(8)).map(|(_, event)| event).collect();
        assert_eq!(taken, "abcd");
        assert_eq!(queue.iter().collect::<String>(), "e");
        assert_eq!(queue.take(9).map(|(moment, event)| (moment.time, event)), Some((9, 'e')));
    }
}
