//! A check, from its configuration to its report.

use crate::error::CheckError;
use crate::finding::Early;
use crate::host::Host;
use crate::observer::Observer;
use crate::replay::{Replay, Replayed};
use crate::report::Report;
use crate::{joint, script, search};
use everypath_native::Specification;
use everypath_trace::{
    CacheName, CheckConfig, Control, PeerAnswers, PeerFailure, PeerTree, RacesName, Trace,
};
use std::path::PathBuf;
use std::sync::Arc;

/// A check of a native program.
#[derive(Clone, Debug)]
pub struct Check {
    config: CheckConfig,
    specification: Option<Arc<dyn Specification>>,
}

impl Check {
    /// The check that a configuration describes.
    pub fn new(config: CheckConfig) -> Self {
        Check { config, specification: None }
    }

    /// What the events of the program are compared with, if the configuration names a model.
    #[must_use]
    pub fn refining(self, specification: Option<Arc<dyn Specification>>) -> Self {
        Check { specification, ..self }
    }

    /// Explores the program: a violation is confirmed in a fresh process, minimised and explained.
    /// What cannot be explored to its end is reported as inconclusive; an error is a configuration
    /// that makes no sense.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Report, CheckError> {
        let config = &self.config;
        self.validate()?;
        let host = Host { specification: self.specification.clone(), ..Host::new() };
        let interpreted = script::with_interpreter(&host, config);
        let config = interpreted.as_ref().unwrap_or(config);
        let found = match config.is_joint() {
            true => joint::explore(&host, config, observer),
            false => search::explore(&host, config, observer),
        };
        let report = match found {
            Ok(found) => Report::new(config, found),
            Err(Early::Found(found)) => Report::new(config, *found),
            Err(Early::Error(error)) => return Err(error),
        };
        Ok(match &self.specification {
            Some(specification) => report.comparing(specification.compared()),
            None => report,
        })
    }

    /// Repeats the execution of a trace and compares it with what was recorded.
    pub fn replay(trace: &Trace) -> Result<Replayed, CheckError> {
        Ok(Replay::new(trace, false, None)?.run(&Control::default()))
    }

    /// Refuses what no check could be.
    fn validate(&self) -> Result<(), CheckError> {
        let config = &self.config;
        if !config.peer.is_empty() && (config.joint || !config.with.is_empty()) {
            return Err(CheckError::options(
                "a --peer is a real process, which programs that are named by --with, or explored \
                 with --joint, cannot reach: name all others with --with, or all with --peer",
            ));
        }
        if let Some(option) = about_peers(config) {
            return Err(CheckError::options(format!(
                "{option} is about real processes (--peer), of which there are none with --with or \
                 --joint: leave it out"
            )));
        }
        let reports_races =
            config.sees_memory() && config.races == RacesName::Violation && !config.is_joint();
        if !config.suppress_races.is_empty() && !reports_races {
            return Err(CheckError::options(
                "--suppress-races: no data race is reported with --memory off, --joint, --races \
                 explore or --races ignore: leave one out",
            ));
        }
        if config.suppress_races.iter().any(String::is_empty) {
            return Err(CheckError::options(
                "--suppress-races: expected a part of the name of a function or a source file, such \
                 as queue.c",
            ));
        }
        if config.joint && config.sample_traces.is_some() {
            return Err(CheckError::options(
                "--sample-traces draws executions of all programs together, which --joint does not \
                 run: leave one out",
            ));
        }
        if config.refines.is_some() && config.is_joint() {
            return Err(CheckError::options(
                "--refines compares the events of all programs, in one order, which --joint does not \
                 have: leave one out",
            ));
        }
        if config.refines.is_some() && config.symmetric {
            return Err(CheckError::options(
                "--refines: events name who acts, so programs are not in each other's place; leave \
                 --symmetric out",
            ));
        }
        let named = [&config.expect_stdout, &config.emit, &config.against];
        let hosts = config.file.iter().flat_map(|file| [&file.host, &file.scratch]);
        let mut paths = named.into_iter().flatten().chain(hosts);
        match paths.find(|path: &&PathBuf| path.to_str().is_none()) {
            Some(path) => Err(CheckError::NotUtf8(path.clone())),
            None => Ok(()),
        }
    }
}

/// An option that only matters to peers, if there can be none.
fn about_peers(config: &CheckConfig) -> Option<&'static str> {
    let is_alone = config.with.is_empty() && !config.is_joint();
    let faults = config.tcp_faults.is_some() && !config.is_joint();
    let options = [
        ("--tcp-faults", faults),
        ("--chunks", config.chunks),
        ("--cache", config.cache != CacheName::default()),
        ("--peer-tree", config.peer_tree != PeerTree::default()),
        ("--peer-answers", config.peer_answers != PeerAnswers::default()),
        ("--peer-failure", config.peer_failure != PeerFailure::default()),
        ("--verify-peers", config.verify_peers),
    ];
    options.into_iter().find(|(_, is_given)| *is_given && !is_alone).map(|(name, _)| name)
}
