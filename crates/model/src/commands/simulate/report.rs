//! The report of `everypath simulate`, as text and JSON.

use super::{Finished, Plan, Replication};
use crate::watch::Stopped;
use everypath_net::Sources;
use everypath_net::simulate::{Arrivals, GENERATOR, METRICS, Metric, Summary};
use everypath_report::{grouped, significant};
use serde::ser::{Serialize, Serializer};
use std::collections::BTreeMap;

/// What was measured.
pub(super) struct Report {
    pub(super) json: JsonSimulation,
    /// The distribution of the delay, for each replication in which data arrived.
    pub(super) delays: Vec<Vec<f64>>,
    head: String,
}

/// One object, as `--json` writes it.
#[derive(serde::Serialize)]
pub(super) struct JsonSimulation {
    tool: &'static str,
    version: &'static str,
    command: &'static str,
    target: &'static str,
    parameters: JsonParameters,
    /// Why not all replications came to their end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) panic: Option<JsonPanic>,
    /// The first violation of a property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) violation: Option<JsonViolation>,
    pub(super) metrics: JsonMetrics,
}

#[derive(serde::Serialize)]
struct JsonParameters {
    nodes: u32,
    topology: String,
    bugs: Vec<String>,
    /// Which features are switched on; null if the protocol chooses.
    features: Option<Vec<String>>,
    duration_seconds: f64,
    delay_ms: f64,
    jitter_ms: f64,
    loss: f64,
    /// How many pairs of source and destination; null if nodes send on their own.
    traffic: Option<usize>,
    interval_ms: Option<f64>,
    arrivals: Option<&'static str>,
    failures_per_minute: f64,
    faults: BTreeMap<&'static str, u32>,
    replications: u32,
    seed: u64,
    generator: &'static str,
}

/// A property that was violated.
#[derive(serde::Serialize)]
pub(super) struct JsonViolation {
    property: String,
    message: String,
    seed: u64,
    node: u16,
    seconds: f64,
}

/// A handler that panicked.
#[derive(serde::Serialize)]
pub(super) struct JsonPanic {
    seed: u64,
    node: u16,
    seconds: f64,
    message: String,
}

/// The metrics by name, in their own order.
pub(super) struct JsonMetrics(pub(super) Vec<(&'static Metric, JsonMetric)>);

impl Serialize for JsonMetrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(metric, values)| (metric.name, values)))
    }
}

/// A metric. Where no replication says anything of it, there are only nulls.
#[derive(serde::Serialize)]
pub(super) struct JsonMetric {
    about: &'static str,
    unit: &'static str,
    mean: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    ci95: Option<f64>,
    pub(super) values: Vec<Option<f64>>,
    #[serde(skip)]
    pub(super) summary: Option<Summary>,
}

impl Report {
    pub(super) fn new(plan: &Plan, finished: Finished, stopped: Option<&Stopped>) -> Report {
        let ended = finished.len();
        let nothing = || Replication {
            values: vec![None; METRICS.len()],
            delays: Vec::new(),
            violation: None,
        };
        let mut replications: Vec<Replication> =
            (0..plan.replications).map(|_| nothing()).collect();
        let (mut panic, mut violation) = (None, None);
        for (number, result) in finished {
            match result {
                Ok(mut replication) => {
                    if let Some(first) = replication.violation.take() {
                        violation.get_or_insert(JsonViolation {
                            property: first.property,
                            message: first.message,
                            seed: plan.seed(number),
                            node: first.node,
                            seconds: first.time.as_secs_f64(),
                        });
                    }
                    replications[number as usize] = replication;
                }
                Err(panicked) => {
                    panic.get_or_insert(JsonPanic {
                        seed: plan.seed(number),
                        node: panicked.node,
                        seconds: panicked.time.as_secs_f64(),
                        message: panicked.message,
                    });
                }
            }
        }
        let column = |at| replications.iter().map(|replication| replication.values[at]).collect();
        let metrics =
            METRICS.iter().enumerate().map(|(at, metric)| (metric, json(metric, column(at))));
        Report {
            json: JsonSimulation {
                tool: "everypath",
                version: env!("CARGO_PKG_VERSION"),
                command: "simulate",
                target: plan.name,
                parameters: parameters(plan),
                reason: stopped.map(|stopped| {
                    let all = grouped(plan.replications.into());
                    format!("{stopped} after {} of {all} replications", grouped(ended as u64))
                }),
                panic,
                violation,
                metrics: JsonMetrics(metrics.collect()),
            },
            delays: replications
                .into_iter()
                .map(|replication| replication.delays)
                .filter(|delays| !delays.is_empty())
                .collect(),
            head: head(plan),
        }
    }

    /// What was found to be wrong, or why it is not known, if so.
    pub(super) fn verdict(&self) -> Option<String> {
        if let Some(panic) = &self.json.panic {
            let JsonPanic { seed, node, seconds, message } = panic;
            return Some(format!(
                "VIOLATED: a handler of {} panics\n  node {node}, {seconds} s after the start, \
                 seed {seed}: {message}\n",
                self.json.target
            ));
        }
        let reason = self.json.reason.as_ref();
        let violated = self.json.violation.as_ref().map_or(String::new(), |violation| {
            let JsonViolation { property, message, seed, node, seconds } = violation;
            format!(
                "VIOLATED: {property} of {}\n  node {node}, {seconds} s after the start, seed {seed}: \
                 {message}\n",
                self.json.target
            )
        });
        let verdict =
            violated + &reason.map_or(String::new(), |why| format!("INCONCLUSIVE: {why}\n"));
        (!verdict.is_empty()).then_some(verdict)
    }

    /// The report as text, without wall-clock times, so that the same seed prints the same.
    pub(super) fn text(&self) -> String {
        let verdict = self.verdict().unwrap_or_default();
        if self.json.panic.is_some() {
            return verdict;
        }
        verdict + &self.head + "\n" + &self.table()
    }

    fn table(&self) -> String {
        let shown = self
            .json
            .metrics
            .0
            .iter()
            .filter_map(|(metric, values)| Some((title(metric), values.summary?)));
        let rows: Vec<(String, Summary)> = shown.collect();
        let width = rows.iter().map(|(title, _)| title.chars().count()).max().unwrap_or(0);
        let mut out = format!(
            "{:width$}{:>14}{:>14}{:>14}{:>14}\n",
            "", "mean", "± (95 %)", "minimum", "maximum"
        );
        for (title, summary) in rows {
            let interval = summary.ci95.map_or("–".into(), significant);
            let [mean, min, max] = [summary.mean, summary.min, summary.max].map(significant);
            out += &format!("{title:width$}{mean:>14}{interval:>14}{min:>14}{max:>14}\n");
        }
        out
    }
}

/// What a metric is called in a table.
pub(super) fn title(metric: &Metric) -> String {
    match metric.unit.symbol() {
        "" => metric.title.to_string(),
        unit => format!("{} ({unit})", metric.title),
    }
}

fn json(metric: &Metric, values: Vec<Option<f64>>) -> JsonMetric {
    let summary = Summary::of(values.iter().copied());
    JsonMetric {
        about: metric.about,
        unit: metric.unit.symbol(),
        mean: summary.map(|summary| summary.mean),
        min: summary.map(|summary| summary.min),
        max: summary.map(|summary| summary.max),
        ci95: summary.and_then(|summary| summary.ci95),
        values,
        summary,
    }
}

fn parameters(plan: &Plan) -> JsonParameters {
    let settings = &plan.settings;
    let config = plan.asked.config.clone();
    let asked = plan.sources != Sources::Own;
    let milliseconds = |duration: std::time::Duration| duration.as_nanos() as f64 / 1e6;
    JsonParameters {
        nodes: config.nodes,
        topology: plan.topology().into(),
        bugs: config.bugs,
        features: config.features,
        duration_seconds: settings.duration.as_secs_f64(),
        delay_ms: milliseconds(settings.delay),
        jitter_ms: milliseconds(settings.jitter),
        loss: settings.loss,
        traffic: asked.then_some(settings.flows),
        interval_ms: asked.then(|| milliseconds(settings.interval)),
        arrivals: asked.then_some(arrivals(settings.arrivals)),
        failures_per_minute: settings.failures,
        faults: settings.faults.asked().collect(),
        replications: plan.replications,
        seed: settings.seed,
        generator: GENERATOR,
    }
}

fn arrivals(arrivals: Arrivals) -> &'static str {
    match arrivals {
        Arrivals::Constant => "constant",
        Arrivals::Poisson => "poisson",
    }
}

/// What was simulated, in a few lines.
pub(super) fn head(plan: &Plan) -> String {
    let p = parameters(plan);
    let bugs =
        if p.bugs.is_empty() { String::new() } else { format!(" with {}", p.bugs.join(", ")) };
    let last = plan.seed(plan.replications - 1);
    let runs = match plan.replications {
        1 => format!("1 replication, seed {}", p.seed),
        count => format!("{} replications, seeds {} to {last}", grouped(count.into()), p.seed),
    };
    let mut out = format!(
        "{}{bugs}, {} nodes, {}: {} s\n",
        plan.name, p.nodes, p.topology, p.duration_seconds
    );
    out += &format!(
        "links       {} ms, jitter up to {} ms, loss {}\n",
        p.delay_ms, p.jitter_ms, p.loss
    );
    out += &match (p.traffic, p.interval_ms, p.arrivals) {
        (Some(pairs), Some(interval), Some(arrivals)) => {
            let pairs = if pairs == 1 { "1 pair".into() } else { format!("{pairs} pairs") };
            format!("traffic     {pairs}, a packet every {interval} ms, {arrivals}\n")
        }
        _ => "traffic     as fast as the protocol sends on its own\n".into(),
    };
    if let Some(features) = p.features {
        out += &format!("features    {}\n", features.join(", "));
    }
    if p.failures_per_minute > 0.0 {
        out += &format!("failures    {} reboots of each node in a minute\n", p.failures_per_minute);
    }
    if !p.faults.is_empty() {
        let faults: Vec<String> = p.faults.iter().map(|(name, n)| format!("{name} {n}")).collect();
        out += &format!("faults      {}\n", faults.join(", "));
    }
    out + &format!("runs        {runs}\n")
}
