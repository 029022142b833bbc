//! The folder that `--plot` names.

use crate::output::OutputFile;
use crate::usage::Usage;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder that plots go to.
pub struct PlotFolder {
    folder: PathBuf,
}

impl PlotFolder {
    /// Makes the folder, and sure that it can be written to.
    pub fn new(folder: &Path) -> Result<Self, Usage> {
        let made = fs::create_dir_all(folder);
        made.map_err(|error| {
            let folder = folder.display();
            Usage::new(format!("cannot make {folder}: {error}; choose another folder with --plot"))
        })?;
        let plots = PlotFolder { folder: folder.into() };
        OutputFile::new("--plot", &plots.path("plot"))?;
        Ok(plots)
    }

    /// Where it is.
    pub fn display(&self) -> std::path::Display<'_> {
        self.folder.display()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name).with_extension("svg")
    }

    /// Writes a plot under its name.
    pub fn put(&self, name: &str, svg: &str) -> Result<(), Usage> {
        OutputFile::new("--plot", &self.path(name))?.write_or_say(svg.as_bytes())
    }
}
