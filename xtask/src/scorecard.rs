//! `cargo xtask scorecard`: runs programs that nobody here wrote, from `xtask/scorecard.toml`, and
//! writes what became of each into docs/compatibility.md. Debian packages that are missing are installed.

#![expect(clippy::print_stdout, reason = "progress is what a person waits for")]

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The list.
const LIST: &str = "xtask/scorecard.toml";
/// The page that it is written into, and what stands around the part that is written.
const PAGE: &str = "docs/compatibility.md";
const BEGIN: &str = "<!-- scorecard: written by `cargo xtask scorecard` -->\n";
const END: &str = "<!-- end of the scorecard -->\n";
/// How each use is checked, before options of its own.
const OPTIONS: &str =
    "--quiet --strategy random --max-executions 20 --time quiescent --max-seconds 60";
/// What is given to a check that does not end by itself.
const SECONDS: &str = "120";
/// The first port that is given out.
const FIRST_PORT: usize = 21_000;

#[derive(Deserialize)]
struct List {
    /// Files that several uses have: a file whose content is `$name` is one of these.
    snippets: BTreeMap<String, String>,
    #[serde(rename = "use")]
    uses: Vec<Use>,
}

/// A program with arguments and peers, and what is right.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Use {
    name: String,
    package: String,
    /// The packages of its peers.
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    server: bool,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    peers: Vec<String>,
    stdin: Option<String>,
    #[serde(default)]
    options: String,
    run: String,
    /// The verdict that is right; `holds` if there is none.
    expect: Option<String>,
    /// What is to be known of it.
    note: Option<String>,
}

/// What became of a use.
struct Score {
    version: String,
    verdict: String,
    reason: String,
    executions: u64,
    seconds: f64,
}

impl Score {
    fn is_controlled(&self) -> bool {
        matches!(self.verdict.as_str(), "holds" | "violated")
    }

    fn is_right(&self, case: &Use) -> bool {
        self.verdict == case.expect.as_deref().unwrap_or("holds")
    }
}

/// Runs the uses of these names, or all, which are then written into the page.
pub(crate) fn scorecard(root: &Path, everypath: &Path, names: &[&str]) -> Result<()> {
    let text = fs::read_to_string(root.join(LIST)).context(LIST)?;
    let list: List = toml::from_str(&text).context(LIST)?;
    let wanted = |case: &Use| names.is_empty() || names.contains(&case.name.as_str());
    let mut scores = Vec::new();
    for (number, case) in list.uses.iter().enumerate().filter(|(_, case)| wanted(case)) {
        install(case)?;
        let score = run(case, &list.snippets, FIRST_PORT + number, everypath)
            .with_context(|| case.name.clone())?;
        println!("{}", line(case, &score));
        scores.push((case, score));
    }
    ensure!(!scores.is_empty(), "no use has such a name; see {LIST}");
    println!("\n{}", summary(&scores));
    if names.is_empty() { write(root, &scores) } else { Ok(()) }
}

fn is_installed(package: &str) -> bool {
    !version(package).is_empty()
}

/// The version of a package; nothing if it is not installed.
fn version(package: &str) -> String {
    let query = ["-W", "-f=${db:Status-Status} ${Version}", package];
    let asked = Command::new("dpkg-query").args(query).output();
    let text = asked.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.unwrap_or_default().strip_prefix("installed ").unwrap_or_default().into()
}

/// Installs the packages of a use that are missing. One that is in no archive is said by its use.
fn install(case: &Use) -> Result<()> {
    let packages = case.needs.iter().chain([&case.package]);
    for package in packages.filter(|package| !is_installed(package)) {
        Command::new("apt-get")
            .args(["install", "-y", "-qq", "--no-install-recommends", package])
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .context("cannot run apt-get")?;
    }
    Ok(())
}

fn run(
    case: &Use,
    snippets: &BTreeMap<String, String>,
    port: usize,
    everypath: &Path,
) -> Result<Score> {
    let folder = tempfile::tempdir()?;
    let dir = folder.path().to_str().context("a path that is text")?;
    let filled = |text: &str| text.replace("{port}", &port.to_string()).replace("{dir}", dir);
    fs::write(folder.path().join("page.txt"), "every path\n".repeat(50))?;
    // Servers give their privileges away.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    for (name, content) in &case.files {
        let snippet = content.strip_prefix('$').and_then(|name| snippets.get(name));
        let content = filled(snippet.unwrap_or(content));
        let path = folder.path().join(name);
        fs::write(&path, &content)?;
        let mode = if content.starts_with("#!") { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
    }
    let mut command = Command::new("timeout");
    command.args(["-k", "10", SECONDS]).arg(everypath).args(["check", "--json", "result.json"]);
    command.args(OPTIONS.split(' '));
    for peer in &case.peers {
        command.args(["--peer", &filled(peer)]);
    }
    if let Some(stdin) = &case.stdin {
        fs::write(folder.path().join("stdin.txt"), stdin)?;
        command.args(["--stdin", "stdin.txt"]);
    }
    command.args(case.options.split_whitespace()).arg("--");
    command.args(shlex::split(&filled(&case.run)).context("quotes of the command")?);
    let output = command.current_dir(folder.path()).stdin(Stdio::null()).output()?;
    let result = fs::read_to_string(folder.path().join("result.json")).unwrap_or_default();
    let result: serde_json::Value = serde_json::from_str(&result).unwrap_or_default();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let said = said.lines().next().unwrap_or("does not end").to_owned();
    let violation = result["violation"]["message"].as_str();
    let reason = result["reason"].as_str().or(violation);
    let is_known = result["verdict"].is_string();
    Ok(Score {
        version: version(&case.package),
        verdict: result["verdict"].as_str().unwrap_or("none").into(),
        reason: if is_known { reason.unwrap_or_default().into() } else { said },
        executions: result["stats"]["executions"].as_u64().unwrap_or(0),
        seconds: result["stats"]["seconds"].as_f64().unwrap_or(0.0),
    })
}

/// A row of the table.
fn line(case: &Use, score: &Score) -> String {
    let mark = match score.is_controlled() {
        true if score.is_right(case) => score.verdict.clone(),
        true => format!("**{}**", score.verdict),
        false => score.verdict.clone(),
    };
    let rate = match score.executions {
        executions if score.is_controlled() && score.seconds > 0.0 => {
            format!("{:.0}", executions as f64 / score.seconds)
        }
        _ => String::new(),
    };
    // Without the stack.
    let reason = score.reason.lines().next().unwrap_or_default();
    let reason = reason.split(" (in ").next().unwrap_or_default().replace('|', "\\|");
    let note = case.note.iter().cloned();
    let remarks: Vec<String> =
        [reason].into_iter().filter(|text| !text.is_empty()).chain(note).collect();
    let kind = if case.server { "server" } else { "" };
    format!(
        "| {} | {} {} | {kind} | {mark} | {rate} | {} |",
        case.name,
        case.package,
        score.version,
        remarks.join("; ")
    )
}

fn summary(scores: &[(&Use, Score)]) -> String {
    let count = |test: &dyn Fn(&Use, &Score) -> bool| {
        scores.iter().filter(|(case, score)| test(case, score)).count()
    };
    format!(
        "{} uses: {} controlled, {} of them wrong; {} of {} servers controlled.",
        scores.len(),
        count(&|_, score| score.is_controlled()),
        count(&|case, score| score.is_controlled() && !score.is_right(case)),
        count(&|case, score| case.server && score.is_controlled()),
        count(&|case, _| case.server),
    )
}

/// Writes the table into the page.
fn write(root: &Path, scores: &[(&Use, Score)]) -> Result<()> {
    let page = fs::read_to_string(root.join(PAGE)).context(PAGE)?;
    let (before, rest) = page.split_once(BEGIN).with_context(|| format!("{PAGE}: {BEGIN}"))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("{PAGE}: {END}"))?;
    let rows: String =
        scores.iter().map(|(case, score)| format!("{}\n", line(case, score))).collect();
    let text = format!(
        "{before}{BEGIN}{}\n\n| use | package | role | verdict | executions a second | remarks |\n\
         |---|---|---|---|--:|---|\n{rows}{END}{after}",
        summary(scores)
    );
    fs::write(root.join(PAGE), text).context(PAGE)
}

#[cfg(test)]
mod tests {
    use super::{LIST, List};
    use crate::ci::root;

    #[test]
    fn the_list_can_be_read() {
        let text = std::fs::read_to_string(root().unwrap().join(LIST)).unwrap();
        let list: List = toml::from_str(&text).unwrap();
        for case in &list.uses {
            for content in case.files.values() {
                let snippet = content.strip_prefix('$');
                assert!(snippet.is_none_or(|name| list.snippets.contains_key(name)), "{content}");
            }
            assert!(shlex::split(&case.run).is_some(), "{}", case.run);
        }
        let mut names: Vec<&str> = list.uses.iter().map(|case| case.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), list.uses.len(), "every use has a name of its own");
    }
}
