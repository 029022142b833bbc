//! `everypath experiments`: the papers' tables, ours beside theirs.

use crate::catalog::Catalog;
use crate::cli::ExperimentsArgs;
use crate::commands::plot_folder::PlotFolder;
use crate::experiments::{self, Experiment, Figures, Outcome, Row, Runner, incremental};
use crate::output::{self, Json};
use crate::suggest;
use crate::usage::Usage;
use crate::watch::Watch;
use crate::{HOLDS, INCONCLUSIVE};
use serde_json::{Value, json};

/// Runs the experiments of these names, or all.
pub(crate) fn run(catalog: &Catalog, args: &ExperimentsArgs) -> Result<u8, Usage> {
    let (all, incremental) = (experiments::all(), incremental::all());
    let native = experiments::all_native();
    let searches = all.iter().map(|e| (e.name, e.title, e.source));
    let listed = searches
        .chain(incremental.iter().map(|e| (e.name, e.title, e.source)))
        .chain(native.iter().map(|experiment| experiment.listed()));
    if args.list {
        for (name, title, source) in listed {
            output::print(&format!("{name:13} {title} ({source})\n"));
        }
        return Ok(HOLDS);
    }
    for name in &args.names {
        suggest::find("experiment", name, listed.clone().map(|(name, ..)| name))?;
    }
    let json = Json::new(args.json.as_deref())?;
    let plots = args.plot.as_deref().map(PlotFolder::new).transpose()?;
    let quiet = args.quiet || matches!(json, Json::Stdout);
    let watch = Watch::new(None, None, args.quiet);
    let runner = Runner { catalog, watch: &watch, quick: args.quick };
    let (mut results, mut code) = (Vec::new(), HOLDS);
    let chosen = |name: &str| args.names.is_empty() || args.names.iter().any(|n| n == name);
    for experiment in all.iter().filter(|experiment| chosen(experiment.name)) {
        let (rows, complete) = run_one(&runner, experiment, quiet)?;
        results.push(json!({"name": experiment.name, "source": experiment.source, "rows": rows}));
        if !complete {
            code = INCONCLUSIVE;
            break;
        }
    }
    let print = |text: &str| {
        if !quiet {
            output::print(text);
        }
    };
    let rest = incremental.iter().filter(|experiment| code == HOLDS && chosen(experiment.name));
    for experiment in rest {
        print(&format!("{} ({})\n\n", experiment.title, experiment.source));
        let (rows, stopped) = incremental::run(&runner, experiment, &print)?;
        results.push(json!({"name": experiment.name, "source": experiment.source, "rows": rows}));
        if let Some(stopped) = stopped {
            output::error(&format!("{}: {stopped}; the rest is left out", experiment.name));
            code = INCONCLUSIVE;
            break;
        }
    }
    for experiment in native {
        let (name, title, source) = experiment.listed();
        if code != HOLDS || !chosen(name) {
            continue;
        }
        print(&format!("{title} ({source})\n\n"));
        match experiment.run(args.quick, &print) {
            Ok(rows) => {
                if let (Some(plots), Some(svg)) = (&plots, experiment.plot(&rows)) {
                    plots.put(name, &svg)?;
                }
                results.push(json!({"name": name, "source": source, "rows": rows}));
            }
            Err(missing) => {
                output::error(&format!("{name}: {missing}; it is left out"));
                code = INCONCLUSIVE;
            }
        }
    }
    json.write(&results)?;
    Ok(code)
}

/// Runs one experiment and prints its rows as they come; whether it came to its end.
fn run_one(
    runner: &Runner<'_>,
    experiment: &Experiment,
    quiet: bool,
) -> Result<(Vec<Value>, bool), Usage> {
    let mut results = Vec::new();
    let print = |text: String| {
        if !quiet {
            output::print(&text);
        }
    };
    print(format!("{} ({})\n", experiment.title, experiment.source));
    for part in &experiment.parts {
        print(header(part.title));
        for row in &part.rows {
            let outcome =
                experiments::run(runner, part, row, experiment.replications, experiment.space)?;
            print(line(row, &outcome));
            results.push(in_json(part.title, row, &outcome));
            if let Some(stopped) = outcome.stopped {
                output::error(&format!("{}: {stopped}; the rest is left out", experiment.name));
                return Ok((results, false));
            }
        }
    }
    print("\n".into());
    Ok((results, true))
}

/// The names of the columns: the paper's figures, each with ours beside it.
fn header(title: &str) -> String {
    let columns = ["states", "ours", "events", "ours", "seconds", "ours", "found"];
    let columns: String = columns.iter().map(|column| format!("{column:>12}")).collect();
    format!("{title:24}{columns}\n")
}

fn line(row: &Row, Outcome { ours, violated, replications, .. }: &Outcome) -> String {
    let nodes = row.nodes.map_or(String::new(), |nodes| format!(", {nodes} nodes"));
    let name = format!("{}{nodes}", row.label);
    let paper = |figure: fn(&Figures) -> f64, digits: usize| match &row.paper {
        Some(paper) => format!("{:.digits$}", figure(paper)),
        None => "–".into(),
    };
    let found = format!("{violated}/{replications}");
    format!(
        "{name:24}{:>12}{:>12.2}{:>12}{:>12.2}{:>12}{:>12.5}{found:>12}\n",
        paper(|figures| figures.space, 2),
        ours.space,
        paper(|figures| figures.events, 2),
        ours.events,
        paper(|figures| figures.seconds, 5),
        ours.seconds,
    )
}

fn in_json(part: &str, row: &Row, outcome: &Outcome) -> Value {
    let figures = |figures: &Figures| json!({"states": figures.space, "events": figures.events, "seconds": figures.seconds});
    json!({
        "part": part,
        "label": row.label,
        "nodes": row.nodes,
        "replications": outcome.replications,
        "violated": outcome.violated,
        "paper": row.paper.as_ref().map(figures),
        "ours": figures(&outcome.ours),
    })
}
