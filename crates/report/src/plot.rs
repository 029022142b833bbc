//! Plots of metrics as SVG.

use crate::scale::Scale;
use crate::svg::Svg;
use std::fmt::Display;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 440.0;
/// The frame of the plotting area.
const LEFT: f64 = 80.0;
const RIGHT: f64 = 690.0;
const TOP: f64 = 104.0;
const BOTTOM: f64 = 382.0;

const INK: &str = "#1f2937";
const FAINT: &str = "#6b7280";
const GRID: &str = "#e5e7eb";
const BLUE: &str = "#2563eb";
const ORANGE: &str = "#ea580c";
/// Colours that can be told from each other.
const COLOURS: [&str; 6] = [BLUE, ORANGE, "#16a34a", "#9333ea", "#0891b2", "#be123c"];

/// What the words around a plot say.
pub struct Caption<'a> {
    /// What is shown.
    pub title: &'a str,
    /// Of what, under which conditions.
    pub subtitle: &'a str,
    /// What values are measured in; may be empty.
    pub unit: &'a str,
}

/// A metric in several replications.
pub struct Replications<'a> {
    /// The seed of the first replication; those of the others follow.
    pub seed: u64,
    /// A value for each replication that has one.
    pub values: &'a [Option<f64>],
    /// Their mean.
    pub mean: f64,
    /// Half the width of the confidence interval around it.
    pub ci95: Option<f64>,
}

impl Replications<'_> {
    /// Everything that must be visible, with some air around it.
    fn range(&self) -> (f64, f64) {
        let half = self.ci95.unwrap_or(0.0);
        let interval = [self.mean - half, self.mean + half];
        let values = self.values.iter().flatten().copied().chain(interval);
        let (low, high) = range(values).unwrap_or_default();
        let air = (high - low) * 0.08;
        match (low, high) {
            (0.0, 0.0) => (0.0, 1.0),
            // What is never negative needs no air below zero.
            _ if low >= 0.0 => ((low - air).max(0.0), high + air),
            _ => (low - air, high + air),
        }
    }

    /// Draws every replication as a dot, with the mean and its interval behind them.
    pub fn plot(&self, caption: &Caption<'_>) -> String {
        let mut frame = Frame::new(caption);
        let first = self.seed as f64;
        let last = first + (self.values.len() as f64 - 1.0);
        let x = Scale::new((first - 0.5, last + 0.5), (LEFT, RIGHT));
        let y = Scale::new(self.range(), (BOTTOM, TOP));
        frame.axes(&x, &y, 1.0);
        frame.names("seed of the replication", caption.unit);
        if let Some(half) = self.ci95 {
            let (top, bottom) = (y.place(self.mean + half), y.place(self.mean - half));
            // An interval of no width is still to be seen.
            let height = (bottom - top).max(2.0);
            frame.rect((LEFT, top), (RIGHT - LEFT, height), ORANGE, 0.14);
        }
        let mean = y.place(self.mean);
        frame.line((LEFT, mean), (RIGHT, mean), &[("stroke", &ORANGE), ("stroke-width", &2)]);
        for (seed, value) in (0..).map(|at| first + f64::from(at)).zip(self.values) {
            if let Some(value) = value {
                frame.dot((x.place(seed), y.place(*value)), BLUE);
            }
        }
        let summary = match self.ci95 {
            Some(half) => format!("mean {} ± {} (95 %)", significant(self.mean), significant(half)),
            None => format!("mean {}", significant(self.mean)),
        };
        frame.legend(&[(ORANGE, &summary), (BLUE, "each replication")]);
        frame.svg.finish()
    }
}

/// A distribution in several replications, as the shares of values that are no larger.
pub struct Distribution<'a> {
    /// For each replication the quantiles, at equal distances up to 100 %; all of one length.
    pub quantiles: &'a [Vec<f64>],
}

impl Distribution<'_> {
    /// Draws the cumulative distribution of every replication, and of all together.
    pub fn plot(&self, caption: &Caption<'_>) -> String {
        let mut frame = Frame::new(caption);
        let high = self.quantiles.iter().flatten().copied().fold(0.0, f64::max);
        let x = Scale::new((0.0, high * 1.04), (LEFT, RIGHT));
        let y = Scale::new((0.0, 100.0), (BOTTOM, TOP));
        frame.axes(&x, &y, 0.0);
        frame.names(caption.unit, "% that take no longer");
        for percent in [50.0, 95.0] {
            let height = y.place(percent);
            let stroke: [(&str, &dyn Display); 2] =
                [("stroke", &FAINT), ("stroke-dasharray", &"2 4")];
            frame.line((LEFT, height), (RIGHT, height), &stroke);
            frame.label(&format!("{percent} %"), (RIGHT - 4.0, height + 13.0), "end", 11);
        }
        for curve in self.quantiles {
            frame.curve(&points(curve, &x, &y), (BLUE, 1.0, 0.3));
        }
        frame.curve(&points(&self.together(), &x, &y), (ORANGE, 2.5, 1.0));
        frame.legend(&[(ORANGE, "all replications"), (BLUE, "each replication")]);
        frame.svg.finish()
    }

    /// The distribution of all replications together, each of equal weight.
    fn together(&self) -> Vec<f64> {
        let count = self.quantiles.len();
        let mut all: Vec<f64> = self.quantiles.iter().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        all.chunks(count.max(1)).filter_map(|share| share.last().copied()).collect()
    }
}

/// The places of the steps of a cumulative distribution.
fn points(curve: &[f64], x: &Scale, y: &Scale) -> String {
    let mut points = String::new();
    let mut share = 0.0;
    for (value, number) in curve.iter().zip(1..) {
        let place = x.place(*value);
        points += &format!("{place:.1},{:.1} ", y.place(share));
        share = f64::from(number) * 100.0 / curve.len() as f64;
        points += &format!("{place:.1},{:.1} ", y.place(share));
    }
    points.trim_end().into()
}

/// How something grows.
pub struct Curve {
    /// What is measured.
    pub name: String,
    /// Where it is measured, and the values, which are larger than zero.
    pub points: Vec<(f64, f64)>,
}

/// Several curves, over powers of ten.
pub struct Curves<'a> {
    /// What the places of points mean.
    pub below: &'a str,
    /// The curves.
    pub curves: &'a [Curve],
}

impl Curves<'_> {
    /// Draws all curves, with a dot for each point and their names in the upper left corner, which
    /// growing curves leave free.
    pub fn plot(&self, caption: &Caption<'_>) -> String {
        let mut frame = Frame::new(caption);
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let (first, last) = range(points().map(|point| point.0)).unwrap_or((0.0, 1.0));
        let (low, high) = range(points().map(|point| point.1.log10())).unwrap_or((0.0, 1.0));
        let x = Scale::new((first - 0.5, last + 0.5), (LEFT, RIGHT));
        let y = Scale::new((low.floor(), high.ceil().max(low.floor() + 1.0)), (BOTTOM, TOP));
        frame.powers_of_ten(&y);
        frame.below(&x, 1.0);
        frame.names(self.below, caption.unit);
        for ((curve, colour), line) in self.curves.iter().zip(COLOURS.iter().cycle()).zip(0..) {
            let places: Vec<(f64, f64)> = curve
                .points
                .iter()
                .map(|(at, value)| (x.place(*at), y.place(value.log10())))
                .collect();
            let line_of = |(x, y): &(f64, f64)| format!("{x:.1},{y:.1}");
            let joined: Vec<String> = places.iter().map(line_of).collect();
            frame.curve(&joined.join(" "), (colour, 2.0, 1.0));
            for place in places {
                frame.dot(place, colour);
            }
            let top = TOP + 10.0 + 18.0 * f64::from(line);
            frame.rect((LEFT + 12.0, top), (10.0, 10.0), colour, 1.0);
            frame.label(&curve.name, (LEFT + 28.0, top + 9.5), "start", 12);
        }
        frame.svg.finish()
    }
}

/// How a metric changes with a setting.
pub struct SweptCurve {
    /// What distinguishes it from the other curves.
    pub name: String,
    /// The value of the setting, the mean, and half the width of its confidence interval.
    pub points: Vec<(f64, f64, f64)>,
}

/// Several of them.
pub struct Swept<'a> {
    /// The name of the setting.
    pub below: &'a str,
    /// The curves.
    pub curves: &'a [SweptCurve],
}

impl Swept<'_> {
    /// Draws all curves, with a dot and its interval for each point.
    pub fn plot(&self, caption: &Caption<'_>) -> String {
        let mut frame = Frame::new(caption);
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let (low, high) = airy(range(points().flat_map(|at| [at.1 - at.2, at.1 + at.2])));
        // What is never negative needs no air below zero.
        let positive = points().all(|at| at.1 - at.2 >= 0.0);
        let x = Scale::new(airy(range(points().map(|at| at.0))), (LEFT, RIGHT));
        let y = Scale::new((if positive { low.max(0.0) } else { low }, high), (BOTTOM, TOP));
        frame.axes(&x, &y, 0.0);
        frame.names(self.below, caption.unit);
        let mut left = RIGHT;
        for (curve, colour) in self.curves.iter().zip(COLOURS.iter().cycle()) {
            let joined: Vec<String> = (curve.points.iter())
                .map(|(at, mean, _)| format!("{:.1},{:.1}", x.place(*at), y.place(*mean)))
                .collect();
            frame.curve(&joined.join(" "), (colour, 2.0, 1.0));
            for (at, mean, half) in &curve.points {
                let at = x.place(*at);
                let ends = (y.place(mean - half), y.place(mean + half));
                frame.line((at, ends.0), (at, ends.1), &[("stroke", colour), ("stroke-width", &2)]);
                frame.dot((at, y.place(*mean)), colour);
            }
        }
        // The names below the title, from the right, so that no curve is covered.
        for (number, curve) in self.curves.iter().enumerate().rev() {
            let colour = COLOURS[number % COLOURS.len()];
            left -= curve.name.chars().count() as f64 * 6.8 + 32.0;
            frame.rect((left, 74.0), (10.0, 10.0), colour, 1.0);
            frame.label(&curve.name, (left + 16.0, 83.5), "start", 12);
        }
        frame.svg.finish()
    }
}

/// The smallest and the largest of some values; none of no values.
fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let pairs = values.map(|value| (value, value));
    pairs.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
}

/// A range with some air around it, so that nothing touches the frame.
fn airy(range: Option<(f64, f64)>) -> (f64, f64) {
    match range {
        None => (0.0, 1.0),
        Some((low, high)) if low == high => (low - 0.5, high + 0.5),
        Some((low, high)) => {
            let air = (high - low) * 0.06;
            (low - air, high + air)
        }
    }
}

/// A number with as many digits as people compare.
///
/// ```
/// use everypath_report::significant;
///
/// assert_eq!([0.0, 0.01234, 9.876, 123.45, 54321.0].map(significant),
///            ["0", "0.01234", "9.876", "123.5", "54321"]);
/// ```
pub fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let exponent: i32 = format!("{value:.3e}")
        .split('e')
        .nth(1)
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0);
    let decimals = usize::try_from(3 - exponent).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// A drawing with a title and a plotting area.
struct Frame {
    svg: Svg,
}

impl Frame {
    fn new(caption: &Caption<'_>) -> Self {
        let mut svg = Svg::new(WIDTH as u32, HEIGHT as u32, caption.title);
        let title: [(&str, &dyn Display); 5] =
            [("x", &24), ("y", &34), ("font-size", &19), ("font-weight", &600), ("fill", &INK)];
        svg.text(caption.title, &title);
        let mut frame = Frame { svg };
        frame.label(caption.subtitle, (24.0, 55.0), "start", 12);
        frame
    }

    fn label(&mut self, text: &str, (x, y): (f64, f64), anchor: &str, size: u32) {
        self.svg.text(
            text,
            &[
                ("x", &format_args!("{x:.1}")),
                ("y", &format_args!("{y:.1}")),
                ("text-anchor", &anchor),
                ("font-size", &size),
                ("fill", &FAINT),
            ],
        );
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &[(&str, &dyn Display)]) {
        let coordinates = [("x1", from.0), ("y1", from.1), ("x2", to.0), ("y2", to.1)]
            .map(|(name, value)| (name, format!("{value:.1}")));
        let mut attributes: Vec<(&str, &dyn Display)> =
            coordinates.iter().map(|(name, value)| (*name, value as &dyn Display)).collect();
        attributes.extend(stroke);
        self.svg.element("line", &attributes);
    }

    fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: &str, opacity: f64) {
        self.svg.element(
            "rect",
            &[
                ("x", &format_args!("{x:.1}")),
                ("y", &format_args!("{y:.1}")),
                ("width", &format_args!("{width:.1}")),
                ("height", &format_args!("{height:.1}")),
                ("fill", &fill),
                ("fill-opacity", &opacity),
            ],
        );
    }

    fn dot(&mut self, (x, y): (f64, f64), fill: &str) {
        self.svg.element(
            "circle",
            &[
                ("cx", &format_args!("{x:.1}")),
                ("cy", &format_args!("{y:.1}")),
                ("r", &4.5),
                ("fill", &fill),
                ("stroke", &"#ffffff"),
                ("stroke-width", &1.5),
            ],
        );
    }

    fn curve(&mut self, points: &str, (stroke, width, opacity): (&str, f64, f64)) {
        self.svg.element(
            "polyline",
            &[
                ("points", &points),
                ("fill", &"none"),
                ("stroke", &stroke),
                ("stroke-width", &width),
                ("stroke-opacity", &opacity),
                ("stroke-linejoin", &"round"),
            ],
        );
    }

    /// Ticks along both axes; those below are no closer than `least`.
    fn axes(&mut self, x: &Scale, y: &Scale, least: f64) {
        for tick in y.ticks(6, 0.0) {
            self.height(tick.place, &tick.label);
        }
        self.below(x, least);
    }

    /// Ticks beside, for an axis of logarithms.
    fn powers_of_ten(&mut self, y: &Scale) {
        for tick in y.ticks(8, 1.0) {
            let power: i32 = tick.label.parse().unwrap_or(0);
            self.height(tick.place, &significant(10_f64.powi(power)));
        }
    }

    /// A line at a height, with its label.
    fn height(&mut self, place: f64, label: &str) {
        self.line((LEFT, place), (RIGHT, place), &[("stroke", &GRID)]);
        self.label(label, (LEFT - 8.0, place + 4.0), "end", 12);
    }

    /// The axis below, with ticks no closer than `least`.
    fn below(&mut self, x: &Scale, least: f64) {
        for tick in x.ticks(12, least) {
            self.label(&tick.label, (tick.place, BOTTOM + 18.0), "middle", 12);
        }
        self.line((LEFT, BOTTOM), (RIGHT, BOTTOM), &[("stroke", &FAINT)]);
    }

    /// The names of the axes.
    fn names(&mut self, below: &str, beside: &str) {
        self.label(below, ((LEFT + RIGHT) / 2.0, BOTTOM + 42.0), "middle", 12);
        self.label(beside, (24.0, TOP - 16.0), "start", 12);
    }

    /// What the colours mean, in the upper right corner.
    fn legend(&mut self, entries: &[(&str, &str)]) {
        // Seven units a character are enough in any of the fonts.
        let width = |text: &str| text.chars().count() as f64 * 6.8 + 32.0;
        let mut left = RIGHT - entries.iter().map(|(_, text)| width(text)).sum::<f64>() + 16.0;
        for (colour, text) in entries {
            self.rect((left, 24.0), (10.0, 10.0), colour, 1.0);
            self.label(text, (left + 16.0, 33.5), "start", 12);
            left += width(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPTION: Caption<'_> = Caption { title: "a & b", subtitle: "of c", unit: "ms" };

    #[test]
    fn every_replication_that_has_a_value_is_a_dot() {
        let values = [Some(1.0), None, Some(3.0)];
        let plot = Replications { seed: 7, values: &values, mean: 2.0, ci95: Some(12.7) };
        let svg = plot.plot(&CAPTION);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("mean 2 ± 12.7 (95 %)") && svg.contains("a &amp; b"));
        assert!(svg.contains(">7</text>") && svg.contains(">9</text>"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        let one = Replications { seed: 1, values: &[Some(0.0)], mean: 0.0, ci95: None };
        assert!(!one.plot(&CAPTION).contains("NaN"));
    }

    #[test]
    fn every_distribution_is_a_curve_and_all_together_another() {
        let quantiles = [vec![1.0, 2.0], vec![3.0, 6.0]];
        let svg = Distribution { quantiles: &quantiles }.plot(&CAPTION);
        assert_eq!(svg.matches("<polyline").count(), 3);
        assert_eq!(Distribution { quantiles: &quantiles }.together(), [2.0, 6.0]);
        assert!(!Distribution { quantiles: &[vec![]] }.plot(&CAPTION).contains("NaN"));
    }

    #[test]
    fn what_is_swept_is_a_curve_with_intervals() {
        let curve =
            |points: &[(f64, f64, f64)]| SweptCurve { name: "a".into(), points: points.into() };
        let curves = [curve(&[(0.0, 1.0, 0.1), (0.1, 3.0, 0.0)]), curve(&[(0.1, 2.0, 0.5)])];
        let svg = Swept { below: "loss", curves: &curves }.plot(&CAPTION);
        assert_eq!((svg.matches("<circle").count(), svg.matches("<polyline").count()), (3, 2));
        assert!(svg.contains(">loss</text>") && !svg.contains("NaN"), "{svg}");
        for curves in [vec![], vec![curve(&[])], vec![curve(&[(1.0, 2.0, 0.0)])]] {
            let svg = Swept { below: "", curves: &curves }.plot(&CAPTION);
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }

    #[test]
    fn every_point_of_every_curve_is_there() {
        let curve = |points: &[(f64, f64)]| Curve { name: "x < y".into(), points: points.into() };
        let curves = [curve(&[(1.0, 0.01), (2.0, 10.0)]), curve(&[(1.0, 0.5)]), curve(&[])];
        let svg = Curves { below: "requests", curves: &curves }.plot(&CAPTION);
        assert_eq!(svg.matches("<circle").count(), 3);
        assert_eq!(svg.matches("x &lt; y").count(), 3);
        assert!(
            [">0.01<", ">0.1<", ">1<", ">10<"].iter().all(|power| svg.contains(power)),
            "{svg}"
        );
        assert!(!Curves { below: "", curves: &[] }.plot(&CAPTION).contains("NaN"));
    }
}
