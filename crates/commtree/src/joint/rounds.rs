use super::combination::Combination;
use super::{HistoryId, Side};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::vec::Vec;

/// Programs that talk to each other, as far as each of them has been explored.
#[derive(Debug)]
pub struct Joint {
    sides: Vec<Side>,
    /// The combinations that were looked at.
    compared: BTreeSet<Vec<HistoryId>>,
}

impl Joint {
    /// So many programs, of which nothing is known yet.
    pub fn new(sides: usize) -> Self {
        let sides = (0..sides).map(|_| Side::default()).collect();
        Joint { sides, compared: BTreeSet::new() }
    }

    /// A side.
    pub fn side(&self, number: usize) -> &Side {
        &self.sides[number]
    }

    /// A side, to explore it.
    pub fn side_mut(&mut self, number: usize) -> &mut Side {
        &mut self.sides[number]
    }

    /// All sides.
    pub fn sides(&self) -> &[Side] {
        &self.sides
    }

    /// How many combinations of histories were held against each other.
    pub fn combinations(&self) -> usize {
        self.compared.len()
    }

    /// Holds the histories of all sides against each other, as far as that was not done before, and
    /// lets the sides learn what else can come of their requests. Shows every combination.
    pub fn compare<B>(
        &mut self,
        mut look: impl FnMut(&Combination<'_>, &[Side]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut choice: Vec<usize> = self.sides.iter().map(|_| 0).collect();
        if self.sides.iter().any(|side| side.histories().is_empty()) {
            return ControlFlow::Continue(());
        }
        loop {
            let chosen = choice.iter().zip(&self.sides);
            let histories: Vec<HistoryId> =
                chosen.map(|(&which, side)| side.histories()[which]).collect();
            if !self.compared.contains(&histories) {
                let combination = Combination::new(&self.sides, &histories);
                let answers = combination.other_answers();
                let looked = look(&combination, &self.sides);
                for (side, event, answer) in answers {
                    let event = self.sides[side].get(event).clone();
                    self.sides[side].learn(&event.past, &event.act.request, answer);
                }
                self.compared.insert(histories);
                looked?;
            }
            let next = choice.iter().zip(&self.sides);
            let next = next.map(|(&which, side)| which + 1 < side.histories().len());
            let Some(place) = next.collect::<Vec<_>>().iter().position(|&has_more| has_more) else {
                return ControlFlow::Continue(());
            };
            choice[place] += 1;
            choice[..place].fill(0);
        }
    }
}
