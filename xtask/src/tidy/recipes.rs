//! Recipes of `docs/dev/adding.md` that must stay complete: that of a fault.

use super::Tracked;

/// Where the faults of calls are declared: names, wording, and from there budget, charts and lists.
const DECLARED: &str = "crates/shim-abi/src/faults.rs";
/// Where their names are values of an option.
const NAMED: &str = "crates/trace/src/check_config/values.rs";
/// Where they strike.
const STRIKES: &str = "crates/vkernel/src/";
const RECIPE: &str = "docs/dev/adding.md";
/// Source files that a fault may need.
const MOST: usize = 5;
/// Sources that name a fault for a reason of their own, with it: a search that emulates it.
const BESIDES: [(&str, &str); 1] = [("crates/check/src/emission.rs", "Reset")];

pub(super) fn check(files: &[Tracked]) -> Vec<String> {
    let find = |path: &str| files.iter().find(|file| file.path == std::path::Path::new(path));
    let Some(declared) = find(DECLARED) else { return Vec::new() };
    let mut wrong: Vec<String> = faults(&declared.text)
        .into_iter()
        .flat_map(|(variant, name)| each(files, &variant, &name))
        .collect();
    if let Some(recipe) = find(RECIPE) {
        let unnamed = [DECLARED, NAMED, STRIKES.trim_end_matches('/')];
        let unnamed = unnamed.into_iter().filter(|path| !recipe.text.contains(path));
        wrong.extend(unnamed.map(|path| format!("{RECIPE}: a fault needs {path}")));
    }
    wrong
}

/// The variants of `Fault`, each with its name on the command line.
fn faults(text: &str) -> Vec<(String, String)> {
    let names = text.split("fn name").nth(1).and_then(|rest| rest.split("fn words").next());
    let arms = names.unwrap_or_default().lines().filter_map(|line| {
        let (variant, name) = line.trim().strip_prefix("Fault::")?.split_once(" => ")?;
        Some((variant.into(), name.trim_end_matches(',').into()))
    });
    arms.collect()
}

/// What is wrong with where one of them is named.
fn each(files: &[Tracked], variant: &str, name: &str) -> Vec<String> {
    let named: Vec<String> = files
        .iter()
        .filter(|file| is_source(file) && names(file, variant, name))
        .map(|file| file.path.display().to_string())
        .collect();
    let is_of_recipe = |path: &str| {
        path == DECLARED
            || path == NAMED
            || path.starts_with(STRIKES)
            || BESIDES.contains(&(path, variant))
    };
    let unknown = named.iter().filter(|path| !is_of_recipe(path));
    let mut wrong: Vec<String> =
        unknown.map(|path| format!("{path}: the recipe of a fault ({variant}) lacks it")).collect();
    if named.len() > MOST {
        wrong.push(format!("a fault ({variant}) takes {} files, at most {MOST} may", named.len()));
    }
    wrong
}

/// Whether a file is a source of the crates that know the faults of calls, and no test.
fn is_source(file: &Tracked) -> bool {
    const OTHERS: [&str; 1] = ["crates/net/"];
    let path = file.path.to_string_lossy();
    let is_test = path.contains("/tests/") || path.ends_with("tests.rs");
    file.has_extension("rs")
        && path.starts_with("crates/")
        && !is_test
        && !OTHERS.iter().any(|other| path.starts_with(other))
}

/// Whether the code of a file, tests left out, names a fault.
fn names(file: &Tracked, variant: &str, name: &str) -> bool {
    let code = file.text.split("#[cfg(test)]\n").next().unwrap_or_default();
    let path = format!("Fault::{variant}");
    let mut found = code.match_indices(&path).map(|(at, _)| &code[at + path.len()..]);
    let is_whole = found.any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
    is_whole || file.path == std::path::Path::new(NAMED) && code.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> Tracked {
        Tracked { path: path.into(), text: text.into() }
    }

    /// A toy fault, made by the recipe.
    fn toy() -> Vec<Tracked> {
        vec![
            file(
                DECLARED,
                "pub enum Fault {\n    Toy,\n}\nfn name(self) {\n        Fault::Toy => \"toy\",\n}\n\
                 fn words(self) {\n        Fault::Toy => \"a toy breaks\",\n}\n",
            ),
            file(NAMED, "const NAMES: [&str; 1] = [\"toy\"];\n"),
            file("crates/vkernel/src/pipe.rs", "strikes(k, Fault::Toy, Object::NONE)\n"),
            file(RECIPE, &[DECLARED, NAMED, STRIKES].join(" ")),
        ]
    }

    #[test]
    fn a_toy_fault_needs_what_the_recipe_names() {
        assert_eq!(faults(&toy()[0].text), [("Toy".to_owned(), "\"toy\"".to_owned())]);
        assert_eq!(check(&toy()), Vec::<String>::new());
    }

    #[test]
    fn a_file_that_the_recipe_lacks_is_found() {
        let mut files = toy();
        files.push(file("crates/native/src/describe/faults.rs", "Fault::Toy => \"broken\",\n"));
        let wrong = check(&files);
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].starts_with("crates/native/src/describe/faults.rs"), "{wrong:?}");
    }

    #[test]
    fn too_many_files_are_found() {
        let mut files = toy();
        let more = ["tcp", "udp", "unix"].map(|name| format!("crates/vkernel/src/{name}.rs"));
        files.extend(more.iter().map(|path| file(path, "Fault::Toy\n")));
        assert_eq!(check(&files).len(), 1);
    }

    #[test]
    fn a_recipe_that_names_less_is_found() {
        let mut files = toy();
        files[3] = file(RECIPE, DECLARED);
        assert_eq!(check(&files).len(), 2);
    }

    #[test]
    fn tests_and_longer_names_do_not_count() {
        let mut files = toy();
        files.push(file("crates/check/tests/faults.rs", "Fault::Toy\n"));
        files.push(file("crates/check/src/other.rs", "Fault::ToyCar\n#[cfg(test)]\nFault::Toy\n"));
        assert_eq!(check(&files), Vec::<String>::new());
    }
}
