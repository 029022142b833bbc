//! Links, and words that the field has better ones for.

use super::Tracked;
use std::path::Path;

/// Words of our own for what has a name, and the name. They are never right, neither in pages nor in
/// names, comments and messages of sources. (Split, so that this file may be.)
const PRIVATE: [(&str, &str); 11] = [
    (concat!("put ", "back"), "restore"),
    (concat!("puts ", "back"), "restores"),
    (concat!("held ", "against"), "compared with"),
    (concat!("touches ", "everything"), "depends on every step"),
    (concat!("made ", "simple "), "minimised"),
    (concat!("what is ", "waiting"), "the frontier, or which thread waits for what"),
    (concat!("who ", "waits"), "the thread that waits"),
    (concat!("Who ", "waits"), "A thread that waits"),
    (concat!("what ", "carries"), "how threads run"),
    (concat!("What ", "carries"), "How threads run"),
    (concat!("wi", "sh"), "request"),
];
/// Folders that exist on one machine only.
const MACHINE: [&str; 2] = [concat!("/ro", "ot/"), concat!("/wo", "rk/")];

pub(super) fn check(root: &Path, files: &[Tracked]) -> Vec<String> {
    let pages = files.iter().filter(|file| file.has_extension("md"));
    let mut faults: Vec<String> = pages.flat_map(|page| links(root, page)).collect();
    for file in files {
        faults.extend(file.lines_with(&MACHINE));
        if ["md", "rs"].iter().any(|extension| file.has_extension(extension)) {
            faults.extend(private_words(file));
        }
    }
    faults
}

/// Links to files that are not there.
fn links(root: &Path, page: &Tracked) -> Vec<String> {
    let folder = root.join(&page.path).parent().map(Path::to_path_buf).unwrap_or_default();
    let targets = page.text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let local = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    local
        .map(|target| target.split('#').next().unwrap_or(target))
        .filter(|target| !folder.join(target).exists())
        .map(|target| format!("{}: broken link to {target}", page.path.display()))
        .collect()
}

/// Words of our own, each with the one to use.
fn private_words(file: &Tracked) -> Vec<String> {
    let find = |&(private, better): &(&str, &str)| {
        let found: Vec<String> = file.lines_with(&[private]).collect();
        found.into_iter().map(move |fault| format!("{fault}; say: {better}")).collect::<Vec<_>>()
    };
    PRIVATE.iter().flat_map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_word_is_found_with_the_one_to_use() {
        let text = format!("one\nand {} again\n", PRIVATE[0].0);
        let faults = private_words(&Tracked { path: "a.md".into(), text });
        assert_eq!(faults, [format!("a.md:2: {}; say: restore", PRIVATE[0].0)]);
    }

    #[test]
    fn a_broken_link_is_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let page = |text: &str| Tracked { path: "a.md".into(), text: text.into() };
        assert_eq!(links(root, &page("[here](Cargo.toml#x) [web](https://a.b)")).len(), 0);
        assert_eq!(links(root, &page("[gone](nowhere.md)")).len(), 1);
    }
}
