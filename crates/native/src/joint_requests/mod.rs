//! Answering the requests of a program that is explored alone, and recording its history.
//!
//! `script` replays the answers of the others to one program.

mod places;
mod script;

pub(crate) use script::{Recorded, Reply};

use crate::dependence::taken;
use crate::symmetry::Symmetry;
use everypath_commtree::joint::{
    Act, Answer, EventId, Joint, Link, Port, Readiness, Request, Watched,
};
use everypath_schedules::{HappensBefore, Taken};
use everypath_shim_abi::{
    Event, Footprint, Glance, Granted, JointRequest, MAX_THREADS, Senders, Sight,
};
use places::Places;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

/// How many bytes may be sent on a connection in one direction: as many as one end can hold, so
/// that nobody ever waits for space.
const CAPACITY: usize = 1 << 18;

/// How many bytes of datagrams one socket can hold, so that none is ever lost for want of space,
/// and how many come with each at most.
const MAILBOX: usize = 212_992;
const HEAD: usize = 128;

/// How many of the ports that are chosen for programs are for those before one of several: as in a
/// system of all of them.
fn ports_before(side: usize, sides: usize) -> u16 {
    const EACH: usize = 220;
    (side * (MAX_THREADS / sides.next_power_of_two()).max(1) * EACH) as u16
}

/// What a program sees of how far something is.
fn sight(found: Readiness) -> Sight {
    match found {
        Readiness::Waits => Sight::Waits,
        Readiness::Input => Sight::Input,
        Readiness::End => Sight::End,
        Readiness::Gone => Sight::Gone,
        Readiness::Broken => Sight::Broken,
    }
}

/// All programs, as far as they are explored.
pub(crate) type Programs = Arc<Mutex<Joint>>;

/// The programs, while nobody else looks at them.
pub(crate) fn lock(programs: &Programs) -> MutexGuard<'_, Joint> {
    programs.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// One program, in the middle of an execution.
#[derive(Debug)]
pub(crate) struct JointRequests {
    programs: Programs,
    side: usize,
    /// How many events a history may have.
    most: usize,
    places: Arc<Mutex<Places>>,
    execution: Execution,
}

/// What happened in the present execution.
#[derive(Debug, Default)]
struct Execution {
    /// Events, and the step of each.
    log: Vec<(usize, EventId)>,
    links: Vec<Link>,
    /// Where the program began to listen.
    listeners: Vec<Port>,
    /// To which of its ports datagrams were sent, and may not be again after that.
    mailboxes: BTreeSet<u16>,
    sent: BTreeMap<Link, usize>,
    /// How many bytes of datagrams, with all that comes with them.
    sent_to: BTreeMap<u16, usize>,
    /// The requests of threads that have several answers.
    offers: BTreeMap<u64, Offer>,
    /// Threads that wait for ever.
    waiting: BTreeSet<u64>,
    is_cut: bool,
    script: Vec<Reply>,
    /// Steps that only chose among several ways.
    chosen: Vec<usize>,
}

#[derive(Debug)]
struct Offer {
    step: usize,
    request: Request,
    ways: Vec<Way>,
}

/// What can come of a request.
#[derive(Clone, Debug)]
struct Way {
    /// What was before it, and with which of it the network broke a connection just then.
    past: Vec<EventId>,
    broken: Option<EventId>,
    answer: Answer,
}

/// What an execution showed to the other programs.
#[derive(Debug)]
pub(crate) struct Shown {
    /// Its events, ascending; several times if connections may have broken that it did not use any
    /// more, and not at all if too many broke.
    pub(crate) events: Vec<Vec<EventId>>,
    /// Whether it was stopped because there were too many.
    pub(crate) is_cut: bool,
    /// All answers that it got.
    pub(crate) script: Vec<Reply>,
    /// The step of each event, but for those with which its process ended.
    pub(crate) log: Vec<(usize, EventId)>,
    /// Steps that only chose among several ways.
    pub(crate) chosen: Vec<usize>,
}

impl JointRequests {
    /// One of several programs, whose histories have at most so many events.
    pub(crate) fn new(
        programs: &Programs,
        side: usize,
        most: usize,
        places: &Arc<Mutex<Places>>,
    ) -> Self {
        JointRequests {
            programs: Arc::clone(programs),
            side,
            most,
            places: Arc::clone(places),
            execution: Execution::default(),
        }
    }

    /// To be called before every execution.
    pub(crate) fn begin_execution(&mut self) {
        self.execution = Execution::default();
    }

    /// Answers a request of a thread, given the steps that were taken; or says why that is not
    /// possible.
    pub(crate) fn answer(
        &mut self,
        thread: u64,
        request: &JointRequest,
        message: &[u8],
        events: &[Event],
    ) -> Result<Reply, String> {
        let reply = self.requested(thread, request, message, events)?;
        self.execution.script.push(reply.clone());
        Ok(reply)
    }

    /// Answers the last request of a thread in one of the ways that were offered.
    pub(crate) fn answer_by(&mut self, thread: u64, way: u32) -> Result<Reply, String> {
        let reply = self.choose(thread, way as usize)?;
        self.execution.script.push(reply.clone());
        Ok(reply)
    }

    fn requested(
        &mut self,
        thread: u64,
        request: &JointRequest,
        message: &[u8],
        events: &[Event],
    ) -> Result<Reply, String> {
        if self.execution.waiting.contains(&thread) {
            // It was interrupted, and waits again.
            return Ok(Reply::never());
        }
        let request = self.request(thread, request, message)?;
        let step = events.len().checked_sub(1).ok_or("a request without a step")?;
        let past = self.past(step, &taken(events, &Symmetry::default()));
        self.refuse_to_close(&request, step, events)?;
        if self.execution.log.len() >= self.most {
            self.execution.is_cut = true;
            self.execution.waiting.insert(thread);
            return Ok(Reply::never());
        }
        let mut ways = self.ways(past, &request);
        if ways.len() > 1 {
            let count = ways.len() as u32;
            self.execution.offers.insert(thread, Offer { step, request, ways });
            return Ok(Reply { ways: count, ..Reply::never() });
        }
        let way = ways.pop().ok_or("a request without an answer")?;
        Ok(self.settle(thread, step, request, way))
    }

    fn choose(&mut self, thread: u64, which: usize) -> Result<Reply, String> {
        let offer = self.execution.offers.remove(&thread).ok_or("nothing was offered")?;
        let Offer { step, request, mut ways } = offer;
        if which >= ways.len() {
            return Err("an answer was chosen that was not offered".into());
        }
        let way = ways.swap_remove(which);
        // Nobody else moves before the way is chosen.
        self.execution.chosen.push(step + 1);
        Ok(self.settle(thread, step, request, way))
    }

    /// All that can come of a request, also if the network breaks a connection that it is about.
    fn ways(&self, past: Vec<EventId>, request: &Request) -> Vec<Way> {
        let mut programs = lock(&self.programs);
        let side = programs.side_mut(self.side);
        let breaks = side.breaks_before(&past, request).into_iter().map(Some);
        let mut ways = Vec::new();
        for broken in [None].into_iter().chain(breaks) {
            let mut past = past.clone();
            past.extend(broken);
            past.sort_unstable();
            let offers = side.offers(&past, request).into_iter();
            ways.extend(offers.map(|answer| Way { past: past.clone(), broken, answer }));
        }
        ways
    }

    /// The program's request, as an event of its history.
    fn request(
        &mut self,
        thread: u64,
        request: &JointRequest,
        message: &[u8],
    ) -> Result<Request, String> {
        Ok(match *request {
            JointRequest::Listen { at, backlog } => {
                let port = self.places().listen(at.as_bytes(), self.side)?;
                Request::Listen { port, backlog: backlog as usize }
            }
            JointRequest::Unlisten { listener } => {
                Request::Unlisten { port: self.listener(listener)? }
            }
            JointRequest::Connect { to, ordinal } => Request::Connect(Link {
                side: self.side,
                port: self.places().port(to.as_bytes())?,
                maker: thread,
                which: ordinal.into(),
            }),
            JointRequest::Accept { listener, waits } => {
                Request::Accept { port: self.listener(listener)?, waits }
            }
            JointRequest::Send { connection, .. } => self.send(connection, message)?,
            JointRequest::Receive { connection, most, waits } => {
                Request::Receive { link: self.link(connection)?, most: most as usize, waits }
            }
            JointRequest::Look { waits, .. } => {
                let (glances, _) = message.as_chunks();
                let at = glances.iter().map(|glance| self.watched(Glance::from_bytes(*glance)));
                Request::Look { at: at.collect::<Result<_, _>>()?, waits }
            }
            JointRequest::Shut { connection } => Request::Shut(self.link(connection)?),
            JointRequest::Close { connection } => Request::Close(self.link(connection)?),
            JointRequest::Bind { at, senders, is_new, any_port } => {
                let port = self.bind(at.as_bytes(), is_new, any_port)?;
                let only = match senders {
                    Senders::All => None,
                    Senders::Port(port) => Some(port),
                };
                Request::Bind { port, only }
            }
            JointRequest::Unbind { port } => Request::Unbind { port },
            JointRequest::SendTo { from, to, .. } => self.send_to(from, to.as_bytes(), message)?,
            JointRequest::ReceiveFrom { port, waits } => Request::ReceiveFrom { port, waits },
        })
    }

    /// Bytes that the program sends on a connection.
    fn send(&mut self, connection: u32, message: &[u8]) -> Result<Request, String> {
        let link = self.link(connection)?;
        let sent = self.execution.sent.entry(link).or_default();
        *sent += message.len();
        if *sent > CAPACITY {
            return Err(format!("--joint models up to {CAPACITY} bytes on a connection"));
        }
        Ok(Request::Send { link, bytes: message.to_vec() })
    }

    /// The port at which the program receives datagrams from now on.
    fn bind(&mut self, address: &[u8], is_new: bool, any_port: bool) -> Result<u16, String> {
        let sides = lock(&self.programs).sides().len();
        let offset = if is_new && any_port { ports_before(self.side, sides) } else { 0 };
        let port = self.places().bind(address, offset, self.side)?;
        if is_new && !self.execution.mailboxes.insert(port) {
            return Err(format!("--joint does not model two binds of UDP port {port}"));
        }
        Ok(port)
    }

    /// A datagram that the program sends.
    fn send_to(&mut self, from: u16, address: &[u8], message: &[u8]) -> Result<Request, String> {
        let to = self.places().send_to(address, self.side)?;
        let sides = lock(&self.programs).sides().len();
        let sent = self.execution.sent_to.entry(to).or_default();
        *sent += message.len() + HEAD;
        if *sent > MAILBOX / sides {
            return Err(format!("--joint does not model a full queue of UDP port {to}"));
        }
        Ok(Request::SendTo { from, to, bytes: message.to_vec() })
    }

    /// The addresses that programs have used.
    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The connection with a number.
    fn link(&self, number: u32) -> Result<Link, String> {
        let link = self.execution.links.get(number as usize).copied();
        link.ok_or_else(|| "the program uses a connection that --joint does not know".to_string())
    }

    /// Where the listener with a number listens.
    fn listener(&self, number: u32) -> Result<Port, String> {
        let port = self.execution.listeners.get(number as usize).copied();
        port.ok_or_else(|| "the program uses a listener that --joint does not know".to_string())
    }

    /// Something that is looked at, in the words of histories.
    fn watched(&self, glance: Glance) -> Result<Watched, String> {
        Ok(match glance {
            Glance::Datagrams(port) => Watched::Datagrams { port },
            Glance::Connections(number) => Watched::Connections { port: self.listener(number)? },
            Glance::Bytes(number, sees_end) => {
                Watched::Bytes { link: self.link(number)?, sees_end }
            }
        })
    }

    /// The events of this execution that happened before a step.
    fn past(&self, step: usize, steps: &[Taken]) -> Vec<EventId> {
        let mut order = HappensBefore::default();
        steps.iter().for_each(|taken| order.push(taken));
        let own = order.first_event(step);
        let is_before = |of: usize| of == step || order.is_before(order.first_event(of), own);
        let before = self.execution.log.iter().filter(|(of, _)| is_before(*of));
        let mut past: Vec<EventId> = before.map(|&(_, event)| event).collect();
        past.sort_unstable();
        past
    }

    /// Refuses to close what another thread may wait at: one that waits in this execution or is
    /// answered at once might have waited until it was closed, and then for ever.
    fn refuse_to_close(
        &self,
        request: &Request,
        step: usize,
        events: &[Event],
    ) -> Result<(), String> {
        let is_closed = |waiting: &Request| match request {
            Request::Close(link) => waiting.sees(Watched::bytes(*link)),
            Request::Unlisten { port } => waiting.sees(Watched::Connections { port: *port }),
            Request::Unbind { port } => waiting.sees(Watched::Datagrams { port: *port }),
            _ => false,
        };
        let programs = lock(&self.programs);
        let act = |event: EventId| &programs.side(self.side).get(event).act;
        let mut waiting = self.execution.log.iter().map(|&(_, event)| event).filter(|&event| {
            let request = &act(event).request;
            request.waits() && is_closed(request)
        });
        if waiting.clone().next().is_none() {
            return Ok(());
        }
        // Whatever is before it only because both use the connection could have come after it.
        let mut steps = taken(events, &Symmetry::default());
        (steps[step].footprint, steps[step].may_touch) = (Footprint::nothing(), None);
        let before = self.past(step, &steps);
        match waiting.all(|event| before.contains(&event)) {
            true => Ok(()),
            false => {
                Err("--joint does not model close while another thread may be blocked on the \
                          socket"
                    .into())
            }
        }
    }

    /// Answers a request, and records the answer.
    fn settle(&mut self, thread: u64, step: usize, request: Request, way: Way) -> Reply {
        let Way { past, broken, answer } = way;
        let act = Act { request, answer };
        let execution = &mut self.execution;
        let mut reply = Reply { ways: 1, ..Reply::never() };
        reply.granted = match &act.answer {
            Answer::Done => Granted::Done,
            Answer::Bytes(bytes) => {
                reply.bytes.clone_from(bytes);
                Granted::Bytes
            }
            Answer::Datagram { from, bytes } => {
                reply.bytes.clone_from(bytes);
                reply.handle = u32::from(*from);
                Granted::Bytes
            }
            Answer::Accepted(_) => Granted::Accepted,
            Answer::End => Granted::End,
            Answer::Reset => Granted::Reset,
            Answer::Lost => Granted::Lost,
            Answer::Refused => Granted::Refused,
            Answer::Nothing => Granted::Nothing,
            Answer::Ready(found) => {
                reply.bytes = found.iter().map(|found| sight(*found) as u8).collect();
                Granted::Ready
            }
            Answer::Never => Granted::Never,
        };
        match (&act.request, &act.answer) {
            (_, Answer::Never) => {
                execution.waiting.insert(thread);
            }
            (Request::Bind { port, .. }, _) => reply.handle = u32::from(*port),
            (Request::Listen { port, .. }, _) => {
                reply.handle = execution.listeners.len() as u32;
                execution.listeners.push(*port);
            }
            (Request::Connect(link), Answer::Done) | (_, Answer::Accepted(link)) => {
                reply.handle = execution.links.len() as u32;
                execution.links.push(*link);
            }
            _ => {}
        }
        let event = lock(&self.programs).side_mut(self.side).event(thread, act, past);
        execution.log.extend(broken.map(|broken| (step, broken)));
        execution.log.push((step, event));
        reply
    }

    /// What the execution showed to the others. If its process ended, that closed whatever was
    /// open.
    pub(crate) fn finish(&mut self, has_ended: bool) -> Result<Shown, String> {
        let execution = std::mem::take(&mut self.execution);
        let mut programs = lock(&self.programs);
        let side = programs.side_mut(self.side);
        let mut events: Vec<EventId> = execution.log.iter().map(|&(_, event)| event).collect();
        events.sort_unstable();
        let mut all = match side.breaks_too_often(&events) {
            true => Vec::new(),
            false => [vec![events.clone()], side.broken_in_the_end(&events)].concat(),
        };
        if has_ended && !execution.is_cut {
            all = all.into_iter().map(|events| side.let_go(events)).collect();
            events = side.let_go(events);
        }
        let act = |&event: &EventId| &side.get(event).act;
        for &broken in &events {
            let link = act(&broken).request.links().next();
            let (Answer::Reset, Some(link)) = (&act(&broken).answer, link) else { continue };
            let is_apart = |&other: &EventId| {
                act(&other).request.links().any(|on| on == link)
                    && other != broken
                    && !side.get(broken).past.contains(&other)
                    && !side.get(other).past.contains(&broken)
            };
            if events.iter().any(is_apart) {
                return Err("--joint does not model which of two threads that use a connection \
                            while it is reset gets the error"
                    .into());
            }
        }
        let Execution { is_cut, script, log, chosen, .. } = execution;
        Ok(Shown { events: all, is_cut, script, log, chosen })
    }
}
