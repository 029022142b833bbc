//! Programs together, on one network.

use crate::program::{Ending, Move, Program, Running};
use everypath_commtree::joint::{Act, Answer, Network, Request};
use std::collections::BTreeSet;

/// All ways in which the programs end when every interleaving is tried on one network.
pub(crate) fn closed(programs: &[Program]) -> Option<BTreeSet<Vec<Ending>>> {
    let start: Vec<Running> =
        programs.iter().enumerate().map(|(side, program)| Running::new(side, program)).collect();
    let mut endings = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut stack = vec![(start, Network::default())];
    while let Some((all, network)) = stack.pop() {
        if seen.len() > 60_000 {
            return None;
        }
        if !seen.insert((all.clone(), network.clone())) {
            continue;
        }
        let mut is_stuck = true;
        let mut waiting: Vec<(usize, usize, Request)> = Vec::new();
        for (side, program) in programs.iter().enumerate() {
            for one in all[side].moves(program) {
                let (mut all, mut network) = (all.clone(), network.clone());
                match &one {
                    Move::Internal { thread } => all[side].take(program, *thread),
                    Move::Ask { thread, request } => match network.answer(side, request) {
                        None => {
                            waiting.push((side, *thread, request.clone()));
                            continue;
                        }
                        Some(answer) => {
                            network.perform(side, request, &answer);
                            all[side].answered(program, *thread, request, &answer);
                        }
                    },
                }
                is_stuck = false;
                stack.push((all, network));
            }
        }
        if is_stuck {
            let mut ending: Vec<Ending> = all.into_iter().map(|one| one.acts).collect();
            for (side, thread, request) in waiting {
                ending[side][thread].push(Act { request, answer: Answer::Never });
            }
            endings.insert(ending);
        }
    }
    Some(endings)
}
