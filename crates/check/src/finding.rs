//! A verdict in the making: what was found, and what was counted on the way.

use crate::error::CheckError;
use crate::estimate::Remaining;
use crate::failure_file::{Emission, FailureFile};
use crate::sample::Sample;
use crate::stats::{CacheStats, JointStats};
use everypath_native::{
    CompanionError, Environment, Error, ExitCodes, Explored, JointExplored, MAX_LOOKS, MAX_RELOCKS,
    ProgramError,
};
use everypath_trace::{Assumption, CheckConfig, Coverage, PeerAnswers, Trace, Verdict};
use std::collections::BTreeMap;

/// Why a check ends before its search does.
#[derive(Debug)]
pub(crate) enum Early {
    /// The configuration makes no sense.
    Error(CheckError),
    /// There is a verdict: the check is inconclusive.
    Found(Box<Found>),
}

impl Early {
    pub(crate) fn inconclusive(reason: impl Into<String>) -> Self {
        Early::Found(Box::new(Found::inconclusive(reason.into())))
    }
}

impl Early {
    /// Whether it ends because of a defect of the checker.
    pub(crate) fn is_internal(&self) -> bool {
        matches!(self, Early::Found(found) if found.internal_error)
    }
}

impl<E: Into<CheckError>> From<E> for Early {
    fn from(error: E) -> Self {
        Early::Error(error.into())
    }
}

/// A program that cannot be controlled is no mistake of the request.
pub(crate) fn refused(error: ProgramError) -> Early {
    match error.is_request() {
        true => Early::Error(CheckError::Program(error)),
        false => Early::inconclusive(error.to_string()),
    }
}

/// The same for a program that the report names already, because it is the only one.
pub(crate) fn only_program_refused(error: ProgramError) -> Early {
    match error.is_request() {
        true => refused(error),
        false => Early::inconclusive(error.reason()),
    }
}

/// The same for another program of a closed system.
pub(crate) fn companion_refused(error: CompanionError) -> Early {
    match error.is_request() {
        true => Early::Error(CheckError::Companion(error)),
        false => Early::inconclusive(error.to_string()),
    }
}

/// A search that could not be made.
pub(crate) fn failed(error: &Error) -> Early {
    Early::Found(Box::new(Found::failed(error)))
}

/// What was counted.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) executions: u64,
    pub(crate) redundant: u64,
    pub(crate) abandoned: u64,
    pub(crate) steps: u64,
    pub(crate) states: Option<u64>,
    pub(crate) cycles: u64,
    pub(crate) unexpected: u64,
    pub(crate) hits: u64,
    pub(crate) endings: Vec<(String, u64)>,
    pub(crate) exit_codes: BTreeMap<ExitCodes, u64>,
    pub(crate) sites: usize,
    pub(crate) sample: Option<Sample>,
    pub(crate) remaining: Option<Remaining>,
    /// How many preemptions executions could have, if that was bounded.
    pub(crate) preemptions: Option<u32>,
    pub(crate) seconds: f64,
    /// Whether executions ended only because nothing but time passed.
    pub(crate) quiet: bool,
    /// How often in a row a thread that spins may look in vain, if one does.
    pub(crate) looks: Option<u16>,
    /// How many random executions the search was compared with.
    pub(crate) cross_checked: u64,
    /// What was asked of peers; none if there was nobody to ask.
    pub(crate) cache: Option<CacheStats>,
    /// Functions whose memory accesses were not seen.
    pub(crate) unseen: Vec<String>,
    /// Functions of libc whose memory accesses nobody knows.
    pub(crate) unsummarised: Vec<String>,
    /// Whether nothing orders a call of libc or the kernel with an access of another thread.
    pub(crate) unordered_calls: bool,
    pub(crate) assumptions: Vec<Assumption>,
    /// What was strange, whatever the verdict.
    pub(crate) notices: Vec<String>,
    /// Pairs of accesses that nothing orders and that may be atomic, as places in the source.
    pub(crate) unsynchronised: Vec<[String; 2]>,
    /// Goals of the program that no execution has reached.
    pub(crate) never_reached: Vec<String>,
    /// What was explored of each program; none unless several were.
    pub(crate) joint: Option<JointStats>,
}

impl Counted {
    pub(crate) fn of(explored: &Explored, seconds: f64) -> Self {
        Counted {
            executions: explored.executions,
            redundant: explored.redundant,
            abandoned: explored.abandoned,
            steps: explored.steps,
            states: explored.states,
            cycles: explored.cycles,
            unexpected: explored.unexpected,
            endings: explored.endings.iter().map(|(name, count)| (name.clone(), *count)).collect(),
            exit_codes: explored.exit_codes.clone(),
            sites: explored.sites,
            sample: Sample::of(explored),
            remaining: Remaining::of(explored),
            seconds,
            quiet: explored.quiet,
            looks: explored.spins.then_some(MAX_LOOKS),
            cross_checked: explored.cross_checked,
            hits: explored.hits,
            unseen: explored.unseen.clone(),
            unsummarised: explored.unsummarised.clone(),
            unordered_calls: explored.armed.has_calls(),
            ..Counted::default()
        }
    }

    /// What was counted when programs were explored one by one.
    pub(crate) fn jointly(explored: &JointExplored, joint: JointStats, seconds: f64) -> Self {
        Counted {
            executions: explored.executions.iter().sum(),
            steps: explored.steps,
            unexpected: u64::from(explored.found.is_some()),
            exit_codes: explored.exit_codes.clone(),
            sites: explored.sites,
            looks: explored.spins.then_some(MAX_LOOKS),
            unseen: explored.unseen.clone(),
            unsummarised: explored.unsummarised.clone(),
            unordered_calls: explored.armed.has_calls(),
            unsynchronised: everypath_native::unsynchronised(&explored.armed),
            seconds,
            joint: Some(joint),
            ..Counted::default()
        }
    }

    /// Adds what the configuration asked for: bounds, and what was asked of peers.
    pub(crate) fn with_options(mut self, config: &CheckConfig, outside: &Environment) -> Self {
        self.preemptions = config.preemptions;
        let asked = outside.statistics();
        if asked.connections > 0 || !config.peer.is_empty() {
            self.cache = Some(CacheStats {
                hits: self.hits,
                misses: asked.misses,
                connections: asked.connections,
                peer_starts: asked.starts,
                replayed_bytes: asked.replayed,
            });
        }
        let peers = outside.assumptions().into_iter().map(|text| assumption("peers", text));
        self.assumptions = peers.collect();
        let is_prompt = asked.connections > 0 && config.peer_answers == PeerAnswers::Prompt;
        self.assumptions.extend(is_prompt.then(|| {
            let text = "peers answer as soon as the program has sent its request \
                        (--peer-answers prompt)";
            assumption("prompt-answers", text.into())
        }));
        self.assumptions.extend(config.tcp_faults.map(|faults| {
            let text = format!(
                "no more than {faults} goes wrong with connections to peers in one execution"
            );
            assumption("connection-faults", text)
        }));
        self.assumptions.extend(outside.relocks().then(relock_assumption));
        self.assumptions.extend(datagram_assumption(config));
        self.assumptions.extend(outside.gave_random_values().then(|| {
            let (seed, streams) = (config.seed(), config.random.unwrap_or(1));
            let text = match streams {
                1 => format!(
                    "random values are those of one stream, by seed {seed} (--random explores more)"
                ),
                _ => format!("random values are those of {streams} streams, by seed {seed}"),
            };
            assumption("random-values", text)
        }));
        self.assumptions.extend((config.spurious > 0).then(|| {
            let most = config.spurious;
            let text = format!(
                "condition variables have no more than {most} spurious wakeups in one execution"
            );
            assumption("spurious-wakeups", text)
        }));
        self
    }
}

/// Something that a verdict rests on.
pub(crate) fn assumption(id: &str, text: String) -> Assumption {
    Assumption { id: id.into(), text }
}

/// What a verdict rests on, if a thread locked one mutex again and again.
pub(crate) fn relock_assumption() -> Assumption {
    let text = format!(
        "a thread locks the same mutex at most {MAX_RELOCKS} times in a row before others move that can"
    );
    assumption("repeated-locks", text)
}

/// What a verdict rests on, if anything was said about datagrams.
pub(crate) fn datagram_assumption(config: &CheckConfig) -> Option<Assumption> {
    let options = config.udp_options();
    let text = || format!("datagrams fare no worse than {} allows", options.join(" "));
    (!options.is_empty()).then(|| assumption("datagrams", text()))
}

/// What a violation of programs rests on that were explored one by one.
#[derive(Clone, Debug)]
pub enum Confirmation {
    /// One execution of all of them shows it.
    Closed,
    /// None does, for this reason.
    Unconfirmed(String),
}

/// The verdict and what it rests on.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) verdict: Verdict,
    pub(crate) coverage: Coverage,
    pub(crate) reason: Option<String>,
    pub(crate) trace: Option<Trace>,
    /// What programs did with each other.
    pub(crate) messages: Vec<String>,
    /// Whether a violation of programs that were explored one by one was seen in all together.
    pub(crate) confirmation: Option<Confirmation>,
    /// The externally visible failures of a program.
    pub(crate) emission: Option<Emission>,
    /// The same with the program's histories, to be written down.
    pub(crate) failure_file: Option<FailureFile>,
    pub(crate) internal_error: bool,
    /// Whether a violation was found, and it was stopped before that was repeated.
    pub(crate) is_unconfirmed: bool,
    pub(crate) verified: Option<u64>,
    /// How many executions were repeated with fresh peers, if not all of them were.
    pub(crate) with_fresh_peers: Option<u64>,
    /// In how many random executions answers of peers came in parts, if that makes a difference.
    pub(crate) in_parts: Option<u64>,
    /// Whether these said something else by chance or time, with which the program did the same.
    pub(crate) chance_in_answers: bool,
    /// What did not happen in a program that violates nothing, a sentence each.
    pub(crate) did_not_happen: Vec<String>,
    /// Faults that were allowed and that no execution had, a sentence each, if that is known.
    pub(crate) never_exercised: Option<Vec<String>>,
    /// Why a counterexample was not minimised and explained to the end, if it was not.
    pub(crate) cut_short: Option<String>,
    /// Passing executions, if they were asked for.
    pub(crate) samples: Vec<Trace>,
    pub(crate) counted: Counted,
    /// What shows that answers of peers depend on more than their own connection, if anything does.
    pub(crate) doubted: Option<String>,
}

impl Found {
    /// There is no verdict, since answers of peers depend on more than their own connection.
    pub(crate) fn of_doubtful_cache(why: String) -> Self {
        let reason = format!(
            "{why}: what a peer answers depends on its other connections, on time or on chance. Try \
             --cache none, which starts peers anew for every execution"
        );
        Found { doubted: Some(why), ..Found::inconclusive(reason) }
    }

    pub(crate) fn holds(coverage: Coverage) -> Self {
        Found {
            verdict: Verdict::Holds,
            coverage,
            reason: None,
            trace: None,
            messages: Vec::new(),
            confirmation: None,
            emission: None,
            failure_file: None,
            internal_error: false,
            is_unconfirmed: false,
            verified: None,
            with_fresh_peers: None,
            in_parts: None,
            chance_in_answers: false,
            did_not_happen: Vec::new(),
            never_exercised: None,
            cut_short: None,
            samples: Vec::new(),
            counted: Counted::default(),
            doubted: None,
        }
    }

    pub(crate) fn inconclusive(reason: String) -> Self {
        Found {
            verdict: Verdict::Inconclusive,
            reason: Some(reason),
            ..Found::holds(Coverage::Partial)
        }
    }

    /// What is known if it was stopped, for this reason, in the middle of confirming, minimising or
    /// explaining.
    pub(crate) fn cut_short(self, why: &str) -> Self {
        match (self.verdict, &self.trace) {
            _ if self.internal_error => self,
            (_, Some(_)) => Found { cut_short: Some(why.into()), ..self },
            (Verdict::Inconclusive, None) if self.is_unconfirmed => Found::inconclusive(format!(
                "{why}; a violation was found, but not repeated in time"
            )),
            (_, None) => Found::inconclusive(why.into()),
        }
    }

    /// A violation that could not be repeated, because that was stopped.
    pub(crate) fn unconfirmed() -> Self {
        let reason = "it was stopped; a violation was found, but not repeated";
        Found { is_unconfirmed: true, ..Found::inconclusive(reason.into()) }
    }

    pub(crate) fn violated(trace: Trace) -> Self {
        Found { verdict: Verdict::Violated, trace: Some(trace), ..Found::holds(Coverage::Partial) }
    }

    /// An internal error with a counterexample that the search should have found.
    pub(crate) fn contradicted(reason: String, trace: Trace) -> Self {
        Found { trace: Some(trace), internal_error: true, ..Found::inconclusive(reason) }
    }

    pub(crate) fn failed(error: &Error) -> Self {
        let internal_error = matches!(error, Error::Defect(_));
        let mut reason = error.to_string();
        if error.may_be_the_machine() {
            reason += "; everypath doctor says whether this machine is at fault";
        }
        Found { internal_error, ..Found::inconclusive(reason) }
    }

    /// What the sample says of other executions. After a violation it says nothing: how many were
    /// run besides depends on the number of workers.
    pub(crate) fn sample(&self) -> Option<&Sample> {
        self.counted.sample.as_ref().filter(|_| self.verdict == Verdict::Holds)
    }

    /// What was strange. How many executions were sampled besides a violation depends on the number
    /// of workers.
    pub(crate) fn notices(&self) -> &[String] {
        let is_sample = self.counted.sample.is_some();
        if is_sample && self.verdict != Verdict::Holds { &[] } else { &self.counted.notices }
    }

    /// The goals that no execution has reached, unless a violation ended the search.
    pub(crate) fn never_reached(&self) -> &[String] {
        if self.trace.is_some() { &[] } else { &self.counted.never_reached }
    }

    /// What is left of a search that was to explore everything and did not come to its end.
    pub(crate) fn remaining(&self) -> Option<&Remaining> {
        self.counted.remaining.as_ref().filter(|_| self.verdict == Verdict::Inconclusive)
    }
}
