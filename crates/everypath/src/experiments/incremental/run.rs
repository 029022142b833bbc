//! Running the experiments of chapter 8.

use super::text::{Cell, Line};
use super::{Experiment, Flagged, Part, Searched, Versions, text};
use crate::catalog::{Entry, Explorable, Request};
use crate::experiments::run::Runner;
use crate::experiments::strategy::{Strategy, strategy};
use crate::experiments::{QUICK_REPLICATIONS, Setup};
use crate::incremental_advice::Quantities;
use crate::usage::Usage;
use crate::watch::{Stopped, clock, now};
use everypath_explore::graph::{About, Baseline, Graph, Makeup};
use everypath_explore::{Config, Exploration, Increment, Incremental, Search};
use serde_json::Value;
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
    runner: &'a Runner<'a>,
    entry: &'a Entry,
    model: Box<dyn Explorable>,
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
type Outcome = (Exploration, Increment, f64, Option<Stopped>);

impl<'a> Subject<'a> {
    fn new(runner: &'a Runner<'a>, setup: &Setup, searched: Searched) -> Result<Self, Usage> {
        let entry = runner.catalog.find(setup.model)?;
        let bugs: Vec<String> = setup.bugs.iter().map(ToString::to_string).collect();
        let model = entry.build(Config { bugs, ..Config::new(searched.nodes) })?;
        let unknown = || Usage::new(format!("unknown search {}", searched.label));
        let Strategy { order, add, rank, .. } = strategy(searched.label).ok_or_else(unknown)?;
        let search = Search {
            order,
            add,
            visited: setup.visited,
            max_depth: Some(searched.max_depth),
            must_contain: setup.must_contain.map(|event| entry.event(event)).transpose()?,
            disabled: setup.disabled.iter().map(|e| entry.event(e)).collect::<Result<_, _>>()?,
            keep_going: searched.keep_going,
            ..Search::default()
        };
        let properties = model.properties();
        let request = Request { search, rank: rank.map(ToString::to_string), properties };
        let makeup = model.makeup().unwrap_or_default();
        Ok(Subject { runner, entry, model, request, makeup })
    }

    fn seed(&mut self, seed: u64) {
        self.request.search.shuffle = Some(seed);
    }

    fn explore(&self, given: Incremental<'_>) -> Outcome {
        let ((exploration, increment), took, stopped) = self
            .runner
            .watch
            .run(|control| self.model.explore_incrementally(&self.request, given, control));
        (exploration, increment, took.as_secs_f64(), stopped)
    }

    /// The graph of a search, as a file would hold it.
    fn graph(
        &self,
        increment: &mut Increment,
        baseline: Option<&Baseline<'_>>,
    ) -> Result<Vec<u8>, Usage> {
        let ledger = increment.ledger.take().unwrap_or_default();
        let left_out = &self.request.search.disabled;
        let about = About { makeup: &self.makeup, left_out, counterexamples: &[] };
        let mut file = Cursor::new(Vec::new());
        let written = ledger.write(&mut file, baseline, about);
        written.map_err(|error| Usage::new(format!("cannot write a graph: {error}")))?;
        Ok(file.into_inner())
    }

    /// Explores with a graph; the time it takes to open it is counted. The graph comes back if it
    /// is updated.
    fn explore_with(
        &self,
        file: &[u8],
        modified: Option<&[u16]>,
        mode: Mode,
    ) -> Result<(Outcome, Option<Vec<u8>>), Usage> {
        let start = now();
        let unusable = |error: &dyn std::fmt::Display| Usage::new(format!("a graph: {error}"));
        let graph = Graph::open(file).map_err(|error| unusable(&error))?;
        let baseline = Baseline::new(&graph, &self.makeup, modified);
        let baseline = baseline.map_err(|error| unusable(&error))?;
        let clock = clock();
        let given = Incremental {
            baseline: Some(&baseline),
            record: mode == Mode::Update,
            clock: Some(&clock),
            stubborn: mode == Mode::Stubborn,
            ..Incremental::default()
        };
        let (exploration, mut increment, _, stopped) = self.explore(given);
        let update = mode == Mode::Update;
        let graph = update.then(|| self.graph(&mut increment, Some(&baseline))).transpose()?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(((exploration, increment, seconds, stopped), graph))
    }
}

/// Runs an experiment. `print` gets the lines as they come. Returns the rows, and why it was
/// stopped if it was.
pub(crate) fn run(
    runner: &Runner<'_>,
    experiment: &Experiment,
    print: &dyn Fn(&str),
) -> Result<(Vec<Value>, Option<Stopped>), Usage> {
    let seeds = match runner.quick {
        true => experiment.replications.min(QUICK_REPLICATIONS),
        false => experiment.replications,
    };
    let mut rows = Vec::new();
    for part in &experiment.parts {
        let (lines, stopped) = match part {
            Part::Flagged(flagged) => run_flagged(runner, flagged, seeds)?,
            Part::Versions(versions) => run_versions(runner, versions, seeds)?,
        };
        print(&text::render(part, &lines));
        rows.extend(lines.iter().map(Line::json));
        if stopped.is_some() {
            return Ok((rows, stopped));
        }
    }
    Ok((rows, None))
}

fn run_flagged(
    runner: &Runner<'_>,
    flagged: &Flagged,
    seeds: u64,
) -> Result<(Vec<Line>, Option<Stopped>), Usage> {
    let mut subject = Subject::new(runner, &flagged.setup, flagged.search)?;
    let numbers = |names: &&[&str]| -> Result<Vec<u16>, Usage> {
        names.iter().map(|name| subject.entry.event(name)).collect()
    };
    let modified = flagged.modified.iter().map(numbers).collect::<Result<Vec<_>, _>>()?;
    let mut scratch = Figures::default();
    let mut columns = vec![Figures::default(); modified.len()];
    let mut stopped = None;
    let clock = clock();
    for seed in 1..=seeds {
        subject.seed(seed);
        let plain = Incremental { clock: Some(&clock), ..Incremental::default() };
        let (expected, increment, seconds, why) = subject.explore(plain);
        scratch.add(seconds, &expected, &increment);
        let record = Incremental { record: true, ..Incremental::default() };
        let (_, mut increment, _, _) = subject.explore(record);
        let file = subject.graph(&mut increment, None)?;
        stopped = why;
        for (numbers, column) in modified.iter().zip(&mut columns) {
            let ((exploration, increment, seconds, why), _) =
                subject.explore_with(&file, Some(numbers), Mode::Use)?;
            same(&exploration, &expected, why.or(stopped))?;
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

fn run_versions(
    runner: &Runner<'_>,
    versions: &Versions,
    seeds: u64,
) -> Result<(Vec<Line>, Option<Stopped>), Usage> {
    let subjects = versions.versions.iter();
    let subjects = subjects.map(|version| Subject::new(runner, &version.setup, versions.search));
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
                    let start = now();
                    let (exploration, mut increment, _, why) = subject.explore(record);
                    let graph = subject.graph(&mut increment, None)?;
                    let seconds = start.elapsed().as_secs_f64();
                    ((exploration, increment, seconds, why), Some(graph))
                }
            };
            let (exploration, increment, seconds, again) = outcome;
            same(&exploration, &expected, why.or(again))?;
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
    stopped: Option<Stopped>,
) -> Result<(), Usage> {
    if exploration == expected || stopped.is_some() {
        return Ok(());
    }
    Err(Usage::new("a defect: the incremental search has explored something else"))
}
