//! Memory accesses of a program that is explored alone.
//!
//! A data race does not end an execution here. What the others answer is an over-approximation until
//! histories are compared: an execution in which two threads stand before a race may go on to a history
//! that is possible, although its beginning is not. So both orders are explored, and the race is told of
//! beside the verdict.

use crate::detector::Detector;
use crate::error::Error;
use crate::launch::Launch;
use crate::memory::Conflict;
use crate::runner::Runner;
use crate::worker::Worker;
use everypath_schedules::Taken;
use everypath_shim_abi::{Event, OperationKind, Outcome};
use std::collections::BTreeSet;

/// What is known of them.
pub(super) struct Memory {
    /// None if accesses are not recorded.
    detector: Option<Detector>,
    /// The steps of the last execution: the next one often begins like it.
    events: Vec<Event>,
    /// Whether a thread was created: nobody else accesses the memory of one that is alone.
    is_concurrent: bool,
    spins: bool,
}

impl Memory {
    /// Of a program that is started so.
    pub(super) fn of(launch: &Launch) -> Self {
        let detector = Detector::of(launch);
        Memory { detector, events: Vec::new(), is_concurrent: false, spins: false }
    }

    /// Looks at the last execution; returns whether accesses conflict that are no scheduling points.
    pub(super) fn look(&mut self, runner: &mut Runner<'_>, steps: &[Taken]) -> Result<bool, Error> {
        let events = runner.worker().events();
        self.spins |= events.iter().any(Event::stands_back);
        self.is_concurrent |= events.iter().any(|event| event.kind() == OperationKind::Create);
        let Some(detector) = &mut self.detector else { return Ok(false) };
        detector.add(runner.access_logs())?;
        let reply = runner.reply();
        if reply.outcome == Outcome::Hang {
            detector.look_at_spin(runner.worker(), &events, reply.detail as u16);
        }
        let alike = self.events.iter().zip(&events).take_while(|(before, now)| before == now);
        let known = alike.count().min(steps.len());
        detector.look(runner.worker(), &events, (known, &steps[known..]))?;
        self.events = events;
        Ok(detector.has_unarmed())
    }

    /// The conflicts whose accesses are no scheduling points.
    pub(super) fn unarmed(&self) -> BTreeSet<Conflict> {
        self.detector.as_ref().map(Detector::unarmed).unwrap_or_default()
    }

    /// Whether a thread has spun.
    pub(super) fn spins(&self) -> bool {
        self.spins
    }

    /// What accesses memory that nobody sees, although accesses are recorded.
    pub(super) fn unseen(&self, worker: &Worker) -> Vec<String> {
        let Some(detector) = self.detector.as_ref().filter(|_| self.is_concurrent) else {
            return Vec::new();
        };
        worker.unseen().into_iter().chain(detector.unseen()).collect()
    }

    /// Functions of libc that the program may call, and whose memory accesses are not known.
    pub(super) fn unsummarised(&self, worker: &Worker) -> Vec<String> {
        match self.detector.is_some() && self.is_concurrent {
            true => worker.unsummarised(),
            false => Vec::new(),
        }
    }
}
