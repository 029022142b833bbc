//! Calls made to the kernel of the machine.

use crate::calls::{ALL, Call, Content, Kernel, OptionName, Outcome, Value};
use crate::machine::LENGTH;
use rustix::event::{EventfdFlags, PollFd, PollFlags, epoll, eventfd, poll};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    FlockOperation, MemfdFlags, Mode, OFlags, SeekFrom, fcntl_getfl, flock, memfd_create, open,
    seek,
};
use rustix::io::{self, Errno};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrAny, SocketFlags, SocketType, sockopt,
};
use rustix::time::Timespec;
use std::io::{IoSlice, IoSliceMut};

/// The kernel of the machine, and the descriptors that were made.
pub(crate) struct Machine {
    descriptors: Vec<Option<OwnedFd>>,
    addresses: Vec<Option<SocketAddrAny>>,
    content: Content,
}

/// How often something is looked at that may take a moment.
const ATTEMPTS: usize = 2000;

fn error(error: Errno) -> i32 {
    error.raw_os_error()
}

fn number(result: io::Result<usize>) -> Outcome {
    result.map(|value| Value::Number(value as u64)).map_err(error)
}

fn done(result: io::Result<()>) -> Outcome {
    number(result.map(|()| 0))
}

impl Machine {
    pub(crate) fn new() -> Self {
        Machine { descriptors: Vec::new(), addresses: Vec::new(), content: Content::default() }
    }

    fn at(&self, place: usize) -> Result<BorrowedFd<'_>, i32> {
        self.descriptors[place].as_ref().map(AsFd::as_fd).ok_or(error(Errno::BADF))
    }

    fn add(&mut self, descriptors: impl IntoIterator<Item = OwnedFd>) -> Outcome {
        for descriptor in descriptors {
            self.descriptors.push(Some(descriptor));
            self.addresses.push(None);
        }
        Ok(Value::Number(0))
    }

    fn socket(&mut self, family: AddressFamily, kind: SocketType) -> Outcome {
        let made = rustix::net::socket_with(family, kind, SocketFlags::NONBLOCK, None);
        let made = made.map_err(error)?;
        if (family, kind) == (AddressFamily::INET, SocketType::STREAM) {
            // Bytes are not collected before they are sent.
            sockopt::set_tcp_nodelay(&made, true).map_err(error)?;
        }
        self.add([made])
    }

    fn pair(&mut self, kind: SocketType) -> Outcome {
        let flags = SocketFlags::NONBLOCK;
        let made = rustix::net::socketpair(AddressFamily::UNIX, kind, flags, None);
        made.map_err(error).and_then(|(one, other)| self.add([one, other]))
    }

    fn bind(&mut self, place: usize) -> Outcome {
        let socket = self.at(place)?;
        let bound = match sockopt::socket_domain(socket).map_err(error)? {
            AddressFamily::INET => {
                let any = std::net::SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 0);
                rustix::net::bind(socket, &any)
            }
            _ => rustix::net::bind(socket, &rustix::net::SocketAddrUnix::new_unnamed()),
        };
        bound.map_err(error)?;
        self.addresses[place] = Some(rustix::net::getsockname(self.at(place)?).map_err(error)?);
        Ok(Value::Number(0))
    }

    fn receive(&self, place: usize, length: usize, flags: RecvFlags) -> Outcome {
        let mut bytes = vec![0; length];
        let (count, _) =
            rustix::net::recv(self.at(place)?, &mut bytes[..], flags).map_err(error)?;
        bytes.truncate(count);
        Ok(Value::Bytes(bytes))
    }

    /// What is ready, after at most so many milliseconds.
    fn ready(&self, place: usize, milliseconds: i64) -> Outcome {
        let flags = PollFlags::from_bits_retain(ALL as u16);
        let mut entries = [PollFd::from_borrowed_fd(self.at(place)?, flags)];
        let time = Timespec { tv_sec: 0, tv_nsec: milliseconds * 1_000_000 };
        poll(&mut entries, Some(&time)).map_err(error)?;
        Ok(Value::Number(entries[0].revents().bits().into()))
    }

    fn transfer(&mut self, call: Call) -> Option<Outcome> {
        let none = RecvFlags::empty();
        Some(match call {
            Call::Read(place, length) => {
                let mut bytes = vec![0; length];
                let got = self.at(place).and_then(|it| io::read(it, &mut bytes).map_err(error));
                got.map(|count| {
                    bytes.truncate(count);
                    Value::Bytes(bytes)
                })
            }
            Call::ReadVector(place, length) => {
                let mut bytes = vec![0; length];
                let (one, other) = bytes.split_at_mut(length / 2);
                let mut both = [IoSliceMut::new(one), IoSliceMut::new(other)];
                let got = self.at(place).and_then(|it| io::readv(it, &mut both).map_err(error));
                got.map(|count| {
                    bytes.truncate(count);
                    Value::Bytes(bytes)
                })
            }
            Call::Write(place, length) => {
                let bytes = self.content.next(length);
                self.at(place).and_then(|it| number(io::write(it, &bytes)))
            }
            Call::WriteVector(place, length) => {
                let bytes = self.content.next(length);
                let (one, other) = bytes.split_at(length / 2);
                let both = [IoSlice::new(one), IoSlice::new(other)];
                self.at(place).and_then(|it| number(io::writev(it, &both)))
            }
            Call::Add(place, value) => {
                self.at(place).and_then(|it| number(io::write(it, &value.to_le_bytes())))
            }
            Call::Send(place, length) => {
                let bytes = self.content.next(length);
                let sent = |it| number(rustix::net::send(it, &bytes, SendFlags::NOSIGNAL));
                self.at(place).and_then(sent)
            }
            Call::SendTo(place, length, to) => {
                let bytes = self.content.next(length);
                let to = self.addresses[to].clone().expect("it is bound");
                let flags = SendFlags::NOSIGNAL;
                self.at(place).and_then(|it| number(rustix::net::sendto(it, &bytes, flags, &to)))
            }
            Call::Receive(place, length) => self.receive(place, length, none),
            Call::Peek(place, length) => self.receive(place, length, RecvFlags::PEEK),
            Call::ReceiveTruncated(place, length) => {
                let mut bytes = vec![0; length];
                let mut got = |it| rustix::net::recv(it, &mut bytes[..], RecvFlags::TRUNC);
                let got = self.at(place).and_then(|it| got(it).map_err(error));
                got.map(|(_, length)| Value::Number(length as u64))
            }
            Call::ReceiveFrom(place, length) => {
                let mut bytes = vec![0; length];
                let mut got = |it| rustix::net::recvfrom(it, &mut bytes[..], none);
                let got = self.at(place).and_then(|it| got(it).map_err(error));
                got.map(|(count, _, from)| {
                    bytes.truncate(count);
                    let known = |it: &Option<SocketAddrAny>| it.is_some() && *it == from;
                    Value::From(bytes, self.addresses.iter().position(known))
                })
            }
            _ => return None,
        })
    }

    fn make(&mut self, call: Call) -> Option<Outcome> {
        let events = |flags| eventfd_of(call, flags);
        Some(match call {
            Call::Pipe => rustix::pipe::pipe_with(rustix::pipe::PipeFlags::NONBLOCK)
                .map_err(error)
                .and_then(|(reader, writer)| self.add([reader, writer])),
            Call::Eventfd(_) => events(EventfdFlags::NONBLOCK).and_then(|it| self.add([it])),
            Call::Semaphore(_) => {
                let flags = EventfdFlags::NONBLOCK | EventfdFlags::SEMAPHORE;
                events(flags).and_then(|it| self.add([it]))
            }
            Call::StreamPair => self.pair(SocketType::STREAM),
            Call::DatagramPair => self.pair(SocketType::DGRAM),
            Call::Tcp => self.socket(AddressFamily::INET, SocketType::STREAM),
            Call::Udp => self.socket(AddressFamily::INET, SocketType::DGRAM),
            Call::Unix => self.socket(AddressFamily::UNIX, SocketType::STREAM),
            Call::UnixDatagram => self.socket(AddressFamily::UNIX, SocketType::DGRAM),
            Call::Accept(place) => {
                let accept = |it| rustix::net::accept_with(it, SocketFlags::NONBLOCK);
                let made = self.at(place).and_then(|it| accept(it).map_err(error));
                made.and_then(|made| self.add([made]))
            }
            Call::File => file().and_then(|made| self.add([made])),
            Call::Again(place) => {
                let made = self.at(place).map_err(|_| error(Errno::NOENT)).and_then(again);
                made.and_then(|made| self.add([made]))
            }
            Call::Dup(place) => {
                let made = self.at(place).and_then(|it| io::dup(it).map_err(error));
                made.and_then(|made| self.add([made]))
            }
            Call::Epoll => {
                let made = epoll::create(epoll::CreateFlags::empty()).map_err(error);
                made.and_then(|made| self.add([made]))
            }
            _ => return None,
        })
    }

    fn once(&mut self, call: Call) -> Outcome {
        if let Some(outcome) = self.make(call).or_else(|| self.transfer(call)) {
            return outcome;
        }
        match call {
            Call::Bind(place) => self.bind(place),
            Call::Listen(place, backlog) => done(rustix::net::listen(self.at(place)?, backlog)),
            Call::Connect(place, to) => {
                let to = self.addresses[to].clone().expect("it is bound");
                done(rustix::net::connect(self.at(place)?, &to))
            }
            Call::Shutdown(place, how) => {
                let how = [Shutdown::Read, Shutdown::Write, Shutdown::Both][how as usize];
                done(rustix::net::shutdown(self.at(place)?, how))
            }
            Call::Close(place) => {
                self.at(place)?;
                self.descriptors[place] = None;
                Ok(Value::Number(0))
            }
            Call::Poll(place) => match self.at(place) {
                Ok(_) => self.ready(place, 0),
                // Ours says so too: `POLLNVAL`.
                Err(_) => Ok(Value::Number(0x20)),
            },
            Call::Unread(place) => {
                io::ioctl_fionread(self.at(place)?).map(Value::Number).map_err(error)
            }
            Call::Flags(place) => {
                let flags = fcntl_getfl(self.at(place)?).map_err(error)?;
                Ok(Value::Number(u64::from(flags.bits()) & (3 | 0o4000)))
            }
            Call::PeerName(place) => done(rustix::net::getpeername(self.at(place)?).map(drop)),
            Call::Option(place, name) => option(self.at(place)?, name),
            Call::Lock(place, how) => done(flock(self.at(place)?, operation(how))),
            Call::Seek(place, offset, whence) => seek_to(self.at(place)?, offset, whence),
            Call::EpollAdd(epoll, place, events) => {
                let (events, data) = event(events, place);
                done(epoll::add(self.at(epoll)?, self.at(place)?, data, events))
            }
            Call::EpollModify(epoll, place, events) => {
                let (events, data) = event(events, place);
                done(epoll::modify(self.at(epoll)?, self.at(place)?, data, events))
            }
            Call::EpollDelete(epoll, place) => {
                done(epoll::delete(self.at(epoll)?, self.at(place)?))
            }
            Call::EpollWait(epoll, most) => self.epoll_wait(epoll, most),
            other => panic!("{other:?} is made elsewhere"),
        }
    }

    /// Waits until as many bytes are there as are expected, for a while.
    fn await_bytes(&self, place: usize, expected: Option<&Outcome>) {
        let Some(Ok(Value::Bytes(bytes) | Value::From(bytes, _))) = expected else { return };
        let is_there = || {
            let Ok(it) = self.at(place) else { return true };
            io::ioctl_fionread(it).map_or(true, |there| there >= bytes.len() as u64)
        };
        for _ in 0..ATTEMPTS {
            if is_there() {
                break;
            }
            std::thread::yield_now();
        }
    }

    fn epoll_wait(&self, epoll: usize, most: usize) -> Outcome {
        let nothing = epoll::Event { flags: epoll::EventFlags::empty(), data: event(0, 0).1 };
        let mut events = vec![nothing; most];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let count = epoll::wait(self.at(epoll)?, &mut events[..], Some(&now)).map_err(error)?;
        let mut events: Vec<_> = events[..count]
            .iter()
            .map(|event| {
                let (flags, data) = (event.flags, event.data);
                (data.u64() as usize, flags.bits())
            })
            .collect();
        events.sort_unstable();
        Ok(Value::Events(events))
    }
}

fn eventfd_of(call: Call, flags: EventfdFlags) -> Result<OwnedFd, i32> {
    let (Call::Eventfd(value) | Call::Semaphore(value)) = call else { return Err(0) };
    eventfd(value, flags).map_err(error)
}

/// A file without a name.
fn file() -> Result<OwnedFd, i32> {
    let made = memfd_create("everypath", MemfdFlags::CLOEXEC).map_err(error)?;
    io::write(&made, &[1; LENGTH]).map_err(error)?;
    seek(&made, SeekFrom::Start(0)).map_err(error)?;
    Ok(made)
}

/// Opens a file once more.
fn again(file: BorrowedFd<'_>) -> Result<OwnedFd, i32> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(error)
}

fn operation(how: i32) -> FlockOperation {
    match how {
        1 => FlockOperation::NonBlockingLockShared,
        2 => FlockOperation::NonBlockingLockExclusive,
        8 => FlockOperation::NonBlockingUnlock,
        _ => panic!("the library makes no such call"),
    }
}

fn seek_to(file: BorrowedFd<'_>, offset: i64, whence: i32) -> Outcome {
    let to = match whence {
        0 => SeekFrom::Start(offset as u64),
        1 => SeekFrom::Current(offset),
        2 => SeekFrom::End(offset),
        3 => SeekFrom::Data(offset as u64),
        4 => SeekFrom::Hole(offset as u64),
        _ => panic!("the library makes no such call"),
    };
    seek(file, to).map(Value::Number).map_err(error)
}

fn event(events: u32, place: usize) -> (epoll::EventFlags, epoll::EventData) {
    (epoll::EventFlags::from_bits_retain(events), epoll::EventData::new_u64(place as u64))
}

fn option(socket: BorrowedFd<'_>, name: OptionName) -> Outcome {
    let value = match name {
        OptionName::Error => match sockopt::socket_error(socket).map_err(error)? {
            Ok(()) => 0,
            Err(pending) => error(pending) as u64,
        },
        OptionName::Accepts => sockopt::socket_acceptconn(socket).map_err(error)?.into(),
        OptionName::Type => u64::from(sockopt::socket_type(socket).map_err(error)?.as_raw()),
    };
    Ok(Value::Number(value))
}

impl Kernel for Machine {
    /// Packets through the loopback interface may take a moment; everything else is there at once.
    fn call(&mut self, call: Call, expected: Option<&Outcome>) -> Outcome {
        let place = match call {
            Call::Accept(place)
            | Call::Read(place, _)
            | Call::Receive(place, _)
            | Call::Peek(place, _)
            | Call::ReceiveFrom(place, _)
            | Call::ReceiveTruncated(place, _) => place,
            Call::Poll(_) | Call::Unread(_) | Call::EpollWait(..) => {
                let mut outcome = self.once(call);
                for _ in 0..ATTEMPTS {
                    if Some(&outcome) == expected {
                        break;
                    }
                    std::thread::yield_now();
                    outcome = self.once(call);
                }
                return outcome;
            }
            _ => return self.once(call),
        };
        self.await_bytes(place, expected);
        let again = Err(error(Errno::AGAIN));
        let is_late = |outcome: &Outcome| *outcome == again && expected != Some(&again);
        let outcome = self.once(call);
        if is_late(&outcome) && self.ready(place, 500).is_ok() {
            return self.once(call);
        }
        outcome
    }
}
