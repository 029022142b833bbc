//! Failing schedules become simple, and still fail.

use everypath_dependence::Choice;
use everypath_schedules::minimise::{Cost, Failing, Trials, minimise};
use proptest::prelude::*;

/// Actors that each add one to a counter some times, by reading it and then writing what they read
/// plus one: the execution fails if an addition is lost.
struct LostUpdates {
    threads: u16,
    additions: usize,
    attempts: u64,
}

impl LostUpdates {
    /// Executes choices as far as they can be, and then lets the thread that runs go on.
    fn execute(&self, proposal: &[Choice]) -> (Failing, bool) {
        let mut left = vec![2 * self.additions; usize::from(self.threads)];
        let mut seen = vec![0; usize::from(self.threads)];
        let mut counter = 0;
        let mut schedule: Vec<Choice> = Vec::new();
        let mut preempts = Vec::new();
        let mut proposal = proposal.iter().copied();
        loop {
            let can_run = |thread: u16| left.get(usize::from(thread)).is_some_and(|&left| left > 0);
            let last =
                schedule.last().map(|choice| choice.thread).filter(|&thread| can_run(thread));
            let proposed =
                proposal.by_ref().map(|choice| choice.thread).find(|&thread| can_run(thread));
            let usual = || last.or_else(|| (0..self.threads).find(|&thread| can_run(thread)));
            let Some(thread) = proposed.or_else(usual) else { break };
            preempts.push(last.is_some_and(|last| last != thread));
            schedule.push(Choice { thread, outcome: 0 });
            let thread = usize::from(thread);
            if left[thread].is_multiple_of(2) {
                seen[thread] = counter;
            } else {
                counter = seen[thread] + 1;
            }
            left[thread] -= 1;
        }
        let cost = Cost::of(&schedule, &preempts);
        let fails = counter != usize::from(self.threads) * self.additions;
        (Failing { schedule, cost }, fails)
    }
}

impl Trials for LostUpdates {
    type Error = ();

    fn attempt(&mut self, proposal: &[Choice]) -> Result<Option<Failing>, ()> {
        self.attempts += 1;
        let (executed, fails) = self.execute(proposal);
        Ok(fails.then_some(executed))
    }
}

proptest! {
    #[test]
    fn one_preemption_is_enough_to_lose_an_update(
        threads in 2u16..6,
        additions in 1usize..20,
        order in proptest::collection::vec(any::<u16>(), 0..300),
    ) {
        let mut trials = LostUpdates { threads, additions, attempts: 0 };
        let proposal: Vec<Choice> =
            order.iter().map(|at| Choice { thread: at % threads, outcome: 0 }).collect();
        let (found, fails) = trials.execute(&proposal);
        prop_assume!(fails);
        let shrunk = minimise(&mut trials, found.clone(), 100_000).unwrap();
        // What is returned is what would be executed.
        prop_assert_eq!(trials.execute(&shrunk.schedule), (shrunk.clone(), true));
        prop_assert_eq!(shrunk.cost.preemptions, 1);
        // The one that is interrupted, the other threads, and the first one again.
        prop_assert!(shrunk.cost.switches <= usize::from(threads));
        let mut again = LostUpdates { threads, additions, attempts: 0 };
        prop_assert_eq!(minimise(&mut again, found, 100_000).unwrap(), shrunk);
    }

    #[test]
    fn there_are_no_more_attempts_than_allowed(
        order in proptest::collection::vec(any::<u16>(), 40..300),
        most in 0u64..50,
    ) {
        let mut trials = LostUpdates { threads: 3, additions: 20, attempts: 0 };
        let proposal: Vec<Choice> =
            order.iter().map(|at| Choice { thread: at % 3, outcome: 0 }).collect();
        let (found, fails) = trials.execute(&proposal);
        prop_assume!(fails);
        let shrunk = minimise(&mut trials, found.clone(), most).unwrap();
        prop_assert!(trials.attempts <= most);
        prop_assert!(shrunk.cost.preemptions <= found.cost.preemptions);
    }
}
