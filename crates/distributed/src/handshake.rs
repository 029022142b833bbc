//! How processes find each other: each connects to those before it and waits for those after it, and
//! both sides compare what they are about to search.

use everypath_explore::{Cluster, ClusterError, Control};
use std::fmt::Display;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::Duration;
use timely::communication::allocator::zero_copy::stream::Stream;

/// What a connection begins with, and the version of what follows.
const MAGIC: &[u8; 8] = b"everydi2";
/// The longest description of a search that is read.
const LONGEST: u32 = 1 << 24;
/// How often something is tried again that depends on another process.
const AGAIN: Duration = Duration::from_millis(20);
/// How long one answer may take.
const ANSWER: Duration = Duration::from_secs(10);

/// A connection.
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

macro_rules! of_both {
    ($self:ident, $socket:ident => $do:expr) => {
        match $self {
            Socket::Tcp($socket) => $do,
            Socket::Unix($socket) => $do,
        }
    };
}

impl Read for Socket {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        of_both!(self, socket => socket.read(bytes))
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        of_both!(self, socket => socket.write(bytes))
    }
    fn flush(&mut self) -> io::Result<()> {
        of_both!(self, socket => socket.flush())
    }
}

impl Stream for Socket {
    fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Socket::Tcp(socket) => Socket::Tcp(socket.try_clone()?),
            Socket::Unix(socket) => Socket::Unix(socket.try_clone()?),
        })
    }
    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        of_both!(self, socket => socket.set_nonblocking(nonblocking))
    }
    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        of_both!(self, socket => socket.shutdown(how))
    }
}

impl Socket {
    fn connect(address: &str) -> io::Result<Socket> {
        if address.starts_with('/') {
            return UnixStream::connect(address).map(Socket::Unix);
        }
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        Ok(Socket::Tcp(socket))
    }

    pub(crate) fn set_patience(&self, patience: Option<Duration>) -> io::Result<()> {
        of_both!(self, socket => socket.set_read_timeout(patience)
            .and_then(|()| socket.set_write_timeout(patience)))
    }
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    fn bind(address: &str) -> io::Result<Listener> {
        if address.starts_with('/') {
            let listener = UnixListener::bind(address)?;
            listener.set_nonblocking(true)?;
            return Ok(Listener::Unix(listener));
        }
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Listener::Tcp(listener))
    }

    /// A connection, if there is one.
    fn accept(&self) -> io::Result<Socket> {
        let socket = match self {
            Listener::Unix(listener) => Socket::Unix(listener.accept()?.0),
            Listener::Tcp(listener) => {
                let (socket, _) = listener.accept()?;
                socket.set_nodelay(true)?;
                Socket::Tcp(socket)
            }
        };
        socket.set_nonblocking(false)?;
        Ok(socket)
    }
}

/// The two connections to another process: for the search, and to know that it is alive.
pub(crate) struct Peer {
    pub(crate) data: Socket,
    pub(crate) control: Socket,
}

/// What a connection is for.
const DATA: u8 = 0;
const CONTROL: u8 = 1;

/// What a process says of itself when it connects.
struct Hello {
    kind: u8,
    process: u32,
    identity: String,
}

impl Hello {
    fn write(&self, socket: &mut Socket) -> io::Result<()> {
        let mut bytes = MAGIC.to_vec();
        bytes.push(self.kind);
        bytes.extend(self.process.to_le_bytes());
        bytes.extend((self.identity.len() as u32).to_le_bytes());
        bytes.extend(self.identity.as_bytes());
        socket.write_all(&bytes)
    }

    /// Reads it; an error if it is none.
    fn read(socket: &mut Socket) -> io::Result<Hello> {
        let mut head = [0; 17];
        socket.read_exact(&mut head)?;
        let number = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four"));
        let len = number(13);
        if &head[..8] != MAGIC || len > LONGEST {
            return Err(ErrorKind::InvalidData.into());
        }
        let mut identity = vec![0; len as usize];
        socket.read_exact(&mut identity)?;
        let identity = String::from_utf8_lossy(&identity).into_owned();
        Ok(Hello { kind: head[8], process: number(9), identity })
    }
}

/// Connects this process with all others; by number, none for itself.
pub(crate) fn connect(
    cluster: &Cluster<'_>,
    control: &Control,
) -> Result<Vec<Option<Peer>>, ClusterError> {
    known(&cluster.hosts)?;
    let address = &cluster.hosts[cluster.process];
    let listener = Listener::bind(address).map_err(|error| {
        ClusterError::Refused(format!(
            "process {} cannot listen at {address}: {error}; --process says which line of the host \
             file is this process",
            cluster.process
        ))
    })?;
    let meeting = Meeting { cluster, control };
    let mut peers: Vec<Option<Peer>> = cluster.hosts.iter().map(|_| None).collect();
    for (process, peer) in peers.iter_mut().enumerate().take(cluster.process) {
        let data = meeting.reach(process, DATA)?;
        *peer = Some(Peer { data, control: meeting.reach(process, CONTROL)? });
    }
    meeting.await_others(&listener, &mut peers)?;
    Ok(peers)
}

/// Checks that the names of all hosts are known: those of machines that are only not up yet are.
fn known(hosts: &[String]) -> Result<(), ClusterError> {
    let names = hosts.iter().enumerate().filter(|(_, address)| !address.starts_with('/'));
    for (process, address) in names {
        if let Err(error) = address.to_socket_addrs() {
            return Err(ClusterError::Refused(format!(
                "process {process}: {address} is not known: {error}; correct the host file"
            )));
        }
    }
    Ok(())
}

/// The others are being looked for.
struct Meeting<'a> {
    cluster: &'a Cluster<'a>,
    control: &'a Control,
}

impl Meeting<'_> {
    /// Tries again and again, until it works or takes too long.
    fn persist<T>(
        &self,
        what: impl Display,
        mut attempt: impl FnMut() -> Result<T, io::Error>,
    ) -> Result<T, ClusterError> {
        let attempts = (self.cluster.patience.as_millis() / AGAIN.as_millis()).max(1);
        let mut last = None;
        for _ in 0..attempts {
            if let Some(why) = (self.cluster.failed)() {
                return Err(ClusterError::Lost(why));
            }
            if self.control.stopped() {
                return Err(ClusterError::Lost("stopped while waiting for other processes".into()));
            }
            match attempt() {
                Ok(done) => return Ok(done),
                Err(error) => last = Some(error),
            }
            // What is waited for happens in another process, on another machine.
            thread::park_timeout(AGAIN);
        }
        let why = match last {
            Some(error) if error.kind() != ErrorKind::WouldBlock => format!(": {error}"),
            _ => String::new(),
        };
        Err(ClusterError::Refused(format!(
            "{what} within {} seconds{why}; start all processes, or wait longer with --host-timeout",
            self.cluster.patience.as_secs_f64()
        )))
    }

    fn hello(&self, kind: u8) -> Hello {
        let Cluster { process, identity, .. } = self.cluster;
        Hello { kind, process: *process as u32, identity: identity.clone() }
    }

    /// Connects to a process that comes before this one.
    fn reach(&self, process: usize, kind: u8) -> Result<Socket, ClusterError> {
        let address = &self.cluster.hosts[process];
        let what = format!("process {process} at {address} could not be reached");
        let (socket, answer) = self.persist(what, || {
            let mut socket = Socket::connect(address)?;
            socket.set_patience(Some(ANSWER.max(self.cluster.patience)))?;
            self.hello(kind).write(&mut socket)?;
            let answer = Hello::read(&mut socket)?;
            Ok((socket, answer))
        })?;
        if answer.process as usize != process {
            return Err(ClusterError::Refused(format!(
                "{address} is process {} and not process {process}; all processes need the same host \
                 file",
                answer.process
            )));
        }
        self.compare(process, &answer)?;
        Ok(socket)
    }

    /// Waits for the processes that come after this one.
    fn await_others(
        &self,
        listener: &Listener,
        peers: &mut [Option<Peer>],
    ) -> Result<(), ClusterError> {
        let own = self.cluster.process;
        let mut half: Vec<Option<Socket>> = peers.iter().map(|_| None).collect();
        while let Some(missing) = (own + 1..peers.len()).find(|&other| peers[other].is_none()) {
            let address = &self.cluster.hosts[missing];
            let what = format!("process {missing} at {address} did not connect");
            let (mut socket, hello) = self.persist(what, || {
                let mut socket = listener.accept()?;
                socket.set_patience(Some(ANSWER))?;
                let hello = Hello::read(&mut socket)?;
                Ok((socket, hello))
            })?;
            let process = hello.process as usize;
            let answered = self.hello(hello.kind).write(&mut socket);
            self.compare(process, &hello)?;
            let is_new = process > own && process < peers.len() && peers[process].is_none();
            if !is_new || answered.is_err() {
                return Err(ClusterError::Refused(format!(
                    "two processes say that they are process {process}; give each its own --process"
                )));
            }
            match hello.kind {
                DATA => half[process] = Some(socket),
                _ => {
                    let data = half[process].take();
                    peers[process] = data.map(|data| Peer { data, control: socket });
                }
            }
        }
        Ok(())
    }

    /// Checks that another process is about to search the same.
    fn compare(&self, process: usize, hello: &Hello) -> Result<(), ClusterError> {
        let own = &self.cluster.identity;
        if *own == hello.identity {
            return Ok(());
        }
        let mut lines = own.lines().zip(hello.identity.lines());
        let differs = lines.find(|(own, other)| own != other);
        let what = match differs {
            Some((own, other)) => format!("its {other}; this one's {own}"),
            None => "one describes more than the other".into(),
        };
        Err(ClusterError::Refused(format!("process {process} searches something else: {what}")))
    }
}
