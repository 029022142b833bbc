/// Splitmix64 (Steele, Lea, Flood 2014): 64 bits of state, every seed good.
///
/// Sampled schedules name it in their traces; its output must never change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Splitmix(pub u64);

impl Splitmix {
    /// The name under which traces record it.
    pub const NAME: &str = "splitmix64";

    /// The generator of execution number `execution` of a search with `seed`.
    pub fn of(seed: u64, execution: u64) -> Self {
        let mut outer = Splitmix(seed);
        Splitmix(outer.next() ^ execution.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    /// The next 64 bits.
    #[expect(clippy::should_implement_trait, reason = "never ends, so it is no iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0. The bias is below 2^-32 for small bounds.
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.next() >> 32) * u64::from(bound)) >> 32) as u32
    }
}
