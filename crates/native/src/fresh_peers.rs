//! Peers with a memory: the same schedules with peers that were started anew must give the same
//! executions.
//!
//! What peers answered is cached by what was sent on each connection. A peer whose answers depend on
//! anything else, such as how many connections there were before, makes the cache wrong. A few
//! executions are run with the cache, and then once more, each with fresh peers. Times of day in answers
//! are not compared: servers of HTTP say in each how late it is. What differs between fresh peers, too, is
//! there by chance or time (identifiers, compressed dates): it does not count if the program does the
//! same.

use crate::error::Error;
use crate::execution::Execution;
use crate::launch::Launch;
use crate::worker::{Modules, Worker};
use everypath_shim_abi::{Command, Policy, Request, Setup};
use std::time::Duration;

/// What came of running executions again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// So many were the same.
    Alike(u64),
    /// So many were the same, but for what peers say by chance or time, which makes no difference to the
    /// program: it is another with each fresh peer.
    AlikeButForChance(u64),
    /// One was not, in these words.
    Differs(String),
}

/// Runs up to so many random schedules with the answers that are known, and then with fresh peers,
/// as long as there is time; one is enough for a program with one thread and one execution.
pub fn repeat_with_fresh_peers(
    launch: &Launch,
    (seed, executions): (u64, u64),
    is_only: bool,
    is_time_left: impl Fn() -> bool,
) -> Result<Repeated, Error> {
    let setup = Setup { chronicle: true, ..launch.setup };
    let launch = &Launch { setup, ..launch.clone() };
    let mut worker = Worker::start(launch, &Modules::default())?;
    let run = |worker: &mut Worker, first| -> Result<Execution, Error> {
        // By random priorities, threads connect in either order about equally often.
        let (request, policy, depth, horizon) = (Request::Run, Policy::Pct, 2, 32);
        let schedule = Command { request, policy, depth, horizon, ..Command::default() };
        let command = Command { seed, first, count: 1, ..schedule };
        let reply = worker.ask_unless(command, &launch.control)?.ok_or(Error::Stopped)?;
        Ok(Execution::of(worker, &reply, first))
    };
    let mut known = Vec::new();
    for number in 0..executions {
        known.push(run(&mut worker, number)?);
        if is_only && worker.counters().threads <= 1 {
            break;
        }
    }
    let (mut alike, mut by_chance) = (0, false);
    for (number, known) in (0..).zip(&known) {
        if alike > 0 && !is_time_left() {
            break;
        }
        launch.outside.renew_peers();
        let again = run(&mut worker, number)?;
        if let Some(difference) = known.difference(&again) {
            return Ok(Repeated::Differs(difference));
        }
        if !say_the_same(known, &again) {
            // A peer with a memory says the same again if it is fresh again; chance and time do not.
            wait_for_another_time();
            launch.outside.renew_peers();
            let third = run(&mut worker, number)?;
            if known.difference(&third).is_some() || say_the_same(&again, &third) {
                return Ok(Repeated::Differs("another answer to the same request".into()));
            }
            by_chance = true;
        }
        alike += 1;
    }
    Ok(if by_chance { Repeated::AlikeButForChance(alike) } else { Repeated::Alike(alike) })
}

/// Whether the same bytes passed in two executions, but for times of day.
fn say_the_same(one: &Execution, other: &Execution) -> bool {
    let [one, other] = [one, other].map(|of| without_times(&of.message_events));
    one == other
}

/// Waits until clocks that show seconds show another one.
#[expect(clippy::disallowed_methods, reason = "time itself is what is waited for")]
fn wait_for_another_time() {
    std::thread::sleep(Duration::from_millis(1100));
}

/// Messages with the same time of day wherever there is one, such as `15:54:48`.
fn without_times(messages: &[u8]) -> Vec<u8> {
    let is_time = |text: &[u8]| {
        let is_right = |(at, &of): (usize, &u8)| match at {
            2 | 5 => of == b':',
            _ => of.is_ascii_digit(),
        };
        text.iter().enumerate().all(is_right)
    };
    const LENGTH: usize = "15:54:48".len();
    let mut masked = messages.to_vec();
    for start in 0..messages.len().saturating_sub(LENGTH - 1) {
        if is_time(&messages[start..start + LENGTH]) {
            masked[start..start + LENGTH].fill(0);
        }
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::without_times;

    #[test]
    fn only_times_of_day_are_left_out() {
        let date = |time: &str| without_times(format!("Date: {time} GMT\r\n").as_bytes());
        assert_eq!(date("18 Nov 2026 15:54:48"), date("18 Nov 2026 15:54:49"));
        assert_eq!(date("23:59:59"), date("00:00:00"));
        assert_ne!(date("client 1"), date("client 2"));
        assert_ne!(date("1:54:48"), date("1:54:49"));
        assert_eq!(without_times(b"15:54"), b"15:54");
        assert_eq!(without_times(b""), b"");
    }
}
