//! Leaks: blocks in use at the end of an execution that nothing points to any more.
//!
//! As LeakSanitizer does: whatever looks like an address, in static variables, in the live stacks of
//! threads and in thread-local variables, keeps the block that it leads into, and so does whatever lies in
//! a block that is kept. The execution is over, so headers and canaries can be written to: a block that is
//! reached is marked, and linked to those whose words have yet to be looked at.

use super::block::{Block, Use};
use super::holds;
use super::misuse::{around, block_at, blocks};
use crate::memory::{Span, load, store};
use crate::snapshot::for_each_root;
use crate::state::state;
use everypath_shim_abi::MAX_THREADS;

/// The first block that nothing leads to.
pub(super) fn first() -> Option<Block> {
    let state = state();
    let mut reached = Reached { last: 0 };
    for_each_root(state, |span| reached.look_at(span));
    while let Some(block) = reached.pop() {
        reached.look_at(Span { address: block.0, length: block.asked() });
    }
    let arenas = (0..MAX_THREADS).filter(|&arena| state.arena_tops[arena].get() != 0);
    arenas.flat_map(blocks).find(|block| block.usage() == Some(Use::Allocated))
}

/// Blocks that were reached and not looked at, each with a link to the next.
struct Reached {
    last: usize,
}

impl Reached {
    fn look_at(&mut self, span: Span) {
        let start = span.address.next_multiple_of(8);
        for at in (start..(span.address + span.length).saturating_sub(7)).step_by(8) {
            self.reach(load(at));
        }
    }

    fn reach(&mut self, address: usize) {
        if !holds(address) {
            return;
        }
        let exact = block_at(address).filter(|block| block.usage().is_some());
        if let Some(block) = exact.or_else(|| around(address))
            && block.usage() == Some(Use::Allocated)
        {
            block.mark();
            store(block.link(), self.last);
            self.last = block.0;
        }
    }

    fn pop(&mut self) -> Option<Block> {
        let block = (self.last != 0).then_some(Block(self.last))?;
        self.last = load(block.link());
        Some(block)
    }
}
