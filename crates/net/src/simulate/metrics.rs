//! The metrics of a run: delivery ratio, throughput, delay, overhead.

use super::Run;

/// A figure that can be computed from a run.
pub struct Metric {
    /// Its name: lower-case words with dashes.
    pub name: &'static str,
    /// What it is called in tables and plots.
    pub title: &'static str,
    /// One line that says what it means.
    pub about: &'static str,
    /// What it is measured in.
    pub unit: Unit,
    value: fn(&Run) -> Option<f64>,
}

impl Metric {
    /// Its value in a run; `None` if the run says nothing about it.
    pub fn value(&self, run: &Run) -> Option<f64> {
        (self.value)(run)
    }
}

/// What a metric is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number of things.
    Count,
    /// One number divided by another.
    Ratio,
    /// Milliseconds.
    Milliseconds,
    /// Packets in a second.
    PerSecond,
}

impl Unit {
    /// Its symbol, if it has one.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::Count | Unit::Ratio => "",
            Unit::Milliseconds => "ms",
            Unit::PerSecond => "1/s",
        }
    }
}

macro_rules! metric {
    ($name:literal, $title:literal, $unit:ident, $about:literal, $value:expr) => {
        Metric { name: $name, title: $title, about: $about, unit: Unit::$unit, value: $value }
    };
}

/// All metrics, in the order of the report.
pub const METRICS: &[Metric] = &[
    metric!("offered", "data offered", Count, "data that applications sent", |run| {
        Some(run.counts.offered as f64)
    }),
    metric!("delivered", "data delivered", Count, "data that arrived, each counted once", |run| {
        Some(run.counts.delivered as f64)
    }),
    metric!("delivery-ratio", "delivery ratio", Ratio, "data delivered to data offered", |run| {
        ratio(run.counts.delivered, run.counts.offered)
    }),
    metric!("throughput", "throughput", PerSecond, "data delivered in a second", |run| {
        Some(run.counts.delivered as f64 / run.duration.as_secs_f64())
    }),
    metric!("delay-mean", "delay, mean", Milliseconds, "from sending data to delivery", |run| {
        mean(&run.delays)
    }),
    metric!("delay-p50", "delay, median", Milliseconds, "half of the data is no slower", |run| {
        percentile(&run.delays, 50)
    }),
    metric!("delay-p95", "delay, 95th percentile", Milliseconds, "95 % is no slower", |run| {
        percentile(&run.delays, 95)
    }),
    metric!("delay-p99", "delay, 99th percentile", Milliseconds, "99 % is no slower", |run| {
        percentile(&run.delays, 99)
    }),
    metric!("hops", "hops", Ratio, "links that delivered data came over, on average", |run| {
        let total = run.hops.iter().map(|(&hops, data)| u64::from(hops) * data).sum();
        ratio(total, run.hops.values().sum())
    }),
    metric!(
        "discovery-ratio",
        "route discovery ratio",
        Ratio,
        "searches for a way that found one to all",
        |run| ratio(run.discoveries.len() as u64, run.counts.searches)
    ),
    metric!("discovery-mean", "route discovery, mean", Milliseconds, "from search to way", |run| {
        mean(&run.discoveries)
    }),
    metric!(
        "discovery-p95",
        "route discovery, 95th percentile",
        Milliseconds,
        "95 % of the searches that found a way took no longer",
        |run| percentile(&run.discoveries, 95)
    ),
    metric!(
        "control-overhead",
        "control overhead per delivery",
        Ratio,
        "control packets transmitted for each data delivered",
        |run| ratio(run.counts.control, run.counts.delivered)
    ),
    metric!(
        "data-cost",
        "data transmissions per delivery",
        Ratio,
        "transmissions of data, hops and repetitions included, for each data delivered",
        |run| ratio(run.counts.data, run.counts.delivered)
    ),
    metric!("duplicates", "duplicates", Count, "data that arrived once more", |run| {
        Some(run.counts.duplicates as f64)
    }),
    metric!("dropped", "data dropped", Count, "data that the protocol gave up", |run| {
        Some(run.counts.dropped as f64)
    }),
    metric!("packets-sent", "packets sent", Count, "packets put on links", |run| {
        Some(run.counts.sent as f64)
    }),
    metric!("packets-lost", "packets lost", Count, "packets lost on links", |run| {
        Some(run.counts.lost as f64)
    }),
    metric!("reboots", "reboots", Count, "how often a node lost its state", |run| {
        Some(run.counts.reboots as f64)
    }),
    metric!(
        "packets-duplicated",
        "packets duplicated",
        Count,
        "packets that a fault doubled",
        |run| { some_if_any(run.counts.duplicated) }
    ),
    metric!("crashes", "crashes", Count, "nodes that stopped for good", |run| {
        some_if_any(run.counts.crashes)
    }),
    metric!("partitions", "partitions", Count, "how often the network was in two parts", |run| {
        some_if_any(run.counts.partitions)
    }),
    metric!("events", "events", Count, "how often a handler was called", |run| {
        Some(run.counts.events as f64)
    }),
];

/// What there is only where it was asked for.
fn some_if_any(count: u64) -> Option<f64> {
    (count > 0).then_some(count as f64)
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn milliseconds(nanoseconds: f64) -> f64 {
    nanoseconds / 1e6
}

fn mean(sorted: &[u64]) -> Option<f64> {
    let sum: u128 = sorted.iter().map(|&value| u128::from(value)).sum();
    (!sorted.is_empty()).then(|| milliseconds(sum as f64 / sorted.len() as f64))
}

/// The smallest value that at least so many percent do not exceed.
fn percentile(sorted: &[u64], percent: usize) -> Option<f64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).map(|&value| milliseconds(value as f64))
}

impl Run {
    /// The distribution of the delay in milliseconds: of each of `points` equal shares of the
    /// data, the slowest; nothing if no data arrived.
    pub fn delay_quantiles(&self, points: usize) -> Vec<f64> {
        let rank = |point: usize| (self.delays.len() * point).div_ceil(points).max(1) - 1;
        let value = |point| self.delays.get(rank(point)).map(|&delay| milliseconds(delay as f64));
        (1..=points).filter_map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let values: Vec<u64> = (1..=200).map(|value| value * 1_000_000).collect();
        for (percent, expected) in [(50, 100.0), (95, 190.0), (99, 198.0), (100, 200.0)] {
            assert_eq!(percentile(&values, percent), Some(expected));
        }
        assert_eq!(percentile(&values[..1], 50), Some(1.0));
        assert_eq!(percentile(&values[..3], 50), Some(2.0));
        assert_eq!(percentile(&[], 50), None);
        assert_eq!((mean(&values[..4]), mean(&[])), (Some(2.5), None));
    }

    #[test]
    fn names_are_different_and_fit_for_files() {
        let names: std::collections::BTreeSet<&str> =
            METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), METRICS.len());
        let fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(names.iter().all(|name| name.chars().all(fit)));
    }
}
