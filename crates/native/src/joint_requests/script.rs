//! The recorded answers of one execution, for its replay.

use everypath_shim_abi::{Grant, Granted, UpcallReply};
use std::fmt::Write;

/// The answer to one request of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    /// In how many ways it can be granted.
    pub(crate) ways: u32,
    pub(crate) granted: Granted,
    /// The number of a new connection or listener, or a port.
    pub(crate) handle: u32,
    pub(crate) bytes: Vec<u8>,
}

const GRANTED: [(Granted, &str); 10] = [
    (Granted::Done, "done"),
    (Granted::Bytes, "bytes"),
    (Granted::Accepted, "accepted"),
    (Granted::End, "end"),
    (Granted::Reset, "reset"),
    (Granted::Lost, "lost"),
    (Granted::Refused, "refused"),
    (Granted::Nothing, "nothing"),
    (Granted::Ready, "ready"),
    (Granted::Never, "never"),
];

impl Reply {
    /// It waits for ever.
    pub(crate) fn never() -> Self {
        Reply { ways: 1, granted: Granted::Never, handle: 0, bytes: Vec::new() }
    }

    /// As the shim gets it, beside its bytes.
    pub(crate) fn to_shim(&self) -> UpcallReply {
        let Reply { ways, granted, handle, ref bytes } = *self;
        match ways {
            0 | 1 => UpcallReply::Granted(Grant { granted, handle, length: bytes.len() as u32 }),
            several => UpcallReply::Ways(several),
        }
    }

    /// The reply as a line of a trace file.
    pub(crate) fn to_line(&self) -> String {
        let name = GRANTED.iter().find(|(granted, _)| *granted == self.granted);
        let name = name.map_or("", |(_, name)| name);
        let mut line = format!("{} {name} {}", self.ways, self.handle);
        if !self.bytes.is_empty() {
            line.push(' ');
            self.bytes.iter().for_each(|byte| {
                let _ = write!(line, "{byte:02x}");
            });
        }
        line
    }

    /// The reply in a line of a trace file.
    pub(crate) fn from_line(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let ways = words.next()?.parse().ok()?;
        let name = words.next()?;
        let (granted, _) = *GRANTED.iter().find(|(_, known)| *known == name)?;
        let handle = words.next()?.parse().ok()?;
        let digits = words.next().unwrap_or_default().as_bytes();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes = digits.chunks(2).map(byte).collect::<Option<_>>()?;
        Some(Reply { ways, granted, handle, bytes })
    }
}

/// Tells the same again, one reply after the other.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) replies: Vec<Reply>,
    pub(crate) next: usize,
}

impl Recorded {
    /// The next reply.
    pub(crate) fn answer(&mut self) -> Result<Reply, String> {
        let reply = self.replies.get(self.next).cloned();
        self.next += 1;
        reply.ok_or_else(|| "the program makes more requests than were recorded".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_survive_being_written() {
        for (granted, _) in GRANTED {
            for bytes in [vec![], vec![0, 255, 16]] {
                let reply = Reply { ways: 3, granted, handle: 7, bytes };
                assert_eq!(Reply::from_line(&reply.to_line()), Some(reply));
            }
        }
        for wrong in ["", "1", "1 done", "x done 0", "1 done 0 0g", "1 never x"] {
            assert_eq!(Reply::from_line(wrong), None, "{wrong}");
        }
    }
}
