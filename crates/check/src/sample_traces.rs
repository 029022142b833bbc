//! `--sample-traces`: passing executions that differ most, as traces.

use crate::conclude::{record, target, trace_of};
use crate::exploration::Exploration;
use crate::finding::Found;
use everypath_native::{Diverse, Ending, Error, Launch, Names, Program, Sampler, diverse, replay};
use everypath_trace::{CheckConfig, Trace, Verdict, Violation};

/// Traces of executions, and the faults that none of those drawn had, a sentence each.
type Passing = (Vec<Trace>, Vec<String>);

/// Adds the executions that are asked for, if nothing was violated.
pub(crate) fn with_sample_traces(
    config: &CheckConfig,
    program: &Program,
    launch: &Launch,
    found: Found,
) -> Found {
    let Some(count) = config.sample_traces.filter(|_| found.verdict == Verdict::Holds) else {
        return found;
    };
    match sampled(config, program, launch, count.into()) {
        Ok(Some((samples, drawn))) => {
            // What a search knows of all executions is better than what a few of them show.
            let never_exercised = found.never_exercised.or(Some(drawn));
            Found { samples, never_exercised, ..found }
        }
        Ok(None) => Found::inconclusive(format!(
            "an execution that was drawn for --sample-traces does not end as expected; see it with \
             --strategy random --seed {}",
            config.seed()
        )),
        Err(Error::Stopped) => found,
        Err(error) => Found::failed(&error),
    }
}

/// The executions, and the faults that none of those drawn had; none if one does not end as expected,
/// which contradicts the verdict.
fn sampled(
    config: &CheckConfig,
    program: &Program,
    launch: &Launch,
    count: usize,
) -> Result<Option<Passing>, Error> {
    let Diverse { executions, unexpected, unexercised, .. } =
        diverse(launch, config.seed(), count)?;
    if unexpected.is_some() {
        return Ok(None);
    }
    let mut traces = Vec::new();
    for execution in executions {
        let replayed = replay(launch, &execution.schedule)?;
        let names = Names::new(&replayed);
        // What does not repeat is no example.
        if !matches!(names.ending(&launch.setup), Ending::Expected) {
            continue;
        }
        let target = crate::conclude::armed(target(config, program), launch);
        let search = record(config, Exploration::Sampled(Sampler::Random));
        traces.push(trace_of(target, search, Violation::default(), &names));
    }
    Ok(Some((traces, unexercised)))
}
