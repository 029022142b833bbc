//! Socket addresses of peers.

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrAny, SocketAddrUnix};
use std::ffi::OsStr;
use std::fmt;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The address of a socket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Address {
    /// TCP, over IPv4 or IPv6.
    Tcp(SocketAddr),
    /// UDP, over IPv4 or IPv6.
    Udp(SocketAddr),
    /// A Unix socket in the file system.
    Path(PathBuf),
    /// A Unix socket with an abstract name.
    Abstract(Vec<u8>),
}

impl Address {
    /// The address that the kernel's layout of one (`struct sockaddr`) describes; `None` if that is
    /// of another family, or nameless.
    pub fn from_system(bytes: &[u8]) -> Option<Self> {
        let family = u16::from_ne_bytes(*bytes.first_chunk()?);
        let rest = &bytes[2..];
        match AddressFamily::from_raw(family) {
            AddressFamily::INET => {
                let (port, ip) = rest.split_first_chunk()?;
                let ip: [u8; 4] = *ip.first_chunk()?;
                Some(Address::Tcp(SocketAddr::from((ip, u16::from_be_bytes(*port)))))
            }
            AddressFamily::INET6 => {
                let (port, rest) = rest.split_first_chunk()?;
                let ip: [u8; 16] = *rest.get(4..)?.first_chunk()?;
                Some(Address::Tcp(SocketAddr::from((ip, u16::from_be_bytes(*port)))))
            }
            AddressFamily::UNIX => match rest {
                [] => None,
                [0, name @ ..] => Some(Address::Abstract(name.to_vec())),
                path => {
                    let path = path.split(|&byte| byte == 0).next()?;
                    Some(Address::Path(OsStr::from_bytes(path).into()))
                }
            },
            _ => None,
        }
    }

    /// The same place, reached by datagrams.
    pub(crate) fn by_datagrams(self) -> Option<Self> {
        match self {
            Address::Tcp(address) | Address::Udp(address) => Some(Address::Udp(address)),
            Address::Path(_) | Address::Abstract(_) => None,
        }
    }

    /// Whether only processes on this machine can be there.
    pub(super) fn is_local(&self) -> bool {
        match self {
            Address::Tcp(address) | Address::Udp(address) => {
                let ip = address.ip().to_canonical();
                ip.is_loopback() || ip.is_unspecified()
            }
            Address::Path(_) | Address::Abstract(_) => true,
        }
    }

    /// Whether the C library asks there for users and hosts, and does without if nobody answers: no
    /// peer is meant.
    pub(super) fn is_name_cache(&self) -> bool {
        let paths = ["/var/run/nscd/socket", "/run/nscd/socket"];
        matches!(self, Address::Path(path) if paths.iter().any(|it| path.as_os_str() == *it))
    }

    pub(super) fn family(&self) -> AddressFamily {
        match self {
            Address::Tcp(SocketAddr::V4(_)) | Address::Udp(SocketAddr::V4(_)) => {
                AddressFamily::INET
            }
            Address::Tcp(SocketAddr::V6(_)) | Address::Udp(SocketAddr::V6(_)) => {
                AddressFamily::INET6
            }
            Address::Path(_) | Address::Abstract(_) => AddressFamily::UNIX,
        }
    }

    pub(super) fn to_system(&self) -> Result<SocketAddrAny, Errno> {
        Ok(match self {
            Address::Tcp(address) | Address::Udp(address) => (*address).into(),
            Address::Path(path) => SocketAddrUnix::new(path)?.into(),
            Address::Abstract(name) => SocketAddrUnix::new_abstract_name(name)?.into(),
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => write!(formatter, "{address}"),
            Address::Udp(address) => write!(formatter, "{address} over UDP"),
            Address::Path(path) => write!(formatter, "{}", path.display()),
            Address::Abstract(name) => write!(formatter, "@{}", name.escape_ascii()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the kernel writes them, so they are read.
    #[test]
    fn the_kernels_layout() {
        let tcp = |text: &str| Address::Tcp(text.parse().unwrap());
        let four = [&2_u16.to_ne_bytes()[..], &[0, 80, 127, 0, 0, 1], &[0; 8]].concat();
        assert_eq!(Address::from_system(&four), Some(tcp("127.0.0.1:80")));
        let mut six = [&10_u16.to_ne_bytes()[..], &[1, 0], &[0; 24]].concat();
        six[23] = 1;
        assert_eq!(Address::from_system(&six), Some(tcp("[::1]:256")));
        let unix = |rest: &[u8]| Address::from_system(&[&1_u16.to_ne_bytes()[..], rest].concat());
        assert_eq!(unix(b"/tmp/a\0\0"), Some(Address::Path("/tmp/a".into())));
        assert_eq!(unix(b"\0a\0b"), Some(Address::Abstract(b"a\0b".to_vec())));
        assert_eq!(unix(b""), None);
        assert_eq!(Address::from_system(&16_u16.to_ne_bytes()), None);
        assert_eq!(Address::from_system(&four[..6]), None);
    }
}
