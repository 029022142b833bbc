//! What to try next, where other options help.

use crate::exploration::Exploration;
use crate::finding::Found;
use everypath_native::TIMEOUT;
use everypath_trace::{CheckConfig, Strategy, TimeName, Trace, Verdict};

/// The options that would help, a sentence each; only such as go with those that were given.
pub(crate) fn suggestions(config: &CheckConfig, found: &Found) -> Vec<String> {
    match (found.verdict, &found.trace) {
        _ if found.internal_error || config.joint => Vec::new(),
        (Verdict::Violated, Some(trace)) => of_violation(config, trace),
        (Verdict::Inconclusive, None) if found.counted.remaining.is_some() => of_limit(config),
        _ => Vec::new(),
    }
}

fn of_violation(config: &CheckConfig, trace: &Trace) -> Vec<String> {
    let times_out = trace.steps.iter().any(|step| step.step.param == u32::from(TIMEOUT));
    let is_patient = config.time == TimeName::Quiescent;
    let quiescent = (times_out && !is_patient).then(|| {
        "--time quiescent, if the machine is never so slow: a timeout then fires only when nothing \
         else can happen"
            .into()
    });
    quiescent.into_iter().collect()
}

/// A search that came to no end.
fn of_limit(config: &CheckConfig) -> Vec<String> {
    if config.strategy != Strategy::Dfs {
        return Vec::new();
    }
    let plain = CheckConfig { reduction: None, ..config.clone() };
    let bounded = |most| CheckConfig { preemptions: Some(most), ..plain.clone() };
    let sampled = CheckConfig {
        strategy: Strategy::Pct,
        state_matching: false,
        preemptions: None,
        memory: None,
        ..plain.clone()
    };
    let fewer = config.preemptions.is_none_or(|most| most > 2);
    let mut options = Vec::new();
    if has_faults(config) && config.preemptions != Some(0) {
        options.push((
            bounded(0),
            "--preemptions 0: all faults within the budget, without preemptions",
        ));
    }
    if fewer {
        options.push((
            bounded(2),
            "--preemptions 2: complete within the bound, and few preemptions show most bugs",
        ));
    }
    if !config.state_matching && config.preemptions.is_none() {
        let matching = CheckConfig { state_matching: true, memory: None, ..plain.clone() };
        options.push((
            matching,
            "--state-matching: a state that was met before is not explored again",
        ));
    }
    options.push((
        sampled,
        "--strategy pct --max-executions 10000: a sample, with the probability that it meets a bug",
    ));
    let works = |changed: &CheckConfig| Exploration::of(changed).is_ok();
    options.into_iter().filter(|(changed, _)| works(changed)).map(|(_, said)| said.into()).collect()
}

/// Whether the search places faults.
fn has_faults(config: &CheckConfig) -> bool {
    config.tcp_faults.is_some()
        || config.chunks
        || config.spurious > 0
        || config.kill > 0
        || config.partition.is_some()
        || !config.udp_options().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(config: &CheckConfig) -> Vec<String> {
        let options = of_limit(config);
        let option = |said: String| said.split(':').next().unwrap_or_default().to_string();
        options.into_iter().map(option).collect()
    }

    #[test]
    fn only_options_that_go_together_are_suggested() {
        let config = CheckConfig::default();
        let pct = "--strategy pct --max-executions 10000";
        assert_eq!(offered(&config), ["--preemptions 2", "--state-matching", pct]);
        let faults = CheckConfig { kill: 1, with: vec!["other".into()], ..config.clone() };
        assert_eq!(offered(&faults)[0], "--preemptions 0");
        let bounded = CheckConfig { preemptions: Some(2), ..config.clone() };
        assert_eq!(offered(&bounded), [pct]);
        let matching = CheckConfig { state_matching: true, ..config.clone() };
        assert!(!offered(&matching).contains(&"--preemptions 2".into()));
        let sampled = CheckConfig { strategy: Strategy::Random, ..config };
        assert!(offered(&sampled).is_empty());
    }
}
