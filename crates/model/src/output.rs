//! Files and standard output.

use crate::usage::Usage;
use everypath_report::{CheckResult, annotations, junit, printable, sarif};
use everypath_trace::Verdict;
use serde::Serialize;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Writes to standard output. A reader that has gone away (`| head`) is no error.
pub fn print(text: &str) {
    if let Err(usage) = print_or_fail(text) {
        error(&usage.to_string());
    }
}

/// The same where the output is all there is: then a write error is one of the command.
pub fn print_or_fail(text: &str) -> Result<(), Usage> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Usage::new(format!("cannot write to standard output: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Writes the report of a check. If nobody wants to read it, that there is no verdict is still said on
/// standard error, with the reason.
pub fn report(text: &str, quiet: bool, verdict: Verdict) {
    let text = &printable(text);
    match (quiet, verdict) {
        (false, _) => print(&coloured(text, verdict)),
        (true, Verdict::Inconclusive) => {
            // As for errors.
            let _ = write!(io::stderr(), "{}", text.split_inclusive('\n').next().unwrap_or(text));
        }
        (true, Verdict::Holds | Verdict::Violated) => {}
    }
}

/// The text with its first word, the verdict, in colour: on a terminal only, and not for those who do
/// not want any (<https://no-color.org>). The word says the same without.
#[expect(clippy::disallowed_methods, reason = "the reader says whether colour is wanted")]
fn coloured(text: &str, verdict: Verdict) -> String {
    let is_wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    if !is_wanted || is_dumb || !io::stdout().is_terminal() {
        return text.into();
    }
    let number = match verdict {
        Verdict::Holds => 32,
        Verdict::Violated => 31,
        Verdict::Inconclusive => 33,
    };
    match text.find(|c: char| !c.is_ascii_uppercase()) {
        Some(end) if end > 0 => {
            format!("\x1b[1;{number}m{}\x1b[0m{}", &text[..end], &text[end..])
        }
        _ => text.into(),
    }
}

/// Writes a message to standard error.
pub fn error(message: &str) {
    // Nothing can be said about a standard error that cannot be written to.
    let _ = writeln!(io::stderr(), "error: {}", printable(message));
}

/// Writes a warning to standard error.
pub fn warning(message: &str) {
    // As above.
    let _ = writeln!(io::stderr(), "warning: {}", printable(message));
}

/// Where the JSON result goes.
pub enum Json {
    /// Nowhere.
    None,
    /// To standard output.
    Stdout,
    /// To a file.
    File(OutputFile),
}

impl Json {
    /// The place that `--json` names, which can be written.
    pub fn new(path: Option<&Path>) -> Result<Self, Usage> {
        Ok(match path {
            None => Json::None,
            Some(path) if path == Path::new("-") => Json::Stdout,
            Some(path) => Json::File(OutputFile::new("--json", path)?),
        })
    }

    /// Writes a result there.
    pub fn write(&self, result: &impl Serialize) -> Result<(), Usage> {
        let mut json = serde_json::to_string_pretty(result).expect("the result has string keys");
        json.push('\n');
        match self {
            Json::None => Ok(()),
            Json::Stdout => {
                print(&json);
                Ok(())
            }
            Json::File(file) => file.write_or_say(json.as_bytes()),
        }
    }
}

/// The formats of CI systems, if they are asked for.
pub struct Formats {
    junit: Option<OutputFile>,
    sarif: Option<OutputFile>,
}

impl Formats {
    /// The files that `--junit` and `--sarif` name, which can be written.
    pub fn new(junit: Option<&Path>, sarif: Option<&Path>) -> Result<Self, Usage> {
        if junit.is_some() && junit == sarif {
            return Err(Usage::new("--junit and --sarif name the same file; choose two"));
        }
        Ok(Formats {
            junit: junit.map(|path| OutputFile::new("--junit", path)).transpose()?,
            sarif: sarif.map(|path| OutputFile::new("--sarif", path)).transpose()?,
        })
    }

    /// Writes a result there. In a workflow of GitHub, it is annotated, too.
    #[expect(clippy::disallowed_methods, reason = "workflows of GitHub say so in the environment")]
    pub fn write(&self, result: &CheckResult<'_>, is_silent: bool) -> Result<(), Usage> {
        let results = std::slice::from_ref(result);
        if let Some(file) = &self.junit {
            file.write_or_say(junit(results).as_bytes())?;
        }
        if let Some(file) = &self.sarif {
            file.write_or_say(sarif(results).as_bytes())?;
        }
        if !is_silent && std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true") {
            print(&annotations(result));
        }
        Ok(())
    }
}

/// A file to be written at the end, checked at the start.
#[derive(Clone, Debug)]
pub struct OutputFile {
    path: PathBuf,
}

impl OutputFile {
    /// Makes sure that `path` can be written, without changing what is there.
    pub fn new(option: &str, path: &Path) -> Result<Self, Usage> {
        let file = OutputFile { path: path.into() };
        if path == Path::new("-") {
            return Err(Usage::new(format!("{option} needs the name of a file, not -")));
        }
        let probe = if file.is_special() {
            OpenOptions::new().write(true).open(path).map(drop)
        } else if path.is_dir() {
            Err(io::Error::from(io::ErrorKind::IsADirectory))
        } else if path.exists() {
            OpenOptions::new().append(true).open(path).and_then(|_| file.probe_directory())
        } else {
            file.probe_directory()
        };
        match probe {
            Ok(()) => Ok(file),
            Err(error) => Err(Usage::new(format!(
                "cannot write {}: {error}; choose another file with {option}",
                path.display()
            ))),
        }
    }

    /// Renames the file to `NAME.old`, if it is one: its new name.
    pub fn set_aside(&self) -> Option<String> {
        let mut name = self.path.file_name()?.to_os_string();
        name.push(".old");
        let to = self.path.with_file_name(name);
        fs::rename(&self.path, &to).ok()?;
        Some(to.display().to_string())
    }

    /// The path as the user gave it.
    pub fn path(&self) -> String {
        self.path.display().to_string()
    }

    /// Replaces the file in one go: a killed run leaves the old contents or the new ones.
    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        if self.is_special() {
            return OpenOptions::new().write(true).open(&self.path)?.write_all(bytes);
        }
        let temporary = self.temporary();
        let written = File::create(&temporary)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| fs::rename(&temporary, &self.path));
        if written.is_err() {
            // The first error is the one to tell.
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    /// Replaces the file in one go by what `write` writes, or says why that cannot be.
    pub fn replace_with<T>(
        &self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>,
    ) -> Result<T, Usage> {
        let temporary = self.temporary();
        let written = File::create(&temporary).and_then(|file| {
            let mut out = BufWriter::new(file);
            let result = write(&mut out)?;
            // Renaming must not come before the bytes are there, even if the machine stops.
            out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_data()?;
            fs::rename(&temporary, &self.path)?;
            Ok(result)
        });
        written.map_err(|error| {
            // The first error is the one to tell.
            let _ = fs::remove_file(&temporary);
            Usage::new(format!("cannot write {}: {error}", self.path()))
        })
    }

    /// Replaces the file, or says why that cannot be.
    pub fn write_or_say(&self, bytes: &[u8]) -> Result<(), Usage> {
        let cannot = |error| Usage::new(format!("cannot write {}: {error}", self.path()));
        self.write(bytes).map_err(cannot)
    }

    /// A pipe or device, which is written to and never replaced.
    pub fn is_special(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|data| !data.is_file() && !data.is_dir())
    }

    fn temporary(&self) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.part", std::process::id()));
        self.path.with_file_name(name)
    }

    fn probe_directory(&self) -> io::Result<()> {
        if self.path.file_name().is_none() {
            return Err(io::Error::from(io::ErrorKind::InvalidFilename));
        }
        let temporary = self.temporary();
        File::create(&temporary)?;
        fs::remove_file(&temporary)
    }
}
