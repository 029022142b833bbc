//! Who the program is: users, groups, capabilities, sessions and priorities, which it may change.
//!
//! What files it may open then is asked of the kernel under that identity: see [`as_user`].

use crate::fail::stop;
use crate::guest;
use crate::state::{FIRST_TID, Identity, first_tid, state};
use crate::sys::{Answer, errno, number, sys};
use core::cell::Cell;

pub(crate) const EFFECTIVE: usize = 1;

pub(crate) const USER: usize = 0;
pub(crate) const GROUP: usize = 1;

/// The identity that the process has.
pub(crate) fn identity(of: usize) -> Identity {
    let credentials = &state().settings.credentials;
    if credentials.is_changed.get() {
        return credentials.identities[of].get();
    }
    let mut began = [0u32; 3];
    let [real, effective, saved] = began.each_mut().map(core::ptr::from_mut);
    let call = if of == USER { number::GETRESUID } else { number::GETRESGID };
    sys!(call, real, effective, saved);
    began
}

/// The user and the group in whose name files are made and opened.
pub(crate) fn effective() -> [u32; 2] {
    [identity(USER)[EFFECTIVE], identity(GROUP)[EFFECTIVE]]
}

/// Whether the process has become somebody else.
pub(crate) fn has_dropped() -> bool {
    state().settings.credentials.is_changed.get()
}

/// The user who started the process.
pub(crate) fn real_user() -> u32 {
    identity(USER)[0]
}

/// Whether the process may do what only root may.
pub(crate) fn is_root() -> bool {
    effective()[USER] == 0
}

fn become_this(of: usize, new: Identity) -> Answer {
    let now = [identity(USER), identity(GROUP)];
    let credentials = &state().settings.credentials;
    if now[of] != new {
        for (slot, before) in credentials.identities.iter().zip(now) {
            slot.set(before);
        }
        credentials.identities[of].set(new);
        credentials.is_changed.set(true);
    }
    Ok(0)
}

pub(crate) fn become_one(of: usize, id: u32) -> Answer {
    let now = identity(of);
    match now {
        _ if id == u32::MAX => Err(errno::EINVAL),
        _ if is_root() => become_this(of, [id; 3]),
        [real, _, saved] if id == real || id == saved => become_this(of, [real, id, saved]),
        _ => Err(errno::EPERM),
    }
}

/// What is meant where -1 stands for what is there.
fn or_as_is(id: u32, now: u32) -> u32 {
    if id == u32::MAX { now } else { id }
}

pub(crate) fn become_real(of: usize, real: u32, effective: u32) -> Answer {
    let now @ [was_real, was_effective, saved] = identity(of);
    let may_be_real = [was_real, was_effective, u32::MAX].contains(&real);
    let may_be_effective = effective == u32::MAX || now.contains(&effective);
    if !(is_root() || may_be_real && may_be_effective) {
        return Err(errno::EPERM);
    }
    let new = [or_as_is(real, was_real), or_as_is(effective, was_effective)];
    let keeps = real == u32::MAX && (effective == u32::MAX || effective == was_real);
    become_this(of, [new[0], new[1], if keeps { saved } else { new[1] }])
}

pub(crate) fn become_all(of: usize, ids: [usize; 3]) -> Answer {
    let now = identity(of);
    let mut new = ids.map(|id| id as u32);
    for (id, before) in new.iter_mut().zip(now) {
        *id = or_as_is(*id, before);
    }
    if !is_root() && !new.iter().all(|id| now.contains(id)) {
        return Err(errno::EPERM);
    }
    become_this(of, new)
}

pub(crate) fn tell(of: usize, places: [usize; 3]) -> Answer {
    for (place, id) in places.into_iter().zip(identity(of)) {
        guest::store(place, id)?;
    }
    Ok(0)
}

/// To which groups else it belongs, nothing here asks.
pub(crate) fn set_groups(count: usize, groups: usize) -> Answer {
    guest::bytes(groups, count.saturating_mul(4))?;
    if is_root() { Ok(0) } else { Err(errno::EPERM) }
}

/// Asks the kernel something about files, in the name of the effective user and group.
pub(crate) fn as_user<T>(ask: impl FnOnce() -> T) -> T {
    const SET_DEATH_SIGNAL: usize = 1;
    const SET_DUMPABLE: usize = 4;
    const KILL: usize = 9;
    let credentials = &state().settings.credentials;
    let [user, group] = effective();
    let machine = [sys!(number::GETEUID), sys!(number::GETEGID)];
    if !credentials.is_changed.get() || machine == [user as isize, group as isize] {
        return ask();
    }
    let parent = sys!(number::GETPPID);
    sys!(number::SETFSGID, group);
    sys!(number::SETFSUID, user);
    let answer = ask();
    sys!(number::SETFSUID, machine[0]);
    sys!(number::SETFSGID, machine[1]);
    // The kernel forgets both when the identity changes.
    sys!(number::PRCTL, SET_DUMPABLE, 1, 0, 0, 0);
    sys!(number::PRCTL, SET_DEATH_SIGNAL, KILL, 0, 0, 0);
    if sys!(number::GETPPID) != parent {
        crate::fail::unable("the checker is gone");
    }
    answer
}

/// Whether a number of a process means this one.
pub(crate) fn own(process: usize) -> Result<(), i32> {
    if process != 0 && process as i32 != first_tid() {
        stop!("sessions and groups of other processes are not modelled");
    }
    Ok(())
}

/// `capget` and `capset`, of this process: what it gives up it sees, but nothing is refused for it.
pub(crate) fn capabilities(call: i64, header: usize, data: usize) -> Answer {
    const VERSIONS: [u32; 3] = [0x1998_0330, 0x2007_1026, 0x2008_0522];
    let [version, process] = guest::load::<[u32; 2]>(header)?;
    if !VERSIONS.contains(&version) {
        guest::store(header, VERSIONS[2])?;
        return if data == 0 { Ok(0) } else { Err(errno::EINVAL) };
    }
    own(process as usize)?;
    let length = if version == VERSIONS[0] { 3 } else { 6 };
    let credentials = &state().settings.credentials;
    let mut now = credentials.capabilities.each_ref().map(Cell::get);
    if !credentials.has_capabilities.get() {
        let head = [VERSIONS[2], 0];
        sys!(number::CAPGET, head.as_ptr(), now.as_mut_ptr());
    }
    let mut given = now;
    for (at, word) in given[..length].iter_mut().enumerate() {
        match call {
            number::CAPGET if data != 0 => guest::store(data + 4 * at, *word)?,
            number::CAPGET => {}
            _ => *word = guest::load(data + 4 * at)?,
        }
    }
    if call == number::CAPSET {
        // Permitted ones can only be given up, and only those can be effective.
        let exceeds = |half: usize| {
            let [effective, permitted] = [given[3 * half], given[3 * half + 1]];
            permitted & !now[3 * half + 1] != 0 || effective & !permitted != 0
        };
        if exceeds(0) || exceeds(1) {
            return Err(errno::EPERM);
        }
        credentials.has_capabilities.set(true);
        for (slot, word) in credentials.capabilities.iter().zip(given) {
            slot.set(word);
        }
    }
    Ok(0)
}

/// What the kernel's call returns is 20 less how nice somebody is.
pub(crate) fn get_priority(which: usize, who: usize) -> Answer {
    const PROCESS: usize = 0;
    const USER_TOO: usize = 2;
    let credentials = &state().settings.credentials;
    if which > USER_TOO {
        return Err(errno::EINVAL);
    }
    if !credentials.is_nice.get() {
        return crate::sys::answer(sys!(number::GETPRIORITY, PROCESS, 0));
    }
    let _: usize = who;
    Ok(20 - credentials.nice.get() as isize)
}

pub(crate) fn set_priority(which: usize, who: usize, nice: i32) -> Answer {
    const USER_TOO: usize = 2;
    if which > USER_TOO {
        return Err(errno::EINVAL);
    }
    if which == 0 && who as i32 >= FIRST_TID {
        // Threads have one value here: none of them is scheduled by it.
    } else {
        own(who)?;
    }
    let now = 20 - get_priority(which, who)? as i32;
    let nice = nice.clamp(-20, 19);
    if nice < now && !is_root() {
        return Err(errno::EACCES);
    }
    let credentials = &state().settings.credentials;
    credentials.nice.set(nice);
    credentials.is_nice.set(true);
    Ok(0)
}
