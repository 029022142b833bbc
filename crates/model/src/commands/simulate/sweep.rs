//! `--sweep`: the same simulation with other values of a setting, and what that changes.

use super::report::{JsonSimulation, Report};
use super::{Plan, run_all};
use crate::catalog::Catalog;
use crate::cli::SimulateArgs;
use crate::commands::plot_folder::PlotFolder;
use crate::output::{self, Json};
use crate::suggest;
use crate::usage::Usage;
use crate::watch::Watch;
use crate::{HOLDS, INCONCLUSIVE, VIOLATED};
use everypath_net::simulate::METRICS;
use everypath_report::{Caption, Swept, SweptCurve, significant};

/// The settings that can be swept, besides the parameters of the model.
const NAMES: [&str; 8] =
    ["loss", "delay", "jitter", "interval", "failures", "traffic", "nodes", "duration"];

/// The most points: more are a mistake, rather than patience.
const MOST: usize = 1000;

/// The width of a column of the table, and of a line.
const COLUMN: usize = 12;
const LINE: usize = 80;

/// A setting and the values that it takes in turn.
struct Sweep {
    name: String,
    values: Vec<String>,
}

/// Simulates every combination of the values and reports how the metrics change.
pub(super) fn run(catalog: &Catalog, args: &SimulateArgs) -> Result<u8, Usage> {
    let sweeps = sweeps(catalog, args)?;
    let plans = plans(catalog, args, &sweeps)?;
    let json = Json::new(args.json.as_deref())?;
    let plots = args.plot.as_deref().map(PlotFolder::new).transpose()?;
    if let Some(warning) = plans[0].asked.warning(args.seed).filter(|_| !args.quiet) {
        output::warning(&warning);
    }
    let watch = Watch::new(args.max_seconds.map(f64::from), None, args.quiet);
    let (finished, stopped) = run_all(&plans, &watch);
    let reports: Vec<Report> = plans
        .iter()
        .zip(finished)
        .map(|(plan, finished)| {
            let cut = finished.len() < plan.replications as usize;
            Report::new(plan, finished, stopped.as_ref().filter(|_| cut))
        })
        .collect();
    let table = Table { sweeps: &sweeps, reports: &reports };
    json.write(&table.json(&plans[0]))?;
    let said = plots.as_ref().map(|folder| table.draw(folder, &plans[0])).transpose()?;
    if !args.quiet && !matches!(json, Json::Stdout) {
        output::print(&(table.text(&plans[0]) + &said.unwrap_or_default()));
    }
    let any = |is: fn(&JsonSimulation) -> bool| reports.iter().any(|report| is(&report.json));
    Ok(match () {
        () if any(|json| json.panic.is_some() || json.violation.is_some()) => VIOLATED,
        () if any(|json| json.reason.is_some()) => INCONCLUSIVE,
        () => HOLDS,
    })
}

/// What is swept, checked but for the values, which the settings check.
fn sweeps(catalog: &Catalog, args: &SimulateArgs) -> Result<Vec<Sweep>, Usage> {
    let (entry, _) = catalog.find_simulated(&args.name)?;
    let parameters = entry.kind.parameters.iter().map(|parameter| parameter.name);
    let known: Vec<&str> = NAMES.into_iter().chain(parameters).collect();
    let mut sweeps: Vec<Sweep> = Vec::new();
    for text in &args.sweep {
        let wrong = || Usage::new(format!("--sweep {text}: give it as NAME=VALUE,VALUE,…"));
        let (name, values) = text.split_once('=').ok_or_else(wrong)?;
        suggest::find("setting for --sweep", name, known.iter().copied())?;
        let values: Vec<String> = values.split(',').map(|value| value.trim().into()).collect();
        if let Some(value) = values.iter().find(|value| value.parse::<f64>().is_err()) {
            return Err(Usage::new(format!("--sweep {name}: {value:?} is not a number")));
        }
        if sweeps.iter().any(|sweep| sweep.name == name) {
            return Err(Usage::new(format!("--sweep {name} is given twice; give it once")));
        }
        sweeps.push(Sweep { name: name.into(), values });
    }
    if sweeps.len() > 2 {
        return Err(Usage::new(
            "--sweep can be given twice at most: an axis, and a curve for each",
        ));
    }
    let points: usize = sweeps.iter().map(|sweep| sweep.values.len()).product();
    if points > MOST {
        return Err(Usage::new(format!("--sweep: {points} combinations; at most {MOST} are run")));
    }
    if args.log.is_some() {
        return Err(Usage::new(
            "--log is of one simulation and does not go with --sweep; drop one",
        ));
    }
    Ok(sweeps)
}

/// A plan for each combination: the values of the first setting in turn, for each of the second.
fn plans(catalog: &Catalog, args: &SimulateArgs, sweeps: &[Sweep]) -> Result<Vec<Plan>, Usage> {
    let [first, rest @ ..] = sweeps else { return Err(Usage::new("nothing is swept")) };
    let seconds = rest.first().map_or(vec![None], |sweep| {
        sweep.values.iter().map(|value| Some((sweep.name.as_str(), value))).collect()
    });
    let combinations =
        seconds.iter().flat_map(|second| first.values.iter().map(move |value| (value, *second)));
    combinations
        .map(|(value, second)| {
            let mut args = SimulateArgs { json: None, plot: None, ..args.clone() };
            set(&mut args, &first.name, value)?;
            second.map(|(name, value)| set(&mut args, name, value)).transpose()?;
            Plan::new(catalog, &args)
        })
        .collect()
}

/// Gives a setting a value.
fn set(args: &mut SimulateArgs, name: &str, value: &str) -> Result<(), Usage> {
    if NAMES.contains(&name) {
        let wrong = |why| Usage::new(format!("--sweep {name}: {value}: {why}"));
        return args.set(name, value).map_err(wrong);
    }
    let is_same = |text: &String| text.split('=').next() == Some(name);
    args.build.set.retain(|text| !is_same(text));
    args.build.set.push(format!("{name}={value}"));
    Ok(())
}

/// The reports of all combinations.
struct Table<'a> {
    sweeps: &'a [Sweep],
    reports: &'a [Report],
}

/// One object, as `--json` writes it.
#[derive(serde::Serialize)]
struct JsonSweep<'a> {
    tool: &'static str,
    version: &'static str,
    command: &'static str,
    target: &'static str,
    sweep: Vec<JsonSwept<'a>>,
    /// The simulations: the values of the first setting in turn, for each of the second.
    points: Vec<JsonPoint<'a>>,
}

#[derive(serde::Serialize)]
struct JsonSwept<'a> {
    name: &'a str,
    values: Vec<f64>,
}

#[derive(serde::Serialize)]
struct JsonPoint<'a> {
    /// The values of the settings that are swept, in their order.
    values: Vec<f64>,
    #[serde(flatten)]
    simulation: &'a JsonSimulation,
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

impl Table<'_> {
    /// The values of the second setting, each with the reports for all values of the first.
    fn groups(&self) -> impl Iterator<Item = (Option<&str>, &[Report])> {
        let seconds = self.sweeps.get(1).map_or(vec![None], |second| {
            second.values.iter().map(|value| Some(value.as_str())).collect()
        });
        seconds.into_iter().zip(self.reports.chunks(self.sweeps[0].values.len()))
    }

    fn text(&self, plan: &Plan) -> String {
        let first = &self.sweeps[0];
        let mut out: String = self.reports.iter().filter_map(Report::verdict).collect();
        out += &super::report::head(plan);
        for sweep in self.sweeps {
            out +=
                &format!("sweep       {}, each in turn: {}\n", sweep.name, sweep.values.join(", "));
        }
        let titles = shown(self.reports);
        let width = titles.iter().map(|(_, title)| title.chars().count()).max().unwrap_or(0);
        for (second, reports) in self.groups() {
            if let (Some(value), Some(second)) = (second, self.sweeps.get(1)) {
                out += &format!("\n{} = {value}\n", second.name);
            }
            let columns: Vec<(&String, &Report)> = first.values.iter().zip(reports).collect();
            for columns in columns.chunks((LINE.saturating_sub(width) / COLUMN).max(1)) {
                out += &block(&first.name, (&titles, width), columns);
            }
        }
        out
    }

    fn json(&self, plan: &Plan) -> JsonSweep<'_> {
        let swept = |sweep| {
            let Sweep { name, values }: &Sweep = sweep;
            JsonSwept { name, values: values.iter().map(|value| number(value)).collect() }
        };
        let points = self.groups().flat_map(|(second, reports)| {
            self.sweeps[0].values.iter().zip(reports).map(move |(first, report)| JsonPoint {
                values: std::iter::once(number(first)).chain(second.map(number)).collect(),
                simulation: &report.json,
            })
        });
        JsonSweep {
            tool: "everypath",
            version: env!("CARGO_PKG_VERSION"),
            command: "simulate",
            target: plan.name,
            sweep: self.sweeps.iter().map(swept).collect(),
            points: points.collect(),
        }
    }

    /// Draws each metric over the first setting, with a curve for each value of the second.
    fn draw(&self, folder: &PlotFolder, plan: &Plan) -> Result<String, Usage> {
        let names: Vec<&str> = self.sweeps.iter().map(|sweep| sweep.name.as_str()).collect();
        let bugs: String =
            plan.asked.config.bugs.iter().map(|bug| format!(" with {bug}")).collect();
        let subtitle = format!(
            "{}{bugs}, {}; other values of {}; replications: {}",
            plan.name,
            plan.topology(),
            names.join(" and "),
            plan.replications
        );
        let mut count = 0;
        for (at, metric) in METRICS.iter().enumerate() {
            let curve = |(second, reports): (Option<&str>, &[Report])| SweptCurve {
                name: match (second, self.sweeps.get(1)) {
                    (Some(value), Some(second)) => format!("{} = {value}", second.name),
                    _ => "mean, 95 %".into(),
                },
                points: self.sweeps[0]
                    .values
                    .iter()
                    .zip(reports)
                    .filter_map(|(value, report)| {
                        let summary = report.json.metrics.0[at].1.summary?;
                        Some((number(value), summary.mean, summary.ci95.unwrap_or(0.0)))
                    })
                    .collect(),
            };
            let curves: Vec<SweptCurve> = self.groups().map(curve).collect();
            if curves.iter().all(|curve| curve.points.is_empty()) {
                continue;
            }
            let unit = metric.unit.symbol();
            let caption = Caption { title: metric.title, subtitle: &subtitle, unit };
            let plot = Swept { below: &self.sweeps[0].name, curves: &curves };
            folder.put(metric.name, &plot.plot(&caption))?;
            count += 1;
        }
        Ok(format!("\n{count} plots in {}\n", folder.display()))
    }
}

/// The metrics of which any report says something: their numbers and names.
fn shown(reports: &[Report]) -> Vec<(usize, String)> {
    let says =
        |at: usize| reports.iter().any(|report| report.json.metrics.0[at].1.summary.is_some());
    let titles = METRICS.iter().map(super::report::title).enumerate();
    titles.filter(|(at, _)| says(*at)).collect()
}

/// The means of the metrics for some values of a setting, beside each other.
fn block(
    name: &str,
    (titles, width): (&[(usize, String)], usize),
    columns: &[(&String, &Report)],
) -> String {
    let mut out = format!("\n{name:width$}");
    columns.iter().for_each(|(value, _)| out += &format!("{value:>COLUMN$}"));
    out.push('\n');
    for (at, title) in titles {
        out += &format!("{title:width$}");
        for (_, report) in columns {
            let summary = report.json.metrics.0[*at].1.summary;
            let mean = summary.map_or("–".into(), |summary| significant(summary.mean));
            out += &format!("{mean:>COLUMN$}");
        }
        out.push('\n');
    }
    out
}
