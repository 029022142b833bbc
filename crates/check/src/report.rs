//! What a check says in the end.

use crate::assumptions::of_verdict;
use crate::emission::Emission;
use crate::estimate::Remaining;
use crate::failure_file::FailureFile;
use crate::finding::{Confirmation, Counted, Found};
use crate::launch;
use crate::refinement::Refinement;
use crate::sample::Sample;
use crate::suggestions::suggestions;
use everypath_machine::peak_memory;
use everypath_native::ExitCodes;
use everypath_trace::{Assumption, CheckConfig, Coverage, Explanation, Progress, Trace, Verdict};
use serde::Serialize;

/// The memory model of all executions.
const MEMORY_MODEL: &str = "sequential consistency";

/// The result of a check. Serialised, it is the JSON result of the command line.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The programs with their arguments.
    pub target: String,
    /// The answer.
    pub verdict: Verdict,
    /// How much was explored.
    pub coverage: CoverageReport,
    /// What the verdict takes for granted besides the memory model; each text continues "assumes that".
    pub assumptions: Vec<Assumption>,
    /// Data races, and accesses that may be ones, each of which was explored.
    pub findings: Vec<Finding>,
    /// What did not happen in a program that violates nothing, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub did_not_happen: Vec<String>,
    /// What was compared with the model that the program shall refine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refines: Option<Refinement>,
    /// What the program says to happen sometimes (`sometimes`, `reachable`) and no execution did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub never_reached: Vec<String>,
    /// Passing executions that differ most, if they were asked for: where their traces are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sample_traces: Vec<SampleTrace>,
    /// Faults that were allowed and that executions drawn at random did not have, a sentence each; if
    /// passing executions were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub never_exercised: Vec<String>,
    /// What was strange, whatever the verdict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// Why there is no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was violated.
    pub violation: Option<Counterexample>,
    /// Why the counterexample was not minimised and explained to the end, if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<String>,
    /// How many executions violate something.
    pub violations: u64,
    /// The externally visible failures of a program, or what becomes of them.
    #[serde(flatten)]
    pub emission: Option<Emission>,
    /// Which options would help, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// What was counted.
    pub stats: Stats,
    /// The counterexample.
    #[serde(skip)]
    pub trace: Option<Trace>,
    /// The traces of [`Report::sample_traces`], in the same order.
    #[serde(skip)]
    pub samples: Vec<Trace>,
    /// What `--emit` asked for.
    #[serde(skip)]
    pub failure_file: Option<FailureFile>,
    /// Whether there is no verdict because of a defect of the checker.
    #[serde(skip)]
    pub internal_error: bool,
}

/// A passing execution.
#[derive(Debug, Default, Serialize)]
pub struct SampleTrace {
    /// The file that the trace was written to; empty if it was not.
    pub file: String,
    /// How many steps it has.
    pub steps: usize,
    /// Context switches.
    pub switches: usize,
    /// Preemptions among them.
    pub preemptions: usize,
}

impl SampleTrace {
    fn of(trace: &Trace) -> Self {
        SampleTrace {
            file: String::new(),
            steps: trace.steps.len(),
            switches: trace.switches(),
            preemptions: trace.preemptions(),
        }
    }
}

/// Something that was found, whatever the verdict.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// A sentence.
    pub text: String,
    /// Where the accesses are in the source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accesses: Vec<String>,
}

/// What a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Two accesses race, one of which is certainly not atomic: a violation.
    DataRace,
    /// Nothing orders two accesses; whether they are atomic is not known.
    Note,
}

/// The findings: the violation, if it is a data race, and pairs of accesses.
fn findings(found: &Found) -> Vec<Finding> {
    let violation = found.trace.iter().map(|trace| &trace.violation);
    let races = violation.filter(|violation| violation.property == "data race");
    let races = races.map(|violation| Finding {
        kind: FindingKind::DataRace,
        text: violation.message.clone(),
        accesses: Vec::new(),
    });
    let notes = found.counted.unsynchronised.iter().map(|[one, other]| Finding {
        kind: FindingKind::Note,
        text: match one == other {
            true => format!("{one} accesses memory that another thread accesses there, too"),
            false => format!("{one} and {other} access the same memory"),
        } + ", and nothing orders them; if they are not atomic, that is a data race",
        accesses: vec![one.clone(), other.clone()],
    });
    races.chain(notes).collect()
}

/// How much of the program's behaviour the verdict is about.
#[derive(Debug, Serialize)]
pub struct CoverageReport {
    /// The coverage.
    #[serde(rename = "kind", serialize_with = "kind")]
    pub coverage: Coverage,
    /// What a sample says of executions that are not in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// What is left of a search that did not come to its end.
    #[serde(flatten)]
    pub remaining: Option<Remaining>,
    /// The memory model under which executions were explored.
    pub memory_model: &'static str,
    /// How many preemptions executions could have, if that was bounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemptions: Option<u32>,
    /// How often in a row a thread may look in vain before others move, if one spins.
    #[serde(rename = "looks_in_vain", skip_serializing_if = "Option::is_none")]
    pub looks: Option<u16>,
    /// How many spins of an execution may give up before others move, if one spins and that is
    /// bounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spins: Option<u16>,
    /// Functions that could not be copied, so that nobody sees what memory they access.
    #[serde(rename = "unseen_code", skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn kind<S: serde::Serializer>(coverage: &Coverage, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(coverage.kind())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What was violated.
#[derive(Debug, Default, Serialize)]
pub struct Counterexample {
    /// The property.
    pub property: String,
    /// Why the execution violates it.
    pub message: String,
    /// How many steps it has.
    pub depth: usize,
    /// The file that the trace was written to; empty if it was not.
    pub trace: String,
    /// Context switches.
    pub switches: usize,
    /// Preemptions among them.
    pub preemptions: usize,
    /// The critical step.
    #[serde(flatten)]
    pub explanation: Option<Explanation>,
    /// What programs did with each other, in an order in which it can happen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// Whether one execution of all programs shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<bool>,
    /// Why none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unconfirmed: Option<String>,
}

/// What was counted.
#[derive(Debug, Serialize)]
pub struct Stats {
    /// States, if they were told apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub states: Option<u64>,
    /// How often an execution came back to a state of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// Executions.
    pub executions: u64,
    /// Those that only repeated what others had done.
    pub redundant_executions: u64,
    /// Those that were abandoned because an assumption was not met.
    pub abandoned_executions: u64,
    /// Those that did not end as expected, confirmed or not.
    #[serde(skip)]
    pub unexpected_executions: u64,
    /// Steps of all executions.
    pub events: u64,
    /// The same.
    pub transitions: u64,
    /// Random executions that a search which found nothing was compared with.
    #[serde(skip_serializing_if = "is_zero")]
    pub cross_checked_executions: u64,
    /// How long the search took.
    pub seconds: f64,
    /// The most memory that was used.
    pub peak_rss_bytes: Option<u64>,
    /// Atomic instructions that were patched.
    pub atomic_sites: usize,
    /// In which ways executions ended that were not as expected.
    pub endings: Vec<EndingCount>,
    /// With which codes the programs of a closed system exited.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exit_codes: Vec<ExitCodesCount>,
    /// What was asked of peers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheStats>,
    /// What was explored of each program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint: Option<JointStats>,
    /// Executions that were the same under every backend and restore method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified_executions: Option<u64>,
}

/// How often executions ended in one way.
#[derive(Debug, Serialize)]
pub struct EndingCount {
    /// The way.
    pub ending: String,
    /// How often.
    pub executions: u64,
}

/// How often several programs exited with these codes; none of one that did not.
#[derive(Debug, Serialize)]
pub struct ExitCodesCount {
    /// The codes.
    pub codes: ExitCodes,
    /// How often.
    pub executions: u64,
}

/// What was asked of peers.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CacheStats {
    /// Messages whose answer was known.
    pub hits: u64,
    /// Bytes that were read from a peer.
    pub misses: u64,
    /// Connections that were opened, or clients started.
    pub connections: u64,
    /// How often a peer was started.
    pub peer_starts: u64,
    /// Bytes that were sent again, to come back to where the program stood.
    pub replayed_bytes: u64,
}

/// What was explored of programs that were explored one by one.
#[derive(Clone, Debug, Serialize)]
pub struct JointStats {
    /// How often programs were explored before nothing new could happen.
    pub rounds: u32,
    /// How many combinations of histories were compared.
    pub combinations: u64,
    /// Each program.
    pub programs: Vec<ProgramStats>,
}

/// What was explored of one program.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramStats {
    /// Its name.
    pub name: String,
    /// Executions over all rounds.
    pub executions: u64,
    /// Executions in the last round.
    pub last_executions: u64,
    /// What these showed to the other programs: different histories.
    pub histories: u64,
}

impl Report {
    pub(crate) fn new(config: &CheckConfig, found: Found) -> Self {
        Report {
            target: config.target(),
            verdict: found.verdict,
            coverage: CoverageReport {
                coverage: found.coverage,
                sample: found.sample().cloned(),
                remaining: found.remaining().cloned(),
                memory_model: MEMORY_MODEL,
                preemptions: found.counted.preemptions,
                looks: found.counted.looks,
                spins: found.counted.looks.and(launch::spins(config)),
                unseen: found.counted.unseen.clone(),
            },
            assumptions: of_verdict(config, &found.counted),
            findings: findings(&found),
            never_reached: found.never_reached().to_vec(),
            sample_traces: found.samples.traces.iter().map(SampleTrace::of).collect(),
            notices: found.notices().to_vec(),
            violation: Counterexample::of(&found),
            violations: match (&found.trace, &found.emission) {
                (Some(_), _) => found.counted.unexpected,
                (None, Some(emission)) if !emission.is_judged => emission.failures.len() as u64,
                (None, _) => 0,
            },
            suggestions: suggestions(config, &found),
            stats: Stats::of(&found),
            never_exercised: found.samples.unexercised,
            samples: found.samples.traces,
            cut_short: found.cut_short,
            did_not_happen: found.did_not_happen,
            refines: None,
            reason: found.reason,
            emission: found.emission,
            trace: found.trace,
            failure_file: found.failure_file,
            internal_error: found.internal_error,
        }
    }
}

impl Report {
    /// Of a check that did not react when it was stopped, for this reason: what is known of it.
    pub fn stopped(config: &CheckConfig, why: String, progress: Progress) -> Self {
        let counted = Counted {
            executions: progress.executions,
            steps: progress.events,
            ..Counted::default()
        };
        Report::new(config, Found { counted, ..Found::inconclusive(why) })
    }
}

impl Counterexample {
    fn of(found: &Found) -> Option<Self> {
        let Some(trace) = &found.trace else {
            let emission =
                found.emission.as_ref().filter(|_| found.verdict == Verdict::Violated)?;
            let message = emission.headline(found.coverage);
            return Some(Counterexample {
                property: "emission".into(),
                message: message.trim_start_matches("VIOLATED: ").into(),
                ..Counterexample::default()
            });
        };
        let confirmation = found.confirmation.as_ref();
        Some(Counterexample {
            property: trace.violation.property.clone(),
            message: trace.violation.message.clone(),
            depth: trace.steps.len(),
            trace: String::new(),
            switches: trace.switches(),
            preemptions: trace.preemptions(),
            explanation: trace.explanation.clone(),
            messages: found.messages.clone(),
            confirmed: confirmation.map(|known| matches!(known, Confirmation::Closed)),
            unconfirmed: match confirmation {
                Some(Confirmation::Unconfirmed(reason)) => Some(reason.clone()),
                _ => None,
            },
        })
    }
}

impl Stats {
    fn of(found: &Found) -> Self {
        let counted = &found.counted;
        let endings = counted.endings.iter().cloned();
        let exit_codes = counted.exit_codes.clone().into_iter();
        Stats {
            states: counted.states,
            cycles: counted.states.map(|_| counted.cycles),
            executions: counted.executions,
            redundant_executions: counted.redundant,
            abandoned_executions: counted.abandoned,
            unexpected_executions: counted.unexpected,
            events: counted.steps,
            transitions: counted.steps,
            cross_checked_executions: counted.cross_checked,
            seconds: counted.seconds,
            peak_rss_bytes: peak_memory(),
            atomic_sites: counted.sites,
            endings: endings
                .map(|(ending, executions)| EndingCount { ending, executions })
                .collect(),
            exit_codes: exit_codes
                .map(|(codes, executions)| ExitCodesCount { codes, executions })
                .collect(),
            cache: counted.cache,
            joint: counted.joint.clone(),
            verified_executions: found.verified,
        }
    }
}
