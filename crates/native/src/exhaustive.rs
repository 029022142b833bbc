//! Runs every schedule of a program, up to equivalence.

use crate::error::Error;
use crate::execution::{Execution, Explored, is_final};
use crate::runner::Stop;
use crate::semaphores::{self, Unit};
use crate::symmetry::{Symmetry, Turn};
use crate::team::Team;
use crate::worker::Launch;
use everypath_explore::Control;
use everypath_explore::reduction::{
    self, Alternative, Ended, Finished, Reduction, Scope, Stateless, Taken,
};
use everypath_shim_abi::{
    Choice, Event, Footprint, Mode, Operation, Outcome, Part, Pending, Phase, Relation, TIMEOUT,
    units,
};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// What to explore.
#[derive(Clone, Debug)]
pub struct Exhaustive {
    /// The program.
    pub launch: Launch,
    /// What is left out because it can make no difference.
    pub reduction: Reduction,
    /// How many preemptions an execution may have, if that is bounded; then nothing is left out.
    pub preemptions: Option<u32>,
    /// How many executions at most.
    pub executions: Option<u64>,
    /// Whether to go on after the first one that is not as expected.
    pub keep_going: bool,
    /// How many workers run them. The result does not depend on it.
    pub workers: usize,
}

/// What a step touches, and the step itself if it is one that could be taken.
#[derive(Clone, Debug)]
pub(crate) struct Touch {
    pending: Pending,
    footprint: Footprint,
    /// What it might touch at another moment, if that is not the same.
    elsewhere: Option<Box<Footprint>>,
    /// Which processes that are just like it come before and after this one.
    turn: Turn,
}

impl Touch {
    /// Of a step that is by itself.
    pub(crate) fn nothing() -> Self {
        let (pending, footprint) = (Pending::default(), Footprint::nothing());
        Touch { pending, footprint, elsewhere: None, turn: Turn::default() }
    }
}

impl reduction::Footprint for Touch {
    type Part = Part;

    fn parts(&self) -> impl Iterator<Item = Part> + Clone {
        // Turns first: whoever must come before does not race.
        self.turn.parts().chain(self.footprint.parts())
    }

    fn elsewhere(&self) -> Option<Vec<Part>> {
        let elsewhere = self.elsewhere.as_ref()?;
        Some(self.turn.parts().chain(elsewhere.parts()).collect())
    }

    fn disturbs(&self) -> bool {
        // The network changes what others find, and always comes to rest.
        self.pending.operation != Operation::Partition && self.footprint.is_everything()
    }

    fn hesitates(&self) -> bool {
        self.pending.stands_back
    }

    fn is_separable(part: Part) -> bool {
        part.mode == Mode::Acquire
    }

    fn relation(earlier: Part, later: Part) -> reduction::Relation {
        match earlier.relation(later) {
            Relation::Independent => reduction::Relation::Independent,
            Relation::Ordered => reduction::Relation::Ordered,
            Relation::Racing => reduction::Relation::Racing,
            Relation::Missed => reduction::Relation::Missed,
        }
    }

    fn covers(part: Part, earlier: Part) -> bool {
        part.covers(earlier)
    }

    fn competes(earlier: Part, later: Part) -> bool {
        earlier.competes(later)
    }

    fn scope(part: Part) -> Scope {
        match part.mode {
            Mode::Nothing => Scope::Nothing,
            Mode::Everything => Scope::Everything,
            _ => Scope::Object(part.object),
        }
    }
}

/// An execution to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// What it follows.
    pub(crate) schedule: Vec<Choice>,
    /// Of how many steps it is known what could be taken.
    pub(crate) known: usize,
    /// What sleeps then.
    pub(crate) sleep: Vec<Pending>,
}

impl Order {
    /// As the search puts it.
    pub(crate) fn new(
        schedule: &[reduction::Choice],
        known: usize,
        sleep: &[Alternative<Touch>],
    ) -> Self {
        let choice =
            |choice: &reduction::Choice| Choice { thread: choice.actor, outcome: choice.outcome };
        Order {
            schedule: schedule.iter().map(choice).collect(),
            known,
            sleep: sleep.iter().map(|sleeping| sleeping.footprint.pending).collect(),
        }
    }
}

pub(crate) fn alternative(pending: Pending) -> Alternative<Touch> {
    let by_itself = pending.is_timeout().then_some(TIMEOUT);
    Alternative {
        actor: pending.thread,
        by_itself,
        outcomes: if pending.is_timeout() { 1 } else { pending.outcomes },
        footprint: Touch { pending, footprint: pending.footprint(), ..Touch::nothing() },
    }
}

/// The steps of an execution with what they touched: a request that was granted at once has no
/// second step, so it touched what that would have. An atomic section touches everything when it
/// begins, and what happens inside cannot be moved by itself.
pub(crate) fn taken(events: &[Event], symmetry: &Symmetry) -> Vec<Taken<Touch>> {
    let mut inside = false;
    let mut is_inside: Vec<bool> = events
        .iter()
        .map(|event| {
            let was = inside;
            inside = (inside || event.operation == Operation::AtomicBegin)
                && event.operation != Operation::AtomicEnd;
            was
        })
        .collect();
    let mut providers = providers(events);
    let mut unit_of = semaphores::taken(events);
    let mut turns = symmetry.turns(events);
    let threads = events.iter().map(|event| usize::from(event.thread) + 1).max();
    let mut waited = vec![false; threads.unwrap_or(0)];
    let mut steps: Vec<Taken<Touch>> = events
        .iter()
        .rev()
        .map(|event| {
            let thread = usize::from(event.thread);
            let granted = !waited[thread];
            waited[thread] = event.phase == Phase::Resume;
            let provided = providers.pop().unwrap_or_default();
            let unit = unit_of.pop().unwrap_or(Unit::Found);
            let turn = turns.pop().unwrap_or_default();
            let what = (unit.operation(provided.operation(event)), event.phase);
            let granted = granted && event.value != units::NONE_YET;
            let (object, is_free) = ((event.object, event.value), is_inside.pop() != Some(true));
            let footprint = match is_free {
                false => Footprint::nothing(),
                true => Footprint::new(what, object, event.outcome, granted),
            };
            let is_certain = !is_free || event.outcome == TIMEOUT;
            let elsewhere = Footprint::elsewhere(what, object).filter(|_| !is_certain);
            let creates = event.operation == Operation::Create;
            Taken {
                choice: reduction::Choice { actor: event.thread, outcome: event.outcome },
                footprint: Touch {
                    pending: Pending::default(),
                    footprint,
                    elsewhere: elsewhere.map(Box::new),
                    turn,
                },
                creates: creates.then_some(event.value as u16),
                after: (event.granted_by as usize).checked_sub(1),
                provided_by: provided.by.or(unit.from()),
                // A time-out is its own doing.
                resumes: event.phase == Phase::Resume && event.outcome != TIMEOUT,
            }
        })
        .collect();
    steps.reverse();
    steps
}

/// Where the bytes came from that a step took out of a stream.
#[derive(Clone, Copy, Debug, Default)]
struct Provided {
    /// The step that put the first of them in: without it there was nothing to take.
    by: Option<usize>,
    /// Whether others put in the rest: without those, the step would have taken less, so it could
    /// have come earlier, and that makes a difference.
    in_parts: bool,
}

impl Provided {
    /// What a step is to the others.
    fn operation(&self, event: &Event) -> Operation {
        match event.operation {
            Operation::ReceiveWhole | Operation::ReceiveAny if self.in_parts => Operation::Receive,
            Operation::AcceptQueued if self.in_parts => Operation::Accept,
            // Who let it in is not known.
            Operation::ConnectQueued if self.by.is_none() => Operation::Connect,
            other => other,
        }
    }
}

/// For each step that took bytes out of a stream, where they came from.
fn providers(events: &[Event]) -> Vec<Provided> {
    // Where the bytes that each step put in begin and end, by stream.
    let mut sent: BTreeMap<u64, BTreeMap<u64, (u64, usize)>> = BTreeMap::new();
    // The step from which on somebody listens, by address.
    let mut listening: BTreeMap<u64, usize> = BTreeMap::new();
    let provided = |(step, event): (usize, &Event)| {
        let (before, after) = event.bytes_moved();
        match event.operation {
            Operation::Listen => {
                listening.insert(event.object, step);
                sent.remove(&event.object);
                Provided::default()
            }
            // What was not known beforehand and never came to be put nothing in; and what another
            // receiver put there has no value.
            _ if event.value == u64::MAX || event.value == 0 => Provided::default(),
            Operation::ConnectQueued => {
                sent.entry(event.object).or_default().insert(before, (after, step));
                Provided { by: listening.get(&event.object).copied(), in_parts: false }
            }
            Operation::Send | Operation::SendWhole if after > before => {
                sent.entry(event.object).or_default().insert(before, (after, step));
                Provided::default()
            }
            // It could have come before them, and given up.
            Operation::ReceiveWhole | Operation::ReceiveAny | Operation::AcceptQueued
                if event.phase == Phase::Limited =>
            {
                Provided::default()
            }
            Operation::ReceiveWhole | Operation::ReceiveAny | Operation::AcceptQueued => {
                let runs = sent.get(&event.object);
                let run = runs.and_then(|runs| runs.range(..=before).next_back());
                match run.map(|(_, &run)| run).filter(|&(end, _)| end > before) {
                    Some((end, step)) => Provided { by: Some(step), in_parts: end < after },
                    // They were put in while nothing was a step, at least the first.
                    None => Provided { by: None, in_parts: true },
                }
            }
            _ => Provided::default(),
        }
    };
    events.iter().enumerate().map(provided).collect()
}

/// Explores until an execution is not as expected, all were run, or somebody stops it.
pub fn explore(exhaustive: &Exhaustive, control: &Control) -> Result<Explored, Error> {
    let mut team = Team::start(exhaustive, control)?;
    let mut explored = Explored { sites: team.sites(), ..Explored::default() };
    let mut finished = search(exhaustive, exhaustive.reduction, &mut team, &mut explored);
    if matches!(finished, Ok(Finished::Unsuitable)) {
        explored.begin_anew();
        finished = search(exhaustive, Reduction::Source, &mut team, &mut explored);
    }
    match finished {
        Ok(finished) => explored.complete = finished == Finished::Complete,
        Err(Stop::Stopped) => {}
        Err(Stop::Failed(error)) => return Err(error),
    }
    Ok(explored)
}

/// Explores with a reduction.
fn search(
    exhaustive: &Exhaustive,
    reduction: Reduction,
    team: &mut Team<'_>,
    explored: &mut Explored,
) -> Result<Finished, Stop> {
    let mut cut = false;
    let mut stateless = match exhaustive.preemptions {
        Some(most) => Stateless::bounded(most),
        None => Stateless::new(reduction),
    };
    let finished = stateless.run(team, |stateless, team, executed| {
        explored.executions += 1;
        explored.steps += executed.steps.len() as u64;
        let in_vain = matches!(executed.ended, Ended::Redundant | Ended::Astray);
        explored.redundant += u64::from(in_vain);
        let (outcome, unexpected) = team.last();
        explored.abandoned += u64::from(outcome == Outcome::Abandoned);
        if explored.executions.is_multiple_of(64) {
            explored.estimate = stateless.estimate();
            team.publish(&explored.progress());
        }
        if let Some(execution) = unexpected {
            explored.keep(Execution { number: explored.executions - 1, ..execution });
            if !exhaustive.keep_going || is_final(outcome) {
                return ControlFlow::Break(());
            }
        }
        cut |= outcome == Outcome::TooLong;
        match exhaustive.executions {
            Some(most) if explored.executions >= most => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    explored.estimate = stateless.estimate();
    explored.hits = team.hits();
    explored.notices.extend(team.notices());
    match finished {
        Ok(Finished::Complete) if cut => Ok(Finished::Stopped),
        finished => finished,
    }
}
