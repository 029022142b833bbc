//! What the floor of threads asks of those above it: see `above`.

use crate::above::Above;
use crate::cancel;
use crate::idle;
use crate::memory::Span;
use crate::net;
use crate::partition;
use crate::process_faults;
use crate::signals;
use crate::state::{Ending, State, Thread};
use crate::symmetry;
use crate::sync::rust_mutex;
use crate::tables::{object_at, slot_at};
use crate::traps;
use crate::worker::{KERNEL, Worker};
use everypath_shim_abi::{Operation, OperationKind};
use everypath_vkernel::fd_table::{object_spans, slot_spans};
use everypath_vkernel::{Object, Slot, buffer, lifetime};

impl Above for Worker {
    fn joined(&self, state: &State) {
        process_faults::appoint(state);
        symmetry::declare(state);
    }

    fn kernel_thread_begins(&self, number: usize) {
        traps::arm_kernel_thread(number);
        crate::dispatch::arm();
    }

    fn outcomes(&self, state: &State, thread: &Thread) -> u32 {
        match thread.kind.get() {
            OperationKind::Kill => process_faults::WAYS,
            OperationKind::Partition => partition::ways(state),
            _ if net::faults_are_explored() => net::ways(thread),
            _ => 1,
        }
    }

    fn refined(&self, thread: &Thread) -> Option<Operation> {
        net::refined(thread)
    }

    fn step_begins(&self) {
        cancel::at_step();
    }

    fn goes_on(&self) {
        signals::deliver_pending();
    }

    fn hand_over(&self, state: &State) {
        rust_mutex::hand_over(state);
    }

    fn hand_over_unseen(&self, state: &State) -> bool {
        rust_mutex::hand_over_unseen(state)
    }

    fn stuck(&self, state: &State) -> Ending {
        idle::stuck(state)
    }

    fn idle_in_time(&self, state: &State) -> Option<Ending> {
        idle::idle_in_time(state)
    }

    fn visible(&self) -> impl Iterator<Item = [u64; 8]> {
        lifetime::visible(KERNEL)
    }

    fn each_table(&self, is_first: bool, mut each: impl FnMut(Span)) {
        for span in slot_spans(KERNEL) {
            each(Span { address: slot_at(span.start), length: span.len() * size_of::<Slot>() });
        }
        // The first process restores what all share.
        if !is_first {
            return;
        }
        for span in object_spans(KERNEL) {
            each(Span { address: object_at(span.start), length: span.len() * size_of::<Object>() });
        }
        for (address, length) in buffer::spans(KERNEL) {
            each(Span { address, length });
        }
    }
}
