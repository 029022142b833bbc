//! The rules that no compiler checks: who may depend on whom, how much, and how long files get.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The longest source file.
const MAX_LINES: usize = 800;
/// How many crates a crate may bring along, itself not counted.
const MAX_TREE: [(&str, usize); 3] =
    [("everypath-shim", 5), ("everypath-explore", 11), ("everypath", 149)];
/// What must not be committed in a source file. (Split, so that this file may be.)
const FORBIDDEN: [&str; 4] = [
    concat!("FIX", "ME"),
    concat!("#[ign", "ore"),
    concat!("unimpl", "emented!("),
    concat!("tod", "o!("),
];

/// Checks everything and returns what is wrong, a line each.
pub fn tidy() -> Result<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has a parent")?;
    let mut faults = dependencies(root)?;
    faults.extend(tree_sizes(root)?);
    for file in tracked(root)? {
        let path = root.join(&file);
        let Ok(text) = fs::read_to_string(&path) else { continue };
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => faults.extend(source(&file, &text)),
            Some("md") => faults.extend(links(&path, &file, &text)),
            _ => {}
        }
    }
    Ok(faults)
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// The files that git tracks.
fn tracked(root: &Path) -> Result<Vec<PathBuf>> {
    let list = output(Command::new("git").arg("ls-files").current_dir(root))?;
    Ok(list.lines().map(PathBuf::from).collect())
}

/// The table in ARCHITECTURE.md: for each crate, the crates it may use; `None` means all.
fn allowed(text: &str) -> BTreeMap<String, Option<BTreeSet<String>>> {
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    rows.filter_map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, _, uses] = cells[..] else { return None };
        let names = uses.split(',').map(|name| name.trim().to_string());
        let uses = match uses {
            "–" => Some(BTreeSet::new()),
            _ if uses.starts_with("all") => None,
            _ => Some(names.collect()),
        };
        Some((name.trim_matches('`').to_string(), uses))
    })
    .collect()
}

/// Folder = crate = `everypath-NAME`; the binary is `everypath`.
fn short(package: &str) -> &str {
    package.strip_prefix("everypath-").unwrap_or(package)
}

/// Dependencies between our crates that the table in ARCHITECTURE.md does not allow.
fn dependencies(root: &Path) -> Result<Vec<String>> {
    let table = allowed(&fs::read_to_string(root.join("ARCHITECTURE.md"))?);
    let arguments = ["metadata", "--no-deps", "--format-version", "1", "--offline"];
    let mut packages = Vec::new();
    // The shim is a workspace of its own.
    for folder in [root.to_path_buf(), root.join("crates/shim")] {
        let metadata = output(Command::new("cargo").args(arguments).current_dir(folder))?;
        let metadata: Value = serde_json::from_str(&metadata)?;
        let listed = metadata["packages"].as_array().context("cargo metadata lists packages")?;
        packages.extend(listed.iter().cloned());
    }
    let ours = packages.iter().filter(|package| {
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        Path::new(manifest).starts_with(root.join("crates"))
    });
    Ok(ours.flat_map(|package| forbidden_edges(package, &table)).collect())
}

/// What a package, as `cargo metadata` describes it, may not depend on and does.
fn forbidden_edges(
    package: &Value,
    table: &BTreeMap<String, Option<BTreeSet<String>>>,
) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let allowed = match table.get(short(name)) {
        None => return vec![format!("{name}: no row in the table of ARCHITECTURE.md")],
        Some(None) => return Vec::new(),
        Some(Some(allowed)) => allowed,
    };
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    dependencies
        .filter(|dependency| dependency["kind"].is_null())
        .filter_map(|dependency| dependency["name"].as_str())
        .filter(|used| used.starts_with("everypath") && !allowed.contains(short(used)))
        .map(|used| format!("{name}: may not depend on {used} (see ARCHITECTURE.md)"))
        .collect()
}

/// Crates that bring more others along than they may.
fn tree_sizes(root: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for (package, most) in MAX_TREE {
        let folder = root.join("crates").join(short(package));
        if !folder.is_dir() {
            continue;
        }
        // In its own folder: the shim is a workspace of its own.
        let arguments = ["tree", "--package", package, "--edges", "normal,build"];
        let tree = output(
            Command::new("cargo")
                .args(arguments)
                .args(["--prefix", "none", "--no-dedupe", "--offline"])
                .current_dir(folder),
        )?;
        let names: BTreeSet<&str> =
            tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
        let others = names.len().saturating_sub(1);
        if others > most {
            faults.push(format!("{package}: brings {others} crates along, at most {most} may"));
        }
    }
    Ok(faults)
}

/// What is wrong with a source file.
fn source(file: &Path, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let lines = text.lines().count();
    if lines > MAX_LINES {
        faults.push(format!("{}: {lines} lines, at most {MAX_LINES}", file.display()));
    }
    for (number, line) in text.lines().enumerate() {
        for word in FORBIDDEN.iter().filter(|word| line.contains(**word)) {
            faults.push(format!("{}:{}: {word}", file.display(), number + 1));
        }
    }
    faults
}

/// Links to files that are not there.
fn links(path: &Path, file: &Path, text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let local = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    local
        .map(|target| target.split('#').next().unwrap_or(target))
        .filter(|target| !path.parent().is_some_and(|folder| folder.join(target).exists()))
        .map(|target| format!("{}: broken link to {target}", file.display()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let table = allowed(
            "| crate | purpose | may use |\n|---|---|---|\n| `a` | x | – |\n| `b` | y | a, c |\n| `d` | z | all (too) |\n",
        );
        assert_eq!(table["a"], Some(BTreeSet::new()));
        assert_eq!(table["b"], Some(BTreeSet::from(["a".to_string(), "c".to_string()])));
        assert_eq!(table["d"], None);
    }

    #[test]
    fn a_dependency_that_the_table_does_not_allow_is_found() {
        let table = allowed("| `explore` | x | trace |\n| `trace` | y | – |\n");
        let package = |name: &str, used: &str, kind: Value| serde_json::json!({"name": name, "dependencies": [{"name": used, "kind": kind}]});
        let faults = |package| forbidden_edges(&package, &table).len();
        assert_eq!(faults(package("everypath-explore", "everypath-trace", Value::Null)), 0);
        assert_eq!(faults(package("everypath-explore", "serde", Value::Null)), 0);
        assert_eq!(faults(package("everypath-trace", "everypath-explore", Value::Null)), 1);
        assert_eq!(faults(package("everypath-trace", "everypath-explore", "dev".into())), 0);
        assert_eq!(faults(package("everypath-new", "serde", Value::Null)), 1);
    }

    #[test]
    fn faults_in_a_source_file_are_found() {
        let text = format!("fn f() {{}}\n// {}: later\n", FORBIDDEN[0]);
        assert_eq!(source(Path::new("a.rs"), &text).len(), 1);
        assert_eq!(source(Path::new("a.rs"), &"\n".repeat(MAX_LINES + 1)).len(), 1);
    }

    #[test]
    fn this_project_is_tidy() {
        assert_eq!(tidy().unwrap(), Vec::<String>::new());
    }
}
