//! `--emit`: what a program shows to others that a right one never does.

use crate::error::CheckError;
use crate::failure_file::{About, Emission, FailureFile};
use crate::finding::{Counted, Early, Found, assumption};
use crate::host::Host;
use crate::joint::{Named, Run, counted, opened, started, unless_doubted};
use crate::launch::faults;
use crate::observer::Observer;
use everypath_native::histories::Script;
use everypath_native::histories::failures::failures;
use everypath_native::{Fault, Faults, Goal, JointSearch};
use everypath_trace::{CheckConfig, Verdict};

/// Histories of a program, and whether each happens.
type Histories = [(Script, bool)];

/// What `--emit` asks for.
pub(crate) struct Emit<'a> {
    host: &'a Host,
    config: &'a CheckConfig,
    reference: &'a str,
}

impl<'a> Emit<'a> {
    /// None if `--emit` is not there.
    pub(crate) fn wanted(
        host: &'a Host,
        config: &'a CheckConfig,
    ) -> Result<Option<Self>, CheckError> {
        match (&config.emit, &config.reference) {
            (None, None) => Ok(None),
            (None, Some(_)) => {
                Err(CheckError::options("--reference says what is right for --emit FILE"))
            }
            (Some(_), None) => Err(CheckError::options(
                "--emit lists what a right program never does: name one with --reference 'COMMAND'",
            )),
            (Some(_), Some(_)) if config.kill > 1 => Err(CheckError::options(
                "--emit lets the program be killed once, since it is not started again: give --kill 1",
            )),
            (Some(_), Some(reference)) => Ok(Some(Emit { host, config, reference })),
        }
    }

    /// Explores the program, then the right one in its place, and lists what only the first does.
    pub(crate) fn list(
        &self,
        search: JointSearch,
        programs: Vec<Named>,
        observer: &mut dyn Observer,
    ) -> Result<Found, Early> {
        let config = self.config;
        let (_, first) = &search.programs[0];
        let right = opened(self.host, "--reference", self.reference, first.folder.as_deref())?;
        let kills_first = config.kill > 0;
        let mut search = JointSearch { goal: Goal::Histories, kills_first, ..search };
        // What goes wrong goes wrong with this program: the others are what they are.
        let mut faults = faults(config);
        // That a connection breaks is no step of the program: the others see it, too.
        let breaks = std::mem::take(&mut faults.budget[Fault::Reset as usize]);
        search.programs[0].1.setup.faults = faults;
        search.breaks = usize::from(breaks);
        let run = Run::of(config, &search, observer)?;
        let explored = &run.result;
        let names: Vec<String> = programs.into_iter().map(|program| program.name).collect();
        let mut found = unless_doubted(config, explored, run.stopped.clone());
        if found.verdict == Verdict::Holds {
            // It takes the place of the program, name included: connections are known by that.
            search.programs[0].1 = started(&search.programs[0].1, &right);
            search.programs[0].1.setup.faults = Faults::default();
            (search.kills_first, search.breaks) = (false, 0);
            let other = Run::of(config, &search, observer)?;
            let right = &other.result;
            let reference = unless_doubted(config, right, other.stopped.clone());
            let mut scripts = explored.shown.iter().chain(&right.shown).map(|(script, _)| script);
            found = match reference.verdict {
                Verdict::Holds if scripts.any(Script::has_datagrams) => {
                    Found::inconclusive(only_connections(&names[0]))
                }
                Verdict::Holds => self.compare(&names, (&explored.shown, &right.shown), found),
                _ => reference,
            };
        }
        found.counted = Counted::jointly(explored, counted(&names, explored), run.seconds);
        found.counted.assumptions.extend(config.tcp_faults.map(|faults| {
            let name = &names[0];
            let text =
                format!("no more than {faults} goes wrong with connections of {name} at once");
            assumption("connection-faults", text)
        }));
        Ok(found)
    }

    /// Writes down what one does and the other does not.
    fn compare(
        &self,
        names: &[String],
        (shown, right): (&Histories, &Histories),
        found: Found,
    ) -> Found {
        let happen = |all: &Histories| -> Vec<usize> {
            (0..all.len()).filter(|&behaviour| all[behaviour].1).collect()
        };
        let scripts = |all: &Histories, which: &[usize]| -> Vec<Script> {
            which.iter().map(|&behaviour| all[behaviour].0.clone()).collect()
        };
        let places = happen(shown);
        let failures = failures(&scripts(shown, &places), &scripts(right, &happen(right)));
        let alone = CheckConfig { with: Vec::new(), ..self.config.clone() };
        let about = About {
            names,
            command: alone.target(),
            reference: self.reference.into(),
            coverage: found.coverage,
        };
        let failures = failures.iter().map(|(failure, showing)| {
            (failure, showing.iter().map(|&place| places[place]).collect())
        });
        let file = FailureFile::new(&about, shown, failures);
        let verdict = if file.failures.is_empty() { Verdict::Holds } else { Verdict::Violated };
        let (component, failures) = (file.component.clone(), file.failures.clone());
        let emission = Some(Emission { component, failures, is_judged: false });
        Found { verdict, emission, failure_file: Some(file), ..found }
    }
}

/// Why there is no list for a program with datagrams: who sends none may have lost one.
fn only_connections(name: &str) -> String {
    format!(
        "{name} sends or receives datagrams, and --emit lists failures on connections only; check \
         it together with others, without --emit"
    )
}
