//! How far all workers have come: those of this process by memory, the others by what their processes
//! say of them.

use everypath_explore::Progress;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of progress in a message.
pub(crate) const LEN: usize = 4 * 8;

/// How far workers and processes have come; clones are the same.
#[derive(Clone)]
pub(crate) struct Gauges(Arc<Parts>);

struct Parts {
    /// The workers of this process.
    workers: Vec<Mutex<Progress>>,
    /// The other processes, by number; nothing of this one.
    processes: Vec<Mutex<Progress>>,
}

fn set(part: &Mutex<Progress>, progress: Progress) {
    *part.lock().unwrap_or_else(PoisonError::into_inner) = progress;
}

fn sum<'p>(parts: impl Iterator<Item = &'p Mutex<Progress>>) -> Progress {
    let parts = parts.map(|part| *part.lock().unwrap_or_else(PoisonError::into_inner));
    parts.fold(Progress::default(), |all, part| Progress {
        states: all.states + part.states,
        executions: all.executions + part.executions,
        events: all.events + part.events,
        depth: all.depth.max(part.depth),
        frontier: all.frontier + part.frontier,
    })
}

impl Gauges {
    pub(crate) fn new(workers: usize, processes: usize) -> Self {
        let parts = |count: usize| (0..count).map(|_| Mutex::default()).collect();
        Gauges(Arc::new(Parts { workers: parts(workers), processes: parts(processes) }))
    }

    /// Says how far a worker of this process has come.
    pub(crate) fn set_worker(&self, number: usize, progress: Progress) {
        set(&self.0.workers[number % self.0.workers.len()], progress);
    }

    /// Says how far another process has come, as its message has it.
    pub(crate) fn set_process(&self, number: usize, message: &[u8; LEN]) {
        let (numbers, _) = message.as_chunks();
        let of = |at: usize| numbers.get(at).copied().map_or(0, u64::from_le_bytes);
        let progress =
            Progress { states: of(0), executions: 0, events: of(1), depth: of(2), frontier: of(3) };
        set(&self.0.processes[number], progress);
    }

    /// What this process tells the others.
    pub(crate) fn message(&self) -> Vec<u8> {
        let Progress { states, events, depth, frontier, .. } = sum(self.0.workers.iter());
        [states, events, depth, frontier].into_iter().flat_map(u64::to_le_bytes).collect()
    }

    /// How far all of them have come.
    pub(crate) fn all(&self) -> Progress {
        sum(self.0.workers.iter().chain(&self.0.processes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_and_processes_are_added_up() {
        let progress = |states, depth| Progress { states, events: 9, depth, ..Progress::default() };
        let (here, there) = (Gauges::new(2, 2), Gauges::new(2, 2));
        here.set_worker(0, progress(3, 4));
        here.set_worker(1, progress(5, 4));
        // Workers are numbered through: these are the second process's.
        there.set_worker(2, progress(7, 5));
        there.set_worker(3, progress(11, 4));
        here.set_process(1, there.message().as_slice().try_into().unwrap());
        there.set_process(0, here.message().as_slice().try_into().unwrap());
        for gauges in [here, there] {
            assert_eq!(gauges.all(), Progress { events: 36, ..progress(26, 5) });
        }
    }
}
