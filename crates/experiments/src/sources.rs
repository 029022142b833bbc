//! Programs that experiments need, compiled when they are needed.

use std::fs;
use std::path::Path;
use std::process::Command;

/// A program in this repository: its name and its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    /// The name of its file.
    pub(crate) file: &'static str,
    /// What the file holds.
    pub(crate) text: &'static str,
}

impl Source {
    /// What the compiled program is called.
    pub(crate) fn name(&self) -> &'static str {
        self.file.split('.').next().unwrap_or(self.file)
    }

    /// Compiles it into a folder, under its name; or says in one line what is missing.
    pub(crate) fn compile(&self, folder: &Path) -> Result<(), String> {
        let to = folder.join(self.name());
        let source = folder.join(self.file);
        fs::write(&source, self.text)
            .map_err(|error| format!("cannot write {}: {error}", self.file))?;
        let (compiler, options): (_, &[&str]) = match self.file.ends_with(".rs") {
            true => ("rustc", &["--edition", "2024", "-g", "-O"]),
            false => ("cc", &["-g", "-O1", "-pthread"]),
        };
        let compiled = Command::new(compiler).args(options).arg("-o").arg(to).arg(source).output();
        match compiled {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                let first = said.lines().next().unwrap_or("it does not say why").to_string();
                Err(format!("{compiler} cannot compile {}: {first}", self.file))
            }
            Err(error) => {
                Err(format!("this experiment needs {compiler}, which cannot be run: {error}"))
            }
        }
    }
}
