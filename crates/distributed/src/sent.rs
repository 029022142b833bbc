//! What was sent lately: a state that its worker has heard of need not be sent again.
//!
//! Most successors were generated before, many of them shortly before, since steps that commute lead to
//! the same state. A small table with one place for each fingerprint recognises these.

use crate::message::Link;

/// How many states are remembered: a megabyte, which stays in the cache.
const ENTRIES: usize = 1 << 15;

#[derive(Clone, Copy, Default)]
struct Entry {
    print: u128,
    key: u64,
    choice: u32,
    /// The level in which it was sent; 0 if nothing was.
    level: u32,
}

/// States that were sent lately.
pub(crate) struct Sent(Vec<Entry>);

impl Sent {
    pub(crate) fn new() -> Self {
        Sent(vec![Entry::default(); ENTRIES])
    }

    /// Whether a state that is generated in this level, counted from 1, must be sent: not if it was, unless
    /// that was in this level, too, and this is the lesser way to it.
    pub(crate) fn must_send(&mut self, print: u128, link: &Link, level: u32) -> bool {
        // The other half decides who has it.
        let entry = &mut self.0[print as usize % ENTRIES];
        let is_known = entry.level > 0 && entry.print == print;
        let way = (link.key, link.choice);
        if is_known && (entry.level < level || (entry.key, entry.choice) <= way) {
            return false;
        }
        *entry = Entry { print, key: link.key, choice: link.choice, level };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_way_of_a_level_is_always_sent() {
        let mut sent = Sent::new();
        let link = |key, choice| Link { key, choice, parent: 0 };
        assert!(sent.must_send(0, &link(5, 5), 1), "nothing was sent so far");
        assert!(!sent.must_send(0, &link(5, 5), 1));
        assert!(!sent.must_send(0, &link(6, 0), 1));
        assert!(sent.must_send(0, &link(5, 4), 1));
        assert!(!sent.must_send(0, &link(5, 5), 1));
        assert!(!sent.must_send(0, &link(0, 0), 2), "it is of the level before");
        let other = ENTRIES as u128;
        assert!(sent.must_send(other, &link(9, 9), 2), "another state with the same place");
        assert!(sent.must_send(0, &link(9, 9), 2), "which was forgotten");
    }
}
