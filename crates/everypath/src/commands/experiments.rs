//! `everypath experiments`: the papers' tables, ours beside theirs.

use crate::catalog::Catalog;
use crate::cli::ExperimentsArgs;
use crate::experiments::{self, Experiment, Outcome};
use crate::output::{self, OutputFile};
use crate::suggest;
use crate::usage::Usage;
use crate::watch::Watch;
use crate::{HOLDS, INCONCLUSIVE};
use serde_json::json;
use std::path::Path;

/// Runs the experiments of these names, or all.
pub(crate) fn run(catalog: &Catalog, args: &ExperimentsArgs) -> Result<u8, Usage> {
    let all = experiments::all();
    if args.list {
        for Experiment { name, title, source, .. } in &all {
            output::print(&format!("{name:12} {title} ({source})\n"));
        }
        return Ok(HOLDS);
    }
    for name in &args.names {
        suggest::find("experiment", name, all.iter().map(|experiment| experiment.name))?;
    }
    let to_stdout = args.json.as_deref() == Some(Path::new("-"));
    let json = match args.json.as_deref() {
        Some(path) if !to_stdout => Some(OutputFile::new("--json", path)?),
        _ => None,
    };
    let watch = Watch::new(None, None, args.quiet);
    let (mut results, mut code) = (Vec::new(), HOLDS);
    let chosen =
        all.iter().filter(|e| args.names.is_empty() || args.names.iter().any(|n| n == e.name));
    for experiment in chosen {
        let (outcomes, stopped) = experiments::run(experiment, catalog, &watch, args.quick)?;
        if !args.quiet && !to_stdout {
            output::print(&table(experiment, &outcomes));
        }
        results.push(in_json(experiment, &outcomes));
        if let Some(stopped) = stopped {
            output::error(&format!("{}: {stopped}; what follows was left out", experiment.name));
            code = INCONCLUSIVE;
            break;
        }
    }
    let mut text = serde_json::to_string_pretty(&results).expect("keys are strings");
    text.push('\n');
    if to_stdout {
        output::print(&text);
    }
    if let Some(file) = json {
        file.write(text.as_bytes())
            .map_err(|error| Usage::new(format!("cannot write {}: {error}", file.path())))?;
    }
    Ok(code)
}

/// The table in words: space, events and time, the paper's and ours.
fn table(experiment: &Experiment, outcomes: &[Outcome]) -> String {
    let mut out = format!("{} ({})\n", experiment.title, experiment.source);
    let columns = ["states", "ours", "events", "ours", "ms", "ours", "found"];
    out += &format!("{:18}", "");
    columns.iter().for_each(|column| out += &format!("{column:>12}"));
    out.push('\n');
    for Outcome { label, paper, ours, violated, replications } in outcomes {
        out += &format!("{label:18}{:>12.2}{:>12.2}", paper.space, ours.space);
        out += &format!("{:>12.2}{:>12.2}", paper.events, ours.events);
        out += &format!("{:>12.2}{:>12.2}", paper.seconds * 1e3, ours.seconds * 1e3);
        out += &format!("{:>12}\n", format!("{violated}/{replications}"));
    }
    out + "\n"
}

fn in_json(experiment: &Experiment, outcomes: &[Outcome]) -> serde_json::Value {
    let figures = |figures: &experiments::Figures| json!({"states": figures.space, "events": figures.events, "seconds": figures.seconds});
    let rows: Vec<_> = outcomes
        .iter()
        .map(|outcome| {
            json!({
                "label": outcome.label,
                "replications": outcome.replications,
                "violated": outcome.violated,
                "paper": figures(&outcome.paper),
                "ours": figures(&outcome.ours),
            })
        })
        .collect();
    json!({"name": experiment.name, "source": experiment.source, "rows": rows})
}
