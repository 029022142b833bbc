//! Usage errors: bad options and input files (exit code 2).

use std::fmt;

/// One clear message that says what is wrong, where, and what to do.
#[derive(Debug)]
pub struct Usage(String);

impl Usage {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Usage(message.into())
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
