//! Wakeups of threads that wait for the network.

use crate::host::{Host, Thread};
use crate::state::Want;
use crate::wants;

/// Lets all go on who waited for what has just happened to an object.
pub(crate) fn happened(k: &impl Host, number: usize) {
    let object = k.object(number);
    object.activity.set(object.activity.get().wrapping_add(1));
    wake(k);
}

/// Lets all look again who wait for a timer that was set: they must wait for another moment.
pub(crate) fn changed(k: &impl Host, timer: usize) {
    k.object(timer).activity.set(k.object(timer).activity.get().wrapping_add(1));
    wake_if(k, |want| wants::is_about(k, want, timer));
}

/// Lets those go on who wait for somebody at an address: only in a system does anybody.
pub(crate) fn somebody_is_here(k: &impl Host) {
    if k.is_one_of_several() {
        wake(k);
    }
}

/// Lets all go on who can.
pub(crate) fn wake(k: &impl Host) {
    wake_if(k, |want| wants::is_satisfied(k, want));
}

/// Lets those go on who wait for something like this.
pub(crate) fn wake_if(k: &impl Host, is_meant: impl Fn(Want) -> bool) {
    for thread in k.network_waiters() {
        if is_meant(thread.task().want.get()) {
            k.grant(thread);
        }
    }
}
