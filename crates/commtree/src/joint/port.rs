//! Ports and Unix socket names, at which programs meet.

use std::boxed::Box;
use std::fmt;

/// The address at which programs meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Port {
    /// A port of the Internet.
    Inet(u16),
    /// A name of the Unix family, as [`Port::unix`] makes it.
    Unix(&'static [u8]),
}

impl Port {
    /// A name of the Unix family: a path, or what comes after a zero. There are few of them and
    /// links are copied everywhere, so names are never freed.
    pub fn unix(name: &[u8]) -> Self {
        Port::Unix(Box::leak(name.into()))
    }

    /// Whether it is of the Unix family, in which both ends are on one machine.
    pub fn is_unix(self) -> bool {
        matches!(self, Port::Unix(_))
    }
}

impl fmt::Display for Port {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Port::Inet(port) => write!(out, "port {port}"),
            Port::Unix([0, name @ ..]) => write!(out, "socket @{}", name.escape_ascii()),
            Port::Unix(path) => write!(out, "socket {}", path.escape_ascii()),
        }
    }
}
