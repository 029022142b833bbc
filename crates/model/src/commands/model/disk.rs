//! Searches that keep their states on disk: checkpoints, and more states than fit into memory.

use super::{Plan, Run};
use crate::catalog::Entry;
use crate::cli::{ModelArgs, ReductionName, StrategyName};
use crate::usage::Usage;
use crate::watch::{Watch, clock};
use everypath_explore::disk::Disk;
use everypath_explore::{AnyModel, expander, fingerprint};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// The least that fingerprints get, in bytes, and what is left to everything else besides half of what
/// there is: the states that are being expanded.
const LEAST: u64 = 1 << 20;
const REST: u64 = 24 << 20;
/// How many bytes of this program are read at once.
const PIECE: u64 = 1 << 18;

/// What is asked for, checked.
pub(super) struct DiskPlan {
    folder: PathBuf,
    resume: bool,
    /// Nanoseconds between two checkpoints.
    every: u64,
    identity: String,
}

/// What a search in several processes or on disk cannot be combined with, and how it is called.
pub(super) fn unfit(args: &ModelArgs, option: &str) -> Result<(), Usage> {
    let other = [
        (args.strategy != StrategyName::Bfs, "a --strategy other than bfs"),
        (args.add == crate::cli::AddName::Current, "--add current"),
        (args.reduction.contains(&ReductionName::Symmetry), "--reduction symmetry"),
        (args.reduction.contains(&ReductionName::Sleep), "--reduction sleep"),
        (args.graph.asked(), "graphs"),
        (args.replications > 1, "--replications"),
        (args.other.asked(), "what is done instead of a search"),
    ];
    match other.iter().find(|(is_asked, _)| *is_asked) {
        Some((_, what)) => {
            Err(Usage::new(format!("{option} does not go with {what}; leave one of them out")))
        }
        None => Ok(()),
    }
}

impl DiskPlan {
    /// Checks what is asked for; `None` if nothing is.
    pub(super) fn new(entry: &Entry, plan: &Plan, args: &ModelArgs) -> Result<Option<Self>, Usage> {
        let asked = &args.disk;
        if asked.lacks_folder() {
            return Err(Usage::new("--every needs --checkpoint or --resume, which say where"));
        }
        let Some(folder) = asked.folder() else { return Ok(None) };
        unfit(args, asked.option())?;
        assert!(expander::fits(&plan.request.search), "checked with the options");
        Ok(Some(DiskPlan {
            folder: folder.clone(),
            resume: asked.resume.is_some(),
            every: (asked.every() * 1e9) as u64,
            identity: identity(entry, plan)?,
        }))
    }

    /// Searches.
    pub(super) fn run(
        &self,
        plan: &Plan,
        model: &dyn AnyModel,
        watch: &Watch<'_>,
    ) -> Result<Vec<Run>, Usage> {
        let (request, record) = plan.requests().next().expect("there is at least one replication");
        let (clock, last) = (clock(), AtomicU64::new(0));
        let due = || {
            let now = clock();
            let is_due = now.saturating_sub(last.load(Ordering::Relaxed)) >= self.every;
            if is_due {
                last.store(now, Ordering::Relaxed);
            }
            is_due
        };
        let disk = Disk {
            folder: &self.folder,
            memory: watch.memory_left().map_or(u64::MAX, fingerprints),
            identity: &self.identity,
            resume: self.resume,
            due: &due,
        };
        let (explored, took, stopped) = watch.run(|control| {
            model.explore_on_disk(&request, disk, control).map(|mut exploration| {
                let liveness = plan.check_liveness(model, &request, (&mut exploration, control));
                (exploration, liveness)
            })
        });
        let (exploration, liveness) = explored.map_err(|error| Usage::new(error.to_string()))?;
        let hint = Some(format!("--resume {} goes on", self.folder.display()));
        let (session, walked) = (None, None);
        Ok(vec![Run { exploration, took, stopped, record, session, liveness, walked, hint }])
    }
}

/// How many bytes of what is left are for fingerprints.
fn fingerprints(left: u64) -> u64 {
    (left.saturating_sub(REST) / 2).max(LEAST)
}

/// What is searched, and by which program: all that decides about the result, a line each.
pub(super) fn identity(entry: &Entry, plan: &Plan) -> Result<String, Usage> {
    let Plan { request, config, record, .. } = plan;
    let search = &request.search;
    let shuffle = record.shuffle.as_ref().map(|shuffle| shuffle.seed);
    let none = |text: String| if text.is_empty() { "none".into() } else { text };
    let links = config.links.as_ref().map(|links| format!("{links:?}"));
    let shown = |value: Option<String>| value.unwrap_or("none".into());
    let lines = [
        format!("model: {}", entry.kind.name),
        format!("nodes: {}", config.nodes),
        format!("bugs: {}", none(config.bugs.join(", "))),
        format!(
            "features: {}",
            config.features.as_ref().map_or("default".into(), |f| f.join(", "))
        ),
        format!("links: {}", shown(links)),
        format!("parameters: {:?}", config.set),
        format!("faults: {:?}", config.faults),
        format!("duplicates: {}, identical packets as one: {}", config.duplicate, config.identical),
        format!("properties: {}", none(request.properties.join(", "))),
        format!("depth bound: {}", shown(search.max_depth.map(|depth| depth.to_string()))),
        format!("shuffle: {}", shown(shuffle.map(|seed| seed.to_string()))),
        format!("must contain: {}", shown(record.must_contain.clone())),
        format!("disabled: {}", none(record.disabled.join(", "))),
        format!("goes on after a violation: {}", search.keep_going),
        format!("program: build {}", build()?),
    ];
    Ok(lines.join("\n"))
}

/// The fingerprint of this program, read piece by piece: a program may be large.
fn build() -> Result<String, Usage> {
    let failed = |error: std::io::Error| Usage::new(format!("cannot read this program: {error}"));
    let mut file = std::env::current_exe().and_then(File::open).map_err(failed)?;
    let (mut piece, mut print) = (Vec::new(), fingerprint(&[]));
    loop {
        piece.clear();
        piece.extend(print.0.to_le_bytes());
        let read = (&mut file).take(PIECE).read_to_end(&mut piece).map_err(failed)?;
        if read == 0 {
            return Ok(print.to_string());
        }
        print = fingerprint(&piece);
    }
}
