//! The description of blocked threads: deadlocks with their wait-for cycle, and livelocks.

use super::Names;
use everypath_shim_abi::{Event, OperationKind, ThreadEntry, Waiting};

impl Names<'_> {
    /// What a thread waits for.
    pub(super) fn waiting(&self, entry: &ThreadEntry) -> String {
        let object = self.object(entry.object);
        let holder = match entry.holder {
            0 => String::new(),
            holder => format!(", held by {}", self.thread(holder - 1)),
        };
        match entry.waiting {
            Waiting::Nothing => "is runnable".into(),
            Waiting::Ended => "has ended".into(),
            Waiting::Mutex | Waiting::Word => format!("waits for mutex {object}{holder}"),
            Waiting::Cond => format!("waits on condition {object} for a signal"),
            Waiting::Read | Waiting::WordRead => {
                format!("waits for rwlock {object} to read{holder}")
            }
            Waiting::Write | Waiting::WordWrite => {
                format!("waits for rwlock {object} to write{holder}")
            }
            Waiting::Barrier => format!("waits at barrier {object} for others"),
            Waiting::Spin => format!("waits for spin lock {object}{holder}"),
            Waiting::Semaphore => format!("waits for semaphore {object}"),
            Waiting::Join => format!("waits for {} to end", self.by_handle(entry.object)),
            Waiting::Once => format!("waits for initialiser {object}"),
            Waiting::Futex => format!("waits at futex {object} for a wake"),
            Waiting::Network => match entry.operation {
                OperationKind::Poll => "waits in poll for a descriptor to be ready".into(),
                OperationKind::Accept => "waits for a connection to accept".into(),
                OperationKind::Connect => format!("waits to connect to address {object}"),
                OperationKind::ConnectPeer => "waits for a listener to connect to".into(),
                OperationKind::Send => format!("waits to send to {}", self.other_end(entry)),
                _ => format!("waits to receive from {}", self.other_end(entry)),
            },
            Waiting::FileLock => "waits for flock of a file".into(),
            Waiting::Signal => "waits for a POSIX signal".into(),
            Waiting::Time => "sleeps".into(),
        }
    }

    /// The socket that a thread waits at; if another process has its other end, whose that is.
    fn other_end(&self, entry: &ThreadEntry) -> String {
        let object = format!("socket {}", self.object(entry.object));
        let thread = self.at_other_end(entry).map(|thread| self.thread(thread));
        let process = (entry.across as usize).checked_sub(1);
        let process =
            process.and_then(|process| self.replayed.system.names().get(process).cloned());
        match thread.or(process) {
            Some(other) => format!("{other} ({object})"),
            None => object,
        }
    }

    /// The thread of another process that used the other end of a socket last.
    fn at_other_end(&self, entry: &ThreadEntry) -> Option<u16> {
        let process = (entry.across as usize).checked_sub(1)?;
        let is_use = |event: &&Event| match event.kind() {
            OperationKind::Send | OperationKind::SendWhole | OperationKind::AwaitSpace => {
                event.object == entry.object
            }
            _ => event.object == entry.far,
        };
        let is_there = |event: &&Event| self.replayed.system.owner(event.thread) == process;
        let events = self.replayed.execution.events.iter();
        events.filter(is_there).rfind(is_use).map(|event| event.thread)
    }

    /// The thread that another one waits for, if it is known.
    pub(super) fn awaited_by(&self, entry: &ThreadEntry) -> Option<u16> {
        match entry.waiting {
            Waiting::Network => self.at_other_end(entry),
            Waiting::Join => self.thread_of_handle(entry.object),
            _ => entry.holder.checked_sub(1),
        }
    }

    /// The wait-for graph: after each thread the one that it waits for, as far as that is known.
    pub(super) fn deadlock(&self) -> String {
        let mut left: Vec<&ThreadEntry> = self.replayed.execution.threads.iter().collect();
        left.retain(|entry| entry.waiting != Waiting::Ended);
        let mut waits = Vec::new();
        let mut chain: Vec<u16> = Vec::new();
        while !left.is_empty() {
            let is_next = |entry: &&ThreadEntry| {
                self.replayed.system.is_closed() && chain.last() == Some(&entry.number)
            };
            let at = left.iter().position(is_next).unwrap_or_else(|| {
                chain.clear();
                0
            });
            let entry = left.remove(at);
            if chain.is_empty() {
                chain.push(entry.number);
            }
            let mut words = format!("{} {}", self.thread(entry.number), self.waiting(entry));
            if let Some(awaited) = self.awaited_by(entry) {
                if self.replayed.system.is_closed() && chain.contains(&awaited) {
                    words += ", which closes the cycle";
                }
                chain.push(awaited);
            }
            waits.push(words);
        }
        waits.join("; ")
    }

    pub(super) fn livelock(&self) -> String {
        let threads = self.replayed.execution.threads.iter();
        let can_run = threads.filter(|entry| entry.waiting == Waiting::Nothing);
        let names: Vec<String> = can_run.map(|entry| self.thread(entry.number)).collect();
        format!("all runnable threads spin: {}", names.join(", "))
    }
}
