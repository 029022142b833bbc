//! Choices of some of several.

/// In how many ways `most` of `all` can be chosen; one if everybody is.
pub fn ways(all: u32, most: u32) -> u32 {
    if most >= all {
        return 1;
    }
    (0..u64::from(most)).fold(1u64, |ways, i| ways * (u64::from(all) - i) / (i + 1)) as u32
}

/// The `index`-th way to take `take` of `all`, one yes or no after the other.
#[derive(Clone, Copy, Debug)]
pub struct Combination {
    all: u32,
    take: u32,
    index: u32,
}

impl Combination {
    /// See [`Combination`].
    pub fn new(all: u32, take: u32, index: u32) -> Self {
        Combination { all, take, index }
    }

    /// Whether the next one is taken.
    pub fn takes_next(&mut self) -> bool {
        if self.take == 0 || self.all == 0 {
            return false;
        }
        // So many ways take this one; the rest do not.
        let with = if self.take >= self.all { u32::MAX } else { ways(self.all - 1, self.take - 1) };
        self.all -= 1;
        if self.index < with {
            self.take -= 1;
            return true;
        }
        self.index -= with;
        false
    }
}
