//! Programs together, on one network.

use super::program::{Ending, Move, Program, Running};
use everypath_commtree::joint::{Act, Answer, Link, Network, Request};
use std::collections::BTreeSet;

/// All ways in which the programs end when every interleaving is tried on one network.
/// The network breaks so many connections of the first one at most.
pub(crate) fn closed(programs: &[Program], breaks: usize) -> Option<BTreeSet<Vec<Ending>>> {
    let start: Vec<Running> =
        programs.iter().enumerate().map(|(side, program)| Running::new(side, program)).collect();
    let mut endings = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut stack = vec![(start, Network::default(), BTreeSet::new())];
    while let Some((all, network, broken)) = stack.pop() {
        if seen.len() > 60_000 {
            return None;
        }
        if !seen.insert((all.clone(), network.clone(), broken.clone())) {
            continue;
        }
        if broken.len() < breaks {
            for &link in all[0].open.iter().filter(|link| !is_over(&all[0], &broken, **link)) {
                let (mut network, mut broken) = (network.clone(), broken.clone());
                network.perform(0, &Request::Break(link), &Answer::Done);
                broken.insert(link);
                stack.push((all.clone(), network, broken));
            }
        }
        let mut is_stuck = true;
        let mut waiting: Vec<(usize, usize, Request)> = Vec::new();
        for (side, program) in programs.iter().enumerate() {
            for one in all[side].moves(program) {
                let mut goes_on = |all, network| {
                    is_stuck = false;
                    stack.push((all, network, broken.clone()));
                };
                match &one {
                    Move::Internal { thread } => {
                        let mut all = all.clone();
                        all[side].take(program, *thread);
                        goes_on(all, network.clone());
                    }
                    Move::Ask { thread, request } => {
                        let answers = answers(&network, side, request);
                        if answers.is_empty() {
                            waiting.push((side, *thread, request.clone()));
                        }
                        for answer in answers {
                            let (mut all, mut network) = (all.clone(), network.clone());
                            network.perform(side, request, &answer);
                            all[side].answered(program, *thread, request, &answer);
                            goes_on(all, network);
                        }
                    }
                }
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

/// All that can come of a request now.
fn answers(network: &Network, side: usize, request: &Request) -> BTreeSet<Answer> {
    let lost = Some(Answer::Lost).filter(|lost| network.allows(side, request, lost));
    network.answer(side, request).into_iter().chain(lost).collect()
}

/// Whether a connection is broken already, or a program knows that it is, or it cannot break.
fn is_over(running: &Running, broken: &BTreeSet<Link>, link: Link) -> bool {
    let is_told =
        |act: &Act| act.answer == Answer::Reset && act.request.links().any(|on| on == link);
    link.port.is_unix() || broken.contains(&link) || running.acts.iter().flatten().any(is_told)
}
