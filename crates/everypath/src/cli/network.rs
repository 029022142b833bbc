//! The options of `everypath check` that are about the network.

use super::datagrams::DatagramArgs;
use crate::usage::Usage;
use clap::{Args, ValueEnum};
use everypath_native::peers::{Cache, Options};
use everypath_native::{Fault, Faults, IdleMode, Partition};
use std::path::PathBuf;
use std::time::Duration;

/// What a program talks to, and what it means that it does not any more.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct NetworkArgs {
    /// A real process that the program talks to: a server, or a client that connects to it
    #[arg(long, value_name = "COMMAND")]
    pub(crate) peer: Vec<String>,

    /// Another program under control, with which the first forms a closed system
    #[arg(long, value_name = "COMMAND")]
    pub(crate) with: Vec<String>,

    /// How often one of the other programs may be killed, at any point, and started again or not
    #[arg(long, value_name = "N", default_value_t = 0, requires = "with")]
    pub(crate) kill: u16,

    /// How often the network between two programs may be cut, at any point, and mended later:
    /// 1, or between whom, such as primary:backup or primary:backup,client:primary=2
    #[arg(long, value_name = "N|PAIRS", requires = "with")]
    pub(crate) partition: Option<Partition>,

    /// Programs with the same command are just like each other: explore only one of the orders in
    /// which they begin to use the network
    #[arg(long, requires = "with")]
    pub(crate) symmetric: bool,

    /// Explore each program on its own, and hold what they did against each other
    #[arg(long, conflicts_with_all = ["partition", "symmetric", "chunks"])]
    pub(crate) joint: bool,

    /// Write a list of what the program does with others, and of what is not right about it: data,
    /// ends and silence that the --reference never shows
    #[arg(long, value_name = "FILE")]
    pub(crate) emit: Option<PathBuf>,

    /// A program that is right, to tell what is not
    #[arg(long, value_name = "COMMAND")]
    pub(crate) reference: Option<String>,

    /// Let a list that --emit wrote take the place of the program that it is about
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["peer", "kill", "tcp_faults", "chunks"])]
    pub(crate) against: Option<PathBuf>,

    /// A port that a peer listens on; it is awaited before the program is started
    #[arg(long, value_name = "PORT", requires = "peer")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) peer_ready: Option<u16>,

    /// How many seconds a peer has for anything that it shall do [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) peer_patience: Option<Duration>,

    /// How many seconds a peer that cannot be inspected must be silent for its answer to be
    /// complete [default: 0.1]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) peer_quiet: Option<Duration>,

    /// How many connections to peers are kept open; others are opened again when they are needed
    /// [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) peer_connections: Option<u16>,

    /// What is remembered of what peers answered
    #[arg(long, value_enum, default_value_t = CacheName::Branching)]
    pub(crate) cache: CacheName,

    /// What has a tree of answers of its own
    #[arg(long, value_enum, default_value_t = TreeName::Connection)]
    pub(crate) peer_tree: TreeName,

    /// Ask the peers again for everything that they answered, and compare
    #[arg(long)]
    pub(crate) verify_peers: bool,

    /// What may go wrong with connections to peers, and how often in one execution: refuse, reset,
    /// short-write, eintr
    #[arg(long, value_name = "NAME=N,…", value_parser = faults)]
    pub(crate) tcp_faults: Option<Faults>,

    /// Explore in which pieces the answers of peers can arrive
    #[arg(long)]
    pub(crate) chunks: bool,

    /// What it means that every thread waits for input that cannot come any more; by default it is
    /// a violation unless the program listens
    #[arg(long, value_enum)]
    pub(crate) idle: Option<IdleName>,

    #[command(flatten)]
    pub(crate) datagrams: DatagramArgs,
}

impl NetworkArgs {
    /// Which peers there are, and how they are treated.
    pub(crate) fn options(&self) -> Options {
        let default = Options::default();
        Options {
            commands: self.peer.clone(),
            cache: self.cache.into(),
            patience: self.peer_patience.unwrap_or(default.patience),
            quiet: self.peer_quiet.unwrap_or(default.quiet),
            max_open: self.peer_connections.map_or(default.max_open, usize::from),
            alike: self.peer_tree == TreeName::Destination,
            ..default
        }
    }

    /// Refuses peers beside programs under control: neither could reach the other.
    pub(crate) fn check(&self) -> Result<(), Usage> {
        match !self.peer.is_empty() && (self.joint || !self.with.is_empty()) {
            true => Err(Usage::new(
                "a --peer is a real process, which programs that are named by --with, or explored \
                 with --joint, cannot reach: name all others with --with, or all with --peer",
            )),
            false => Ok(()),
        }
    }

    /// Whether programs are explored on their own.
    pub(crate) fn is_joint(&self) -> bool {
        self.joint || self.against.is_some() || self.emit.is_some() || self.reference.is_some()
    }

    /// What may go wrong.
    pub(crate) fn faults(&self) -> Faults {
        Faults { chunks: self.chunks, ..self.tcp_faults.unwrap_or_default() }
    }

    /// The option that limits what may go wrong, as it is written.
    pub(crate) fn budget(&self) -> Option<String> {
        let faults = self.tcp_faults?;
        let allowed = Fault::ALL.into_iter().filter(|&fault| faults.of(fault) > 0);
        let words = allowed.map(|fault| format!("{}={}", fault.name(), faults.of(fault)));
        Some(words.collect::<Vec<_>>().join(","))
    }

    /// What it means that nothing more can come.
    pub(crate) fn idle_mode(&self) -> IdleMode {
        match self.idle {
            None => IdleMode::Automatic,
            Some(IdleName::Ok) => IdleMode::Fine,
            Some(IdleName::Violation) => IdleMode::Violation,
        }
    }
}

/// A list such as `refuse=1,eintr=2`.
pub(crate) fn faults(text: &str) -> Result<Faults, String> {
    let mut faults = Faults::default();
    for word in text.split(',') {
        let known = |name: &str| Fault::ALL.into_iter().find(|fault| fault.name() == name.trim());
        let entry = word
            .split_once('=')
            .and_then(|(name, number)| Some((known(name)?, number.trim().parse::<u8>().ok()?)));
        let (fault, most) = entry.ok_or_else(|| {
            let names = Fault::ALL.map(Fault::name).join(", ");
            format!(
                "expected names with how often they may happen, such as refuse=1,reset=1; the \
                 names are {names}, and the most is 255"
            )
        })?;
        faults.budget[fault as usize] = most;
    }
    Ok(faults)
}

/// A number of seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| !time.is_zero())
        .ok_or_else(|| "expected a number of seconds above 0, such as 0.5".to_string())
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheName {
    /// Every answer; another message is another branch
    #[default]
    Branching,
    /// Every answer; the program must send the same in every schedule
    Linear,
    /// Nothing: peers are started anew for every execution
    None,
}

impl CacheName {
    pub(crate) fn name(self) -> &'static str {
        match self {
            CacheName::Branching => "branching",
            CacheName::Linear => "linear",
            CacheName::None => "none",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [CacheName::Branching, CacheName::Linear, CacheName::None]
            .into_iter()
            .find(|cache| cache.name() == name)
    }
}

impl From<CacheName> for Cache {
    fn from(name: CacheName) -> Self {
        match name {
            CacheName::Branching => Cache::Branching,
            CacheName::Linear => Cache::Linear,
            CacheName::None => Cache::None,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TreeName {
    /// Every connection to a server, the same one in every schedule
    #[default]
    Connection,
    /// Every server, which must answer all connections alike
    Destination,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IdleName {
    /// It is as it should be
    Ok,
    /// It is not
    Violation,
}

impl IdleName {
    pub(crate) fn name(self) -> &'static str {
        match self {
            IdleName::Ok => "ok",
            IdleName::Violation => "violation",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [IdleName::Ok, IdleName::Violation].into_iter().find(|idle| idle.name() == name)
    }
}
