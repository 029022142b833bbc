//! Silence: what a peer says by itself after some time.
//!
//! A peer whose threads wait with timeouts is quiescent, and yet may speak when a timeout expires. So before
//! a program counts as idle, or a timeout of its own as final, the peer gets the time for it, unless it is
//! known to say nothing: no thread waits with a timeout any more. If each that does wakes up and waits again,
//! [`ROUNDS`] times and for half of the peer timeout, it is taken to do so for ever, which the verdict says.

use super::error::PeerError;
use super::process::Process;
use super::quiescence::Look;
use super::socket::Timer;
use super::{Connection, Host, Origin, Peers, Role};
use std::collections::BTreeMap;
use std::time::Duration;

/// So often a thread must wake up and wait again to be taken for one that does so for ever.
const ROUNDS: u32 = 2;
/// How long to wait before looking at threads again.
const PAUSE: Duration = Duration::from_millis(5);

/// How often threads that wait with timeouts have woken up.
#[derive(Debug, Default)]
struct Rounds(BTreeMap<u32, (u64, u32)>);

impl Rounds {
    /// Looks at the threads that wait now; whether none of them will do anything new.
    fn are_over(&mut self, now: BTreeMap<u32, u64>) -> bool {
        for (&thread, &time) in &now {
            let seen = self.0.entry(thread).or_insert((time, 0));
            if seen.0 != time {
                *seen = (time, seen.1 + 1);
            }
        }
        now.keys().all(|thread| self.0[thread].1 >= ROUNDS)
    }
}

impl Peers {
    /// Whether a peer that has to do with a connection waits for some time only, or has just done so.
    pub(super) fn waits_for_time(
        &mut self,
        connection: &mut Connection,
    ) -> Result<bool, PeerError> {
        let before = self.look(connection)?;
        let is_timed = !self.timed(connection).is_empty();
        Ok(is_timed || before == Look::Busy || self.look(connection)? != before)
    }

    /// The threads that do, each with how long it has run.
    fn timed(&self, connection: &Connection) -> BTreeMap<u32, u64> {
        let servers = self.peers.iter().filter_map(|peer| match &peer.role {
            Role::Server(process) => Some(process),
            Role::Unused | Role::Client { .. } => None,
        });
        let ours = servers.chain(&connection.client).flat_map(Process::timed);
        let host = match self.origins.get(&connection.name) {
            Some(Origin::Server { address, .. }) => self.hosts.get(address),
            Some(Origin::Client(_)) | None => None,
        };
        let theirs = match host {
            Some(Host::Theirs(watch)) => watch.timed(),
            Some(Host::Ours | Host::Hidden) | None => BTreeMap::new(),
        };
        ours.chain(theirs).collect()
    }

    /// Says nothing for so many milliseconds, or until the peer says something or is known not to.
    pub(super) fn keep_silent(
        &mut self,
        connection: &mut Connection,
        milliseconds: u32,
    ) -> Result<(), PeerError> {
        let timer = self.timer()?;
        let broken =
            |peers: &Peers, connection: &Connection, error| peers.broken(connection, error);
        let time = Duration::from_millis(milliseconds.into());
        let begun = |time| Timer::new(time).map_err(|error| broken(self, connection, error));
        let (limit, half) = (begun(time)?, begun(self.options.patience / 2)?);
        let mut rounds = Rounds::default();
        loop {
            let quiet = connection.socket.is_silent_for(PAUSE, &limit);
            if !quiet.map_err(|error| broken(self, connection, error))? {
                return Ok(());
            }
            // A thread between two waits is in neither.
            let before = self.look(connection)?;
            let timed = self.timed(connection);
            let is_still = before != Look::Busy && self.look(connection)? == before;
            if is_still && timed.is_empty() {
                return Ok(());
            }
            let is_half = half.is_over().map_err(|error| broken(self, connection, error))?;
            if is_still && rounds.are_over(timed) && is_half {
                self.assume(&format!(
                    "{} says nothing more by itself: it has woken up by timeouts for {:?}, and said \
                     nothing (--peer-patience)",
                    self.peer(connection),
                    self.options.patience / 2
                ));
                return Ok(());
            }
            let is_over = self.is_over(&timer, connection.client.as_mut());
            if is_over.map_err(|error| broken(self, connection, error))? {
                return Err(PeerError::Waits {
                    connection: self.describe(connection.name),
                    peer: self.peer(connection),
                    patience: self.options.patience,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_wake_up_twice_and_wait_again_are_over() {
        let mut rounds = Rounds::default();
        let look = |rounds: &mut Rounds, times: &[(u32, u64)]| {
            rounds.are_over(times.iter().copied().collect())
        };
        assert!(look(&mut rounds, &[]));
        assert!(!look(&mut rounds, &[(1, 5), (2, 7)]));
        assert!(!look(&mut rounds, &[(1, 6), (2, 7)]));
        assert!(!look(&mut rounds, &[(1, 8), (2, 7)]), "the second one has not woken up");
        assert!(look(&mut rounds, &[(1, 8)]), "the second one waits for ever");
    }
}
