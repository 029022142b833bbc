//! Who may depend on whom and on how much, and which Rust they need.

use super::{Tracked, output};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// How many crates of others a crate may bring along. The one of the shim is `xxhash-rust`.
const MAX_TREE: [(&str, usize); 4] =
    [("everypath-shim", 1), ("everypath-explore", 5), ("everypath-model", 50), ("everypath", 120)];

/// For each crate, the crates that it may use; `None` means all.
type Table = BTreeMap<String, Option<BTreeSet<String>>>;

pub(super) fn check(root: &Path, files: &[Tracked]) -> Result<Vec<String>> {
    let architecture = files.iter().find(|file| file.path == Path::new("ARCHITECTURE.md"));
    let table = allowed(&architecture.context("ARCHITECTURE.md is tracked")?.text);
    let mut faults = dependencies(root, &table)?;
    faults.extend(tree_sizes(root)?);
    faults.extend(rust_versions(files));
    Ok(faults)
}

/// The table in ARCHITECTURE.md.
fn allowed(text: &str) -> Table {
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

/// Dependencies between our crates that the table does not allow, and rows without a crate.
fn dependencies(root: &Path, table: &Table) -> Result<Vec<String>> {
    let arguments = ["metadata", "--no-deps", "--format-version", "1", "--offline"];
    let mut packages = Vec::new();
    // The shim is a workspace of its own.
    for folder in [root.to_path_buf(), root.join("crates/shim")] {
        let metadata = output(Command::new("cargo").args(arguments).current_dir(folder))?;
        let metadata: Value = serde_json::from_str(&metadata)?;
        let listed = metadata["packages"].as_array().context("cargo metadata lists packages")?;
        packages.extend(listed.iter().cloned());
    }
    packages.retain(|package| {
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        Path::new(manifest).starts_with(root.join("crates"))
    });
    let names: BTreeSet<&str> =
        packages.iter().filter_map(|package| package["name"].as_str()).map(short).collect();
    let idle = table.keys().filter(|name| !names.contains(name.as_str()));
    let idle = idle.map(|name| format!("ARCHITECTURE.md: a row for {name}, which is no crate"));
    Ok(packages.iter().flat_map(|package| forbidden_edges(package, table)).chain(idle).collect())
}

/// What a package, as `cargo metadata` describes it, may not depend on and does.
fn forbidden_edges(package: &Value, table: &Table) -> Vec<String> {
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

/// Crates that bring more crates of others along than they may.
fn tree_sizes(root: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for (package, most) in MAX_TREE {
        // In its own folder: the shim is a workspace of its own.
        let folder = root.join("crates").join(short(package));
        let arguments = ["tree", "--package", package, "--edges", "normal,build"];
        let tree = output(
            Command::new("cargo")
                .args(arguments)
                .args(["--prefix", "none", "--no-dedupe", "--offline"])
                .current_dir(folder),
        )?;
        let names = tree.lines().filter_map(|line| line.split_whitespace().next());
        let others: BTreeSet<&str> = names.filter(|name| !name.starts_with("everypath")).collect();
        let found = others.len();
        if found > most {
            faults.push(format!("{package}: brings {found} crates of others, at most {most} may"));
        }
    }
    Ok(faults)
}

/// The line of a manifest that states the oldest Rust.
fn rust_version(manifest: &str) -> Option<&str> {
    manifest.lines().find(|line| line.starts_with("rust-version"))
}

/// Manifests that state another oldest Rust than the workspace's; those of the workspace inherit it.
fn rust_versions(files: &[Tracked]) -> Vec<String> {
    let is_root = |file: &&Tracked| file.path == Path::new("Cargo.toml");
    let Some(stated) = files.iter().find(is_root).and_then(|file| rust_version(&file.text)) else {
        return vec!["Cargo.toml: no rust-version".into()];
    };
    let manifests = files.iter().filter(|file| file.path.ends_with("Cargo.toml"));
    let agrees = |file: &Tracked| {
        rust_version(&file.text)
            .is_some_and(|line| line == stated || line == "rust-version.workspace = true")
    };
    manifests
        .filter(|file| !agrees(file))
        .map(|file| format!("{}: should have {stated}, as Cargo.toml", file.path.display()))
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
    fn manifests_agree_about_rust() {
        let manifest = |path: &str, text: &str| Tracked { path: path.into(), text: text.into() };
        let root = || manifest("Cargo.toml", "[workspace.package]\nrust-version = \"1.95\"\n");
        let faults = |text| rust_versions(&[root(), manifest("bench/Cargo.toml", text)]).len();
        assert_eq!(faults("rust-version = \"1.95\"\n"), 0);
        assert_eq!(faults("rust-version.workspace = true\n"), 0);
        assert_eq!(faults("rust-version = \"1.80\"\n"), 1);
        assert_eq!(faults("[package]\n"), 1);
    }
}
