//! Distributions written out, so that a seed means the same on every machine and for ever.
//!
//! They use integers, and of floating point only what IEEE 754 fixes to the last bit. A logarithm
//! is not among that, so exponential numbers are made by von Neumann's comparisons (1951).

use super::Nanos;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// The generator that a recorded seed belongs to.
pub const GENERATOR: &str = "pcg64-mcg(splitmix64 of seed and stream)/lemire/von-neumann";

/// What randomness is used for. Each use has its own stream, so that a change of one setting,
/// the loss say, leaves what the others draw as it was, and runs can be compared.
#[derive(Clone, Copy)]
pub(super) enum Stream {
    /// Which pairs of nodes exchange data.
    Pairs = 1,
    /// When they do.
    Arrivals = 2,
    /// Delays and losses on links.
    Links = 3,
    /// Which nodes fail, and when.
    Failures = 4,
    /// What handlers choose.
    Choices = 5,
    /// Which faults happen when, and to whom.
    Faults = 6,
}

/// A stream of random numbers.
pub(super) struct Random(Pcg64Mcg);

/// Steele, Lea and Flood's SplitMix (2014): neighbouring seeds give unrelated states.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Random {
    /// The stream of a seed.
    pub(super) fn new(seed: u64, stream: Stream) -> Self {
        let mut state = seed;
        let mut state = splitmix(&mut state) ^ (stream as u64);
        let (high, low) = (splitmix(&mut state), splitmix(&mut state));
        Random(Pcg64Mcg::new(u128::from(high) << 64 | u128::from(low)))
    }

    fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// An unbiased number below `bound`, by Lemire's multiplication (2019).
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        loop {
            let product = u128::from(self.next()) * u128::from(bound);
            if (product as u64) >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// True with this probability.
    pub(super) fn chance(&mut self, probability: f64) -> bool {
        // 53 bits are a floating-point number exactly, and so is their 2^53rd part.
        ((self.next() >> 11) as f64) * (1.0 / (1u64 << 53) as f64) < probability
    }

    /// An exponentially distributed time.
    ///
    /// A run of draws that fall is started until one has an odd number of them, which happens with
    /// probability e^-x if x is its first; x and the number of runs that failed make the result.
    pub(super) fn exponential(&mut self, mean: Nanos) -> Nanos {
        let mut failed = 0;
        loop {
            let first = self.next();
            let (mut last, mut falling) = (first, 1u32);
            loop {
                let draw = self.next();
                if draw >= last {
                    break;
                }
                (last, falling) = (draw, falling + 1);
            }
            if falling % 2 == 1 {
                let part = (u128::from(first) * u128::from(mean)) >> 64;
                return mean.saturating_mul(failed).saturating_add(part as Nanos);
            }
            failed += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 200_000;

    fn random(seed: u64) -> Random {
        Random::new(seed, Stream::Links)
    }

    #[test]
    fn a_seed_gives_the_same_numbers_on_every_machine() {
        let mut random = random(1);
        let below: Vec<u64> = (0..6).map(|_| random.below(100)).collect();
        let times: Vec<u64> = (0..4).map(|_| random.exponential(1_000_000)).collect();
        assert_eq!(below, [82, 89, 85, 59, 80, 64]);
        assert_eq!(times, [591_844, 123_602, 320_423, 126_725]);
    }

    #[test]
    fn seeds_and_streams_differ() {
        let first = |seed, stream| Random::new(seed, stream).next();
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..1000 {
            for stream in [Stream::Pairs, Stream::Arrivals, Stream::Links, Stream::Failures] {
                assert!(seen.insert(first(seed, stream)));
            }
        }
    }

    #[test]
    fn numbers_below_a_bound_are_equally_likely() {
        let mut random = random(2);
        let mut counts = [0i64; 10];
        (0..DRAWS).for_each(|_| counts[random.below(10) as usize] += 1);
        // The chi-squared statistic with nine degrees of freedom; 27.9 has probability 0.001.
        let expected = DRAWS as f64 / 10.0;
        let statistic: f64 =
            counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
        assert!(statistic < 27.9, "{statistic}: {counts:?}");
        assert_eq!(random.below(1), 0);
    }

    #[test]
    fn chances_come_true_as_often_as_they_say() {
        let mut random = random(3);
        for probability in [0.0, 0.01, 0.3, 0.99, 1.0] {
            let count = (0..DRAWS).filter(|_| random.chance(probability)).count() as f64;
            let deviation = (DRAWS as f64 * probability * (1.0 - probability)).sqrt();
            assert!((count - DRAWS as f64 * probability).abs() <= 4.0 * deviation);
        }
    }

    /// The Kolmogorov–Smirnov statistic; 1.95 / sqrt(n) has probability 0.001.
    #[test]
    fn exponential_times_are_exponential() {
        let mut random = random(4);
        let mean = 1_000_000u64;
        let mut times: Vec<f64> =
            (0..DRAWS).map(|_| random.exponential(mean) as f64 / mean as f64).collect();
        times.sort_by(f64::total_cmp);
        let farthest = times.iter().enumerate().map(|(rank, time)| {
            let expected = 1.0 - (-time).exp();
            (expected - rank as f64 / DRAWS as f64).abs()
        });
        let statistic = farthest.fold(0.0, f64::max);
        assert!(statistic < 1.95 / (DRAWS as f64).sqrt(), "{statistic}");
    }
}
