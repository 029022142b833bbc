//! Which histories are wrong together.

use super::JointSearch;
use crate::execution::Execution;
use everypath_commtree::joint::{
    Answer, Combination, Linearised, Link, Performed, Port, Request, Side, Watched,
};
use everypath_explore::Control;
use everypath_shim_abi::{IdleMode, Outcome};

/// How an execution ended, as histories remember it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) outcome: Outcome,
    pub(super) detail: i32,
    /// Whether it was stopped because its history was too long.
    pub(super) is_cut: bool,
}

/// The ends that tell something of a program.
const ENDS: [Outcome; 9] = [
    Outcome::Exited,
    Outcome::Signalled,
    Outcome::Aborted,
    Outcome::Assertion,
    Outcome::Panicked,
    Outcome::Deadlock,
    Outcome::Idle,
    Outcome::Livelock,
    Outcome::Unaccepted,
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
        Outcome::TooLong => Err(
            "an execution does not come to an end; if programs send each other messages for ever, \
             --max-depth bounds how many"
                .into(),
        ),
        Outcome::Hang => Err("a thread runs without ever reaching a scheduling point".into()),
        known if ENDS.contains(&known) => Ok(()),
        _ => Err(execution().text),
    }
}

/// A connection to a port at which no program ever listens, if one is asked for.
pub(super) fn deserted(sides: &[Side]) -> Option<Link> {
    let acts = |side: &'_ Side| {
        let histories = side.histories().iter().map(|&history| side.history(history));
        let events = histories.flat_map(|history| history.events.iter());
        events.map(|&event| side.get(event).act.request.clone()).collect::<Vec<_>>()
    };
    let requests: Vec<Request> = sides.iter().flat_map(acts).collect();
    let listened = |at: Port| {
        requests
            .iter()
            .any(|request| matches!(request, Request::Listen { port, .. } if *port == at))
    };
    requests.iter().find_map(|request| match request {
        Request::Connect(link) if !listened(link.port) => Some(*link),
        _ => None,
    })
}

/// What can be said of histories of all programs.
pub(super) enum Judged {
    /// They are as they should be, or do not happen together.
    Fine,
    /// Something is wrong, if they happen together, which is not known.
    Unsettled,
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
        let Some(program) = self.stuck(&ends, &waits) else { return Judged::Fine };
        match combination.linearise(|_| true, true, &is_stopped) {
            Linearised::Impossible => Judged::Fine,
            Linearised::Unsettled => Judged::Unsettled,
            Linearised::Possible(order) => Judged::Wrong { program, order, is_stuck: true },
        }
    }

    /// Whether a program fails, whatever the others do after that.
    fn fails(&self, program: usize, end: End, waits: Waits) -> bool {
        let expected = self.search.programs[program].1.setup.exit_code;
        match end.outcome {
            Outcome::Exited => program == 0 && end.detail != expected,
            // Whoever waits for nobody outside is not helped by anybody there.
            Outcome::Deadlock | Outcome::Idle => waits == Waits::Nobody,
            _ => true,
        }
    }

    /// If nobody can go on, the program that should not have to wait.
    fn stuck(&self, ends: &[End], waits: &[Waits]) -> Option<usize> {
        let idle = self.search.programs[0].1.setup.idle;
        let has_exited = |program: &usize| ends[*program].outcome == Outcome::Exited;
        let others_exited = (1..ends.len()).all(|program| has_exited(&program));
        let is_fine = match ends[0].outcome {
            // Servers wait for more for as long as nobody ends them.
            Outcome::Exited => true,
            Outcome::Idle => match idle {
                IdleMode::Automatic => waits[0] == Waits::Connections && others_exited,
                IdleMode::Fine => true,
                IdleMode::Violation => false,
            },
            _ => false,
        };
        (!is_fine).then_some(0)
    }
}

/// What those threads of a program wait for that wait for other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    /// There are none.
    Nobody,
    /// Only for somebody to connect.
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
                Request::Look { at, .. } => {
                    at.iter().all(|it| matches!(it, Watched::Connections { .. }))
                }
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
