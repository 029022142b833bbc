//! The dependence relation: which objects a step uses, and how.
//!
//! Every operation has its footprint in the file of its family: `threads`, `locks`, `memory`, `files`,
//! `network`, `process` (time, signals, whole processes). [`Step::footprint`] is the one table over all
//! of them: a new operation does not compile before a family knows it. Which steps depend on each other
//! follows from their footprints alone.

mod files;
mod locks;
mod memory;
mod network;
mod process;
mod threads;

use crate::{Completion, Facet, Family, Footprint, Global, Mode, Object, Operation, Part, Phase};

/// A step, as far as its dependence on others follows from it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// What it does.
    pub operation: Operation,
    /// Whether it is a request or goes on.
    pub phase: Phase,
    /// What it works on.
    pub object: Object,
    /// Whether its timeout fires.
    pub timed_out: bool,
    /// What performing it showed.
    pub completion: Completion,
    /// Whether it gets at once what it requests.
    pub granted: bool,
    /// Whether it is known which steps provided what it takes.
    pub providers: Providers,
}

/// Whether it is known which steps provided what a step takes out of a queue or a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Providers {
    /// It is: the step comes after that one and need not come after others.
    Known,
    /// It is not, or there are several: the step depends on all that put something in.
    Unknown,
}

/// A use of one aspect of an object.
type Use = (Mode, Object, Facet);

/// Of a list of uses: none.
const NONE: Use = (Mode::Nothing, Object::NONE, Facet::Whole);

impl Step {
    /// A step that gets what it requests, and of which nothing more is known.
    #[inline]
    pub fn new(operation: Operation, phase: Phase, object: Object) -> Self {
        Step {
            operation,
            phase,
            object,
            timed_out: false,
            completion: Completion::None,
            granted: true,
            providers: Providers::Known,
        }
    }

    /// What the step touches.
    pub fn footprint(&self) -> Footprint {
        if self.timed_out {
            return everything();
        }
        match self.phase {
            Phase::Request | Phase::Patient => self.requested(),
            Phase::Limited => self.limited(),
            Phase::Resume => self.resumed(),
        }
    }

    /// What the step might touch if it came earlier, when it may get what it does not get now, or not
    /// get what it gets: at least that. None if it would touch no more. There is no less room in a queue
    /// earlier.
    pub fn may_touch(&self) -> Option<Footprint> {
        if self.timed_out || self.providers == Providers::Unknown {
            return None;
        }
        let operation = network::earlier(self.operation)?;
        Some(Step::new(operation, self.phase, self.object).with(self.completion).footprint())
    }

    fn with(self, completion: Completion) -> Self {
        Step { completion, ..self }
    }

    /// What a request touches, or a call that never waits: the one table.
    fn requested(&self) -> Footprint {
        use Operation as Op;
        match self.operation {
            Op::Start | Op::Create | Op::Yield | Op::Pause | Op::Spin => nothing(),
            Op::TestCancel => nothing(),
            Op::Exit(robust) => threads::exit(self, robust),
            Op::Join => threads::join(self),
            Op::TryJoin | Op::Detach => threads::look(self),
            Op::Cancel => everything(),

            Op::MutexLock | Op::SpinLock => locks::lock(self),
            Op::MutexTrylock | Op::SpinTrylock | Op::TryWriteLock => locks::change(self),
            Op::MutexInit | Op::MutexDestroy | Op::CondSignal => locks::change(self),
            Op::CondBroadcast | Op::OnceDone => locks::change(self),
            Op::MutexUnlock(ownership) | Op::SpinUnlock(ownership) => {
                locks::unlock(self, ownership)
            }
            Op::CondWait(mutex) => locks::cond_wait(self, mutex),
            Op::ReadLock(order) => locks::read_lock(self, order),
            Op::WriteLock(order) => locks::write_lock(self, order),
            Op::TryReadLock => locks::try_read_lock(self),
            Op::RwUnlock(by) => locks::rw_unlock(self, by),
            Op::BarrierWait | Op::Once => locks::wait(self),
            Op::OnceSeen => locks::look(self),
            Op::SemWait => locks::sem_wait(self),
            Op::SemTrywait => locks::sem_both_ends(self),
            Op::SemPost(overflow) => locks::sem_post(self, overflow),

            Op::FutexWait(_) => memory::futex_wait(self),
            Op::FutexRequeue(to) => memory::futex_requeue(self, to),
            Op::FutexWake(_) | Op::CompareExchange(_) | Op::Exchange(_) => memory::write(self),
            Op::FetchModify | Op::Store => memory::write(self),
            Op::Load(_) => memory::load(self),
            Op::Fence => memory::fence(self),

            Op::Output(_) => files::output(self),
            Op::FileRead => files::read(self),
            Op::FileWrite(_) => files::write(self),
            Op::DescriptorUse(found) => files::use_descriptor(self, found),
            Op::DescriptorMove(offset) => files::move_offset(self, offset),
            Op::DescriptorClose(effect) => files::close_descriptor(self, effect),

            Op::Bind(socket) | Op::Listen(socket) => network::bind(self, socket),
            Op::Connect(socket) => network::connect(self, socket),
            Op::ConnectPeer(connection) => network::connect_peer(self, connection),
            Op::ConnectQueued(connection) => network::connect_queued(self, connection),
            Op::Accept => network::accept(self),
            Op::AcceptQueued(_) => network::accept_queued(self),
            Op::AwaitListener => network::await_listener(self),
            Op::AwaitConnection | Op::AwaitBytes => network::await_arrival(self),
            Op::AwaitSpace => network::await_space(self),
            Op::Send(sending) => network::send(self, sending),
            Op::SendWhole(_) | Op::EpollControl | Op::TimerSet(_) => network::put(self),
            Op::SendAway => network::send_away(self),
            Op::Receive(_) => network::receive(self),
            Op::ReceiveWhole(_) => network::receive_whole(self),
            Op::ReceiveAny => network::receive_any(self),
            Op::Shutdown(closing) | Op::Close(closing) => network::close(self, closing),
            Op::SocketState(other_end) => network::state(self, other_end),
            Op::Poll(scope) => network::poll(self, scope),
            Op::Arrive(limit) => network::arrive(self, limit),
            Op::Fault(_) => network::fault(self),

            Op::Sleep(_) | Op::Choose(_) | Op::Deliver(_) => nothing(),
            Op::Note => process::note(self),
            Op::AtomicEnd => nothing(),
            Op::SignalWait => process::signal_wait(self),
            Op::ProcessExit(end) => process::exit(end),
            Op::Signal(_) | Op::Kill | Op::Partition | Op::AtomicBegin => everything(),
        }
    }

    /// What a thread touches that goes on after having waited. It comes after the step that granted it:
    /// that is said of the step itself, since no table can know which of several it was.
    fn resumed(&self) -> Footprint {
        match (self.operation, self.operation.kind().family()) {
            // Whoever has waited for the network tries again, which is a step like the first.
            (_, Family::Network) => self.requested(),
            (Operation::CondWait(mutex), _) => locks::relock(self, mutex),
            (Operation::WriteLock(order), _) => locks::got_write_lock(self, order),
            (Operation::ReadLock(order), _) => locks::got_read_lock(self, order),
            (Operation::Sleep(_), _) => everything(),
            _ => nothing(),
        }
    }

    /// What a request touches that has a timeout. It can time out only while it waits, so a release
    /// must not come before it as if that made no difference; and it sees whether what it waits for was
    /// there before.
    fn limited(&self) -> Footprint {
        let operation = network::at_both_ends(self.operation);
        let unlimited = Step { operation, phase: Phase::Request, ..*self }.requested();
        let timers = (Mode::Write, Object::global(Global::Timers), Facet::Whole);
        // Units that come early keep it from timing out.
        let units = match (operation, self.providers) {
            (Operation::SemWait, Providers::Known) => (Mode::Write, self.object, Facet::Whole),
            _ => NONE,
        };
        let own = [timers, units].into_iter().filter(|&used| used != NONE).map(part);
        let others = unlimited.parts().map(|part| match part.mode {
            Mode::Request => Part { mode: Mode::Write, ..part },
            _ => part,
        });
        own.chain(others).collect()
    }

    /// The use of an aspect of what the step works on.
    fn uses(&self, mode: Mode, facet: Facet) -> Use {
        (mode, self.object, facet)
    }

    /// A use of the object alone.
    fn alone(&self, mode: Mode) -> Footprint {
        of(&[self.uses(mode, Facet::Whole)])
    }

    /// A use of the object, which gets it if it is granted.
    fn acquiring(&self, mode: Mode) -> Footprint {
        let parts = [self.uses(mode, Facet::Whole), self.uses(Mode::Acquire, Facet::Whole)];
        of(if self.granted { &parts } else { &parts[..1] })
    }
}

fn part((mode, object, facet): Use) -> Part {
    Part { mode, object: object.facet(facet) }
}

fn of(uses: &[Use]) -> Footprint {
    uses.iter().copied().map(part).collect()
}

fn nothing() -> Footprint {
    Footprint::nothing()
}

fn everything() -> Footprint {
    Footprint::everything()
}

/// That a step uses the network, for steps that look at all of it.
fn of_network() -> Use {
    (Mode::Touch, Object::global(Global::Network), Facet::Whole)
}

#[cfg(test)]
pub(crate) mod tests;
