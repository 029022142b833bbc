//! The other programs of a closed system, and what may happen between them.

use super::sandbox;
use crate::cli::NetworkArgs;
use crate::commands::program_folders;
use crate::usage::Usage;
use everypath_native::{Companion, CompanionError, Launch, leaders};
use std::path::Path;

/// The other programs of a closed system.
pub(super) fn companions(
    commands: &[String],
    folder: Option<&Path>,
) -> Result<Vec<Companion>, CompanionError> {
    let mut companions = Companion::open_all(commands, &program_folders(), folder)?;
    for companion in &mut companions {
        companion.program = sandbox::seen_from(folder, &companion.program);
    }
    Ok(companions)
}

/// A system with what may happen to it: that its network is cut, and that some of its processes are
/// just like each other.
pub(super) fn close(mut launch: Launch, network: &NetworkArgs) -> Result<Launch, Usage> {
    if let Some(partition) = &network.partition {
        if network.symmetric && partition.is_selective() {
            return Err(Usage::new(
                "--symmetric: programs are not in each other's place if the network is cut between \
                 some of them only; say how often, such as --partition 1, or leave --symmetric out",
            ));
        }
        let among = partition.among(&launch);
        launch.setup.partitions = among.map_err(|error| Usage::new(error.to_string()))?;
    }
    if network.symmetric {
        launch.setup.leaders = leaders(&launch.companions);
        if launch.setup.leaders.iter().all(|&leader| leader == 0) {
            return Err(Usage::new(
                "--symmetric: no two programs have the same command; give --with the same command \
                 several times, or leave --symmetric out",
            ));
        }
    }
    Ok(launch)
}
