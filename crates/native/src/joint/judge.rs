//! Which combinations of histories are violations.

use super::JointSearch;
use crate::execution::Execution;
use everypath_commtree::joint::{
    Act, Answer, Combination, Linearised, Link, Performed, Port, Request, Side, Watched,
};
use everypath_shim_abi::{IdleMode, Outcome};
use everypath_trace::Control;

/// How an execution ended, as histories remember it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) outcome: Outcome,
    pub(super) detail: i32,
    /// Whether it was stopped because its history was too long.
    pub(super) is_cut: bool,
}

/// The ends that tell something of a program.
const ENDS: [Outcome; 10] = [
    Outcome::Exited,
    Outcome::Signalled,
    Outcome::Aborted,
    Outcome::Assertion,
    Outcome::Panicked,
    Outcome::Deadlock,
    Outcome::Idle,
    Outcome::Livelock,
    Outcome::Unaccepted,
    Outcome::HeapMisuse,
];

impl End {
    pub(super) fn to_word(self) -> u64 {
        let place = ENDS.iter().position(|end| *end == self.outcome).unwrap_or(ENDS.len()) as u64;
        u64::from(self.is_cut) << 40 | place << 32 | u64::from(self.detail as u32)
    }

    fn from_word(word: u64) -> Option<Self> {
        let outcome = *ENDS.get((word >> 32 & 0xff) as usize)?;
        Some(End { outcome, detail: word as u32 as i32, is_cut: word >> 40 != 0 })
    }
}

/// The code that a history ends with, if its process exits; none at all if it was stopped.
pub(super) fn exit_code(word: u64) -> Option<Option<i32>> {
    let end = End::from_word(word).filter(|end| !end.is_cut)?;
    Some((end.outcome == Outcome::Exited).then_some(end.detail))
}

/// How a history ends, as far as others see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The process ends.
    Ended,
    /// It waits for ever.
    Waiting,
    /// It was stopped because it had too many events.
    Cut,
}

impl Finish {
    /// What the end of a history says.
    pub fn of(word: u64) -> Self {
        match End::from_word(word) {
            Some(End { is_cut: true, .. }) => Finish::Cut,
            Some(End { outcome, .. }) if !has_ended(outcome) => Finish::Waiting,
            _ => Finish::Ended,
        }
    }

    /// The end of a history that ends so, and of which nothing else is known.
    pub fn to_word(self) -> u64 {
        let outcome = if self == Finish::Ended { Outcome::Exited } else { Outcome::Idle };
        End { outcome, detail: 0, is_cut: self == Finish::Cut }.to_word()
    }
}

/// Whether a process that ended so is gone.
pub(super) fn has_ended(outcome: Outcome) -> bool {
    !matches!(outcome, Outcome::Deadlock | Outcome::Idle | Outcome::Livelock)
}

/// Why an execution says nothing about its program, if it does not.
pub(super) fn check(outcome: Outcome, execution: impl Fn() -> Execution) -> Result<(), String> {
    match outcome {
        Outcome::TooLong => {
            Err("an execution does not end; if programs send each other messages for ever, \
             --max-depth bounds them"
                .into())
        }
        Outcome::Hang => Err("a thread runs without ever reaching a scheduling point".into()),
        known if ENDS.contains(&known) => Ok(()),
        _ => Err(execution().text),
    }
}

/// Somewhere where no program ever is, although one asks for somebody there.
pub(super) enum Deserted {
    /// To connect.
    Connection(Link),
    /// To send a datagram: the side, and the port.
    Datagram(usize, u16),
}

impl Deserted {
    /// The request without a server, and its program.
    pub(super) fn text(&self, names: &[&str]) -> String {
        match self {
            Deserted::Connection(Link { side, port, .. }) => {
                let name = names[*side];
                format!(
                    "{name} connects to {port}, on which no program listens; name the one that \
                     does with --with, or correct the {}",
                    if port.is_unix() { "name" } else { "port" }
                )
            }
            Deserted::Datagram(side, port) => format!(
                "{} sends a datagram to port {port}, to which no program is bound; name the one \
                 that is with --with, or correct the port",
                names[*side]
            ),
        }
    }
}

/// A place where no program ever is, if one is asked for.
pub(super) fn deserted(sides: &[Side]) -> Option<Deserted> {
    let acts = |(number, side): (usize, &'_ Side)| {
        let histories = side.histories().iter().map(|&history| side.history(history));
        let events = histories.flat_map(|history| history.events.iter());
        events.map(|&event| (number, side.get(event).act.request.clone())).collect::<Vec<_>>()
    };
    let requests: Vec<(usize, Request)> = sides.iter().enumerate().flat_map(acts).collect();
    let listened = |at: Port| {
        requests
            .iter()
            .any(|(_, request)| matches!(request, Request::Listen { port, .. } if *port == at))
    };
    let bound = |at: u16| {
        requests
            .iter()
            .any(|(_, request)| matches!(request, Request::Bind { port, .. } if *port == at))
    };
    requests.iter().find_map(|(side, request)| match request {
        Request::Connect(link) if !listened(link.port) => Some(Deserted::Connection(*link)),
        Request::SendTo { to, .. } if !bound(*to) => Some(Deserted::Datagram(*side, *to)),
        _ => None,
    })
}

/// What can be said of histories of all programs.
pub(super) enum Judged {
    /// They are as they should be, or do not happen together.
    Fine,
    /// Something is wrong, if they happen together, which is not known.
    Unsettled,
    /// Nobody knows how they go on.
    Open {
        /// Why.
        reason: String,
    },
    /// Something is wrong.
    Wrong {
        /// The program that shows it.
        program: usize,
        /// What happened, in order.
        order: Vec<Performed>,
        /// Whether nobody can go on.
        is_stuck: bool,
    },
}

/// Knows what is expected of programs.
pub(super) struct Judge<'a> {
    pub(super) search: &'a JointSearch,
    pub(super) control: &'a Control,
}

impl Judge<'_> {
    pub(super) fn judge(&self, combination: &Combination<'_>, sides: &[Side]) -> Judged {
        let histories = || sides.iter().zip(combination.histories);
        let ends: Option<Vec<End>> =
            histories().map(|(side, &history)| End::from_word(side.history(history).end)).collect();
        let Some(ends) = ends else { return Judged::Fine };
        let waits: Vec<Waits> = histories()
            .map(|(side, &history)| Waits::of(side, &side.history(history).events))
            .collect();
        let is_stopped = || self.control.stopped();
        // What the environment does is given.
        for (program, end) in ends.iter().enumerate().take(self.search.programs.len()) {
            if !end.is_cut && self.fails(program, *end, waits[program]) {
                match combination.linearise(|side| side == program, false, &is_stopped) {
                    Linearised::Impossible => {}
                    Linearised::Unsettled => return Judged::Unsettled,
                    Linearised::Possible(order) => {
                        return Judged::Wrong { program, order, is_stuck: false };
                    }
                }
            }
        }
        if ends.iter().any(|end| end.is_cut) {
            return Judged::Fine;
        }
        let kept: Vec<Option<u16>> = histories()
            .map(|(side, &history)| kept_from_sending(side, &side.history(history).events))
            .collect();
        let listens: Vec<bool> = histories()
            .map(|(side, &history)| listens(side, &side.history(history).events))
            .collect();
        let stuck = self.stuck(&ends, &waits, &listens);
        if stuck.is_none() && kept.iter().all(Option::is_none) {
            return Judged::Fine;
        }
        match (combination.linearise(|_| true, true, &is_stopped), stuck) {
            (Linearised::Impossible, _) => Judged::Fine,
            (Linearised::Unsettled, _) => Judged::Unsettled,
            (Linearised::Possible(_), _) if kept.iter().any(Option::is_some) => {
                let port = kept.into_iter().flatten().next().unwrap_or_default();
                Judged::Open { reason: never_taken(port) }
            }
            (Linearised::Possible(order), Some(program)) => {
                Judged::Wrong { program, order, is_stuck: true }
            }
            (Linearised::Possible(_), None) => Judged::Fine,
        }
    }

    /// Whether a program fails, whatever the others do after that.
    fn fails(&self, program: usize, end: End, waits: Waits) -> bool {
        let setup = &self.search.programs[program].1.setup;
        match end.outcome {
            Outcome::Exited if program == 0 => end.detail != setup.exit_code,
            Outcome::Exited => !setup.others_may_exit_with(end.detail),
            // A request that waits for nothing outside cannot be unblocked from there.
            Outcome::Deadlock | Outcome::Idle => waits == Waits::Nobody,
            _ => true,
        }
    }

    /// If nobody can go on, the program that should not have to wait.
    fn stuck(&self, ends: &[End], waits: &[Waits], listens: &[bool]) -> Option<usize> {
        let idle = self.search.programs[0].1.setup.idle;
        // Servers wait for more for as long as nobody ends them.
        let rests = |program: &usize| match ends[*program].outcome {
            Outcome::Exited => true,
            Outcome::Idle => listens[*program] || idle == IdleMode::Fine,
            _ => false,
        };
        let disturbed = (1..ends.len()).find(|program| !rests(program));
        match (ends[0].outcome, idle) {
            (Outcome::Exited, _) | (Outcome::Idle, IdleMode::Fine) => disturbed,
            (Outcome::Idle, IdleMode::Automatic) if waits[0] == Waits::Connections => disturbed,
            _ => Some(0),
        }
    }
}

/// What those threads of a program wait for that wait for other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    /// There are none.
    Nobody,
    /// Only for somebody to connect, or for datagrams of anybody.
    Connections,
    /// For connections to be possible, or bytes to come.
    More,
}

impl Waits {
    fn of(side: &Side, events: &[u32]) -> Self {
        let acts = events.iter().map(|&event| &side.get(event).act);
        let mut waits = Waits::Nobody;
        for act in acts.filter(|act| act.answer == Answer::Never) {
            let is_for_connections = match &act.request {
                Request::Accept { .. } => true,
                Request::ReceiveFrom { port, .. } => takes_all(side, events, *port),
                Request::Look { at, .. } => at.iter().all(|it| match it {
                    Watched::Connections { .. } => true,
                    Watched::Datagrams { port } => takes_all(side, events, *port),
                    Watched::Bytes { .. } => false,
                }),
                _ => false,
            };
            waits = match waits {
                Waits::Nobody | Waits::Connections if is_for_connections => Waits::Connections,
                _ => Waits::More,
            };
        }
        waits
    }
}

/// Whether a program takes datagrams of anybody at a port in the end.
fn takes_all(side: &Side, events: &[u32], at: u16) -> bool {
    let binds = events.iter().rev().map(|&event| &side.get(event).act.request);
    let mut binds = binds.filter_map(|request| match request {
        Request::Bind { port, only } if *port == at => Some(only.is_none()),
        Request::Unbind { port } if *port == at => Some(false),
        _ => None,
    });
    binds.next().unwrap_or(false)
}

/// Whether a program that waits can be reached by anybody, and none of its threads is kept from
/// reaching another one.
fn listens(side: &Side, events: &[u32]) -> bool {
    let acts = || events.iter().map(|&event| &side.get(event).act);
    let is_kept = |act: &Act| {
        act.answer == Answer::Never
            && matches!(act.request, Request::Connect(_) | Request::SendTo { .. })
    };
    let is_open = |act: &Act| match &act.request {
        Request::Listen { port, .. } => {
            let gone = Request::Unlisten { port: *port };
            !acts().any(|other| other.request == gone)
        }
        Request::Bind { port, .. } => takes_all(side, events, *port),
        _ => false,
    };
    acts().any(is_open) && !acts().any(is_kept)
}

/// Where a program waits for ever to send a datagram, if it does.
fn kept_from_sending(side: &Side, events: &[u32]) -> Option<u16> {
    events.iter().map(|&event| &side.get(event).act).find_map(|act| match act.request {
        Request::SendTo { to, .. } if act.answer == Answer::Never => Some(to),
        _ => None,
    })
}

/// Why there is no verdict if nobody ever takes a datagram.
fn never_taken(port: u16) -> String {
    format!(
        "a datagram is sent to port {port}, and no socket is bound to it when nothing else can \
         happen; --joint does not model its loss"
    )
}
