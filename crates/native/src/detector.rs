//! The detector: looks for conflicting accesses in executions, as they are run.

use crate::dependence::taken_after;
use crate::error::Error;
use crate::execution::is_final;
use crate::launch::Launch;
use crate::memory::{
    Armed, Conflict, Conflicts, Footprints, Instruction, Plainness, ProcessMemory, Races, Reader,
    Touch, first_to_arm,
};
use crate::symmetry::Symmetry;
use crate::worker::{Modules, Worker};
use everypath_schedules::Taken;
use everypath_shim_abi::{Command, Event, Outcome, Request, address_space};
use everypath_trace::Control;
use std::collections::BTreeSet;
use std::sync::Arc;

/// So many random schedules at most show most of the conflicts that there are.
const LESSONS: u64 = 24;
/// After so many that show nothing new there is probably nothing more to learn.
const IN_VAIN: u64 = 6;

/// What is known of the memory accesses of executions.
pub(crate) struct Detector {
    armed: Arc<Armed>,
    races: Races,
    symmetry: Symmetry,
    /// By process.
    footprints: Vec<Footprints>,
    conflicts: Conflicts,
    /// Which accesses are certainly not atomic, if somebody asked.
    plainness: Option<Plainness>,
    /// Whether a process could not pass on all logs.
    has_lost: bool,
}

impl Detector {
    /// Of the executions of a program; none if accesses are not recorded.
    pub(crate) fn of(launch: &Launch) -> Option<Self> {
        launch.setup.memory.then(|| Detector {
            armed: Arc::clone(&launch.armed),
            races: launch.races,
            symmetry: launch.symmetry(),
            footprints: (0..=launch.companions.len()).map(|_| Footprints::default()).collect(),
            conflicts: Conflicts::default(),
            plainness: None,
            has_lost: false,
        })
    }

    /// Adds logs that processes have passed on, and whether some were lost.
    pub(crate) fn add(
        &mut self,
        (logs, lost): (Vec<(usize, Vec<u64>)>, bool),
    ) -> Result<(), Error> {
        self.has_lost |= lost;
        for (process, words) in logs {
            let footprints = self.footprints.get_mut(process).ok_or_else(damaged)?;
            footprints.add(&words).map_err(|_| damaged())?;
        }
        Ok(())
    }

    /// Looks for conflicts in an execution, of whose steps the first ones are known from the one before.
    pub(crate) fn look(
        &mut self,
        worker: &Worker,
        events: &[Event],
        steps: (usize, &[Taken]),
    ) -> Result<(), Error> {
        let armed = &*self.armed;
        let prepared = worker.prepared().zip(&mut self.footprints);
        let mut processes: Vec<_> = prepared
            .map(|(prepared, footprints)| {
                let reader = Reader { modules: &prepared.patches.copied, armed };
                ProcessMemory { footprints, reader }
            })
            .collect();
        let owner = |thread| worker.system.owner(thread);
        let looked = self.conflicts.look(events, steps, &mut processes, owner);
        looked.map_err(|_| damaged())?;
        if self.conflicts.is_incomplete && !self.has_lost {
            return Err(damaged());
        }
        self.ignore_races(worker);
        Ok(())
    }

    /// Looks at what a thread reads again and again without a scheduling point: another one may write
    /// that, so it counts as a conflict. What the thread writes itself, or has on its stack, it does not
    /// wait for.
    pub(crate) fn look_at_spin(&mut self, worker: &Worker, events: &[Event], thread: u16) {
        let process = worker.system.owner(thread);
        let Some(event) = events.iter().rfind(|event| event.thread == thread) else { return };
        let Some(prepared) = worker.prepared().nth(process) else { return };
        let reader = Reader { modules: &prepared.patches.copied, armed: &self.armed };
        let footprints = self.footprints.get(process);
        let touches = footprints.and_then(|of| of.last_part(event.accesses, reader));
        let touches = touches.unwrap_or_default();
        let is_own = |touch: &Touch| {
            let top = address_space::stack_top(thread) as u64;
            address_space::is_on_stack(top, touch.granule << 3)
                || touches.iter().any(|it| it.granule == touch.granule && it.kind.writes())
        };
        for read in touches.iter().filter(|&touch| !is_own(touch)) {
            let instruction = reader.instruction(read);
            let (earlier, later) = (instruction.clone(), instruction);
            self.conflicts.found.insert(Conflict {
                earlier,
                later,
                granule: read.granule,
                is_locked: false,
            });
        }
    }

    /// Forgets conflicts that are data races, if these are taken to do no harm.
    fn ignore_races(&mut self, worker: &Worker) {
        let Some(prepared) = worker.prepared().next().filter(|_| self.races == Races::Ignore)
        else {
            return;
        };
        let modules = &prepared.loaded;
        let plainness = self.plainness.get_or_insert_with(|| Plainness::of(modules));
        let is_plain = |access: &Instruction| plainness.is_plain(access, modules);
        // Calls of libc and the kernel are not atomic.
        let races = |of: &Conflict| {
            [&of.earlier, &of.later].into_iter().any(|it| it.as_ref().is_none_or(is_plain))
        };
        self.conflicts.found.retain(|conflict| !races(conflict));
    }

    /// The conflicts whose accesses are not scheduling points both, and are to become that first.
    pub(crate) fn unarmed(&self) -> BTreeSet<Conflict> {
        let is_new = |conflict: &&Conflict| !self.armed.knows(conflict);
        first_to_arm(self.conflicts.found.iter().filter(is_new).cloned().collect())
    }

    /// What was not seen, in words: a step may access more than can be recorded.
    pub(crate) fn unseen(&self) -> Option<String> {
        self.conflicts.is_incomplete.then(|| "steps with millions of accesses".into())
    }

    /// Whether there are such conflicts.
    pub(crate) fn has_unarmed(&self) -> bool {
        self.conflicts.found.iter().any(|conflict| !self.armed.knows(conflict))
    }

    /// Looks for conflicts in a few random schedules, so that a search has to begin again less often.
    pub(crate) fn learn(
        &mut self,
        worker: &mut Worker,
        seed: u64,
        control: &Control,
    ) -> Result<(), Error> {
        let (mut in_vain, mut seen) = (0, Vec::new());
        for first in 0..LESSONS {
            let before = self.conflicts.found.len();
            let command =
                Command { request: Request::Run, seed, first, count: 1, ..Command::default() };
            seen.clear();
            let Some(reply) = worker.ask_unless(command, control)? else {
                return Err(Error::Stopped);
            };
            let logs = worker.access_logs(&mut seen);
            self.add(logs)?;
            let events = worker.events();
            if reply.outcome == Outcome::Hang {
                self.look_at_spin(worker, &events, reply.detail as u16);
            }
            // An execution without end teaches nothing that a short one does not, and has many pairs.
            if is_final(reply.outcome) || reply.outcome == Outcome::TooLong {
                return Ok(());
            }
            let steps = taken_after(0, &events, &self.symmetry);
            self.look(worker, &events, (0, &steps))?;
            let is_new = self.conflicts.found.len() > before;
            in_vain = if is_new { 0 } else { in_vain + 1 };
            if in_vain == IN_VAIN || worker.counters().threads <= 1 {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// So many times at most is a program started to learn which of its accesses conflict.
const ROUNDS: usize = 32;

/// The program with those accesses as scheduling points that conflict in a few random schedules. A search
/// that sees nothing of happens-before, or a sample, begins so.
pub(crate) fn learnt(launch: &Launch, seed: u64, control: &Control) -> Result<Launch, Error> {
    let mut launch = launch.clone();
    // Peers would have to answer what nobody may ever ask.
    if !launch.setup.memory || !launch.outside.is_empty() || launch.fresh {
        return Ok(launch);
    }
    for _ in 0..ROUNDS {
        let Some(mut detector) = Detector::of(&launch) else { break };
        let mut worker = Worker::start(&launch, &Modules::default())?;
        detector.learn(&mut worker, seed, control)?;
        let unarmed = detector.unarmed();
        if unarmed.is_empty() {
            break;
        }
        let armed = Arc::make_mut(&mut launch.armed);
        unarmed.iter().for_each(|conflict| armed.arm(conflict));
    }
    Ok(launch)
}

/// The checker cannot make sense of a log.
fn damaged() -> Error {
    Error::Defect("the log of memory accesses is damaged".into())
}
