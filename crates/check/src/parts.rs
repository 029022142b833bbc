//! Answers in parts: TCP keeps the order of bytes, not what was sent together.
//!
//! A search takes what a peer answers, and what one call of a controlled program writes, to arrive
//! whole: *n* bytes can be divided in 2^(*n* - 1) ways, which `--chunks` explores. A program that
//! reads several bytes at once rests on that, so its verdict says so, after a few random executions
//! in which answers come in parts.

use crate::conclude::conclude;
use crate::exploration::Exploration;
use crate::finding::{Found, assumption};
use everypath_native::{Error, Explored, Faults, Launch, Program, Sampler, Sampling, Setup};
use everypath_trace::{Assumption, CheckConfig, Verdict};
use std::time::Duration;

/// So many executions are sampled, if there is time.
const MOST: u64 = 100;
/// They take no longer than the search did, or than this.
const MOMENT: Duration = Duration::from_secs(1);

/// Samples executions in which answers come in parts, if nothing was violated without.
pub(crate) fn with_parts(
    config: &CheckConfig,
    program: &Program,
    (launch, explored): (&Launch, &Explored),
    seconds: f64,
    found: Found,
) -> Found {
    let matters = launch.outside.has_met_peers() && launch.outside.read_whole_messages();
    if found.verdict != Verdict::Holds || !matters {
        return found;
    }
    let executions = size(config.max_executions, explored, seconds);
    let faults = Faults { chunks: true, ..launch.setup.faults };
    let launch = Launch { setup: Setup { faults, ..launch.setup }, ..launch.clone() };
    let (sampler, seed, control) = (Sampler::Random, config.seed(), launch.control.clone());
    let sampling = Sampling {
        launch: launch.clone(),
        sampler,
        seed,
        executions,
        workers: 1,
        keep_going: false,
    };
    let sampled = match everypath_native::sample(&sampling, &control) {
        Ok(sampled) => sampled,
        Err(Error::Stopped) => return found,
        Err(error) => return Found::failed(&error),
    };
    if sampled.first.is_none() {
        return Found { in_parts: Some(sampled.executions), ..found };
    }
    let config = CheckConfig { chunks: true, ..config.clone() };
    let violated = conclude(&config, Exploration::Sampled(sampler), program, (&launch, &sampled));
    match violated.verdict {
        Verdict::Violated => violated,
        // What is not known of parts does not change what is known without.
        Verdict::Holds | Verdict::Inconclusive => Found { in_parts: Some(0), ..found },
    }
}

/// How many executions there is time for, at the rate of the search.
fn size(limit: Option<u64>, explored: &Explored, seconds: f64) -> u64 {
    let executions = explored.executions + explored.cross_checked;
    let each = seconds / executions.max(1) as f64;
    let moment = MOMENT.as_secs_f64().max(seconds);
    let affordable = (moment / each.max(1e-6)) as u64;
    let left = limit.map_or(MOST, |most| most.saturating_sub(executions));
    affordable.min(left).min(MOST)
}

/// What a verdict rests on if the program read several bytes at once.
pub(crate) fn assumption_of_whole(sampled: Option<u64>, has_peers: bool) -> Assumption {
    let text = match (has_peers, sampled.unwrap_or_default()) {
        (false, _) => "what one call writes to a TCP connection arrives whole".into(),
        (true, 0) => "an answer of a peer arrives whole (--chunks explores its parts)".into(),
        (true, sampled) => {
            let executions = if sampled == 1 { "execution" } else { "executions" };
            format!(
                "an answer of a peer arrives whole; in {sampled} random {executions} more, answers \
                 came in parts (--chunks explores them all)"
            )
        }
    };
    assumption("whole-answers", text)
}
