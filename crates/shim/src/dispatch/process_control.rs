//! `prctl`: what a process says about itself and its threads.

use super::Handlers;
use crate::fail::stop;
use crate::guest;
use crate::state::state;
use crate::sys::{Answer, answer, errno, number, sys};

pub(super) const HANDLERS: Handlers =
    &[(number::PRCTL, |_, [what, a, b, c, d, _]| control(what as i32, [a, b, c, d]))];

const SET_DEATH_SIGNAL: i32 = 1;
const GET_DEATH_SIGNAL: i32 = 2;
const GET_DUMPABLE: i32 = 3;
const SET_DUMPABLE: i32 = 4;
const GET_KEEP_CAPABILITIES: i32 = 7;
const SET_KEEP_CAPABILITIES: i32 = 8;
const SET_NAME: i32 = 15;
const GET_NAME: i32 = 16;
const GET_SECCOMP: i32 = 21;
const READ_BOUNDING_CAPABILITY: i32 = 23;
const GET_TIME_COUNTER: i32 = 25;
const SET_TIMER_SLACK: i32 = 29;
const GET_TIMER_SLACK: i32 = 30;
const SET_SUBREAPER: i32 = 36;
const GET_SUBREAPER: i32 = 37;
const SET_NO_NEW_PRIVILEGES: i32 = 38;
const GET_NO_NEW_PRIVILEGES: i32 = 39;
const SET_NO_HUGE_PAGES: i32 = 41;
const GET_NO_HUGE_PAGES: i32 = 42;
const SET_TRACER: i32 = 0x5961_6d61;
const NAME_MAPPING: i32 = 0x5356_4d41;

fn control(what: i32, arguments: [usize; 4]) -> Answer {
    let settings = &state().settings;
    let [value, ..] = arguments;
    match what {
        SET_NAME => set_name(value),
        GET_NAME => guest::write(value, &state().current().name.get()).map(|()| 0),
        SET_DEATH_SIGNAL if value > 64 => Err(errno::EINVAL),
        SET_DEATH_SIGNAL => {
            settings.death_signal.set(value as i32);
            Ok(0)
        }
        GET_DEATH_SIGNAL => guest::store(value, settings.death_signal.get()).map(|()| 0),
        GET_DUMPABLE => Ok(!settings.is_not_dumpable.get() as isize),
        SET_DUMPABLE if value > 1 => Err(errno::EINVAL),
        SET_DUMPABLE => {
            settings.is_not_dumpable.set(value == 0);
            Ok(0)
        }
        GET_KEEP_CAPABILITIES => Ok(settings.keeps_capabilities.get() as isize),
        SET_KEEP_CAPABILITIES if value > 1 => Err(errno::EINVAL),
        SET_KEEP_CAPABILITIES => {
            settings.keeps_capabilities.set(value == 1);
            Ok(0)
        }
        GET_SUBREAPER => guest::store(value, settings.is_subreaper.get() as i32).map(|()| 0),
        SET_SUBREAPER => {
            settings.is_subreaper.set(value != 0);
            Ok(0)
        }
        SET_NO_NEW_PRIVILEGES if arguments == [1, 0, 0, 0] => {
            settings.has_no_new_privileges.set(true);
            Ok(0)
        }
        GET_NO_NEW_PRIVILEGES if arguments == [0; 4] => {
            Ok(settings.has_no_new_privileges.get() as isize)
        }
        SET_NO_HUGE_PAGES if arguments[2..] == [0; 2] => {
            settings.has_no_huge_pages.set(value != 0);
            Ok(0)
        }
        GET_NO_HUGE_PAGES if arguments == [0; 4] => Ok(settings.has_no_huge_pages.get() as isize),
        SET_NO_NEW_PRIVILEGES | GET_NO_NEW_PRIVILEGES | SET_NO_HUGE_PAGES | GET_NO_HUGE_PAGES => {
            Err(errno::EINVAL)
        }
        SET_TIMER_SLACK | GET_TIMER_SLACK => timer_slack(what == SET_TIMER_SLACK, value),
        // No filter of syscalls can be set.
        GET_SECCOMP => Ok(0),
        // Reading the time counter works, by our doing.
        GET_TIME_COUNTER => guest::store(value, 1i32).map(|()| 0),
        // Constant, since capabilities cannot be changed.
        READ_BOUNDING_CAPABILITY => answer(sys!(number::PRCTL, what, value, 0, 0, 0)),
        // Nobody traces the program, and names of mappings are seen in /proc only.
        SET_TRACER | NAME_MAPPING => Ok(0),
        _ => stop!("prctl({what}, {value:#x}) is not modelled"),
    }
}

fn set_name(address: usize) -> Answer {
    const LONGEST: usize = 15;
    let mut name = [0; LONGEST + 1];
    for (at, byte) in name[..LONGEST].iter_mut().enumerate() {
        *byte = guest::load(address + at)?;
        if *byte == 0 {
            break;
        }
    }
    state().current().name.set(name);
    Ok(0)
}

fn timer_slack(is_set: bool, value: usize) -> Answer {
    const DEFAULT: u64 = 50_000;
    let slack = &state().settings.timer_slack;
    if is_set {
        slack.set(if value == 0 { 0 } else { value as u64 + 1 });
        return Ok(0);
    }
    Ok(slack.get().checked_sub(1).unwrap_or(DEFAULT) as isize)
}
