//! Answers to the upcalls of a program during an execution: peers, other programs, none.

use crate::joint_requests::{JointRequests, Recorded, Reply};
use crate::peers::{Address, Cache, Options, PeerError, Peers, Statistics};
use crate::region::Shared;
use everypath_commtree::{Memory, Name, Position, Sent};
use everypath_shim_abi::{Endpoint, Event, PeerRequest, Upcall, UpcallReply};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Peers and what they have answered. It outlives workers: clones are the same world.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    world: Arc<Mutex<World>>,
    cache: Cache,
    /// Whether a program was given random values.
    gave_random_values: Arc<AtomicBool>,
    /// Whether a program read what could have come in parts.
    read_whole_messages: Arc<AtomicBool>,
    /// Whether a thread locked one mutex so often that it had to let others go on.
    relocks: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
pub(crate) struct World {
    trees: Option<Shared<Memory>>,
    peers: Peers,
    programs: Programs,
}

/// Programs outside that are explored on their own.
#[derive(Debug, Default)]
enum Programs {
    /// There are none: everybody outside is a peer.
    #[default]
    None,
    /// What they can have done is being explored.
    Explored(Box<JointRequests>),
    /// They do what they did.
    Recorded(Recorded),
}

impl Environment {
    /// A world with these peers. None is started before it is needed.
    pub fn new(options: Options) -> Result<Self, PeerError> {
        let cache = options.cache;
        let world = World { peers: Peers::new(options)?, ..World::default() };
        Ok(Environment { world: Arc::new(Mutex::new(world)), cache, ..Environment::default() })
    }

    /// A world of programs that are explored on their own.
    pub(crate) fn of_programs(requests: JointRequests) -> Self {
        let programs = Programs::Explored(Box::new(requests));
        let world = World { programs, ..World::default() };
        Environment { world: Arc::new(Mutex::new(world)), ..Environment::default() }
    }

    /// A world in which other programs do what was recorded, a line for each answer; none if that
    /// cannot be read.
    pub fn recorded(lines: &[String]) -> Option<Self> {
        let replies = lines.iter().map(|line| Reply::from_line(line)).collect::<Option<_>>()?;
        let programs = Programs::Recorded(Recorded { replies, next: 0 });
        let world = World { programs, ..World::default() };
        Some(Environment { world: Arc::new(Mutex::new(world)), ..Environment::default() })
    }

    /// The world, while nobody else asks it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Whether there is nobody.
    pub(crate) fn is_empty(&self) -> bool {
        let world = self.lock();
        matches!(world.programs, Programs::None) && !world.has_peers()
    }

    /// Whether every execution finds a fresh world.
    pub(crate) fn forgets(&self) -> bool {
        self.cache == Cache::None
    }

    /// Starts peers until one listens on a port.
    pub fn await_port(&self, port: u16) -> Result<(), PeerError> {
        self.lock().peers.await_port(port)
    }

    /// What was asked of peers.
    pub fn statistics(&self) -> Statistics {
        self.lock().peers.statistics()
    }

    /// What the result rests on beyond what was observed, a sentence each.
    pub fn assumptions(&self) -> Vec<String> {
        self.lock().peers.assumptions().collect()
    }

    /// Whether any peer was met.
    pub fn has_met_peers(&self) -> bool {
        self.lock().peers.statistics().connections > 0
    }

    /// Whether there were peers, and what they answered is remembered beyond an execution.
    pub fn remembers_peers(&self) -> bool {
        self.cache != Cache::None && self.has_met_peers()
    }

    /// Ends all peers and forgets what they answered: they are started anew when they are needed.
    pub fn renew_peers(&self) {
        let World { trees, peers, .. } = &mut *self.lock();
        if let Some(trees) = trees {
            peers.renew(trees);
        }
    }

    /// Notes that an answer was late as often as it can be.
    pub(crate) fn note_overdue_answer(&self) {
        self.lock().peers.assume(
            "a peer's answer that was late three times in a row is there when the program looks \
             for the fourth time",
        );
    }

    /// Notes that a program was given random values.
    pub(crate) fn note_random_values(&self) {
        self.gave_random_values.store(true, Ordering::Relaxed);
    }

    /// Whether a program was given random values.
    pub fn gave_random_values(&self) -> bool {
        self.gave_random_values.load(Ordering::Relaxed)
    }

    /// Notes that a program read what could have come in parts.
    pub(crate) fn note_whole_message(&self) {
        self.read_whole_messages.store(true, Ordering::Relaxed);
    }

    /// Whether a program read several bytes of a connection at once, which could have come in parts.
    pub fn read_whole_messages(&self) -> bool {
        self.read_whole_messages.load(Ordering::Relaxed)
    }

    /// Notes that a thread locked one mutex so often that it had to let others go on.
    pub(crate) fn note_relocks(&self) {
        self.relocks.store(true, Ordering::Relaxed);
    }

    /// Whether a thread locked one mutex so often that it had to let others go on.
    pub fn relocks(&self) -> bool {
        self.relocks.load(Ordering::Relaxed)
    }

    /// What did not happen with peers, a sentence each.
    pub(crate) fn absences(&self) -> Vec<String> {
        self.lock().peers.absences()
    }

    /// Asks the peers again for everything that they answered, and compares.
    pub fn verify(&self) -> Result<(), PeerError> {
        let World { trees, peers, .. } = &mut *self.lock();
        trees.as_deref().map_or(Ok(()), |trees| peers.verify(trees))
    }
}

impl World {
    /// The trees of all that was ever said, shared with every worker.
    pub(crate) fn trees(&mut self) -> io::Result<&Shared<Memory>> {
        if self.trees.is_none() {
            self.trees = Some(Shared::zeros(c"everypath-trees")?);
        }
        Ok(self.trees.as_ref().expect("just made"))
    }

    /// Whether there are peers that may turn out to be clients.
    pub(crate) fn has_peers(&self) -> bool {
        self.peers.are_there()
    }

    /// To be called before every execution.
    pub(crate) fn begin_execution(&mut self) {
        match &mut self.programs {
            Programs::None => {}
            Programs::Explored(requests) => requests.begin_execution(),
            Programs::Recorded(script) => script.next = 0,
        }
        if let Some(trees) = &self.trees {
            self.peers.begin_execution(trees);
        }
    }

    /// The requests of the last execution to programs that are explored alone.
    pub(crate) fn requests(&mut self) -> Option<&mut JointRequests> {
        match &mut self.programs {
            Programs::Explored(requests) => Some(requests),
            Programs::None | Programs::Recorded(_) => None,
        }
    }

    /// Answers an upcall, given its message and the steps that were taken; or says why there is no
    /// answer. The bytes go with the reply.
    pub(crate) fn answer(
        &mut self,
        upcall: &Upcall,
        message: &[u8],
        events: &[Event],
    ) -> Result<(UpcallReply, Vec<u8>), Refusal> {
        let reply = match (&mut self.programs, upcall) {
            (_, Upcall::None) => return Err(Refusal::of("nothing was asked")),
            (Programs::None, Upcall::Peer(request)) => {
                self.ask_peer(request, message)?;
                return Ok((UpcallReply::InTrees, Vec::new()));
            }
            (Programs::None, Upcall::Joint { .. } | Upcall::Choose { .. }) => {
                return Err(Refusal::of(
                    "the shim made a request to another program without --joint",
                ));
            }
            (Programs::Explored(_) | Programs::Recorded(_), Upcall::Peer(_)) => {
                return Err(Refusal::of(
                    "the shim made an upcall for a peer, but --joint has none",
                ));
            }
            (Programs::Explored(requests), Upcall::Joint { thread, request, .. }) => {
                requests.answer(*thread, request, message, events)?
            }
            (Programs::Explored(requests), Upcall::Choose { thread, way }) => {
                requests.answer_by(*thread, *way)?
            }
            (Programs::Recorded(script), Upcall::Joint { .. } | Upcall::Choose { .. }) => {
                script.answer()?
            }
        };
        Ok((reply.to_shim(), reply.bytes))
    }

    /// Asks a peer and lets the trees grow; or says why it cannot.
    fn ask_peer(&mut self, request: &PeerRequest, message: &[u8]) -> Result<(), Refusal> {
        let World { trees: Some(trees), peers, .. } = self else {
            return Err(Refusal::of("there are no trees"));
        };
        let answered = match *request {
            PeerRequest::Connect(to) => peers.connect(trees, Name(to.name), &stream(to)?).map(drop),
            PeerRequest::ConnectDatagram(to) => {
                peers.connect(trees, Name(to.name), &datagram(to)?).map(drop)
            }
            PeerRequest::Accept { at, ordinal } => {
                peers.accept(trees, Name(at.name), &stream(at)?, ordinal as usize).map(drop)
            }
            PeerRequest::AcceptDatagram { at, ordinal } => {
                peers.accept(trees, Name(at.name), &datagram(at)?, ordinal as usize).map(drop)
            }
            PeerRequest::Listening(at) => peers.open(trees, Name(at.name), &stream(at)?),
            PeerRequest::Receiving(at) => peers.open(trees, Name(at.name), &datagram(at)?),
            PeerRequest::Write { position, .. } => {
                peers.send(trees, Position::from_word(position), Sent::Bytes(message)).map(drop)
            }
            PeerRequest::Finish { position } => {
                peers.send(trees, Position::from_word(position), Sent::End).map(drop)
            }
            PeerRequest::Silence { position, milliseconds } => {
                let from = Position::from_word(position);
                peers.send(trees, from, Sent::Silence(milliseconds)).map(drop)
            }
        };
        let was_sent = matches!(
            request,
            PeerRequest::Write { .. } | PeerRequest::Finish { .. } | PeerRequest::Silence { .. }
        );
        answered.map_err(|error| match error {
            PeerError::Crashed { peer, how, printed } if was_sent && peers.failures_count() => {
                peers.forget_failed();
                Refusal::PeerFailed(format!("the peer {peer} {how}{printed}"))
            }
            error => Refusal::Inconclusive(error.to_string()),
        })
    }
}

/// Why there is no answer to an upcall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It cannot be had.
    Inconclusive(String),
    /// The peer failed because of what the program sent.
    PeerFailed(String),
}

impl Refusal {
    fn of(why: &str) -> Self {
        Refusal::Inconclusive(why.into())
    }

    /// The reply of the checker, and the bytes that go with it.
    pub(crate) fn reply(self) -> (UpcallReply, Vec<u8>) {
        match self {
            Refusal::Inconclusive(why) => {
                (UpcallReply::Refused { length: why.len() as u32 }, why.into_bytes())
            }
            Refusal::PeerFailed(how) => {
                (UpcallReply::PeerFailed { length: how.len() as u32 }, how.into_bytes())
            }
        }
    }
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Refusal::Inconclusive(why)
    }
}

impl From<&str> for Refusal {
    fn from(why: &str) -> Self {
        Refusal::of(why)
    }
}

/// Where streams to or from a peer end.
fn stream(endpoint: Endpoint) -> Result<Address, &'static str> {
    Address::from_system(endpoint.address.as_bytes())
        .ok_or("the address family of a peer is not supported")
}

/// Where datagrams to or from a peer end.
fn datagram(endpoint: Endpoint) -> Result<Address, &'static str> {
    stream(endpoint)?.by_datagrams().ok_or("datagrams of peers are supported on IPv4 and IPv6 only")
}
