//! The sample sessions in the documentation, run by the tests.
//!
//! In a Markdown page, a block marked `console` is a session: a line that starts with `$ ` is a
//! command, and what follows, up to the next command, is its output, standard error included. A
//! command that fails has its exit code as the last line, as `[exit 2]`. The commands of a page
//! run one after the other in a folder of their own that holds nothing but `programs/`, `crates/` and
//! a copy of `studies/`, as a clone of the repository does.
//!
//! To write the true output into a page, set `UPDATE_TRANSCRIPTS` and run the tests.

use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// Runs the sessions of a page with `program` on the search path; an error shows the difference.
///
/// # Panics
///
/// If the page does not show what the commands print.
pub fn check(page: &Path, program: &Path) {
    let text = fs::read_to_string(page).expect("the page can be read");
    let actual = run(&text, program).expect("the sessions can be run");
    if actual == text {
        return;
    }
    #[expect(clippy::disallowed_methods, reason = "tests take this option from the environment")]
    let update = std::env::var_os("UPDATE_TRANSCRIPTS").is_some();
    if update {
        fs::write(page, actual).expect("the page can be written");
        return;
    }
    let lines = text.lines().zip(actual.lines()).enumerate();
    let (number, (shown, printed)) =
        lines.into_iter().find(|(_, (a, b))| a != b).unwrap_or((0, ("(end)", "(end)")));
    panic!(
        "{}:{}: the page shows\n  {shown}\nbut the command prints\n  {printed}\n\
         (set UPDATE_TRANSCRIPTS=1 to write the true output into the page)",
        page.display(),
        number + 1,
    );
}

/// Copies a folder with all that is in it.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &copy)?;
        } else {
            fs::copy(entry.path(), copy)?;
        }
    }
    Ok(())
}

/// The page with the true output of its sessions.
fn run(text: &str, program: &Path) -> Result<String> {
    let folder = tempfile::tempdir()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has a parent")?;
    for part in ["programs", "crates"] {
        symlink(root.join(part), folder.path().join(part))?;
    }
    copy_folder(&root.join("studies"), &folder.path().join("studies"))?;
    let mut page = String::new();
    let mut in_session = false;
    for line in text.lines() {
        let fence = line.starts_with("```");
        if fence {
            in_session = line == "```console";
        }
        let command = line.strip_prefix("$ ").filter(|_| in_session);
        if fence || !in_session || command.is_some() {
            page += line;
            page.push('\n');
        }
        if let Some(command) = command {
            page += &session(command, program, folder.path())?;
        }
    }
    Ok(page)
}

/// What a command prints, and its exit code if it fails.
fn session(command: &str, program: &Path, folder: &Path) -> Result<String> {
    let bin = program.parent().context("a program is in a folder")?.display();
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("PATH='{bin}':\"$PATH\"; exec 2>&1; {command}"))
        .env("NO_COLOR", "1")
        .env_remove("RUST_BACKTRACE")
        .env("COLUMNS", "100")
        .current_dir(folder)
        .output()?;
    let mut text = String::from_utf8(output.stdout)?;
    match output.status.code() {
        Some(0) => {}
        Some(code) => text += &format!("[exit {code}]\n"),
        None => text += "[killed]\n",
    }
    Ok(text)
}

/// The blocks of a page in this language, without their fences.
pub fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let opening = format!("```{language}\n");
    text.split(opening.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_filled_in_and_the_rest_is_kept() {
        let page = "text\n```console\n$ echo one; false\nwrong\n$ echo two >&2\n```\n$ echo no\n";
        let expected = "text\n```console\n$ echo one; false\none\n[exit 1]\n$ echo two >&2\ntwo\n```\n$ echo no\n";
        assert_eq!(run(page, Path::new("/bin/sh")).unwrap(), expected);
    }
}
