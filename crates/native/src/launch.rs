//! What to start, and how.

use crate::closed::Companion;
use crate::environment::Environment;
use crate::judge::{Judge, PlacedFile};
use crate::memory::{Armed, Races};
use crate::patching::Arming;
use crate::reached::Reached;
use crate::symmetry::Symmetry;
use everypath_shim_abi::{Restart, Setup};
use everypath_trace::Control;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

/// What to start, and how.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments, its own name not included.
    pub arguments: Vec<OsString>,
    /// Its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The folder it runs in; `None` is ours. The path of the program must be absolute then.
    pub folder: Option<PathBuf>,
    /// Its backend, its restore method, and the like.
    pub setup: Setup,
    /// After so many tenths of a second without a scheduling point an execution is stopped.
    pub watchdog: u32,
    /// Whether every execution gets a process of its own.
    pub fresh: bool,
    /// Libraries that are loaded before its `main`, because it loads them later.
    pub libraries: Vec<Library>,
    /// Files that it finds, beside those of the machine.
    pub files: Vec<PlacedFile>,
    /// What must be true of what its executions leave behind.
    pub judge: Option<Arc<Judge>>,
    /// The peers that it talks to.
    pub outside: Environment,
    /// The other programs of a closed system, which run under the same control.
    pub companions: Vec<Companion>,
    /// Which memory accesses are scheduling points, if accesses are recorded.
    pub armed: Arc<Armed>,
    /// What becomes of data races, if accesses are recorded.
    pub races: Races,
    /// Parts of the names of functions and source files whose data races are not reported.
    pub suppressed_races: Arc<[String]>,
    /// Which goals executions have reached.
    pub reached: Arc<Reached>,
    /// Stops whatever is done with it: then the error is [`Error::Stopped`](crate::Error::Stopped).
    pub control: Control,
}

impl Launch {
    /// Starts a program alone in the world, without arguments and with an empty environment.
    pub fn new(program: impl Into<PathBuf>) -> Launch {
        Launch {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: None,
            setup: Setup::default(),
            watchdog: 100,
            fresh: false,
            libraries: Vec::new(),
            files: Vec::new(),
            judge: None,
            outside: Environment::default(),
            companions: Vec::new(),
            armed: Arc::default(),
            races: Races::default(),
            suppressed_races: Arc::default(),
            reached: Arc::default(),
            control: Control::default(),
        }
    }

    /// Which processes are just like each other.
    pub(crate) fn symmetry(&self) -> Symmetry {
        Symmetry::of(&self.setup, self.companions.len())
    }

    /// Which accesses are scheduling points.
    pub(crate) fn arming(&self) -> Arming<'_> {
        Arming { armed: &self.armed, races: self.races, suppressed: &self.suppressed_races }
    }

    /// The setup of a process, with what judging needs: the order of output between threads is seen
    /// then, too.
    pub(crate) fn setup_of(&self, process: u16) -> Setup {
        let judges = |what: fn(&Judge) -> bool| self.judge.as_deref().is_some_and(what);
        let setup = Setup {
            races: self.races == Races::Violation,
            judged: self.judge.is_some(),
            refines: judges(Judge::refines),
            output_steps: self.setup.output_steps || judges(Judge::judges_output),
            process,
            ..self.setup
        };
        match self.companions.len() {
            0 => setup,
            others => Setup { processes: others as u16 + 1, restart: Restart::Copy, ..setup },
        }
    }
}

/// A library, and how the program loads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// The flags of `dlopen`.
    pub flags: i32,
    /// Its name, as the program gives it.
    pub name: String,
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.flags, self.name)
    }
}

impl FromStr for Library {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once(':').and_then(|(flags, name)| {
            let is_name = !name.is_empty() && !name.contains('\0');
            Some((flags.parse().ok()?, name)).filter(|_| is_name)
        });
        let (flags, name) = parts.ok_or_else(|| {
            format!(
                "{text:?}: is not a library; give the flags of dlopen and the name, such as \
                 2:/usr/lib/libz.so.1"
            )
        })?;
        Ok(Library { flags, name: name.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::Library;

    #[test]
    fn libraries_are_read_as_they_are_written() {
        let library = Library { flags: 0x102, name: "/lib/x.so:1".into() };
        assert_eq!(library.to_string().parse(), Ok(library));
        for bad in ["", "2:", "x:/lib/x.so", "/lib/x.so"] {
            assert!(bad.parse::<Library>().is_err(), "{bad}");
        }
    }
}
