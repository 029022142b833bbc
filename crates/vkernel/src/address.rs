//! Socket addresses, as the kernel keeps them.

use everypath_shim_abi::Object;

pub(crate) const UNIX: u16 = 1;
pub(crate) const INET: u16 = 2;
pub(crate) const INET6: u16 = 10;

pub(crate) const LONGEST: usize = 110;

/// An address in the kernel's layout; of no length if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Address {
    pub(crate) length: u16,
    pub(crate) bytes: [u8; LONGEST],
}

impl Default for Address {
    fn default() -> Self {
        Address { length: 0, bytes: [0; LONGEST] }
    }
}

impl Address {
    /// The address of a family that stands for all of its machine's, with no port.
    pub(crate) fn any(family: u16) -> Self {
        let mut address = Address::default();
        address.bytes[..2].copy_from_slice(&family.to_le_bytes());
        address.length = match family {
            INET => 16,
            INET6 => 28,
            _ => 2,
        };
        address
    }

    /// The loopback address of a family.
    pub(crate) fn loopback(family: u16) -> Self {
        let mut address = Address::any(family);
        match family {
            INET => address.bytes[4..8].copy_from_slice(&[127, 0, 0, 1]),
            INET6 => address.bytes[23] = 1,
            _ => {}
        }
        address
    }

    /// How many bytes it takes in a buffer.
    pub(crate) const SIZE: usize = 2 + LONGEST;

    /// The address as it lies in a buffer.
    pub(crate) fn to_buffer(self) -> [u8; Self::SIZE] {
        let mut all = [0; Self::SIZE];
        all[..2].copy_from_slice(&self.length.to_le_bytes());
        all[2..].copy_from_slice(&self.bytes);
        all
    }

    /// The address that lies so in a buffer.
    pub(crate) fn from_buffer(all: &[u8; Self::SIZE]) -> Self {
        let length = u16::from_le_bytes([all[0], all[1]]).min(LONGEST as u16);
        let mut address = Address { length, bytes: [0; LONGEST] };
        address.bytes.copy_from_slice(&all[2..]);
        address
    }

    /// Whether there is one.
    pub(crate) fn is_some(&self) -> bool {
        self.length != 0
    }

    pub(crate) fn family(&self) -> u16 {
        u16::from_le_bytes([self.bytes[0], self.bytes[1]])
    }

    /// Whether it is of the Internet.
    pub(crate) fn is_inet(&self) -> bool {
        matches!(self.family(), INET | INET6)
    }

    pub(crate) fn port(&self) -> u16 {
        if self.is_inet() { u16::from_be_bytes([self.bytes[2], self.bytes[3]]) } else { 0 }
    }

    pub(crate) fn with_port(mut self, port: u16) -> Self {
        self.bytes[2..4].copy_from_slice(&port.to_be_bytes());
        self
    }

    /// The address of a family with a host in the longer form, in which both families meet.
    pub(crate) fn of_host(family: u16, host: &[u8], port: &[u8]) -> Address {
        let mut address = Address::any(family);
        match family {
            INET => address.bytes[4..8].copy_from_slice(&host[12..16]),
            _ => address.bytes[8..24].copy_from_slice(host),
        }
        address.bytes[2..4].copy_from_slice(port);
        address
    }

    /// Whether it stands for a group of receivers.
    pub(crate) fn is_multicast(&self) -> bool {
        match self.family() {
            INET => self.bytes[4] & 0xf0 == 0xe0,
            INET6 => self.bytes[8] == 0xff,
            _ => false,
        }
    }

    /// Whether it stands for all machines of a network.
    pub(crate) fn is_broadcast(&self) -> bool {
        self.family() == INET
            && (self.bytes[4..8] == [255; 4] || self.bytes[4..8] == [127, 255, 255, 255])
    }

    /// Whether it is of this machine.
    pub(crate) fn is_local(&self) -> bool {
        match self.family() {
            INET => self.bytes[4] == 127,
            INET6 => self.host()[..15] == [0; 15] || self.host()[10..13] == [0xff, 0xff, 127],
            _ => true,
        }
    }

    /// An IPv4 address as an IPv6 socket shows it.
    pub(crate) fn mapped(&self) -> Address {
        let mut mapped = Address::any(INET6).with_port(self.port());
        mapped.bytes[8..24].copy_from_slice(&self.host());
        mapped
    }

    /// The bytes in the kernel's layout.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// The path of a Unix address that names a file.
    pub(crate) fn path(&self) -> Option<&[u8]> {
        let named = self.family() == UNIX && self.length > 3 && self.bytes[2] != 0;
        named.then(|| &self.bytes[2..usize::from(self.length) - 1])
    }

    /// Whether a Unix address names nothing.
    pub(crate) fn is_unnamed(&self) -> bool {
        self.family() == UNIX && self.length <= 2
    }

    /// The address of the Internet in the longer form, in which both families meet.
    pub(crate) fn host(&self) -> [u8; 16] {
        let mut host = [0; 16];
        if self.family() == INET {
            host[10..12].fill(0xff);
            host[12..].copy_from_slice(&self.bytes[4..8]);
        } else {
            host.copy_from_slice(&self.bytes[8..24]);
        }
        host
    }

    /// Whether it stands for all addresses of the machine.
    pub(crate) fn is_any(&self) -> bool {
        match self.family() {
            INET => self.bytes[4..8] == [0; 4],
            _ => self.bytes[8..24] == [0; 16],
        }
    }

    /// Whether a datagram to `destination` reaches a socket bound to this.
    pub(crate) fn receives(&self, destination: &Address) -> bool {
        if !self.is_inet() || !destination.is_inet() {
            return self == destination && self.length > 2;
        }
        // An IPv6 socket that is bound to all addresses gets IPv4 as well.
        let any = self.is_any() && (self.family() == INET6 || destination.family() == INET);
        self.port() == destination.port() && (any || self.host() == destination.concrete().host())
    }

    /// Where a connection to this address really goes: "any" means this machine.
    pub(crate) fn concrete(&self) -> Address {
        if self.is_inet() && self.is_any() {
            return Address::loopback(self.family()).with_port(self.port());
        }
        *self
    }

    /// What stands for the address in the footprints of steps: all that could meet are equal.
    pub(crate) fn key(&self) -> Object {
        /// Names come after all ports.
        const NAMES: u64 = 1 << 16;
        if self.is_inet() {
            return Object::address(self.port().into());
        }
        let hash = xxhash_rust::xxh3::xxh3_64(self.as_bytes()) as u32;
        Object::address(NAMES + u64::from(hash))
    }
}
