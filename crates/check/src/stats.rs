//! What a check counts, as the result tells it.

use everypath_native::ExitCodes;
use serde::Serialize;

/// What was counted.
#[derive(Debug, Serialize)]
pub struct Stats {
    /// States, if they were told apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub states: Option<u64>,
    /// How often an execution came back to a state of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// Executions.
    pub executions: u64,
    /// Those that only repeated what others had done.
    pub redundant_executions: u64,
    /// Those that were abandoned because an assumption was not met.
    pub abandoned_executions: u64,
    /// Those that did not end as expected, confirmed or not.
    #[serde(skip)]
    pub unexpected_executions: u64,
    /// Steps of all executions.
    pub events: u64,
    /// The same.
    pub transitions: u64,
    /// Random executions that a search which found nothing was compared with.
    #[serde(skip_serializing_if = "is_zero")]
    pub cross_checked_executions: u64,
    /// How long the search took.
    pub seconds: f64,
    /// The most memory that was used.
    pub peak_rss_bytes: Option<u64>,
    /// Atomic instructions that were patched.
    pub atomic_sites: usize,
    /// In which ways executions ended that were not as expected.
    pub endings: Vec<EndingCount>,
    /// With which codes the programs of a closed system exited.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exit_codes: Vec<ExitCodesCount>,
    /// What was asked of peers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheStats>,
    /// What was explored of each program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint: Option<JointStats>,
    /// Executions that were the same under every backend and restore method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified_executions: Option<u64>,
}

/// How often executions ended in one way.
#[derive(Debug, Serialize)]
pub struct EndingCount {
    /// The way.
    pub ending: String,
    /// How often.
    pub executions: u64,
}

/// How often several programs exited with these codes; none of one that did not.
#[derive(Debug, Serialize)]
pub struct ExitCodesCount {
    /// The codes.
    pub codes: ExitCodes,
    /// How often.
    pub executions: u64,
}

/// What was asked of peers.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CacheStats {
    /// Messages whose answer was known.
    pub hits: u64,
    /// Bytes that were read from a peer.
    pub misses: u64,
    /// Connections that were opened, or clients started.
    pub connections: u64,
    /// How often a peer was started.
    pub peer_starts: u64,
    /// Bytes that were sent again, to come back to where the program stood.
    pub replayed_bytes: u64,
}

/// What was explored of programs that were explored one by one.
#[derive(Clone, Debug, Serialize)]
pub struct JointStats {
    /// How often programs were explored before nothing new could happen.
    pub rounds: u32,
    /// How many combinations of histories were compared.
    pub combinations: u64,
    /// Each program.
    pub programs: Vec<ProgramStats>,
}

/// What was explored of one program.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramStats {
    /// Its name.
    pub name: String,
    /// Executions over all rounds.
    pub executions: u64,
    /// Executions in the last round.
    pub last_executions: u64,
    /// What these showed to the other programs: different histories.
    pub histories: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
