//! What one of several threads counts of a batch, and which states it has met there.

use crate::Counts;
use crate::table::Key;

/// What one thread has counted of a batch.
#[derive(Default)]
pub(crate) struct Part {
    pub(crate) events: u64,
    pub(crate) unsafe_events: u64,
    pub(crate) deepest: u64,
    pub(crate) tree: u64,
    pub(crate) non_tree: u64,
    pub(crate) by_event: Vec<u64>,
    /// The new states.
    pub(crate) fresh: Vec<u32>,
}

impl Part {
    pub(crate) fn clear(&mut self) {
        let Part { by_event, fresh, .. } = self;
        let (mut by_event, mut fresh) = (std::mem::take(by_event), std::mem::take(fresh));
        by_event.clear();
        fresh.clear();
        *self = Part { by_event, fresh, ..Part::default() };
    }

    /// Adds what was counted to that of all threads.
    pub(crate) fn add_to(&self, counts: &mut Counts, by_event: &mut Vec<u64>) {
        counts.events += self.events;
        counts.unsafe_events += self.unsafe_events;
        counts.deepest += self.deepest;
        counts.tree += self.tree;
        counts.non_tree += self.non_tree;
        counts.safe = counts.events - counts.unsafe_events;
        if by_event.len() < self.by_event.len() {
            by_event.resize(self.by_event.len(), 0);
        }
        by_event.iter_mut().zip(&self.by_event).for_each(|(all, own)| *all += own);
    }
}

/// Counts an event of this number.
#[inline]
pub(crate) fn count_event(counts: &mut Vec<u64>, event: u16) {
    match counts.get_mut(usize::from(event)) {
        Some(count) => *count += 1,
        None => {
            counts.resize(usize::from(event) + 1, 0);
            counts[usize::from(event)] = 1;
        }
    }
}

/// Where states of this batch are found that the same thread has generated before: a record for each
/// place, the last one whose hash leads there. It is never cleared: what is found is compared.
pub(crate) struct Recent(Vec<u32>);

/// Places: few enough to stay in the second-level cache.
const RECENT: usize = 1 << 15;

impl Default for Recent {
    fn default() -> Self {
        Recent(vec![0; RECENT])
    }
}

impl Recent {
    #[inline]
    pub(crate) fn place(&mut self, hash: u128) -> &mut u32 {
        // Neither the bits that choose a shard nor those that choose a slot of its table.
        &mut self.0[((hash as u64).mixed() >> 5) as usize % RECENT]
    }
}
