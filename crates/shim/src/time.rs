//! The virtual clock: it advances only when a timeout fires or every thread yields.

use crate::cancel;
use crate::fail::stop;
use crate::guest;
use crate::libc::{fail, result};
use crate::memory::{load, store};
use crate::scheduler::{Woken, ask, stand_back, wait};
use crate::state::state;
use crate::sys::{Answer, errno, returned};
use crate::worker::KERNEL;
use everypath_shim_abi::{Object, Operation, Waiting};
use everypath_vkernel::clock::{
    self, BOOTTIME, SECOND, TAI, is_processor_time, timespec, virtual_moment,
};

pub(crate) use everypath_vkernel::clock::{MONOTONIC, REALTIME};

/// A thread that reads the clock so often without doing anything else waits for time to pass.
const PATIENCE: u32 = 64;

const ABSOLUTE: i32 = 1;

/// What a clock shows, in nanoseconds.
fn now(clock: i32) -> u64 {
    state().clock.get() + clock::origin(clock)
}

/// What a clock shows to a thread that reads it.
fn read(clock: i32) -> u64 {
    let thread = state().current();
    let reads = thread.clock_reads.get() + 1;
    thread.clock_reads.set(reads);
    crate::scheduler::note_clock_read();
    if reads > PATIENCE {
        stand_back(Operation::Yield, Object::NONE);
        thread.clock_reads.set(PATIENCE / 2);
    }
    now(clock)
}

/// The nanoseconds of a `timespec` that a function of libc is given.
pub(crate) fn nanoseconds(address: usize) -> u64 {
    clock::nanoseconds(load(address))
}

/// Whether a `timespec` is one.
pub(crate) fn is_valid(address: usize) -> bool {
    clock::is_time(load(address))
}

/// The virtual moment of an absolute `timespec`; none if there is none.
pub(crate) fn deadline(clock: i32, address: usize) -> Option<u64> {
    if address == 0 {
        return None;
    }
    Some(virtual_moment(clock, nanoseconds(address)))
}

/// Sleeps until a virtual moment; says whether a signal came first.
fn is_interrupted_until(moment: u64) -> bool {
    let state = state();
    if !crate::ending::is_running() {
        return false;
    }
    if state.is_concurrent() {
        return cancel::at_point(|| {
            ask(Operation::Sleep(moment), Object::NONE, Some(moment));
            state.current().announce(Operation::Sleep(moment), Object::NONE);
            let woken = wait(Waiting::Time, Object::NONE, Some(moment));
            let interrupted = matches!(woken, Woken::Interrupted { .. });
            if interrupted {
                cancel::act_if_due();
            }
            interrupted
        });
    }
    cancel::at_point(cancel::act_if_due);
    state.clock.set(state.clock.get().max(moment));
    false
}

/// Sleeps for a while; returns how much of it is left because a signal came.
fn sleep_for(nanoseconds: u64) -> u64 {
    let moment = state().clock.get().saturating_add(nanoseconds);
    let interrupted = is_interrupted_until(moment);
    if interrupted { moment.saturating_sub(state().clock.get()).max(1) } else { 0 }
}

/// What a clock shows to a thread that asks for it by number.
fn shown(clock: i32) -> Result<u64, i32> {
    match clock {
        // Processor time: virtual time is all the time there is.
        _ if is_processor_time(clock) => Ok(state().clock.get()),
        REALTIME | MONOTONIC | 4..=BOOTTIME | TAI => Ok(read(clock)),
        TAI.. => Err(errno::EINVAL),
        _ => stop!("clock_gettime of clock {clock} is not modelled"),
    }
}

/// Does what the system call does.
pub(crate) fn get(clock: i32, address: usize) -> Answer {
    guest::store(address, timespec(shown(clock)?))?;
    Ok(0)
}

/// Does what the system call does.
pub(crate) fn get_resolution(clock: i32, address: usize) -> Answer {
    match clock {
        REALTIME..=BOOTTIME | TAI => guest::store_if_wanted(address, timespec(1)).map(|()| 0),
        TAI.. => Err(errno::EINVAL),
        _ => stop!("clock_getres of clock {clock} is not modelled"),
    }
}

/// Does what the system call does.
pub(crate) fn nanosleep(clock: i32, flags: i32, request: usize, left: usize) -> Answer {
    let request = clock::given(KERNEL, request)?;
    if flags & ABSOLUTE != 0 {
        return match is_interrupted_until(virtual_moment(clock, request)) {
            true => Err(errno::EINTR),
            false => Ok(0),
        };
    }
    match sleep_for(request) {
        0 => Ok(0),
        unslept => {
            guest::store_if_wanted(left, timespec(unslept))?;
            Err(errno::EINTR)
        }
    }
}

/// Does what the system call does.
pub(crate) fn get_time_of_day(address: usize, zone: usize) -> Answer {
    let now = read(REALTIME);
    let shown = [(now / SECOND) as i64, (now % SECOND / 1000) as i64];
    guest::store_if_wanted(address, shown)?;
    guest::store_if_wanted(zone, [0u32; 2])?;
    Ok(0)
}

/// Does what the system call does.
pub(crate) fn get_seconds(address: usize) -> Answer {
    let seconds = (read(REALTIME) / SECOND) as i64;
    guest::store_if_wanted(address, seconds)?;
    Ok(seconds as isize)
}

/// Answers an instruction that reads the processor's time counter, which we have made to fault.
pub(crate) fn emulate_counter(info: usize, machine: &crate::machine::Machine) -> bool {
    /// A general protection fault: where the instruction is can be read, unlike after a wild jump.
    const BY_KERNEL: i32 = 0x80;
    let rip = machine.rip.get() as usize;
    if !crate::ending::is_running() || load::<i32>(info + 8) != BY_KERNEL {
        return false;
    }
    let length = match load::<[u8; 3]>(rip) {
        [0x0f, 0x31, _] => 2,
        [0x0f, 0x01, 0xf9] => {
            machine.rcx.set(0);
            3
        }
        _ => return false,
    };
    let now = read(MONOTONIC);
    machine.rax.set(now & 0xffff_ffff);
    machine.rdx.set(now >> 32);
    machine.rip.set(machine.rip.get() + length);
    true
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn clock_gettime(clock: i32, address: usize) -> i32 {
    match shown(clock) {
        Ok(nanoseconds) => store(address, timespec(nanoseconds)),
        Err(error) => return fail(error) as i32,
    }
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn clock_getres(clock: i32, address: usize) -> i32 {
    result(returned(get_resolution(clock, address))) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn timespec_get(address: usize, base: i32) -> i32 {
    const TIME_UTC: i32 = 1;
    if base != TIME_UTC {
        return 0;
    }
    store(address, timespec(read(REALTIME)));
    base
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn gettimeofday(address: usize, _zone: usize) -> i32 {
    let now = read(REALTIME);
    store(address, [(now / SECOND) as i64, (now % SECOND / 1000) as i64]);
    0
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn time(address: usize) -> i64 {
    let seconds = (read(REALTIME) / SECOND) as i64;
    if address != 0 {
        store(address, seconds);
    }
    seconds
}

/// Interposes libc's function: processor time in microseconds.
#[unsafe(export_name = "clock")]
extern "C" fn libc_clock() -> i64 {
    (state().clock.get() / 1000) as i64
}

/// Interposes libc's function.
#[unsafe(export_name = "nanosleep")]
extern "C" fn libc_nanosleep(request: usize, left: usize) -> i32 {
    result(returned(nanosleep(MONOTONIC, 0, request, left))) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn clock_nanosleep(clock: i32, flags: i32, request: usize, left: usize) -> i32 {
    -returned(nanosleep(clock, flags, request, left)) as i32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn usleep(microseconds: u32) -> i32 {
    match sleep_for(u64::from(microseconds) * 1000) {
        0 => 0,
        _ => fail(errno::EINTR) as i32,
    }
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn sleep(seconds: u32) -> u32 {
    sleep_for(u64::from(seconds) * SECOND).div_ceil(SECOND) as u32
}

/// Interposes libc's function.
#[unsafe(no_mangle)]
extern "C" fn settimeofday(_address: usize, _zone: usize) -> i32 {
    fail(errno::EPERM) as i32
}
