//! The `Context` of handlers in a simulation: links with delay, jitter and loss.

use super::faults::{Fate, Strike, Trouble};
use super::meter::Meter;
use super::queue::Queue;
use super::random::{Random, Stream};
use super::settings::nanos;
use super::timers::Timers;
use super::{Nanos, Settings};
use crate::outbox::no_neighbour;
use crate::{Context, Envelope, NodeId, Protocol, Report, Topology};
use std::time::Duration;

/// What can happen.
pub(super) enum Event<P: Protocol> {
    /// A packet arrives.
    Arrive {
        /// The node that sent it.
        from: NodeId,
        /// The node that it reaches.
        to: NodeId,
        /// The packet.
        packet: P::Packet,
    },
    /// The turn of a timer has come.
    Fire(NodeId, P::Timer),
    /// All pairs are prepared again.
    Renew,
    /// The pair with this number sends data.
    Send(usize),
    /// Some node fails.
    Fail,
    /// A fault happens.
    Strike(Strike),
}

/// Everything between and around the nodes: links, timers, time, and who measures.
pub(super) struct Medium<'a, P: Protocol> {
    topology: &'a Topology,
    links: Links,
    /// The time.
    pub(super) now: Nanos,
    /// What is going to happen.
    pub(super) queue: Queue<Event<P>>,
    /// The timers, by node.
    pub(super) timers: Vec<Timers<P::Timer>>,
    /// What is counted.
    pub(super) meter: Meter,
    /// What links have lost since somebody looked, for a log.
    pub(super) lost: Option<Vec<Envelope<P::Packet>>>,
    /// What a fault has doubled since then.
    pub(super) doubled: Vec<Envelope<P::Packet>>,
    /// What faults have done.
    pub(super) trouble: Trouble,
    /// The state that only the specification sees.
    pub(super) ghost: P::Ghost,
    /// What handlers choose.
    choices: Random,
}

/// How links treat packets.
struct Links {
    delay: Nanos,
    jitter: Nanos,
    loss: f64,
    random: Random,
}

impl Links {
    /// How long a packet takes; `None` if it is lost.
    fn cross(&mut self) -> Option<Nanos> {
        if self.loss > 0.0 && self.random.chance(self.loss) {
            return None;
        }
        let extra = if self.jitter > 0 { self.random.below(self.jitter + 1) } else { 0 };
        Some(self.delay + extra)
    }
}

impl<'a, P: Protocol> Medium<'a, P> {
    pub(super) fn new(topology: &'a Topology, settings: &Settings) -> Self {
        let nodes = usize::from(topology.nodes());
        Medium {
            topology,
            links: Links {
                delay: nanos(settings.delay),
                jitter: nanos(settings.jitter),
                loss: settings.loss,
                random: Random::new(settings.seed, Stream::Links),
            },
            now: 0,
            queue: Queue::new(),
            timers: (0..nodes).map(|_| Timers::new()).collect(),
            meter: Meter::new(nodes),
            lost: None,
            doubled: Vec::new(),
            trouble: Trouble::new(settings),
            ghost: P::Ghost::default(),
            choices: Random::new(settings.seed, Stream::Choices),
        }
    }

    /// Lets an event happen after a while.
    pub(super) fn after(&mut self, delay: Nanos, event: Event<P>) {
        let moment = self.queue.moment(self.now.saturating_add(delay));
        self.queue.put(moment, event);
    }

    /// The context of a node's handlers.
    pub(super) fn port(&mut self, id: NodeId) -> Port<'_, 'a, P> {
        Port { id, medium: self }
    }

    /// Puts a packet on the link between two nodes.
    fn carry(&mut self, from: NodeId, to: NodeId, packet: P::Packet) {
        self.meter.counts.sent += 1;
        let fate = self.trouble.fate(from, to);
        if fate == Fate::Parted {
            // A partition leaves no packet that could be lost.
            self.meter.counts.lost += 1;
            return;
        }
        if fate == Fate::Duplicated {
            self.meter.counts.sent += 1;
            self.meter.counts.duplicated += 1;
            if self.lost.is_some() {
                self.doubled.push(Envelope { from, to, packet: packet.clone() });
            }
            self.cross(from, to, packet.clone());
        }
        match fate {
            Fate::Lost => self.lose(from, to, packet),
            _ => self.cross(from, to, packet),
        }
    }

    /// Lets a packet cross a link, if the link does not lose it.
    fn cross(&mut self, from: NodeId, to: NodeId, packet: P::Packet) {
        match self.links.cross() {
            Some(delay) => self.after(delay, Event::Arrive { from, to, packet }),
            None => self.lose(from, to, packet),
        }
    }

    fn lose(&mut self, from: NodeId, to: NodeId, packet: P::Packet) {
        self.meter.counts.lost += 1;
        self.lost.iter_mut().for_each(|lost| {
            lost.push(Envelope { from, to, packet: packet.clone() });
        });
    }
}

/// What the handlers of one node act on.
pub(super) struct Port<'m, 'a, P: Protocol> {
    id: NodeId,
    medium: &'m mut Medium<'a, P>,
}

impl<P: Protocol> Context<P> for Port<'_, '_, P> {
    fn id(&self) -> NodeId {
        self.id
    }

    fn neighbours(&self) -> &[NodeId] {
        self.medium.topology.neighbours(self.id)
    }

    fn send(&mut self, to: NodeId, packet: P::Packet) {
        let near = self.neighbours().binary_search(&to).is_ok();
        assert!(near, "{}", no_neighbour(self.id, to));
        self.medium.meter.transmitted(P::is_data(&packet));
        self.medium.carry(self.id, to, packet);
    }

    /// One transmission, however many hear it; each may lose it on its own.
    fn broadcast(&mut self, packet: P::Packet) {
        self.medium.meter.transmitted(P::is_data(&packet));
        let topology = self.medium.topology;
        for &to in topology.neighbours(self.id) {
            self.medium.carry(self.id, to, packet.clone());
        }
    }

    fn choose(&mut self, among: u32) -> u32 {
        assert!(among > 0, "a handler chooses among nothing");
        self.medium.choices.below(among.into()) as u32
    }

    fn ghost(&mut self, change: impl FnOnce(&mut P::Ghost)) {
        change(&mut self.medium.ghost);
    }

    fn set(&mut self, timer: P::Timer, delay: Duration) {
        let Medium { queue, timers, now, .. } = &mut *self.medium;
        let due = queue.moment(now.saturating_add(nanos(delay)));
        if timers[usize::from(self.id)].set(timer.clone(), due) {
            queue.put(due, Event::Fire(self.id, timer));
        }
    }

    fn cancel(&mut self, timer: &P::Timer) {
        self.medium.timers[usize::from(self.id)].cancel(timer);
    }

    fn report(&mut self, report: Report) {
        self.medium.meter.report(self.id, report, self.medium.now);
    }
}
