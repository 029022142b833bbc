//! Where peers are.

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrAny, SocketAddrUnix};
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The address of a stream socket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Address {
    /// TCP, over IPv4 or IPv6.
    Tcp(SocketAddr),
    /// A Unix socket in the file system.
    Path(PathBuf),
    /// A Unix socket with an abstract name.
    Abstract(Vec<u8>),
}

impl Address {
    /// Whether only processes on this machine can be there.
    pub(super) fn is_local(&self) -> bool {
        match self {
            Address::Tcp(address) => {
                let ip = address.ip().to_canonical();
                ip.is_loopback() || ip.is_unspecified()
            }
            Address::Path(_) | Address::Abstract(_) => true,
        }
    }

    pub(super) fn family(&self) -> AddressFamily {
        match self {
            Address::Tcp(SocketAddr::V4(_)) => AddressFamily::INET,
            Address::Tcp(SocketAddr::V6(_)) => AddressFamily::INET6,
            Address::Path(_) | Address::Abstract(_) => AddressFamily::UNIX,
        }
    }

    pub(super) fn to_system(&self) -> Result<SocketAddrAny, Errno> {
        Ok(match self {
            Address::Tcp(address) => (*address).into(),
            Address::Path(path) => SocketAddrUnix::new(path)?.into(),
            Address::Abstract(name) => SocketAddrUnix::new_abstract_name(name)?.into(),
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => write!(formatter, "{address}"),
            Address::Path(path) => write!(formatter, "{}", path.display()),
            Address::Abstract(name) => write!(formatter, "@{}", name.escape_ascii()),
        }
    }
}
