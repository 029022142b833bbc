//! Connecting to servers, and accepting clients.

use super::diagnosis::Receiver;
use super::error::{PeerError, Printed};
use super::exchange::{Message, Pause};
use super::process::Process;
use super::quiescence::{self, Look, Watch};
use super::socket::{Attempt, Listener, Socket};
use super::{Address, Connection, Host, Origin, Peer, Peers, Role, system};
use everypath_commtree::Name;
use rustix::io::Errno;
use std::net::SocketAddr;

/// What a peer turns out to be that was just started.
enum Stranger {
    /// A client, which came to this address.
    Came(Process, Socket, Address),
    /// It waits for somebody.
    Rests(Process),
}

/// Whether a peer that listens nowhere waits for some time only: it may listen or connect after that.
fn will_do_more(process: &Process) -> bool {
    !process.timed().is_empty() && !process.processes().into_iter().any(quiescence::listens)
}

impl Peers {
    /// Connects to a server. If nobody listens, the peers that were not needed yet are started in
    /// their order, and those again that ended in good order, until somebody does.
    pub(super) fn dial(&mut self, address: &Address) -> Result<Option<Socket>, PeerError> {
        let mut connected = self.attempt(address)?;
        for number in 0..self.peers.len() {
            if connected.is_some() {
                break;
            }
            let is_needed = match &mut self.peers[number].role {
                Role::Unused => true,
                Role::Server(process) => process.status().is_some_and(|status| status.success()),
                Role::Client { .. } => false,
            };
            if is_needed {
                self.peers[number].role = Role::Server(self.start(number)?);
            }
            // Who listens for connections may be about to receive datagrams, too.
            let is_starting = matches!(address, Address::Udp(_))
                && matches!(self.peers[number].role, Role::Server(_));
            if is_needed || is_starting {
                connected = self.await_server(number, address)?;
            }
        }
        match &connected {
            Some(socket) => self.identify(address, socket),
            None if matches!(address, Address::Udp(_)) => {}
            None => self.check_listening(address)?,
        }
        Ok(connected)
    }

    /// Starts the servers that datagrams go to: the first one of a socket was dialled, others may follow.
    pub(super) fn start_receivers(
        &mut self,
        connection: &Connection,
        message: &Message,
    ) -> Result<(), PeerError> {
        let Message::Bytes(frames) = message else { return Ok(()) };
        for to in connection.socket.destinations(frames) {
            let address = Address::Udp(to);
            let first = self.origins.get(&connection.name);
            let is_another =
                matches!(first, Some(Origin::Server { address: first, .. }) if *first != address);
            if is_another && self.options.unreliable {
                self.assume(
                    "answers of several servers to one socket arrive in the order of the requests, unless the \
                     network reorders them (without faults of datagrams they arrive in any order)",
                );
            }
            if !self.hosts.contains_key(&address) {
                self.dial(&address)?;
            }
        }
        Ok(())
    }

    /// Starts peers in their order until one listens on a port, without connecting to it.
    pub(crate) fn await_port(&mut self, port: u16) -> Result<(), PeerError> {
        let address = Address::Tcp(([127, 0, 0, 1], port).into());
        for number in 0..self.peers.len() {
            if self.is_listened_on(port) {
                break;
            }
            self.peers[number].role = Role::Server(self.start(number)?);
            let timer = self.timer()?;
            let failed = |error| system("wait for", &address, error);
            let mut pause = Pause::new();
            let mut before = Look::Busy;
            while !self.is_listened_on(port) {
                let Peer { command, role: Role::Server(process), .. } = &mut self.peers[number]
                else {
                    break;
                };
                let look = process.look(command, |_| false)?;
                let rests = look == before && matches!(look, Look::Resting(_));
                let rests = rests && !will_do_more(process) && !process.adopt_orphans();
                if rests || self.is_over(&timer, None).map_err(failed)? {
                    break;
                }
                before = look;
                timer.wait(&[], pause.next()).map_err(failed)?;
            }
        }
        match self.peers.len().checked_sub(1) {
            Some(last) if !self.is_listened_on(port) => Err(self.never_listens(last, &address)),
            _ => Ok(()),
        }
    }

    /// The process that receives datagrams to an address.
    fn receiver(&self, to: SocketAddr) -> Option<Receiver> {
        // Any port that is not theirs will do.
        let from = SocketAddr::new(to.ip(), if to.port() == 1 { 2 } else { 1 });
        self.diagnosis.as_ref()?.datagrams(from, to)
    }

    /// Whether anybody on this machine listens on a port, or receives datagrams there.
    fn is_listened_on(&self, port: u16) -> bool {
        quiescence::is_received_at(port)
            || match &self.diagnosis {
                Some(diagnosis) => diagnosis.is_listened_on(port),
                None => quiescence::tcp_listeners().iter().any(|&(it, _)| it == port),
            }
    }

    /// Connects to the process that listens now.
    pub(super) fn attempt(&mut self, address: &Address) -> Result<Option<Socket>, PeerError> {
        if let Address::Udp(to) = address {
            let open = |_| Socket::datagrams(address);
            let socket = self.receiver(*to).map(open).transpose();
            return socket.map_err(|error| system("send to", address, error));
        }
        let patience = self.options.patience;
        let timer = self.timer()?;
        let failed = |error| system("connect to", address, error);
        let mut pause = Pause::new();
        loop {
            match Socket::connect(address, patience).map_err(failed)? {
                Attempt::Connected(socket) => return Ok(Some(socket)),
                Attempt::Refused => return Ok(None),
                Attempt::Busy if timer.is_over().map_err(failed)? => {
                    return Err(failed(Errno::TIMEDOUT));
                }
                Attempt::Busy => timer.wait(&[], pause.next()).map_err(failed)?,
            }
        }
    }

    fn start(&mut self, number: usize) -> Result<Process, PeerError> {
        self.statistics.starts += 1;
        let peer = &self.peers[number];
        Process::start(&peer.words, self.options.folder.as_deref())
            .map_err(|error| PeerError::Start { peer: peer.command.clone(), error })
    }

    /// Waits until a peer that was just started listens at an address. It rests without listening
    /// there if it is another server, and it connects to us if it is a client.
    fn await_server(
        &mut self,
        number: usize,
        address: &Address,
    ) -> Result<Option<Socket>, PeerError> {
        let timer = self.timer()?;
        let failed = |error| system("wait for", address, error);
        let mut pause = Pause::new();
        let mut before = Look::Busy;
        loop {
            if let Some(socket) = self.attempt(address)? {
                return Ok(Some(socket));
            }
            if let Some((home, mut socket)) = self.arrival()? {
                socket.is_with(number);
                let role = &mut self.peers[number].role;
                if let Role::Server(process) = std::mem::replace(role, Role::Unused) {
                    *role = Role::Client { home, arrived: Some((process, socket)) };
                }
                return Ok(None);
            }
            let Peer { command, role: Role::Server(process), .. } = &mut self.peers[number] else {
                return Ok(None);
            };
            let look = process.look(command, |_| false)?;
            // It rested while nobody listened.
            let rests = look == before && matches!(look, Look::Resting(_));
            if rests && !will_do_more(process) && !process.adopt_orphans() {
                return Ok(None);
            }
            before = look;
            if self.is_over(&timer, None).map_err(failed)? {
                return Err(self.never_listens(number, address));
            }
            timer.wait(&self.all_listeners(), pause.next()).map_err(failed)?;
        }
    }

    /// Somebody who connects to the program at one of its addresses.
    fn arrival(&self) -> Result<Option<(Address, Socket)>, PeerError> {
        for (address, listener) in &self.listeners {
            let came = listener.accept().map_err(|error| system("accept on", address, error))?;
            if let Some(socket) = came {
                return Ok(Some((address.clone(), socket)));
            }
        }
        Ok(None)
    }

    fn all_listeners(&self) -> Vec<&Listener> {
        self.listeners.values().collect()
    }

    /// That nobody listens at an address may be meant; that a peer listens nowhere is not.
    fn check_listening(&mut self, address: &Address) -> Result<(), PeerError> {
        let listens = |process: &Process| process.processes().into_iter().any(quiescence::listens);
        let idle = self
            .peers
            .iter()
            .position(|peer| matches!(&peer.role, Role::Server(process) if !listens(process)));
        idle.map_or(Ok(()), |number| Err(self.never_listens(number, address)))
    }

    fn never_listens(&mut self, number: usize, address: &Address) -> PeerError {
        let peer = &mut self.peers[number];
        let printed = match &mut peer.role {
            Role::Server(process) => process.printed(),
            Role::Unused | Role::Client { .. } => Printed::default(),
        };
        PeerError::NeverListens { peer: peer.command.clone(), address: address.clone(), printed }
    }

    /// Finds out who listens at an address, the first time.
    fn identify(&mut self, address: &Address, socket: &Socket) {
        if self.hosts.contains_key(address) {
            return;
        }
        let inode = match (address, &self.diagnosis) {
            (Address::Tcp(at), Some(diagnosis)) => diagnosis.listening(*at).map(|it| it.inode),
            (Address::Udp(at), Some(_)) => self.receiver(*at).map(|it| it.inode),
            _ => None,
        };
        let mut ours = self.peers.iter_mut().filter_map(|peer| match &mut peer.role {
            Role::Server(process) => Some((process, &mut peer.has_met)),
            Role::Unused | Role::Client { .. } => None,
        });
        let listener = socket
            .listening_process()
            .filter(|_| matches!(address, Address::Path(_) | Address::Abstract(_)));
        let is_ours = ours.any(|(process, has_met)| {
            let owns = |process: &Process| {
                let is_owner = |it: &u32| match listener {
                    Some(listener) => listener == *it,
                    None => inode.is_some_and(|inode| quiescence::has_open(*it, inode)),
                };
                process.processes().iter().any(is_owner)
            };
            let is_owner = owns(process) || (process.adopt_orphans() && owns(process));
            *has_met |= is_owner;
            is_owner
        });
        let host = if is_ours {
            Host::Ours
        } else {
            match listener.or_else(|| quiescence::owner(inode?)) {
                Some(process) => Host::Theirs(Watch::new(process)),
                None => {
                    // Any of ours, for all we know.
                    let started = |peer: &&mut Peer| matches!(peer.role, Role::Server(_));
                    self.peers.iter_mut().filter(started).for_each(|peer| peer.has_met = true);
                    Host::Hidden
                }
            }
        };
        self.hosts.insert(address.clone(), host);
    }

    /// The client number `ordinal` of those that connect to an address: its command's number, the
    /// process and the connection. Clients are started in their order until it is found.
    pub(super) fn next_client(
        &mut self,
        address: &Address,
        ordinal: usize,
    ) -> Result<Option<(usize, Process, Socket)>, PeerError> {
        loop {
            let at_home =
                |role: &Role| matches!(role, Role::Client { home, .. } if home == address);
            let mut clients = (0..self.peers.len()).filter(|&it| at_home(&self.peers[it].role));
            if let Some(number) = clients.nth(ordinal) {
                let Role::Client { arrived, .. } = &mut self.peers[number].role else { continue };
                let (process, socket) = match arrived.take() {
                    Some(arrived) => arrived,
                    None => {
                        let (process, socket, _) = self.start_client(number)?;
                        (process, socket)
                    }
                };
                return Ok(Some((number, process, socket)));
            }
            let unused = |peer: &Peer| matches!(peer.role, Role::Unused);
            let Some(number) = self.peers.iter().position(unused) else { return Ok(None) };
            self.peers[number].role = match self.start_stranger(number)? {
                Stranger::Came(process, socket, home) => {
                    Role::Client { home, arrived: Some((process, socket)) }
                }
                // A program that looks for datagrams may still be going to ask it something.
                Stranger::Rests(process) if matches!(address, Address::Udp(_)) => {
                    Role::Server(process)
                }
                Stranger::Rests(process) => return Err(self.never_connects(number, process)),
            };
        }
    }

    /// Starts a client again and waits until it comes to the program.
    pub(super) fn start_client(
        &mut self,
        number: usize,
    ) -> Result<(Process, Socket, Address), PeerError> {
        match self.start_stranger(number)? {
            Stranger::Came(process, socket, home) => Ok((process, socket, home)),
            Stranger::Rests(process) => Err(self.never_connects(number, process)),
        }
    }

    /// Starts a peer and waits until it comes to the program, or rests without doing so.
    fn start_stranger(&mut self, number: usize) -> Result<Stranger, PeerError> {
        self.listeners.values().for_each(Listener::forget);
        let mut process = self.start(number)?;
        let timer = self.timer()?;
        let mut pause = Pause::new();
        let mut before = Look::Busy;
        let failed =
            |error| PeerError::System { what: "wait for", address: "a client".to_string(), error };
        loop {
            if let Some((home, mut socket)) = self.arrival()? {
                socket.is_with(number);
                return Ok(Stranger::Came(process, socket, home));
            }
            let look = process.look(&self.peers[number].command, |_| false)?;
            let rests = look == before && matches!(look, Look::Resting(_));
            if rests && !will_do_more(&process) && !process.adopt_orphans() {
                return Ok(Stranger::Rests(process));
            }
            if self.is_over(&timer, Some(&mut process)).map_err(failed)? {
                return Err(self.never_connects(number, process));
            }
            before = look;
            timer.wait(&self.all_listeners(), pause.next()).map_err(failed)?;
        }
    }

    fn never_connects(&self, number: usize, mut process: Process) -> PeerError {
        let all: Vec<String> = self.listeners.keys().map(Address::to_string).collect();
        PeerError::NeverConnects {
            peer: self.peers[number].command.clone(),
            at: all.join(" and "),
            printed: process.printed(),
        }
    }

    /// A server that answered before is not there any more.
    pub(super) fn refused_again(&self, name: Name) -> PeerError {
        let address = self.describe(name);
        PeerError::System { what: "open again", address, error: Errno::CONNREFUSED }
    }
}
