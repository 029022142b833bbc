//! Datagrams to a server: our socket stands for one of the program's, from a port of its own.
//!
//! What goes into the trees is frames: an address, a length and the content, one after the other, in
//! either direction. Ports that a server chooses by itself differ from contact to contact, so they
//! are numbered in the order in which they are first seen, and the program knows them by that.

use super::diagnosis::Diagnosis;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recvfrom, sendto};
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// The first of the ports by which a program knows those that servers choose.
const FIRST_PORT: u16 = 62_000;
/// An address of the Internet, a port, and how many bytes follow.
const HEAD: usize = 16 + 2 + 2;

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
    pub(super) fn write(&mut self, socket: BorrowedFd<'_>, frames: &[u8]) -> Result<usize, Errno> {
        let Some((to, content)) = split(frames) else { return Err(Errno::INVAL) };
        let real = self.real(to);
        if real == to && !self.named.contains(&to) {
            self.named.push(to);
        }
        match sendto(socket, content, SendFlags::NOSIGNAL, &real) {
            // That nobody received an earlier one is told by silence.
            Ok(_) | Err(Errno::CONNREFUSED) => Ok(HEAD + content.len()),
            Err(Errno::AGAIN) => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Appends what has arrived as frames; whether anything has.
    pub(super) fn drain(
        &mut self,
        socket: BorrowedFd<'_>,
        frames: &mut Vec<u8>,
    ) -> Result<bool, Errno> {
        let mut buffer = vec![0; 1 << 16];
        let mut came = false;
        loop {
            match recvfrom(socket, &mut buffer[..], RecvFlags::empty()) {
                Ok((_, length, from)) => {
                    let Some(from) = from.and_then(|from| SocketAddr::try_from(from).ok()) else {
                        continue;
                    };
                    push(frames, self.known(from), &buffer[..length]);
                    came = true;
                }
                Err(Errno::AGAIN) => return Ok(came),
                Err(Errno::CONNREFUSED) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether something that we sent was not read, or is on its way.
    pub(super) fn is_moving(&self, own: SocketAddr, diagnosis: &Diagnosis) -> bool {
        let mut all = self.named.iter().chain(&self.chosen);
        all.any(|&to| diagnosis.datagrams(own, to).is_some_and(|it| it.unread > 0)) || backlog()
    }
}

/// Whether the kernel has packets that it has not put into the queue of any socket.
fn backlog() -> bool {
    const WAITING: usize = 11;
    let table = fs::read_to_string("/proc/net/softnet_stat").unwrap_or_default();
    let mut waiting = table.lines().filter_map(|line| line.split(' ').nth(WAITING));
    waiting.any(|count| count.bytes().any(|digit| digit != b'0'))
}

/// The first frame: its address and its content.
fn split(frames: &[u8]) -> Option<(SocketAddr, &[u8])> {
    let (ip, rest) = frames.split_first_chunk::<16>()?;
    let (port, rest) = rest.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let ip = IpAddr::from(*ip).to_canonical();
    let content = rest.get(..usize::from(u16::from_le_bytes(*length)))?;
    Some((SocketAddr::new(ip, u16::from_be_bytes(*port)), content))
}

fn push(frames: &mut Vec<u8>, from: SocketAddr, content: &[u8]) {
    let ip = match from.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    frames.extend(ip.octets());
    frames.extend(from.port().to_be_bytes());
    frames.extend((content.len() as u16).to_le_bytes());
    frames.extend(content);
}

/// How long nothing is said, if that is what a frame means, and how long the frame is.
pub(super) fn silence(frames: &[u8]) -> Option<(Duration, usize)> {
    let (to, content) = split(frames)?;
    let milliseconds = u32::from_le_bytes(content.try_into().ok()?);
    let is_silence = to.port() == 0 && to.ip().is_unspecified();
    is_silence.then(|| (Duration::from_millis(milliseconds.into()), HEAD + content.len()))
}

/// How many bytes of content frames have.
pub(super) fn content(mut frames: &[u8]) -> usize {
    let mut sum = 0;
    while let Some((_, content)) = split(frames) {
        sum += content.len();
        frames = &frames[HEAD + content.len()..];
    }
    sum
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
        push(&mut frames, named, b"ask");
        assert_eq!(contact.write(own.as_fd(), &frames), Ok(frames.len()));
        assert!(contact.is_moving(at, &diagnosis), "nobody has read it");
        assert_eq!(server.recv(&mut [0; 8]).unwrap(), 3);
        assert!(!contact.is_moving(at, &diagnosis));
        other.send_to(b"ans", at).unwrap();
        server.send_to(b"wer!", at).unwrap();
        let mut answer = Vec::new();
        assert_eq!(contact.drain(own.as_fd(), &mut answer), Ok(true));
        assert_eq!(content(&answer), 7);
        let (first, said) = split(&answer).unwrap();
        assert_eq!((first.port(), said), (FIRST_PORT, &b"ans"[..]));
        assert_eq!(split(&answer[HEAD + 3..]).unwrap(), (named, &b"wer!"[..]));
        let mut frames = Vec::new();
        push(&mut frames, first, b"thanks");
        contact.write(own.as_fd(), &frames).unwrap();
        assert_eq!(other.recv(&mut [0; 8]).unwrap(), 6);
    }
}
