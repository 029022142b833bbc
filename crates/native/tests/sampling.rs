//! Sampling by priorities: what it promises, and that nobody is kept away for ever.

use crate::common::compile;
use crate::common::launching::launch;
use everypath_native::{Explored, Launch, Sampler, Sampling, sample};
use everypath_trace::Control;

const C: [&str; 3] = ["-O1", "-g", "-pthread"];

fn sampled(launch: &Launch, sampler: Sampler, executions: u64) -> Explored {
    let launch = launch.clone();
    let sampling = Sampling { launch, sampler, seed: 1, executions, workers: 1, keep_going: true };
    sample(&sampling, &Control::default()).expect("the program can be controlled")
}

#[test]
fn pct_meets_bugs_as_often_as_it_promises() {
    let program = compile("rare.c", &C);
    for (kind, depth, executions) in [("last", 1, 300), ("between", 2, 3000)] {
        let launch = launch(&program, &[kind]);
        let found = sampled(&launch, Sampler::Pct { depth }, executions);
        let promise = found.promise.expect("this strategy has one");
        assert_eq!((promise.depth, promise.threads), (depth, 4), "{kind}");
        assert!(found.longest >= 50, "{kind}: {}", found.longest);
        let share = found.unexpected as f64 / executions as f64;
        assert!(share >= promise.each(), "{kind}: {share} of executions, not {promise:?}");
        assert!(promise.together(executions) > 0.99, "{kind}: {promise:?}");
        let random = sampled(&launch, Sampler::Random, executions);
        assert_eq!((random.unexpected, random.promise), (0, None), "{kind}");
    }
}

#[test]
fn a_thread_that_tries_again_and_again_keeps_nobody_away() {
    let program = compile("rare.c", &C);
    let mut launch = launch(&program, &["spin"]);
    launch.setup.max_steps = 20_000;
    for sampler in [Sampler::Random, Sampler::Pct { depth: 3 }, Sampler::Pos] {
        let found = sampled(&launch, sampler, 500);
        assert_eq!((found.executions, found.unexpected), (500, 0), "{sampler:?}: {found:?}");
    }
}
