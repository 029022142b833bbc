//! How long source files get, where modules and tests are, and what must not be committed.

use super::Tracked;
use std::collections::BTreeSet;
use std::path::Path;

/// The longest source file.
const MAX_LINES: usize = 800;
/// What must not be committed in a source file. (Split, so that this file may be.)
const FORBIDDEN: [&str; 4] = [
    concat!("FIX", "ME"),
    concat!("#[ign", "ore"),
    concat!("unimpl", "emented!("),
    concat!("tod", "o!("),
];

pub(super) fn check(files: &[Tracked]) -> Vec<String> {
    let sources = || files.iter().filter(|file| file.has_extension("rs"));
    let mut faults: Vec<String> = sources().flat_map(source).collect();
    faults.extend(files.iter().flat_map(unfinished_merge));
    faults.extend(forgotten_tests(sources()));
    faults.extend(module_roots(sources()));
    faults
}

/// What is wrong with a source file.
fn source(file: &Tracked) -> Vec<String> {
    let lines = file.text.lines().count();
    let is_long = lines > MAX_LINES;
    let long =
        is_long.then(|| format!("{}: {lines} lines, at most {MAX_LINES}", file.path.display()));
    long.into_iter().chain(file.lines_with(&FORBIDDEN)).collect()
}

/// Lines that git writes between the two sides of a conflict.
fn unfinished_merge(file: &Tracked) -> impl Iterator<Item = String> {
    let lines = file.text.lines().enumerate();
    let left =
        lines.filter(|(_, line)| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> "));
    left.map(|(number, _)| format!("{}:{}: an unfinished merge", file.path.display(), number + 1))
}

/// Tests that no binary has: `tests/all.rs` names the files beside it.
fn forgotten_tests<'a>(sources: impl Iterator<Item = &'a Tracked> + Clone) -> Vec<String> {
    let roots = sources.clone().filter(|file| file.path.ends_with("tests/all.rs"));
    roots
        .flat_map(|root| {
            let beside = sources.clone().filter(|file| file.path.parent() == root.path.parent());
            let modules = beside.filter_map(|file| file.path.file_stem()?.to_str());
            modules
                .filter(|module| {
                    let line = format!("mod {module};");
                    *module != "all" && !root.text.lines().any(|found| found == line)
                })
                .map(|module| format!("{}: does not name {module}", root.path.display()))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Modules whose file is beside their folder, instead of being its `mod.rs`.
fn module_roots<'a>(sources: impl Iterator<Item = &'a Tracked> + Clone) -> Vec<String> {
    let folders: BTreeSet<&Path> = sources.clone().filter_map(|file| file.path.parent()).collect();
    sources
        .filter(|file| folders.contains(file.path.with_extension("").as_path()))
        .map(|file| {
            let root = file.path.with_extension("").join("mod.rs");
            format!("{}: should be {}", file.path.display(), root.display())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> Tracked {
        Tracked { path: path.into(), text: text.into() }
    }

    #[test]
    fn faults_in_a_source_file_are_found() {
        let text = format!("fn f() {{}}\n// {}: later\n", FORBIDDEN[0]);
        assert_eq!(source(&file("a.rs", &text)).len(), 1);
        assert_eq!(source(&file("a.rs", &"\n".repeat(MAX_LINES + 1))).len(), 1);
    }

    #[test]
    fn an_unfinished_merge_is_found() {
        let text = "one\n<<<<<<< HEAD\ntwo\n>>>>>>> other\n";
        assert_eq!(unfinished_merge(&file("a.md", text)).count(), 2);
        assert_eq!(unfinished_merge(&file("a.md", "one\n")).count(), 0);
    }

    #[test]
    fn a_module_beside_its_folder_is_found() {
        let faults = |root| {
            let files = [file(root, ""), file("a/one/two.rs", ""), file("a/three.rs", "")];
            module_roots(files.iter())
        };
        assert_eq!(faults("a/one/mod.rs"), Vec::<String>::new());
        assert_eq!(faults("a/one.rs"), ["a/one.rs: should be a/one/mod.rs"]);
    }

    #[test]
    fn a_test_that_is_not_named_is_found() {
        let faults = |named| {
            let files = [file("c/tests/all.rs", named), file("c/tests/one.rs", "")];
            forgotten_tests(files.iter()).len()
        };
        assert_eq!(faults("mod one;\n"), 0);
        assert_eq!(faults("mod other;\n"), 1);
    }
}
