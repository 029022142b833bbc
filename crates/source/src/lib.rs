//! Slices of source text: which functions a handler can reach, by name, and a fingerprint of them.
//!
//! - [`sources!`]: records source files at compile time. [`switches!`]: and what they were built
//!   with.
//! - [`Program`]: those files, split into items. [`Slice`]: the part of it that something reaches.
//!
//! Names are followed, not types: a method call reaches every method of that name in the files,
//! and a type that is reached brings along all traits that it implements. So a slice may be too
//! large, and never is too small as long as everything that matters is in the files. Comments and
//! layout do not count.

mod item;
mod slice;
mod token;

pub use slice::{Program, Slice};

use xxhash_rust::xxh3::Xxh3;

/// A fingerprint of whole files, comments and layout left out.
pub fn fingerprint<'a>(texts: impl IntoIterator<Item = &'a str>) -> u128 {
    let mut sum = Xxh3::new();
    for token in texts.into_iter().flat_map(token::tokens) {
        sum.update(token.as_bytes());
        sum.update(b"\n");
    }
    sum.digest128()
}

/// A source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name, relative to the file that recorded it.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// Records source files, named relative to the file in which this is written.
#[macro_export]
macro_rules! sources {
    ($($file:literal),* $(,)?) => {
        &[$($crate::Source { file: $file, text: include_str!($file) }),*]
    };
}

/// The fields of a struct with their values; it does not compile unless all are named.
///
/// They are what a program is switched by without a change of its text.
#[macro_export]
macro_rules! switches {
    ($value:expr, $type:ident { $($field:ident),* $(,)? }) => {{
        let $type { $($field),* } = $value;
        vec![$((stringify!($field), format!("{:?}", $field))),*]
    }};
}
