//! What an experiment is, and what it needs from outside.

use everypath_explore::Control;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// How often rows with seeds are run in small versions.
pub(crate) const QUICK_REPLICATIONS: u64 = 5;

/// A table or a figure of a paper.
pub trait Experiment {
    /// What it is.
    fn about(&self) -> About;

    /// Runs it, and prints its rows as they come.
    fn run(&self, host: &Host<'_>) -> Result<Rows, ExperimentError>;

    /// Whether it is a figure, of which there is a plot.
    fn is_figure(&self) -> bool {
        false
    }

    /// The rows as an SVG plot, if it is a figure.
    fn plot(&self, _rows: &[Value]) -> Option<String> {
        None
    }
}

/// What an experiment is called, what it shows, and where the figures beside ours come from.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The name on the command line.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// The paper, and the table or figure in it.
    pub source: &'static str,
}

/// What came of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// The rows that were run.
    pub rows: Vec<Value>,
    /// Why the rest was left out, if it was.
    pub stopped: Option<String>,
}

/// Why an experiment has no rows.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// This machine lacks something that the experiment needs.
    #[error("{0}")]
    Missing(String),
    /// A table names something that there is not.
    #[error("unknown {0}")]
    Unknown(String),
    /// A graph cannot be written or read.
    #[error("a graph: {0}")]
    Graph(String),
    /// An incremental search and one from scratch disagree.
    #[error("an incremental search has explored something else than one from scratch")]
    Disagreement,
}

/// Something to do while limits are watched; the control says when to stop.
pub type Work<'a> = &'a mut dyn FnMut(&Control);

/// What experiments need from outside.
pub struct Host<'a> {
    /// Run small versions.
    pub quick: bool,
    /// The program `everypath`, which checks native programs.
    pub everypath: &'a Path,
    /// Where lines go as they come.
    pub print: &'a dyn Fn(&str),
    /// A clock, in nanoseconds.
    pub clock: &'a (dyn Fn() -> u64 + Sync),
    /// Does some work that can be stopped from outside.
    pub watch: &'a dyn Fn(Work<'_>) -> Timed,
}

/// How long watched work took, and why it was stopped, if it was.
#[derive(Clone, Debug)]
pub struct Timed {
    /// The time it took.
    pub took: Duration,
    /// Why it was stopped.
    pub stopped: Option<String>,
}

impl Host<'_> {
    /// Does some work under watch and returns what came of it.
    pub(crate) fn watched<R>(&self, work: impl FnOnce(&Control) -> R) -> (R, Timed) {
        let (mut work, mut result) = (Some(work), None);
        let timed = (self.watch)(&mut |control| {
            if let Some(work) = work.take() {
                result = Some(work(control));
            }
        });
        (result.expect("watching work means doing it"), timed)
    }

    /// Seconds since a reading of the clock.
    pub(crate) fn seconds_since(&self, start: u64) -> f64 {
        Duration::from_nanos((self.clock)() - start).as_secs_f64()
    }
}
