//! Compiled programs as files.

use crate::common::Compiled;

impl Compiled {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.path).expect("the compiler wrote a file")
    }
}
