//! The options of searches by several processes.

use clap::Args;
use everypath_trace::Seconds;
use std::path::PathBuf;
use std::time::Duration;

/// How long another process may take to appear or to answer, if nothing is said, in seconds.
const PATIENCE: f64 = 60.0;

/// Options of searches by several processes.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Several processes and machines")]
pub(crate) struct ClusterArgs {
    /// Search with N processes on this machine; or, with --hosts, with those of the first N lines (bfs
    /// only, with --visited hash)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) processes: Option<u16>,

    /// Search with processes on these machines: a file with host:port on each line. Start the same command
    /// on each, with its --process
    #[arg(long, value_name = "FILE")]
    pub(crate) hosts: Option<PathBuf>,

    /// Which line of the host file is this process, counted from 0; process 0 reports [default: what
    /// Slurm or mpirun have set]
    #[arg(long, value_name = "I", requires = "hosts")]
    pub(crate) process: Option<usize>,

    /// How long another process may take to appear, and be silent, before it is given up [default: 60]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    host_timeout: Option<Seconds>,
}

impl ClusterArgs {
    /// The option that asks for several processes, if one does.
    pub(crate) fn option(&self) -> Option<&'static str> {
        let hosts = self.hosts.as_ref().map(|_| "--hosts");
        hosts.or(self.processes.map(|_| "--processes"))
    }

    /// Whether it is said how long to wait, and not for whom.
    pub(crate) fn lacks_processes(&self) -> bool {
        self.host_timeout.is_some() && self.option().is_none()
    }

    pub(crate) fn patience(&self) -> Duration {
        Duration::from_secs_f64(self.host_timeout.map_or(PATIENCE, f64::from).max(0.1))
    }
}
