//! What the kernel reports about the other end of a connection (`sock_diag`), and about bound UDP
//! sockets.
//!
//! Asking for one socket by its addresses takes microseconds (`sock_diag(7)`); the table in
//! `/proc/net/tcp` takes milliseconds, since all of the kernel's hash table is walked for it.

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

/// A line to the kernel.
#[derive(Debug)]
pub(super) struct Diagnosis {
    socket: OwnedFd,
}

/// One end of a connection, or a socket that listens.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Endpoint {
    /// Whether it listens.
    listens: bool,
    /// Whether it is not there yet: we know that we are connected, and it does not.
    pub(super) is_opening: bool,
    /// Whether it has said that it will send no more.
    pub(super) has_finished: bool,
    /// Whether both directions are open as far as this end knows.
    pub(super) established: bool,
    /// The number of the socket, by which its owner is found; 0 if nobody accepted it, or if it
    /// was closed.
    pub(super) inode: u64,
    /// What was transferred, if the kernel says.
    pub(super) counts: Option<Counts>,
}

/// A socket that gets datagrams.
#[derive(Clone, Copy, Debug)]
pub(super) struct Receiver {
    /// The number of the socket, by which its owner is found.
    pub(super) inode: u64,
    /// How much memory what was not read takes.
    pub(super) unread: u32,
}

/// How many bytes an end has transferred.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    /// On the wire, what was sent again not counted.
    pub(super) sent: u64,
    /// Into its receive queue.
    pub(super) received: u64,
    /// Written by its owner and not yet on the wire.
    pub(super) unsent: u32,
    /// Packets on the wire that nobody has answered.
    pub(super) unanswered: u32,
}

const HEADER: usize = 16;
const BY_FAMILY: u16 = 20;
const REQUEST: u16 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ESTABLISHED: u8 = 1;
const OPENING: [u8; 2] = [3, 12];
const CLOSE_WAIT: u8 = 8;
const LISTENS: u8 = 10;
/// Asks for `struct tcp_info` too.
const WITH_INFO: u8 = 1 << (INFO - 1);
const INFO: u16 = 2;

impl Diagnosis {
    pub(super) fn new() -> Result<Self, Errno> {
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            Some(netlink::SOCK_DIAG),
        )?;
        Ok(Diagnosis { socket })
    }

    /// The socket at `local` that is connected to `remote`. If there is none, the kernel answers
    /// with the one that listens there.
    pub(super) fn connected(&self, local: SocketAddr, remote: SocketAddr) -> Option<Endpoint> {
        self.ask(local, remote).filter(|endpoint| !endpoint.listens)
    }

    /// The socket that listens at an address.
    pub(super) fn listening(&self, local: SocketAddr) -> Option<Endpoint> {
        let nowhere = match local {
            SocketAddr::V4(_) => SocketAddr::from(([0; 4], 0)),
            SocketAddr::V6(_) => SocketAddr::from(([0_u16; 8], 0)),
        };
        self.ask(local, nowhere).filter(|endpoint| endpoint.listens)
    }

    /// Whether anybody listens on a port, on the loopback address of either family.
    pub(super) fn is_listened_on(&self, port: u16) -> bool {
        let four = SocketAddr::from(([127, 0, 0, 1], port));
        let six = SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1_u16], port));
        [four, six].into_iter().any(|address| self.listening(address).is_some())
    }

    /// The socket that gets what is sent from one address to another.
    pub(super) fn datagrams(&self, from: SocketAddr, to: SocketAddr) -> Option<Receiver> {
        const UNREAD: usize = HEADER + 56;
        // Of datagrams, the kernel takes the addresses in the order of the packet.
        let reply = self.exchange(&request(UDP, from, to))?;
        let number = |at: usize| Some(u32::from_ne_bytes(reply.get(at..at + 4)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(reply.get(4..6)?.try_into().ok()?);
        (kind == BY_FAMILY).then_some(())?;
        Some(Receiver { inode: number(INODE)?.into(), unread: number(UNREAD)? })
    }

    fn ask(&self, local: SocketAddr, remote: SocketAddr) -> Option<Endpoint> {
        parse(&self.exchange(&request(TCP, local, remote))?)
    }

    fn exchange(&self, request: &[u8]) -> Option<Vec<u8>> {
        send(&self.socket, request, SendFlags::empty()).ok()?;
        let mut reply = vec![0; 2048];
        let (_, length) = recv(&self.socket, &mut reply[..], RecvFlags::empty()).ok()?;
        reply.truncate(length);
        Some(reply)
    }
}

const INODE: usize = HEADER + 68;

/// `struct nlmsghdr`, then `struct inet_diag_req_v2`.
fn request(protocol: u8, local: SocketAddr, remote: SocketAddr) -> Vec<u8> {
    const LENGTH: usize = HEADER + 56;
    let family = if local.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let mut bytes = Vec::with_capacity(LENGTH);
    bytes.extend((LENGTH as u32).to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([family.as_raw() as u8, protocol, WITH_INFO, 0]);
    bytes.extend(u32::MAX.to_ne_bytes());
    bytes.extend(local.port().to_be_bytes());
    bytes.extend(remote.port().to_be_bytes());
    for address in [local, remote] {
        let mut words = [0; 16];
        match address.ip() {
            IpAddr::V4(ip) => words[..4].copy_from_slice(&ip.octets()),
            IpAddr::V6(ip) => words = ip.octets(),
        }
        bytes.extend(words);
    }
    // Any interface, and no cookie.
    bytes.extend(0_u32.to_ne_bytes());
    bytes.extend([u8::MAX; 8]);
    bytes
}

/// `struct nlmsghdr`, `struct inet_diag_msg`, then attributes.
fn parse(reply: &[u8]) -> Option<Endpoint> {
    const STATE: usize = HEADER + 1;
    const ATTRIBUTES: usize = HEADER + 72;
    let number = |at: usize| Some(u32::from_ne_bytes(reply.get(at..at + 4)?.try_into().ok()?));
    let short = |at: usize| Some(u16::from_ne_bytes(reply.get(at..at + 2)?.try_into().ok()?));
    if short(4)? != BY_FAMILY {
        return None;
    }
    let state = *reply.get(STATE)?;
    let mut endpoint = Endpoint {
        listens: state == LISTENS,
        is_opening: OPENING.contains(&state),
        has_finished: ![ESTABLISHED, CLOSE_WAIT, LISTENS, OPENING[0], OPENING[1]].contains(&state),
        established: state == ESTABLISHED,
        inode: number(INODE)?.into(),
        counts: None,
    };
    let mut at = ATTRIBUTES;
    while let (Some(length), Some(kind)) = (short(at), short(at + 2)) {
        if kind == INFO {
            endpoint.counts = counts(reply.get(at + 4..at + usize::from(length))?);
        }
        at += usize::from(length).max(4).next_multiple_of(4);
    }
    Some(endpoint)
}

/// From `struct tcp_info`.
fn counts(info: &[u8]) -> Option<Counts> {
    let long = |at: usize| Some(u64::from_ne_bytes(info.get(at..at + 8)?.try_into().ok()?));
    let number = |at: usize| Some(u32::from_ne_bytes(info.get(at..at + 4)?.try_into().ok()?));
    let (sent, again) = (long(200)?, long(208)?);
    Some(Counts {
        sent: sent - again.min(sent),
        received: long(128)?,
        unsent: number(144)?,
        unanswered: number(24)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    /// What is asked is what is answered: the other end, byte by byte.
    #[test]
    fn the_other_end_is_seen() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let diagnosis = Diagnosis::new().unwrap();
            let listener = TcpListener::bind(address).unwrap();
            let at = listener.local_addr().unwrap();
            assert_ne!(diagnosis.listening(at).unwrap().inode, 0);
            let mut near = TcpStream::connect(at).unwrap();
            let end = || diagnosis.connected(at, near.local_addr().unwrap()).unwrap();
            assert!(end().established && end().inode == 0, "nobody accepted it yet");
            let (mut far, _) = listener.accept().unwrap();
            assert_ne!(end().inode, 0);
            near.write_all(b"hello").unwrap();
            far.write_all(b"you").unwrap();
            near.read_exact(&mut [0; 3]).unwrap();
            let counts = diagnosis.connected(at, near.local_addr().unwrap()).unwrap().counts;
            let counts = counts.unwrap();
            assert_eq!((counts.sent, counts.received, counts.unsent), (3, 5, 0));
            assert!(diagnosis.is_listened_on(at.port()));
        }
    }

    #[test]
    fn nobody_is_nobody() {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(Diagnosis::new().unwrap().listening(free).is_none());
        assert!(!Diagnosis::new().unwrap().is_listened_on(free.port()));
    }
}
