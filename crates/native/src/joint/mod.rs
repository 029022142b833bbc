//! Joint exploration: several communicating programs, each explored alone.
//!
//! The theory is [`everypath_commtree::joint`]. Here, `judge` decides which combinations of
//! histories are violations, `confirm` runs all programs together to show one, and `describe` turns
//! events into text. `joint_requests` answers a program in the middle of an execution and records its
//! history.

mod confirm;
mod describe;
mod judge;
mod memory;

pub use judge::Finish;

use crate::closed::ExitCodes;
use crate::environment::Environment;
use crate::error::Error;
use crate::execution::Execution;
use crate::joint_requests::{JointRequests, Programs, Reply, Shown, lock};
use crate::launch::Launch;
use crate::memory::{Armed, Conflict};
use crate::runner::{Runner, Stop};
use confirm::{Claim, confirm};
use everypath_commtree::joint::{
    Answer, Combination, EventId, History, HistoryId, Joint, Linearised, Performed, Script, Side,
};
use everypath_schedules::{Reduction, ScheduleSearch, SearchEnd};
use everypath_shim_abi::Outcome;
use everypath_trace::{Control, Progress};
use judge::{End, Judge, Judged};
use memory::Memory;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// What to explore.
#[derive(Clone, Debug)]
pub struct JointSearch {
    /// The programs, each with a name for people. How the first one ends is what is checked; of the
    /// others, that they do not crash, and their exit codes if any is wrong.
    pub programs: Vec<(String, Launch)>,
    /// What is left out because it can make no difference.
    pub reduction: Reduction,
    /// How many executions at most.
    pub executions: Option<u64>,
    /// How many events the history of a program may have.
    pub events: Option<u32>,
    /// What is known of one more program, which is not there itself.
    pub environment: Option<JointSetting>,
    /// Whether the first program may be killed at any point, which is not started again then.
    pub kills_first: bool,
    /// How many connections of the first program the network may break in one execution.
    pub breaks: usize,
    /// What the search is for.
    pub goal: Goal,
    /// Whether to go on after the first histories that are wrong together, and to count in which
    /// ways all programs end.
    pub keep_going: bool,
}

/// A program of which only histories are known.
#[derive(Clone, Debug)]
pub struct JointSetting {
    /// Its name, for people.
    pub name: String,
    /// All that it does. Connections name it by the number behind those of the programs.
    pub scripts: Vec<Script>,
}

/// What a search is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// Histories that are wrong together.
    #[default]
    Verdict,
    /// All histories of the first program.
    Histories,
}

impl JointSearch {
    /// The same search, stopped by a control.
    #[must_use]
    pub fn stopped_by(&self, control: &Control) -> Self {
        let mut search = self.clone();
        for (_, launch) in &mut search.programs {
            launch.control = control.clone();
        }
        search
    }

    /// The same search with these accesses as scheduling points.
    #[must_use]
    pub fn armed_with(&self, armed: &Arc<Armed>) -> Self {
        let mut search = self.clone();
        for (_, launch) in &mut search.programs {
            launch.armed = Arc::clone(armed);
        }
        search
    }

    /// The names of all who take part.
    fn names(&self) -> Vec<&str> {
        let programs = self.programs.iter().map(|(name, _)| name.as_str());
        programs.chain(self.environment.as_ref().map(|environment| &*environment.name)).collect()
    }
}

/// How many points there may be at which a program is killed.
const MOST_KILLS: usize = 20_000;

/// How many events a history may have by default; more are taken for a conversation without end.
const DEFAULT_EVENTS: u32 = 500;

/// What was found.
#[derive(Debug, Default)]
pub struct JointExplored {
    /// How often each program was explored, at most.
    pub rounds: u32,
    /// Executions of each program, over all rounds.
    pub executions: Vec<u64>,
    /// Executions of each program in the last round that explored it.
    pub last_executions: Vec<u64>,
    /// Histories of each program, of the last round.
    pub histories: Vec<u64>,
    /// How many steps were taken.
    pub steps: u64,
    /// How many combinations of histories were compared.
    pub combinations: u64,
    /// How many atomic instructions were patched.
    pub sites: usize,
    /// Histories that are wrong together, if there are any.
    pub found: Option<Together>,
    /// All histories of the first program, and whether each was seen to happen together with
    /// others; only if they were looked for.
    pub shown: Vec<(Script, bool)>,
    /// How many combinations of histories have each combination of exit codes, of those that happen
    /// together to the end; only if the search goes on after what is wrong, and comes to its end.
    pub exit_codes: BTreeMap<ExitCodes, u64>,
    /// Which histories of the environment something is wrong with.
    pub propagated: BTreeSet<usize>,
    /// Whether everything was explored that the bound allows.
    pub complete: bool,
    /// Whether an execution was stopped because of the bound.
    pub bounded: bool,
    /// Why there is no verdict, if there is a reason.
    pub reason: Option<String>,
    /// Which memory accesses were scheduling points at last.
    pub armed: Arc<Armed>,
    /// Functions that could not be copied, so that nobody sees what memory they access.
    pub unseen: Vec<String>,
    /// Functions of libc that programs may call, and of whose memory accesses nothing is known.
    pub unsummarised: Vec<String>,
    /// Whether a thread has spun.
    pub spins: bool,
    /// Whether a program read several bytes of a connection at once.
    pub read_whole_messages: bool,
}

/// Histories that were found to happen together and are not as they should be.
#[derive(Clone, Debug)]
pub struct Together {
    /// The program whose end shows it.
    pub program: usize,
    /// Its execution.
    pub execution: Execution,
    /// What the others did to it: enough to repeat it.
    pub script: Vec<String>,
    /// All that the programs did with each other, in an order in which it can happen.
    pub messages: Vec<String>,
    /// Whether nobody can go on, as opposed to one program that failed by itself.
    pub is_stuck: bool,
    /// An execution of all programs together that shows it; or why there is none.
    pub closed: Result<Execution, String>,
}

/// Histories that are wrong together.
#[derive(Debug)]
struct Found {
    program: usize,
    histories: Vec<HistoryId>,
    order: Vec<Performed>,
    is_stuck: bool,
}

/// The execution behind a history.
#[derive(Debug)]
struct Record {
    execution: Execution,
    script: Vec<Reply>,
    /// Steps at which something was done with other programs, and what.
    log: Vec<(usize, EventId)>,
    /// Steps that only chose among several ways in which that could go.
    chosen: Vec<usize>,
}

struct Exploration<'a> {
    search: &'a JointSearch,
    control: &'a Control,
    programs: Programs,
    runners: Vec<Runner<'a>>,
    outsides: Vec<Environment>,
    memories: Vec<Memory>,
    records: Vec<BTreeMap<HistoryId, Record>>,
    /// Programs that cannot go on, as long as nobody listens at a port.
    postponed: Option<Found>,
    /// Why there is no verdict, whatever else is found.
    open: Option<String>,
    /// What is wrong, if the search goes on all the same.
    kept: Option<Found>,
    /// The environment's scripts, as histories.
    scripts: Vec<HistoryId>,
    /// Histories of the first program that happen together with others, and those of which that is
    /// not known.
    possible: BTreeSet<HistoryId>,
    unsettled: BTreeSet<HistoryId>,
    explored: JointExplored,
}

/// Explores until histories are found that are wrong together, nothing new can happen, or somebody
/// stops it. If memory accesses are recorded, those that conflict become scheduling points, and all
/// begins again.
pub fn explore_jointly(search: &JointSearch, control: &Control) -> Result<JointExplored, Error> {
    let mut armed = Armed::default();
    loop {
        let search = search.armed_with(&Arc::new(armed.clone()));
        let (explored, unarmed) = explore_once(&search, control)?;
        if unarmed.is_empty() || control.stopped() {
            return Ok(JointExplored { armed: Arc::new(armed), ..explored });
        }
        unarmed.iter().for_each(|conflict| armed.arm(conflict));
    }
}

/// Explores; also returns the conflicts whose accesses are no scheduling points, after which nothing
/// else counts.
fn explore_once(
    search: &JointSearch,
    control: &Control,
) -> Result<(JointExplored, BTreeSet<Conflict>), Error> {
    let count = search.programs.len();
    let mut joint = Joint::new(count + usize::from(search.environment.is_some()));
    joint.side_mut(0).allow_breaks(search.breaks);
    let scripts = search.environment.iter().flat_map(|environment| &environment.scripts);
    let scripts = scripts.map(|script| joint.side_mut(count).play(script)).collect::<Option<_>>();
    let programs: Programs = Arc::new(Mutex::new(joint));
    let places = Arc::default();
    let most = search.events.unwrap_or(DEFAULT_EVENTS) as usize;
    let mut exploration = Exploration {
        search,
        control,
        programs,
        runners: Vec::new(),
        outsides: Vec::new(),
        memories: Vec::new(),
        records: (0..count).map(|_| BTreeMap::new()).collect(),
        postponed: None,
        open: None,
        kept: None,
        scripts: scripts.ok_or_else(|| Error::Defect("a script is out of order".into()))?,
        possible: BTreeSet::new(),
        unsettled: BTreeSet::new(),
        explored: JointExplored {
            executions: vec![0; count],
            last_executions: vec![0; count],
            histories: vec![0; count],
            ..JointExplored::default()
        },
    };
    for (side, (_, launch)) in search.programs.iter().enumerate() {
        let requests = JointRequests::new(&exploration.programs, side, most, &places);
        let outside = Environment::of_programs(requests);
        let mut launch = Launch { outside: outside.clone(), ..launch.clone() };
        launch.setup.joint = true;
        let runner = Runner::start(&launch, control)?;
        exploration.explored.sites += runner.worker().sites();
        exploration.runners.push(runner);
        exploration.outsides.push(outside);
        exploration.memories.push(Memory::of(&launch));
    }
    exploration.run()?;
    let unarmed: BTreeSet<Conflict> =
        exploration.memories.iter().flat_map(Memory::unarmed).collect();
    if unarmed.is_empty() {
        exploration.conclude();
    }
    exploration.explored.read_whole_messages =
        exploration.outsides.iter().any(Environment::read_whole_messages);
    Ok((exploration.explored, unarmed))
}

impl Exploration<'_> {
    /// Explores one program after the other until there is nothing more to explore.
    fn run(&mut self) -> Result<(), Error> {
        let count = self.search.programs.len();
        loop {
            let is_due = |side: &usize| lock(&self.programs).side(*side).is_to_be_explored();
            let due: Vec<usize> = (0..count).filter(is_due).collect();
            if due.is_empty() {
                self.explored.reason = self.doubt().or(self.open.take());
                self.explored.complete = self.explored.reason.is_none();
                if let Some(found) = self.postponed.take().filter(|_| self.explored.complete) {
                    self.keep(found);
                }
                return Ok(());
            }
            self.explored.rounds += 1;
            for side in due {
                if self.explore(side)?.is_break() || self.compare().is_break() {
                    return Ok(());
                }
            }
        }
    }

    /// Why there is no verdict although nothing new can happen, if there is a reason.
    fn doubt(&self) -> Option<String> {
        let joint = lock(&self.programs);
        let names = self.search.names();
        if let Some(asked) = judge::deserted(joint.sides()) {
            return Some(asked.text(&names));
        }
        if let Some(surprise) = joint.surprise() {
            let what = describe::sentence(&names, &surprise);
            return Some(format!("{what}, and the failure file has no history for that"));
        }
        let is_open = |history: &&HistoryId| {
            self.unsettled.contains(history) && !self.possible.contains(history)
        };
        joint.side(0).histories().iter().find(is_open).map(|_| too_many_ways())
    }

    /// Keeps what is wrong, if nothing else was before.
    fn keep(&mut self, found: Found) {
        if self.explored.found.is_none() {
            self.explored.found = self.together(found);
        }
    }

    /// Puts together what is known in the end.
    fn conclude(&mut self) {
        if let Some(found) = self.kept.take() {
            self.keep(found);
        }
        if !self.explored.complete {
            self.explored.exit_codes.clear();
        }
        for (memory, runner) in self.memories.iter().zip(&self.runners) {
            self.explored.spins |= memory.spins();
            self.explored.unseen.extend(memory.unseen(runner.worker()));
            self.explored.unsummarised.extend(memory.unsummarised(runner.worker()));
        }
        self.explored.unsummarised.sort();
        self.explored.unsummarised.dedup();
        if self.search.goal == Goal::Histories {
            let joint = lock(&self.programs);
            let side = joint.side(0);
            let shown = side.histories().iter();
            self.explored.shown = shown
                .map(|&history| (side.script(history), self.possible.contains(&history)))
                .collect();
        }
    }

    /// Explores one program in every way that the others are known to make possible.
    fn explore(&mut self, side: usize) -> Result<ControlFlow<()>, Error> {
        lock(&self.programs).side_mut(side).begin();
        self.explored.last_executions[side] = 0;
        let mut finished = self.search_with(side, self.search.reduction);
        if matches!(finished, Ok(SearchEnd::NeedsSourceSets)) {
            finished = self.search_with(side, Reduction::Source);
        }
        if side == 0 && self.search.kills_first {
            let end = Finish::Ended.to_word();
            if !lock(&self.programs).side_mut(side).kill_everywhere(end, MOST_KILLS) {
                self.explored.reason = Some(too_many_kills());
                return Ok(ControlFlow::Break(()));
            }
        }
        self.explored.histories[side] = lock(&self.programs).side(side).histories().len() as u64;
        match finished {
            // The last execution of all may be the one that says nothing.
            Ok(_) if self.explored.reason.is_some() => Ok(ControlFlow::Break(())),
            Ok(SearchEnd::Complete) => Ok(ControlFlow::Continue(())),
            Ok(_) | Err(Stop::Stopped | Stop::Failed(Error::Stopped)) => Ok(ControlFlow::Break(())),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    fn search_with(&mut self, side: usize, reduction: Reduction) -> Result<SearchEnd, Stop> {
        let Exploration { search, control, runners, outsides, records, explored, programs, .. } =
            self;
        let (memory, mut trouble) = (&mut self.memories[side], None);
        let finished =
            ScheduleSearch::new(reduction).run(&mut runners[side], |_, runner, executed| {
                explored.executions[side] += 1;
                explored.last_executions[side] += 1;
                explored.steps += executed.steps.len() as u64;
                let executions = explored.executions.iter().sum();
                if executions % 64 == 0 {
                    let (states, events) = (executions, explored.steps);
                    control.publish(Progress { states, events, ..Progress::default() });
                }
                match memory.look(runner, &executed.steps) {
                    Ok(false) => {}
                    // Everything begins again.
                    Ok(true) => return ControlFlow::Break(()),
                    Err(error) => {
                        trouble = Some(error);
                        return ControlFlow::Break(());
                    }
                }
                let counts =
                    !executed.ended.is_redundant() && runner.reply().outcome != Outcome::Abandoned;
                let noted = match counts {
                    true => note(runner, &outsides[side], programs, (side, &mut records[side])),
                    false => Ok(false),
                };
                match noted {
                    Ok(true) if search.events.is_none() => explored.reason = Some(endless()),
                    Ok(is_cut) => explored.bounded |= is_cut,
                    Err(reason) => {
                        let (name, _) = &search.programs[side];
                        explored.reason = Some(format!("{name}: {reason}"));
                    }
                }
                if explored.reason.is_some() {
                    return ControlFlow::Break(());
                }
                if let Some(most) = search.executions.filter(|&most| executions >= most) {
                    explored.reason = Some(format!("the limit of {most} executions was reached"));
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            });
        trouble.map_or(finished, |error| Err(Stop::Failed(error)))
    }

    /// Holds what was found against what the other programs can do.
    fn compare(&mut self) -> ControlFlow<()> {
        let programs = Arc::clone(&self.programs);
        let mut joint = lock(&programs);
        let looked = joint.compare(|combination, sides| match self.search.goal {
            _ if self.control.stopped() => ControlFlow::Break(None),
            Goal::Verdict if self.search.keep_going => {
                self.count(combination, sides)?;
                self.judge(combination, sides)
            }
            Goal::Verdict => self.judge(combination, sides),
            Goal::Histories => {
                self.note_possible(combination, sides);
                ControlFlow::Continue(())
            }
        });
        self.explored.combinations = joint.combinations() as u64;
        drop(joint);
        let ControlFlow::Break(found) = looked else { return ControlFlow::Continue(()) };
        self.explored.found = found.and_then(|found| self.together(found));
        ControlFlow::Break(())
    }

    /// Goes on unless histories are wrong together, or nobody knows.
    fn judge(
        &mut self,
        combination: &Combination<'_>,
        sides: &[Side],
    ) -> ControlFlow<Option<Found>> {
        let environment = combination.histories.get(self.search.programs.len());
        let script = environment.and_then(|known| self.scripts.iter().position(|of| of == known));
        if script.is_some_and(|script| self.explored.propagated.contains(&script)) {
            return ControlFlow::Continue(());
        }
        let judge = Judge { search: self.search, control: self.control };
        match judge.judge(combination, sides) {
            Judged::Fine => ControlFlow::Continue(()),
            Judged::Unsettled => self.give_up(),
            // Whether somebody will still be there where nobody was so far is not known yet.
            Judged::Open { reason } if judge::deserted(sides).is_some() => {
                self.open.get_or_insert(reason);
                ControlFlow::Continue(())
            }
            Judged::Open { reason } => {
                self.explored.reason = Some(reason);
                ControlFlow::Break(None)
            }
            Judged::Wrong { program, order, is_stuck } => {
                let histories = combination.histories.to_vec();
                let found = Found { program, histories, order, is_stuck };
                // Whether somebody will still listen where nobody did so far is not known yet.
                if is_stuck && judge::deserted(sides).is_some() {
                    self.postponed.get_or_insert(found);
                    return ControlFlow::Continue(());
                }
                if script.is_none() && !self.search.keep_going {
                    return ControlFlow::Break(Some(found));
                }
                // What else the environment does may be wrong, too.
                self.explored.propagated.extend(script);
                self.kept.get_or_insert(found);
                ControlFlow::Continue(())
            }
        }
    }

    /// Says that nobody knows whether something is wrong.
    fn give_up(&mut self) -> ControlFlow<Option<Found>> {
        if !self.control.stopped() {
            self.explored.reason = Some(too_many_ways());
        }
        ControlFlow::Break(None)
    }

    /// Counts how the programs end if these histories happen together, to the end of all.
    fn count(
        &mut self,
        combination: &Combination<'_>,
        sides: &[Side],
    ) -> ControlFlow<Option<Found>> {
        let ends = sides.iter().zip(combination.histories).take(self.search.programs.len());
        let ends = ends.map(|(side, &history)| judge::exit_code(side.history(history).end));
        let Some(codes) = ends.collect::<Option<ExitCodes>>() else {
            return ControlFlow::Continue(());
        };
        match combination.linearise(|_| true, true, &|| self.control.stopped()) {
            Linearised::Impossible => ControlFlow::Continue(()),
            Linearised::Unsettled => self.give_up(),
            Linearised::Possible(_) => {
                *self.explored.exit_codes.entry(codes).or_default() += 1;
                ControlFlow::Continue(())
            }
        }
    }

    /// Notes whether the history of the first program happens.
    fn note_possible(&mut self, combination: &Combination<'_>, sides: &[Side]) {
        let own = combination.histories[0];
        if self.possible.contains(&own) {
            return;
        }
        // A request blocks for ever only when no other program can go on.
        let events = &sides[0].history(own).events;
        let waits = events.iter().any(|&event| sides[0].get(event).act.answer == Answer::Never);
        match combination.linearise(|side| side == 0, waits, &|| self.control.stopped()) {
            Linearised::Possible(_) => self.possible.insert(own),
            Linearised::Unsettled => self.unsettled.insert(own),
            Linearised::Impossible => false,
        };
    }

    /// What was found, with all that is needed to repeat it and to tell about it.
    fn together(&mut self, found: Found) -> Option<Together> {
        let Found { program, histories, order, is_stuck } = found;
        let records = self.records.iter().zip(&histories);
        let records: Vec<&Record> =
            records.map(|(known, history)| known.get(history)).collect::<Option<_>>()?;
        let claim = Claim { program, records, order: &order, is_stuck };
        let closed = match &self.search.environment {
            None => confirm(self.search, &claim, self.control),
            Some(JointSetting { name, .. }) => {
                Err(format!("{name} is a failure file, not a program that can run"))
            }
        };
        let Record { execution, script, .. } = claim.records[program];
        let names = self.search.names();
        let messages = describe::messages(lock(&self.programs).sides(), &names, &order, is_stuck);
        let (execution, script) = (execution.clone(), script.iter().map(Reply::to_line).collect());
        Some(Together { program, execution, script, messages, is_stuck, closed })
    }
}

/// Why there is no verdict if a program can be killed at too many points.
fn too_many_kills() -> String {
    format!("the program can be killed at more than {MOST_KILLS} points, too many for --kill")
}

/// Why there is no verdict if histories cannot be performed in every order.
fn too_many_ways() -> String {
    "the histories of the programs have too many interleavings to decide whether a violation is \
     feasible"
        .into()
}

/// Why there is no verdict if an execution has more events than anybody asked for.
fn endless() -> String {
    format!(
        "a program has more than {DEFAULT_EVENTS} communication events in one execution; \
         --max-depth bounds them, or allows more"
    )
}

/// Writes the history of an execution down; whether it was stopped because of the bound. Fails if
/// it says nothing about the program.
fn note(
    runner: &Runner<'_>,
    outside: &Environment,
    programs: &Programs,
    (side, records): (usize, &mut BTreeMap<HistoryId, Record>),
) -> Result<bool, String> {
    let reply = runner.reply();
    let execution = || Execution::of(runner.worker(), reply, 0);
    let mut world = outside.lock();
    let requests = world.requests().ok_or("there are no other programs")?;
    let shown = requests.finish(judge::has_ended(reply.outcome))?;
    drop(world);
    judge::check(reply.outcome, execution)?;
    let is_cut = shown.is_cut;
    let end = End { outcome: reply.outcome, detail: reply.detail, is_cut };
    let Shown { events: all, script, log, chosen, .. } = shown;
    for events in all {
        let history = History { events, end: end.to_word() };
        let (number, is_new) = lock(programs).side_mut(side).add(history);
        if is_new {
            let (script, log, chosen) = (script.clone(), log.clone(), chosen.clone());
            records.insert(number, Record { execution: execution(), script, log, chosen });
        }
    }
    Ok(is_cut)
}
