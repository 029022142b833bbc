//! The digest of an execution's output and files, for the checker to judge.
//!
//! Most executions leave behind what another one has left before. They are told by a hash, so that
//! the checker looks only at what it has not seen.

use crate::files::{FileLeft, left_behind};
use crate::memory::bytes;
use crate::region::{region, reply, setup};
use crate::sys::{number, sys};
use core::mem::size_of;
use everypath_shim_abi::{FileHeader, NOTES, OWN_OUTPUTS, Outcome, reserved_fds};
use xxhash_rust::xxh3::Xxh3;

/// Hashes what the execution that has just ended well leaves behind, and hands it over unless it is known
/// to be right.
pub(crate) fn settle() {
    let region = region();
    let contents = hash();
    let known = &region.accepted[..region.accepted_count.get() as usize];
    // An execution that was abandoned does not count.
    let abandoned = region.reply.get().outcome == Outcome::Abandoned;
    if abandoned || known.iter().any(|known| known.get() == contents) {
        return;
    }
    reply(|reply| {
        reply.contents = contents;
        reply.ended = reply.outcome;
        reply.outcome = Outcome::Unaccepted;
    });
    hand_over();
}

fn hash() -> u128 {
    let mut output = Xxh3::new();
    let streams = if setup().refines { NOTES } else { OWN_OUTPUTS };
    for stream in &region().output[..streams] {
        let length = stream.length.get();
        output.update(&length.to_ne_bytes());
        let kept = (length as usize).min(stream.bytes.len());
        output.update(bytes(stream.bytes.as_ptr() as usize, kept));
    }
    // A sum does not depend on which file was made first.
    left_behind().fold(output.digest128(), |sum, file| {
        let mut hash = Xxh3::new();
        hash.update(header(&file));
        hash.update(file.path);
        hash.update(file.data);
        sum.wrapping_add(hash.digest128())
    })
}

fn header(file: &FileLeft) -> &'static [u8] {
    bytes((&raw const file.header) as usize, size_of::<FileHeader>())
}

fn hand_over() {
    sys!(number::FTRUNCATE, reserved_fds::FILES, 0);
    let mut at = 0;
    let mut write = |bytes: &[u8]| {
        let mut left = bytes;
        while !left.is_empty() {
            let done = sys!(number::PWRITE64, reserved_fds::FILES, left.as_ptr(), left.len(), at);
            if done <= 0 {
                crate::fail::unable("no memory is left for the files that the program wrote");
            }
            at += done as usize;
            left = &left[done as usize..];
        }
    };
    for file in left_behind() {
        write(header(&file));
        write(file.path);
        write(&[0]);
        write(file.data);
    }
}
