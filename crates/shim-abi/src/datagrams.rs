//! What a network may do to datagrams, and at which ports.

use crate::MAX_PORTS;
use everypath_perturb::Rules;

/// What a network may do to datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Datagrams {
    /// Wherever nothing else is said.
    pub everywhere: Crossing,
    /// Instead, at single ports; 0 is none.
    pub at_ports: [(u16, Crossing); MAX_PORTS],
}

impl Datagrams {
    /// Both directions, wherever it is.
    pub fn all(&self) -> impl Iterator<Item = &Rules> {
        let ports = self.at_ports.iter().filter(|(port, _)| *port != 0);
        let crossings = [&self.everywhere].into_iter().chain(ports.map(|(_, crossing)| crossing));
        crossings.flat_map(|crossing| [&crossing.sent, &crossing.received])
    }

    /// What holds for a socket that has to do with some ports, the first of which is named counts;
    /// and the number of its account: the faults at one port are not counted elsewhere.
    pub fn at(&self, ports: [u16; 3]) -> (usize, Crossing) {
        let place = |port: u16| self.at_ports.iter().position(|(named, _)| *named == port);
        match ports.into_iter().filter(|&port| port != 0).find_map(place) {
            Some(at) => (at + 1, self.at_ports[at].1),
            None => (0, self.everywhere),
        }
    }
}

/// What a network may do to the datagrams of a socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Crossing {
    /// To those that the program sends to a peer.
    pub sent: Rules,
    /// To those that it receives, from a peer or from itself.
    pub received: Rules,
}
