//! Defects of the shim are told from those of the program, and a program that writes over the
//! checker's memory gets no verdict.

use crate::common::compile;
use crate::common::launching::launch;
use everypath_native::{Error, Exhaustive, Explored, Launch, Sampler, Sampling};
use everypath_native::{explore, replay, sample};
use everypath_schedules::Reduction;
use everypath_shim_abi::{Outcome, Region, address_space};
use everypath_trace::Control;
use std::mem::offset_of;

const C: [&str; 3] = ["-O1", "-g", "-pthread"];

fn sampled(launch: &Launch) -> Result<Explored, Error> {
    let sampling = Sampling {
        launch: launch.clone(),
        sampler: Sampler::Random,
        seed: 1,
        executions: 20,
        workers: 1,
        keep_going: false,
    };
    sample(&sampling, &Control::default())
}

fn explored(launch: &Launch) -> Result<Explored, Error> {
    let exhaustive = Exhaustive {
        launch: launch.clone(),
        reduction: Reduction::Optimal,
        preemptions: None,
        executions: Some(100),
        keep_going: false,
        workers: 1,
        early_timeouts: 1,
        cross_check: None,
    };
    explore(&exhaustive, &Control::default())
}

#[test]
fn a_fault_of_the_shim_is_an_internal_error_with_its_stack() {
    let compiled = compile("defects.c", &C);
    let mut launch = launch(&compiled, &["shim"]);
    launch.setup.defective = true;
    launch.setup.log = true;
    match sampled(&launch) {
        Err(Error::Defect(text)) => {
            let parts =
                ["signal 11 in the shim", "address 0x18", "not_modelled", "dispatch", "thread 0"];
            for part in parts {
                assert!(text.contains(part), "{part} is not in {text}");
            }
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_the_defect_the_number_is_unknown() {
    let compiled = compile("defects.c", &C);
    let found = sampled(&launch(&compiled, &["shim"])).expect("it stays under control");
    let first = found.first.expect("it cannot be controlled");
    assert_eq!(first.outcome, Outcome::Uncontrolled);
    assert!(first.text.contains("syscall -77("), "{}", first.text);
}

#[test]
fn a_bad_pointer_in_a_function_of_libc_is_the_programs_crash() {
    let compiled = compile("defects.c", &C);
    let found = sampled(&launch(&compiled, &["mutex"])).expect("it stays under control");
    let first = found.first.expect("it crashes");
    assert_eq!((first.outcome, first.detail), (Outcome::Signalled, 11));
}

/// Whatever a program writes over the checker's memory, it gets no verdict that it does not deserve:
/// without that, every execution of it is as expected.
#[test]
fn a_program_that_scribbles_over_the_region_gets_no_wrong_verdict() {
    const ROUNDS: u64 = 300;
    let compiled = compile("scribbles.c", &C);
    // Where something is that this program's executions use, and as much of it as they may.
    let windows = [
        (0, offset_of!(Region, accepted)),
        (offset_of!(Region, threads), 4096),
        (offset_of!(Region, output), 4096),
        (offset_of!(Region, schedule), 1024),
        (offset_of!(Region, events), 2048),
        (offset_of!(Region, alternative_ends), 1024),
        (offset_of!(Region, alternatives), 2048),
        (offset_of!(Region, orders), 1024),
        (offset_of!(Region, ordered_choices), 1024),
        (offset_of!(Region, hurry), 1024),
        (offset_of!(Region, recorded_events), 4096),
        (offset_of!(Region, recorded_ends), 1024),
        (offset_of!(Region, recorded_alternatives), 2048),
        (0, size_of::<Region>()),
    ];
    let mut noticed = 0;
    for seed in 0..ROUNDS {
        let (start, length) = windows[seed as usize % windows.len()];
        let words = [seed as usize, address_space::REGION + start, length].map(|w| w.to_string());
        let mut launch = launch(&compiled, &words.each_ref().map(String::as_str));
        launch.watchdog = 20;
        let found = if seed / 14 % 2 == 0 { explored(&launch) } else { sampled(&launch) };
        match found {
            Ok(found) => {
                let Some(first) = found.first else { continue };
                // What is found is confirmed in a fresh process before it is reported.
                let again = replay(&launch, &first.schedule);
                let is_confirmed = again.is_ok_and(|again| {
                    first.difference(&again.execution).is_none()
                        && again.execution.outcome != Outcome::Uncontrolled
                });
                assert!(!is_confirmed, "seed {seed}: {first:?}");
                noticed += 1;
            }
            Err(Error::Overwritten { .. } | Error::Uncontrolled(_)) => noticed += 1,
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    assert!(noticed > 0, "nothing was written over");
}
