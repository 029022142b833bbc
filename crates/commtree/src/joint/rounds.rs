//! The rounds of joint exploration: which answers are new, until the fixpoint.

use super::combination::Combination;
use super::{Answer, Event, HistoryId, Request, Side};
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

/// A request of a recorded side (a failure file) for which it has no history.
#[derive(Clone, Debug)]
pub struct Surprise {
    /// The side.
    pub side: usize,
    /// What it asked for.
    pub request: Request,
    /// What could come of it.
    pub answer: Answer,
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

    /// Something that a side with scripts has none for, if that can happen.
    pub fn surprise(&self) -> Option<Surprise> {
        let has_scripts = self.sides.iter().any(|side| side.is_scripted);
        let mut choices = Choices::new(&self.sides).filter(|_| has_scripts);
        choices.find_map(|histories| {
            let mut answers = Combination::new(&self.sides, &histories).other_answers().into_iter();
            answers.find_map(|(side, event, answer)| {
                let asked = &self.sides[side];
                let is_surprised = asked.is_scripted && !asked.has_instead(event, &answer);
                let request = asked.get(event).act.request.clone();
                is_surprised.then_some(Surprise { side, request, answer })
            })
        })
    }

    /// How many combinations of histories were compared.
    pub fn combinations(&self) -> usize {
        self.compared.len()
    }

    /// Holds the histories of all sides against each other, as far as that was not done before, and
    /// lets the sides learn what else can come of their requests. Shows every combination.
    pub fn compare<B>(
        &mut self,
        mut look: impl FnMut(&Combination<'_>, &[Side]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for histories in Choices::new(&self.sides) {
            if self.compared.contains(&histories) {
                continue;
            }
            let combination = Combination::new(&self.sides, &histories);
            let answers = combination.other_answers();
            let looked = look(&combination, &self.sides);
            for (side, event, answer) in answers {
                let learns = &mut self.sides[side];
                let Event { past, act, .. } = learns.get(event).clone();
                learns.learn(&past, &act.request, answer);
            }
            self.compared.insert(histories);
            looked?;
        }
        ControlFlow::Continue(())
    }
}

/// All combinations of the histories that sides have now, those of the first side changing fastest.
struct Choices {
    histories: Vec<Vec<HistoryId>>,
    next: Option<Vec<usize>>,
}

impl Choices {
    fn new(sides: &[Side]) -> Self {
        let histories: Vec<_> = sides.iter().map(|side| side.histories().to_vec()).collect();
        let are_there = histories.iter().all(|of_side| !of_side.is_empty());
        let next = are_there.then(|| histories.iter().map(|_| 0).collect());
        Choices { histories, next }
    }
}

impl Iterator for Choices {
    type Item = Vec<HistoryId>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut choice = self.next.take()?;
        let chosen = choice.iter().zip(&self.histories);
        let histories = chosen.map(|(&which, of_side)| of_side[which]).collect();
        let mut places = choice.iter().zip(&self.histories);
        if let Some(place) = places.position(|(&which, of_side)| which + 1 < of_side.len()) {
            choice[place] += 1;
            choice[..place].fill(0);
            self.next = Some(choice);
        }
        Some(histories)
    }
}
