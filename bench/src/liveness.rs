//! What liveness costs: a search that checks an invariant beside one that checks that something
//! happens eventually in every fair execution, of the same model.

use crate::incremental::{median, timed};
use crate::model::{Bounds, QUICK};
use crate::natural::NaturalState;
use crate::ours::Natural;
use anyhow::{Result, ensure};
use everypath_explore::liveness::{Fairness, check_liveness};
use everypath_explore::{Control, Ended, Property, Search, Task, VisitedKind, explore};

const BOUNDS: Bounds = Bounds { messages: 24, retransmissions: 24, losses: 24, capacity: 5 };

/// Measures both in turn, `rounds` times, and prints a table.
pub fn run(quick: bool) -> Result<()> {
    let (bounds, rounds) = if quick { (QUICK, 1) } else { (BOUNDS, 9) };
    let search = Search { visited: VisitedKind::Equality, threads: 1, ..Search::default() };
    let system = Natural(bounds);
    let in_order = Property::new("in order", |state: &NaturalState| match state.in_order {
        true => Ok(()),
        false => Err("messages arrive out of order".into()),
    });
    // Everything is bounded, so that every execution ends; until then every state has an obligation,
    // and all of the graph is searched for cycles.
    let ends = Property::eventually("it ends", move |state: &NaturalState| {
        let mut any = false;
        state.enabled(&bounds, |_| any = true);
        !any
    });
    let (invariant, liveness) = ([in_order], [ends]);
    let (mut plain, mut live, mut size) = (Vec::new(), Vec::new(), (0, 0));
    for _ in 0..rounds {
        let task = Task { system: &system, properties: &invariant, rank: None, search: &search };
        let (explored, seconds) = timed(|| Ok(explore(&task, &Control::default())))?;
        ensure!(explored.ended == Ended::Complete, "{:?}", explored.found);
        plain.push(seconds);
        let how = (&search, &Fairness::default());
        let (found, seconds) =
            timed(|| Ok(check_liveness(&system, &liveness, how, &Control::default())))?;
        ensure!(found.ended == Ended::Complete && found.found.is_empty(), "{:?}", found.found);
        ensure!(found.states == explored.counts.states, "both see all states");
        live.push(seconds);
        size = (found.states, found.steps);
    }
    let (plain, live) = (median(plain), median(live));
    println!("| states | steps | invariant s | eventually s | ratio |");
    println!("|--:|--:|--:|--:|--:|");
    println!("| {} | {} | {plain:.3} | {live:.3} | {:.2} |", size.0, size.1, live / plain);
    Ok(())
}
