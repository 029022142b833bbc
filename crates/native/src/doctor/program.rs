//! What of a program is supported: its libraries, the calls found in their code, debug information.
//! Nothing of the program runs; its loader lists the libraries.

use crate::program::{Program, ProgramError};
use everypath_rewrite::functions_called;
use everypath_shim_abi::syscalls::{Handling, SYSCALLS};
use object::{Object as _, ObjectSection as _};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is known of a program before it runs.
#[derive(Debug)]
pub struct Inspected {
    /// Where it was found.
    pub path: PathBuf,
    /// The libraries that its loader loads, and those that it does not find.
    pub libraries: Vec<PathBuf>,
    /// The names of libraries that are missing.
    pub missing: Vec<String>,
    /// Whether functions have names, and whether there are source lines.
    pub symbols: bool,
    /// Whether there is debug information.
    pub debug_information: bool,
    /// Functions that are called somewhere in its code, or in that of its libraries, and that are not
    /// modelled: who calls them, and why they are not.
    pub refused: BTreeMap<String, (Vec<String>, &'static str)>,
    /// Those of the program and its libraries that load further libraries while they run.
    pub loads_more: Vec<String>,
}

/// Functions of libc whose names are not those of the syscalls that they make.
const STARTING: [(&str, &str); 9] = [
    ("system", "execve"),
    ("popen", "execve"),
    ("posix_spawn", "execve"),
    ("posix_spawnp", "execve"),
    ("execl", "execve"),
    ("execlp", "execve"),
    ("execv", "execve"),
    ("execvp", "execve"),
    ("daemon", "fork"),
];
/// Functions that load libraries.
const LOADING: [&str; 2] = ["dlopen", "getaddrinfo"];
/// Libraries whose own calls are not the program's: what they need themselves is modelled otherwise.
const OF_LIBC: [&str; 5] = ["libc.so", "ld-linux", "libpthread.so", "libdl.so", "librt.so"];

/// Looks at a program, which is found as `check` finds it.
pub fn inspect(name: &Path, folders: &[PathBuf]) -> Result<Inspected, ProgramError> {
    let Program { path, interpreter, .. } = Program::open(name, folders)?;
    let (libraries, missing) = libraries(&interpreter, &path);
    let bytes = fs::read(&path).unwrap_or_default();
    let file = object::File::parse(&*bytes).ok();
    let has = |name: &str| {
        let section = file.as_ref().and_then(|file| file.section_by_name(name));
        section.is_some_and(|section| section.size() > 0)
    };
    let mut inspected = Inspected {
        symbols: has(".symtab"),
        debug_information: has(".debug_info"),
        path: path.clone(),
        libraries,
        missing,
        refused: BTreeMap::new(),
        loads_more: Vec::new(),
    };
    let modules: Vec<PathBuf> = [path].into_iter().chain(inspected.libraries.clone()).collect();
    for module in &modules {
        inspected.look_for_calls(module);
    }
    Ok(inspected)
}

/// What the loader finds for a program, without running it.
fn libraries(interpreter: &Path, program: &Path) -> (Vec<PathBuf>, Vec<String>) {
    let program = std::path::absolute(program).unwrap_or_else(|_| program.into());
    let listed = Command::new(interpreter).arg("--list").arg(program).output();
    let text = listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for line in text.unwrap_or_default().lines() {
        match line.trim().split_once(" => ") {
            Some((name, "not found")) => missing.push(name.into()),
            Some((_, place)) => found.extend(place.split(" (").next().map(PathBuf::from)),
            None => {}
        }
    }
    (found, missing)
}

impl Inspected {
    fn look_for_calls(&mut self, module: &Path) {
        let short = module.file_name().unwrap_or(module.as_os_str()).to_string_lossy();
        if OF_LIBC.iter().any(|library| short.starts_with(library)) {
            return;
        }
        let bytes = fs::read(module).unwrap_or_default();
        for name in functions_called(&bytes).unwrap_or_default() {
            if LOADING.contains(&name.as_str()) && !self.loads_more.iter().any(|it| *it == short) {
                self.loads_more.push(short.clone().into_owned());
            }
            if let Some(why) = why_refused(&name) {
                let (callers, _) = self.refused.entry(name).or_insert((Vec::new(), why));
                callers.push(short.clone().into_owned());
            }
        }
    }
}

/// Why a function of libc is not modelled; none if it is, or is no call of the kernel.
fn why_refused(function: &str) -> Option<&'static str> {
    let makes = STARTING.iter().find(|(name, _)| *name == function).map(|(_, call)| *call);
    let name = makes.unwrap_or(function);
    let call = SYSCALLS.iter().find(|call| call.name == name)?;
    match call.handling {
        Handling::Refused(why) => Some(why),
        Handling::Modelled | Handling::Passed(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{inspect, why_refused};
    use std::path::Path;

    #[test]
    fn functions_are_known_by_the_calls_that_they_make() {
        assert!(why_refused("system").is_some() && why_refused("fork").is_some());
        assert!(why_refused("read").is_none() && why_refused("strlen").is_none());
    }

    #[test]
    fn a_program_is_looked_at_without_running_it() {
        let shell = inspect(Path::new("/bin/sh"), &[]).expect("there is a shell");
        assert!(shell.libraries.iter().any(|path| path.to_string_lossy().contains("libc.so")));
        assert!(shell.refused.contains_key("fork"), "{shell:?}");
        assert!(shell.missing.is_empty());
        assert!(inspect(Path::new("/no/such/program"), &[]).is_err());
    }
}
