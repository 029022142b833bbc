//! Sending a message to a peer and waiting until its answer is complete.

use super::error::PeerError;
use super::process::Process;
use super::quiescence::Look;
use super::socket::{Timer, Wire};
use super::{Connection, Host, Origin, Peers, Role, system};
use everypath_commtree::End;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

/// What is sent at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// Nothing: the connection was just opened.
    Nothing,
    Bytes(Vec<u8>),
    /// That there will be no more.
    End,
    /// Nothing, for so many milliseconds.
    Silence(u32),
}

/// Whether an answer is complete.
enum State {
    /// The peer is running, or something is in flight.
    Open,
    Complete,
    /// The peer rests, but it has not even accepted the connection.
    Unaccepted,
    /// We cannot know.
    Unknown,
}

/// How long to wait before looking again: longer every time, since looking costs the time of a
/// processor that the peer may need.
pub(super) struct Pause(Duration);

impl Pause {
    const FIRST: Duration = Duration::from_micros(20);
    const LONGEST: Duration = Duration::from_millis(2);

    pub(super) fn new() -> Self {
        Pause(Pause::FIRST)
    }

    pub(super) fn next(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(Pause::LONGEST);
        pause
    }
}

impl Peers {
    /// Sends a message on a connection and returns all that the peer sends then.
    pub(super) fn exchange(
        &mut self,
        connection: &mut Connection,
        message: &Message,
    ) -> Result<Vec<u8>, PeerError> {
        let timer = self.timer()?;
        let mut pause = Pause::new();
        let mut answer = Vec::new();
        let mut rest = match message {
            Message::Bytes(bytes) => bytes.as_slice(),
            Message::Nothing | Message::End | Message::Silence(_) => &[],
        };
        if *message == Message::End {
            connection.socket.shut().map_err(|error| self.broken(connection, error))?;
        }
        if let Message::Silence(time) = *message {
            self.keep_silent(connection, time)?;
        }
        loop {
            let moved = self.transfer(connection, &mut rest, &mut answer)?;
            if moved {
                pause = Pause::new();
                continue;
            }
            match self.state(connection, &mut answer)? {
                State::Complete if rest.is_empty() => break,
                State::Unaccepted if self.make_room(connection) => continue,
                State::Unknown if self.is_quiet(connection, &timer)? && rest.is_empty() => break,
                _ => {}
            }
            let is_over = self.is_over(&timer, connection.client.as_mut());
            if is_over.map_err(|error| self.broken(connection, error))? {
                return Err(self.hangs(connection, !rest.is_empty()));
            }
            let writing = !rest.is_empty();
            let waited = connection.socket.wait(writing, &timer, pause.next());
            waited.map_err(|error| self.broken(connection, error))?;
        }
        connection.socket.arrange(&mut answer);
        self.statistics.misses += connection.socket.length(&answer) as u64;
        if connection.client.is_some() {
            self.check_single(connection)?;
        }
        Ok(answer)
    }

    /// Writes and reads what can be now; says whether anything could.
    fn transfer(
        &self,
        connection: &mut Connection,
        rest: &mut &[u8],
        answer: &mut Vec<u8>,
    ) -> Result<bool, PeerError> {
        let limit = self.options.max_answer;
        let written =
            connection.socket.write(rest).map_err(|error| self.broken(connection, error))?;
        *rest = &rest[written..];
        let came = connection.socket.drain(answer, limit);
        let came = came.map_err(|error| self.broken(connection, error))?;
        if answer.len() > limit {
            return Err(PeerError::Floods { connection: self.describe(connection.name), limit });
        }
        Ok(written > 0 || came)
    }

    /// Looks whether the answer is complete: the peer rests before and after nothing was on its
    /// way.
    fn state(
        &mut self,
        connection: &mut Connection,
        answer: &mut Vec<u8>,
    ) -> Result<State, PeerError> {
        let before = self.look(connection)?;
        match before {
            Look::Busy => return Ok(State::Open),
            Look::Blind => return Ok(State::Unknown),
            Look::Resting(_) | Look::Gone => {}
        }
        let wire = self.diagnosis.as_ref().map_or(Wire::Still, |it| connection.socket.wire(it));
        if wire == Wire::Moving || self.transfer(connection, &mut &[][..], answer)? {
            return Ok(State::Open);
        }
        if self.look(connection)? != before {
            return Ok(State::Open);
        }
        Ok(if wire == Wire::Unaccepted { State::Unaccepted } else { State::Complete })
    }

    /// Looks at everybody who may have to do with the answer: the servers, since one may use
    /// another, and the client that the connection is with.
    pub(super) fn look(&mut self, connection: &mut Connection) -> Result<Look, PeerError> {
        let mut times = BTreeMap::new();
        for peer in &mut self.peers {
            let Role::Server(process) = &mut peer.role else { continue };
            match process.look(&peer.command, |status| status.success())? {
                Look::Resting(more) => times.extend(more),
                Look::Gone => {}
                other => return Ok(other),
            }
        }
        let peer = self.peer(connection);
        if let Some(process) = &mut connection.client {
            // A client ends when it has what it wanted, or says that it has not; a signal is
            // another matter.
            match process.look(&peer, |status| status.signal().is_none())? {
                Look::Resting(more) => times.extend(more),
                Look::Gone if process.status().is_some_and(|status| !status.success()) => {
                    self.assumptions.insert(format!(
                        "failures that {peer} reports itself are not part of the verdict: it ended with \
                         an exit code that says so"
                    ));
                }
                Look::Gone => {}
                other => return Ok(other),
            }
        }
        let Some(Origin::Server { address, .. }) = self.origins.get(&connection.name) else {
            return Ok(Look::Resting(times));
        };
        match self.hosts.get_mut(address) {
            Some(Host::Theirs(watch)) => match watch.look() {
                Look::Resting(more) => times.extend(more),
                Look::Gone => {}
                other => return Ok(other),
            },
            Some(Host::Hidden) => return Ok(Look::Blind),
            Some(Host::Ours) | None => {}
        }
        Ok(Look::Resting(times))
    }

    /// Whether a peer that we cannot look at has been silent for long enough.
    fn is_quiet(&mut self, connection: &mut Connection, timer: &Timer) -> Result<bool, PeerError> {
        let quiet = self.options.quiet;
        if connection.socket.end() == End::Open {
            let waited = connection.socket.is_silent_for(quiet, timer);
            if !waited.map_err(|error| self.broken(connection, error))? {
                return Ok(false);
            }
        }
        self.assumptions.insert(format!(
            "{} cannot be inspected: its answers count as complete when it was silent for {quiet:?}",
            self.peer(connection)
        ));
        Ok(true)
    }

    /// Closes another connection to the same server, if there is one: a server that serves one
    /// client at a time accepts us only then.
    fn make_room(&mut self, connection: &Connection) -> bool {
        let host = |name| match self.origins.get(name) {
            Some(Origin::Server { address, .. }) => Some(address),
            _ => None,
        };
        let wanted = host(&connection.name);
        let same = self.connections.iter().position(|other| host(&other.name) == wanted);
        same.map(|place| self.connections.remove(place)).is_some()
    }

    /// A client's answer must depend on one connection only.
    fn check_single(&self, connection: &Connection) -> Result<(), PeerError> {
        for (address, listener) in &self.listeners {
            let second =
                listener.has_arrival().map_err(|error| system("accept on", address, error));
            if second? {
                return Err(PeerError::SecondConnection { peer: self.peer(connection) });
            }
        }
        Ok(())
    }

    /// Time to do what is asked for.
    pub(super) fn timer(&mut self) -> Result<Timer, PeerError> {
        self.starved(None);
        Timer::new(self.options.patience).map_err(|error| PeerError::System {
            what: "make",
            address: "a timer".to_string(),
            error,
        })
    }

    /// Whether the timeout has expired. A peer that had to wait for a processor is not to blame,
    /// and gets the time back.
    pub(super) fn is_over(
        &mut self,
        timer: &Timer,
        client: Option<&mut Process>,
    ) -> Result<bool, Errno> {
        if !timer.is_over()? {
            return Ok(false);
        }
        let starved = self.starved(client);
        let is_fair = starved < self.options.patience / 10;
        if !is_fair {
            timer.extend(starved)?;
        }
        Ok(is_fair)
    }

    /// For how long a peer had to wait for a processor since this was asked last.
    fn starved(&mut self, client: Option<&mut Process>) -> Duration {
        let servers = self.peers.iter_mut().filter_map(|peer| match &mut peer.role {
            Role::Server(process) => Some(process),
            Role::Unused | Role::Client { .. } => None,
        });
        let ours = servers.chain(client).map(Process::starved);
        let theirs = self.hosts.values_mut().filter_map(|host| match host {
            Host::Theirs(watch) => Some(watch.starved()),
            Host::Ours | Host::Hidden => None,
        });
        ours.chain(theirs).max().unwrap_or_default()
    }

    fn hangs(&self, connection: &Connection, writing: bool) -> PeerError {
        let unread = "does not read what it is sent";
        PeerError::Hangs {
            connection: self.describe(connection.name),
            peer: self.peer(connection),
            what: if writing { unread } else { "runs, sleeps or does not accept" },
            patience: self.options.patience,
        }
    }

    pub(super) fn broken(&self, connection: &Connection, error: Errno) -> PeerError {
        PeerError::System { what: "use", address: self.describe(connection.name), error }
    }

    /// The name of the other end.
    pub(super) fn peer(&self, connection: &Connection) -> String {
        match &self.origins.get(&connection.name) {
            Some(Origin::Client(number)) => self.peers[*number].command.clone(),
            Some(Origin::Server { address, .. }) => format!("the server at {address}"),
            None => "the peer".to_string(),
        }
    }
}
