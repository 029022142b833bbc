//! The functions of `everypath-verify`, which do nothing without the shim.

use crate::ending::{ended, ended_with};
use crate::fail::stop;
use crate::memory::bytes;
use crate::output;
use crate::region::{region, setup};
use crate::scheduler::{choose_way, complete, step};
use crate::state::state;
use core::fmt::{self, Write};
use everypath_shim_abi::{
    Completion, EVENT, Global, MAX_GOALS, NOTES, Object, Operation, OperationKind, Outcome, TIMEOUT,
};
use xxhash_rust::xxh3::xxh3_64;

/// Before `main` nothing is explored, so these calls are refused there.
fn require_main(function: &str) {
    if !crate::ending::is_running() {
        stop!("{function} was called before main; call it after main has begun");
    }
}

/// Text of the program, with replacements for what is no text.
struct Text(&'static [u8]);

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            f.write_str(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                f.write_char(char::REPLACEMENT_CHARACTER)?;
            }
        }
        Ok(())
    }
}

/// A number below `ways`; each of them is explored.
#[unsafe(no_mangle)]
extern "C" fn everypath_choose(ways: u32) -> u32 {
    require_main("everypath_choose");
    if ways <= 1 {
        return 0;
    }
    if ways >= u32::from(TIMEOUT) {
        stop!("everypath_choose among {ways} values; the limit is 65534");
    }
    u32::from(choose_way(ways))
}

/// Goes on only if `condition` is not 0.
#[unsafe(no_mangle)]
extern "C" fn everypath_assume(condition: i32) {
    require_main("everypath_assume");
    if condition == 0 {
        forget_reached();
        ended(Outcome::Abandoned, 0)
    }
}

/// Something is wrong unless `condition` is not 0: what, `message` says, `length` bytes.
#[unsafe(no_mangle)]
extern "C" fn everypath_always(condition: i32, message: usize, length: usize) {
    if condition == 0 {
        ended_with(Outcome::Assertion, 0, format_args!("{}", Text(bytes(message, length))))
    }
}

/// A goal, of `length` bytes, is reached if `condition` is not 0.
#[unsafe(no_mangle)]
extern "C" fn everypath_sometimes(condition: i32, goal: usize, length: usize) {
    require_main("everypath_sometimes");
    if condition == 0 {
        return;
    }
    let (region, goal) = (region(), xxh3_64(bytes(goal, length)));
    let count = region.reached_count.get() as usize;
    if region.reached[..count.min(MAX_GOALS)].iter().any(|known| known.get() == goal) {
        return;
    }
    match region.reached.get(count) {
        Some(free) => free.set(goal),
        None => stop!("more than {MAX_GOALS} different goals were reached (everypath_sometimes)"),
    }
    region.reached_count.set(count as u32 + 1);
}

/// An execution that is abandoned has reached nothing. If it began in the middle of another, that one's
/// goals cannot be told from its own, and all are kept.
fn forget_reached() {
    if !setup().canonical {
        region().reached_count.set(region().reached_before.get());
    }
}

/// Writes `length` bytes into the trace.
#[unsafe(no_mangle)]
extern "C" fn everypath_note(text: usize, length: usize) {
    require_main("everypath_note");
    let note = bytes(text, length);
    // An event of a log that is judged: its place among those of other threads matters.
    let is_event = setup().refines && note.first() == Some(&EVENT);
    let log = if is_event { Object::global(Global::Events) } else { Object::NONE };
    step(Operation::Note, log);
    // Only now, so that notes stand in the order of their steps.
    let start = region().output[NOTES - 1].length.get();
    output::append(NOTES, note);
    output::append(NOTES, &[0]);
    complete(&[OperationKind::Note], Completion::Noted(start));
}

/// Lets the network lose, duplicate and reorder what the thread looks for from now on, as far as
/// options allow it, or not if `on` is 0.
#[unsafe(no_mangle)]
extern "C" fn everypath_unreliable(on: i32) {
    require_main("everypath_unreliable");
    state().current().task.undisturbed.set(on == 0);
}

/// Until the end of the section no other thread moves.
#[unsafe(no_mangle)]
extern "C" fn everypath_atomic_begin() {
    require_main("everypath_atomic_begin");
    let state = state();
    if state.sections.get() == 0 {
        step(Operation::AtomicBegin, Object::NONE);
        state.exclusive.set(state.current.get() + 1);
    }
    state.sections.set(state.sections.get() + 1);
}

/// Ends what `everypath_atomic_begin` began.
#[unsafe(no_mangle)]
extern "C" fn everypath_atomic_end() {
    require_main("everypath_atomic_end");
    let state = state();
    match state.sections.get() {
        0 => stop!("everypath_atomic_end without everypath_atomic_begin"),
        1 => {
            step(Operation::AtomicEnd, Object::NONE);
            state.exclusive.set(0);
            state.sections.set(0);
        }
        sections => state.sections.set(sections - 1),
    }
}
