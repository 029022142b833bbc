//! From what was explored to a verdict: a violation is confirmed in a fresh process, minimised and
//! explained before it is reported.

use crate::assumptions::assumptions;
use crate::exploration::Exploration;
use crate::finding::Found;
use crate::sources::excerpts;
use everypath_native::{
    Ending, Error, Execution, Explored, GENERATOR, Launch, Names, Outcome, Program, Replayed,
    Sampler, Setup, explain, find_allocations, minimise, replay, too_long,
};
use everypath_report::grouped;
use everypath_trace::{
    CheckConfig, Coverage, FoundStep, SearchRecord, ShuffleRecord, Target, Trace, Violation,
};

/// What the executions mean: the first unexpected one is repeated before anything is said of it.
pub(crate) fn conclude(
    config: &CheckConfig,
    exploration: Exploration,
    program: &Program,
    (launch, explored): (&Launch, &Explored),
) -> Found {
    let coverage = match coverage(exploration, explored) {
        Coverage::Exhaustive if launch.outside.relocks() => Coverage::BoundedLocks,
        coverage => coverage,
    };
    let Some(first) = explored.first.as_ref().or(explored.contradiction.as_ref()) else {
        return unless_doubted(config, exploration, explored, coverage);
    };
    // That is known as it is, and so many steps would take long to repeat.
    if first.outcome == Outcome::TooLong {
        return Found::inconclusive(too_long(first));
    }
    // A violation that rests on what peers remember of other executions is none.
    let has_peers = launch.outside.remembers_peers();
    if has_peers {
        launch.outside.renew_peers();
    }
    let replayed = match replay(launch, &first.schedule) {
        Ok(replayed) => replayed,
        Err(Error::Stopped) => return Found::unconfirmed(),
        Err(error) => return Found::failed(&error),
    };
    match Names::new(&replayed).ending(&launch.setup) {
        Ending::Inconclusive(reason) => Found::inconclusive(reason),
        // What a peer did that cannot be controlled is known, even if it does not do it again.
        _ if first.outcome == Outcome::Uncontrolled && !first.text.is_empty() => {
            Found::inconclusive(first.text.clone())
        }
        _ if let Some(difference) = first.difference(&replayed.execution)
            && has_peers =>
        {
            Found::of_doubtful_cache(format!(
                "a violation was found but did not repeat with fresh peers ({difference})"
            ))
        }
        _ if let Some(difference) = first.difference(&replayed.execution) => {
            Found::inconclusive(format!(
                "a violation was found but did not repeat ({difference}); the program depends on \
                 something that everypath does not control"
            ))
        }
        Ending::Expected => Found::inconclusive("a violation was found but did not repeat".into()),
        Ending::Violated(_) if has_peers && speaks_elsewhere(launch, first) => {
            Found::of_doubtful_cache(
                "a violation did not repeat when what a peer says on its other connections was heard"
                    .into(),
            )
        }
        Ending::Violated(found) => {
            let (replayed, violation, found) = simplest(launch, replayed, found);
            let target = armed(target(config, program), launch);
            if explored.first.is_none() {
                let search = record(config, Exploration::Sampled(Sampler::Random));
                let trace = trace_of(target, search, violation, &Names::new(&replayed));
                return Found::contradicted(contradiction(explored, &trace.violation), trace);
            }
            let search = record(config, exploration);
            let trace = trace_of(target, search, violation, &Names::new(&replayed));
            // Without an explanation it is a violation all the same.
            let explanation = explain(launch, &replayed).ok().flatten();
            Found { coverage, ..Found::violated(Trace { explanation, found, ..trace }) }
        }
    }
}

/// Whether a program that waits for ever would go on if it heard what a peer says on one connection because
/// of what happens on another.
fn speaks_elsewhere(launch: &Launch, found: &Execution) -> bool {
    if !matches!(found.outcome, Outcome::Idle | Outcome::Deadlock)
        || launch.outside.statistics().connections < 2
    {
        return false;
    }
    launch.outside.renew_peers();
    let setup = Setup { peers_in_turn: true, ..launch.setup };
    let again = replay(&Launch { setup, ..launch.clone() }, &found.schedule);
    launch.outside.renew_peers();
    again.is_ok_and(|again| again.execution.outcome != found.outcome)
}

/// The verdict of a search that found nothing; or why there is none.
fn unless_doubted(
    config: &CheckConfig,
    exploration: Exploration,
    explored: &Explored,
    coverage: Coverage,
) -> Found {
    let is_sampled = matches!(exploration, Exploration::Sampled(_));
    if explored.checked_nothing() {
        return Found::inconclusive(format!(
            "nothing was checked: all {} executions were abandoned, because their assumptions were \
             not met",
            grouped(explored.abandoned)
        ));
    }
    match is_sampled {
        false if explored.complete && explored.executions == 0 => {
            Found::inconclusive("no execution comes to an end".into())
        }
        false if !explored.complete && explored.within.is_none() => {
            Found::inconclusive(limit_reached(config, explored))
        }
        _ => Found::holds(coverage),
    }
}

/// Why a search that found nothing is not to be believed.
fn contradiction(explored: &Explored, violation: &Violation) -> String {
    let executions = match explored.executions {
        1 => "1 execution".into(),
        several => format!("{} executions", grouped(several)),
    };
    let Violation { property, message, .. } = violation;
    format!(
        "internal error: the search over all schedules found no violation ({executions}), \
         but a random schedule violates {property}: {message}. Do threads share data \
         by plain loads and stores? These are not seen. If they do not, please report this"
    )
}

/// How much of the program's behaviour the executions are.
fn coverage(exploration: Exploration, explored: &Explored) -> Coverage {
    match exploration {
        Exploration::Sampled(_) => Coverage::Sampled,
        Exploration::Rising if let Some(preemptions) = explored.within => {
            match explored.complete && !explored.is_bounded {
                true if explored.quiet => Coverage::BoundedIdle,
                true => Coverage::Exhaustive,
                false => Coverage::BoundedPreemptions { preemptions },
            }
        }
        _ if !explored.complete => Coverage::Partial,
        Exploration::Bounded(preemptions) => Coverage::BoundedPreemptions { preemptions },
        _ if explored.quiet => Coverage::BoundedIdle,
        Exploration::Schedules(_) | Exploration::States(_) | Exploration::Rising => {
            Coverage::Exhaustive
        }
    }
}

/// Which limit ended a search.
fn limit_reached(config: &CheckConfig, explored: &Explored) -> String {
    match explored.states {
        Some(states) if config.max_states.is_some_and(|most| states >= most) => {
            format!("the limit of {} states was reached", grouped(states))
        }
        _ => format!("the limit of {} executions was reached", grouped(explored.executions)),
    }
}

/// A simpler execution that violates the same, repeated, and the steps of the one that was found; or
/// that one.
fn simplest(
    launch: &Launch,
    found: Replayed,
    violation: Violation,
) -> (Replayed, Violation, Vec<FoundStep>) {
    let simpler = minimise(launch, &found.execution).and_then(|schedule| {
        if launch.outside.remembers_peers() {
            launch.outside.renew_peers();
        }
        replay(launch, &schedule)
    });
    // What cannot be made simpler was repeated already and is told as it is.
    let (mut simplest, violation, steps) = match simpler {
        Ok(simpler) if let Some(same) = violated_alike(launch, &simpler, &violation) => {
            let is_other = simpler.execution.schedule != found.execution.schedule;
            let steps = if is_other { Names::new(&found).found() } else { Vec::new() };
            (simpler, same, steps)
        }
        _ => (found, violation, Vec::new()),
    };
    find_allocations(launch, &mut simplest);
    (simplest, violation, steps)
}

/// What an execution violates, if it is the same property.
fn violated_alike(launch: &Launch, replayed: &Replayed, known: &Violation) -> Option<Violation> {
    match Names::new(replayed).ending(&launch.setup) {
        Ending::Violated(same) if same.property == known.property => Some(same),
        _ => None,
    }
}

/// What was explored, for the trace.
pub(crate) fn target(config: &CheckConfig, program: &Program) -> Target {
    Target::Native {
        hash: program.hash.clone(),
        script: Vec::new(),
        armed: Vec::new(),
        config: Box::new(config.clone()),
    }
}

/// The same with the memory accesses that were scheduling points.
pub(crate) fn armed(target: Target, launch: &Launch) -> Target {
    match target {
        Target::Native { hash, script, config, .. } => {
            let armed = launch.armed.to_texts();
            Target::Native { hash, script, armed, config }
        }
        other => other,
    }
}

/// How the search was made, for the trace.
pub(crate) fn record(config: &CheckConfig, exploration: Exploration) -> SearchRecord {
    let is_sampled = matches!(exploration, Exploration::Sampled(_));
    let shuffle =
        is_sampled.then(|| ShuffleRecord { generator: GENERATOR.into(), seed: config.seed() });
    SearchRecord { strategy: exploration.name(), shuffle, ..SearchRecord::default() }
}

/// The trace of a repeated execution, without an explanation.
pub(crate) fn trace_of(
    target: Target,
    search: SearchRecord,
    violation: Violation,
    names: &Names<'_>,
) -> Trace {
    let mut steps = names.steps();
    names.add_details(&mut steps);
    let initial = if steps.is_empty() { names.end() } else { Vec::new() };
    let initial_fingerprint = String::new();
    let messages = names.messages(&outside_name(&target));
    let assumptions = match &target {
        Target::Native { config, .. } => assumptions(config),
        _ => Vec::new(),
    };
    Trace {
        target,
        search,
        violation,
        initial,
        initial_fingerprint,
        steps,
        messages,
        spans: names.spans(),
        sources: excerpts(&names.source_lines()),
        assumptions,
        ..Trace::default()
    }
}

/// What whoever is not under control is called in charts.
fn outside_name(target: &Target) -> String {
    let Target::Native { config, script, .. } = target else { return String::new() };
    match config.peer.as_slice() {
        _ if !script.is_empty() => "the others".into(),
        [only] => {
            // A shell that prepares something is not who is talked to.
            let command = only.rsplit("exec ").next().unwrap_or_default();
            let program = command.split_whitespace().next().unwrap_or_default();
            program.rsplit('/').next().unwrap_or_default().into()
        }
        _ => "peer".into(),
    }
}
