//! `--emit`: what a program shows to others that a right one never does.

use super::failure_file::{About, Listing, Told};
use super::joint::{Named, Run, counted, opened, started, unless_doubted};
use super::report::{Counted, Found, several};
use crate::cli::CheckArgs;
use crate::output::OutputFile;
use crate::usage::Usage;
use everypath_native::histories::Script;
use everypath_native::histories::failures::failures;
use everypath_native::{Fault, Faults, Goal, JointSearch};
use everypath_trace::{Coverage, Verdict};
use std::fmt::Write;

/// What a program shows to others that is not right.
#[derive(Clone, Debug)]
pub(super) struct Emission {
    /// The program.
    pub(super) component: String,
    pub(super) failures: Vec<Told>,
    /// Whether it is known what becomes of them.
    pub(super) is_judged: bool,
}

impl Emission {
    /// The verdict.
    pub(super) fn headline(&self, coverage: Coverage) -> String {
        let (kind, component) = (coverage.kind(), &self.component);
        match self.failures.len() as u64 {
            0 => format!("HOLDS ({kind}): {component} shows nothing that is not right\n"),
            count => {
                format!("VIOLATED: {component} shows {} ({kind})\n", several(count, "failure"))
            }
        }
    }

    /// The failures, a line each.
    pub(super) fn table(&self) -> String {
        let mut text = String::new();
        for (failure, number) in self.failures.iter().zip(1..) {
            let what = match failure.propagates {
                None => String::new(),
                Some(true) => "  propagates".into(),
                Some(false) => "  does not propagate".into(),
            };
            let _ = writeln!(text, "  {number:2}  {}{what}", failure.text());
        }
        if !text.is_empty() && self.is_judged {
            text.insert_str(0, &format!("What becomes of the failures of {}:\n", self.component));
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }
}

/// Histories of a program, and whether each happens.
type Histories = [(Script, bool)];

/// Where the list goes, and what is right.
pub(super) struct Emit<'a> {
    file: OutputFile,
    reference: &'a str,
}

/// What `--emit` asks for; none if it is not there.
pub(super) fn wanted(args: &CheckArgs) -> Result<Option<Emit<'_>>, Usage> {
    let network = &args.network;
    match (&network.emit, &network.reference) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(Usage::new("--reference says what is right for --emit FILE")),
        (Some(_), None) => Err(Usage::new(
            "--emit lists what a right program never does: name one with --reference 'COMMAND'",
        )),
        (Some(_), Some(_)) if network.kill > 1 => Err(Usage::new(
            "--emit lets the program be killed once, since it is not started again: give --kill 1",
        )),
        (Some(path), Some(reference)) => {
            Ok(Some(Emit { file: OutputFile::new("--emit", path)?, reference }))
        }
    }
}

impl Emit<'_> {
    /// Explores the program, then the right one in its place, and lists what only the first does.
    pub(super) fn list(
        &self,
        args: &CheckArgs,
        search: JointSearch,
        programs: Vec<Named>,
    ) -> Result<Found, Usage> {
        let (_, first) = &search.programs[0];
        let right = match opened("--reference", self.reference, first.folder.as_deref())? {
            Ok(right) => right,
            Err(reason) => return Ok(Found::inconclusive(reason)),
        };
        let kills_first = args.network.kill > 0;
        let mut search = JointSearch { goal: Goal::Histories, kills_first, ..search };
        // What goes wrong goes wrong with this program: the others are what they are.
        let mut faults = args.network.faults();
        // That a connection breaks is no step of the program: the others see it, too.
        let breaks = std::mem::take(&mut faults.budget[Fault::Reset as usize]);
        search.programs[0].1.setup.faults = faults;
        search.breaks = usize::from(breaks);
        let Run { result, seconds, stopped } = Run::of(args, &search);
        let explored = match result {
            Ok(explored) => explored,
            Err(error) => return Ok(Found::failed(&error)),
        };
        let names: Vec<String> = programs.into_iter().map(|program| program.name).collect();
        let mut found = unless_doubted(args, &explored, stopped, Found::holds);
        if found.verdict == Verdict::Holds {
            // It takes the place of the program, name included: connections are known by that.
            search.programs[0].1 = started(&search.programs[0].1, &right);
            search.programs[0].1.setup.faults = Faults::default();
            (search.kills_first, search.breaks) = (false, 0);
            let Run { result, stopped, .. } = Run::of(args, &search);
            let right = match result {
                Ok(right) => right,
                Err(error) => return Ok(Found::failed(&error)),
            };
            let reference = unless_doubted(args, &right, stopped, Found::holds);
            let mut scripts = explored.shown.iter().chain(&right.shown).map(|(script, _)| script);
            found = match reference.verdict {
                Verdict::Holds if scripts.any(Script::has_datagrams) => {
                    Found::inconclusive(only_connections(&names[0]))
                }
                Verdict::Holds => {
                    self.compare(args, &names, (&explored.shown, &right.shown), found)?
                }
                _ => reference,
            };
        }
        found.counted = Counted::jointly(&explored, counted(&names, &explored), seconds);
        found.counted.assumptions.extend(args.network.budget().map(|budget| {
            format!("no more than {budget} goes wrong with connections of {} at once", names[0])
        }));
        Ok(found)
    }

    /// Writes down what one does and the other does not.
    fn compare(
        &self,
        args: &CheckArgs,
        names: &[String],
        (shown, right): (&Histories, &Histories),
        found: Found,
    ) -> Result<Found, Usage> {
        let happen = |all: &Histories| -> Vec<usize> {
            (0..all.len()).filter(|&behaviour| all[behaviour].1).collect()
        };
        let scripts = |all: &Histories, which: &[usize]| -> Vec<Script> {
            which.iter().map(|&behaviour| all[behaviour].0.clone()).collect()
        };
        let places = happen(shown);
        let failures = failures(&scripts(shown, &places), &scripts(right, &happen(right)));
        let command = args.command.iter().map(|word| word.to_string_lossy());
        let about = About {
            names,
            command: command.collect::<Vec<_>>().join(" "),
            reference: self.reference.into(),
            coverage: found.coverage,
        };
        let failures = failures.iter().map(|(failure, showing)| {
            (failure, showing.iter().map(|&place| places[place]).collect())
        });
        let listing = Listing::new(&about, shown, failures);
        self.file.write_or_say(&listing.to_bytes())?;
        let verdict = if listing.failures.is_empty() { Verdict::Holds } else { Verdict::Violated };
        let component = listing.component.clone();
        let failures = listing.failures;
        let emission = Some(Emission { component, failures, is_judged: false });
        Ok(Found { verdict, emission, ..found })
    }
}

/// Why there is no list for a program with datagrams: who sends none may have lost one.
fn only_connections(name: &str) -> String {
    format!(
        "{name} sends or receives datagrams, and --emit lists failures on connections only; check \
         it together with others, without --emit"
    )
}
