//! Running the experiments of chapter 8.

use super::text::{Cell, Line};
use super::{Flagged, Searched, Versions};
use crate::experiment::{ExperimentError, Host};
use crate::models::{Setup, event};
use crate::strategy::{Strategy, strategy};
use everypath_explore::graph::{About, Baseline, Graph, Makeup};
use everypath_explore::{
    AnyModel, Exploration, Increment, Incremental, ModelKind, Quantities, Request, Search,
};
use std::io::Cursor;
use std::time::Duration;

/// Averages over seeds.
#[derive(Clone, Copy, Default)]
pub(super) struct Figures {
    pub(super) seconds: f64,
    /// Bytes of the search, and besides.
    pub(super) bytes: f64,
    pub(super) extra: f64,
    pub(super) events: f64,
    pub(super) executed: f64,
    pub(super) p: f64,
    pub(super) q: f64,
    pub(super) t: f64,
    pub(super) v: f64,
    /// The costs of the last run.
    pub(super) quantities: Quantities,
    runs: f64,
}

impl Figures {
    fn add(&mut self, seconds: f64, exploration: &Exploration, increment: &Increment) {
        let counts = &exploration.counts;
        let reuse = &increment.reuse;
        let load = Duration::ZERO;
        self.quantities = Quantities::new(counts, reuse, &increment.costs, load);
        self.runs += 1.0;
        let share = 1.0 / self.runs;
        for (average, value) in [
            (&mut self.seconds, seconds),
            (&mut self.bytes, increment.search_bytes as f64),
            (&mut self.extra, increment.extra_bytes as f64),
            (&mut self.events, counts.events as f64),
            (&mut self.executed, reuse.executed as f64),
            (&mut self.p, self.quantities.p),
            (&mut self.q, self.quantities.q),
            (&mut self.t, self.quantities.t),
            (&mut self.v, self.quantities.v),
        ] {
            *average += (value - *average) * share;
        }
    }
}

/// A model with a search over it.
struct Subject<'a> {
    host: &'a Host<'a>,
    kind: ModelKind,
    model: Box<dyn AnyModel>,
    request: Request,
    makeup: Makeup,
}

/// How a graph is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// As long as it is of use.
    Use,
    /// To the end, even if it is of no use.
    Stubborn,
    /// And written again.
    Update,
}

/// What became of a search.
type IncrementalRun = (Exploration, Increment, f64, Option<String>);

impl<'a> Subject<'a> {
    fn new(host: &'a Host<'a>, setup: &Setup, searched: Searched) -> Result<Self, ExperimentError> {
        let model = setup.build(Some(searched.nodes))?;
        let Strategy { order, add, rank, .. } = strategy(searched.label)?;
        let search = Search {
            order,
            add,
            max_depth: Some(searched.max_depth),
            keep_going: searched.keep_going,
            ..setup.search()?
        };
        let request = Request::new(model.as_ref(), search, rank.map(ToString::to_string));
        let makeup = model.makeup().unwrap_or_default();
        Ok(Subject { host, kind: setup.kind()?, model, request, makeup })
    }

    fn seed(&mut self, seed: u64) {
        self.request.search.shuffle = Some(seed);
    }

    fn explore(&self, given: Incremental<'_>) -> IncrementalRun {
        let ((exploration, increment), timed) = self
            .host
            .watched(|control| self.model.explore_incrementally(&self.request, given, control));
        (exploration, increment, timed.took.as_secs_f64(), timed.stopped)
    }

    /// The graph of a search from scratch.
    fn recorded(&self) -> Result<Vec<u8>, ExperimentError> {
        let record = Incremental { record: true, ..Incremental::default() };
        let (_, mut increment, _, _) = self.explore(record);
        self.graph(&mut increment, None)
    }

    /// The graph of a search, as a file would hold it.
    fn graph(
        &self,
        increment: &mut Increment,
        baseline: Option<&Baseline<'_>>,
    ) -> Result<Vec<u8>, ExperimentError> {
        let ledger = increment.ledger.take().unwrap_or_default();
        let left_out = &self.request.search.disabled;
        let about = About { makeup: &self.makeup, left_out, counterexamples: &[] };
        let mut file = Cursor::new(Vec::new());
        let written = ledger.write(&mut file, baseline, about);
        written.map_err(|error| ExperimentError::Graph(error.to_string()))?;
        Ok(file.into_inner())
    }

    /// Explores with a graph; the time it takes to open it is counted. The graph comes back if it
    /// is updated.
    fn explore_with(
        &self,
        file: &[u8],
        modified: Option<&[u16]>,
        mode: Mode,
    ) -> Result<(IncrementalRun, Option<Vec<u8>>), ExperimentError> {
        let start = (self.host.clock)();
        let unusable = |error: &dyn std::fmt::Display| ExperimentError::Graph(error.to_string());
        let graph = Graph::open(file).map_err(|error| unusable(&error))?;
        let baseline = Baseline::new(&graph, &self.makeup, modified);
        let baseline = baseline.map_err(|error| unusable(&error))?;
        let given = Incremental {
            baseline: Some(&baseline),
            record: mode == Mode::Update,
            clock: Some(self.host.clock),
            stubborn: mode == Mode::Stubborn,
            ..Incremental::default()
        };
        let (exploration, mut increment, _, stopped) = self.explore(given);
        let update = mode == Mode::Update;
        let graph = update.then(|| self.graph(&mut increment, Some(&baseline))).transpose()?;
        let seconds = self.host.seconds_since(start);
        Ok(((exploration, increment, seconds, stopped), graph))
    }
}

pub(super) fn run_flagged(
    host: &Host<'_>,
    flagged: &Flagged,
    seeds: u64,
) -> Result<(Vec<Line>, Option<String>), ExperimentError> {
    let mut subject = Subject::new(host, &flagged.setup, flagged.search)?;
    let numbers = |names: &&[&str]| -> Result<Vec<u16>, ExperimentError> {
        names.iter().map(|name| event(&subject.kind, name)).collect()
    };
    let modified = flagged.modified.iter().map(numbers).collect::<Result<Vec<_>, _>>()?;
    let mut other = match &flagged.graph_of {
        Some(setup) => Some(Subject::new(host, setup, flagged.search)?),
        None => None,
    };
    let mut scratch = Figures::default();
    let mut columns = vec![Figures::default(); modified.len()];
    let mut stopped = None;
    for seed in 1..=seeds {
        subject.seed(seed);
        let plain = Incremental { clock: Some(host.clock), ..Incremental::default() };
        let (expected, increment, seconds, why) = subject.explore(plain);
        scratch.add(seconds, &expected, &increment);
        let file = match &mut other {
            Some(other) => {
                other.seed(seed);
                other.recorded()?
            }
            None => subject.recorded()?,
        };
        stopped = why;
        for (numbers, column) in modified.iter().zip(&mut columns) {
            let ((exploration, increment, seconds, why), _) =
                subject.explore_with(&file, Some(numbers), Mode::Use)?;
            same(&exploration, &expected, why.is_some() || stopped.is_some())?;
            column.add(seconds, &exploration, &increment);
            stopped = stopped.or(why);
        }
        if stopped.is_some() {
            break;
        }
    }
    let names = flagged.modified.iter().map(|names| names.join(", "));
    let cells = names.zip(columns).map(|(name, figures)| Cell { name, figures });
    let line = Line {
        name: format!("{}, {} nodes", flagged.search.label, flagged.search.nodes),
        part: flagged.title,
        scratch,
        cells: cells.collect(),
    };
    Ok((vec![line], stopped))
}

pub(super) fn run_versions(
    host: &Host<'_>,
    versions: &Versions,
    seeds: u64,
) -> Result<(Vec<Line>, Option<String>), ExperimentError> {
    let subjects = versions.versions.iter();
    let subjects = subjects.map(|version| Subject::new(host, &version.setup, versions.search));
    let mut subjects = subjects.collect::<Result<Vec<_>, _>>()?;
    let mut lines: Vec<(Figures, Figures)> = vec![Default::default(); subjects.len()];
    let mut stopped = None;
    for seed in 1..=seeds {
        let mut file: Option<Vec<u8>> = None;
        for (subject, (scratch, incremental)) in subjects.iter_mut().zip(&mut lines) {
            subject.seed(seed);
            let (expected, increment, seconds, why) = subject.explore(Incremental::default());
            scratch.add(seconds, &expected, &increment);
            let mode = if versions.write_each { Mode::Update } else { Mode::Use };
            let (outcome, updated) = match &file {
                Some(file) => {
                    let mut done = subject.explore_with(file, None, mode)?;
                    // The paper's p and q are those of a graph that is asked to the end.
                    let ((_, asked, ..), _) = subject.explore_with(file, None, Mode::Stubborn)?;
                    done.0.1.reuse.hits = asked.reuse.hits;
                    done.0.1.reuse.misses = asked.reuse.misses;
                    done.0.1.reuse.modified = asked.reuse.modified;
                    done
                }
                None => {
                    let record = Incremental { record: true, ..Incremental::default() };
                    let start = (host.clock)();
                    let (exploration, mut increment, _, why) = subject.explore(record);
                    let graph = subject.graph(&mut increment, None)?;
                    let seconds = host.seconds_since(start);
                    ((exploration, increment, seconds, why), Some(graph))
                }
            };
            let (exploration, increment, seconds, again) = outcome;
            same(&exploration, &expected, why.is_some() || again.is_some())?;
            incremental.add(seconds, &exploration, &increment);
            file = updated.or(file);
            stopped = stopped.or(why).or(again);
        }
        if stopped.is_some() {
            break;
        }
    }
    let lines = versions.versions.iter().zip(lines).map(|(version, (scratch, figures))| Line {
        name: version.name.into(),
        part: versions.title,
        scratch,
        cells: vec![Cell { name: "incremental".into(), figures }],
    });
    Ok((lines.collect(), stopped))
}

/// Both searches must have explored the same, unless one was stopped.
fn same(
    exploration: &Exploration,
    expected: &Exploration,
    stopped: bool,
) -> Result<(), ExperimentError> {
    match exploration.same_as(expected) || stopped {
        true => Ok(()),
        false => Err(ExperimentError::Disagreement),
    }
}
