//! Peers: real processes that a program communicates with.
//!
//! The program's sockets are virtual; what it sends is looked up in the communication trees
//! (`commtree`). Only what was never sent before comes here, to [`Peers::send`]: it is sent on a
//! real connection at the same position in the tree, or on a new one on which the path there is
//! replayed first, comparing every byte. The answer goes into the tree.
//!
//! - `process`: a peer process that the checker started; it ends with the checker, always.
//! - `quiescence`, `diagnosis`, `timed_wait`: whether a peer is quiescent and nothing is in flight,
//!   so that its answer is complete. Nothing is guessed from time.
//! - `exchange`: sending something and waiting for the answer. `silence`: sending nothing for a while, since a
//!   peer that waits with a timeout may say something by itself.
//! - `dial`: connecting to servers, and accepting clients.
//! - `socket`, `address`, `error`: the checker's sockets, their addresses, and what can go wrong.
//! - `datagram`: connections that consist of datagrams; their trees have the same nodes.
//!   `udp_clients`: those that clients begin.

mod address;
mod datagram;
mod diagnosis;
mod dial;
mod error;
mod exchange;
mod process;
mod quiescence;
mod silence;
mod socket;
#[cfg(test)]
mod tests;
mod timed_wait;
mod udp_clients;

pub use address::Address;
pub use error::{PeerError, Printed, Shown};

use self::diagnosis::Diagnosis;
use self::exchange::Message;
use self::process::Process;
use self::quiescence::Watch;
use self::socket::{Listener, Socket};
use everypath_commtree::{
    Edge, End, Error, Lookup, Memory, Mode, Name, Opening, Position, Reader, Sent, Take,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// What is remembered of what peers answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cache {
    /// Everything (Artho et al. 2009).
    #[default]
    Branching,
    /// Everything, and the program must send the same in every schedule (Artho et al. 2008).
    Linear,
    /// Nothing beyond an execution: peers are started anew for every one.
    None,
}

/// Which peers there are, and how they are treated.
#[derive(Clone, Debug)]
pub struct Options {
    /// Their commands, as for a shell: servers that the program connects to, and clients that
    /// connect to the program, in this order.
    pub commands: Vec<String>,
    /// Where they are started, if not here.
    pub folder: Option<PathBuf>,
    /// What is remembered.
    pub cache: Cache,
    /// How long to wait for anything that a peer shall do.
    pub patience: Duration,
    /// How long a peer that cannot be inspected must be silent for its answer to be complete.
    pub quiet: Duration,
    /// How many connections are kept open; those that are closed are opened again when needed.
    pub max_open: usize,
    /// The longest answer, in bytes.
    pub max_answer: usize,
    /// Whether servers answer every connection alike, so that one tree is enough for all.
    pub alike: bool,
    /// Whether datagrams may be lost, duplicated or reordered.
    pub unreliable: bool,
    /// Whether a peer that fails because of what it was sent is a violation.
    pub failures_count: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            commands: Vec::new(),
            folder: None,
            cache: Cache::default(),
            patience: Duration::from_secs(10),
            quiet: Duration::from_millis(100),
            max_open: 64,
            max_answer: 1 << 24,
            alike: false,
            unreliable: false,
            failures_count: true,
        }
    }
}

/// What was counted; hits are counted where the trees are walked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Bytes that had to be read from a peer, those read again included.
    pub misses: u64,
    /// Connections that were opened, or clients started.
    pub connections: u64,
    /// Processes that were started.
    pub starts: u64,
    /// Bytes that were sent again, to come back to where the program stood.
    pub replayed: u64,
}

/// All peers of a program. Dropping them ends them.
#[derive(Debug)]
pub struct Peers {
    options: Options,
    peers: Vec<Peer>,
    /// The processes behind the addresses that the program connected to.
    hosts: BTreeMap<Address, Host>,
    listeners: BTreeMap<Address, Listener>,
    /// Those that are open, the least recently used first.
    connections: Vec<Connection>,
    origins: BTreeMap<Name, Origin>,
    diagnosis: Option<Diagnosis>,
    statistics: Statistics,
    assumptions: BTreeSet<String>,
    /// Servers that were not there, a sentence each.
    refused: BTreeSet<String>,
}

impl Default for Peers {
    /// A server that the checker did not start but that runs on this machine.
    fn default() -> Self {
        Peers {
            options: Options::default(),
            peers: Vec::new(),
            hosts: BTreeMap::new(),
            listeners: BTreeMap::new(),
            connections: Vec::new(),
            origins: BTreeMap::new(),
            diagnosis: Diagnosis::new().ok(),
            statistics: Statistics::default(),
            assumptions: BTreeSet::new(),
            refused: BTreeSet::new(),
        }
    }
}

/// A command, and what it turned out to be.
#[derive(Debug)]
struct Peer {
    command: String,
    words: Vec<String>,
    role: Role,
    /// Whether it was ever connected with the program.
    has_met: bool,
}

#[derive(Debug)]
enum Role {
    /// It was not needed yet.
    Unused,
    Server(Process),
    Client {
        /// Where it connects to.
        home: Address,
        /// A connection that the program has not accepted yet.
        arrived: Option<(Process, Socket)>,
    },
}

/// Who answers at an address.
#[derive(Debug)]
enum Host {
    /// A process that we started.
    Ours,
    /// One that somebody else did.
    Theirs(Watch),
    /// One that we may not look at.
    Hidden,
}

/// What a logical connection connects to.
#[derive(Clone, Debug)]
enum Origin {
    Server {
        address: Address,
        /// Which connection to it this is, for messages.
        number: usize,
    },
    /// The number of its command.
    Client(usize),
}

/// A real connection.
#[derive(Debug)]
struct Connection {
    name: Name,
    /// What was sent on it.
    at: Position,
    /// The client at its other end, if it is one. It ends before its socket is closed, so that
    /// nothing of it arrives anywhere else.
    client: Option<Process>,
    socket: Socket,
}

impl Peers {
    /// Starts nothing yet.
    pub fn new(options: Options) -> Result<Self, PeerError> {
        let peer = |command: &String| match shlex::split(command) {
            Some(words) if !words.is_empty() => {
                Ok(Peer { command: command.clone(), words, role: Role::Unused, has_met: false })
            }
            _ => Err(PeerError::Command { command: command.clone() }),
        };
        let peers = options.commands.iter().map(peer).collect::<Result<_, _>>()?;
        let mut all = Peers::default();
        if options.alike {
            let said = "every server answers all connections to it alike (--peer-tree destination)";
            all.assumptions.insert(said.into());
        }
        all.options = options;
        all.peers = peers;
        Ok(all)
    }

    /// Adds to what the result rests on.
    pub(crate) fn assume(&mut self, text: &str) {
        if !self.assumptions.contains(text) {
            self.assumptions.insert(text.into());
        }
    }

    /// Whether a peer that fails because of what it was sent is a violation.
    pub(crate) fn failures_count(&self) -> bool {
        self.options.failures_count
    }

    /// Forgets peers that have ended, so that they are started again when they are needed.
    pub(crate) fn forget_failed(&mut self) {
        self.connections.clear();
        for peer in &mut self.peers {
            if let Role::Server(process) = &mut peer.role
                && process.status().is_some()
            {
                peer.role = Role::Unused;
            }
        }
    }

    /// Whether there are any of ours.
    pub fn are_there(&self) -> bool {
        !self.peers.is_empty()
    }

    /// To be called before every execution of the program: without a cache, nothing is left of the
    /// one before.
    pub fn begin_execution(&mut self, memory: &Memory) {
        if self.options.cache == Cache::None {
            self.renew(memory);
        }
    }

    /// Ends all peers and forgets what they answered: they are started anew when they are needed.
    pub fn renew(&mut self, memory: &Memory) {
        self.connections.clear();
        self.peers.iter_mut().for_each(|peer| peer.role = Role::Unused);
        self.hosts.clear();
        self.origins.clear();
        memory.clear();
    }

    /// Opens a connection to a server, for which `name` stands in every schedule alike.
    pub fn connect(
        &mut self,
        memory: &Memory,
        name: Name,
        address: &Address,
    ) -> Result<Opening, PeerError> {
        if let Some(opening) = memory.find(name) {
            return Ok(opening);
        }
        if !address.is_local() {
            return Err(PeerError::Elsewhere { address: address.clone() });
        }
        let found = match address.is_name_cache() {
            true => self.attempt(address)?,
            false => self.dial(address)?,
        };
        let Some(socket) = found else {
            let nobody =
                format!("nobody listens on {address}: connections to it were always refused");
            // A datagram may come after its receiver has closed the socket, which is nothing strange.
            match address {
                Address::Udp(_) => self.assumptions.insert(nobody),
                Address::Tcp(_) | Address::Path(_) | Address::Abstract(_) => {
                    self.refused.insert(nobody)
                }
            };
            memory.refuse(name).map_err(|_| PeerError::Full)?;
            return Ok(Opening::Refused);
        };
        let to_it = |origin: &&Origin| matches!(origin, Origin::Server { address: other, .. } if other == address);
        let number = self.origins.values().filter(to_it).count() + 1;
        self.origins.insert(name, Origin::Server { address: address.clone(), number });
        self.begin(memory, name, socket, None)
    }

    /// Listens where the program listens, so that clients can reach it.
    pub fn listen(&mut self, address: &Address) -> Result<(), PeerError> {
        if !self.listeners.contains_key(address) {
            let listener =
                Listener::new(address).map_err(|error| system("listen on", address, error))?;
            self.listeners.insert(address.clone(), listener);
        }
        Ok(())
    }

    /// Lets clients reach an address that the program is not looking at yet: they may need it. If
    /// that fails, it is told when the program looks.
    pub fn open(
        &mut self,
        memory: &Memory,
        name: Name,
        address: &Address,
    ) -> Result<(), PeerError> {
        let _ = self.listen(address);
        memory.refuse(name).map_err(|_| PeerError::Full)
    }

    /// Accepts the connection number `ordinal` (from 0) of those that come to an address. The next
    /// client is started for it. If there is none, the answer is [`Opening::Refused`]: nobody will
    /// ever come.
    pub fn accept(
        &mut self,
        memory: &Memory,
        name: Name,
        address: &Address,
        ordinal: usize,
    ) -> Result<Opening, PeerError> {
        if let Some(opening) = memory.find(name) {
            return Ok(opening);
        }
        self.listen(address)?;
        let Some((number, process, socket)) = self.next_client(address, ordinal)? else {
            memory.refuse(name).map_err(|_| PeerError::Full)?;
            return Ok(Opening::Refused);
        };
        self.peers[number].has_met = true;
        self.origins.insert(name, Origin::Client(number));
        self.begin(memory, name, socket, Some(process))
    }

    /// Makes the tree of a connection that is open.
    fn begin(
        &mut self,
        memory: &Memory,
        name: Name,
        socket: Socket,
        client: Option<Process>,
    ) -> Result<Opening, PeerError> {
        let root = memory.open(name).map_err(|_| PeerError::Full)?;
        let mut connection = Connection { name, at: root, socket, client };
        self.greet(memory, &mut connection)?;
        self.keep(connection);
        Ok(Opening::Open(root))
    }

    /// Collects what a peer sends without being asked.
    fn greet(&mut self, memory: &Memory, connection: &mut Connection) -> Result<(), PeerError> {
        self.statistics.connections += 1;
        let root = connection.at;
        self.say(memory, connection, Message::Nothing, root)
    }

    /// Sends what the trees do not know, and returns where the program stands then.
    pub fn send(
        &mut self,
        memory: &Memory,
        from: Position,
        sent: Sent<'_>,
    ) -> Result<Position, PeerError> {
        if let Lookup::Hit(at) = memory.write(from, sent) {
            return Ok(at);
        }
        let mode = if self.options.cache == Cache::Linear { Mode::Linear } else { Mode::Branching };
        let at = memory
            .grow(from, sent, mode)
            .map_err(|error| self.refusal(memory, from, sent, error))?;
        let stops = stops(memory, at);
        let is_silence = matches!(sent, Sent::Silence(_));
        let mut connection = self.take(memory, &stops, is_silence)?;
        self.advance(memory, &mut connection, &stops)?;
        if matches!(sent, Sent::Silence(_)) && adds_nothing(memory, at) {
            connection.at = from;
        }
        if is_needed(memory, at) {
            self.keep(connection);
        }
        Ok(at)
    }

    /// Asks the peers again for everything that they answered, and compares.
    pub fn verify(&mut self, memory: &Memory) -> Result<(), PeerError> {
        let known = || memory.positions().filter(|&at| memory.known(at));
        let passed: BTreeSet<Position> =
            known().filter_map(|at| Some(memory.last_known(memory.parent(at)?))).collect();
        for tip in known().filter(|at| !passed.contains(at)) {
            let stops = stops(memory, tip);
            let mut connection = self.open_again(memory, stops[0])?;
            self.advance(memory, &mut connection, &stops)?;
        }
        Ok(())
    }

    /// What was counted.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// What the result rests on beyond what was observed, a sentence each.
    pub fn assumptions(&self) -> impl Iterator<Item = String> {
        let is_client = |peer: &&Peer| peer.has_met && matches!(peer.role, Role::Client { .. });
        let in_order = self.peers.iter().filter(is_client).count() > 1;
        let order = in_order.then(|| "clients connect in the order of their commands".into());
        self.assumptions.iter().cloned().chain(order).chain(self.absences())
    }

    /// What did not happen, a sentence each.
    pub(crate) fn absences(&self) -> Vec<String> {
        let strangers = self.peers.iter().filter(|peer| !peer.has_met);
        let stranger = |peer: &Peer| format!("{} was never contacted by the program", peer.command);
        self.refused.iter().cloned().chain(strangers.map(stranger)).collect()
    }

    /// Takes the connection that has come farthest on the way along `stops`, or a new one.
    fn take(
        &mut self,
        memory: &Memory,
        stops: &[Position],
        is_silence: bool,
    ) -> Result<Connection, PeerError> {
        let (_, way) = stops.split_last().expect("a way ends somewhere");
        for stop in way.iter().rev() {
            while let Some(place) = self.connections.iter().position(|open| open.at == *stop) {
                let mut connection = self.connections.remove(place);
                // A server that said something again is not where the program stands, unless that is asked for.
                if is_silence || !connection.socket.has_been_impatient() {
                    return Ok(connection);
                }
            }
        }
        self.open_again(memory, stops[0])
    }

    /// Opens a connection that was opened before, for another branch of its tree.
    fn open_again(&mut self, memory: &Memory, root: Position) -> Result<Connection, PeerError> {
        let name = memory.name(root);
        let (socket, client) = match self.origins.get(&name).cloned() {
            None => return Err(self.refused_again(name)),
            Some(Origin::Server { address, .. }) => match self.dial(&address)? {
                Some(socket) => (socket, None),
                None => return Err(self.refused_again(name)),
            },
            Some(Origin::Client(number)) => {
                let (process, socket, _) = self.start_client(number)?;
                (socket, Some(process))
            }
        };
        let mut connection = Connection { name, at: root, socket, client };
        self.greet(memory, &mut connection)?;
        Ok(connection)
    }

    /// Sends on a connection what leads along `stops` from where it stands.
    fn advance(
        &mut self,
        memory: &Memory,
        connection: &mut Connection,
        stops: &[Position],
    ) -> Result<(), PeerError> {
        let passed = stops.iter().position(|&stop| stop == connection.at);
        let ahead = &stops[passed.map_or(0, |place| place + 1)..];
        for &stop in ahead {
            if memory.known(stop) {
                self.statistics.replayed += memory.sent(stop) - memory.sent(connection.at);
            }
            let message = message(memory, connection.at, stop);
            self.say(memory, connection, message, stop)?;
        }
        Ok(())
    }

    /// Sends something that leads to `to`, and writes the answer down, or compares it.
    fn say(
        &mut self,
        memory: &Memory,
        connection: &mut Connection,
        message: Message,
        to: Position,
    ) -> Result<(), PeerError> {
        self.start_receivers(connection, &message)?;
        let answer = self.exchange(connection, &message)?;
        let end = connection.socket.end();
        if !memory.known(to) {
            let is_timed = end == End::Open && self.waits_for_time(connection)?;
            memory.set_timed(to, is_timed);
        }
        memory.answer(connection.at, to, &answer, end).map_err(|error| match error {
            Error::Differs { known } => {
                let mut expected = vec![0; memory.received(known) as usize];
                let mut reader = Reader(memory.received(connection.at));
                if known == connection.at {
                    reader = Reader::default();
                }
                let length = memory.read(&mut reader, known, &mut expected, Take::Read);
                expected.truncate(length);
                PeerError::Differs {
                    connection: self.describe(connection.name),
                    sent: memory.sent(to),
                    expected: Shown { bytes: expected, then: then(memory.peer_end(known)) },
                    actual: Shown { bytes: answer.clone(), then: then(end) },
                }
            }
            Error::Full | Error::Branches { .. } => PeerError::Full,
        })?;
        connection.at = to;
        Ok(())
    }

    /// Keeps a connection open for what the program does next, and closes another if there are too
    /// many.
    fn keep(&mut self, connection: Connection) {
        let excess = (self.connections.len() + 1).saturating_sub(self.options.max_open.max(1));
        self.connections.drain(..excess);
        self.connections.push(connection);
    }

    fn refusal(&self, memory: &Memory, from: Position, sent: Sent<'_>, error: Error) -> PeerError {
        let Error::Branches { expected, same } = error else { return PeerError::Full };
        let parent = memory.parent(expected).map_or(0, |parent| memory.sent(parent));
        let position = parent + same as u64;
        let expected = match memory.edge(expected) {
            Some(Edge::Bytes(run)) => {
                Shown { bytes: memory.bytes(run).skip(same).collect(), then: "" }
            }
            Some(Edge::End | Edge::Silence(_)) | None => Shown { bytes: Vec::new(), then: SHUT },
        };
        let actual = match sent {
            Sent::Bytes(bytes) => {
                let done = (position - memory.sent(from)) as usize;
                Shown { bytes: bytes[done..].to_vec(), then: "" }
            }
            Sent::End | Sent::Silence(_) => Shown { bytes: Vec::new(), then: SHUT },
        };
        let connection = self.describe(memory.name(from));
        PeerError::Branches { connection, sent: position, expected, actual }
    }

    /// The name of a connection.
    fn describe(&self, name: Name) -> String {
        match self.origins.get(&name) {
            Some(Origin::Server { address, number }) => format!("connection {number} to {address}"),
            Some(Origin::Client(number)) => {
                format!("the connection of {}", self.peers[*number].command)
            }
            None => "a connection".to_string(),
        }
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        self.listeners.keys().for_each(socket::remove_file);
    }
}

const SHUT: &str = " (end of what it sends)";

fn then(end: End) -> &'static str {
    match end {
        End::Open => "",
        End::Closed => " (closed)",
        End::Reset => " (reset)",
    }
}

fn system(what: &'static str, address: &Address, error: rustix::io::Errno) -> PeerError {
    PeerError::System { what, address: address.to_string(), error }
}

/// Whether a peer said nothing beyond what it had said at the parent.
fn adds_nothing(memory: &Memory, at: Position) -> bool {
    let parent = memory.parent(at);
    parent.is_some_and(|parent| {
        memory.response(at).is_empty() && memory.peer_end(at) == memory.peer_end(parent)
    })
}

/// Where to stop for an answer on the way from the root to a position: wherever one is known, and
/// at the end.
fn stops(memory: &Memory, at: Position) -> Vec<Position> {
    let up = std::iter::successors(Some(at), |&node| memory.parent(node));
    let mut stops: Vec<Position> = up
        .filter(|&node| node == at || memory.known(node) || memory.parent(node).is_none())
        .collect();
    stops.reverse();
    stops
}

/// Whether a connection that stands at a position can be of use to a later execution: not if
/// nothing can be sent on it any more. Whether a schedule that is still to come sends something
/// else from there, nobody can know; connections are kept for that as long as there is room.
fn is_needed(memory: &Memory, at: Position) -> bool {
    memory.edge(at) != Some(Edge::End) && memory.peer_end(at) != End::Reset
}

/// What is sent between two stops.
fn message(memory: &Memory, from: Position, to: Position) -> Message {
    let up = std::iter::successors(Some(to), |&node| memory.parent(node));
    let mut edges: Vec<Edge> =
        up.take_while(|&node| node != from).filter_map(|node| memory.edge(node)).collect();
    edges.reverse();
    match edges[..] {
        [Edge::End] => return Message::End,
        [Edge::Silence(time)] => return Message::Silence(time),
        _ => {}
    }
    let runs = edges.into_iter().filter_map(|edge| match edge {
        Edge::Bytes(run) => Some(run),
        Edge::End | Edge::Silence(_) => None,
    });
    Message::Bytes(runs.flat_map(|run| memory.bytes(run)).collect())
}
