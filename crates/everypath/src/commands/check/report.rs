//! What `everypath check` says in the end.

use super::emission::Emission;
use super::estimate::Remaining;
use super::failure_file::Told;
use super::sample::Sample;
use crate::cli::CheckArgs;
use crate::commands::replay_command;
use crate::result::{JsonCoverage, JsonViolation};
use crate::watch::peak_memory;
use everypath_native::{Environment, Error, ExitCodes, Explored, JointExplored};
use everypath_report::{grouped, native};
use everypath_trace::{Coverage, Explanation, Trace, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How many steps are printed; `everypath show` prints all.
const SHOWN: usize = 30;

/// What a verdict takes for granted.
const ASSUMPTION: &str = "Assumes that threads share data only by locks, system calls and atomic \
                          read-modify-writes: plain loads and stores are not seen.";

/// What was counted.
#[derive(Debug, Default)]
pub(super) struct Counted {
    executions: u64,
    redundant: u64,
    abandoned: u64,
    steps: u64,
    states: Option<u64>,
    cycles: u64,
    unexpected: u64,
    hits: u64,
    endings: Vec<(String, u64)>,
    exit_codes: BTreeMap<ExitCodes, u64>,
    sites: usize,
    sample: Option<Sample>,
    remaining: Option<Remaining>,
    /// How many preemptions executions could have, if that was bounded.
    preemptions: Option<u32>,
    seconds: f64,
    /// What was asked of peers; none if there was nobody to ask.
    cache: Option<JsonCache>,
    pub(super) assumptions: Vec<String>,
    /// What was strange, whatever the verdict.
    pub(super) notices: Vec<String>,
    /// What was explored of each program; none unless several were.
    joint: Option<JsonJoint>,
}

/// What a violation of programs rests on that were explored on their own.
#[derive(Clone, Debug)]
pub(super) enum Confirmation {
    /// One execution of all of them shows it.
    Closed,
    /// None does, for this reason.
    Unconfirmed(String),
}

impl Confirmation {
    fn text(&self) -> String {
        match self {
            Confirmation::Closed => {
                "Confirmed: the execution above is one of all programs together.\n\n".into()
            }
            Confirmation::Unconfirmed(reason) => {
                format!("Unconfirmed by an execution of all programs together: {reason}.\n\n")
            }
        }
    }
}

/// What was explored of programs that were explored on their own.
#[derive(Clone, Debug, Serialize)]
pub(super) struct JsonJoint {
    /// How often programs were explored before nothing new could happen.
    pub(super) rounds: u32,
    /// How many combinations of histories were held against each other.
    pub(super) combinations: u64,
    pub(super) programs: Vec<JsonProgram>,
}

/// What was explored of one program.
#[derive(Clone, Debug, Serialize)]
pub(super) struct JsonProgram {
    pub(super) name: String,
    /// Over all rounds.
    pub(super) executions: u64,
    /// In the last round.
    pub(super) last_executions: u64,
    /// What these showed to the other programs: different histories.
    pub(super) histories: u64,
}

/// What was asked of peers.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct JsonCache {
    /// Messages whose answer was known.
    hits: u64,
    /// Bytes that were read from a peer.
    misses: u64,
    /// Connections that were opened, or clients started.
    connections: u64,
    peer_starts: u64,
    /// Bytes that were sent again, to come back to where the program stood.
    replayed_bytes: u64,
}

impl Counted {
    /// Adds what the options asked for: bounds, and what was asked of peers.
    pub(super) fn with_options(mut self, args: &CheckArgs, outside: &Environment) -> Self {
        self.preemptions = args.preemptions;
        let asked = outside.statistics();
        if asked.connections > 0 || !args.network.peer.is_empty() {
            self.cache = Some(JsonCache {
                hits: self.hits,
                misses: asked.misses,
                connections: asked.connections,
                peer_starts: asked.starts,
                replayed_bytes: asked.replayed,
            });
        }
        self.assumptions = outside.assumptions();
        self.assumptions.extend(args.network.budget().map(|budget| {
            format!("no more than {budget} goes wrong with connections to peers in one execution")
        }));
        self.assumptions.extend(args.network.datagrams.assumption());
        self
    }

    /// What was counted when programs were explored on their own.
    pub(super) fn jointly(explored: &JointExplored, joint: JsonJoint, seconds: f64) -> Self {
        Counted {
            executions: explored.executions.iter().sum(),
            steps: explored.steps,
            unexpected: u64::from(explored.found.is_some()),
            exit_codes: explored.exit_codes.clone(),
            sites: explored.sites,
            seconds,
            joint: Some(joint),
            ..Counted::default()
        }
    }

    pub(super) fn of(sampled: &Explored, seconds: f64) -> Self {
        Counted {
            executions: sampled.executions,
            redundant: sampled.redundant,
            abandoned: sampled.abandoned,
            steps: sampled.steps,
            states: sampled.states,
            cycles: sampled.cycles,
            unexpected: sampled.unexpected,
            endings: sampled.endings.iter().map(|(name, count)| (name.clone(), *count)).collect(),
            exit_codes: sampled.exit_codes.clone(),
            sites: sampled.sites,
            sample: Sample::of(sampled),
            remaining: Remaining::of(sampled),
            seconds,
            hits: sampled.hits,
            ..Counted::default()
        }
    }
}

/// The verdict and what it rests on.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) verdict: Verdict,
    pub(super) coverage: Coverage,
    pub(super) reason: Option<String>,
    pub(super) trace: Option<Trace>,
    /// What programs did with each other.
    pub(super) messages: Vec<String>,
    /// Whether a violation of programs that were explored on their own was seen in all together.
    pub(super) confirmation: Option<Confirmation>,
    /// What a program shows to others that is not right.
    pub(super) emission: Option<Emission>,
    pub(super) defect: bool,
    pub(super) verified: Option<u64>,
    pub(super) counted: Counted,
    pub(super) trace_path: String,
}

impl Found {
    pub(super) fn holds(coverage: Coverage) -> Self {
        Found {
            verdict: Verdict::Holds,
            coverage,
            reason: None,
            trace: None,
            messages: Vec::new(),
            confirmation: None,
            emission: None,
            defect: false,
            verified: None,
            counted: Counted::default(),
            trace_path: String::new(),
        }
    }

    pub(super) fn inconclusive(reason: String) -> Self {
        Found {
            verdict: Verdict::Inconclusive,
            reason: Some(reason),
            ..Found::holds(Coverage::Sampled)
        }
    }

    pub(super) fn violated(trace: Trace) -> Self {
        Found { verdict: Verdict::Violated, trace: Some(trace), ..Found::holds(Coverage::Sampled) }
    }

    /// What the sample says of other executions. After a violation it says nothing: how many were
    /// run besides depends on the number of workers.
    fn sample(&self) -> Option<&Sample> {
        self.counted.sample.as_ref().filter(|_| self.verdict == Verdict::Holds)
    }

    /// What was strange. How many executions were sampled besides a violation depends on the number
    /// of workers.
    fn notices(&self) -> &[String] {
        let is_sample = self.counted.sample.is_some();
        if is_sample && self.verdict != Verdict::Holds { &[] } else { &self.counted.notices }
    }

    /// What is left of a search that was to explore everything and did not come to its end.
    fn remaining(&self) -> Option<&Remaining> {
        self.counted.remaining.as_ref().filter(|_| self.verdict == Verdict::Inconclusive)
    }

    pub(super) fn failed(error: &Error) -> Self {
        let defect = matches!(error, Error::Defect(_));
        let mut reason = error.to_string();
        if error.may_be_the_machine() {
            reason += "; everypath doctor says whether this machine is at fault";
        }
        Found { defect, ..Found::inconclusive(reason) }
    }
}

/// One object, as the command-line contract fixes it.
#[derive(Debug, Serialize)]
pub(super) struct JsonCheck {
    tool: &'static str,
    version: &'static str,
    command: &'static str,
    target: String,
    verdict: String,
    coverage: JsonCheckCoverage,
    assumption: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    assumptions_about_peers: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notices: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    violation: Option<JsonCounterexample>,
    violations: u64,
    /// What the program shows to others that is not right, or what becomes of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    failures: Option<Vec<Told>>,
    stats: JsonCheckStats,
}

/// What the verdict speaks of.
#[derive(Debug, Serialize)]
struct JsonCheckCoverage {
    #[serde(flatten)]
    coverage: JsonCoverage,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<Sample>,
    #[serde(flatten)]
    remaining: Option<Remaining>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preemptions: Option<u32>,
}

/// The counterexample.
#[derive(Debug, Default, Serialize)]
struct JsonCounterexample {
    #[serde(flatten)]
    violation: JsonViolation,
    switches: usize,
    preemptions: usize,
    #[serde(flatten)]
    explanation: Option<Explanation>,
    /// What programs did with each other, in an order in which it can happen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<String>,
    /// Whether one execution of all programs shows it, and why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unconfirmed: Option<String>,
}

/// What was counted.
#[derive(Debug, Serialize)]
struct JsonCheckStats {
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u64>,
    executions: u64,
    redundant_executions: u64,
    abandoned_executions: u64,
    events: u64,
    transitions: u64,
    seconds: f64,
    peak_rss_bytes: Option<u64>,
    atomic_sites: usize,
    endings: Vec<JsonEnding>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    exit_codes: Vec<JsonExitCodes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache: Option<JsonCache>,
    #[serde(skip_serializing_if = "Option::is_none")]
    joint: Option<JsonJoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified_executions: Option<u64>,
}

/// How often executions ended in one way.
#[derive(Debug, Serialize)]
struct JsonEnding {
    ending: String,
    executions: u64,
}

/// How often several programs exited with these codes; none of one that did not.
#[derive(Debug, Serialize)]
struct JsonExitCodes {
    codes: ExitCodes,
    executions: u64,
}

/// The verdict in both forms.
pub(super) struct Report {
    pub(super) json: JsonCheck,
    pub(super) text: String,
}

impl Report {
    pub(super) fn new(target: String, found: &Found, trace_path: &str) -> Self {
        let text = text(&target, found, trace_path);
        let counted = &found.counted;
        let endings = counted.endings.iter();
        let json = JsonCheck {
            tool: "everypath",
            version: env!("CARGO_PKG_VERSION"),
            command: "check",
            target,
            verdict: found.verdict.to_string(),
            coverage: JsonCheckCoverage {
                coverage: JsonCoverage::new(found.coverage),
                sample: found.sample().cloned(),
                remaining: found.remaining().cloned(),
                preemptions: counted.preemptions,
            },
            assumption: ASSUMPTION,
            assumptions_about_peers: counted.assumptions.clone(),
            notices: found.notices().to_vec(),
            reason: found.reason.clone(),
            violation: JsonCounterexample::of(found, trace_path),
            failures: found.emission.as_ref().map(|emission| emission.failures.clone()),
            violations: match (&found.trace, &found.emission) {
                (Some(_), _) => counted.unexpected,
                (None, Some(emission)) if !emission.is_judged => emission.failures.len() as u64,
                (None, _) => 0,
            },
            stats: JsonCheckStats {
                states: counted.states,
                cycles: counted.states.map(|_| counted.cycles),
                executions: counted.executions,
                redundant_executions: counted.redundant,
                abandoned_executions: counted.abandoned,
                events: counted.steps,
                transitions: counted.steps,
                seconds: counted.seconds,
                peak_rss_bytes: peak_memory(),
                atomic_sites: counted.sites,
                endings: endings
                    .map(|(ending, executions)| JsonEnding {
                        ending: ending.clone(),
                        executions: *executions,
                    })
                    .collect(),
                exit_codes: counted
                    .exit_codes
                    .iter()
                    .map(|(codes, executions)| JsonExitCodes {
                        codes: codes.clone(),
                        executions: *executions,
                    })
                    .collect(),
                cache: counted.cache,
                joint: counted.joint.clone(),
                verified_executions: found.verified,
            },
        };
        Report { json, text }
    }
}

impl JsonCounterexample {
    fn of(found: &Found, trace_path: &str) -> Option<Self> {
        let Some(trace) = &found.trace else {
            let headline =
                found.emission.as_ref().filter(|_| found.verdict == Verdict::Violated)?;
            let message = headline.headline(found.coverage);
            let violation = JsonViolation {
                property: "emission".into(),
                message: message.trim_end().trim_start_matches("VIOLATED: ").into(),
                depth: 0,
                trace: String::new(),
            };
            return Some(JsonCounterexample { violation, ..JsonCounterexample::default() });
        };
        Some(JsonCounterexample {
            violation: JsonViolation {
                property: trace.violation.property.clone(),
                message: trace.violation.message.clone(),
                depth: trace.steps.len(),
                trace: trace_path.into(),
            },
            switches: trace.switches(),
            preemptions: trace.preemptions(),
            explanation: trace.explanation.clone(),
            messages: found.messages.clone(),
            confirmed: found
                .confirmation
                .as_ref()
                .map(|known| matches!(known, Confirmation::Closed)),
            unconfirmed: match &found.confirmation {
                Some(Confirmation::Unconfirmed(reason)) => Some(reason.clone()),
                _ => None,
            },
        })
    }
}

/// The verdict, and what shows it.
fn beginning(target: &str, found: &Found, trace_path: &str) -> String {
    let counted = &found.counted;
    match (&found.trace, &found.reason) {
        (Some(trace), _) => native::text(trace, &replay_command(), trace_path, SHOWN) + "\n",
        (None, Some(reason)) => format!("INCONCLUSIVE: {target}: {reason}\n"),
        (None, None) if let Some(emission) = found.emission.as_ref().filter(|e| !e.is_judged) => {
            emission.headline(found.coverage)
        }
        (None, None) => format!(
            "HOLDS ({}): {target} ends as expected in {}\n",
            found.coverage.kind(),
            match found.coverage {
                Coverage::Exhaustive if counted.cycles > 0 => "every schedule that ends".into(),
                Coverage::Exhaustive => "every schedule".into(),
                Coverage::Bounded { depth } => {
                    format!("every schedule with at most {depth} events of each program")
                }
                _ => match counted.preemptions {
                    Some(most) => {
                        format!("all schedules with at most {}", several(most.into(), "preemption"))
                    }
                    None => format!("all {} sampled schedules", grouped(counted.executions)),
                },
            }
        ),
    }
}

fn text(target: &str, found: &Found, trace_path: &str) -> String {
    let counted = &found.counted;
    let mut text = beginning(target, found, trace_path);
    said_to_each_other(&mut text, &found.messages);
    text += &found.emission.as_ref().map(Emission::table).unwrap_or_default();
    text += &found.confirmation.as_ref().map(Confirmation::text).unwrap_or_default();
    if counted.executions > 0 {
        if let Some(states) = counted.states {
            let _ = write!(text, "{} states, ", grouped(states));
        }
        text.push_str(&several(counted.executions, "execution"));
        let unexpected = if counted.unexpected > 1 { counted.unexpected } else { 0 };
        for (count, what) in [
            (counted.redundant, "of them redundant"),
            (counted.abandoned, "abandoned by assumptions"),
            (unexpected, "executions not as expected"),
        ] {
            if count > 0 {
                let _ = write!(text, ", {} {what}", grouped(count));
            }
        }
        text.push('\n');
    }
    if let Some(joint) = &counted.joint {
        explored_jointly(&mut text, joint);
    }
    if let Some(cache) = &counted.cache {
        let _ = writeln!(
            text,
            "{} to peers, {} from them; {} answered from the cache",
            several(cache.connections, "connection"),
            several(cache.misses, "byte"),
            several(cache.hits, "message")
        );
    }
    text += &found.sample().map(Sample::text).unwrap_or_default();
    text += &found.remaining().map(Remaining::text).unwrap_or_default();
    text += &noticed(found.notices());
    if found.verdict == Verdict::Holds {
        text.push_str(ASSUMPTION);
        text.push('\n');
        for assumption in &counted.assumptions {
            let _ = writeln!(text, "Assumes that {assumption}.");
        }
    }
    if let Some(verified) = found.verified {
        let _ = writeln!(
            text,
            "Verified: {} of them repeated identically by fork, by tracking and on kernel threads",
            grouped(verified)
        );
    }
    text
}

/// What was strange.
fn noticed(notices: &[String]) -> String {
    notices.iter().map(|notice| format!("Note that {notice}, in some executions.\n")).collect()
}

/// What programs did with each other.
fn said_to_each_other(text: &mut String, messages: &[String]) {
    if messages.is_empty() {
        return;
    }
    text.push_str("What the programs did with each other, in an order in which it happens:\n");
    for (number, message) in messages.iter().enumerate() {
        let _ = writeln!(text, "  {:2}  {message}", number + 1);
    }
    text.push('\n');
}

/// What was explored of each program.
fn explored_jointly(text: &mut String, joint: &JsonJoint) {
    let _ = writeln!(text, "{}; in the last one:", several(joint.rounds.into(), "round"));
    for JsonProgram { name, last_executions, histories, .. } in &joint.programs {
        let executions = several(*last_executions, "execution");
        let histories = match histories {
            1 => "1 history".into(),
            more => format!("{} histories", grouped(*more)),
        };
        let _ = writeln!(text, "  {name}: {executions}, {histories}");
    }
}

/// So many of something.
pub(super) fn several(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}
