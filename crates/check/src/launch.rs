//! From the configuration to processes: the program, and the other programs of a closed system.

use crate::datagrams::datagrams;
use crate::error::CheckError;
use crate::finding::{Early, companion_refused, only_program_refused, refused};
use crate::host::Host;
use crate::sandbox::{self, Sandbox};
use everypath_native::peers::{Cache, Options};
use everypath_native::{
    ANY_CODE, Backend, Companion, CompanionError, Environment, Fault, Faults, IdleMode, Launch,
    Library, Program, Races, Restart, Setup, TimeMode, leaders, partitions,
};
use everypath_trace::{
    CacheName, CheckConfig, Control, IdleName, OthersExit, PeerAnswers, PeerFailure, PeerTree,
    RacesName, ReductionName, RestoreMethod, Strategy, ThreadBackend, TimeName,
};
use std::path::Path;
use std::sync::Arc;

/// How many steps an execution may have if nobody says.
pub(crate) const DEFAULT_STEPS: u32 = 100_000;
/// Seconds without a scheduling point if nobody says.
const DEFAULT_WATCHDOG: u32 = 10;

/// Looks at the program of a configuration.
pub(crate) fn open(host: &Host, program: &Path) -> Result<Program, Early> {
    Program::open(program, &host.folders).map_err(refused)
}

/// Looks at the program of a configuration without other programs under control.
pub(crate) fn open_only(host: &Host, program: &Path) -> Result<Program, Early> {
    Program::open(program, &host.folders).map_err(only_program_refused)
}

/// How a program is started, if it is alone in the world.
pub(crate) fn alone(
    host: &Host,
    config: &CheckConfig,
    program: &Program,
) -> Result<Launch, CheckError> {
    let Sandbox { folder, environment, files, judge } = Sandbox::new(host, config)?;
    Ok(Launch {
        program: sandbox::seen_from(folder.as_deref(), &program.path),
        arguments: config.arguments.clone(),
        environment,
        folder,
        setup: Setup { log: host.logs_shim(), ..setup(config)? },
        watchdog: config.watchdog.unwrap_or(DEFAULT_WATCHDOG) * 10,
        fresh: config.restart == RestoreMethod::Exec,
        libraries: libraries(config)?,
        files,
        judge,
        outside: Environment::default(),
        companions: Vec::new(),
        armed: Arc::default(),
        races: match config.races {
            RacesName::Violation => Races::Violation,
            RacesName::Explore => Races::Explore,
            RacesName::Ignore => Races::Ignore,
        },
        suppressed_races: config.suppress_races.as_slice().into(),
        reached: Arc::default(),
        control: Control::default(),
    })
}

/// The libraries that are loaded before `main`.
fn libraries(config: &CheckConfig) -> Result<Vec<Library>, CheckError> {
    let read = |text: &String| {
        text.parse().map_err(|error| CheckError::options(format!("--library {error}")))
    };
    config.library.iter().map(read).collect()
}

/// How a program is started together with its peers, or the other programs of a closed system.
pub(crate) fn launch(
    host: &Host,
    config: &CheckConfig,
    program: &Program,
) -> Result<Launch, Early> {
    let alone = alone(host, config, program)?;
    let companions =
        companions(host, &config.with, alone.folder.as_deref()).map_err(companion_refused)?;
    if !companions.is_empty() && config.restart != RestoreMethod::Automatic {
        return Err(Early::from(CheckError::options(
            "--with: each process copies its own memory back; leave --restart out",
        )));
    }
    let folder = alone.folder.clone();
    let outside =
        Environment::new(Options { folder, ..peers(config) }).map_err(CheckError::Peer)?;
    let mut launch = Launch { outside, companions, ..alone };
    close(&mut launch, config)?;
    Ok(launch)
}

fn companions(
    host: &Host,
    commands: &[String],
    folder: Option<&Path>,
) -> Result<Vec<Companion>, CompanionError> {
    let mut companions = Companion::open_all(commands, &host.folders, folder)?;
    for companion in &mut companions {
        companion.program = sandbox::seen_from(folder, &companion.program);
    }
    Ok(companions)
}

/// What may happen to a closed system: that its network is partitioned, and that some of its
/// processes are symmetric.
fn close(launch: &mut Launch, config: &CheckConfig) -> Result<(), CheckError> {
    if let Some(partition) = &config.partition {
        if config.symmetric && !partition.pairs.is_empty() {
            return Err(CheckError::options(
                "--symmetric: programs are not in each other's place if the network is cut between \
                 some of them only; say how often, such as --partition 1, or leave --symmetric out",
            ));
        }
        launch.setup.partitions = partitions(partition, launch)?;
    }
    if config.symmetric {
        launch.setup.leaders = leaders(&launch.companions);
        if launch.setup.leaders.iter().all(|&leader| leader == 0) {
            return Err(CheckError::options(
                "--symmetric: no two programs have the same command; give --with the same command \
                 several times, or leave --symmetric out",
            ));
        }
    }
    Ok(())
}

/// The exit code that other programs must have; none after faults, unless one is asked for.
pub(crate) fn others_exit_code(config: &CheckConfig) -> i32 {
    match config.with_exit_code {
        // What an implementation does to others is listed, whatever they make of it.
        _ if config.emit.is_some() => ANY_CODE,
        Some(OthersExit::Any) => ANY_CODE,
        Some(OthersExit::Code(code)) => code.into(),
        None if config.kill > 0 || config.partition.is_some() => ANY_CODE,
        None => 0,
    }
}

/// What is fixed when the program starts.
fn setup(config: &CheckConfig) -> Result<Setup, CheckError> {
    Ok(Setup {
        backend: match config.backend {
            ThreadBackend::Fibers => Backend::Fibers,
            ThreadBackend::Threads => Backend::Threads,
        },
        restart: match config.restart {
            RestoreMethod::Automatic | RestoreMethod::Exec => Restart::Automatic,
            RestoreMethod::Copy => Restart::Copy,
            RestoreMethod::Tracked => Restart::Tracked,
            RestoreMethod::Fork => Restart::Fork,
        },
        time: match config.time {
            TimeName::Ordered => TimeMode::Ordered,
            TimeName::Quiescent => TimeMode::Quiescent,
            TimeName::Any => TimeMode::Any,
        },
        idle: match config.idle {
            None => IdleMode::Automatic,
            Some(IdleName::Ok) => IdleMode::Fine,
            Some(IdleName::Violation) => IdleMode::Violation,
        },
        memory: config.sees_memory(),
        leaks: config.leaks,
        exits_wait: exits_wait(config),
        exit_code: config.exit_code,
        others_exit_code: others_exit_code(config),
        kills: config.kill,
        spurious: config.spurious,
        early_timeouts: early_timeouts(config),
        random_seed: config.seed(),
        random_streams: config.random.unwrap_or(1),
        refused_threads: config.refuse_threads,
        spins: spins(config).unwrap_or(u16::MAX),
        faults: faults(config),
        late_answers: config.peer_answers == PeerAnswers::Any,
        peers_in_turn: config.cache == CacheName::None,
        one_tree: config.peer_tree == PeerTree::Destination,
        max_steps: config.max_depth.unwrap_or(DEFAULT_STEPS),
        datagrams: datagrams(config)?,
        ..Setup::default()
    })
}

/// How often in a row a timeout fires early in samples: a program with several periodic timers would
/// hardly ever have nothing to do. A search bounds that only if it must.
fn early_timeouts(config: &CheckConfig) -> u16 {
    match config.strategy.is_sampling() {
        false => 0,
        true => config.early_timeouts.unwrap_or(16),
    }
}

/// Whether processes end late: that is a reduction, and threads that were stopped while they worked may
/// leave behind blocks which nobody points to. Searches over states have no use for it.
fn exits_wait(config: &CheckConfig) -> bool {
    let is_reduced = config.reduction != Some(ReductionName::None)
        && config.preemptions.is_none()
        && config.strategy != Strategy::Icb;
    is_reduced && !config.state_matching && !config.leaks && !config.joint
}

/// How many spins of an execution may go on before others move, if that is bounded. Locks that spin
/// before they park have orders of magnitude more schedules with every one that does.
pub(crate) fn spins(config: &CheckConfig) -> Option<u16> {
    config.spins.or((!config.strategy.is_sampling()).then_some(1))
}

/// What may go wrong with connections.
pub(crate) fn faults(config: &CheckConfig) -> Faults {
    let allowed = config.tcp_faults.unwrap_or_default();
    Faults { budget: Fault::ALL.map(|fault| allowed.most(fault as usize)), chunks: config.chunks }
}

/// Which peers there are, and how they are treated.
fn peers(config: &CheckConfig) -> Options {
    let default = Options::default();
    Options {
        commands: config.peer.clone(),
        cache: match config.cache {
            CacheName::Branching => Cache::Branching,
            CacheName::Linear => Cache::Linear,
            CacheName::None => Cache::None,
        },
        patience: config.peer_patience.map_or(default.patience, |time| time.duration()),
        quiet: config.peer_quiet.map_or(default.quiet, |time| time.duration()),
        max_open: config.peer_connections.map_or(default.max_open, usize::from),
        failures_count: config.peer_failure == PeerFailure::Violation,
        alike: config.peer_tree == PeerTree::Destination,
        unreliable: config.udp_multiply.is_some()
            || config.udp_window.is_some()
            || !config.udp_at.is_empty(),
        ..default
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everypath_trace::TcpFaults;

    #[test]
    fn faults_have_the_same_names_on_the_command_line_and_in_the_shim() {
        assert_eq!(TcpFaults::NAMES, Fault::ALL.map(Fault::name));
    }
}
