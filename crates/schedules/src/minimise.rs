//! Minimises a failing schedule: fewer preemptions, fewer outcomes other than the usual one, fewer
//! context switches, fewer steps.
//!
//! Nicholas Jalbert, Koushik Sen: A Trace Simplification Technique for Effective Debugging of
//! Concurrent Programs. FSE 2010. A schedule is a row of blocks, each of one thread. Blocks of one
//! thread are brought together, forwards or backwards, and blocks are left out; whatever still fails
//! and is simpler is kept, until nothing helps any more. As the paper says, the result is a local
//! minimum: each of these changes alone makes it worse or makes the failure go away.
//!
//! Where we depart: windows of many blocks are tried before single ones, halving each time, as in
//! Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input, IEEE TSE 28(2), 2002.
//! Long schedules then take few attempts. In short ones, two blocks of a thread are also brought
//! together in every other place; and one thread is interrupted by another after each of its steps,
//! and by nobody else: most failures need no more (Musuvathi, Qadeer: Iterative Context Bounding for
//! Systematic Testing of Multithreaded Programs, PLDI 2007). Every attempt is really executed.

use everypath_dependence::Choice;
use std::collections::BTreeSet;
use std::ops::Range;

/// What it takes to follow a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Switches away from a thread that could have gone on.
    pub preemptions: usize,
    /// Outcomes other than the usual one.
    pub outcomes: usize,
    /// Switches from one thread to another, those that could not be avoided included.
    pub switches: usize,
    /// Steps.
    pub steps: usize,
    /// For each preemption, how many steps come after it, in sum: what a reader has to keep in mind.
    pub aftermath: usize,
}

impl Cost {
    /// What an execution takes; `preempts` says of each step whether it comes although the thread
    /// of the step before could have gone on.
    pub fn of(schedule: &[Choice], preempts: &[bool]) -> Self {
        let switches = schedule.windows(2).filter(|pair| pair[0].thread != pair[1].thread);
        Cost {
            preemptions: preempts.iter().filter(|&&preempts| preempts).count(),
            outcomes: schedule.iter().filter(|choice| choice.outcome != 0).count(),
            switches: switches.count(),
            steps: schedule.len(),
            aftermath: (0..)
                .zip(preempts)
                .map(|(at, &yes)| if yes { schedule.len() - at } else { 0 })
                .sum(),
        }
    }

    /// What is compared: preemptions and unusual outcomes first.
    fn key(self) -> [usize; 4] {
        [self.preemptions + self.outcomes, self.switches, self.steps, self.aftermath]
    }
}

/// A schedule that fails, as it was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// All of its choices.
    pub schedule: Vec<Choice>,
    /// What it takes to follow them.
    pub cost: Cost,
}

/// What executes schedules.
pub trait Trials {
    /// Why there is no execution.
    type Error;

    /// Executes a schedule as far as it can be: a choice that is not enabled is left out. After the
    /// last one, the thread that runs goes on while it can. Returns what was executed if it fails in
    /// the way that is looked for.
    fn attempt(&mut self, proposal: &[Choice]) -> Result<Option<Failing>, Self::Error>;
}

/// Makes a failing schedule simpler with at most so many attempts.
pub fn minimise<T: Trials>(
    trials: &mut T,
    failing: Failing,
    attempts: u64,
) -> Result<Failing, T::Error> {
    let mut minimising = Minimising { trials, best: failing, left: attempts };
    loop {
        let before = minimising.best.cost;
        minimising.cut_the_end()?;
        minimising.gather_in_windows()?;
        minimising.join_blocks()?;
        minimising.leave_out_blocks()?;
        minimising.move_blocks()?;
        minimising.choose_nothing()?;
        minimising.interrupt_once()?;
        if minimising.best.cost == before || minimising.left == 0 {
            return Ok(minimising.best);
        }
    }
}

struct Minimising<'a, T> {
    trials: &'a mut T,
    best: Failing,
    left: u64,
}

/// A row of steps of one thread, by their numbers.
type Block = Range<usize>;

impl<T: Trials> Minimising<'_, T> {
    /// Tries a schedule; says whether it is the best so far.
    fn offer(&mut self, proposal: &[Choice]) -> Result<bool, T::Error> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        match self.trials.attempt(proposal)? {
            Some(found) if found.cost.key() < self.best.cost.key() => {
                self.best = found;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn blocks(&self) -> Vec<Block> {
        let schedule = &self.best.schedule;
        let mut blocks: Vec<Block> = Vec::new();
        for (at, choice) in schedule.iter().enumerate() {
            match blocks.last_mut() {
                Some(last) if schedule[last.start].thread == choice.thread => last.end = at + 1,
                _ => blocks.push(at..at + 1),
            }
        }
        blocks
    }

    /// The choices of blocks in this order.
    fn row<'b>(&self, blocks: impl Iterator<Item = &'b Block>) -> Vec<Choice> {
        blocks.flat_map(|block| &self.best.schedule[block.clone()]).copied().collect()
    }

    /// Lets threads go on by themselves as early as possible.
    fn cut_the_end(&mut self) -> Result<(), T::Error> {
        let mut cut = self.blocks().len();
        while cut > 0 {
            let blocks = self.blocks();
            let kept = blocks.len().saturating_sub(cut);
            if !self.offer(&self.row(blocks[..kept].iter()))? {
                cut /= 2;
            }
            cut = cut.min(self.blocks().len());
        }
        Ok(())
    }

    /// Brings the blocks of each thread together, in smaller and smaller windows.
    fn gather_in_windows(&mut self) -> Result<(), T::Error> {
        let mut size = self.blocks().len();
        while size > 2 {
            let mut start = 0;
            while start + 2 < self.blocks().len() {
                for late in [false, true] {
                    let blocks = self.blocks();
                    let end = (start + size).min(blocks.len());
                    let gathered = self.gathered(&blocks[start.min(end)..end], late);
                    let row =
                        blocks[..start.min(end)].iter().chain(&gathered).chain(&blocks[end..]);
                    self.offer(&self.row(row))?;
                }
                start += (size / 2).max(1);
            }
            size /= 2;
        }
        Ok(())
    }

    /// Blocks in the order in which their threads come first, or last.
    fn gathered(&self, blocks: &[Block], late: bool) -> Vec<Block> {
        let thread = |block: &Block| self.best.schedule[block.start].thread;
        let mut gathered = blocks.to_vec();
        gathered.sort_by_key(|block| {
            let same = |other: &Block| thread(other) == thread(block);
            if late { blocks.iter().rposition(same) } else { blocks.iter().position(same) }
        });
        gathered
    }

    /// Brings each block and the next one of its thread together, however far away that is.
    fn join_blocks(&mut self) -> Result<(), T::Error> {
        let mut at = 0;
        while at < self.blocks().len() {
            for late in [false, true] {
                let mut blocks = self.blocks();
                if at >= blocks.len() {
                    break;
                }
                let Some(next) = self.next_of_thread(&blocks, at) else { break };
                if late {
                    blocks[at..next].rotate_left(1);
                } else {
                    blocks[at + 1..=next].rotate_right(1);
                }
                self.offer(&self.row(blocks.iter()))?;
            }
            at += 1;
        }
        Ok(())
    }

    /// Lets one thread be interrupted by another one, after each of its steps, and by nobody else.
    fn interrupt_once(&mut self) -> Result<(), T::Error> {
        let original = self.best.schedule.clone();
        let threads: BTreeSet<u16> = original.iter().map(|choice| choice.thread).collect();
        if self.best.cost.switches < 2 || (original.len() * threads.len()) as u64 > self.left {
            return Ok(());
        }
        let of = |thread| original.iter().filter(move |choice| choice.thread == thread).copied();
        for &interrupted in &threads {
            let begin =
                original.iter().position(|choice| choice.thread == interrupted).unwrap_or(0);
            for steps in 1..=of(interrupted).count() {
                for &other in threads.iter().filter(|&&other| other != interrupted) {
                    let before = original[..begin].iter().copied();
                    let row = before.chain(of(interrupted).take(steps)).chain(of(other));
                    self.offer(&row.collect::<Vec<_>>())?;
                }
            }
        }
        Ok(())
    }

    /// Puts each block, with the next one of its thread, in every place, if there are not too many.
    fn move_blocks(&mut self) -> Result<(), T::Error> {
        let mut at = 0;
        while at < self.blocks().len() {
            let mut to = 0;
            while to + 1 < self.blocks().len() && at < self.blocks().len() {
                let mut blocks = self.blocks();
                if (blocks.len() * blocks.len()) as u64 > self.left {
                    return Ok(());
                }
                let next = self.next_of_thread(&blocks, at);
                let mut pair: Vec<Block> =
                    next.map(|next| blocks.remove(next)).into_iter().collect();
                pair.insert(0, blocks.remove(at));
                let to_now = to.min(blocks.len());
                blocks.splice(to_now..to_now, pair);
                self.offer(&self.row(blocks.iter()))?;
                to += 1;
            }
            at += 1;
        }
        Ok(())
    }

    fn next_of_thread(&self, blocks: &[Block], at: usize) -> Option<usize> {
        let thread = |block: &Block| self.best.schedule[block.start].thread;
        let later = blocks.iter().enumerate().skip(at + 1);
        later.filter(|(_, other)| thread(other) == thread(&blocks[at])).map(|(next, _)| next).next()
    }

    /// Leaves out each block: what its thread does there, it does later.
    fn leave_out_blocks(&mut self) -> Result<(), T::Error> {
        let mut at = 0;
        while at < self.blocks().len() {
            let mut blocks = self.blocks();
            blocks.remove(at);
            if !self.offer(&self.row(blocks.iter()))? {
                at += 1;
            }
        }
        Ok(())
    }

    /// Lets each step that somebody chose the outcome of go as usual, or not happen.
    fn choose_nothing(&mut self) -> Result<(), T::Error> {
        let mut at = 0;
        while at < self.best.schedule.len() {
            if self.best.schedule[at].outcome != 0 {
                let mut usual = self.best.schedule.clone();
                usual[at].outcome = 0;
                let mut without = self.best.schedule.clone();
                without.remove(at);
                let _better = self.offer(&usual)? || self.offer(&without)?;
            }
            at += 1;
        }
        Ok(())
    }
}
