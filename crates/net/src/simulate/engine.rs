//! The event loop of the discrete-event simulation.

use super::check::{Check, Checker, Flying, State};
use super::faults::Strike;
use super::medium::{Event, Medium};
use super::random::{Random, Stream};
use super::settings::nanos;
use super::timers::Turn;
use super::{Arrivals, Nanos, Run, Settings, Sources, Traffic, Violation};
use crate::faults::Fault;
use crate::{Action, Cause, Envelope, FaultState, NodeId, Nodes, Options, Protocol, Scenario};
use everypath_explore::panic_capture;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

/// How many events happen before it is asked again whether to go on.
const ASK: u64 = 4096;

/// Simulates a protocol once.
///
/// The same options and settings give the same run, on every machine. A panic of a handler ends
/// the run and is an error of the protocol.
pub fn simulate<P: Traffic>(options: &Options, settings: &Settings) -> Result<Run, Panicked> {
    let run = simulate_while::<P>(options, settings, &|_| true)?;
    Ok(run.expect("nothing stops it before its end"))
}

/// Simulates a protocol once, as long as `go_on` says so; `None` if it was stopped.
///
/// It is asked time and again, and told how many events happened since it was asked last.
pub fn simulate_while<P: Traffic>(
    options: &Options,
    settings: &Settings,
    go_on: &dyn Fn(u64) -> bool,
) -> Result<Option<Run>, Panicked> {
    run(Simulation::<P>::new(options, settings), go_on)
}

/// The same for a protocol that can be explored: its properties are checked after every event, and so
/// is that [`Protocol::timers`](crate::Protocol::timers) agrees with what was set.
///
/// The first violation is part of the result; the run goes on.
pub fn simulate_checked<P: Scenario + Traffic>(
    options: &Options,
    settings: &Settings,
    go_on: &dyn Fn(u64) -> bool,
) -> Result<Option<Run>, Panicked> {
    let checker = Checker::<P>::new(options);
    let check =
        |state: (State<P>, &FaultState), flying: Flying<'_, P>| checker.check(state, flying);
    let simulation = Simulation::<P>::new(options, settings);
    run(Simulation { check: Some(&check), ..simulation }, go_on)
}

/// Simulates a protocol once and tells `write` of every event, after Sobeih (2008), figure 6.1.
pub fn simulate_logged<P: Scenario + Traffic>(
    options: &Options,
    settings: &Settings,
    write: &mut dyn FnMut(LogLine),
) -> Result<(), Panicked> {
    let protocol = P::build(options);
    let write = RefCell::new(write);
    let log = |time: Nanos, id: NodeId, what: Logged<'_, P>| {
        let time = Duration::from_nanos(time);
        let line = |event, text, received| {
            let actor = protocol.name(id);
            (write.borrow_mut())(LogLine { time, node: id, actor, event, text, received });
        };
        match what {
            Logged::Event(node, cause) => {
                let received = match &cause {
                    Cause::Packet(_, packet) => Some(packet.to_string()),
                    _ => None,
                };
                let event = event_of::<P>(&cause).unwrap_or_default();
                line(event, protocol.describe(id, node, cause), received);
            }
            Logged::Lost(envelope) => {
                // A protocol that cannot lose packets when it is explored keeps them in flight there.
                let text = format!("{} is lost", protocol.describe_packet(&envelope));
                loss_of::<P>(&envelope.packet)
                    .into_iter()
                    .for_each(|event| line(event, text.clone(), None));
            }
            Logged::Doubled(envelope) => {
                let text = format!("{} is duplicated", protocol.describe_packet(&envelope));
                fault_of::<P>(Strike::Duplicate)
                    .into_iter()
                    .for_each(|e| line(e, text.clone(), None));
            }
            Logged::Struck(strike) => {
                let text = match strike {
                    Strike::Crash => format!("{} stops for good", protocol.name(id)),
                    Strike::Part => "the network falls into two parts".into(),
                    _ => "the network is whole again".into(),
                };
                fault_of::<P>(strike).into_iter().for_each(|event| line(event, text.clone(), None));
            }
        }
    };
    let mut simulation = Simulation::<P>::new(options, settings);
    simulation.medium.lost = Some(Vec::new());
    run(Simulation { log: Some(&log), ..simulation }, &|_| true).map(|_| ())
}

/// The name of the event that a handler runs for.
fn event_of<P: Scenario>(cause: &Cause<P>) -> Option<&'static str> {
    let is = |event: u16| match (P::action(event), cause) {
        (Action::Deliver(kind), Cause::Packet(_, packet)) => kind.is(packet),
        (Action::Fire(kind), Cause::Timer(timer)) => kind(timer),
        (Action::Command, Cause::Command(_)) | (Action::Reboot, Cause::Reboot) => true,
        _ => false,
    };
    (0..).zip(P::EVENTS).find(|(event, _)| is(*event)).map(|(_, kind)| kind.name)
}

/// The name of the event that loses a packet.
fn loss_of<P: Scenario>(packet: &P::Packet) -> Option<&'static str> {
    let is = |event: u16| matches!(P::action(event), Action::Lose(kind) if kind.is(packet));
    (0..).zip(P::EVENTS).find(|(event, _)| is(*event)).map(|(_, kind)| kind.name)
}

/// The name of the event that is such a fault.
fn fault_of<P: Scenario>(strike: Strike) -> Option<&'static str> {
    let is = |event: u16| {
        matches!(
            (P::action(event), strike),
            (Action::Duplicate, Strike::Duplicate)
                | (Action::Crash, Strike::Crash)
                | (Action::Partition, Strike::Part)
                | (Action::Heal, Strike::Heal)
        )
    };
    (0..).zip(P::EVENTS).find(|(event, _)| is(*event)).map(|(_, kind)| kind.name)
}

/// What happened in a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// When, in simulated time.
    pub time: Duration,
    /// At which node.
    pub node: NodeId,
    /// Its name.
    pub actor: String,
    /// The name of the event; empty if the protocol has none for it.
    pub event: &'static str,
    /// What it did.
    pub text: String,
    /// The packet that the node has received, if it was one.
    pub received: Option<String>,
}

/// What a log is told.
enum Logged<'a, P: Protocol> {
    /// A handler of a node is about to run.
    Event(&'a P::Node, Cause<P>),
    /// A packet to the node is lost.
    Lost(Envelope<P::Packet>),
    /// A packet to the node will arrive once more.
    Doubled(Envelope<P::Packet>),
    /// The node crashes, or is the first of those that a partition cuts off.
    Struck(Strike),
}

/// Who is told of every event, before its handler runs, and of every packet that is lost.
type Log<'a, P> = &'a dyn Fn(Nanos, NodeId, Logged<'_, P>);

fn run<P: Traffic>(
    mut simulation: Simulation<'_, P>,
    go_on: &dyn Fn(u64) -> bool,
) -> Result<Option<Run>, Panicked> {
    match panic_capture::run(|| simulation.go(go_on)) {
        Ok(finished) => Ok(finished.then(|| simulation.finish())),
        Err(message) => Err(Panicked {
            node: simulation.current,
            time: Duration::from_nanos(simulation.medium.now),
            message,
        }),
    }
}

/// A handler has panicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panicked {
    /// At which node.
    pub node: NodeId,
    /// When, in simulated time.
    pub time: Duration,
    /// Where, and why.
    pub message: String,
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a handler of node {} {} s after the start ",
            self.node,
            self.time.as_secs_f64()
        )?;
        f.write_str(&self.message)
    }
}

impl std::error::Error for Panicked {}

/// The nodes, and what is around them.
struct Simulation<'a, P: Traffic> {
    protocol: P,
    settings: &'a Settings,
    nodes: Nodes<P::Node>,
    /// What is checked after every event, until the first violation.
    check: Option<Check<'a, P>>,
    log: Option<Log<'a, P>>,
    violation: Option<Violation>,
    medium: Medium<'a, P>,
    pairs: Vec<(NodeId, NodeId)>,
    arrivals: Random,
    failures: Random,
    /// The node whose handler runs, or ran last.
    current: NodeId,
}

impl<'a, P: Traffic> Simulation<'a, P> {
    fn new(options: &'a Options, settings: &'a Settings) -> Self {
        let protocol = P::build(options);
        let nodes = options.topology.nodes();
        let pairs = match protocol.sources() {
            Sources::Any => random_pairs(nodes, settings),
            Sources::Fixed(pairs) => pairs,
            Sources::Own => Vec::new(),
        };
        Simulation {
            protocol,
            settings,
            nodes: Nodes::from_iter([]),
            check: None,
            log: None,
            violation: None,
            medium: Medium::new(&options.topology, settings),
            pairs,
            arrivals: Random::new(settings.seed, Stream::Arrivals),
            failures: Random::new(settings.seed, Stream::Failures),
            current: 0,
        }
    }

    /// Starts all nodes and goes on to the end; whether it came there.
    fn go(&mut self, go_on: &dyn Fn(u64) -> bool) -> bool {
        for id in 0..self.medium.timers.len() as NodeId {
            self.enter(id);
            let node = self.protocol.start(&mut self.medium.port(id));
            self.nodes.push(node);
        }
        (0..self.nodes.len() as NodeId).for_each(|id| self.review(id));
        self.prepare();
        for pair in 0..self.pairs.len() {
            let phase = match self.settings.arrivals {
                Arrivals::Constant => self.arrivals.below(nanos(self.settings.interval).max(1)),
                Arrivals::Poisson => self.until_next(),
            };
            self.medium.after(phase, Event::Send(pair));
        }
        self.schedule_failure();
        for (moment, strike) in self.medium.trouble.plan(self.settings) {
            self.medium.after(moment, Event::Strike(strike));
        }
        let end = nanos(self.settings.duration);
        let mut asked = 0;
        while let Some((moment, event)) = self.medium.queue.take(end) {
            let events = self.medium.meter.counts.events;
            if events >= asked + ASK {
                if !go_on(events - asked) {
                    return false;
                }
                asked = events;
            }
            self.medium.now = moment.time;
            match event {
                Event::Fire(id, _) | Event::Arrive { to: id, .. } if !self.is_up(id) => {
                    let lost = matches!(event, Event::Arrive { .. });
                    self.medium.meter.counts.lost += u64::from(lost);
                }
                Event::Fire(id, timer) => {
                    match self.medium.timers[usize::from(id)].turn(&timer, moment) {
                        Turn::Fire => self.fire(id, timer),
                        Turn::Later(due) => self.medium.queue.put(due, Event::Fire(id, timer)),
                        Turn::Stopped => {}
                    }
                }
                Event::Arrive { from, to, packet } => self.receive(to, from, packet),
                Event::Renew => self.prepare(),
                Event::Send(pair) => self.send(pair),
                Event::Fail => self.fail(),
                Event::Strike(strike) => self.strike(strike),
            }
        }
        true
    }

    fn is_up(&self, id: NodeId) -> bool {
        self.medium.trouble.state.is_up(id)
    }

    /// A fault happens.
    fn strike(&mut self, strike: Strike) {
        let nodes = self.nodes.len();
        let id = match strike {
            Strike::Lose | Strike::Duplicate => {
                return self.medium.trouble.strike_packet(strike);
            }
            Strike::Reboot | Strike::Crash => match self.medium.trouble.victim(nodes) {
                Some(id) => id,
                None => return,
            },
            Strike::Part => {
                self.medium.meter.counts.partitions += 1;
                self.medium.trouble.part(nodes)
            }
            Strike::Heal => {
                self.medium.trouble.state.heal();
                0
            }
        };
        if strike == Strike::Reboot {
            self.medium.trouble.state.happens(Fault::Reboot);
            return self.reboot(id);
        }
        if strike == Strike::Crash {
            self.medium.trouble.state.crash(id);
            self.medium.meter.counts.crashes += 1;
        }
        self.current = id;
        if let Some(log) = self.log {
            log(self.medium.now, id, Logged::Struck(strike));
        }
        self.review(id);
    }

    /// A handler of a node is about to run.
    fn enter(&mut self, id: NodeId) {
        self.current = id;
        self.medium.meter.counts.events += 1;
    }

    /// Tells who keeps a log that a handler is about to run, and why.
    fn note(&self, id: NodeId, cause: impl FnOnce() -> Cause<P>) {
        if let Some(log) = self.log {
            log(self.medium.now, id, Logged::Event(&self.nodes[usize::from(id)], cause()));
        }
    }

    /// Tells who keeps a log of the packets that were lost since the last time.
    fn note_losses(&mut self) {
        let Some(log) = self.log else { return };
        for lost in self.medium.lost.iter_mut().flat_map(|lost| lost.drain(..)) {
            log(self.medium.now, lost.to, Logged::Lost(lost));
        }
        for doubled in self.medium.doubled.drain(..) {
            log(self.medium.now, doubled.to, Logged::Doubled(doubled));
        }
    }

    fn receive(&mut self, id: NodeId, from: NodeId, packet: P::Packet) {
        self.medium.meter.counts.arrived += 1;
        self.note(id, || Cause::Packet(from, packet.clone()));
        self.enter(id);
        let node = self.nodes.change(id);
        self.protocol.receive(node, from, packet, &mut self.medium.port(id));
        self.review(id);
    }

    fn fire(&mut self, id: NodeId, timer: P::Timer) {
        self.note(id, || Cause::Timer(timer.clone()));
        self.enter(id);
        let node = self.nodes.change(id);
        self.protocol.fire(node, timer, &mut self.medium.port(id));
        self.review(id);
    }

    fn command(&mut self, id: NodeId, command: P::Command) {
        self.note(id, || Cause::Command(command.clone()));
        self.enter(id);
        let node = self.nodes.change(id);
        self.protocol.command(node, command, &mut self.medium.port(id));
        self.review(id);
    }

    /// Checks what must be true after an event at a node.
    fn review(&mut self, id: NodeId) {
        self.note_losses();
        let Some(check) = self.check else { return };
        let active = self.protocol.timers(&self.nodes[usize::from(id)]);
        let violated = if self.medium.timers[usize::from(id)].are(active) {
            let nodes = std::mem::replace(&mut self.nodes, Nodes::from_iter([]));
            let ghost = std::mem::take(&mut self.medium.ghost);
            let queue = &self.medium.queue;
            let flying = || -> Vec<Envelope<P::Packet>> {
                let packet = |event: &Event<P>| match event {
                    Event::Arrive { from, to, packet } => {
                        Some(Envelope { from: *from, to: *to, packet: packet.clone() })
                    }
                    _ => None,
                };
                queue.iter().filter_map(packet).collect()
            };
            let faults = &self.medium.trouble.state;
            let ((nodes, ghost), violated) = check(((nodes, ghost), faults), &flying);
            self.nodes = nodes;
            self.medium.ghost = ghost;
            violated
        } else {
            let message = format!(
                "the timers that are active in the state of node {id} are not those that its handlers \
                 have set"
            );
            Some(("timers".into(), message))
        };
        if let Some((property, message)) = violated {
            let time = Duration::from_nanos(self.medium.now);
            self.violation = Some(Violation { property, message, node: id, time });
            self.check = None;
        }
    }

    /// Everyone is asked what must come before data, and will be again.
    fn prepare(&mut self) {
        for (from, to) in self.pairs.clone() {
            if let Some((id, command)) = self.protocol.prepare(from, to)
                && self.is_up(id)
            {
                self.command(id, command);
            }
        }
        if let Some(renewal) = self.protocol.renewal() {
            self.medium.after(nanos(renewal).max(1), Event::Renew);
        }
    }

    /// The application of a pair sends data, and will again.
    fn send(&mut self, pair: usize) {
        let (from, to) = self.pairs[pair];
        if !self.is_up(from) {
            return;
        }
        let number = self.medium.meter.offer(from, self.medium.now);
        let next = self.until_next();
        self.medium.after(next, Event::Send(pair));
        if let Some(command) = self.protocol.data(from, to, number) {
            self.command(from, command);
        }
    }

    /// How long it is to the next data of a pair; never nothing, or time would stand still.
    fn until_next(&mut self) -> Nanos {
        let interval = nanos(self.settings.interval);
        let next = match self.settings.arrivals {
            Arrivals::Constant => interval,
            Arrivals::Poisson => self.arrivals.exponential(interval),
        };
        next.max(1)
    }

    /// Some node reboots.
    fn fail(&mut self) {
        let id = self.failures.below(self.nodes.len() as u64) as NodeId;
        if self.is_up(id) {
            self.reboot(id);
        }
        self.schedule_failure();
    }

    fn reboot(&mut self, id: NodeId) {
        self.medium.timers[usize::from(id)].clear();
        self.medium.meter.rebooted(id);
        self.note(id, || Cause::Reboot);
        self.enter(id);
        let node = self.nodes.change(id);
        self.protocol.reboot(node, &mut self.medium.port(id));
        self.review(id);
    }

    fn schedule_failure(&mut self) {
        if let Some(between) = self.settings.between_failures(self.nodes.len()) {
            let next = self.failures.exponential(between).max(1);
            self.medium.after(next, Event::Fail);
        }
    }

    fn finish(self) -> Run {
        let under_way = |event: &&Event<P>| matches!(event, Event::Arrive { .. });
        let in_flight = self.medium.queue.iter().filter(under_way).count() as u64;
        let run = self.medium.meter.finish(self.settings.duration, in_flight);
        Run { violation: self.violation, ..run }
    }
}

/// Different pairs of different nodes, all equally likely, by Floyd's sampling (1987).
fn random_pairs(nodes: NodeId, settings: &Settings) -> Vec<(NodeId, NodeId)> {
    let others = u64::from(nodes).saturating_sub(1);
    let all = u64::from(nodes) * others;
    let wanted = all.min(settings.flows as u64);
    let mut random = Random::new(settings.seed, Stream::Pairs);
    let mut chosen = BTreeSet::new();
    for last in all - wanted..all {
        let drawn = random.below(last + 1);
        if !chosen.insert(drawn) {
            chosen.insert(last);
        }
    }
    let pair = |number: u64| {
        let (from, other) = (number / others, number % others);
        (from as NodeId, (other + u64::from(other >= from)) as NodeId)
    };
    chosen.into_iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_of_different_nodes_and_none_comes_twice() {
        for (nodes, flows, expected) in [(2, 1, 1), (2, 9, 2), (5, 20, 20), (40, 15, 15), (1, 3, 0)]
        {
            let pairs = random_pairs(nodes, &Settings { flows, ..Settings::default() });
            assert_eq!(pairs.len(), expected);
            assert!(pairs.iter().all(|(from, to)| from != to && *from < nodes && *to < nodes));
            assert!(pairs.is_sorted_by(|a, b| a < b));
        }
    }
}
