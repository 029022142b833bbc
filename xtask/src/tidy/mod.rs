//! The rules that no compiler checks, each in the file of what it is about.
//!
//! - `crates.rs`: who may depend on whom and on how much, and which Rust they need.
//! - `cycles.rs`: how many modules of a crate depend on each other.
//! - `sources.rs`: how long files get, where modules and tests are, what must not be committed.
//! - `recipes.rs`: whether a fault takes only the files that its recipe names.
//! - `pages.rs`: links, and words that the field has better ones for.

mod crates;
mod cycles;
mod pages;
mod recipes;
mod sources;

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file that git tracks, with its text.
struct Tracked {
    path: PathBuf,
    text: String,
}

/// Checks everything and returns what is wrong, a line each.
pub fn tidy() -> Result<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has a parent")?;
    let files = tracked(root)?;
    let mut faults = crates::check(root, &files)?;
    faults.extend(sources::check(&files));
    faults.extend(cycles::check(&files));
    faults.extend(pages::check(root, &files));
    faults.extend(recipes::check(&files));
    Ok(faults)
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// The text files that git tracks.
fn tracked(root: &Path) -> Result<Vec<Tracked>> {
    let list = output(Command::new("git").arg("ls-files").current_dir(root))?;
    let read = |path: &str| {
        let text = fs::read_to_string(root.join(path)).ok()?;
        Some(Tracked { path: path.into(), text })
    };
    Ok(list.lines().filter_map(read).collect())
}

impl Tracked {
    fn has_extension(&self, extension: &str) -> bool {
        self.path.extension().is_some_and(|found| found == extension)
    }

    /// A fault in each line in which one of these words is found.
    fn lines_with<'a>(&'a self, words: &'a [&'a str]) -> impl Iterator<Item = String> + 'a {
        self.text.lines().enumerate().flat_map(move |(number, line)| {
            let found = words.iter().filter(move |word| line.contains(**word));
            found.map(move |word| format!("{}:{}: {word}", self.path.display(), number + 1))
        })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_project_is_tidy() {
        assert_eq!(super::tidy().unwrap(), Vec::<String>::new());
    }
}
