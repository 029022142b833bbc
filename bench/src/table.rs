//! The result as a Markdown table, and the raw numbers behind it.

use crate::contender::{REFERENCE, StateCounts};
use crate::model::Bounds;
use serde::Serialize;

/// The cost of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// The round, from 1.
    pub round: usize,
    /// What the tool found.
    #[serde(flatten)]
    pub outcome: StateCounts,
    /// User and system time in seconds.
    pub cpu_seconds: f64,
    /// Time between start and end in seconds.
    pub wall_seconds: f64,
    /// Largest resident set in bytes.
    pub peak_rss: u64,
}

/// All runs of one contender.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The contender's name.
    pub name: &'static str,
    /// Whether all counts were right; if not, the row is marked in the table.
    pub exact: bool,
    /// Whether several processes share the work: their memory is then known only in part.
    pub several_processes: bool,
    /// One sample per round.
    pub samples: Vec<Sample>,
}

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The model's parameters.
    pub bounds: Bounds,
    /// Cores that the parallel rows could use.
    pub cores: usize,
    /// SPIN's version, if it was run.
    pub spin: Option<String>,
    /// Largest resident set in bytes of a child that does nothing.
    pub baseline_rss: u64,
    /// The contenders, in the order of the table.
    pub rows: Vec<Row>,
}

impl Row {
    /// Returns the median over all rounds of one number.
    fn median(&self, number: impl Fn(&Sample) -> f64) -> f64 {
        let mut values: Vec<f64> = self.samples.iter().map(number).collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        match values.len() {
            0 => f64::NAN,
            len if len % 2 == 1 => values[middle],
            _ => (values[middle - 1] + values[middle]) / 2.0,
        }
    }

    /// Returns the median of the processor time.
    fn cpu(&self) -> f64 {
        self.median(|sample| sample.cpu_seconds)
    }

    /// Returns the median of the time on the clock.
    pub fn wall(&self) -> f64 {
        self.median(|sample| sample.wall_seconds)
    }

    /// Formats the row; `reference` is the processor time that counts as 1.
    fn markdown(&self, baseline_rss: u64, reference: Option<f64>) -> String {
        let outcome = self.samples.last().map(|sample| sample.outcome);
        let states = outcome.map_or(0, |found| found.states);
        let transitions = outcome.and_then(|found| found.transitions);
        let cpu = self.cpu();
        let wall = self.wall();
        let memory = self.median(|sample| sample.peak_rss.saturating_sub(baseline_rss) as f64);
        format!(
            "| {}{} | {} | {} | {cpu:.2} | {wall:.2} | {} | {}{:.1} | {} |\n",
            self.name,
            if self.exact { "" } else { " (inexact)" },
            grouped(states),
            transitions.map_or("–".into(), grouped),
            grouped((states as f64 / cpu) as u64),
            if self.several_processes { "≥ " } else { "" },
            memory / states as f64,
            reference.map_or("–".into(), |reference| format!("{:.1}", cpu / reference)),
        )
    }
}

impl Report {
    /// Formats the medians as a Markdown table.
    pub fn markdown(&self) -> String {
        let reference = self.rows.iter().find(|row| row.name == REFERENCE);
        let reference = reference.map(Row::cpu);
        let mut text = String::from(
            "| tool | states | transitions | CPU s | wall s | states/s (CPU) | bytes/state \
             | CPU / limit |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
        );
        for row in &self.rows {
            text += &row.markdown(self.baseline_rss, reference);
        }
        text
    }
}

/// Formats a number with a comma between groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::QUICK;

    /// Makes a row with one sample for each processor time.
    fn row(name: &'static str, cpu_seconds: &[f64]) -> Row {
        let sample = |(index, &cpu_seconds)| Sample {
            round: index + 1,
            outcome: StateCounts { states: 1_000, transitions: None, levels: None },
            cpu_seconds,
            wall_seconds: 1.0,
            peak_rss: 21_000,
        };
        Row {
            name,
            exact: name == REFERENCE,
            several_processes: name != REFERENCE,
            samples: cpu_seconds.iter().enumerate().map(sample).collect(),
        }
    }

    #[test]
    fn medians_ratios_and_marks_are_shown() {
        let report = Report {
            bounds: QUICK,
            cores: 2,
            spin: None,
            baseline_rss: 1_000,
            rows: vec![row(REFERENCE, &[9.0, 0.5, 0.1]), row("other", &[1.0, 2.0])],
        };
        let text = report.markdown();
        let mut lines = text.lines().skip(2);
        assert_eq!(lines.next(), Some("| limit | 1,000 | – | 0.50 | 1.00 | 2,000 | 20.0 | 1.0 |"));
        assert_eq!(
            lines.next(),
            Some("| other (inexact) | 1,000 | – | 1.50 | 1.00 | 666 | ≥ 20.0 | 3.0 |")
        );
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(23_312_786), "23,312,786");
    }
}
