//! Sequence charts as plain text, one line per message.

use super::{Arrow, Chart, End, Fault, Place, cut};
use std::fmt::Write;

/// The least and the greatest distance between lifelines, and the width that is aimed at.
const DISTANCES: (usize, usize) = (20, 44);
const WIDTH: usize = 76;
/// How many columns precede the first lifeline: the number of the line, and that of its step.
const MARGIN: usize = 12;

/// One line: what is drawn between lifelines, and what is said beside it.
struct Line<'a> {
    arrow: &'a Arrow,
    place: Place,
    /// Whether it comes from the lifeline of the sender, and reaches that of the receiver.
    begins: bool,
    arrives: bool,
}

impl Chart {
    /// The last rows, as many as given at most.
    pub fn text(&self, shown: usize) -> String {
        let mut lines = self.lines();
        let hidden = lines.len().saturating_sub(shown);
        lines.drain(..hidden);
        let mut out = format!("line  step  {}\n", self.names());
        if hidden > 0 {
            let _ = writeln!(out, "{:MARGIN$}… {hidden} earlier", "");
        }
        let first = lines.first().map_or(0, |line| line.place.row);
        let shown = |fault: &&Fault| hidden == 0 || fault.before > first;
        let mut faults = self.faults.iter().filter(shown).peekable();
        let mut before = 0;
        let mut row = |number: &str, step: usize, drawn: &str, note: &str| {
            // What no other thread could come before is no step of its own.
            let of = if step == before { String::new() } else { step.to_string() };
            before = step;
            let row = format!("{number:>4}  {of:>4}  {drawn}  {note}");
            let _ = writeln!(out, "{}", row.trim_end());
        };
        let blank: String = self.blank().into_iter().collect();
        for (line, number) in lines.iter().zip(hidden + 1..) {
            while let Some(fault) = faults.next_if(|fault| fault.before <= line.place.row) {
                row("", fault.step, &blank, &fault.words);
            }
            row(&number.to_string(), line.place.step, &self.drawn(line), &line.note());
        }
        for fault in faults {
            row("", fault.step, &blank, &fault.words);
        }
        out
    }

    /// The lifelines alone.
    fn blank(&self) -> Vec<char> {
        let mut cells = vec![' '; (self.lifelines.len() - 1) * self.distance() + 1];
        cells.iter_mut().step_by(self.distance()).for_each(|cell| *cell = '|');
        cells
    }

    fn distance(&self) -> usize {
        let between = self.lifelines.len().saturating_sub(1).max(1);
        (WIDTH / between).clamp(DISTANCES.0, DISTANCES.1)
    }

    fn names(&self) -> String {
        let distance = self.distance();
        let mut line = String::new();
        for name in &self.lifelines {
            let name = cut(name, distance - 2);
            let _ = write!(line, "{name:distance$}");
        }
        line.trim_end().into()
    }

    /// The lines in the order of their rows.
    fn lines(&self) -> Vec<Line<'_>> {
        let mut lines = Vec::new();
        for arrow in &self.arrows {
            let begin = Line { arrow, place: arrow.begins, begins: true, arrives: false };
            match arrow.end {
                End::Arrives { at, .. } if at.row == arrow.begins.row => {
                    lines.push(Line { arrives: true, place: at, ..begin });
                }
                End::Arrives { at, copies, .. } => {
                    if copies == 0 {
                        lines.push(begin);
                    }
                    lines.push(Line { arrow, place: at, begins: false, arrives: true });
                }
                End::Lost | End::Unread => lines.push(begin),
            }
        }
        lines.sort_by_key(|line| line.place.row);
        lines
    }

    fn drawn(&self, line: &Line<'_>) -> String {
        let distance = self.distance();
        let column = |lifeline: usize| lifeline * distance;
        let mut cells = self.blank();
        let Arrow { from, to, content, .. } = line.arrow;
        if from == to {
            let mark = match (line.begins, line.arrives) {
                (true, false) => "> ",
                (false, _) => "< ",
                (true, true) => "<> ",
            };
            let words = format!(" {mark}{}", content.within(WIDTH.max(distance)));
            return overwritten(&cells, column(*from) + 1, &words);
        }
        let (left, right) = (column(*from.min(to)), column(*from.max(to)));
        let (first, last) = line.tips(from < to);
        cells[left + 1..right].fill('-');
        cells[left + 1] = first;
        cells[right - 1] = last;
        let label = format!(" {} ", content.within(right - left - 8));
        let start = left + (right - left - label.chars().count().min(right - left)) / 2 + 1;
        overwritten(&cells, start, &label)
    }
}

/// The cells with a text over them.
fn overwritten(cells: &[char], start: usize, text: &str) -> String {
    let mut cells = cells.to_vec();
    for (at, character) in text.chars().enumerate() {
        match cells.get_mut(start + at) {
            Some(cell) => *cell = character,
            None => cells.push(character),
        }
    }
    cells.into_iter().collect()
}

impl Line<'_> {
    /// The characters at the left and the right end.
    fn tips(&self, is_rightward: bool) -> (char, char) {
        let head = match self.arrow.end {
            End::Lost => 'x',
            End::Unread => 'o',
            _ if !self.arrives => '~',
            _ if is_rightward => '>',
            _ => '<',
        };
        let tail = if self.begins { '-' } else { '~' };
        if is_rightward { (tail, head) } else { (head, tail) }
    }

    /// What is said beside it.
    fn note(&self) -> String {
        let sent = self.arrow.begins.row + 1;
        match self.arrow.end {
            End::Lost => "lost".into(),
            End::Unread => "not read".into(),
            End::Arrives { .. } if !self.arrives => String::new(),
            End::Arrives { copies: 1.., .. } => format!("again: sent in line {sent}"),
            End::Arrives { is_late: true, .. } => format!("late: sent in line {sent}"),
            End::Arrives { .. } if !self.begins => format!("sent in line {sent}"),
            End::Arrives { .. } => String::new(),
        }
    }
}
