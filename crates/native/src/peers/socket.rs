//! The checker's sockets to peers, and the listening sockets that clients connect to.

use super::address::Address;
use super::datagram::{self, Contact, Datagrams};
use super::diagnosis::Diagnosis;
use super::udp_clients::{self, Caller};
use everypath_commtree::End;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, accept_with, bind,
    connect, getpeername, getsockname, listen, recv, send, shutdown, socket_with, sockopt,
};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};
use std::fs;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::time::Duration;

/// A connected socket that never blocks.
#[derive(Debug)]
pub(super) struct Socket {
    descriptor: OwnedFd,
    /// The peer's address and ours, of TCP sockets.
    ends: Option<(SocketAddr, SocketAddr)>,
    /// How much was written and read in all.
    written: u64,
    read: u64,
    /// Whether we said that we will write no more.
    shut: bool,
    /// Whether the peer will send more.
    end: End,
    /// Whom it exchanges datagrams with, if it does.
    contact: Option<Box<Datagrams>>,
}

/// What happens between the ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    /// Something is in flight.
    Moving,
    /// Nothing is.
    Still,
    /// Nothing is, but nobody has accepted the connection.
    Unaccepted,
}

/// What came of trying to connect.
#[derive(Debug)]
pub(super) enum Attempt {
    Connected(Socket),
    /// Nobody listens there.
    Refused,
    /// Somebody does, but has no place for us now.
    Busy,
}

const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);
/// How many clients may wait to be accepted.
const BACKLOG: i32 = 128;

impl Socket {
    pub(super) fn connect(address: &Address, patience: Duration) -> Result<Attempt, Errno> {
        let descriptor = socket_with(address.family(), SocketType::STREAM, FLAGS, None)?;
        match connect(&descriptor, &address.to_system()?) {
            Ok(()) => {}
            Err(Errno::INPROGRESS) => match settle(&descriptor, patience) {
                Ok(()) => {}
                Err(Errno::CONNREFUSED) => return Ok(Attempt::Refused),
                Err(error) => return Err(error),
            },
            Err(Errno::CONNREFUSED | Errno::NOENT) => return Ok(Attempt::Refused),
            Err(Errno::AGAIN) => return Ok(Attempt::Busy),
            Err(error) => return Err(error),
        }
        let socket = Socket::new(descriptor)?;
        // Where nobody listens, the kernel may have given us the very port we connect to.
        let is_with_itself = socket.ends.is_some_and(|(peer, own)| peer == own);
        Ok(if is_with_itself { Attempt::Refused } else { Attempt::Connected(socket) })
    }

    /// A socket for datagrams to a server, from a port of its own.
    pub(super) fn datagrams(address: &Address) -> Result<Self, Errno> {
        let descriptor = socket_with(address.family(), SocketType::DGRAM, FLAGS, None)?;
        let any = match address.family() {
            AddressFamily::INET6 => SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1_u16], 0)),
            _ => SocketAddr::from(([127, 0, 0, 1], 0)),
        };
        bind(&descriptor, &any)?;
        let own = SocketAddr::try_from(getsockname(&descriptor)?).ok();
        let mut socket = Socket::with_ends(descriptor, own.map(|own| (own, own)));
        socket.contact = Some(Box::new(Datagrams::WithServer(Contact::default())));
        Ok(socket)
    }

    /// What stands for all the sockets by which datagrams of a client come.
    fn of_caller(caller: Caller) -> Result<Self, Errno> {
        let descriptor = caller.descriptor()?;
        let home = caller.home();
        let mut socket = Socket::with_ends(descriptor, Some((home, home)));
        socket.contact = Some(Box::new(Datagrams::WithClient(caller)));
        Ok(socket)
    }

    /// Says which client is at the other end.
    pub(super) fn is_with(&mut self, number: usize) {
        if let Some(Datagrams::WithClient(caller)) = self.contact.as_deref_mut() {
            caller.is_number(number);
        }
    }

    /// Puts an answer into the order that does not depend on time.
    pub(super) fn arrange(&self, answer: &mut Vec<u8>) {
        if let Some(Datagrams::WithClient(_)) = self.contact.as_deref() {
            datagram::arrange(answer);
        }
    }

    fn with_ends(descriptor: OwnedFd, ends: Option<(SocketAddr, SocketAddr)>) -> Self {
        let (written, read, shut, end, contact) = (0, 0, false, End::Open, None);
        Socket { descriptor, ends, written, read, shut, end, contact }
    }

    fn new(descriptor: OwnedFd) -> Result<Self, Errno> {
        let peer = getpeername(&descriptor)?.and_then(|address| SocketAddr::try_from(address).ok());
        let own = SocketAddr::try_from(getsockname(&descriptor)?).ok();
        let ends = peer.zip(own);
        if ends.is_some() {
            sockopt::set_tcp_nodelay(&descriptor, true)?;
        }
        Ok(Socket::with_ends(descriptor, ends))
    }

    /// Writes as much as can be written now, and says how much that was. What nobody will read any
    /// more counts as written.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        if bytes.is_empty() {
            return Ok(0);
        }
        if let Some(contact) = &mut self.contact {
            return contact.write(self.descriptor.as_fd(), bytes);
        }
        match send(&self.descriptor, bytes, SendFlags::NOSIGNAL) {
            Ok(length) => {
                self.written += length as u64;
                Ok(length)
            }
            Err(Errno::AGAIN) => Ok(0),
            Err(Errno::PIPE | Errno::CONNRESET) => {
                self.end = End::Reset;
                Ok(bytes.len())
            }
            Err(error) => Err(error),
        }
    }

    /// Tells the peer that we will write no more.
    pub(super) fn shut(&mut self) -> Result<(), Errno> {
        self.shut = true;
        match shutdown(&self.descriptor, Shutdown::Write) {
            // The peer has reset the connection.
            Err(Errno::NOTCONN) => Ok(()),
            result => result,
        }
    }

    /// Reads what can be read now to the end of `bytes`, which shall not get longer than `limit` by
    /// much; says whether anything came, be it the end.
    pub(super) fn drain(&mut self, bytes: &mut Vec<u8>, limit: usize) -> Result<bool, Errno> {
        if let Some(contact) = &mut self.contact {
            return contact.drain(self.descriptor.as_fd(), bytes);
        }
        let mut buffer = [0; 16384];
        let mut came = false;
        while self.end == End::Open && bytes.len() <= limit {
            match recv(&self.descriptor, &mut buffer, RecvFlags::empty()) {
                Ok((_, 0)) => self.end = End::Closed,
                Ok((_, length)) => {
                    self.read += length as u64;
                    bytes.extend(&buffer[..length]);
                }
                Err(Errno::CONNRESET | Errno::PIPE) => self.end = End::Reset,
                Err(Errno::AGAIN) => return Ok(came),
                Err(error) => return Err(error),
            }
            came = true;
        }
        // After the end, only an error can follow: the peer does not want what we wrote.
        if self.end == End::Closed && sockopt::socket_error(&self.descriptor)?.is_err() {
            self.end = End::Reset;
            came = true;
        }
        Ok(came)
    }

    /// Whether the peer will send more.
    pub(super) fn end(&self) -> End {
        self.end
    }

    /// The servers that frames go to, as far as the program has named them.
    pub(super) fn destinations(&self, frames: &[u8]) -> Vec<SocketAddr> {
        match self.contact.as_deref() {
            Some(Datagrams::WithServer(_)) => datagram::named(frames).collect(),
            Some(Datagrams::WithClient(_)) | None => Vec::new(),
        }
    }

    /// How many bytes of an answer are the peer's.
    pub(super) fn length(&self, answer: &[u8]) -> usize {
        if self.contact.is_some() { datagram::content(answer) } else { answer.len() }
    }

    /// Whether a peer has said something by itself since its answer was complete.
    pub(super) fn has_been_impatient(&mut self) -> bool {
        !matches!(self.drain(&mut Vec::new(), 0), Ok(false))
    }

    /// Whether data is in flight: a busy machine may deliver late, even on loopback.
    pub(super) fn wire(&self, diagnosis: &Diagnosis) -> Wire {
        let Some((peer, own)) = self.ends else { return Wire::Still };
        if let Some(contact) = &self.contact {
            return if contact.is_moving(own, diagnosis) { Wire::Moving } else { Wire::Still };
        }
        let Some(far) = diagnosis.connected(peer, own) else {
            // It is over, and we are told unless we know: that it ended, and that what we wrote
            // since then was not wanted.
            let near = || diagnosis.connected(own, peer).and_then(|near| near.counts);
            let is_told = match self.end {
                End::Open => false,
                End::Closed => near().is_none_or(|counts| counts.unanswered == 0),
                End::Reset => true,
            };
            return if is_told { Wire::Still } else { Wire::Moving };
        };
        let to_us = self.end == End::Open
            && (far.has_finished
                || far.counts.is_some_and(|far| far.sent > self.read || far.unsent > 0));
        let to_peer = far.is_opening
            || (self.shut && far.established)
            || far.counts.is_some_and(|far| far.received < self.written);
        match far.established && far.inode == 0 {
            _ if to_us || to_peer => Wire::Moving,
            true => Wire::Unaccepted,
            false => Wire::Still,
        }
    }

    /// Waits until the socket can be read, or written if `writing`, or the timer is over, or a
    /// while has passed.
    pub(super) fn wait(&self, writing: bool, timer: &Timer, while_: Duration) -> Result<(), Errno> {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, self.end == End::Open);
        flags.set(PollFlags::OUT, writing);
        if flags.is_empty() {
            return timer.wait(&[], while_);
        }
        timer.wait_for(PollFd::new(&self.descriptor, flags), while_)
    }

    /// Whether nothing comes for a while; less if the timer is over before.
    pub(super) fn is_silent_for(&self, quiet: Duration, timer: &Timer) -> Result<bool, Errno> {
        let mut descriptors = [PollFd::new(&self.descriptor, PollFlags::IN)];
        let came = match poll(&mut descriptors, Some(&timespec(quiet))) {
            // A signal ends the wait early, and says nothing of the peer.
            Err(Errno::INTR) => 0,
            came => came?,
        };
        Ok(came == 0 && !timer.is_over()?)
    }

    /// Who listened when we connected to a Unix socket.
    pub(super) fn listening_process(&self) -> Option<u32> {
        let credentials = sockopt::socket_peercred(&self.descriptor).ok()?;
        u32::try_from(credentials.pid.as_raw_nonzero().get()).ok()
    }
}

/// What became of connecting. It is not given up early: the peer might see a connection that ends
/// at once.
fn settle(descriptor: &OwnedFd, patience: Duration) -> Result<(), Errno> {
    let mut descriptors = [PollFd::new(descriptor, PollFlags::OUT)];
    if poll(&mut descriptors, Some(&timespec(patience)))? == 0 {
        return Err(Errno::TIMEDOUT);
    }
    sockopt::socket_error(descriptor)?
}

/// A socket on which clients reach the program.
#[derive(Debug)]
pub(super) struct Listener {
    descriptor: OwnedFd,
    by_datagrams: bool,
}

impl Listener {
    pub(super) fn new(address: &Address) -> Result<Self, Errno> {
        if let Address::Udp(home) = address {
            return Ok(Listener { descriptor: udp_clients::bound(*home)?, by_datagrams: true });
        }
        let descriptor = socket_with(address.family(), SocketType::STREAM, FLAGS, None)?;
        sockopt::set_socket_reuseaddr(&descriptor, true)?;
        let home = address.to_system()?;
        match (bind(&descriptor, &home), address) {
            // Another socket of the program has the port for IPv4, so this one is for IPv6 only.
            (Err(Errno::ADDRINUSE), Address::Tcp(SocketAddr::V6(_))) => {
                sockopt::set_ipv6_v6only(&descriptor, true)?;
                bind(&descriptor, &home)?;
            }
            (bound, _) => bound?,
        }
        listen(&descriptor, BACKLOG)?;
        Ok(Listener { descriptor, by_datagrams: false })
    }

    /// Whether somebody has come.
    pub(super) fn has_arrival(&self) -> Result<bool, Errno> {
        is_readable(&self.descriptor)
    }

    /// Forgets datagrams of those who are gone.
    pub(super) fn forget(&self) {
        if self.by_datagrams {
            while recv(&self.descriptor, &mut [0; 1], RecvFlags::empty()).is_ok() {}
        }
    }

    /// The next client that waits.
    pub(super) fn accept(&self) -> Result<Option<Socket>, Errno> {
        if self.by_datagrams {
            return Caller::arrived(&self.descriptor)?.map(Socket::of_caller).transpose();
        }
        match accept_with(&self.descriptor, FLAGS) {
            Ok(descriptor) => Socket::new(descriptor).map(Some),
            Err(Errno::AGAIN | Errno::CONNABORTED) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Removes the file of a Unix socket that we listened on.
pub(super) fn remove_file(address: &Address) {
    if let Address::Path(path) = address
        && fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket())
    {
        let _ = fs::remove_file(path);
    }
}

/// How long we are willing to wait, as something that can be waited for.
#[derive(Debug)]
pub(super) struct Timer {
    descriptor: OwnedFd,
}

impl Timer {
    pub(super) fn new(patience: Duration) -> Result<Self, Errno> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let descriptor = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        let timer = Timer { descriptor };
        timer.extend(patience.max(Duration::from_nanos(1)))?;
        Ok(timer)
    }

    /// Gives more time, once it was over.
    pub(super) fn extend(&self, more: Duration) -> Result<(), Errno> {
        let time = Itimerspec { it_interval: timespec(Duration::ZERO), it_value: timespec(more) };
        timerfd_settime(&self.descriptor, TimerfdTimerFlags::empty(), &time).map(drop)
    }

    /// Whether the time is over.
    pub(super) fn is_over(&self) -> Result<bool, Errno> {
        is_readable(&self.descriptor)
    }

    /// Waits until a client comes, or the time is over, or a while has passed.
    pub(super) fn wait(&self, listeners: &[&Listener], while_: Duration) -> Result<(), Errno> {
        let mut descriptors = vec![PollFd::new(&self.descriptor, PollFlags::IN)];
        let others = listeners.iter();
        descriptors.extend(others.map(|other| PollFd::new(&other.descriptor, PollFlags::IN)));
        wait(&mut descriptors, while_)
    }

    fn wait_for(&self, other: PollFd<'_>, while_: Duration) -> Result<(), Errno> {
        wait(&mut [PollFd::from_borrowed_fd(self.descriptor.as_fd(), PollFlags::IN), other], while_)
    }
}

fn is_readable(descriptor: &OwnedFd) -> Result<bool, Errno> {
    let mut descriptors = [PollFd::new(descriptor, PollFlags::IN)];
    Ok(poll(&mut descriptors, Some(&timespec(Duration::ZERO)))? > 0)
}

fn wait(descriptors: &mut [PollFd<'_>], while_: Duration) -> Result<(), Errno> {
    match poll(descriptors, Some(&timespec(while_))) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error),
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;

    /// The end of a connection is in flight until it was read, and so is what precedes it.
    #[test]
    fn an_end_that_we_do_not_know_of_is_on_its_way() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::Tcp(listener.local_addr().unwrap());
        let patience = Duration::from_secs(10);
        let Attempt::Connected(mut near) = Socket::connect(&address, patience).unwrap() else {
            panic!("nobody listens");
        };
        let diagnosis = Diagnosis::new().unwrap();
        assert_eq!(near.wire(&diagnosis), Wire::Unaccepted);
        let (mut far, _) = listener.accept().unwrap();
        assert_eq!(near.wire(&diagnosis), Wire::Still);
        far.write_all(b"bye").unwrap();
        drop(far);
        assert_eq!(near.wire(&diagnosis), Wire::Moving);
        let (timer, mut bytes) = (Timer::new(patience).unwrap(), Vec::new());
        while near.end() == End::Open {
            near.wait(false, &timer, patience).unwrap();
            near.drain(&mut bytes, 10).unwrap();
        }
        assert_eq!((bytes.as_slice(), near.end()), (&b"bye"[..], End::Closed));
        assert_eq!(near.wire(&diagnosis), Wire::Still);
    }
}
