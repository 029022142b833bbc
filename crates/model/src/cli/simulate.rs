//! The options of `everypath simulate`.

use super::BuildArgs;
use clap::{Args, ValueEnum};
use everypath_net::simulate::Arrivals;
use everypath_trace::Seconds;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// The options of `simulate`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  everypath simulate arq --delay 20 --loss 0.05
  everypath simulate arq --loss 0.1 --replications 30 --seed 7 --plot plots
  everypath simulate aodv --nodes 9 --topology grid --faults crash=2,partition=1
  everypath simulate arq --sweep loss=0,0.05,0.1,0.2 --sweep delay=5,50 --plot plots
  everypath simulate arq --duration 1000 --json -")]
pub struct SimulateArgs {
    /// The model's name
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) build: BuildArgs,

    /// Simulated time, in seconds
    #[arg(long, value_name = "S", default_value = "100", allow_negative_numbers = true)]
    #[arg(value_parser = duration)]
    pub(crate) duration: Duration,

    /// Link delay, in milliseconds
    #[arg(long, value_name = "MS", default_value = "10", allow_negative_numbers = true)]
    #[arg(value_parser = delay)]
    pub(crate) delay: Duration,

    /// Jitter: additional delay, uniformly distributed from 0 to this, in milliseconds
    #[arg(long, value_name = "MS", default_value = "0", allow_negative_numbers = true)]
    #[arg(value_parser = jitter)]
    pub(crate) jitter: Duration,

    /// The probability that a packet is lost on a link
    #[arg(long, value_name = "P", default_value_t = 0.0, allow_negative_numbers = true)]
    #[arg(value_parser = probability)]
    pub(crate) loss: f64,

    /// Number of random pairs of source and destination [default: 5, or as many as there are]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) traffic: Option<u32>,

    /// Interval between two packets of a pair, in milliseconds [default: 250]
    #[arg(long, value_name = "MS", allow_negative_numbers = true, value_parser = delay)]
    pub(crate) interval: Option<Duration>,

    /// Constant intervals, or a Poisson process [default: constant]
    #[arg(long, value_enum)]
    pub(crate) arrivals: Option<ArrivalsName>,

    /// Reboots of each node per minute, on average
    #[arg(long, value_name = "RATE", default_value_t = 0.0, allow_negative_numbers = true)]
    #[arg(value_parser = rate)]
    pub(crate) failures: f64,

    /// Faults that happen in every replication, as FAULT=N, separated by commas: loss, duplicate, reboot,
    /// crash, partition; each so often, at random moments
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) faults: Vec<String>,

    /// Simulate with each of these values of a setting in turn, as NAME=VALUE,VALUE: loss, delay,
    /// jitter, interval, failures, traffic, nodes, duration, or a parameter of the model; a second one
    /// gives each plot a curve for each of its values
    #[arg(long, value_name = "SWEEP")]
    pub(crate) sweep: Vec<String>,

    /// Run with R consecutive seeds; the results are means with 95 % confidence intervals
    #[arg(long, value_name = "R", default_value_t = 5, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) replications: u32,

    /// The seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) seed: u64,

    /// Stop after S seconds
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) max_seconds: Option<Seconds>,

    /// Write the events of the first replication, each as a JSON object on a line: `time` in seconds,
    /// `actor`, `event`, `text`, and the packet that is `received`; lost packets are events, too; `model
    /// --validate` reads it
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,

    /// Write the result as JSON (`-` for standard output, which then carries nothing else)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Write an SVG plot of each metric into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) plot: Option<PathBuf>,

    /// Print nothing but errors
    #[arg(long)]
    pub(crate) quiet: bool,
}

impl SimulateArgs {
    /// Gives a setting a value, as its option would.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let whole = || value.parse::<u32>().map_err(|_| "expected a whole number".to_string());
        match name {
            "loss" => self.loss = probability(value)?,
            "delay" => self.delay = delay(value)?,
            "jitter" => self.jitter = jitter(value)?,
            "interval" => self.interval = Some(delay(value)?),
            "failures" => self.failures = rate(value)?,
            "duration" => self.duration = duration(value)?,
            "nodes" => self.build.nodes = Some(whole()?),
            "traffic" if whole()? == 0 => return Err("expected at least 1".into()),
            "traffic" => self.traffic = Some(whole()?),
            _ => return Err("it is not a setting".into()),
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalsName {
    Constant,
    Poisson,
}

impl From<ArrivalsName> for Arrivals {
    fn from(name: ArrivalsName) -> Arrivals {
        match name {
            ArrivalsName::Constant => Arrivals::Constant,
            ArrivalsName::Poisson => Arrivals::Poisson,
        }
    }
}

/// A number within a range, or what was expected.
fn number(text: &str, what: &str, range: RangeInclusive<f64>) -> Result<f64, String> {
    match text.parse::<f64>() {
        // Minus zero is within the range, and would be shown.
        Ok(number) if range.contains(&number) => Ok(number.abs()),
        _ => Err(format!("expected {what} from {} to {}", range.start(), range.end())),
    }
}

fn milliseconds(text: &str, range: RangeInclusive<f64>) -> Result<Duration, String> {
    number(text, "milliseconds", range).map(|number| Duration::from_secs_f64(number / 1e3))
}

fn duration(text: &str) -> Result<Duration, String> {
    number(text, "seconds", 0.001..=1e6).map(Duration::from_secs_f64)
}

/// Without any delay, two nodes that answer each other would never let time pass.
fn delay(text: &str) -> Result<Duration, String> {
    milliseconds(text, 0.001..=1e6)
}

fn jitter(text: &str) -> Result<Duration, String> {
    milliseconds(text, 0.0..=1e6)
}

fn probability(text: &str) -> Result<f64, String> {
    number(text, "a probability", 0.0..=1.0)
}

fn rate(text: &str) -> Result<f64, String> {
    number(text, "reboots of a node in a minute", 0.0..=1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_and_nonsense_is_refused() {
        assert_eq!(delay("10"), Ok(Duration::from_millis(10)));
        assert_eq!(delay("0.001"), Ok(Duration::from_micros(1)));
        assert_eq!(duration("0.3"), Ok(Duration::from_millis(300)));
        assert_eq!(probability("-0").map(f64::to_bits), Ok(0));
        for wrong in ["", "-1", "nan", "inf", "1e10", "soon", "1,5", "0x1"] {
            for parse in [duration, delay, jitter] {
                assert!(parse(wrong).is_err(), "{wrong}");
            }
            assert!(probability(wrong).is_err() && rate(wrong).is_err(), "{wrong}");
        }
        assert_eq!(probability("1.01"), Err("expected a probability from 0 to 1".into()));
        assert!(delay("0").is_err() && duration("0").is_err());
    }
}
