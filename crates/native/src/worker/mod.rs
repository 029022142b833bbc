//! A process that runs the program under the shim, and the commands that drive it.

mod defect;
mod loader;
mod process;
#[cfg(test)]
mod tests;
mod trust;

use crate::closed::{self, System};
use crate::dependence::alternative;
use crate::doctor::resource_limits;
use crate::environment::{Environment, Refusal};
use crate::error::Error;
use crate::execution::Execution;
use crate::judge::{Judge, Left, placed};
use crate::launch::{Launch, Library};
use crate::panics::thread_starts;
use crate::patching::{Arming, Loaded, Patches, Routines};
use crate::planned::PlannedExecution;
use crate::reached::Reached;
use crate::region::Mapping;
use everypath_schedules::Alternative;
use everypath_shim_abi::access_log::{LOST, MAX_LOGGED};
use everypath_shim_abi::{
    BatchEntry, Choice, Command, Counters, EnabledStep, Event, MAX_BATCH, MAX_OUTPUT, ModuleEntry,
    NOTES, Notice, OUTPUTS, Outcome, Policy, Reply, Request, Setup, ThreadEntry, Upcall, text,
};
use everypath_trace::Control;
use everypath_trace::Violation;
use process::{Process, Start};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::ops::ControlFlow;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often we look whether the worker still moves.
const HEARTBEAT: Duration = Duration::from_millis(100);

/// What is found out about a program's modules once, and used by all workers.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    known: Mutex<Vec<Arc<Prepared>>>,
    /// Programs of which the loader was asked whether it loads the shim.
    preloading: Mutex<BTreeSet<PathBuf>>,
    /// Of each program, what takes the place of ThreadSanitizer's runtime, if it asks for that.
    sanitized: Mutex<BTreeMap<PathBuf, Option<Arc<File>>>>,
    /// Whether nothing is patched.
    unpatched: bool,
}

/// The modules and their patches.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    /// The path of the program.
    program: Vec<u8>,
    entries: [u64; 2],
    pub(crate) loaded: Vec<Loaded>,
    pub(crate) patches: Patches,
    /// Where Rust's threads start.
    thread_starts: Vec<[u64; 2]>,
}

impl Modules {
    /// For executions whose schedules do not matter: planning patches takes most of a start.
    pub(crate) fn unpatched() -> Self {
        Modules { unpatched: true, ..Modules::default() }
    }

    /// What takes the place of ThreadSanitizer's runtime in a program.
    fn thread_sanitizer(&self, program: &Path) -> Result<Option<Arc<File>>, Error> {
        let mut known = self.sanitized.lock().expect("nobody panics while holding it");
        if let Some(known) = known.get(program) {
            return Ok(known.clone());
        }
        let failed = |error| Error::Start { path: program.into(), error };
        let name = crate::program::thread_sanitizer(program).map_err(failed)?;
        let file = name.map(|name| crate::shim::tsan_file(&name).map(Arc::new));
        let file = file.transpose().map_err(failed)?;
        known.insert(program.into(), file.clone());
        Ok(file)
    }

    fn prepare(&self, region: &Mapping, arming: Arming<'_>) -> Result<Arc<Prepared>, Error> {
        let mut known = self.known.lock().expect("nobody panics while holding it");
        let count = region.module_count.get() as usize;
        let entries = trust::part(&region.modules, 0..count, "the modules")?;
        let routines = region.atomics_entries.get();
        let same = |prepared: &Prepared| {
            // Without address randomisation every start looks the same; if not, look again.
            let bases = prepared.loaded.iter().map(|module| (module.base, module.trampolines));
            let now = entries.iter().map(|entry| entry.get());
            prepared.entries == routines
                && bases.into_iter().all(|(base, trampolines)| {
                    now.clone().any(|entry| {
                        entry.base == base && (trampolines == 0 || entry.trampolines == trampolines)
                    })
                })
        };
        let path = |entry: &ModuleEntry| text(&entry.path).to_vec();
        let program = entries.first().map(|first| path(&first.get())).unwrap_or_default();
        let known_one = known.iter().find(|prepared| prepared.program == program && same(prepared));
        if let Some(prepared) = known_one {
            return Ok(Arc::clone(prepared));
        }
        let mut loaded = Vec::new();
        for cell in entries {
            loaded.extend(Loaded::read(&cell.get())?);
        }
        let arming = region.setup.get().memory.then_some(arming);
        let summaries = region.summaries.get();
        let patches = match self.unpatched {
            true => Patches::default(),
            false => Patches::new(&loaded, Routines { entries: routines, summaries }, arming)?,
        };
        let thread_starts = thread_starts(&loaded);
        let prepared =
            Arc::new(Prepared { program, entries: routines, loaded, patches, thread_starts });
        known.push(Arc::clone(&prepared));
        Ok(prepared)
    }
}

/// Where an execution goes on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// The start of the program.
    Start,
    /// Where it stands.
    Here,
    /// A saved state.
    Saved(u32),
}

/// How much was kept of executions that were looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kept {
    events: usize,
    ends: usize,
    alternatives: usize,
}

/// One of several executions of a command.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) outcome: Outcome,
    /// The number of the first of its steps that is told of.
    pub(crate) first: usize,
    pub(crate) events: Vec<Event>,
    pub(crate) alternatives: Vec<Vec<Alternative<EnabledStep>>>,
}

/// Writes values into cells, as many as there is room for: how many.
fn fill<T: Copy>(cells: &[Cell<T>], values: &[T]) -> usize {
    cells.iter().zip(values).map(|(cell, &value)| cell.set(value)).count()
}

/// Steps that could be taken: lists that lie one behind the other, each with its end.
fn split(
    all: &[Cell<EnabledStep>],
    ends: impl Iterator<Item = u32>,
) -> Result<Vec<Vec<Alternative<EnabledStep>>>, Error> {
    const WHAT: &str = "the enabled steps";
    let mut start = 0;
    ends.map(|end| {
        let these = trust::part(all, start..end as usize, WHAT)?;
        start = end as usize;
        match Mapping::are_valid(these) {
            true => Ok(these.iter().map(|cell| alternative(cell.get())).collect()),
            false => Err(Error::Overwritten { what: WHAT }),
        }
    })
    .collect()
}

/// Tells the shim which libraries to load.
fn list_libraries(region: &Mapping, libraries: &[Library]) {
    let mut list: Vec<u8> = Vec::new();
    for Library { flags, name } in libraries {
        list.extend(flags.to_le_bytes());
        list.extend(name.as_bytes());
        list.push(0);
    }
    // What does not fit is asked for again, and refused then.
    for (cell, byte) in region.libraries.iter().zip(list) {
        cell.set(byte);
    }
}

/// A running worker: the program, and the others of its system if there are any.
#[derive(Debug)]
pub(crate) struct Worker {
    first: Process,
    /// The others, in the order of their numbers.
    others: Vec<Process>,
    /// What the first was started with, and asked last.
    setup: Setup,
    command: Command,
    is_hurried: Cell<bool>,
    /// How many steps of the execution that goes on were looked at.
    seen_steps: Cell<usize>,
    watchdog: u32,
    control: Control,
    outside: Environment,
    reached: Arc<Reached>,
    /// The files that the program finds, and later those that it leaves behind.
    files: File,
    judge: Option<Arc<Judge>>,
    /// What is wrong with what the last execution left behind.
    pub(crate) judgement: Option<Violation>,
    pub(crate) system: System,
}

impl Worker {
    /// Starts the program, and the others of its system, and stops before their `main`.
    pub(crate) fn start(launch: &Launch, modules: &Modules) -> Result<Self, Error> {
        resource_limits::ensure()?;
        let system = |what| move |error| Error::System { what, error };
        let region = Mapping::new().map_err(system("share memory with the program"))?;
        let found = placed(&launch.files).map_err(system("keep files in memory"))?;
        let (trees, has_peers) = {
            let mut world = launch.outside.lock();
            let has_peers = world.has_peers();
            let trees = world.trees().map_err(system("share memory with the program"))?;
            (trees.file().as_raw_fd(), has_peers)
        };
        let shared = closed::shared_memory(launch).map_err(system("share memory"))?;
        let first_region = region.file().as_raw_fd();
        let start = Start {
            launch,
            modules,
            program: &launch.program,
            arguments: &launch.arguments,
            files: [trees, found.as_raw_fd()],
            shared: shared.as_ref().map(|memory| [memory.as_raw_fd(), first_region]),
            tsan: None,
        };
        // The first one comes last: it keeps the state that all of them start from.
        let mut others = Vec::new();
        for (companion, number) in launch.companions.iter().zip(1..) {
            let region = Mapping::new().map_err(system("share memory with the program"))?;
            region.setup.set(launch.setup_of(number));
            let (program, arguments) = (&companion.program, &companion.arguments);
            others.push(Process::start(region, Start { program, arguments, ..start })?);
        }
        let setup = Setup { has_peers, ..launch.setup_of(0) };
        region.setup.set(setup);
        list_libraries(&region, &launch.libraries);
        let first = Process::start(region, start)?;
        let (watchdog, outside) = (launch.watchdog, launch.outside.clone());
        let (files, judge) = (found, launch.judge.clone());
        let system = System::of(launch);
        let (judgement, command) = (None, Command::default());
        Ok(Worker {
            first,
            others,
            setup,
            command,
            is_hurried: Cell::new(false),
            seen_steps: Cell::new(0),
            watchdog,
            control: launch.control.clone(),
            outside,
            reached: Arc::clone(&launch.reached),
            files,
            judge,
            judgement,
            system,
        })
    }

    /// The processes, in the order of their numbers.
    fn processes(&self) -> impl Iterator<Item = &Process> {
        [&self.first].into_iter().chain(&self.others)
    }

    /// What was found out about the modules of each process.
    pub(crate) fn prepared(&self) -> impl Iterator<Item = &Prepared> {
        self.processes().map(|process| &*process.prepared)
    }

    /// How many atomic instructions were patched.
    pub(crate) fn sites(&self) -> usize {
        self.prepared().map(|prepared| prepared.patches.sites).sum()
    }

    /// The functions whose memory accesses nobody sees, although accesses are recorded.
    pub(crate) fn unseen(&self) -> Vec<String> {
        let of = |prepared: &Prepared| {
            crate::memory::unseen(prepared.patches.copied.iter(), &prepared.loaded)
        };
        self.prepared().flat_map(of).collect()
    }

    /// Functions of libc that the programs may call, and whose memory accesses are not known.
    pub(crate) fn unsummarised(&self) -> Vec<String> {
        let names =
            self.prepared().flat_map(|prepared| crate::memory::unsummarised(&prepared.loaded));
        names.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Gives a command and waits for the reply.
    pub(crate) fn ask(&mut self, command: Command) -> Result<Reply, Error> {
        let control = self.control.clone();
        self.ask_unless(command, &control)?.ok_or(Error::Stopped)
    }

    /// Gives a command and waits for the reply; none if somebody stopped the search meanwhile, and
    /// then this worker is of no use any more.
    pub(crate) fn ask_unless(
        &mut self,
        command: Command,
        control: &Control,
    ) -> Result<Option<Reply>, Error> {
        if control.stopped() {
            return Ok(None);
        }
        self.begin(command);
        self.finish(control)
    }

    /// Gives a command.
    fn begin(&mut self, command: Command) {
        if command.request == Request::Run {
            self.outside.lock().begin_execution();
        }
        self.first.region.hurry.store(0, Ordering::Relaxed);
        self.is_hurried.set(false);
        self.command = command;
        self.forget_access_logs();
        self.first.region.hand_over(command);
    }

    /// Waits for the reply to the last command; none if somebody stopped the search meanwhile.
    pub(crate) fn finish(&mut self, control: &Control) -> Result<Option<Reply>, Error> {
        while self.is_answered_unless(control)? {
            self.check()?;
            if self.first.region.last_reply().outcome != Outcome::Asking {
                if self.counters().overdue > 0 {
                    self.outside.note_overdue_answer();
                }
                if self.counters().relocks > 0 {
                    self.outside.note_relocks();
                }
                if self.counters().whole > 0 {
                    self.outside.note_whole_message();
                }
                if self.counters().random > 0 {
                    self.outside.note_random_values();
                }
                return match self.first.refusal() {
                    Some(refusal) => Err(refusal),
                    None => self.settle(control),
                };
            }
            self.answer()?;
        }
        Ok(None)
    }

    /// Judges what the last execution left behind, if nobody has; none if somebody stopped that.
    fn settle(&mut self, control: &Control) -> Result<Option<Reply>, Error> {
        self.judgement = None;
        let reply = self.first.region.last_reply();
        let Some(judge) = self.judge.as_ref().filter(|_| reply.outcome == Outcome::Unaccepted)
        else {
            return Ok(Some(reply));
        };
        if self.first.region.output.iter().any(|stream| stream.length.get() > MAX_OUTPUT as u64) {
            return Err(Error::Oracle(format!(
                "the program writes more than {MAX_OUTPUT} bytes of output; the rest is not stored, so \
                 --expect-stdout, --oracle and --refines cannot judge it"
            )));
        }
        let [stdout, stderr, notes] = [0, 1, NOTES - 1].map(|stream| self.output(stream));
        let left = Left { hash: reply.contents, stdout, stderr, notes };
        // An oracle may look at what peers keep if that belongs to this execution alone.
        let is_lasting = !self.outside.forgets();
        if !is_lasting {
            judge.forget(&left);
        }
        self.judgement = match judge.judge(&left, &mut self.files, control)? {
            ControlFlow::Break(()) => return Ok(None),
            ControlFlow::Continue(judgement) => judgement,
        };
        if self.judgement.is_none() {
            let count = self.first.region.accepted_count.get();
            let free = self.first.region.accepted.get(count as usize);
            if let Some(free) = free.filter(|_| is_lasting) {
                free.set(reply.contents);
                self.first.region.accepted_count.set(count + 1);
            }
            self.first.region.reply.set(Reply { outcome: reply.ended, ..reply });
        }
        Ok(Some(self.first.region.last_reply()))
    }

    /// Answers an upcall in the middle of an execution, and lets the program go on.
    fn answer(&mut self) -> Result<(), Error> {
        let region = &self.first.region;
        let upcall = region.upcall.get();
        let message = trust::part(&region.message, 0..upcall.message_length(), "a message")?;
        let message = Mapping::copy_of(message);
        let steps = match upcall {
            Upcall::Joint { step, .. } => step as usize,
            Upcall::None | Upcall::Peer(_) | Upcall::Choose { .. } => 0,
        };
        let events = trust::part(&region.events, 0..steps, "the steps")?;
        if !Mapping::are_valid(events) {
            return Err(Error::Overwritten { what: "the steps" });
        }
        let events = Mapping::copy_of(events);
        let (reply, bytes) =
            self.outside.lock().answer(&upcall, &message, &events).unwrap_or_else(Refusal::reply);
        for (cell, &byte) in region.message.iter().zip(&bytes) {
            cell.set(byte);
        }
        region.upcall_reply.set(reply);
        region.go_on();
        Ok(())
    }

    /// Waits until the worker has replied; false if somebody stopped the search meanwhile.
    fn is_answered_unless(&mut self, control: &Control) -> Result<bool, Error> {
        let mut progress = 0;
        let mut still = 0;
        while !self.first.region.is_our_turn(HEARTBEAT) {
            if control.stopped() {
                return Ok(false);
            }
            if !self.first.region.turn.is_valid() {
                return Err(Error::Overwritten { what: "whose turn it is" });
            }
            let processes = [&mut self.first].into_iter().chain(&mut self.others);
            let status = processes.filter_map(|one| one.child.try_wait().ok().flatten()).next();
            if let Some(status) = status
                && !self.first.region.is_our_turn(Duration::ZERO)
            {
                // It may have said why before it had the turn.
                let said = self.processes().find_map(Process::refusal);
                return Err(said.unwrap_or_else(|| process::death(status, self.first.log())));
            }
            let now = self.first.region.progress.load(Ordering::Relaxed);
            still = if now == progress { still + 1 } else { 0 };
            progress = now;
            if still >= self.watchdog {
                self.interrupt();
            }
            // A program that does not move stops when it is asked to; only the shim does not.
            if still >= self.watchdog.saturating_mul(4) {
                if self.processes().any(Process::is_stopped) {
                    return Err(Error::Killed { what: "stopped by a signal from outside".into() });
                }
                let log = self.first.log();
                return Err(Error::Defect(format!("the worker does not react{log}")));
            }
        }
        Ok(true)
    }

    /// Asks a program that does not reach a scheduling point to stop where it is.
    fn interrupt(&self) {
        // Those that do not have the turn take no notice.
        self.processes().for_each(|process| process.signal(libc::SIGXCPU));
    }

    /// Runs one execution that follows a schedule and then chooses as the command says.
    pub(crate) fn follow(&mut self, schedule: &[Choice], command: Command) -> Result<Reply, Error> {
        for (cell, &choice) in self.first.region.schedule.iter().zip(schedule) {
            cell.set(choice);
        }
        let prefix = schedule.len() as u32;
        self.ask(Command { request: Request::Run, prefix, count: 1, ..command })
    }

    /// Begins executions that follow a schedule each and then go on by themselves, without what
    /// sleeps, one after the other as long as they are as expected. What could be taken in the
    /// first steps that are known is not told. An attentive worker does not sleep between commands.
    pub(crate) fn explore(&mut self, orders: &[PlannedExecution], attentive: bool) {
        let region = &self.first.region;
        region.recorded.store(0, Ordering::Relaxed);
        let command = Command {
            request: Request::Run,
            policy: Policy::First,
            count: orders.len() as u64,
            attentive,
            ..Command::default()
        };
        let command = match orders {
            [only] => {
                fill(&region.schedule, &only.schedule);
                let sleeping = fill(&region.sleep, &only.sleep);
                region.sleep_count.set(sleeping as u32);
                let (prefix, known) = (only.schedule.len() as u32, only.known as u32);
                Command { prefix, known, ..command }
            }
            several => {
                let (mut choices, mut sleeping) = (0, 0);
                for (order, cell) in several.iter().zip(&region.orders) {
                    choices += fill(&region.ordered_choices[choices..], &order.schedule);
                    let slept = fill(&region.ordered_sleep[sleeping..], &order.sleep);
                    sleeping += slept;
                    cell.set(BatchEntry {
                        prefix: order.schedule.len() as u32,
                        known: order.known as u32,
                        sleeping: slept as u32,
                    });
                }
                command
            }
        };
        self.begin(command);
    }

    /// How many of them have been run as expected and can be looked at.
    pub(crate) fn recorded(&self) -> usize {
        self.first.region.recorded.load(Ordering::Acquire) as usize
    }

    /// Whether all of them were run, or something asks for attention.
    pub(crate) fn has_paused(&self) -> bool {
        self.first.region.has_turn()
    }

    /// Asks for a reply at once; the execution that is being run is not wanted.
    pub(crate) fn hurry(&self) {
        self.is_hurried.set(true);
        self.first.region.hurry.store(1, Ordering::Relaxed);
    }

    /// Runs one execution that follows a schedule as far as it can, and then goes on by itself.
    pub(crate) fn attempt(&mut self, schedule: &[Choice]) -> Result<Reply, Error> {
        self.first.region.sleep_count.set(0);
        let (policy, lenient, known) = (Policy::First, true, schedule.len() as u32);
        self.follow(schedule, Command { policy, lenient, known, ..Command::default() })
    }

    /// Makes the choices of the last execution again, another one after so many of its steps, and
    /// stops before the next choice; without another one, before the first. None if somebody
    /// stopped the search meanwhile.
    pub(crate) fn walk(
        &mut self,
        from: From,
        another: Option<(u32, Choice)>,
        control: &Control,
    ) -> Result<Option<Reply>, Error> {
        let prefix = another.map_or(0, |(steps, choice)| {
            self.first.region.schedule[steps as usize].set(choice);
            steps + 1
        });
        let (request, slot) = match from {
            From::Start => (Request::Run, 0),
            From::Here => (Request::Continue, 0),
            From::Saved(slot) => (Request::Resume, slot),
        };
        let pause_at = prefix + 1;
        let command = Command { request, slot, prefix, pause_at, count: 1, ..Command::default() };
        self.ask_unless(command, control)
    }

    /// Keeps a copy of the state at which the program stands.
    pub(crate) fn save(&mut self, slot: u32) -> Result<(), Error> {
        self.ask(Command { request: Request::Save, slot, ..Command::default() }).map(|_reply| ())
    }

    /// What can be taken where the execution stands.
    pub(crate) fn pending(&self) -> Result<Vec<EnabledStep>, Error> {
        const WHAT: &str = "the enabled steps";
        let region = &self.first.region;
        let steps = region.last_reply().steps as usize;
        let end = trust::part(&region.alternative_ends, steps..steps + 1, WHAT)?[0].get();
        let enabled = trust::part(&region.alternatives, 0..end as usize, WHAT)?;
        match Mapping::are_valid(enabled) {
            true => Ok(Mapping::copy_of(enabled)),
            false => Err(Error::Overwritten { what: WHAT }),
        }
    }

    /// What could have been taken at each step from `first` on, in the last execution.
    pub(crate) fn alternatives(
        &self,
        first: usize,
    ) -> Result<Vec<Vec<Alternative<EnabledStep>>>, Error> {
        let region = &self.first.region;
        let steps = region.last_reply().steps as usize;
        let ends = region.alternative_ends[first.min(steps)..steps].iter().map(Cell::get);
        split(&region.alternatives, ends)
    }

    /// What was strange in the executions of the last command.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        let region = &self.first.region;
        Mapping::copy_of(&region.notices[..region.notice_count.get() as usize])
    }

    /// The steps of the last execution.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.events_from(0)
    }

    /// The steps of the last execution from one of them on.
    pub(crate) fn events_from(&self, first: usize) -> Vec<Event> {
        let steps = self.first.region.last_reply().steps as usize;
        Mapping::copy_of(&self.first.region.events[first.min(steps)..steps])
    }

    /// The choices of the last execution.
    pub(crate) fn schedule(&self) -> Vec<Choice> {
        Mapping::copy_of(
            &self.first.region.schedule[..self.first.region.last_reply().steps as usize],
        )
    }

    /// What the last execution wrote to standard output (0) or error (1) or noted (2), as far as it
    /// was kept.
    pub(crate) fn output(&self, stream: usize) -> Vec<u8> {
        self.output_of(0, stream)
    }

    /// What a process wrote to standard output (0) or error (1).
    pub(crate) fn output_of(&self, process: usize, stream: usize) -> Vec<u8> {
        let output = &self.first.region.output[process * OUTPUTS + stream];
        let kept = (output.length.get() as usize).min(output.bytes.len());
        Mapping::copy_of(&output.bytes[..kept])
    }

    /// The threads as the last execution left them; whoever stands in the copy of a function stands in
    /// the function.
    pub(crate) fn threads(&self) -> Vec<ThreadEntry> {
        let count = self.first.region.thread_count.get() as usize;
        let mut threads = Mapping::copy_of(&self.first.region.threads[..count]);
        let copied = self.prepared().flat_map(|prepared| &prepared.patches.copied);
        let copied: Vec<_> = copied.collect();
        for thread in &mut threads {
            let at = &mut thread.registers[0];
            *at = copied.iter().find_map(|module| module.original(*at)).unwrap_or(*at);
        }
        threads
    }

    /// Logs of accesses that each process has passed on since `seen` words of them were looked at, and
    /// whether some were lost.
    pub(crate) fn access_logs(&self, seen: &mut Vec<usize>) -> (Vec<(usize, Vec<u64>)>, bool) {
        let (mut news, mut lost) = (Vec::new(), false);
        for (number, process) in self.processes().enumerate() {
            if seen.len() <= number {
                seen.push(0);
            }
            let region = &process.region;
            let used = region.access_logs_used.load(Ordering::Acquire);
            lost |= used & LOST != 0;
            let used = (used & !LOST).min(MAX_LOGGED as u64) as usize;
            if used > seen[number] {
                news.push((number, Mapping::copy_of(&region.access_logs[seen[number]..used])));
                seen[number] = used;
            }
        }
        (news, lost)
    }

    /// Makes room for logs; no execution is under way.
    fn forget_access_logs(&self) {
        for process in self.processes() {
            process.region.access_logs_used.store(0, Ordering::Relaxed);
        }
    }

    /// The classes of the executions of the last command, which sampled so many.
    pub(crate) fn classes(&self, executions: u64) -> Vec<u64> {
        Mapping::copy_of(&self.first.region.classes[..(executions as usize).min(MAX_BATCH)])
    }

    /// What the worker counted.
    pub(crate) fn counters(&self) -> Counters {
        self.first.region.counters.get()
    }

    /// The word at an address of a process.
    pub(crate) fn word(&self, process: usize, address: u64) -> Option<u64> {
        let process = self.processes().nth(process)?;
        let mut word = 0u64;
        let local = libc::iovec { iov_base: (&raw mut word).cast(), iov_len: 8 };
        let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: 8 };
        // SAFETY: reads eight bytes into a word of ours; a bad address is an error.
        // JUSTIFICATION: the stacks of a stopped program are read from outside.
        let read = unsafe {
            libc::process_vm_readv(process.child.id() as libc::pid_t, &local, 1, &remote, 1, 0)
        };
        (read == 8).then_some(word)
    }

    /// The process.
    pub(crate) fn pid(&self) -> u32 {
        self.first.child.id()
    }
}

impl Execution {
    /// The last execution of a worker.
    pub(crate) fn of(worker: &Worker, reply: &Reply, number: u64) -> Self {
        let events = worker.events();
        Execution {
            number,
            outcome: reply.outcome,
            detail: reply.detail,
            thread: reply.thread,
            address: reply.address,
            heap_calls: reply.heap_calls,
            text: String::from_utf8_lossy(text(&reply.text)).into_owned(),
            schedule: worker.schedule(),
            exit_codes: worker.system.exit_codes(&events),
            events,
            threads: worker.threads(),
            stdout: worker.output(0),
            stderr: (0..worker.system.processes()).flat_map(|p| worker.output_of(p, 1)).collect(),
            notes: worker.output(2),
            message_events: worker.output(3),
            judgement: worker.judgement.clone(),
        }
    }
}
