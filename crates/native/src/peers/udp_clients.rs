//! UDP clients that send to the program: real sockets stand for all sockets of the program.
//!
//! A client sends to the door, which is bound where the program's socket is. From then on a line
//! leads from each of the program's ports to each of the client's: a socket of ours that is
//! connected to the client, so that the kernel keeps clients apart that run at the same time. The
//! program knows a client's ports by which client it is and by the order in which it used them.

use super::datagram::{Frame, push, split};
use super::diagnosis::Diagnosis;
use everypath_shim_abi::client_ports;
use rustix::event::epoll;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, connect, getsockname,
    recvfrom, send, socket_with, sockopt,
};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

/// A client that sends datagrams.
#[derive(Debug)]
pub(super) struct Caller {
    /// Which of all clients it is.
    number: usize,
    /// Where datagrams come from whose source is not known yet.
    door: OwnedFd,
    home: SocketAddr,
    /// Its addresses, in the order in which they were first seen.
    sources: Vec<SocketAddr>,
    lines: Vec<Line>,
    /// What came to the door already: from which source.
    early: Vec<(usize, Vec<u8>)>,
    /// Everything that datagrams come from.
    ready: OwnedFd,
}

/// A way between a port of the program's and one of the client's.
#[derive(Debug)]
struct Line {
    /// The program's, as the program knows it.
    near: u16,
    /// Which of the client's sources.
    far: usize,
    socket: OwnedFd,
    own: SocketAddr,
}

/// A socket that shares its port with others of ours.
pub(super) fn bound(address: SocketAddr) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::DGRAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &address)?;
    Ok(socket)
}

fn address_of(socket: &OwnedFd) -> Result<SocketAddr, Errno> {
    SocketAddr::try_from(getsockname(socket)?).map_err(|_| Errno::AFNOSUPPORT)
}

/// What has arrived, and from where; none if nothing has.
fn next(socket: &OwnedFd) -> Result<Option<(SocketAddr, Vec<u8>)>, Errno> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match recvfrom(socket, &mut buffer[..], RecvFlags::empty()) {
            Ok((_, length, from)) => {
                let Some(from) = from.and_then(|from| SocketAddr::try_from(from).ok()) else {
                    continue;
                };
                buffer.truncate(length);
                return Ok(Some((from, buffer)));
            }
            Err(Errno::AGAIN) => return Ok(None),
            // The client is gone, or does not listen any more.
            Err(Errno::CONNREFUSED) => {}
            Err(error) => return Err(error),
        }
    }
}

impl Caller {
    /// The sender of a datagram to a door, if there is one.
    pub(super) fn arrived(door: &OwnedFd) -> Result<Option<Self>, Errno> {
        let Some((from, content)) = next(door)? else { return Ok(None) };
        let ready = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let door = door.try_clone().map_err(|_| Errno::MFILE)?;
        let home = address_of(&door)?;
        let (sources, lines, early) = (Vec::new(), Vec::new(), Vec::new());
        let mut caller = Caller { number: 0, door, home, sources, lines, early, ready };
        caller.watch(&caller.door)?;
        let far = caller.source(from)?;
        caller.early.push((far, content));
        Ok(Some(caller))
    }

    /// Something to wait on for all that may come.
    pub(super) fn descriptor(&self) -> Result<OwnedFd, Errno> {
        self.ready.try_clone().map_err(|_| Errno::MFILE)
    }

    /// Where it came to.
    pub(super) fn home(&self) -> SocketAddr {
        self.home
    }

    /// Says which of all clients it is.
    pub(super) fn is_number(&mut self, number: usize) {
        self.number = number;
    }

    fn watch(&self, socket: &OwnedFd) -> Result<(), Errno> {
        epoll::add(&self.ready, socket, epoll::EventData::new_u64(0), epoll::EventFlags::IN)
    }

    /// Which of its sources an address is. What comes from a new one comes by a line from now on.
    fn source(&mut self, from: SocketAddr) -> Result<usize, Errno> {
        if let Some(known) = self.sources.iter().position(|&source| source == from) {
            return Ok(known);
        }
        let far = self.sources.len();
        self.sources.push(from);
        self.line(self.home.port(), far)?;
        Ok(far)
    }

    /// The line between two ports.
    fn line(&mut self, near: u16, far: usize) -> Result<usize, Errno> {
        if let Some(place) = self.lines.iter().position(|it| (it.near, it.far) == (near, far)) {
            return Ok(place);
        }
        let to = *self.sources.get(far).ok_or(Errno::INVAL)?;
        let any = match to {
            SocketAddr::V4(_) => SocketAddr::from(([0; 4], 0)),
            SocketAddr::V6(_) => SocketAddr::from(([0_u16; 8], 0)),
        };
        let same = self.lines.iter().find(|line| line.near == near);
        let at = match same {
            _ if near == self.home.port() => self.home,
            Some(line) => SocketAddr::new(any.ip(), line.own.port()),
            None => any,
        };
        let socket = bound(at)?;
        connect(&socket, &to)?;
        self.watch(&socket)?;
        let own = address_of(&socket)?;
        self.lines.push(Line { near, far, socket, own });
        Ok(self.lines.len() - 1)
    }

    /// The port by which the program knows a source.
    fn port(&self, far: usize) -> Result<u16, Errno> {
        let number = u16::try_from(self.number).map_err(|_| Errno::NOBUFS)?;
        let far = u16::try_from(far).map_err(|_| Errno::NOBUFS)?;
        client_ports::port(number, far).ok_or(Errno::NOBUFS)
    }

    /// Sends the first of these frames; how long it is.
    pub(super) fn write(&mut self, frames: &[u8]) -> Result<usize, Errno> {
        let Some(frame) = split(frames) else { return Err(Errno::INVAL) };
        let far = usize::from(client_ports::source(frame.far.port()));
        let place = self.line(frame.near, far)?;
        match send(&self.lines[place].socket, frame.content, SendFlags::NOSIGNAL) {
            // A refused earlier datagram shows as silence.
            Ok(_) | Err(Errno::CONNREFUSED) => Ok(frame.length()),
            Err(Errno::AGAIN) => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Appends what has arrived as frames; whether anything has.
    pub(super) fn drain(&mut self, frames: &mut Vec<u8>) -> Result<bool, Errno> {
        let mut came = std::mem::take(&mut self.early);
        while let Some((from, content)) = next(&self.door)? {
            let far = self.source(from)?;
            came.push((far, content));
        }
        let home = self.home.port();
        let mut came: Vec<_> = came.into_iter().map(|(far, it)| (home, far, it)).collect();
        for line in &self.lines {
            while let Some((_, content)) = next(&line.socket)? {
                came.push((line.near, line.far, content));
            }
        }
        for (near, far, content) in &came {
            let known = SocketAddr::new(self.sources[*far].ip(), self.port(*far)?);
            push(frames, &Frame { far: known, near: *near, content });
        }
        Ok(!came.is_empty())
    }

    /// Whether something that we sent was not read.
    pub(super) fn has_unread(&self, diagnosis: &Diagnosis) -> bool {
        let canonical =
            |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
        self.lines.iter().any(|line| {
            let (from, to) = (canonical(line.own), canonical(self.sources[line.far]));
            diagnosis.datagrams(from, to).is_some_and(|it| it.unread > 0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    /// Two clients at one door, each answered from a port of the program's that it never saw.
    #[test]
    fn clients_at_one_door_are_kept_apart() {
        let door = bound("127.0.0.1:0".parse().unwrap()).unwrap();
        let home = address_of(&door).unwrap();
        let clients = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        let mut client_ports = Vec::new();
        for (number, client) in clients.iter().enumerate() {
            client.send_to(b"hello", home).unwrap();
            let mut caller = Caller::arrived(&door).unwrap().expect("it has sent something");
            caller.is_number(number);
            client_ports.push(caller);
        }
        for (number, (client, caller)) in clients.iter().zip(&mut client_ports).enumerate() {
            client.send_to(b"again", home).unwrap();
            let mut frames = Vec::new();
            assert_eq!(caller.drain(&mut frames), Ok(true));
            let first = split(&frames).unwrap();
            assert_eq!((first.near, first.content), (home.port(), &b"hello"[..]));
            assert_eq!(Some(first.far.port()), client_ports::port(number as u16, 0));
            let second = split(&frames[first.length()..]).unwrap();
            assert_eq!(second.content, b"again");
            let mut answer = Vec::new();
            push(&mut answer, &Frame { near: 33, content: b"welcome", ..first });
            assert_eq!(caller.write(&answer), Ok(answer.len()));
            assert!(caller.has_unread(&Diagnosis::new().unwrap()), "nobody has read it");
            let mut buffer = [0; 16];
            let (length, from) = client.recv_from(&mut buffer).unwrap();
            assert_eq!((&buffer[..length], from == home), (&b"welcome"[..], false));
            client.send_to(b"thanks", from).unwrap();
            let mut frames = Vec::new();
            assert_eq!(caller.drain(&mut frames), Ok(true));
            let third = split(&frames).unwrap();
            assert_eq!((third.near, third.content), (33, &b"thanks"[..]));
        }
    }
}
