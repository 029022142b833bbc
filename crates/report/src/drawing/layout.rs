//! Where lanes and rows of a drawing are, and which steps are folded.

use crate::timeline::Timeline;
use std::collections::BTreeSet;

/// The height of a row, and of what is above the first.
pub(super) const ROW: u32 = 38;
pub(super) const HEAD: u32 = 116;
const LEFT: u32 = 66;
/// From so many steps on, those are folded that show nothing new.
const FOLDED_FROM: usize = 120;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    Step(usize),
    /// So many steps that are not shown.
    Folded {
        first: usize,
        count: usize,
    },
}

/// Where everything is.
pub(super) struct Layout {
    pub(super) lane_width: u32,
    lanes: usize,
    rows: Vec<Row>,
    /// The row of each step.
    row_of: Vec<usize>,
}

impl Layout {
    pub(super) fn of(timeline: &Timeline<'_>) -> Self {
        let lanes = timeline.lanes.len().max(1);
        let has_messages = !timeline.flights.is_empty();
        let lane_width = match (has_messages, lanes) {
            (true, ..=4) => 190,
            (true, ..=8) => 120,
            (false, ..=8) => 76,
            _ => 52,
        };
        let shown = shown(timeline);
        let mut rows: Vec<Row> = Vec::new();
        let mut row_of = Vec::with_capacity(timeline.lane_of.len());
        for step in 0..timeline.lane_of.len() {
            match rows.last_mut() {
                _ if shown.as_ref().is_none_or(|shown| shown.contains(&step)) => {
                    rows.push(Row::Step(step));
                }
                Some(Row::Folded { count, .. }) => *count += 1,
                _ => rows.push(Row::Folded { first: step, count: 1 }),
            }
            row_of.push(rows.len() - 1);
        }
        Layout { lane_width, lanes, rows, row_of }
    }

    pub(super) fn x(&self, lane: usize) -> u32 {
        LEFT + lane as u32 * self.lane_width
    }

    /// The middle of the row of a step.
    pub(super) fn y(&self, step: usize) -> u32 {
        let row = self.row_of.get(step).or(self.row_of.last()).copied().unwrap_or(0);
        HEAD + row as u32 * ROW + ROW / 2
    }

    /// Where words begin, beside the last lane.
    pub(super) fn words(&self) -> u32 {
        self.x(self.lanes - 1) + 40
    }

    pub(super) fn height(&self) -> u32 {
        self.rows.len().max(1) as u32 * ROW
    }

    /// The rows with their middles.
    pub(super) fn rows(&self) -> impl Iterator<Item = (Row, u32)> {
        (0u32..).zip(&self.rows).map(|(at, &row)| (row, HEAD + at * ROW + ROW / 2))
    }
}

/// The steps that are shown; all if there are few.
fn shown(timeline: &Timeline<'_>) -> Option<BTreeSet<usize>> {
    let steps = &timeline.trace.steps;
    if steps.len() <= FOLDED_FROM {
        return None;
    }
    let mut shown: BTreeSet<usize> =
        timeline.race().into_iter().chain(timeline.critical()).collect();
    shown.extend(steps.len().saturating_sub(20)..steps.len());
    for (at, step) in steps.iter().enumerate() {
        if step.preempts {
            shown.extend([at.saturating_sub(1), at]);
        }
        if step.fault.is_some() || step.timeout {
            shown.insert(at);
        }
    }
    for flight in &timeline.flights {
        shown.extend([flight.from.step, flight.to.step]);
    }
    let open = timeline.trace.spans.iter().filter(|span| span.to.is_none());
    shown.extend(open.map(|span| span.from.saturating_sub(1)));
    Some(shown)
}
