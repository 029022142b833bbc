//! How long source files get, where modules and tests are, and what must not be committed.

use super::Tracked;

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
    faults.extend(forgotten_tests(sources()));
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
    fn a_test_that_is_not_named_is_found() {
        let faults = |named| {
            let files = [file("c/tests/all.rs", named), file("c/tests/one.rs", "")];
            forgotten_tests(files.iter()).len()
        };
        assert_eq!(faults("mod one;\n"), 0);
        assert_eq!(faults("mod other;\n"), 1);
    }
}
