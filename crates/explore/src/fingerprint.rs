//! 128-bit fingerprints of canonical bytes.

use std::fmt;

/// The XXH3 hash, 128 bits wide, of a state's canonical bytes.
///
/// XXH3 is specified and seedless, so a fingerprint is the same on every machine and may be kept
/// in a file. With n states the chance that any two share a fingerprint is about n²/2¹²⁹: less
/// than one in 10¹⁸ for a thousand million states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub u128);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The fingerprint of `bytes`.
pub fn fingerprint(bytes: &[u8]) -> Fingerprint {
    Fingerprint(xxhash_rust::xxh3::xxh3_128(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_specification() {
        // The published XXH3-128 value of the empty input with seed 0.
        assert_eq!(fingerprint(b"").to_string(), "99aa06d3014798d86001c324468d497f");
    }
}
