//! Small programs, in the middle of an execution.

use everypath_commtree::joint::{Act, Answer, Link, Port, Request, Watched};
use std::collections::{BTreeMap, BTreeSet};

/// One of few ports: the second is a name of the Unix family.
pub(crate) fn port(number: u16) -> Port {
    if number == 2 { Port::Unix(b"two") } else { Port::Inet(number) }
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Connect {
        slot: usize,
        port: Port,
    },
    Accept {
        slot: usize,
        port: Port,
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
        port: Option<Port>,
        sees_end: bool,
        waits: bool,
    },
    /// Sends a datagram from its first port.
    SendTo {
        to: u16,
        byte: u8,
    },
    /// Sends what was received last back to where the last datagram came from.
    SendBack,
    /// Receives a datagram at one of its ports.
    ReceiveFrom {
        which: usize,
        waits: bool,
    },
    /// Takes datagrams from one port only from now on, or from all again.
    Only {
        which: usize,
        from: Option<u16>,
    },
    /// Looks at all its ports for datagrams, and at a connection.
    Watch {
        slot: usize,
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
pub(crate) struct Program {
    pub(crate) listens: Vec<Port>,
    /// Where it is sent datagrams.
    pub(crate) binds: Vec<u16>,
    pub(crate) first: Vec<Op>,
    pub(crate) threads: Vec<Vec<Op>>,
}

/// The operations of a program's thread, by number; the first is the one that starts the others.
impl Program {
    /// With which requests it begins: each in a way that it ends with, too.
    fn opens(&self) -> Vec<[Request; 2]> {
        let listens = self
            .listens
            .iter()
            .map(|&port| [Request::Listen { port, backlog: 1 }, Request::Unlisten { port }]);
        let binds = self
            .binds
            .iter()
            .map(|&port| [Request::Bind { port, only: None }, Request::Unbind { port }]);
        listens.chain(binds).collect()
    }

    pub(crate) fn thread(&self, number: usize) -> &[Op] {
        match number.checked_sub(1) {
            None => &self.first,
            Some(other) => &self.threads[other],
        }
    }
}

/// What each thread of a program asked and was answered, in order; the last answer is `Never` if it
/// waits for ever.
pub(crate) type Ending = Vec<Vec<Act>>;

/// A program in the middle of an execution.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Running {
    pub(crate) side: usize,
    pub(crate) next: Vec<usize>,
    pub(crate) connections: Vec<u64>,
    /// Slots of each thread; those of the first are seen by all.
    pub(crate) slots: Vec<BTreeMap<usize, Link>>,
    pub(crate) last: Vec<Vec<u8>>,
    pub(crate) acts: Ending,
    pub(crate) closed: BTreeSet<Link>,
    pub(crate) shut: BTreeSet<Link>,
    pub(crate) open: BTreeSet<Link>,
    pub(crate) posted: u32,
    /// Where the last datagram of each thread came from.
    pub(crate) sender: Vec<Option<u16>>,
    /// How many of the things it has opened that it begins with, and closed.
    pub(crate) opened: usize,
    /// Whether it has let go of everything, because all its threads ended.
    pub(crate) ended: bool,
}

/// What a program may do next.
#[derive(Clone, Debug)]
pub(crate) enum Move {
    Ask { thread: usize, request: Request },
    Internal { thread: usize },
}

impl Running {
    pub(crate) fn new(side: usize, program: &Program) -> Self {
        let threads = program.threads.len() + 1;
        Running {
            side,
            next: vec![0; threads],
            connections: vec![0; threads],
            slots: vec![BTreeMap::new(); threads],
            last: vec![Vec::new(); threads],
            acts: vec![Vec::new(); threads],
            closed: BTreeSet::new(),
            shut: BTreeSet::new(),
            open: BTreeSet::new(),
            posted: 0,
            sender: vec![None; threads],
            opened: 0,
            ended: false,
        }
    }

    pub(crate) fn waits(&self, thread: usize) -> bool {
        self.acts[thread].last().is_some_and(|act| act.answer == Answer::Never)
    }

    pub(crate) fn given_up(&self) -> impl Iterator<Item = Link> {
        self.shut.union(&self.closed).copied()
    }

    fn link(&self, thread: usize, slot: usize) -> Option<Link> {
        let link = self.slots[thread].get(&slot).or_else(|| self.slots[0].get(&slot));
        link.copied().filter(|link| !self.closed.contains(link))
    }

    /// The moves of all threads; in the end, the process lets go of what it has, one by one.
    pub(crate) fn moves(&self, program: &Program) -> Vec<Move> {
        if self.ended {
            return Vec::new();
        }
        let opens = program.opens();
        if let Some([request, _]) = opens.get(self.opened) {
            return vec![Move::Ask { thread: 0, request: request.clone() }];
        }
        let has_ended = |thread: usize| {
            self.next[thread] >= program.thread(thread).len() && !self.waits(thread)
        };
        let threads = || 0..=program.threads.len();
        if threads().all(has_ended) {
            let left = opens.get(self.opened - opens.len()).map(|[_, request]| request.clone());
            let close = self.open.first().map(|&link| Request::Close(link));
            let request = close.or(left);
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
            op => self.datagram_moves(program, thread, op),
        }
    }

    /// The moves of a thread that does something with datagrams.
    fn datagram_moves(&self, program: &Program, thread: usize, op: Op) -> Vec<Move> {
        let ask = |request| vec![Move::Ask { thread, request }];
        let internal = vec![Move::Internal { thread }];
        let send_to = |to: u16, bytes: &[u8]| match program.binds.first() {
            Some(&from) if !program.binds.contains(&to) => {
                ask(Request::SendTo { from, to, bytes: bytes.to_vec() })
            }
            _ => internal.clone(),
        };
        match op {
            Op::SendTo { to, byte } => send_to(to, &[byte]),
            Op::SendBack => match self.sender[thread] {
                Some(to) => send_to(to, &self.last[thread]),
                None => internal,
            },
            Op::ReceiveFrom { which, waits } => match program.binds.get(which) {
                Some(&port) => ask(Request::ReceiveFrom { port, waits }),
                None => internal,
            },
            Op::Only { which, from: only } => match program.binds.get(which) {
                Some(&port) => ask(Request::Bind { port, only }),
                None => internal,
            },
            Op::Watch { slot, waits } => {
                let ports = program.binds.iter().map(|&port| Watched::Datagrams { port });
                let link = self.link(thread, slot).map(Watched::bytes);
                match ports.chain(link).collect::<Vec<_>>() {
                    at if at.is_empty() => internal,
                    at => ask(Request::Look { at, waits }),
                }
            }
            _ => internal,
        }
    }

    pub(crate) fn take(&mut self, program: &Program, thread: usize) {
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
    pub(crate) fn answered(
        &mut self,
        program: &Program,
        thread: usize,
        request: &Request,
        answer: &Answer,
    ) {
        let opens = program.opens();
        match request {
            // Whoever begins or ends does this; a thread that binds does so later.
            _ if thread == 9 && opens.iter().any(|[_, end]| end == request)
                || opens.get(self.opened).is_some_and(|[begin, _]| begin == request) =>
            {
                self.opened += 1;
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
        self.acts[thread].push(Act { request: request.clone(), answer: answer.clone() });
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
            (_, Answer::Datagram { from, bytes }, _) => {
                self.last[thread] = bytes.clone();
                self.sender[thread] = Some(*from);
            }
            (_, _, Request::Shut(link)) => {
                self.shut.insert(*link);
            }
            _ => {}
        }
    }
}
