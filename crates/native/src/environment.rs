//! Answers to the upcalls of a program during an execution: peers, other programs, none.

use crate::joint::{JointRequests, Recorded, Reply};
use crate::peers::{Address, Cache, Options, PeerError, Peers, Statistics};
use crate::region::Shared;
use everypath_commtree::{Memory, Name, Position, Sent};
use everypath_shim_abi::{Asked, Event, Upcall};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// Peers and what they have answered. It outlives workers: clones are the same world.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    world: Arc<Mutex<World>>,
    cache: Cache,
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
        Ok(Environment { world: Arc::new(Mutex::new(world)), cache })
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

    /// What other programs do about a question, given the steps that were taken; none if there are
    /// no other programs.
    pub(crate) fn grant(
        &mut self,
        question: &Upcall,
        message: &[u8],
        events: &[Event],
    ) -> Option<Result<Reply, String>> {
        match &mut self.programs {
            Programs::None => None,
            Programs::Explored(requests) => Some(requests.answer(question, message, events)),
            Programs::Recorded(script) => Some(script.answer()),
        }
    }

    /// Answers a question by letting the trees grow; or says why it cannot.
    pub(crate) fn answer(&mut self, question: &Upcall, message: &[u8]) -> Result<(), String> {
        let World { trees: Some(trees), peers, .. } = self else {
            return Err("there are no trees".into());
        };
        let name = Name(question.name);
        let from = Position::from_word(question.position);
        let place = || {
            let bytes = &question.address[..question.address_length as usize];
            Address::from_system(bytes).ok_or("the address family of a peer is not supported")
        };
        let answered = match question.asked {
            Asked::Connect => peers.connect(trees, name, &place()?).map(drop),
            Asked::Accept => {
                let [.., ordinal] = question.name;
                peers.accept(trees, name, &place()?, ordinal as usize).map(drop)
            }
            Asked::Call => {
                let [.., ordinal] = question.name;
                let home =
                    place()?.by_datagrams().ok_or("datagrams come from the Internet only")?;
                peers.accept(trees, name, &home, ordinal as usize).map(drop)
            }
            Asked::Listening => peers.open(trees, name, &place()?),
            Asked::Receiving => {
                let home =
                    place()?.by_datagrams().ok_or("datagrams come from the Internet only")?;
                peers.open(trees, name, &home)
            }
            Asked::Write => peers.send(trees, from, Sent::Bytes(message)).map(drop),
            Asked::Finish => peers.send(trees, from, Sent::End).map(drop),
            Asked::Datagram => {
                let to = place()?.by_datagrams().ok_or("datagrams go to the Internet only")?;
                peers.connect(trees, name, &to).map(drop)
            }
            Asked::Nothing | Asked::JointRequest | Asked::Way | Asked::Refused => {
                return Err("nothing was asked".into());
            }
        };
        answered.map_err(|trouble| trouble.to_string())
    }
}
