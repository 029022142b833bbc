//! `everypath simulate`: run a model as a discrete-event simulation and report what was measured.

mod plots;
mod report;
mod sweep;

use crate::catalog::{Catalog, assignments};
use crate::cli::SimulateArgs;
use crate::network::Asked;
use crate::output::{self, Json, OutputFile};
use crate::simulated::Simulated;
use crate::suggest;
use crate::usage::Usage;
use crate::watch::{Stopped, Watch};
use crate::{HOLDS, INCONCLUSIVE, VIOLATED};
use everypath_net::simulate::{Arrivals, LogLine, METRICS, Panicked, Settings, Violation};
use everypath_net::{Faults, NodeId, Options, Sources};
use everypath_report::grouped;
use everypath_trace::Control;
use plots::Plots;
use report::Report;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// How finely the distribution of the delay is drawn.
const QUANTILES: usize = 200;

/// Simulates a model and reports what was measured.
pub fn run(catalog: &Catalog, args: &SimulateArgs) -> Result<u8, Usage> {
    if !args.sweep.is_empty() {
        return sweep::run(catalog, args);
    }
    let plan = Plan::new(catalog, args)?;
    if let Some(warning) = plan.asked.warning(args.seed).filter(|_| !args.quiet) {
        output::warning(&warning);
    }
    let watch = Watch::new(args.max_seconds.map(f64::from), None, args.quiet);
    if let Some(log) = &plan.log {
        log.write_or_say(plan.events().as_bytes())?;
    }
    let (mut finished, stopped) = run_all(std::slice::from_ref(&plan), &watch);
    let report = Report::new(&plan, finished.remove(0), stopped.as_ref());
    plan.json.write(&report.json)?;
    let plots = plan.plots.as_ref().map(|plots| plots.write(&plan, &report)).transpose()?;
    if !args.quiet && !matches!(plan.json, Json::Stdout) {
        output::print(&(report.text() + &plots.unwrap_or_default()));
    }
    Ok(match &report.json {
        json if json.panic.is_some() || json.violation.is_some() => VIOLATED,
        json if json.reason.is_some() => INCONCLUSIVE,
        _ => HOLDS,
    })
}

/// A request that was checked.
struct Plan {
    name: &'static str,
    simulated: Simulated,
    asked: Asked,
    /// The settings of the first replication.
    settings: Settings,
    sources: Sources,
    replications: u32,
    json: Json,
    log: Option<OutputFile>,
    plots: Option<Plots>,
}

/// What is kept of a replication.
struct Replication {
    /// The values of the metrics, in their order.
    values: Vec<Option<f64>>,
    /// The distribution of the delay.
    delays: Vec<f64>,
    /// The first violation.
    violation: Option<Violation>,
}

/// The replications that came to their end, by number.
type Finished = BTreeMap<u32, Result<Replication, Panicked>>;

impl Plan {
    /// Checks the whole request before any work starts.
    fn new(catalog: &Catalog, args: &SimulateArgs) -> Result<Plan, Usage> {
        let (entry, simulated) = catalog.find_simulated(&args.name)?;
        let asked = Asked::new(entry, &args.build, simulated.sizes)?;
        let options = Options::from(&asked.with_links(args.seed));
        let unfit = |why| Usage::new(format!("{} cannot be simulated so: {why}", entry.kind.name));
        (simulated.check)(&options).map_err(unfit)?;
        let sources = (simulated.sources)(&options);
        if args.failures > 0.0 && !simulated.reboots {
            return Err(Usage::new(format!(
                "--failures {}: the nodes of {} cannot lose their state; leave it out",
                args.failures, entry.kind.name
            )));
        }
        let defaults = Settings::default();
        Ok(Plan {
            name: entry.kind.name,
            settings: Settings {
                duration: args.duration,
                delay: args.delay,
                jitter: args.jitter,
                loss: args.loss,
                flows: flows(args, entry.kind.name, options.topology.nodes(), &sources)?,
                interval: args.interval.unwrap_or(defaults.interval),
                arrivals: args.arrivals.map_or(defaults.arrivals, Arrivals::from),
                failures: args.failures,
                faults: faults(args, &simulated, asked.config.nodes)?,
                seed: args.seed,
            },
            simulated,
            asked,
            sources,
            replications: args.replications,
            json: Json::new(args.json.as_deref())?,
            log: args.log.as_deref().map(|path| OutputFile::new("--log", path)).transpose()?,
            plots: args.plot.as_deref().map(Plots::new).transpose()?,
        })
    }

    /// The events of the first replication, a line each, up to a panic.
    fn events(&self) -> String {
        let seed = self.seed(0);
        let options = Options::from(&self.asked.with_links(seed));
        let settings = Settings { seed, ..self.settings.clone() };
        let mut lines = String::new();
        let mut write = |line: LogLine| {
            let LogLine { time, actor, event, text, received, .. } = line;
            let time = time.as_secs_f64();
            let mut object = json!({"time": time, "actor": actor, "event": event, "text": text});
            received.into_iter().for_each(|packet| object["received"] = packet.into());
            lines += &object.to_string();
            lines.push('\n');
        };
        // A panic is reported with the replications, of which this is the first once more.
        let _ = (self.simulated.log)(&options, &settings, &mut write);
        lines
    }

    /// The seed of a replication.
    fn seed(&self, number: u32) -> u64 {
        self.settings.seed.wrapping_add(number.into())
    }

    /// The topology as it was asked for.
    fn topology(&self) -> &str {
        self.asked.topology()
    }

    /// Runs replications in parallel while `go_on` says so. How many threads do it does not
    /// change the result.
    fn run_all(&self, ended: &AtomicU32, go_on: &(dyn Fn(u64) -> bool + Sync)) -> Finished {
        let next = AtomicU32::new(0);
        let finished = Mutex::new(BTreeMap::new());
        let work = || {
            while go_on(0) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= self.replications {
                    break;
                }
                if let Some(result) = self.replicate(number, go_on).transpose() {
                    finished.lock().expect("no thread has panicked").insert(number, result);
                    ended.fetch_add(1, Ordering::Relaxed);
                }
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..threads.min(self.replications as usize) {
                scope.spawn(work);
            }
        });
        finished.into_inner().expect("no thread has panicked")
    }

    fn replicate(
        &self,
        number: u32,
        go_on: &dyn Fn(u64) -> bool,
    ) -> Result<Option<Replication>, Panicked> {
        let seed = self.seed(number);
        let options = Options::from(&self.asked.with_links(seed));
        let settings = Settings { seed, ..self.settings.clone() };
        let Some(run) = (self.simulated.run)(&options, &settings, go_on)? else { return Ok(None) };
        let values = METRICS.iter().map(|metric| metric.value(&run)).collect();
        let delays = run.delay_quantiles(QUANTILES);
        Ok(Some(Replication { values, delays, violation: run.violation }))
    }
}

/// Runs all replications of all plans, or as many as the limits allow; of each plan those that came to
/// their end, and why not all did.
fn run_all(plans: &[Plan], watch: &Watch<'_>) -> (Vec<Finished>, Option<Stopped>) {
    let (events, ended) = (AtomicU64::new(0), AtomicU32::new(0));
    let of: usize = plans.iter().map(|plan| plan.replications as usize).sum();
    let line = |_: &Control, elapsed: Duration| {
        let events = events.load(Ordering::Relaxed);
        let ended = ended.load(Ordering::Relaxed);
        let rate = grouped((events as f64 / elapsed.as_secs_f64()) as u64);
        let of = grouped(of as u64);
        format!("{ended} of {of} replications, {} events, {rate} events/s", grouped(events))
    };
    let (finished, _, stopped) = watch.run_showing(line, |control| {
        let go_on = |more| {
            events.fetch_add(more, Ordering::Relaxed);
            !control.stopped()
        };
        plans.iter().map(|plan| plan.run_all(&ended, &go_on)).collect::<Vec<_>>()
    });
    // A limit that was reached as the last one ended has cut nothing short.
    let all = finished.iter().map(Finished::len).sum::<usize>() == of;
    (finished, stopped.filter(|_| !all))
}

/// The faults of every replication, each so often.
fn faults(args: &SimulateArgs, simulated: &Simulated, nodes: u32) -> Result<Faults, Usage> {
    let named = assignments("--faults", "FAULT=N", &args.faults)?;
    for name in named.keys() {
        suggest::find("fault", name, Faults::NAMES)?;
    }
    let faults = Faults::named(&named);
    let can = (simulated.reboots, simulated.duplicates);
    let unfit = |why| Usage::new(format!("{} cannot be simulated with --faults {why}", args.name));
    faults.check_simulated(nodes, can).map_err(unfit)?;
    Ok(faults)
}

/// How many pairs of source and destination there are.
fn flows(
    args: &SimulateArgs,
    name: &str,
    nodes: NodeId,
    sources: &Sources,
) -> Result<usize, Usage> {
    let most = usize::from(nodes) * usize::from(nodes).saturating_sub(1);
    let refuse = |option: &str, why: &str| {
        Err(Usage::new(format!("{option} does not go with {name}, {why}; leave it out")))
    };
    match (sources, args.traffic) {
        (Sources::Own, _) => {
            let why = "which sends as fast as it can";
            if args.traffic.is_some() {
                return refuse("--traffic", why);
            }
            if args.interval.is_some() {
                return refuse("--interval", why);
            }
            if args.arrivals.is_some() {
                return refuse("--arrivals", why);
            }
            Ok(0)
        }
        (Sources::Fixed(_), Some(_)) => refuse("--traffic", "which says itself who sends to whom"),
        (Sources::Fixed(pairs), None) => Ok(pairs.len()),
        (Sources::Any, Some(asked)) if asked as usize > most => Err(Usage::new(format!(
            "--traffic {asked}: {nodes} nodes have {most} pairs of source and destination"
        ))),
        (Sources::Any, Some(asked)) => Ok(asked as usize),
        (Sources::Any, None) => Ok(Settings::default().flows.min(most)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;
    use everypath_net::simulate::simulate_checked;

    #[test]
    fn a_panic_of_a_handler_is_a_finding_about_the_model() {
        let line = "everypath simulate arq --replications 3 --seed 7";
        let Command::Simulate(args) = Cli::parse_from(line.split(' ')).command else {
            panic!("this is a simulation");
        };
        let mut plan =
            Plan::new(&Catalog::default().simulated::<everypath_protocols::Arq>(), &args).unwrap();
        plan.simulated.run = |options, settings, go_on| {
            if settings.seed < 8 {
                return simulate_checked::<everypath_protocols::Arq>(options, settings, go_on);
            }
            let time = Duration::from_millis(1500);
            Err(Panicked { node: 1, time, message: "panicked: no".into() })
        };
        let plans = [plan];
        let (mut finished, stopped) = run_all(&plans, &Watch::new(None, None, true));
        let report = Report::new(&plans[0], finished.remove(0), stopped.as_ref());
        assert_eq!(
            report.text(),
            "VIOLATED: a handler of arq panics\n  \
             node 1, 1.5 s after the start, seed 8: panicked: no\n"
        );
        let json = serde_json::to_value(&report.json).unwrap();
        assert_eq!((&json["panic"]["seed"], &json["panic"]["node"]), (&8.into(), &1.into()));
        assert_eq!(json["metrics"]["throughput"]["values"], serde_json::json!([50.0, null, null]));
    }
}
