//! `everypath model`: explore a protocol model.

mod cluster;
mod covered;
mod disk;
mod graph;
mod increment;
mod interactive;
mod other;
mod report;
mod walks;

use crate::catalog::{Catalog, Entry};
use crate::cli::{AddName, ModelArgs, ReductionName, StrategyName, VisitedName};
use crate::network::Asked;
use crate::output::{self, Formats, Json, OutputFile};
use crate::suggest;
use crate::usage::Usage;
use crate::watch::{Stopped, Watch};
use crate::{HOLDS, INCONCLUSIVE, VIOLATED};
use cluster::ClusterPlan;
pub use cluster::search_together;
use disk::DiskPlan;
use everypath_explore::{
    AnyModel, Config, DEADLOCK, Ended, Exploration, Fairness, GENERATOR, Liveness, PropertyInfo,
    PropertyKind, Request, Search, VisitedKind, Walk, Walked,
};
use everypath_report::CheckResult;
use everypath_trace::{Control, SearchRecord, ShuffleRecord, Verdict, file};
use graph::{GraphPlan, Session};
use report::Report;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Explores a model and reports what was found.
pub fn run(catalog: &Catalog, args: &ModelArgs) -> Result<u8, Usage> {
    let entry = catalog.find(&args.name)?;
    if args.events {
        output::print(&list(entry.kind.events.iter().map(|event| (event.name, event.about))));
        return Ok(HOLDS);
    }
    let asked = Asked::new(entry, &args.build, entry.kind.nodes)?;
    let seed = args.common.seed;
    let identical = args.reduction.contains(&ReductionName::Identical);
    let model: Arc<dyn AnyModel> =
        args.network.build(entry, (&args.build, identical), seed)?.into();
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
    let disk = DiskPlan::new(entry, &plan, args)?;
    let cluster = ClusterPlan::new(entry, &plan, args)?;
    let seconds = common.max_seconds.map(f64::from).or(graph.as_ref().and_then(GraphPlan::seconds));
    let watch = Watch::new(seconds, common.max_memory.map(|size| size.0), args.output.quiet);
    let watch = watch.of_part(cluster.as_ref().is_some_and(ClusterPlan::is_started_by_another));
    if let Some(done) = other::run(entry, model.as_ref(), (&plan, &args.other), &watch) {
        return done;
    }
    let runs = match (&graph, &disk, &cluster) {
        (Some(graph), ..) => graph.run(&plan, model.as_ref(), &watch)?,
        (_, Some(disk), _) => disk.run(&plan, model.as_ref(), &watch)?,
        (.., Some(cluster)) => cluster.run(&plan, &model, &watch)?,
        (None, None, None) => plan.run(model.as_ref(), &watch),
    };
    let report = Report::new(entry, model.as_ref(), &plan, &runs);
    if cluster.is_some_and(|cluster| cluster.process > 0) {
        // Process 0 says it all; but it may be the one that is gone.
        if let (Verdict::Inconclusive, Some(reason)) = (report.verdict, &report.json.reason) {
            output::warning(reason);
        }
        return Ok(exit_code(report.verdict));
    }
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
    Ok(exit_code(report.verdict))
}

fn exit_code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Holds => HOLDS,
        Verdict::Violated => VIOLATED,
        Verdict::Inconclusive => INCONCLUSIVE,
    }
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
    /// The names of the properties of infinite executions.
    liveness: Vec<String>,
    /// The walks, if the model is not searched.
    walk: Option<Walk>,
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
    /// What the check of infinite executions has counted.
    liveness: Option<Liveness>,
    /// What random walks have counted.
    walked: Option<Walked>,
    /// What goes on with it, if it did not come to its end.
    hint: Option<String>,
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
        let walk = walks::plan(entry, args)?;
        let properties = choose_properties(entry, model, args)?;
        let symmetry = choose_symmetry(entry, model, args)?;
        let sleep = choose_sleep(entry, model, (args, &properties))?;
        let visited = choose_visited(model, &properties, args)?;
        let fairness = choose_fairness(entry, model, args)?;
        let names = |events: &[u16]| -> Vec<String> {
            events.iter().map(|&event| entry.kind.events[event as usize].name.into()).collect()
        };
        let search = Search {
            order: args.strategy.into(),
            add: args.add.into(),
            shuffle: None,
            visited,
            max_depth: common.max_depth.or(entry.kind.default_depth),
            max_states: common.max_states,
            max_executions: common.max_executions,
            keep_going: common.keep_going,
            must_contain,
            disabled,
            threads: threads(common.threads),
        };
        let record = SearchRecord {
            strategy: args.strategy.name().into(),
            add: search.add.to_string(),
            visited: search.visited.to_string(),
            max_depth: search.max_depth,
            shuffle: args
                .shuffle
                .then(|| ShuffleRecord { generator: GENERATOR.into(), seed: common.seed }),
            rank: rank.clone(),
            must_contain: args.must_contain.clone(),
            disabled: args.disable.clone(),
            weakly_fair: names(&fairness.weak),
            strongly_fair: names(&fairness.strong),
        };
        let trace = OutputFile::new("--trace", &args.output.trace)?;
        if args.output.json.as_deref() == Some(&args.output.trace) && !trace.is_special() {
            return Err(Usage::new("--json and --trace name the same file; choose two"));
        }
        Ok(Plan {
            request: Request { search, rank, properties, fairness, symmetry, sleep },
            seed: common.seed,
            replications: args.replications,
            record,
            config: model.config().clone(),
            topology: args.build.topology.clone(),
            liveness: of_kind(model, PropertyKind::Liveness),
            walk,
            trace,
            json: Json::new(args.output.json.as_deref())?,
        })
    }

    /// Runs all replications, or as many as the limits allow.
    fn run(&self, model: &dyn AnyModel, watch: &Watch<'_>) -> Vec<Run> {
        let mut runs = Vec::new();
        if let Some(walk) = &self.walk {
            return vec![self.walk(walk, model, watch)];
        }
        for (request, record) in self.requests() {
            let (explored, took, stopped) = watch.run(|control| {
                let mut exploration = model.explore(&request, control);
                let liveness = self.check_liveness(model, &request, (&mut exploration, control));
                (exploration, liveness)
            });
            let (exploration, liveness) = explored;
            let (session, walked, hint) = (None, None, None);
            runs.push(Run { exploration, took, stopped, record, session, liveness, walked, hint });
            if stopped.is_some() {
                break;
            }
        }
        runs
    }

    /// Walks through the model.
    fn walk(&self, walk: &Walk, model: &dyn AnyModel, watch: &Watch<'_>) -> Run {
        let (walked, took, stopped) = watch.run(|control| model.walk(&self.request, walk, control));
        Run {
            exploration: walked.exploration.clone(),
            took,
            stopped,
            record: self.record.clone(),
            session: None,
            liveness: None,
            walked: Some(walked),
            hint: None,
        }
    }

    /// Checks the properties of infinite executions, if there are any and nothing else is violated.
    fn check_liveness(
        &self,
        model: &dyn AnyModel,
        request: &Request,
        (exploration, control): (&mut Exploration, &Control),
    ) -> Option<Liveness> {
        let lives = |name: &String| self.liveness.contains(name);
        let wanted = request.properties.iter().any(lives);
        if !wanted || exploration.ended != Ended::Complete {
            return None;
        }
        let mut liveness = model.check_liveness(request, control);
        exploration.ended = liveness.ended.clone();
        for found in liveness.found.drain(..) {
            let number = request.properties.iter().position(|name| *name == found.property);
            if let Some(count) = number.and_then(|at| exploration.counts.by_property.get_mut(at)) {
                *count += 1;
            }
            exploration.counts.violations += 1;
            exploration.found.push(found);
        }
        Some(liveness)
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
                fairness: self.request.fairness.clone(),
                symmetry: self.request.symmetry,
                sleep: self.request.sleep,
            };
            (request, record)
        })
    }
}

/// The names of the properties of a kind.
fn of_kind(model: &dyn AnyModel, kind: PropertyKind) -> Vec<String> {
    let properties = model.properties().into_iter();
    properties.filter(|property| property.kind == kind).map(|property| property.name).collect()
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

/// The properties to check: those that are asked for, else all. Deadlocks are looked for only if that
/// is asked for.
fn choose_properties(
    entry: &Entry,
    model: &dyn AnyModel,
    args: &ModelArgs,
) -> Result<Vec<String>, Usage> {
    let asked = &args.property;
    let known: Vec<String> = model.properties().into_iter().map(|property| property.name).collect();
    let what = format!("property of {}", entry.kind.name);
    for name in asked {
        suggest::find(&what, name, known.iter().map(String::as_str))?;
    }
    let wanted = |name: &String| match name.as_str() {
        DEADLOCK => args.deadlock || asked.contains(name),
        _ => asked.is_empty() || asked.contains(name),
    };
    let chosen = known.into_iter().filter(wanted).collect();
    if args.strategy.walks() {
        return walks::without_liveness(model, chosen, args);
    }
    Ok(chosen)
}

/// Whether the reductions that are asked for go with pruning by the relation.
fn by_relation(args: &ModelArgs) -> bool {
    args.reduction.iter().all(|reduction| *reduction == ReductionName::Identical)
}

/// How visited states are recognised: by the relation, if all properties respect it.
fn choose_visited(
    model: &dyn AnyModel,
    chosen: &[String],
    args: &ModelArgs,
) -> Result<VisitedKind, Usage> {
    let properties = model.properties();
    let beyond = properties
        .iter()
        .find(|property| !property.respects_relation && chosen.contains(&property.name));
    let outside = args.disk.folder().map(|_| args.disk.option()).or(args.cluster.option());
    if let Some(option) = outside {
        return match args.visited {
            None | Some(VisitedName::Hash) => Ok(VisitedKind::Hash),
            Some(_) => Err(Usage::new(format!(
                "{option} keeps fingerprints of states; leave --visited out"
            ))),
        };
    }
    match (args.visited, beyond) {
        (None, _) if !by_relation(args) => Ok(VisitedKind::Equality),
        (None, None) => Ok(VisitedKind::Relation),
        (None, Some(_)) => Ok(VisitedKind::Equality),
        (Some(VisitedName::Relation), Some(property)) => Err(Usage::new(format!(
            "--visited relation prunes states that property {} tells apart, for it looks at more than \
             the nodes; leave --visited out, or check other properties with --property",
            property.name
        ))),
        (Some(visited), _) => Ok(visited.into()),
    }
}

/// Whether states that differ only in which of several like nodes is which are one.
fn choose_symmetry(entry: &Entry, model: &dyn AnyModel, args: &ModelArgs) -> Result<bool, Usage> {
    if !args.reduction.contains(&ReductionName::Symmetry) {
        return Ok(false);
    }
    let refused = |why: &str| Usage::new(format!("--reduction symmetry {why}"));
    if args.visited == Some(VisitedName::Relation) {
        return Err(refused("does not go with --visited relation; leave --visited out"));
    }
    if args.strategy.walks() || args.graph.asked() {
        return Err(refused("needs a search without graphs; leave one of them out"));
    }
    let name = entry.kind.name;
    let unfit = |why: String| refused(&format!("is nothing for {name}: {why}"));
    model.symmetric().map(|_| true).map_err(unfit)
}

/// Whether steps that commute are taken in one order only: sleep sets.
fn choose_sleep(
    entry: &Entry,
    model: &dyn AnyModel,
    (args, chosen): (&ModelArgs, &[String]),
) -> Result<bool, Usage> {
    if !args.reduction.contains(&ReductionName::Sleep) {
        return Ok(false);
    }
    let refused = |why: &str| Usage::new(format!("--reduction sleep {why}"));
    if args.reduction.contains(&ReductionName::Symmetry) {
        return Err(refused("does not go with --reduction symmetry; choose one of them"));
    }
    if args.strategy != StrategyName::Bfs || args.graph.asked() {
        return Err(refused("needs --strategy bfs without graphs; leave one of them out"));
    }
    if args.visited.is_some_and(|visited| visited != VisitedName::Equality) {
        return Err(refused("tells states apart by equality; leave --visited out"));
    }
    if args.must_contain.is_some() || args.shuffle || args.common.keep_going {
        return Err(refused("does not go with --must-contain, --shuffle and --keep-going"));
    }
    let speaks = |property: &PropertyInfo| {
        let is = matches!(property.kind, PropertyKind::Step | PropertyKind::Liveness);
        is && chosen.contains(&property.name)
    };
    if let Some(property) = model.properties().iter().find(|property| speaks(property)) {
        let name = &property.name;
        return Err(refused(&format!(
            "leaves out steps, and property {name} speaks of these; choose others with --property"
        )));
    }
    let name = entry.kind.name;
    let unfit = |why: String| refused(&format!("is nothing for {name}: {why}"));
    model.commuting().map(|()| true).map_err(unfit)
}

/// Which events are fair: those that are asked for, else those that the model names.
fn choose_fairness(
    entry: &Entry,
    model: &dyn AnyModel,
    args: &ModelArgs,
) -> Result<Fairness, Usage> {
    let events = |names: &[String]| -> Result<Vec<u16>, Usage> {
        names.iter().map(|name| entry.event(name)).collect()
    };
    if args.weakly_fair.is_empty() && args.strongly_fair.is_empty() {
        return Ok(model.fairness());
    }
    Ok(Fairness { weak: events(&args.weakly_fair)?, strong: events(&args.strongly_fair)? })
}
