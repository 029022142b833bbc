//! The ports and names at which programs meet.

use everypath_commtree::joint::Port;
use std::collections::{BTreeMap, BTreeSet};

const UNIX: u16 = 1;
const INET: u16 = 2;
const INET6: u16 = 10;

/// All places that were named in any execution of any program.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Which program listens there.
    listeners: BTreeMap<Port, usize>,
    /// Which program receives datagrams there.
    receivers: BTreeMap<u16, usize>,
    /// Which programs send datagrams where.
    senders: BTreeSet<(u16, usize)>,
    /// Of which family addresses are whose port datagrams are sent to.
    families: BTreeMap<u16, u16>,
    /// Names of the Unix family.
    names: BTreeSet<&'static [u8]>,
}

impl Places {
    /// The place with an address, as the kernel lays it out.
    pub(super) fn port(&mut self, address: &[u8]) -> Result<Port, String> {
        let unknown = || "--joint does not model this address family".to_string();
        let (family, rest) = address.split_first_chunk::<2>().ok_or_else(unknown)?;
        match (u16::from_le_bytes(*family), rest) {
            (INET | INET6, [high, low, ..]) => Ok(Port::Inet(u16::from_be_bytes([*high, *low]))),
            // Paths end with a zero, and other names begin with one.
            (UNIX, [0, ..] | [.., 0]) => {
                let name = if rest[0] == 0 { rest } else { &rest[..rest.len() - 1] };
                if let Some(known) = self.names.get(name) {
                    return Ok(Port::Unix(known));
                }
                let port = Port::unix(name);
                if let Port::Unix(name) = port {
                    self.names.insert(name);
                }
                Ok(port)
            }
            _ => Err(unknown()),
        }
    }

    /// A port for datagrams, so many behind the one that an address has.
    fn mailbox(&mut self, address: &[u8], offset: u16) -> Result<u16, String> {
        let Port::Inet(port) = self.port(address)? else {
            return Err("the program sends a datagram to port 0".into());
        };
        let port = port.wrapping_add(offset);
        let family = u16::from_le_bytes([address[0], address[1]]);
        if *self.families.entry(port).or_insert(family) != family {
            return Err(format!(
                "programs use port {port} for datagrams by IPv4 and by IPv6, which --joint does \
                 not model"
            ));
        }
        Ok(port)
    }

    /// Lets a program be sent datagrams at an address, or at a port so many behind.
    pub(super) fn bind(&mut self, at: &[u8], offset: u16, side: usize) -> Result<u16, String> {
        let port = self.mailbox(at, offset)?;
        match *self.receivers.entry(port).or_insert(side) {
            same if same == side => self.unless_to_itself(port, side),
            other => Err(format!(
                "programs {} and {} both receive datagrams at port {port}; give each a port of its \
                 own",
                other + 1,
                side + 1,
            )),
        }
    }

    /// Lets a program send datagrams to an address.
    pub(super) fn send_to(&mut self, address: &[u8], side: usize) -> Result<u16, String> {
        let port = self.mailbox(address, 0)?;
        self.senders.insert((port, side));
        self.unless_to_itself(port, side)
    }

    fn unless_to_itself(&self, port: u16, side: usize) -> Result<u16, String> {
        let receives = self.receivers.get(&port) == Some(&side);
        match receives && self.senders.contains(&(port, side)) {
            true => {
                Err("--joint does not model datagrams of a program to itself; use --with without --joint".into())
            }
            false => Ok(port),
        }
    }

    /// Lets a program listen at an address.
    pub(super) fn listen(&mut self, address: &[u8], side: usize) -> Result<Port, String> {
        let port = self.port(address)?;
        match *self.listeners.entry(port).or_insert(side) {
            same if same == side => Ok(port),
            other => Err(format!(
                "programs {} and {} both listen on {port}; give each a {} of its own",
                other + 1,
                side + 1,
                if port.is_unix() { "name" } else { "port" }
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_places() {
        let mut places = Places::default();
        let mut said = |address: &[u8]| places.port(address).map(|port| port.to_string());
        assert_eq!(said(&[2, 0, 0x1b, 0x58, 127, 0, 0, 1]).unwrap(), "port 7000");
        assert_eq!(said(&[10, 0, 0x1b, 0x58]).unwrap(), "port 7000");
        assert_eq!(said(b"\x01\0dir/name\0").unwrap(), "socket dir/name");
        assert_eq!(said(b"\x01\0\0hidden").unwrap(), "socket @hidden");
        for wrong in [&[][..], &[2], &[2, 0, 1], &[1, 0], &[7, 0, 1, 1], b"\x01\0open"] {
            assert!(said(wrong).is_err(), "{wrong:?}");
        }
        let [one, other] = [b"\x01\0a\0", b"\x01\0a\0"].map(|name| places.port(name).unwrap());
        assert_eq!(one, other);
        assert_eq!(places.names.len(), 3);
    }
}
