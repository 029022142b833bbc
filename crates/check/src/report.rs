//! What a check says in the end.

use crate::assumptions::of_verdict;
use crate::estimate::Remaining;
use crate::failure_file::{Emission, FailureFile};
use crate::finding::{Confirmation, Counted, Found};
use crate::launch;
use crate::sample::Sample;
use crate::stats::{EndingCount, ExitCodesCount, Stats};
use crate::suggestions::suggestions;
use everypath_machine::peak_memory;
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
    /// Faults that were allowed and that no execution had, a sentence each: of a search over schedules,
    /// or of executions drawn at random for `--sample-traces`.
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
    // Of programs that are explored alone it is not known what others order.
    let unless = match found.counted.joint {
        None => "nothing orders them; if they are not atomic, that is a data race",
        Some(_) => {
            "nothing in their program orders them; if no other program does, and they are not \
             atomic, that is a data race"
        }
    };
    let notes = found.counted.unsynchronised.iter().map(|[one, other]| Finding {
        kind: FindingKind::Note,
        text: match one == other {
            true => format!("{one} accesses memory that another thread accesses there, too"),
            false => format!("{one} and {other} access the same memory"),
        } + ", and "
            + unless,
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

/// What was compared with a model.
#[derive(Debug, Serialize)]
pub struct Refinement {
    /// The model.
    pub model: String,
    /// How many different sequences of events executions had, without the empty one.
    pub logs: u64,
    /// How many events these have together.
    pub events: u64,
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
                preemptions: match found.coverage {
                    Coverage::BoundedPreemptions { preemptions } => Some(preemptions),
                    _ => found.counted.preemptions,
                },
                looks: found.counted.looks,
                spins: found.counted.looks.and(launch::spins(config)),
                unseen: found.counted.unseen.clone(),
            },
            assumptions: of_verdict(config, &found.counted),
            findings: findings(&found),
            never_reached: found.never_reached().to_vec(),
            sample_traces: found.samples.iter().map(SampleTrace::of).collect(),
            notices: found.notices().to_vec(),
            violation: Counterexample::of(&found),
            violations: match (&found.trace, &found.emission) {
                // One that was found after the search is not among those that it counted.
                (Some(_), _) => found.counted.unexpected.max(1),
                (None, Some(emission)) if !emission.is_judged => emission.failures.len() as u64,
                (None, _) => 0,
            },
            suggestions: suggestions(config, &found),
            stats: Stats::of(&found),
            never_exercised: found.never_exercised.unwrap_or_default(),
            samples: found.samples,
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
