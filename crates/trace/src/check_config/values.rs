//! Options whose values are more than a number or a name. Each is written and read in one form, in
//! files and on the command line.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Why a text is not a value of an option. It completes "invalid value: …".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadValue(String);

impl BadValue {
    pub(super) fn new(message: impl Into<String>) -> Self {
        BadValue(message.into())
    }
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadValue {}

/// What is a text in files.
macro_rules! text_in_files {
    ($($name:ty),*) => {$(
        #[cfg(feature = "file")]
        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.to_string()
            }
        }

        #[cfg(feature = "file")]
        impl TryFrom<String> for $name {
            type Error = BadValue;

            fn try_from(text: String) -> Result<Self, BadValue> {
                text.parse()
            }
        }
    )*};
}

text_in_files!(TcpFaults, Partition, OthersExit, FilePlacement, super::UdpAtPort);

/// A number of seconds above 0 that makes sense as a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(try_from = "f64", into = "f64"))]
pub struct Seconds(Duration);

impl Seconds {
    /// The duration.
    pub fn duration(self) -> Duration {
        self.0
    }
}

impl TryFrom<f64> for Seconds {
    type Error = BadValue;

    fn try_from(seconds: f64) -> Result<Self, BadValue> {
        let time = Some(seconds).filter(|seconds| *seconds <= 1e9);
        let time = time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        time.filter(|time| !time.is_zero()).map(Seconds).ok_or_else(|| {
            BadValue::new("expected a number of seconds above 0 and up to 1000000000")
        })
    }
}

impl From<Seconds> for f64 {
    fn from(Seconds(time): Seconds) -> f64 {
        time.as_secs_f64()
    }
}

impl FromStr for Seconds {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        text.parse().unwrap_or(f64::NAN).try_into()
    }
}

/// A number of bytes, with an optional unit of 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
pub struct ByteSize(pub u64);

impl FromStr for ByteSize {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let number_end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(number_end);
        let shift = match unit.to_ascii_uppercase().trim_end_matches('B').trim_end_matches('I') {
            "" => 0,
            "K" => 10,
            "M" => 20,
            "G" => 30,
            "T" => 40,
            _ => u32::MAX,
        };
        let number = number.parse::<u64>().ok();
        match number.and_then(|number| number.checked_mul(1u64.checked_shl(shift)?)) {
            Some(bytes) if bytes >= 1 << 20 => Ok(ByteSize(bytes)),
            _ => Err(BadValue::new("expected a size of at least 1M, such as 500M or 8G")),
        }
    }
}

/// Faults of connections, and how often each may happen in one execution: `refuse=1,eintr=2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(try_from = "String", into = "String"))]
pub struct TcpFaults {
    most: [u8; TcpFaults::NAMES.len()],
}

impl TcpFaults {
    /// The names of all faults, as the shim knows them.
    pub const NAMES: [&str; 5] = ["refuse", "reset", "short-write", "eintr", "emfile"];

    /// How often a fault may happen, by its place among the names.
    pub fn most(&self, place: usize) -> u8 {
        self.most.get(place).copied().unwrap_or(0)
    }
}

impl FromStr for TcpFaults {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let wrong = || {
            BadValue::new(format!(
                "expected names with how often they may happen, such as refuse=1,reset=1; the \
                 names are {}, and the most is 255",
                TcpFaults::NAMES.join(", ")
            ))
        };
        let mut faults = TcpFaults::default();
        for word in text.split(',') {
            let (name, number) = word.split_once('=').ok_or_else(wrong)?;
            let place = TcpFaults::NAMES.iter().position(|known| *known == name.trim());
            let number = number.trim().parse().map_err(|_| wrong())?;
            faults.most[place.ok_or_else(wrong)?] = number;
        }
        Ok(faults)
    }
}

impl fmt::Display for TcpFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = || TcpFaults::NAMES.into_iter().zip(self.most);
        let mut allowed = all().filter(|(_, most)| *most > 0).peekable();
        if allowed.peek().is_none() {
            return write!(f, "{}=0", TcpFaults::NAMES[0]);
        }
        let allowed: Vec<String> = allowed.map(|(name, most)| format!("{name}={most}")).collect();
        f.write_str(&allowed.join(","))
    }
}

/// How often the network may be partitioned, and between whom: `1` is once, between any two
/// processes, `primary:backup` once between these two, `primary:backup,client:primary=2` twice in
/// all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(try_from = "String", into = "String"))]
pub struct Partition {
    /// Pairs of processes; none for all pairs.
    pub pairs: Vec<(String, String)>,
    /// How often.
    pub most: u16,
}

impl FromStr for Partition {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let wrong = || {
            BadValue::new(
                "expected how often, such as 1, or between whom, such as primary:backup or \
                 primary:backup,client:primary=2",
            )
        };
        let number = |text: &str| text.trim().parse::<u16>().ok().filter(|&number| number > 0);
        if let Some(most) = number(text) {
            return Ok(Partition { pairs: Vec::new(), most });
        }
        let (pairs, most) = match text.rsplit_once('=') {
            Some((pairs, most)) => (pairs, number(most).ok_or_else(wrong)?),
            None => (text, 1),
        };
        let pair = |pair: &str| {
            let (one, other) = pair.split_once(':').ok_or_else(wrong)?;
            Ok((one.trim().to_string(), other.trim().to_string()))
        };
        let pairs = pairs.split(',').map(pair).collect::<Result<_, BadValue>>()?;
        Ok(Partition { pairs, most })
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pairs.is_empty() {
            return write!(f, "{}", self.most);
        }
        let pairs: Vec<String> =
            self.pairs.iter().map(|(one, other)| format!("{one}:{other}")).collect();
        write!(f, "{}={}", pairs.join(","), self.most)
    }
}

/// The exit code that counts as success of other programs under control: `0`, or `any`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(try_from = "String", into = "String"))]
pub enum OthersExit {
    /// Any code.
    Any,
    /// This one.
    Code(u8),
}

impl FromStr for OthersExit {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        match text {
            "any" => Ok(OthersExit::Any),
            text => text
                .parse()
                .map(OthersExit::Code)
                .map_err(|_| BadValue::new("expected an exit code from 0 to 255, or any")),
        }
    }
}

impl fmt::Display for OthersExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OthersExit::Any => f.write_str("any"),
            OthersExit::Code(code) => code.fmt(f),
        }
    }
}

/// A file for the program: where it comes from, and where in the program's folder it goes, as
/// `HOST:SCRATCH`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(try_from = "String", into = "String"))]
pub struct FilePlacement {
    /// The file.
    pub host: PathBuf,
    /// Where the program finds it.
    pub scratch: PathBuf,
}

impl FromStr for FilePlacement {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let inside = |path: &Path| {
            path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
        };
        match text.rsplit_once(':') {
            Some((host, scratch)) if !host.is_empty() && !scratch.is_empty() => {
                let scratch = PathBuf::from(scratch);
                if inside(&scratch) {
                    Ok(FilePlacement { host: host.into(), scratch })
                } else {
                    Err(BadValue::new("expected SCRATCH to be a path inside the program's folder"))
                }
            }
            _ => Err(BadValue::new("expected HOST:SCRATCH, two paths")),
        }
    }
}

impl fmt::Display for FilePlacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host.display(), self.scratch.display())
    }
}

/// A variable of the environment: `LANG=C`.
#[cfg(feature = "clap")]
pub(super) fn variable(text: &str) -> Result<(String, String), BadValue> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err(BadValue::new("expected a name and a value, such as LANG=C")),
    }
}

/// A path that a trace can record.
#[cfg(feature = "clap")]
#[expect(clippy::unnecessary_wraps, reason = "what clap expects of a parser")]
pub(super) fn path(text: &str) -> Result<PathBuf, BadValue> {
    Ok(text.into())
}

/// An optional value of another crate, as its text.
#[cfg(feature = "file")]
pub(super) mod as_text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::fmt::Display;
    use std::str::FromStr;

    #[expect(clippy::ref_option, reason = "what serde calls")]
    pub(crate) fn serialize<T: Display, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(ToString::to_string).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(serde::de::Error::custom)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_read_as_it_is_written() {
        for text in ["1", "12", "primary:backup=1", "node 1:node 2,node 1:watch=3"] {
            assert_eq!(text.parse::<Partition>().unwrap().to_string(), text);
        }
        assert_eq!("a:b".parse::<Partition>().unwrap().to_string(), "a:b=1");
        for text in ["", "0", "primary", "a:b=0", "a:b=many", "a:b,"] {
            assert!(text.parse::<Partition>().is_err(), "{text}");
        }
    }

    #[test]
    fn faults_are_read_as_they_are_written() {
        for text in ["refuse=1", "reset=2,eintr=255", "short-write=1"] {
            assert_eq!(text.parse::<TcpFaults>().unwrap().to_string(), text);
        }
        for text in ["", "refuse", "refuse=256", "refused=1", "refuse=1,"] {
            assert!(text.parse::<TcpFaults>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_and_seconds() {
        let size = |text: &str| text.parse::<ByteSize>().map(|ByteSize(bytes)| bytes);
        assert_eq!(size("500M"), Ok(500 << 20));
        assert_eq!(size("8GiB"), Ok(8 << 30));
        assert_eq!(size("1048576"), Ok(1 << 20));
        for wrong in ["", "5", "M", "-5M", "5X", "99999999999999999999", "20000000T", "1.5G"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        let seconds = |text: &str| text.parse::<Seconds>().map(f64::from);
        assert_eq!(seconds("0.5"), Ok(0.5));
        for wrong in ["", "0", "-1", "nan", "inf", "1e10", "soon"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
