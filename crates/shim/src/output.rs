//! Standard output and error, notes, and the message log: captured for each execution.

use crate::guest;
use crate::objects;
use crate::region::region;
use crate::scheduler::point;
use crate::sys::Answer;
use everypath_shim_abi::{MAX_OUTPUT, OUTPUTS, OWN_OUTPUTS, Operation};

/// Writes to stream 1 or 2: kept outside the program's memory, and a step only on request.
pub(crate) fn write(stream: usize, address: usize, length: usize) -> Answer {
    if crate::region::setup().output_steps {
        point(Operation::Output(length as u64), objects::stream(stream));
    }
    let given = guest::readable(address, length)?;
    append(stream, given);
    Ok(given.len() as isize)
}

/// Adds bytes to a stream.
pub(crate) fn append(stream: usize, bytes: &[u8]) {
    if !crate::region::is_open() {
        return;
    }
    // Notes stand in one order, whoever made them, and so does what passes between sockets.
    let own = if stream <= OWN_OUTPUTS { OUTPUTS * crate::multi_process::process() } else { 0 };
    let output = &region().output[own + stream - 1];
    let start = output.length.get() as usize;
    let kept = bytes.len().min(MAX_OUTPUT.saturating_sub(start));
    crate::memory::write(output.bytes.as_ptr() as usize + start, &bytes[..kept]);
    output.length.set((start + bytes.len()) as u64);
}
