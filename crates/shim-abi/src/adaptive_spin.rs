//! Waiting for the other side without sleeping, as long as that is worth it.

/// How long to look before sleeping. It is worth it if the other side has a processor of its own, and
/// a waste of this one if it has not: whoever looked in vain does so only for a moment the next times,
/// and less and less often tries again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct AdaptiveSpin {
    /// After how many short waits the next long one is tried.
    pause: u32,
    /// How many of them are left.
    left: u32,
}

/// About a hundred microseconds: more than the other side mostly takes.
const LONG: u32 = 8000;
/// About as long as it takes to sleep and be woken.
const SHORT: u32 = 500;
const LONGEST_PAUSE: u32 = 1024;

impl AdaptiveSpin {
    /// Nothing was waited for yet.
    pub const fn new() -> Self {
        AdaptiveSpin { pause: 0, left: 0 }
    }

    /// Looks for a while whether something is the case.
    pub fn wait(&mut self, is_it: impl Fn() -> bool) -> bool {
        let looks = if self.left == 0 { LONG } else { SHORT };
        let found = (0..looks).any(|_| {
            core::hint::spin_loop();
            is_it()
        });
        if self.left > 0 {
            self.left -= 1;
        } else if found {
            self.pause = 0;
        } else {
            self.pause = (self.pause * 2).clamp(16, LONGEST_PAUSE);
            self.left = self.pause;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::{AdaptiveSpin, LONG, SHORT};
    use core::cell::Cell;

    /// How often is looked in a wait that is in vain, or not.
    fn looks(patience: &mut AdaptiveSpin, found: bool) -> u32 {
        let looks = Cell::new(0);
        let is_it = || {
            looks.set(looks.get() + 1);
            found
        };
        assert_eq!(patience.wait(is_it), found);
        looks.get()
    }

    #[test]
    fn who_waits_in_vain_is_less_patient() {
        let mut patience = AdaptiveSpin::default();
        assert_eq!(looks(&mut patience, true), 1);
        assert_eq!(looks(&mut patience, false), LONG);
        for pause in [16, 32, 64] {
            assert!((0..pause).all(|_| looks(&mut patience, false) == SHORT));
            assert_eq!(looks(&mut patience, false), LONG);
        }
        assert!((0..128).all(|_| looks(&mut patience, true) == 1));
        // A long wait that is worth it makes up for all before.
        assert_eq!(looks(&mut patience, true), 1);
        assert_eq!(looks(&mut patience, false), LONG);
        assert_eq!(looks(&mut patience, false), SHORT);
    }
}
