//! `everypath experiments`: the papers' tables, ours beside theirs.

use crate::cli::ExperimentsArgs;
use crate::output::{self, Json};
use crate::suggest;
use crate::usage::Usage;
use crate::watch::{Watch, clock};
use crate::{DEFECT, HOLDS, INCONCLUSIVE};
use everypath_experiments::{About, ExperimentError, Host, Rows, Timed, all};
use everypath_model::commands::plot_folder::PlotFolder;
use serde_json::json;

/// Runs the experiments of these names, or all.
pub(crate) fn run(args: &ExperimentsArgs) -> Result<u8, Usage> {
    let all = all();
    if args.list {
        for About { name, title, source } in all.iter().map(|experiment| experiment.about()) {
            output::print(&format!("{name:13} {title} ({source})\n"));
        }
        return Ok(HOLDS);
    }
    for name in &args.names {
        suggest::find("experiment", name, all.iter().map(|experiment| experiment.about().name))?;
    }
    let chosen = |name: &str| args.names.is_empty() || args.names.iter().any(|n| n == name);
    let figures = all.iter().filter(|experiment| experiment.is_figure());
    let figures: Vec<&str> = figures.map(|experiment| experiment.about().name).collect();
    if args.plot.is_some() && !figures.iter().any(|name| chosen(name)) {
        let (names, figures) = (args.names.join(", "), figures.join(", "));
        return Err(Usage::new(format!("--plot: {names} has no plot; figures are {figures}")));
    }
    let json = Json::new(args.json.as_deref())?;
    let plots = args.plot.as_deref().map(PlotFolder::new).transpose()?;
    let quiet = args.quiet || matches!(json, Json::Stdout);
    let own = std::env::current_exe()
        .map_err(|error| Usage::new(format!("cannot find this program: {error}")))?;
    let (watch, clock) = (Watch::new(None, None, args.quiet), clock());
    let host = Host {
        quick: args.quick,
        everypath: &own,
        print: &|text| {
            if !quiet {
                output::print(text);
            }
        },
        clock: &clock,
        watch: &|work| {
            let ((), took, stopped) = watch.run(|control| work(control));
            Timed { took, stopped: stopped.map(|stopped| stopped.to_string()) }
        },
    };
    let (mut results, mut code) = (Vec::new(), HOLDS);
    for experiment in all.iter().filter(|experiment| chosen(experiment.about().name)) {
        let About { name, source, .. } = experiment.about();
        let Rows { rows, stopped } = match experiment.run(&host) {
            Ok(rows) => rows,
            Err(ExperimentError::Missing(missing)) => {
                output::error(&format!("{name}: {missing}; it is left out"));
                code = INCONCLUSIVE;
                break;
            }
            Err(error @ ExperimentError::Disagreement) => {
                output::error(&format!("internal error: {name}: {error}"));
                return Ok(DEFECT);
            }
            Err(error) => return Err(Usage::new(error.to_string())),
        };
        if let (Some(plots), Some(svg)) = (&plots, experiment.plot(&rows)) {
            plots.put(name, &svg)?;
        }
        results.push(json!({"name": name, "source": source, "rows": rows}));
        if let Some(stopped) = stopped {
            output::error(&format!("{name}: {stopped}; the rest is left out"));
            code = INCONCLUSIVE;
            break;
        }
    }
    json.write(&results)?;
    Ok(code)
}
