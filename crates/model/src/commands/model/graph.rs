//! The graph files of incremental exploration: loading, saving, refusing.

use super::{Plan, Run};
use crate::catalog::Entry;
use crate::cli::{AddName, GraphArgs, ModelArgs, StrategyName};
use crate::output::{self, OutputFile};
use crate::usage::Usage;
use crate::watch::{Watch, clock, now};
use everypath_explore::graph::{About, Baseline, Counterexample, Graph, Ledger, Makeup, Written};
use everypath_explore::{AnyModel, PropertyKind, Request};
use everypath_explore::{
    Counts, Ended, Exploration, Found, Incremental, Search, Step, VisitedKind, fingerprint,
};
use everypath_mapped::Mapped;
use std::path::PathBuf;
use std::time::Duration;

/// How long a pilot runs, unless something else is said.
const PILOT_SECONDS: f64 = 2.0;

/// What is asked for, checked.
pub(super) struct GraphPlan {
    load: Option<PathBuf>,
    or_fresh: bool,
    save: Option<OutputFile>,
    modified: Option<Vec<u16>>,
    pub(super) verify: bool,
    pub(super) pilot: bool,
    stop_if_known: bool,
    makeup: Makeup,
    /// The names of the events, by number.
    events: Vec<&'static str>,
    /// The command line in short, for messages.
    quiet: bool,
}

/// A graph that is used.
pub(super) struct Loaded<'a> {
    baseline: Option<&'a Baseline<'a>>,
    /// How long it took to open it.
    took: Duration,
    /// Why there is none although one was asked for.
    pub(super) fresh: Option<String>,
}

/// A counterexample that was kept with a graph, and what became of it.
pub(super) struct Known {
    /// How many there are.
    pub(super) kept: usize,
    /// The first that still violates.
    pub(super) found: Option<Found>,
}

/// What an incremental run has left, besides its exploration.
pub(super) struct Session {
    pub(super) increment: everypath_explore::Increment,
    pub(super) load: Duration,
    pub(super) fresh: Option<String>,
    pub(super) known: Known,
    pub(super) reads: bool,
    pub(super) modified: Vec<&'static str>,
    /// The names of all events, by number.
    pub(super) events: Vec<&'static str>,
    pub(super) written: Option<Written>,
    pub(super) graph_states: u64,
    /// What a run from scratch differs in, if it was asked for.
    pub(super) verified: Option<Result<(), String>>,
}

impl GraphPlan {
    /// Checks what is asked for; `None` if nothing is.
    pub(super) fn new(
        entry: &Entry,
        model: &dyn AnyModel,
        args: &ModelArgs,
    ) -> Result<Option<GraphPlan>, Usage> {
        let asked = &args.graph;
        check(asked, args)?;
        if !asked.asked() {
            return Ok(None);
        }
        let Some(makeup) = model.makeup() else {
            return Err(Usage::new(format!(
                "{} has no makeup, so a graph of another version could not be detected; explore \
                 it without --save-graph and --load-graph, or implement Model::makeup",
                entry.kind.name
            )));
        };
        let sometimes = super::of_kind(model, PropertyKind::Sometimes);
        let names = super::choose_properties(entry, model, args)?;
        if let Some(name) = names.iter().find(|name| sometimes.contains(name)) {
            return Err(Usage::new(format!(
                "with a graph, states are left out in which {name} could be true; choose other \
                 properties with --property, or explore without a graph"
            )));
        }
        let (load, or_fresh) = asked.loaded();
        Ok(Some(GraphPlan {
            load: load.cloned(),
            or_fresh,
            save: asked
                .save_graph
                .as_ref()
                .map(|path| OutputFile::new("--save-graph", path))
                .transpose()?,
            modified: modified(entry, &asked.modified)?,
            verify: asked.verify,
            pilot: asked.pilot,
            stop_if_known: asked.stop_if_known,
            makeup,
            events: entry.kind.events.iter().map(|event| event.name).collect(),
            quiet: args.output.quiet || args.output.json.as_deref() == Some("-".as_ref()),
        }))
    }

    /// How long to search, if nothing is said.
    pub(super) fn seconds(&self) -> Option<f64> {
        self.pilot.then_some(PILOT_SECONDS)
    }

    /// The makeup of the model and what is checked of it.
    fn makeup(&self, request: &Request) -> Makeup {
        let mut makeup = self.makeup.clone();
        let names = request.properties.join("\n");
        makeup.frame.push(("the choice of properties".into(), fingerprint(names.as_bytes())));
        makeup
    }

    /// Runs the plan with the graph that is asked for, and writes the one that is.
    pub(super) fn run(
        &self,
        plan: &Plan,
        model: &dyn AnyModel,
        watch: &Watch<'_>,
    ) -> Result<Vec<Run>, Usage> {
        let makeup = self.makeup(&plan.request);
        let started = now();
        let mapped = match self.load.as_ref().map(|path| (path, Mapped::open(path))) {
            None => Ok(None),
            Some((_, Ok(mapped))) => Ok(Some(mapped)),
            Some((path, Err(error))) => Err(format!("cannot read {}: {error}", path.display())),
        };
        let graph = mapped.as_ref().map_err(Clone::clone).and_then(|mapped| {
            let graph = mapped.as_ref().map(|mapped| Graph::open(mapped)).transpose();
            graph.map_err(|error| self.cannot(&error))
        });
        let baseline = graph.as_ref().map_err(Clone::clone).and_then(|graph| {
            let modified = self.modified.as_deref();
            let baseline = graph.as_ref().map(|graph| Baseline::new(graph, &makeup, modified));
            baseline.transpose().map_err(|error| self.cannot(&error))
        });
        let took = started.elapsed();
        let loaded = match &baseline {
            Ok(baseline) => Loaded { baseline: baseline.as_ref(), took, fresh: None },
            Err(why) if self.or_fresh => Loaded { baseline: None, took, fresh: Some(why.clone()) },
            Err(why) => {
                return Err(Usage::new(format!(
                    "{why}; explore without --load-graph, or add --load-graph-or-fresh to go on \
                     from scratch"
                )));
            }
        };
        let known = self.try_known(graph.as_ref().ok().and_then(Option::as_ref), model, plan);
        self.search(plan, model, watch, (&loaded, known))
    }

    fn cannot(&self, error: &dyn std::fmt::Display) -> String {
        let path = self.load.as_ref().map_or(String::new(), |path| path.display().to_string());
        format!("cannot use the graph {path}: {error}")
    }

    /// Tries the counterexamples that are kept with a graph, and tells at once if one still
    /// violates.
    fn try_known(&self, graph: Option<&Graph<'_>>, model: &dyn AnyModel, plan: &Plan) -> Known {
        let kept = graph.map_or(Vec::new(), |graph| graph.counterexamples(&self.events));
        let search = &plan.request.search;
        let violates = |example: &Counterexample| {
            let schedule: Vec<Step> = example.steps.iter().map(|(_, step)| *step).collect();
            let has = |event: u16| schedule.iter().any(|step| step.event == event);
            let allowed = search.max_depth.is_none_or(|bound| schedule.len() <= bound as usize)
                && search.must_contain.is_none_or(has)
                && !search.disabled.iter().any(|event| has(*event));
            let violated =
                allowed.then(|| model.recheck((&schedule, None), &plan.request).ok()).flatten()?;
            let (property, message) = violated.into_iter().find(|(name, _)| {
                plan.request.properties.contains(name) || name == everypath_explore::PANIC
            })?;
            Some(Found { property, message, schedule, loop_start: None })
        };
        let found = kept.iter().find_map(violates);
        if let Some(found) = found.as_ref().filter(|_| !self.quiet) {
            let steps = found.schedule.len();
            output::print(&format!(
                "STILL VIOLATED: {} by the {steps} steps stored in the graph\n",
                found.property
            ));
        }
        Known { kept: kept.len(), found }
    }

    /// Searches once for each replication.
    fn search(
        &self,
        plan: &Plan,
        model: &dyn AnyModel,
        watch: &Watch<'_>,
        (loaded, known): (&Loaded<'_>, Known),
    ) -> Result<Vec<Run>, Usage> {
        let clock = clock();
        let given = Incremental {
            baseline: loaded.baseline,
            record: self.save.is_some(),
            clock: Some(&clock),
            digest: self.verify,
            stubborn: false,
        };
        let mut runs = Vec::new();
        for (mut request, record) in plan.requests() {
            if self.pilot {
                // Looking states up is measured on one thread.
                request.search.threads = 1;
            }
            let ended_before = self.stop_if_known.then_some(known.found.as_ref()).flatten();
            let ((exploration, increment), took, stopped) = match ended_before {
                Some(found) => watch.run(|_| (only(found, &request), Default::default())),
                None => watch.run(|control| model.explore_incrementally(&request, given, control)),
            };
            let mut session = self.session(loaded, increment, &known);
            if self.verify && ended_before.is_none() {
                let fresh = Incremental { baseline: None, record: false, ..given };
                let (scratch, _, _) =
                    watch.run(|control| model.explore_incrementally(&request, fresh, control));
                session.verified = Some(compare(&exploration, session.increment.digest, &scratch));
            }
            let mut exploration = with_known(exploration, known.found.as_ref(), &request);
            let (liveness, more, _) = watch
                .run(|control| plan.check_liveness(model, &request, (&mut exploration, control)));
            self.save(&mut session, &exploration, loaded, &request)?;
            let (took, session, walked) = (took + loaded.took + more, Some(session), None);
            let hint = None;
            runs.push(Run { exploration, took, stopped, record, session, liveness, walked, hint });
            if stopped.is_some() {
                break;
            }
        }
        Ok(runs)
    }

    fn session(
        &self,
        loaded: &Loaded<'_>,
        increment: everypath_explore::Increment,
        known: &Known,
    ) -> Session {
        let modified = loaded.baseline.map_or(Vec::new(), Baseline::modified);
        Session {
            increment,
            load: loaded.took,
            fresh: loaded.fresh.clone(),
            known: Known { kept: known.kept, found: known.found.clone() },
            reads: loaded.baseline.is_some(),
            modified: modified.into_iter().map(|event| self.events[usize::from(event)]).collect(),
            events: self.events.clone(),
            written: None,
            graph_states: loaded.baseline.map_or(0, Baseline::states),
            verified: None,
        }
    }

    /// Writes the graph, with the counterexamples that were found.
    fn save(
        &self,
        session: &mut Session,
        exploration: &Exploration,
        loaded: &Loaded<'_>,
        request: &Request,
    ) -> Result<(), Usage> {
        let ledger = session.increment.ledger.take();
        let (Some(file), Some(ledger)) = (&self.save, ledger) else { return Ok(()) };
        // What was learnt with a graph that lies is not to be passed on.
        if matches!(exploration.ended, Ended::Stale(_) | Ended::Unconfirmed(_)) {
            return Ok(());
        }
        let makeup = self.makeup(request);
        let name = |step: &Step| (self.events[usize::from(step.event)].to_string(), *step);
        let examples: Vec<Counterexample> = exploration
            .found
            .iter()
            .map(|found| Counterexample {
                property: found.property.clone(),
                steps: found.schedule.iter().map(name).collect(),
            })
            .collect();
        let left_out = &request.search.disabled;
        let about = About { makeup: &makeup, left_out, counterexamples: &examples };
        let write =
            |ledger: &Ledger| file.replace_with(|out| ledger.write(out, loaded.baseline, about));
        session.written = Some(write(&ledger)?);
        Ok(())
    }
}

/// Checks that options go together.
fn check(asked: &GraphArgs, args: &ModelArgs) -> Result<(), Usage> {
    let wrong = |message: &str| Err(Usage::new(message));
    let loads = asked.loaded().0.is_some();
    if !loads && asked.load_graph_or_fresh.is_some() {
        return wrong("--load-graph-or-fresh needs a graph: --load-graph FILE");
    }
    for (given, option) in [
        (!asked.modified.is_empty(), "--modified"),
        (asked.verify, "--verify"),
        (asked.pilot, "--pilot"),
        (asked.stop_if_known, "--stop-if-known"),
    ] {
        if given && !loads {
            return Err(Usage::new(format!("{option} needs a graph: --load-graph FILE")));
        }
    }
    if !asked.asked() {
        return Ok(());
    }
    if args.add == AddName::Current && args.strategy != StrategyName::DfsRecursive {
        return wrong(
            "--add current does not go with a graph: whether a state is new is not known when it \
             is generated; use --add next",
        );
    }
    if asked.save_graph.is_some() && args.replications > 1 {
        return wrong("--save-graph writes the graph of one search; leave --replications out");
    }
    let same = |path: Option<&PathBuf>| path.is_some() && path == asked.save_graph.as_ref();
    if same(Some(&args.output.trace)) || same(args.output.json.as_ref()) {
        return wrong("--save-graph names the file of --trace or --json; choose another");
    }
    Ok(())
}

/// The numbers of the events that are said to be modified; `None` if they are to be detected.
fn modified(entry: &Entry, names: &[String]) -> Result<Option<Vec<u16>>, Usage> {
    match names {
        [] => Ok(None),
        [none] if none == "none" => Ok(Some(Vec::new())),
        names => names.iter().map(|name| entry.event(name)).collect::<Result<_, _>>().map(Some),
    }
}

/// The result of a search that was not needed.
fn only(found: &Found, request: &Request) -> Exploration {
    let by_property = request.properties.iter().map(String::as_str).chain(["panic"]);
    Exploration {
        counts: Counts {
            violations: 1,
            by_property: by_property.map(|name| u64::from(name == found.property)).collect(),
            ..Counts::default()
        },
        found: vec![found.clone()],
        checked_depth: 0,
        ended: Ended::Violation,
        by_event: Vec::new(),
        witnesses: Vec::new(),
    }
}

/// A violation that is known is not forgotten because a search did not get as far.
fn with_known(
    mut exploration: Exploration,
    known: Option<&Found>,
    request: &Request,
) -> Exploration {
    if let Some(found) = known.filter(|_| exploration.found.is_empty()) {
        let Exploration { counts, found, .. } = only(found, request);
        exploration.counts.violations = counts.violations;
        exploration.counts.by_property = counts.by_property;
        exploration.found = found;
    }
    exploration
}

/// What a search from scratch has found differently.
fn compare(
    exploration: &Exploration,
    digest: u128,
    (scratch, increment): &(Exploration, everypath_explore::Increment),
) -> Result<(), String> {
    let differs = |what: &str| Err(format!("{what} differ from those of a search from scratch"));
    match exploration {
        _ if increment.digest != digest => differs("the visited states"),
        _ if exploration.counts != scratch.counts => differs("the counts"),
        _ if exploration.found != scratch.found => differs("the violations"),
        _ if exploration.ended != scratch.ended => differs("the ends"),
        _ => Ok(()),
    }
}

/// How likely it is at the most that two states shared a fingerprint and one was missed; `None`
/// if fingerprints decide about nothing.
pub(super) fn omission(search: &Search, run: &Run) -> Option<f64> {
    let read = run.session.as_ref().filter(|session| session.reads);
    if search.visited != VisitedKind::Hash && read.is_none() {
        return None;
    }
    let states = run.exploration.counts.states + read.map_or(0, |session| session.graph_states);
    Some((states as f64).powi(2) / 2f64.powi(129))
}
