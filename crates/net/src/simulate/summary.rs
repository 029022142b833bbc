//! Replications: mean and confidence interval of each metric.

/// What several runs say about a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many runs have a value.
    pub count: usize,
    /// The mean.
    pub mean: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// Half the width of the interval around the mean that covers the true mean with a
    /// probability of 95 %, if the values are normally distributed; `None` if there is only one.
    pub ci95: Option<f64>,
}

impl Summary {
    /// The summary of the values that there are; `None` if there are none.
    ///
    /// ```
    /// use everypath_net::simulate::Summary;
    ///
    /// let summary = Summary::of([Some(1.0), None, Some(3.0)]).unwrap();
    /// assert_eq!((summary.count, summary.mean), (2, 2.0));
    /// assert!((summary.ci95.unwrap() - 12.706).abs() < 1e-3);
    /// ```
    pub fn of(values: impl IntoIterator<Item = Option<f64>>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().flatten().collect();
        let count = values.len();
        let first = *values.first()?;
        let (min, max) =
            values.iter().fold((first, first), |(min, max), &v| (min.min(v), max.max(v)));
        // The mean of equal values is that value, which rounding could spoil.
        let sum: f64 = values.iter().sum();
        let mean = (sum / count as f64).clamp(min, max);
        let ci95 = (count > 1).then(|| {
            let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
            let deviation = (squares / (count - 1) as f64).sqrt();
            student_t95(count - 1) * deviation / (count as f64).sqrt()
        });
        Some(Summary { count, mean, min, max, ci95 })
    }
}

/// The quantiles at 97.5 % of Student's distribution with 1 to 30 degrees of freedom.
const T: [f64; 30] = [
    12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004,
    2.262_157, 2.228_139, 2.200_985, 2.178_813, 2.160_369, 2.144_787, 2.131_450, 2.119_905,
    2.109_816, 2.100_922, 2.093_024, 2.085_963, 2.079_614, 2.073_873, 2.068_658, 2.063_899,
    2.059_539, 2.055_529, 2.051_831, 2.048_407, 2.045_230, 2.042_272,
];

/// How many standard errors a 95 % interval extends to either side of a mean, by Student's
/// distribution with so many degrees of freedom (at least one).
///
/// A table up to 30; beyond, Cornish and Fisher's expansion (1938), whose error there is below
/// one in a million.
pub fn student_t95(degrees: usize) -> f64 {
    if let Some(&quantile) = degrees.checked_sub(1).and_then(|at| T.get(at)) {
        return quantile;
    }
    let z = 1.959_963_984_540_054_f64;
    let n = degrees.max(1) as f64;
    let (z3, z5, z7) = (z * z * z, z * z * z * z * z, z * z * z * z * z * z * z);
    z + (z3 + z) / (4.0 * n)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n * n * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simpson's rule.
    fn integral(f: impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
        let steps = 20_000;
        let width = (to - from) / f64::from(steps);
        let inner = (1..steps).map(|at| {
            let weight = if at % 2 == 1 { 4.0 } else { 2.0 };
            weight * f(from + f64::from(at) * width)
        });
        (f(from) + inner.sum::<f64>() + f(to)) * width / 3.0
    }

    /// With t = sqrt(n) tan(a) the density is cos(a)^(n-1) on a finite range.
    #[test]
    fn quantiles_leave_five_percent_outside() {
        for degrees in (1..=40).chain([60, 120, 1000]) {
            let n = degrees as f64;
            let f = |angle: f64| angle.cos().max(0.0).powf(n - 1.0);
            let angle = (student_t95(degrees) / n.sqrt()).atan();
            let inside = integral(f, 0.0, angle) / integral(f, 0.0, std::f64::consts::FRAC_PI_2);
            assert!((inside - 0.95).abs() < 1e-6, "{degrees}: {inside}");
        }
    }

    #[test]
    fn quantiles_are_those_of_printed_tables() {
        for (degrees, printed) in [
            (1, "12.706"),
            (2, "4.303"),
            (9, "2.262"),
            (30, "2.042"),
            (40, "2.021"),
            (120, "1.980"),
        ] {
            assert_eq!(format!("{:.3}", student_t95(degrees)), printed);
        }
        assert_eq!(format!("{:.4}", student_t95(usize::MAX)), "1.9600");
    }

    #[test]
    fn a_summary_by_hand() {
        let summary = Summary::of([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].map(Some)).unwrap();
        assert_eq!((summary.mean, summary.min, summary.max), (5.0, 2.0, 9.0));
        // The squares sum to 32, so the standard error is sqrt(32 / 7 / 8).
        let expected = 2.364_624 * (32.0f64 / 56.0).sqrt();
        assert!((summary.ci95.unwrap() - expected).abs() < 1e-12);
        assert_eq!(Summary::of([Some(0.1); 3]).unwrap().ci95, Some(0.0));
        assert_eq!(Summary::of([Some(1.0)]).unwrap().ci95, None);
        assert_eq!(Summary::of([None]), None);
    }
}
