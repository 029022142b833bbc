//! Programs, each explored on its own.

use super::program::{Ending, Move, Op, Program, Running};
use everypath_commtree::joint::{
    Act, Answer, EventId, History, Joint, Linearised, Link, Port, Request, Side, Watched,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// An execution of one program, and what is before what in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Execution {
    running: Running,
    events: BTreeSet<EventId>,
    threads: Vec<BTreeSet<EventId>>,
    /// What was last done to each thing that threads share.
    things: BTreeMap<Thing, BTreeSet<EventId>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    Semaphore,
    Port(Port),
    Sending(Link),
    Receiving(Link),
    SendingTo(u16),
    Mailbox(u16),
}

fn things(request: &Request) -> Vec<Thing> {
    match *request {
        Request::Listen { port, .. }
        | Request::Unlisten { port }
        | Request::Accept { port, .. } => vec![Thing::Port(port)],
        Request::Connect(_) => Vec::new(),
        Request::SendTo { to, .. } => vec![Thing::SendingTo(to)],
        Request::Bind { port, .. }
        | Request::Unbind { port }
        | Request::ReceiveFrom { port, .. } => vec![Thing::Mailbox(port)],
        Request::Send { link, .. } => vec![Thing::Sending(link)],
        Request::Receive { link, .. } => vec![Thing::Receiving(link)],
        Request::Look { ref at, .. } => {
            let thing = |watched: &Watched| match *watched {
                Watched::Connections { port } => Thing::Port(port),
                Watched::Bytes { link, .. } => Thing::Receiving(link),
                Watched::Datagrams { port } => Thing::Mailbox(port),
            };
            at.iter().map(thing).collect()
        }
        Request::Shut(link) | Request::Close(link) | Request::Break(link) => {
            vec![Thing::Sending(link), Thing::Receiving(link)]
        }
    }
}

/// Explores one program by itself: every interleaving of its threads with every answer on offer.
fn explore(side: &mut Side, number: usize, program: &Program, ends: &mut Vec<Ending>) -> bool {
    side.begin();
    let running = Running::new(number, program);
    let threads = vec![BTreeSet::new(); program.threads.len() + 1];
    let (events, things_done) = (BTreeSet::new(), BTreeMap::new());
    let mut stack = vec![Execution { running, events, threads, things: things_done }];
    let mut seen = BTreeSet::new();
    while let Some(execution) = stack.pop() {
        if seen.len() > 60_000 {
            return false;
        }
        if !seen.insert(execution.clone()) {
            continue;
        }
        let moves = execution.running.moves(program);
        if moves.is_empty() {
            let ending = execution.running.acts.clone();
            let end = ends.iter().position(|known| *known == ending).unwrap_or(ends.len());
            if end == ends.len() {
                ends.push(ending);
            }
            let events: Vec<EventId> = execution.events.iter().copied().collect();
            if !side.breaks_too_often(&events) {
                let mut all = side.broken_in_the_end(&events);
                all.push(events);
                for events in all {
                    side.add(History { events, end: end as u64 });
                }
            }
        }
        for one in moves {
            match one {
                Move::Internal { thread } => stack.push(internal(&execution, program, thread)),
                Move::Ask { thread, request } => {
                    stack.extend(asked(&execution, program, thread, &request, side));
                }
            }
        }
    }
    true
}

fn internal(execution: &Execution, program: &Program, thread: usize) -> Execution {
    let mut next = execution.clone();
    let op = program.thread(thread)[execution.running.next[thread]];
    if matches!(op, Op::Post | Op::Wait) {
        let thing = next.things.entry(Thing::Semaphore).or_default();
        thing.extend(next.threads[thread].iter().copied());
        next.threads[thread] = thing.clone();
    }
    // Whoever finds that an end is shut or closed comes after that.
    for link in execution.running.given_up() {
        let ended = [Thing::Sending(link), Thing::Receiving(link)];
        let ended = ended.iter().filter_map(|thing| execution.things.get(thing)).flatten();
        next.threads[thread].extend(ended.copied());
    }
    next.running.take(program, thread);
    started(&mut next, program);
    next
}

/// Threads that start know what the first one did.
fn started(execution: &mut Execution, program: &Program) {
    if execution.running.next[0] >= program.first.len() && !execution.running.waits(0) {
        let first = execution.threads[0].clone();
        for thread in &mut execution.threads[1..] {
            thread.extend(first.iter().copied());
        }
    }
}

fn asked(
    execution: &Execution,
    program: &Program,
    thread: usize,
    request: &Request,
    side: &mut Side,
) -> Vec<Execution> {
    let mut past: BTreeSet<EventId> = match execution.threads.get(thread) {
        Some(past) => past.clone(),
        // Whatever happens when the process ends happens after everything else.
        None => execution.events.clone(),
    };
    for thing in things(request) {
        past.extend(execution.things.get(&thing).into_iter().flatten());
    }
    let list = |past: &BTreeSet<EventId>| past.iter().copied().collect::<Vec<EventId>>();
    let mut ways: Vec<(BTreeSet<EventId>, Answer)> = Vec::new();
    let breaks = side.breaks_before(&list(&past), request);
    for broken in [None].into_iter().chain(breaks.into_iter().map(Some)) {
        let past: BTreeSet<EventId> = past.iter().copied().chain(broken).collect();
        let offers = side.offers(&list(&past), request);
        ways.extend(offers.into_iter().map(|answer| (past.clone(), answer)));
    }
    let answered = |(past, answer): (BTreeSet<EventId>, Answer)| {
        let mut next = execution.clone();
        let act = Act { request: request.clone(), answer: answer.clone() };
        let event = side.event(thread as u64, act, list(&past));
        let mut past = past;
        past.insert(event);
        next.events.extend(&past);
        for thing in things(request) {
            next.things.insert(thing, past.clone());
        }
        if let Some(thread) = next.threads.get_mut(thread) {
            *thread = past;
        }
        next.running.answered(program, thread, request, &answer);
        started(&mut next, program);
        next
    };
    ways.into_iter().map(answered).collect()
}

/// All ways in which the programs end together, found by exploring each on its own.
/// The network breaks so many connections of the first one at most.
pub(crate) fn jointly(programs: &[Program], breaks: usize) -> Option<BTreeSet<Vec<Ending>>> {
    let mut joint = Joint::new(programs.len());
    joint.side_mut(0).allow_breaks(breaks);
    let mut ends = vec![Vec::new(); programs.len()];
    let mut endings = BTreeSet::new();
    while let Some(number) =
        (0..programs.len()).find(|&number| joint.side(number).is_to_be_explored())
    {
        if !explore(joint.side_mut(number), number, &programs[number], &mut ends[number]) {
            return None;
        }
        let mut is_settled = true;
        let _: ControlFlow<()> = joint.compare(|combination, _| {
            match combination.linearise(|_| true, true, &|| false) {
                Linearised::Possible(_) => {
                    endings.insert(combination.histories.to_vec());
                }
                Linearised::Impossible => {}
                Linearised::Unsettled => is_settled = false,
            }
            ControlFlow::Continue(())
        });
        if !is_settled || joint.combinations() > 20_000 {
            return None;
        }
    }
    let ending = |(side, &history): (usize, &u32)| {
        ends[side][joint.side(side).history(history).end as usize].clone()
    };
    Some(endings.iter().map(|all| all.iter().enumerate().map(ending).collect()).collect())
}
