//! `everypath model`: explore a protocol model.

mod graph;
mod increment;
mod report;

use crate::catalog::{Catalog, Entry};
use crate::cli::{AddName, ModelArgs, StrategyName};
use crate::network::Asked;
use crate::output::{self, Formats, Json, OutputFile};
use crate::suggest;
use crate::usage::Usage;
use crate::watch::{Stopped, Watch};
use crate::{HOLDS, INCONCLUSIVE, VIOLATED};
use everypath_explore::{AnyModel, Request};
use everypath_explore::{Config, Exploration, GENERATOR, Search};
use everypath_report::CheckResult;
use everypath_trace::{SearchRecord, ShuffleRecord, Verdict, file};
use graph::{GraphPlan, Session};
use report::Report;
use std::thread;
use std::time::Duration;

/// Explores a model and reports what was found.
pub(crate) fn run(catalog: &Catalog, args: &ModelArgs) -> Result<u8, Usage> {
    let entry = catalog.find(&args.name)?;
    if args.events {
        output::print(&list(entry.kind.events.iter().map(|event| (event.name, event.about))));
        return Ok(HOLDS);
    }
    let asked = Asked::new(entry, &args.build, entry.kind.nodes)?;
    let seed = args.common.seed;
    let duplicate = args.duplicate;
    let model = entry.build(Config { duplicate, ..asked.with_links(seed) })?;
    if args.rank.as_deref() == Some("list") {
        let ranks = model.ranks();
        output::print(&list(ranks.iter().map(|(name, about)| (name.as_str(), about.as_str()))));
        return Ok(HOLDS);
    }
    let plan = Plan::new(entry, model.as_ref(), args)?;
    let formats = Formats::new(args.output.junit.as_deref(), args.output.sarif.as_deref())?;
    let common = &args.common;
    if let Some(warning) = asked.warning(seed).filter(|_| !args.output.quiet) {
        output::warning(&warning);
    }
    let graph = GraphPlan::new(entry, model.as_ref(), args)?;
    let seconds = common.max_seconds.map(f64::from).or(graph.as_ref().and_then(GraphPlan::seconds));
    let watch = Watch::new(seconds, common.max_memory.map(|size| size.0), args.output.quiet);
    let runs = match &graph {
        Some(graph) => graph.run(&plan, model.as_ref(), &watch)?,
        None => plan.run(model.as_ref(), &watch),
    };
    let report = Report::new(entry, model.as_ref(), &plan, &runs);
    let code = finish(&plan, &report, args.output.quiet)?;
    let path = plan.trace.path();
    let result = CheckResult {
        target: &report.json.target,
        verdict: report.verdict,
        text: report.json.reason.as_deref().unwrap_or(report.json.coverage.kind),
        seconds: report.json.stats.seconds,
        trace: report.trace.as_ref(),
        trace_file: &path,
    };
    formats.write(&result, matches!(plan.json, Json::Stdout))?;
    if let Some(json) = report.json.incremental.filter(|_| args.graph.pilot && !args.output.quiet)
        && !matches!(plan.json, Json::Stdout)
    {
        output::print(&increment::pilot(&json));
    }
    Ok(code)
}

/// Writes and prints the report.
fn finish(plan: &Plan, report: &Report, quiet: bool) -> Result<u8, Usage> {
    if let Some(trace) = &report.trace {
        plan.trace.write_or_say(&file::to_bytes(trace))?;
    }
    plan.json.write(&report.json)?;
    if !quiet && !matches!(plan.json, Json::Stdout) {
        output::print(&report.text);
    }
    Ok(match report.verdict {
        Verdict::Holds => HOLDS,
        Verdict::Violated => VIOLATED,
        Verdict::Inconclusive => INCONCLUSIVE,
    })
}

/// Names and what they mean, in two columns.
fn list<'a>(items: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> String {
    let width = items.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
    items.map(|(name, about)| format!("{name:width$}  {about}\n")).collect()
}

/// A request that was checked.
struct Plan {
    request: Request,
    seed: u64,
    replications: u32,
    /// The names that belong to the numbers in the request.
    record: SearchRecord,
    /// How the model was built.
    config: Config,
    /// The topology as it was asked for.
    topology: Option<String>,
    trace: OutputFile,
    json: Json,
}

/// One finished search.
struct Run {
    exploration: Exploration,
    took: Duration,
    stopped: Option<Stopped>,
    record: SearchRecord,
    /// What an incremental search has left besides.
    session: Option<Session>,
}

impl Plan {
    /// Checks the whole request before any work starts.
    fn new(entry: &Entry, model: &dyn AnyModel, args: &ModelArgs) -> Result<Plan, Usage> {
        let common = &args.common;
        if args.strategy == StrategyName::DfsRecursive && args.add == AddName::Current {
            return Err(Usage::new(
                "--add current does not go with --strategy dfs-recursive, which removes \
                 duplicates as it generates them; use --strategy dfs",
            ));
        }
        let rank = choose_rank(entry, model, args)?;
        let must_contain =
            args.must_contain.as_deref().map(|name| entry.event(name)).transpose()?;
        let disabled =
            args.disable.iter().map(|name| entry.event(name)).collect::<Result<Vec<_>, _>>()?;
        if let Some(event) = must_contain.filter(|event| disabled.contains(event)) {
            let name = entry.kind.events[event as usize].name;
            return Err(Usage::new(format!(
                "--must-contain {name} and --disable {name} exclude each other; drop one of them"
            )));
        }
        let search = Search {
            order: args.strategy.into(),
            add: args.add.into(),
            shuffle: None,
            visited: args.visited.into(),
            max_depth: common.max_depth.or(entry.kind.default_depth),
            max_states: common.max_states,
            max_executions: common.max_executions,
            keep_going: common.keep_going,
            must_contain,
            disabled,
            threads: threads(common.threads),
        };
        let record = SearchRecord {
            strategy: search.order.to_string(),
            add: search.add.to_string(),
            visited: search.visited.to_string(),
            max_depth: search.max_depth,
            shuffle: args
                .shuffle
                .then(|| ShuffleRecord { generator: GENERATOR.into(), seed: common.seed }),
            rank: rank.clone(),
            must_contain: args.must_contain.clone(),
            disabled: args.disable.clone(),
        };
        let properties = choose_properties(entry, model, &args.property)?;
        let trace = OutputFile::new("--trace", &args.output.trace)?;
        if args.output.json.as_deref() == Some(&args.output.trace) && !trace.is_special() {
            return Err(Usage::new("--json and --trace name the same file; choose two"));
        }
        Ok(Plan {
            request: Request { search, rank, properties },
            seed: common.seed,
            replications: args.replications,
            record,
            config: model.config().clone(),
            topology: args.build.topology.clone(),
            trace,
            json: Json::new(args.output.json.as_deref())?,
        })
    }

    /// Runs all replications, or as many as the limits allow.
    fn run(&self, model: &dyn AnyModel, watch: &Watch<'_>) -> Vec<Run> {
        let mut runs = Vec::new();
        for (request, record) in self.requests() {
            let (exploration, took, stopped) =
                watch.run(|control| model.explore(&request, control));
            runs.push(Run { exploration, took, stopped, record, session: None });
            if stopped.is_some() {
                break;
            }
        }
        runs
    }

    /// The searches, with their records.
    fn requests(&self) -> impl Iterator<Item = (Request, SearchRecord)> {
        (0..u64::from(self.replications)).map(|number| {
            let mut record = self.record.clone();
            if let Some(shuffle) = &mut record.shuffle {
                shuffle.seed = self.seed.wrapping_add(number);
            }
            let request = Request {
                search: Search {
                    shuffle: record.shuffle.as_ref().map(|shuffle| shuffle.seed),
                    ..self.request.search.clone()
                },
                rank: self.request.rank.clone(),
                properties: self.request.properties.clone(),
            };
            (request, record)
        })
    }
}

fn threads(asked: Option<u16>) -> usize {
    match asked {
        Some(threads) => threads.into(),
        None => thread::available_parallelism().map_or(1, usize::from),
    }
}

fn choose_rank(
    entry: &Entry,
    model: &dyn AnyModel,
    args: &ModelArgs,
) -> Result<Option<String>, Usage> {
    let ranks = model.ranks();
    match &args.rank {
        None if args.strategy != StrategyName::Befs => Ok(None),
        None => ranks.into_iter().next().map(|(name, _)| Some(name)).ok_or_else(|| {
            Usage::new(format!(
                "{} has no ranks, so --strategy befs cannot be used",
                entry.kind.name
            ))
        }),
        Some(name) => {
            let what = format!("rank of {}", entry.kind.name);
            suggest::find(&what, name, ranks.iter().map(|(name, _)| name.as_str()))?;
            if args.strategy != StrategyName::Befs {
                return Err(Usage::new(format!(
                    "--rank {name} needs --strategy befs; the other strategies do not rank states"
                )));
            }
            Ok(Some(name.clone()))
        }
    }
}

fn choose_properties(
    entry: &Entry,
    model: &dyn AnyModel,
    asked: &[String],
) -> Result<Vec<String>, Usage> {
    let known = model.properties();
    let what = format!("property of {}", entry.kind.name);
    for name in asked {
        suggest::find(&what, name, known.iter().map(String::as_str))?;
    }
    Ok(known.into_iter().filter(|name| asked.is_empty() || asked.contains(name)).collect())
}
