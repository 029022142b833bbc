//! What the checks of the heap cost: canaries, poison, and the look at all blocks in the end.

use super::goals::Goals;
use super::programs::Programs;
use super::{Cost, IN_PROCESS, Scale, cost, explore_as, median, on_one_core};
use anyhow::Result;
use everypath_native::Setup;
use everypath_trace::Control;

const EXECUTIONS: u64 = 20_000;
/// Differences are small: more rounds than elsewhere.
const ROUNDS: usize = 3;

/// Measures programs with the checks and without them, in turn.
pub fn run(programs: &Programs, scale: Scale, goals: &mut Goals) -> Result<()> {
    println!("| program | CPU time with checks | without | ratio |\n|---|--:|--:|--:|");
    let rows = [
        ("workers.c", &programs.c_workers),
        ("workers.rs", &programs.rust_workers),
        ("turns.rs", &programs.rust_turns),
    ];
    for (name, program) in rows {
        let (executions, control) = (scale.of(EXECUTIONS), Control::default());
        let run = |unchecked_heap| {
            let setup = Setup { unchecked_heap, ..Setup::default() };
            on_one_core(|| cost(|| explore_as(program, IN_PROCESS, setup, (executions, &control))))
        };
        let mut costs: [Vec<Cost>; 2] = Default::default();
        for _ in 0..scale.rounds * ROUNDS {
            costs[0].push(run(false)?.1);
            costs[1].push(run(true)?.1);
        }
        let [with, without] = costs.map(|costs| median(costs.iter().map(Cost::cpu)));
        println!("| {name} | {with:.3} s | {without:.3} s | {:.3} |", with / without);
        goals.at_most(format!("checks of the heap, {name}: times"), with / without, 1.03);
    }
    Ok(())
}
