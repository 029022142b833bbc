//! What a check of a native program is: all that its result depends on.

mod choices;
#[cfg(feature = "file")]
mod os_text;
#[cfg(feature = "file")]
mod sparse;
mod udp;
mod values;

pub use choices::{
    CacheName, IdleName, MemoryName, PeerAnswers, PeerFailure, PeerTree, RacesName, ReductionName,
    RestoreMethod, Strategy, ThreadBackend, TimeName,
};
pub use udp::{UdpAtPort, UdpRules};
pub use values::{BadValue, ByteSize, FilePlacement, OthersExit, Partition, Seconds, TcpFaults};

#[cfg(feature = "file")]
pub(crate) use sparse::sparse;

use everypath_perturb::{Budget, Direction, Multiplicities};
use std::ffi::OsString;
use std::path::PathBuf;

/// A variable of a `#[test]` function that is checked, with its name: by it the test knows, and reports do.
pub const CHECKED_TEST: &str = "EVERYPATH_CHECKED_TEST";

/// A check of a native program. Its fields have the names of the options of `everypath check`, which
/// are also the keys of a scenario file, and their documentation is the help text of the options.
///
/// A trace contains the whole of it, so that a replay needs nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(default, deny_unknown_fields, rename_all = "kebab-case"))]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct CheckConfig {
    /// The program: a path, or a name to be looked for in `PATH`.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[cfg_attr(feature = "file", serde(with = "os_text::path"))]
    pub program: PathBuf,

    /// Its arguments.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[cfg_attr(feature = "file", serde(with = "os_text::words"))]
    pub arguments: Vec<OsString>,

    /// The folder that it runs in; `None` is the current one.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[cfg_attr(feature = "file", serde(with = "os_text::maybe_path"))]
    pub folder: Option<PathBuf>,

    /// Set a variable of the program's environment, besides those that it inherits; the trace contains
    /// it (repeatable)
    #[cfg_attr(feature = "clap", arg(long = "env", value_name = "NAME=VALUE"))]
    #[cfg_attr(feature = "clap", arg(value_parser = values::variable, help_heading = "Program"))]
    pub environment: Vec<(String, String)>,

    /// The exit code that counts as success
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = 0))]
    #[cfg_attr(feature = "clap", arg(value_parser = clap::value_parser!(i32).range(0..=255)))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Program"))]
    pub exit_code: i32,

    /// What standard output must be, byte by byte, at the end of every execution
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", value_parser = values::path))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Program"))]
    pub expect_stdout: Option<PathBuf>,

    /// A command that must exit with code 0 at the end of every execution: it runs in a copy of the
    /// files that the program wrote, and reads the program's standard output
    #[cfg_attr(feature = "clap", arg(long, value_name = "COMMAND", help_heading = "Program"))]
    pub oracle: Option<String>,

    /// A model, perhaps with options such as in 'arq --faults loss=1': the events that the program notes
    /// (everypath-verify) must be a path of it in every execution
    #[cfg_attr(feature = "clap", arg(long, value_name = "MODEL", help_heading = "Program"))]
    pub refines: Option<String>,

    /// Verdict when all threads block on input that can no longer arrive [default: ok if the program
    /// listens, else violation]
    #[cfg_attr(feature = "clap", arg(long, value_enum, help_heading = "Program"))]
    pub idle: Option<IdleName>,

    /// Put a file into the program's folder, visible to the program only (repeatable)
    #[cfg_attr(feature = "clap", arg(long, value_name = "HOST:SCRATCH", help_heading = "Program"))]
    pub file: Vec<FilePlacement>,

    /// What the program reads from standard input; without it that is at its end
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", value_parser = values::path))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Program"))]
    pub stdin: Option<PathBuf>,

    /// Load a library before main, with these flags of dlopen, because the program loads it later
    /// (repeatable); what is needed of these is found out
    #[cfg_attr(feature = "clap", arg(long, value_name = "FLAGS:NAME", hide_short_help = true))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Program"))]
    pub library: Vec<String>,

    /// How schedules are chosen
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t = Strategy::Dfs))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Schedules"))]
    pub strategy: Strategy,

    /// Partial-order reduction (dfs) [default: dpor, or sleep with --state-matching]
    #[cfg_attr(feature = "clap", arg(long, value_enum, help_heading = "Schedules"))]
    pub reduction: Option<ReductionName>,

    /// Whether conflicting memory accesses are found and scheduled [default: on]
    #[cfg_attr(feature = "clap", arg(long, value_enum, help_heading = "Schedules"))]
    pub memory: Option<MemoryName>,

    /// What becomes of data races, if memory accesses are seen; with --joint, they are explored
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t = RacesName::Violation))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Schedules"))]
    pub races: RacesName,

    /// Explore data races in functions and source files whose name contains TEXT, and do not report
    /// them (repeatable)
    #[cfg_attr(feature = "clap", arg(long, value_name = "TEXT", help_heading = "Schedules"))]
    pub suppress_races: Vec<String>,

    /// Keep the fingerprint of every state, and do not continue from a visited one (dfs)
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Schedules"))]
    pub state_matching: bool,

    /// Let the first N calls that create a thread fail with EAGAIN: libtest then runs a test on the main
    /// thread, and its own threads are no part of the schedules
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = 0))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Program"))]
    pub refuse_threads: u16,

    /// Explore only schedules with at most N preemptions, which are few and show most bugs; the
    /// verdict is bounded (dfs, without reduction)
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = "Schedules"))]
    pub preemptions: Option<u32>,

    /// At most N spins of an execution give up, or park, before others move [default: 1 for dfs]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = "Schedules"))]
    pub spins: Option<u16>,

    /// PCT bug depth: how many steps must be ordered for a bug to show (pct) [default: 3]
    #[cfg_attr(feature = "clap", arg(long, value_name = "D", help_heading = "Schedules"))]
    #[cfg_attr(feature = "clap", arg(value_parser = clap::value_parser!(u32).range(1..)))]
    pub pct_depth: Option<u32>,

    /// The seed of everything random: of samples, and of the random values that programs are given
    /// [default: 1]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", allow_negative_numbers = true))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Schedules"))]
    pub seed: Option<u64>,

    /// When a pending timeout may fire
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t = TimeName::Ordered))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Schedules"))]
    pub time: TimeName,

    /// How often in a row a thread's timeout fires before others move and something happens at a socket;
    /// dfs: only in a program whose executions end because nothing but time passes [default: 1 for dfs,
    /// else 16]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "clap", arg(value_parser = clap::value_parser!(u16).range(1..)))]
    #[cfg_attr(feature = "clap", arg(hide_short_help = true, help_heading = "Schedules"))]
    pub early_timeouts: Option<u16>,

    /// Continue after a violation and count them all
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Schedules"))]
    pub keep_going: bool,

    /// Re-run a sample of executions under every other backend and restore method, and compare
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Schedules"))]
    pub verify: bool,

    /// How threads run
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t = ThreadBackend::Fibers))]
    #[cfg_attr(feature = "clap", arg(hide_short_help = true, help_heading = "Schedules"))]
    pub backend: ThreadBackend,

    /// How state is restored between executions
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t = RestoreMethod::Automatic))]
    #[cfg_attr(feature = "clap", arg(hide_short_help = true, help_heading = "Schedules"))]
    pub restart: RestoreMethod,

    /// Another program under control: all of them form a closed system (repeatable)
    #[cfg_attr(feature = "clap", arg(long, value_name = "COMMAND", help_heading = "Network"))]
    pub with: Vec<String>,

    /// The exit code that counts as success of programs that are named by --with: a number, or any
    /// [default: 0; any with --kill and --partition]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", requires = "with"))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Network"))]
    pub with_exit_code: Option<OthersExit>,

    /// Programs with the same command are symmetric: explore only one of the orders in which they
    /// begin to use the network
    #[cfg_attr(feature = "clap", arg(long, requires = "with", help_heading = "Network"))]
    pub symmetric: bool,

    /// Compositional: explore each program alone, and combine their communication histories
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Network"))]
    #[cfg_attr(feature = "clap", arg(conflicts_with_all = ["partition", "symmetric", "chunks"]))]
    pub joint: bool,

    /// Record the program's communication histories, and its externally visible failures relative to
    /// --reference: wrong data, early closes and silence
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", value_parser = values::path))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Network"))]
    pub emit: Option<PathBuf>,

    /// The known-good implementation that --emit compares with
    #[cfg_attr(feature = "clap", arg(long, value_name = "COMMAND", help_heading = "Network"))]
    pub reference: Option<String>,

    /// Use the histories in a file that --emit wrote in place of the program that it is about
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", value_parser = values::path))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Network"))]
    #[cfg_attr(feature = "clap", arg(conflicts_with_all = ["peer", "kill", "tcp_faults", "chunks"]))]
    pub against: Option<PathBuf>,

    /// A real process that the program talks to: a server, or a client that connects to it
    /// (repeatable)
    #[cfg_attr(feature = "clap", arg(long, value_name = "COMMAND", help_heading = "Peers"))]
    pub peer: Vec<String>,

    /// A port that a peer listens on; the program is started once it does
    #[cfg_attr(feature = "clap", arg(long, value_name = "PORT", requires = "peer"))]
    #[cfg_attr(feature = "clap", arg(value_parser = clap::value_parser!(u16).range(1..)))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Peers"))]
    pub peer_ready: Option<u16>,

    /// Peer timeout: seconds for a peer to start, connect or answer [default: 10]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SECONDS", help_heading = "Peers"))]
    pub peer_patience: Option<Seconds>,

    /// Seconds of silence after which the answer of a peer that cannot be inspected is complete
    /// [default: 0.1]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SECONDS", help_heading = "Peers"))]
    pub peer_quiet: Option<Seconds>,

    /// Connections to peers that are kept open; others are opened again when needed [default: 64]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = "Peers"))]
    #[cfg_attr(feature = "clap", arg(value_parser = clap::value_parser!(u16).range(1..)))]
    pub peer_connections: Option<u16>,

    /// The cache of what peers answered
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t = CacheName::Branching))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Peers"))]
    pub cache: CacheName,

    /// What has a tree of answers of its own
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t = PeerTree::Connection))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Peers"))]
    pub peer_tree: PeerTree,

    /// When answers of peers become visible
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t = PeerAnswers::Any))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Peers"))]
    pub peer_answers: PeerAnswers,

    /// What a peer that crashes, aborts or exits with an error because of what the program sent is
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t = PeerFailure::Violation))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Peers"))]
    pub peer_failure: PeerFailure,

    /// Ask the peers again for everything that they answered, and compare
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Peers"))]
    pub verify_peers: bool,

    /// Explore the segments in which the answers of peers can arrive
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Peers"))]
    pub chunks: bool,

    /// Faults of connections to peers, and how often each may happen in one execution: refuse,
    /// reset, short-write, eintr; and emfile, of socket and accept
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME=N,…", help_heading = "Faults"))]
    pub tcp_faults: Option<TcpFaults>,

    /// A block of the heap that nothing points to at the end of an execution is a violation
    #[cfg_attr(feature = "clap", arg(long, conflicts_with_all = ["with", "joint"]))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Program"))]
    pub leaks: bool,

    /// How often a wait for a condition variable, without a timeout, may end in one execution although
    /// nobody has signalled it
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = 0, help_heading = "Faults"))]
    pub spurious: u16,

    /// How many streams of random values are explored: what getrandom, /dev/urandom and their kin give
    /// the program [default: 1]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", conflicts_with = "joint"))]
    #[cfg_attr(feature = "clap", arg(value_parser = clap::value_parser!(u16).range(1..=1000)))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Faults"))]
    pub random: Option<u16>,

    /// How often one of the --with programs may crash, at any point, and be restarted or not
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", requires = "with"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = 0, help_heading = "Faults"))]
    pub kill: u16,

    /// How often the network between two programs may be partitioned, at any point, and healed later:
    /// 1, or between whom, such as primary:backup or primary:backup,client:primary=2
    #[cfg_attr(feature = "clap", arg(long, value_name = "N|PAIRS", requires = "with"))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Faults"))]
    pub partition: Option<Partition>,

    /// How often a datagram may arrive, in the order in which that is tried: 1,0,2 is once, never
    /// (loss) or twice (duplication)
    #[cfg_attr(feature = "clap", arg(long, value_name = "LIST", help_heading = "Faults"))]
    #[cfg_attr(feature = "file", serde(with = "values::as_text"))]
    pub udp_multiply: Option<Multiplicities>,

    /// Reordering window: how many datagrams the network holds at a time, which can arrive in any
    /// order [default: 1]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = "Faults"))]
    #[cfg_attr(feature = "clap", arg(value_parser = clap::value_parser!(u32).range(1..)))]
    pub udp_window: Option<u32>,

    /// Which datagrams: those that the program sends to peers (send), those that it receives
    /// (receive), or both [default: both]
    #[cfg_attr(feature = "clap", arg(long, value_name = "WHICH", help_heading = "Faults"))]
    #[cfg_attr(feature = "file", serde(with = "values::as_text"))]
    pub udp_direction: Option<Direction>,

    /// --udp-multiply for datagrams that the program sends to peers
    #[cfg_attr(feature = "clap", arg(long, value_name = "LIST", help_heading = "Faults"))]
    #[cfg_attr(feature = "clap", arg(hide_short_help = true))]
    #[cfg_attr(feature = "file", serde(with = "values::as_text"))]
    pub udp_send_multiply: Option<Multiplicities>,

    /// --udp-multiply for datagrams that the program receives
    #[cfg_attr(feature = "clap", arg(long, value_name = "LIST", help_heading = "Faults"))]
    #[cfg_attr(feature = "clap", arg(hide_short_help = true))]
    #[cfg_attr(feature = "file", serde(with = "values::as_text"))]
    pub udp_receive_multiply: Option<Multiplicities>,

    /// --udp-window for datagrams that the program sends to peers
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", hide_short_help = true))]
    #[cfg_attr(feature = "clap", arg(value_parser = clap::value_parser!(u32).range(1..)))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Faults"))]
    pub udp_send_window: Option<u32>,

    /// --udp-window for datagrams that the program receives
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", hide_short_help = true))]
    #[cfg_attr(feature = "clap", arg(value_parser = clap::value_parser!(u32).range(1..)))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Faults"))]
    pub udp_receive_window: Option<u32>,

    /// How many faults of datagrams an execution may have in all, such as loss=2,dup=1,reorder=1 or
    /// total=1; without the options above, these faults and no others
    #[cfg_attr(feature = "clap", arg(long, value_name = "LIST", help_heading = "Faults"))]
    #[cfg_attr(feature = "file", serde(with = "values::as_text"))]
    pub udp_budget: Option<Budget>,

    /// For one port, of the program or of a peer, these settings instead, such as
    /// '7000 multiply=1,0 window=2 budget=loss=1' (repeatable)
    #[cfg_attr(feature = "clap", arg(long, value_name = "PORT SETTINGS", help_heading = "Faults"))]
    pub udp_at: Vec<UdpAtPort>,

    /// Executions of more than N steps are inconclusive [default: 100000]; with --joint, explore up
    /// to N events of each program [default: all]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", allow_negative_numbers = true))]
    #[cfg_attr(feature = "clap", arg(value_parser = clap::value_parser!(u32).range(1..)))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Limits"))]
    pub max_depth: Option<u32>,

    /// Stop when N states are stored (--state-matching)
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", allow_negative_numbers = true))]
    #[cfg_attr(feature = "clap", arg(value_parser = clap::value_parser!(u64).range(1..)))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Limits"))]
    pub max_states: Option<u64>,

    /// Stop after N executions [default: 10000 if schedules are sampled, else all]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", allow_negative_numbers = true))]
    #[cfg_attr(feature = "clap", arg(value_parser = clap::value_parser!(u64).range(1..)))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Limits"))]
    pub max_executions: Option<u64>,

    /// Stop after S seconds
    #[cfg_attr(feature = "clap", arg(long, value_name = "S", allow_negative_numbers = true))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Limits"))]
    pub max_seconds: Option<Seconds>,

    /// Stop when this much memory is used, by the checker and the programs that it runs, such as 500M
    /// or 8G [default: nine tenths of what is free]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SIZE", allow_negative_numbers = true))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Limits"))]
    pub max_memory: Option<ByteSize>,

    /// Seconds that a thread may run without a scheduling point [default: 10]
    #[cfg_attr(feature = "clap", arg(long, value_name = "S", help_heading = "Limits"))]
    #[cfg_attr(feature = "clap", arg(value_parser = clap::value_parser!(u32).range(1..=86_400)))]
    pub watchdog: Option<u32>,

    /// If nothing is violated, write N passing executions that differ most, and list the faults that
    /// executions drawn at random did not have
    // No part of a trace: it changes nothing of the check.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", allow_negative_numbers = true))]
    #[cfg_attr(feature = "clap", arg(value_parser = clap::value_parser!(u16).range(1..=1000)))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Output"))]
    #[cfg_attr(feature = "file", serde(skip))]
    pub sample_traces: Option<u16>,

    /// Worker threads; any number gives the same result [default: all cores]
    // Therefore no part of a trace.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", allow_negative_numbers = true))]
    #[cfg_attr(feature = "clap", arg(value_parser = clap::value_parser!(u16).range(1..=1024)))]
    #[cfg_attr(feature = "clap", arg(help_heading = "Limits"))]
    #[cfg_attr(feature = "file", serde(skip))]
    pub threads: Option<u16>,
}

impl CheckConfig {
    /// How often in a row a thread's timeout fires early, if that must be bounded.
    pub fn early_timeouts(&self) -> u16 {
        self.early_timeouts.unwrap_or(1)
    }

    /// A check of every schedule of a program.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        CheckConfig { program: program.into(), ..CheckConfig::default() }
    }

    /// The same with arguments of the program.
    #[must_use]
    pub fn arguments(self, arguments: impl IntoIterator<Item: Into<OsString>>) -> Self {
        CheckConfig { arguments: arguments.into_iter().map(Into::into).collect(), ..self }
    }

    /// Whether memory accesses are recorded, and those that conflict scheduled.
    pub fn sees_memory(&self) -> bool {
        self.memory.is_none_or(|memory| memory == MemoryName::On)
    }

    /// The seed of everything random.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// What is checked, as a command line: the programs with their arguments; of a test, its name.
    pub fn target(&self) -> String {
        if let Some(test) = self.test() {
            return test;
        }
        let words = [self.program.as_os_str()];
        let words = words.into_iter().chain(self.arguments.iter().map(AsRef::as_ref));
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        let commands = [words.join(" ")];
        commands.into_iter().chain(self.with.iter().cloned()).collect::<Vec<_>>().join(" with ")
    }

    /// The `#[test]` function that is checked, and what it is of.
    pub fn test(&self) -> Option<String> {
        let (_, test) = self.environment.iter().find(|(name, _)| name == CHECKED_TEST)?;
        let binary = self.program.file_stem().unwrap_or_default().to_string_lossy();
        // Cargo adds a hash to its name.
        let name = binary.rsplit_once('-').map_or(binary.as_ref(), |(name, _)| name);
        Some(format!("test {test} of {name}"))
    }

    /// Whether programs are explored one by one.
    pub fn is_joint(&self) -> bool {
        self.joint || self.against.is_some() || self.emit.is_some() || self.reference.is_some()
    }
}
