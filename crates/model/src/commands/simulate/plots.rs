//! The plots of `everypath simulate`: a file for each metric.

use super::Plan;
use super::report::Report;
use crate::commands::plot_folder::PlotFolder;
use crate::usage::Usage;
use everypath_report::{Caption, Distribution, Replications};
use std::path::Path;

/// The plots in their folder.
pub(super) struct Plots {
    folder: PlotFolder,
}

/// The plot beside those of the metrics.
const DISTRIBUTION: &str = "delay-distribution";

impl Plots {
    /// Plots that go to this folder.
    pub(super) fn new(folder: &Path) -> Result<Self, Usage> {
        Ok(Plots { folder: PlotFolder::new(folder)? })
    }

    /// Writes all plots; a line that says so.
    pub(super) fn write(&self, plan: &Plan, report: &Report) -> Result<String, Usage> {
        let subtitle = subtitle(plan);
        let mut count = 0;
        for (metric, values) in &report.json.metrics.0 {
            let Some(summary) = values.summary else { continue };
            let unit = metric.unit.symbol();
            let caption = Caption { title: metric.title, subtitle: &subtitle, unit };
            let plot = Replications {
                seed: plan.settings.seed,
                values: &values.values,
                mean: summary.mean,
                ci95: summary.ci95,
            };
            self.folder.put(metric.name, &plot.plot(&caption))?;
            count += 1;
        }
        if !report.delays.is_empty() {
            let caption = Caption { title: "delay", subtitle: &subtitle, unit: "ms" };
            self.folder
                .put(DISTRIBUTION, &Distribution { quantiles: &report.delays }.plot(&caption))?;
            count += 1;
        }
        Ok(format!("\n{count} plots in {}\n", self.folder.display()))
    }
}

/// What was simulated, in a line.
fn subtitle(plan: &Plan) -> String {
    let settings = &plan.settings;
    let milliseconds = |duration: std::time::Duration| duration.as_nanos() as f64 / 1e6;
    let bugs: String = plan.asked.config.bugs.iter().map(|bug| format!(" with {bug}")).collect();
    format!(
        "{}{bugs}, {} nodes, {}, {} s, links {} ms + {} ms, loss {}",
        plan.name,
        plan.asked.config.nodes,
        plan.topology(),
        settings.duration.as_secs_f64(),
        milliseconds(settings.delay),
        milliseconds(settings.jitter),
        settings.loss
    )
}
