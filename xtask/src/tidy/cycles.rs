//! Cycles of modules: in which of them one cannot be understood without all others.

use super::Tracked;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

/// How many modules of a crate may depend on each other in a cycle.
const MOST: usize = 5;
/// Crates that have larger ones, and how large they may be: to be made smaller, never larger.
const LARGER: [(&str, usize); 1] = [("vkernel", 34)];

/// For each module of a crate, those that it names.
type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

pub(super) fn check(files: &[Tracked]) -> Vec<String> {
    let mut crates: BTreeMap<&str, Vec<(&str, &Tracked)>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.has_extension("rs")) {
        if let Some((package, module)) = module_of(&file.path) {
            crates.entry(package).or_default().push((module, file));
        }
    }
    crates.iter().filter_map(|(package, files)| too_large(package, &graph(files))).collect()
}

/// The crate and the module at its root that a file belongs to.
fn module_of(path: &Path) -> Option<(&str, &str)> {
    let mut parts = path.components().map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    if parts.next()?? != "crates" {
        return None;
    }
    let package = parts.next()??;
    if parts.next()?? != "src" {
        return None;
    }
    let first = parts.next()??;
    let module = first.strip_suffix(".rs").unwrap_or(first);
    (!matches!(module, "lib" | "main")).then_some((package, module))
}

/// What the modules of a crate name of each other, tests left out.
fn graph<'a>(files: &[(&'a str, &'a Tracked)]) -> Graph<'a> {
    let mut graph: Graph<'a> = files.iter().map(|(module, _)| (*module, BTreeSet::new())).collect();
    let modules: BTreeSet<&str> = graph.keys().copied().collect();
    for (module, file) in files {
        let is_test = file.path.ends_with("tests.rs") || file.path.iter().any(|at| at == "tests");
        if is_test {
            continue;
        }
        let named = named_modules(&file.text);
        let others = named.into_iter().filter(|name| name != module && modules.contains(name));
        graph.entry(module).or_default().extend(others);
    }
    graph
}

/// The names that stand behind `crate::`, alone or in braces.
fn named_modules(text: &str) -> BTreeSet<&str> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let mut named = BTreeSet::new();
    for (line, rest) in code.match_indices("crate::").map(|(at, it)| (at, &code[at + it.len()..])) {
        let start = code[..line].rfind('\n').map_or(0, |at| at + 1);
        if code[start..line].contains("//") {
            continue;
        }
        match rest.strip_prefix('{') {
            Some(group) => named.extend(heads(group)),
            None => named.extend(name(rest)),
        }
    }
    named
}

/// The name that a text begins with.
fn name(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    Some(&text[..end]).filter(|name| !name.is_empty())
}

/// The first name of each path in a group of `use`, up to its closing brace.
fn heads(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (1, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || depth == 1 && c == ',' {
            found.extend(name(&group[start..at]));
            start = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    found
}

/// The fault of a crate whose largest cycle is larger than it may be.
fn too_large(package: &str, graph: &Graph<'_>) -> Option<String> {
    let most = LARGER.iter().find(|(name, _)| *name == package).map_or(MOST, |(_, most)| *most);
    let cycle = largest_cycle(graph);
    (cycle.len() > most).then(|| {
        let modules: Vec<&str> = cycle.iter().copied().collect();
        format!(
            "crates/{package}: {} modules depend on each other, at most {most} may: {}",
            modules.len(),
            modules.join(", ")
        )
    })
}

/// The largest set of modules that all reach each other.
fn largest_cycle<'a>(graph: &Graph<'a>) -> BTreeSet<&'a str> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|module| (*module, reached_from(graph, module))).collect();
    let cycle_of = |module: &&'a str| -> BTreeSet<&'a str> {
        let others = reached[module].iter().filter(|other| reached[**other].contains(module));
        others.filter_map(|other| graph.get_key_value(other)).map(|(name, _)| *name).collect()
    };
    graph.keys().map(cycle_of).max_by_key(BTreeSet::len).unwrap_or_default()
}

/// The modules that one reaches in one step or more.
fn reached_from<'a>(graph: &Graph<'a>, module: &str) -> BTreeSet<&'a str> {
    let (mut reached, mut left) = (BTreeSet::new(), vec![module]);
    while let Some(next) = left.pop() {
        for other in graph.get(next).into_iter().flatten() {
            if reached.insert(*other) {
                left.push(other);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_found_in_paths_and_groups() {
        let text = "use crate::a::B;\n// crate::no::X\nuse crate::{b, c::{d, E}, f::G};\n\
                    fn h() { crate::i::j() }\n#[cfg(test)]\nmod tests {\nuse crate::k;\n";
        assert_eq!(named_modules(text), BTreeSet::from(["a", "b", "c", "f", "i"]));
    }

    #[test]
    fn a_large_cycle_is_found() {
        let names = ["a", "b", "c", "d", "e", "f"];
        let file = |at: usize| Tracked {
            path: format!("crates/x/src/{}.rs", names[at]).into(),
            text: format!("use crate::{};\n", names[(at + 1) % names.len()]),
        };
        let all: Vec<Tracked> = (0..names.len()).map(file).collect();
        assert_eq!(check(&all).len(), 1);
        assert_eq!(check(&all[1..]).len(), 0);
    }
}
