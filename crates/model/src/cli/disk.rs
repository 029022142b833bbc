//! The options of searches that keep their states on disk.

use clap::Args;
use std::path::PathBuf;

/// How often a checkpoint is written, if nothing is said, in minutes.
const EVERY: f64 = 10.0;

/// Options of searches that keep their states on disk.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Bigger than memory, longer than a day")]
pub(crate) struct DiskArgs {
    /// Keep states and checkpoints in this folder; of --max-memory, fingerprints take half (bfs only, with
    /// --visited hash)
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Write a checkpoint so often, besides at the end, at a limit and at Ctrl-C [default: 10]
    #[arg(long, value_name = "MINUTES", allow_negative_numbers = true, value_parser = minutes)]
    every: Option<f64>,

    /// Go on with the search in this folder; give the same options again, but for limits and --threads
    #[arg(long, value_name = "DIR")]
    pub(crate) resume: Option<PathBuf>,
}

impl DiskArgs {
    /// The folder, if any is asked for.
    pub(crate) fn folder(&self) -> Option<&PathBuf> {
        self.checkpoint.as_ref().or(self.resume.as_ref())
    }

    /// The option that asks for it.
    pub(crate) fn option(&self) -> &'static str {
        if self.resume.is_some() { "--resume" } else { "--checkpoint" }
    }

    /// How many seconds are between two checkpoints.
    pub(crate) fn every(&self) -> f64 {
        self.every.unwrap_or(EVERY) * 60.0
    }

    /// Whether it is said how often checkpoints are written, and not where.
    pub(crate) fn lacks_folder(&self) -> bool {
        self.every.is_some() && self.folder().is_none()
    }
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes: f64 = text.parse().unwrap_or(f64::NAN);
    let fits = minutes > 0.0 && minutes <= 1e6;
    fits.then_some(minutes).ok_or("write a number of minutes above 0, as 10 or 0.5".into())
}
