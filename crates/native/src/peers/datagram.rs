//! Datagrams to a UDP server: each socket of the program has a real socket with a port of its own.
//!
//! What goes into the trees is frames: addresses, a length and the content, one after the other, in
//! either direction. Ports that a server chooses by itself differ from contact to contact, so they
//! are numbered in the order in which they are first seen, and the program knows them by that.

use super::diagnosis::Diagnosis;
use super::udp_clients::Caller;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recvfrom, sendto};
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;

/// The first of the ports by which a program knows those that servers choose.
const FIRST_PORT: u16 = 62_000;
/// An address of the Internet, two ports, and how many bytes follow.
const HEAD: usize = 16 + 2 + 2 + 2;

/// One datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    /// The peer's address, as the program knows it.
    pub(super) far: SocketAddr,
    /// The program's port, if the peer is a client; otherwise it is that of the socket that stands
    /// for the program's.
    pub(super) near: u16,
    pub(super) content: &'a [u8],
}

impl Frame<'_> {
    /// How many bytes it has.
    pub(super) fn length(&self) -> usize {
        HEAD + self.content.len()
    }
}

/// Whom datagrams are exchanged with.
#[derive(Debug)]
pub(super) enum Datagrams {
    WithServer(Contact),
    WithClient(Caller),
}

impl Datagrams {
    /// Sends the first of these frames; how long it is.
    pub(super) fn write(&mut self, socket: BorrowedFd<'_>, frames: &[u8]) -> Result<usize, Errno> {
        match self {
            Datagrams::WithServer(contact) => contact.write(socket, frames),
            Datagrams::WithClient(caller) => caller.write(frames),
        }
    }

    /// Appends what has arrived as frames; whether anything has.
    pub(super) fn drain(
        &mut self,
        socket: BorrowedFd<'_>,
        frames: &mut Vec<u8>,
    ) -> Result<bool, Errno> {
        match self {
            Datagrams::WithServer(contact) => contact.drain(socket, frames),
            Datagrams::WithClient(caller) => caller.drain(frames),
        }
    }

    /// Whether a message of ours is unread or in flight.
    pub(super) fn is_moving(&self, own: SocketAddr, diagnosis: &Diagnosis) -> bool {
        let has_unread = match self {
            Datagrams::WithServer(contact) => contact.has_unread(own, diagnosis),
            Datagrams::WithClient(caller) => caller.has_unread(diagnosis),
        };
        has_unread || backlog()
    }
}

/// The addresses of a server as one contact has seen them.
#[derive(Debug, Default)]
pub(super) struct Contact {
    /// Those that the program sent to.
    named: Vec<SocketAddr>,
    /// Those that answers came from besides, in the order in which they were first seen.
    chosen: Vec<SocketAddr>,
}

impl Contact {
    /// Where a frame goes, as it is now.
    fn real(&self, known: SocketAddr) -> SocketAddr {
        let place = known.port().checked_sub(FIRST_PORT).map(usize::from);
        place.and_then(|place| self.chosen.get(place).copied()).unwrap_or(known)
    }

    /// What the program knows an address by.
    fn known(&mut self, real: SocketAddr) -> SocketAddr {
        if self.named.contains(&real) {
            return real;
        }
        let place = self.chosen.iter().position(|&other| other == real).unwrap_or_else(|| {
            self.chosen.push(real);
            self.chosen.len() - 1
        });
        SocketAddr::new(real.ip(), FIRST_PORT + place as u16)
    }

    /// Sends the first of these frames; how long it is.
    fn write(&mut self, socket: BorrowedFd<'_>, frames: &[u8]) -> Result<usize, Errno> {
        let Some(frame) = split(frames) else { return Err(Errno::INVAL) };
        let (to, real) = (frame.far, self.real(frame.far));
        if real == to && !self.named.contains(&to) {
            self.named.push(to);
        }
        match sendto(socket, frame.content, SendFlags::NOSIGNAL, &real) {
            // A refused earlier datagram shows as silence.
            Ok(_) | Err(Errno::CONNREFUSED) => Ok(frame.length()),
            Err(Errno::AGAIN) => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Appends what has arrived as frames; whether anything has.
    fn drain(&mut self, socket: BorrowedFd<'_>, frames: &mut Vec<u8>) -> Result<bool, Errno> {
        let mut buffer = vec![0; 1 << 16];
        let mut came = false;
        loop {
            match recvfrom(socket, &mut buffer[..], RecvFlags::empty()) {
                Ok((_, length, from)) => {
                    let Some(from) = from.and_then(|from| SocketAddr::try_from(from).ok()) else {
                        continue;
                    };
                    let content = &buffer[..length];
                    push(frames, &Frame { far: self.known(from), near: 0, content });
                    came = true;
                }
                Err(Errno::AGAIN) => return Ok(came),
                Err(Errno::CONNREFUSED) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether something that we sent was not read.
    fn has_unread(&self, own: SocketAddr, diagnosis: &Diagnosis) -> bool {
        let mut all = self.named.iter().chain(&self.chosen);
        all.any(|&to| diagnosis.datagrams(own, to).is_some_and(|it| it.unread > 0))
    }
}

/// Whether the kernel has packets that it has not put into the queue of any socket.
fn backlog() -> bool {
    const WAITING: usize = 11;
    let table = fs::read_to_string("/proc/net/softnet_stat").unwrap_or_default();
    let mut waiting = table.lines().filter_map(|line| line.split(' ').nth(WAITING));
    waiting.any(|count| count.bytes().any(|digit| digit != b'0'))
}

/// The first frame.
pub(super) fn split(frames: &[u8]) -> Option<Frame<'_>> {
    let (ip, rest) = frames.split_first_chunk::<16>()?;
    let (port, rest) = rest.split_first_chunk()?;
    let (near, rest) = rest.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let far = SocketAddr::new(IpAddr::from(*ip).to_canonical(), u16::from_be_bytes(*port));
    let content = rest.get(..usize::from(u16::from_le_bytes(*length)))?;
    Some(Frame { far, near: u16::from_be_bytes(*near), content })
}

/// All frames, one after the other.
fn all(mut frames: &[u8]) -> impl Iterator<Item = Frame<'_>> {
    std::iter::from_fn(move || {
        let frame = split(frames)?;
        frames = &frames[frame.length()..];
        Some(frame)
    })
}

/// The addresses that frames go to, but for those that servers chose.
pub(super) fn named(frames: &[u8]) -> impl Iterator<Item = SocketAddr> {
    all(frames).map(|frame| frame.far).filter(|far| far.port() < FIRST_PORT)
}

pub(super) fn push(frames: &mut Vec<u8>, frame: &Frame<'_>) {
    let ip = match frame.far.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    frames.extend(ip.octets());
    frames.extend(frame.far.port().to_be_bytes());
    frames.extend(frame.near.to_be_bytes());
    frames.extend((frame.content.len() as u16).to_le_bytes());
    frames.extend(frame.content);
}

/// Puts frames in the order of the sockets that they go to and come from: that between sockets is a
/// matter of chance, and no network keeps it.
pub(super) fn arrange(frames: &mut Vec<u8>) {
    let mut sorted: Vec<Frame<'_>> = all(frames).collect();
    sorted.sort_by_key(|frame| (frame.near, frame.far));
    let mut arranged = Vec::with_capacity(frames.len());
    sorted.iter().for_each(|frame| push(&mut arranged, frame));
    *frames = arranged;
}

/// How many bytes of content frames have.
pub(super) fn content(frames: &[u8]) -> usize {
    all(frames).map(|frame| frame.content.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    fn bound() -> (UdpSocket, SocketAddr) {
        let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        socket.set_nonblocking(true).unwrap();
        let address = socket.local_addr().unwrap();
        (socket, address)
    }

    #[test]
    fn ports_that_a_server_chooses_are_known_by_their_order() {
        let diagnosis = Diagnosis::new().unwrap();
        let ((own, at), (server, named), (other, _)) = (bound(), bound(), bound());
        let mut contact = Contact::default();
        let mut frames = Vec::new();
        push(&mut frames, &Frame { far: named, near: 0, content: b"ask" });
        assert_eq!(contact.write(own.as_fd(), &frames), Ok(frames.len()));
        assert!(contact.has_unread(at, &diagnosis), "nobody has read it");
        assert_eq!(server.recv(&mut [0; 8]).unwrap(), 3);
        assert!(!contact.has_unread(at, &diagnosis));
        other.send_to(b"ans", at).unwrap();
        server.send_to(b"wer!", at).unwrap();
        let mut answer = Vec::new();
        assert_eq!(contact.drain(own.as_fd(), &mut answer), Ok(true));
        assert_eq!(content(&answer), 7);
        let first = split(&answer).unwrap();
        assert_eq!((first.far.port(), first.content), (FIRST_PORT, &b"ans"[..]));
        let second = Frame { far: named, near: 0, content: b"wer!" };
        assert_eq!(split(&answer[first.length()..]).unwrap(), second);
        let mut frames = Vec::new();
        push(&mut frames, &Frame { far: first.far, near: 0, content: b"thanks" });
        contact.write(own.as_fd(), &frames).unwrap();
        assert_eq!(other.recv(&mut [0; 8]).unwrap(), 6);
    }
}
