//! Calls made to the model.

use crate::calls::{ALL, Call, Content, Kernel, OptionName, Outcome, Value};
use crate::machine::Machine;
use everypath_vkernel::fd_table::{Kind, Open};
use everypath_vkernel::flock::flock;
use everypath_vkernel::host::Memory;
use everypath_vkernel::ioctl::ioctl;
use everypath_vkernel::lseek::lseek;
use everypath_vkernel::syscalls::{self, Answer, answer};
use everypath_vkernel::{errno, fd_table};

/// The model, and the descriptors that were made.
pub(crate) struct Model {
    pub(crate) machine: Machine,
    descriptors: Vec<i32>,
    /// What each was bound to.
    addresses: Vec<Vec<u8>>,
    content: Content,
    /// How many files were made.
    files: u16,
}

/// A file, newly opened.
fn file(index: u16) -> Open {
    Open { kind: Kind::Written, index, flags: READ_WRITE, ..Open::default() }
}

/// A number that is never open.
const CLOSED: i32 = 9000;
const NONBLOCK: i32 = 0o4000;
const READ_WRITE: i32 = 2;
/// `LOCK_NB`.
const NOT_WAITING: i32 = 4;
const NO_SIGNAL: i32 = 0x4000;
const PEEK: i32 = 2;
const TRUNCATED: i32 = 0x20;

impl Model {
    pub(crate) fn new() -> Self {
        Model {
            machine: Machine::new(),
            descriptors: Vec::new(),
            addresses: Vec::new(),
            content: Content::default(),
            files: 0,
        }
    }

    /// The descriptor of a place.
    fn at(&self, place: usize) -> i32 {
        self.descriptors[place]
    }

    fn made(&mut self, made: impl FnMut() -> Answer) -> Outcome {
        let descriptor = finish(made)?;
        self.add(descriptor as i32);
        Ok(Value::Number(0))
    }

    fn add(&mut self, descriptor: i32) {
        self.descriptors.push(descriptor);
        self.addresses.push(Vec::new());
    }

    /// Two descriptors that a call writes to memory.
    fn made_two(&mut self, mut made: impl FnMut(&Machine, usize) -> Answer) -> Outcome {
        let at = self.machine.map(&[0; 8]);
        finish(|| made(&self.machine, at))?;
        let [one, other]: [i32; 2] = self.machine.load(at).expect("it is mapped");
        self.add(one);
        self.add(other);
        Ok(Value::Number(0))
    }

    /// Receives into memory.
    fn received(&self, length: usize, mut call: impl FnMut(usize) -> Answer) -> Outcome {
        let at = self.machine.map(&vec![0; length]);
        let count = finish(|| call(at))? as usize;
        Ok(Value::Bytes(self.machine.bytes(at, count)))
    }

    /// An array of two `struct iovec`.
    fn vector(&self, at: usize, length: usize) -> usize {
        let half = length / 2;
        let words = [at, half, at + half, length - half];
        self.machine.map(&words.map(usize::to_le_bytes).concat())
    }

    fn bind(&mut self, place: usize) -> Outcome {
        let k = &self.machine;
        let family = self.option(place, 39)?;
        let mut address = vec![family as u8, 0];
        if family == 2 {
            address.extend([0, 0, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        }
        let at = k.map(&address);
        finish(|| syscalls::bind(k, self.at(place), (at, address.len())))?;
        let (name, length_at) = (k.map(&[0; 128]), k.map(&128u32.to_le_bytes()));
        finish(|| syscalls::getsockname(k, self.at(place), (name, length_at)))?;
        let length: u32 = k.load(length_at).expect("it is mapped");
        self.addresses[place] = k.bytes(name, length as usize);
        Ok(Value::Number(0))
    }

    /// An option of all sockets.
    fn option(&self, place: usize, name: i32) -> Result<u64, i32> {
        let k = &self.machine;
        let (value, length_at) = (k.map(&[0; 4]), k.map(&4u32.to_le_bytes()));
        finish(|| syscalls::getsockopt(k, self.at(place), (1, name), (value, length_at)))?;
        Ok(u64::from(k.load::<u32>(value).expect("it is mapped")))
    }

    fn receive_from(&self, place: usize, length: usize) -> Outcome {
        let k = &self.machine;
        let (at, name) = (k.map(&vec![0; length]), k.map(&[0; 128]));
        let length_at = k.map(&128u32.to_le_bytes());
        let from = (name, length_at);
        let count =
            finish(|| syscalls::recvfrom(k, self.at(place), (at, length), NO_SIGNAL, from))?;
        let known: u32 = k.load(length_at).expect("it is mapped");
        let from = k.bytes(name, (known as usize).min(128));
        let bytes = k.bytes(at, count as usize);
        let sender = self.addresses.iter().position(|known| !known.is_empty() && *known == from);
        Ok(Value::From(bytes, sender))
    }

    fn poll(&self, place: usize) -> Outcome {
        let k = &self.machine;
        let at = k.map(&(u64::from(self.at(place) as u32) | u64::from(ALL) << 32).to_le_bytes());
        finish(|| syscalls::poll(k, (at, 1), 0))?;
        Ok(Value::Number(k.load::<u16>(at + 6).expect("it is mapped").into()))
    }

    fn epoll_control(&self, operation: i32, epoll: usize, place: usize, events: u32) -> Outcome {
        let k = &self.machine;
        let event = k.map(&[&events.to_le_bytes()[..], &(place as u64).to_le_bytes()].concat());
        number(|| syscalls::epoll_ctl(k, self.at(epoll), operation, self.at(place), event))
    }

    fn epoll_wait(&self, epoll: usize, most: usize) -> Outcome {
        let k = &self.machine;
        let at = k.map(&vec![0; most.max(1) * 12]);
        let count = finish(|| syscalls::epoll_pwait(k, self.at(epoll), (at, most as i32), 0, 0))?;
        let event = |index: usize| {
            let [low, high]: [u32; 2] = k.load(at + index * 12 + 4).expect("it is mapped");
            let events: u32 = k.load(at + index * 12).expect("it is mapped");
            ((u64::from(low) | u64::from(high) << 32) as usize, events)
        };
        let mut events: Vec<_> = (0..count as usize).map(event).collect();
        events.sort_unstable();
        Ok(Value::Events(events))
    }

    /// Calls that move bytes.
    fn transfer(&mut self, call: Call) -> Option<Outcome> {
        let nowhere = (0, 0);
        Some(match call {
            Call::Write(place, length) => {
                let (at, k) = (self.sent(length), &self.machine);
                number(|| syscalls::write(k, self.at(place), at, length))
            }
            Call::WriteVector(place, length) => {
                let at = self.sent(length);
                let (vector, k) = (self.vector(at, length), &self.machine);
                number(|| syscalls::writev(k, self.at(place), vector, 2))
            }
            Call::Add(place, value) => {
                let k = &self.machine;
                let at = k.map(&value.to_le_bytes());
                number(|| syscalls::write(k, self.at(place), at, 8))
            }
            Call::Send(place, length) => {
                let (at, k) = (self.sent(length), &self.machine);
                number(|| syscalls::sendto(k, self.at(place), (at, length), NO_SIGNAL, nowhere))
            }
            Call::SendTo(place, length, to) => {
                let (at, k) = (self.sent(length), &self.machine);
                let name = (k.map(&self.addresses[to]), self.addresses[to].len());
                number(|| syscalls::sendto(k, self.at(place), (at, length), NO_SIGNAL, name))
            }
            Call::Read(place, length) => self
                .received(length, |at| syscalls::read(&self.machine, self.at(place), at, length)),
            Call::ReadVector(place, length) => self.received(length, |at| {
                let vector = self.vector(at, length);
                syscalls::readv(&self.machine, self.at(place), vector, 2)
            }),
            Call::Receive(place, length) => self.receive(place, length, 0),
            Call::Peek(place, length) => self.receive(place, length, PEEK),
            Call::ReceiveTruncated(place, length) => {
                let k = &self.machine;
                let at = k.map(&vec![0; length]);
                number(|| syscalls::recvfrom(k, self.at(place), (at, length), TRUNCATED, nowhere))
            }
            Call::ReceiveFrom(place, length) => self.receive_from(place, length),
            _ => return None,
        })
    }

    /// Bytes to send, in the program's memory.
    fn sent(&mut self, length: usize) -> usize {
        let content = self.content.next(length);
        self.machine.map(&content)
    }

    fn receive(&self, place: usize, length: usize, flags: i32) -> Outcome {
        self.received(length, |at| {
            syscalls::recvfrom(&self.machine, self.at(place), (at, length), flags, (0, 0))
        })
    }

    /// Calls that make descriptors.
    fn make(&mut self, call: Call) -> Option<Outcome> {
        const SEMAPHORE: i32 = 1;
        const STREAM: i32 = 1 | NONBLOCK;
        const DATAGRAM: i32 = 2 | NONBLOCK;
        let k = Machine::new();
        let k = std::mem::replace(&mut self.machine, k);
        let outcome = match call {
            Call::Eventfd(value) => finish(|| syscalls::eventfd2(&k, value, NONBLOCK)),
            Call::Semaphore(value) => {
                finish(|| syscalls::eventfd2(&k, value, NONBLOCK | SEMAPHORE))
            }
            Call::Tcp => finish(|| syscalls::socket(&k, 2, STREAM, 0)),
            Call::Udp => finish(|| syscalls::socket(&k, 2, DATAGRAM, 0)),
            Call::Unix => finish(|| syscalls::socket(&k, 1, STREAM, 0)),
            Call::UnixDatagram => finish(|| syscalls::socket(&k, 1, DATAGRAM, 0)),
            Call::Epoll => finish(|| syscalls::epoll_create1(&k, 0)),
            Call::Accept(place) => {
                finish(|| syscalls::accept4(&k, self.at(place), (0, 0), NONBLOCK))
            }
            Call::File => {
                self.files += 1;
                finish(|| Ok(fd_table::open(&k, file(self.files))))
            }
            Call::Again(place) => finish(|| {
                let open = fd_table::get(&k, self.at(place)).ok_or(errno::ENOENT)?.get();
                Ok(fd_table::open(&k, file(open.index)))
            }),
            Call::Dup(place) => finish(|| Ok(fd_table::duplicate(&k, self.at(place), 0, None))),
            _ => {
                self.machine = k;
                return match call {
                    Call::Pipe => Some(self.made_two(|k, at| syscalls::pipe2(k, at, NONBLOCK))),
                    Call::StreamPair => {
                        Some(self.made_two(|k, at| syscalls::socketpair(k, 1, STREAM, at)))
                    }
                    Call::DatagramPair => {
                        Some(self.made_two(|k, at| syscalls::socketpair(k, 1, DATAGRAM, at)))
                    }
                    _ => None,
                };
            }
        };
        self.machine = k;
        Some(outcome.and_then(|descriptor| self.made(|| Ok(descriptor as isize))))
    }
}

/// What a call comes to.
fn finish(call: impl FnMut() -> Answer) -> Result<u64, i32> {
    match answer(call) {
        result @ 0.. => Ok(result as u64),
        error => Err(-error as i32),
    }
}

fn number(call: impl FnMut() -> Answer) -> Outcome {
    finish(call).map(Value::Number)
}

impl Kernel for Model {
    fn call(&mut self, call: Call, _expected: Option<&Outcome>) -> Outcome {
        if let Some(outcome) = self.make(call).or_else(|| self.transfer(call)) {
            return outcome;
        }
        let k = &self.machine;
        match call {
            Call::Bind(place) => self.bind(place),
            Call::Listen(place, backlog) => number(|| syscalls::listen(k, self.at(place), backlog)),
            Call::Connect(place, to) => {
                let name = (k.map(&self.addresses[to]), self.addresses[to].len());
                number(|| syscalls::connect(k, self.at(place), name))
            }
            Call::Shutdown(place, how) => number(|| syscalls::shutdown(k, self.at(place), how)),
            Call::Close(place) => {
                let outcome = number(|| Ok(fd_table::close(k, self.at(place))));
                self.descriptors[place] = CLOSED;
                outcome
            }
            Call::Poll(place) => self.poll(place),
            Call::Unread(place) => {
                let at = k.map(&[0; 4]);
                finish(|| ioctl(k, self.at(place), 0x541b, at))?;
                Ok(Value::Number(k.load::<u32>(at).expect("it is mapped").into()))
            }
            Call::Flags(place) => {
                let flags = finish(|| Ok(fd_table::control(k, self.at(place), 3, 0)))?;
                Ok(Value::Number(flags & (3 | NONBLOCK as u64)))
            }
            Call::PeerName(place) => {
                let (at, length_at) = (k.map(&[0; 128]), k.map(&128u32.to_le_bytes()));
                number(|| syscalls::getpeername(k, self.at(place), (at, length_at)))
            }
            Call::Option(place, name) => {
                let name = match name {
                    OptionName::Type => 3,
                    OptionName::Error => 4,
                    OptionName::Accepts => 30,
                };
                self.option(place, name).map(Value::Number)
            }
            Call::Lock(place, how) => number(|| flock(k, self.at(place), how | NOT_WAITING)),
            Call::Seek(place, offset, whence) => {
                number(|| lseek(k, self.at(place), offset, whence))
            }
            Call::EpollAdd(epoll, place, events) => self.epoll_control(1, epoll, place, events),
            Call::EpollDelete(epoll, place) => self.epoll_control(2, epoll, place, 0),
            Call::EpollModify(epoll, place, events) => self.epoll_control(3, epoll, place, events),
            Call::EpollWait(epoll, most) => self.epoll_wait(epoll, most),
            other => panic!("{other:?} is made elsewhere: {}", errno::ENOSYS),
        }
    }
}
