//! Joint states against closed systems: small programs, each explored on its own, must end together
//! in exactly the ways in which all of them end when they are interleaved on one network.

use everypath_commtree::joint::{
    Act, Answer, Event, EventId, History, Joint, Linearised, Link, Network, Request, Side, Watched,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Connect {
        slot: usize,
        port: u16,
    },
    Accept {
        slot: usize,
        port: u16,
        waits: bool,
    },
    Send {
        slot: usize,
        length: usize,
        byte: u8,
    },
    /// Sends one byte or another, by its own choice.
    SendEither {
        slot: usize,
        bytes: [u8; 2],
    },
    /// Sends back what was received last.
    Echo {
        slot: usize,
    },
    Receive {
        slot: usize,
        most: usize,
        waits: bool,
    },
    /// Looks at two connections, or at one and a listener.
    Look {
        slots: [usize; 2],
        port: Option<u16>,
        sees_end: bool,
        waits: bool,
    },
    Shut {
        slot: usize,
    },
    Close {
        slot: usize,
    },
    Post,
    Wait,
    /// Leaves the next operation out if this was received last.
    SkipIf {
        byte: u8,
    },
}

/// A program: what it does first, by itself; then its threads.
#[derive(Clone, Debug)]
struct Program {
    listens: Vec<u16>,
    first: Vec<Op>,
    threads: Vec<Vec<Op>>,
}

/// The operations of a program's thread, by number; the first is the one that starts the others.
impl Program {
    fn thread(&self, number: usize) -> &[Op] {
        match number.checked_sub(1) {
            None => &self.first,
            Some(other) => &self.threads[other],
        }
    }
}

/// What each thread of a program was answered, in order; the last is `Never` if it waits for ever.
type Ending = Vec<Vec<Answer>>;

/// A program in the middle of an execution.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Running {
    side: usize,
    next: Vec<usize>,
    connections: Vec<u64>,
    /// Slots of each thread; those of the first are seen by all.
    slots: Vec<BTreeMap<usize, Link>>,
    last: Vec<Vec<u8>>,
    answers: Ending,
    closed: BTreeSet<Link>,
    shut: BTreeSet<Link>,
    open: BTreeSet<Link>,
    posted: u32,
    listening: usize,
    /// Whether it has let go of everything, because all its threads ended.
    ended: bool,
}

/// What a program may do next.
#[derive(Clone, Debug)]
enum Move {
    Ask { thread: usize, request: Request },
    Internal { thread: usize },
}

impl Running {
    fn new(side: usize, program: &Program) -> Self {
        let threads = program.threads.len() + 1;
        Running {
            side,
            next: vec![0; threads],
            connections: vec![0; threads],
            slots: vec![BTreeMap::new(); threads],
            last: vec![Vec::new(); threads],
            answers: vec![Vec::new(); threads],
            closed: BTreeSet::new(),
            shut: BTreeSet::new(),
            open: BTreeSet::new(),
            posted: 0,
            listening: 0,
            ended: false,
        }
    }

    fn waits(&self, thread: usize) -> bool {
        self.answers[thread].last() == Some(&Answer::Never)
    }

    fn given_up(&self) -> impl Iterator<Item = Link> {
        self.shut.union(&self.closed).copied()
    }

    fn link(&self, thread: usize, slot: usize) -> Option<Link> {
        let link = self.slots[thread].get(&slot).or_else(|| self.slots[0].get(&slot));
        link.copied().filter(|link| !self.closed.contains(link))
    }

    /// The moves of all threads; in the end, the process lets go of what it has, one by one.
    fn moves(&self, program: &Program) -> Vec<Move> {
        if self.ended {
            return Vec::new();
        }
        if let Some(&port) = program.listens.get(self.listening) {
            let request = Request::Listen { port, backlog: 1 };
            return vec![Move::Ask { thread: 0, request }];
        }
        let has_ended = |thread: usize| {
            self.next[thread] >= program.thread(thread).len() && !self.waits(thread)
        };
        let threads = || 0..=program.threads.len();
        if threads().all(has_ended) {
            let ports = &program.listens[self.listening - program.listens.len()..];
            let unlisten = ports.first().map(|&port| Request::Unlisten { port });
            let close = self.open.first().map(|&link| Request::Close(link));
            let request = close.or(unlisten.filter(|_| self.listening < 2 * program.listens.len()));
            return request.map(|request| Move::Ask { thread: 9, request }).into_iter().collect();
        }
        let goes_on = |&thread: &usize| {
            !has_ended(thread) && !self.waits(thread) && (thread == 0 || has_ended(0))
        };
        threads().filter(goes_on).flat_map(|thread| self.moves_of(program, thread)).collect()
    }

    fn moves_of(&self, program: &Program, thread: usize) -> Vec<Move> {
        let ask = |request| vec![Move::Ask { thread, request }];
        let internal = vec![Move::Internal { thread }];
        let send = |slot, bytes: Vec<u8>| match self.link(thread, slot) {
            Some(link) if !bytes.is_empty() && !self.shut.contains(&link) => {
                ask(Request::Send { link, bytes })
            }
            _ => internal.clone(),
        };
        let on = |slot, request: fn(Link) -> Request| {
            self.link(thread, slot).map_or(internal.clone(), |link| ask(request(link)))
        };
        match program.thread(thread)[self.next[thread]] {
            Op::Connect { port, .. } => {
                let (maker, which) = (thread as u64, self.connections[thread]);
                ask(Request::Connect(Link { side: self.side, port, maker, which }))
            }
            Op::Accept { port, waits, .. } if program.listens.contains(&port) => {
                ask(Request::Accept { port, waits })
            }
            Op::Accept { .. } => internal,
            Op::Send { slot, length, byte } => send(slot, vec![byte; length]),
            Op::SendEither { slot, bytes } => {
                bytes.iter().flat_map(|&byte| send(slot, vec![byte])).collect()
            }
            Op::Echo { slot } => send(slot, self.last[thread].clone()),
            Op::Receive { slot, most, waits } => match self.link(thread, slot) {
                Some(link) => ask(Request::Receive { link, most, waits }),
                None => internal,
            },
            Op::Look { slots, port, sees_end, waits } => {
                let links: BTreeSet<Link> =
                    slots.iter().filter_map(|&slot| self.link(thread, slot)).collect();
                let links = links.into_iter().map(|link| Watched::Bytes { link, sees_end });
                let port = port.filter(|port| program.listens.contains(port));
                let port = port.map(|port| Watched::Connections { port });
                match links.chain(port).collect::<Vec<_>>() {
                    at if at.is_empty() => internal,
                    at => ask(Request::Look { at, waits }),
                }
            }
            Op::Shut { slot } => on(slot, Request::Shut),
            // Closing what another thread waits at is another story.
            Op::Close { slot } if self.slots[thread].contains_key(&slot) => {
                on(slot, Request::Close)
            }
            Op::Close { .. } => internal,
            Op::Wait if self.posted == 0 => Vec::new(),
            Op::Post | Op::Wait | Op::SkipIf { .. } => internal,
        }
    }

    fn take(&mut self, program: &Program, thread: usize) {
        let at = self.next[thread];
        self.next[thread] += 1;
        match program.thread(thread)[at] {
            Op::Post => self.posted += 1,
            Op::Wait => self.posted -= 1,
            Op::SkipIf { byte } if self.last[thread].first() == Some(&byte) => {
                self.next[thread] = (at + 2).min(program.thread(thread).len());
            }
            _ => {}
        }
    }

    /// Goes on after a request was answered.
    fn answered(&mut self, program: &Program, thread: usize, request: &Request, answer: &Answer) {
        match request {
            Request::Listen { .. } | Request::Unlisten { .. } => {
                self.listening += 1;
                return;
            }
            Request::Close(link) => {
                self.open.remove(link);
                self.closed.insert(*link);
                if thread == 9 {
                    return;
                }
            }
            _ => {}
        }
        self.answers[thread].push(answer.clone());
        if *answer == Answer::Never {
            return;
        }
        let at = self.next[thread];
        self.next[thread] += 1;
        match (program.thread(thread)[at], answer, request) {
            (Op::Connect { slot, .. }, Answer::Done, Request::Connect(link)) => {
                self.slots[thread].insert(slot, *link);
                self.open.insert(*link);
                self.connections[thread] += 1;
            }
            (Op::Accept { slot, .. }, Answer::Accepted(link), _) => {
                self.slots[thread].insert(slot, *link);
                self.open.insert(*link);
            }
            (_, Answer::Bytes(bytes), _) => self.last[thread] = bytes.clone(),
            (_, _, Request::Shut(link)) => {
                self.shut.insert(*link);
            }
            _ => {}
        }
    }
}

/// All ways in which the programs end when every interleaving is tried on one network.
fn closed(programs: &[Program]) -> Option<BTreeSet<Vec<Ending>>> {
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
        let mut waiting: Vec<(usize, usize)> = Vec::new();
        for (side, program) in programs.iter().enumerate() {
            for one in all[side].moves(program) {
                let (mut all, mut network) = (all.clone(), network.clone());
                match &one {
                    Move::Internal { thread } => all[side].take(program, *thread),
                    Move::Ask { thread, request } => match network.answer(side, request) {
                        None => {
                            waiting.push((side, *thread));
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
            let mut ending: Vec<Ending> = all.into_iter().map(|one| one.answers).collect();
            for (side, thread) in waiting {
                ending[side][thread].push(Answer::Never);
            }
            endings.insert(ending);
        }
    }
    Some(endings)
}

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
    Port(u16),
    Sending(Link),
    Receiving(Link),
}

fn things(request: &Request) -> Vec<Thing> {
    match *request {
        Request::Listen { port, .. }
        | Request::Unlisten { port }
        | Request::Accept { port, .. } => vec![Thing::Port(port)],
        Request::Connect(_) => Vec::new(),
        Request::Send { link, .. } => vec![Thing::Sending(link)],
        Request::Receive { link, .. } => vec![Thing::Receiving(link)],
        Request::Look { ref at, .. } => {
            let thing = |watched: &Watched| match *watched {
                Watched::Connections { port } => Thing::Port(port),
                Watched::Bytes { link, .. } => Thing::Receiving(link),
            };
            at.iter().map(thing).collect()
        }
        Request::Shut(link) | Request::Close(link) => {
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
            let ending = execution.running.answers.clone();
            let end = ends.iter().position(|known| *known == ending).unwrap_or(ends.len());
            if end == ends.len() {
                ends.push(ending);
            }
            let events = execution.events.iter().copied().collect();
            side.add(History { events, end: end as u64 });
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
    let list: Vec<EventId> = past.iter().copied().collect();
    let offers = side.offers(&list, request);
    let answered = |answer: Answer| {
        let mut next = execution.clone();
        let act = Act { request: request.clone(), answer: answer.clone() };
        let event = side.event(thread as u64, act, list.clone());
        let mut past = past.clone();
        past.insert(event);
        next.events.insert(event);
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
    offers.into_iter().map(answered).collect()
}

/// All ways in which the programs end together, found by exploring each on its own.
fn jointly(programs: &[Program]) -> Option<BTreeSet<Vec<Ending>>> {
    let mut joint = Joint::new(programs.len());
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

/// Most calls wait.
fn waits() -> impl Strategy<Value = bool> {
    prop_oneof![3 => Just(true), 1 => Just(false)]
}

fn op(slots: usize) -> impl Strategy<Value = Op> {
    let slot = 0..slots;
    prop_oneof![
        3 => (slot.clone(), 1..3usize, 1..3u8)
            .prop_map(|(slot, length, byte)| Op::Send { slot, length, byte }),
        4 => (slot.clone(), 1..4usize, waits())
            .prop_map(|(slot, most, waits)| Op::Receive { slot, most, waits }),
        2 => (slot.clone(), slot.clone(), option::of(1..3u16), any::<bool>(), any::<bool>())
            .prop_map(|(one, other, port, sees_end, waits)| {
                Op::Look { slots: [one, other], port, sees_end, waits }
            }),
        1 => slot.clone().prop_map(|slot| Op::SendEither { slot, bytes: [1, 2] }),
        2 => slot.clone().prop_map(|slot| Op::Echo { slot }),
        1 => slot.clone().prop_map(|slot| Op::Shut { slot }),
        1 => slot.prop_map(|slot| Op::Close { slot }),
        1 => Just(Op::Post),
        1 => Just(Op::Wait),
        2 => (1..3u8).prop_map(|byte| Op::SkipIf { byte }),
    ]
}

/// A server on two ports and a client of both, or less.
fn pair() -> impl Strategy<Value = Vec<Program>> {
    let accept = (0..2usize, 1..3u16, waits());
    let accept = accept.prop_map(|(slot, port, waits)| Op::Accept { slot, port, waits });
    let server_first = vec(accept, 1..3);
    let client_first = vec((0..2usize, 1..3u16), 1..3).prop_map(|connects| {
        connects.into_iter().map(|(slot, port)| Op::Connect { slot, port }).collect::<Vec<_>>()
    });
    let body = || vec(vec(op(2), 1..4), 1..3);
    let listens = prop_oneof![Just(vec![1]), Just(vec![1, 2])];
    (listens, server_first, body(), client_first, body()).prop_map(
        |(listens, server, server_threads, client, client_threads)| {
            vec![
                Program { listens: vec![], first: client, threads: client_threads },
                Program { listens, first: server, threads: server_threads },
            ]
        },
    )
}

/// Programs whose threads connect and accept, three of them, each of which may do both.
fn several() -> impl Strategy<Value = Vec<Program>> {
    let thread = |own: u16| {
        let others: Vec<u16> = (1..4).filter(|&port| port != own).collect();
        let begin = prop_oneof![
            waits().prop_map(move |waits| Op::Accept { slot: 0, port: own, waits }),
            proptest::sample::select(others).prop_map(|port| Op::Connect { slot: 0, port }),
        ];
        (begin, vec(op(1), 0..3)).prop_map(|(begin, rest)| {
            let mut thread = vec![begin];
            thread.extend(rest);
            thread
        })
    };
    let program = move |own: u16| {
        vec(thread(own), 1..3).prop_map(move |threads| Program {
            listens: vec![own],
            first: vec![],
            threads,
        })
    };
    (program(1), program(2), program(3)).prop_map(|(a, b, c)| vec![a, b, c])
}

fn agree(programs: &[Program]) -> Result<(), TestCaseError> {
    let (Some(closed), Some(joint)) = (closed(programs), jointly(programs)) else {
        return Err(TestCaseError::reject("too large"));
    };
    let missed: Vec<_> = closed.difference(&joint).collect();
    let wrong: Vec<_> = joint.difference(&closed).collect();
    prop_assert!(missed.is_empty(), "missed {missed:?}");
    prop_assert!(wrong.is_empty(), "impossible {wrong:?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn pairs_end_as_they_do_when_interleaved(programs in pair()) {
        agree(&programs)?;
    }

    #[test]
    fn three_programs_end_as_they_do_when_interleaved(programs in several()) {
        agree(&programs)?;
    }
}

#[test]
fn an_event_is_told_from_others_by_what_was_before_it() {
    let mut side = Side::default();
    let act = Act { request: Request::Listen { port: 1, backlog: 0 }, answer: Answer::Done };
    let first = side.event(0, act.clone(), vec![]);
    let second = side.event(0, act.clone(), vec![first]);
    assert_eq!(side.event(0, act.clone(), vec![]), first);
    assert_ne!(first, second);
    let Event { past, .. } = side.get(second);
    assert_eq!(*past, [first]);
}
