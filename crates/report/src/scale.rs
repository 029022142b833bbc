//! Axes: from values to coordinates, with ticks at round numbers.

/// A range of values laid out along an axis.
pub(crate) struct Scale {
    low: f64,
    high: f64,
    /// Where the lowest value is drawn.
    start: f64,
    /// Where the highest is.
    end: f64,
}

/// A round number on an axis.
pub(crate) struct Tick {
    /// Its place in the drawing.
    pub(crate) place: f64,
    /// Its text.
    pub(crate) label: String,
}

impl Scale {
    /// An axis from `start` to `end` that shows values from `low` to `high`. If these are equal,
    /// it shows some more to either side.
    pub(crate) fn new((low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        let equal = high - low <= low.abs().max(high.abs()) * 1e-9;
        let margin = if !equal {
            0.0
        } else if low == 0.0 {
            1.0
        } else {
            low.abs() * 0.1
        };
        Scale { low: low - margin, high: high + margin, start, end }
    }

    /// Where a value is drawn.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        self.start + share * (self.end - self.start)
    }

    /// Round numbers, `most` of them at most, no closer to each other than `least`.
    pub(crate) fn ticks(&self, most: usize, least: f64) -> Vec<Tick> {
        let wanted = ((self.high - self.low) / most as f64).max(least);
        let (factor, exponent) = round_step(wanted);
        let step = decimal(factor, exponent);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        let decimals = usize::try_from(-exponent).unwrap_or(0);
        let tick = |number: i64| {
            let value = decimal(number * factor, exponent);
            Tick { place: self.place(value), label: format!("{value:.decimals$}") }
        };
        (first..=last).map(tick).collect()
    }
}

/// The smallest of 1, 2 and 5, times a power of ten, that is at least `wanted`.
fn round_step(wanted: f64) -> (i64, i32) {
    let text = format!("{wanted:e}");
    let exponent: i32 = text.split('e').nth(1).and_then(|digits| digits.parse().ok()).unwrap_or(0);
    let fits =
        |&(factor, exponent): &(i64, i32)| decimal(factor, exponent) >= wanted * (1.0 - 1e-9);
    [(1, exponent), (2, exponent), (5, exponent)]
        .into_iter()
        .find(fits)
        .unwrap_or((1, exponent + 1))
}

/// `number` times a power of ten, to the last bit; powers by multiplication would not be.
fn decimal(number: i64, exponent: i32) -> f64 {
    format!("{number}e{exponent}").parse().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(range: (f64, f64), most: usize, least: f64, expected: &[&str]) {
        let ticks = Scale::new(range, (0.0, 100.0)).ticks(most, least);
        assert_eq!(ticks.into_iter().map(|tick| tick.label).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn ticks_are_round_numbers() {
        check((0.0, 1.0), 5, 0.0, &["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        check((49.82, 50.11), 4, 0.0, &["49.9", "50.0", "50.1"]);
        check((0.0, 24_000.0), 5, 0.0, &["0", "5000", "10000", "15000", "20000"]);
        check((1.0, 3.0), 12, 1.0, &["1", "2", "3"]);
        check((-3.0, 3.0), 3, 0.0, &["-2", "0", "2"]);
        check((7.0, 7.0), 2, 0.0, &["7"]);
        check((0.0, 0.0), 2, 0.0, &["-1", "0", "1"]);
    }

    #[test]
    fn values_have_their_places() {
        let scale = Scale::new((10.0, 20.0), (100.0, 0.0));
        assert_eq!([10.0, 15.0, 20.0].map(|value| scale.place(value)), [100.0, 50.0, 0.0]);
        let constant = Scale::new((50.0, 50.0), (0.0, 10.0));
        assert_eq!(constant.place(50.0), 5.0);
    }
}
