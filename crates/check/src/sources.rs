//! Excerpts of the sources that stacks name, for the trace.

use everypath_native::SourceLines;
use everypath_trace::Excerpt;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// So many lines around each that a stack names.
const AROUND: u32 = 4;
/// A file that is longer, in bytes, is not read.
const MAX_FILE: u64 = 4 << 20;
/// So many lines are kept of all files together.
const MAX_LINES: usize = 4000;
/// A line is cut after so many characters.
const MAX_WIDTH: usize = 240;

/// Excerpts of the files that can be read; those that cannot are left out.
pub(crate) fn excerpts(files: &BTreeMap<String, SourceLines>) -> Vec<Excerpt> {
    let mut excerpts = Vec::new();
    let mut room = MAX_LINES;
    for (file, named) in files {
        let Some(text) = read(file, &named.directory) else { continue };
        let lines: Vec<&str> = text.lines().collect();
        let last = u32::try_from(lines.len()).unwrap_or(u32::MAX);
        let around = |&line: &u32| line.saturating_sub(AROUND).max(1)..=(line + AROUND).min(last);
        let wanted: BTreeSet<u32> = named.lines.iter().flat_map(around).collect();
        for number in wanted {
            if room == 0 {
                return excerpts;
            }
            room -= 1;
            let line = lines[number as usize - 1].chars().take(MAX_WIDTH).collect();
            match excerpts.last_mut() {
                Some(Excerpt { file: known, first, lines })
                    if known == file && *first as usize + lines.len() == number as usize =>
                {
                    lines.push(line);
                }
                _ => {
                    let file = file.clone();
                    excerpts.push(Excerpt { file, first: number, lines: vec![line] });
                }
            }
        }
    }
    excerpts
}

/// The contents of a source file; a pipe or a device is none.
fn read(file: &str, directory: &str) -> Option<String> {
    let path = Path::new(directory).join(file);
    let about = fs::metadata(&path).ok()?;
    if !about.is_file() || about.len() > MAX_FILE {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(file: &str, lines: &[u32]) -> BTreeMap<String, SourceLines> {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/src").into();
        let lines = lines.iter().copied().collect();
        BTreeMap::from([(file.into(), SourceLines { directory, lines })])
    }

    #[test]
    fn lines_that_are_near_each_other_are_one_excerpt() {
        let found = excerpts(&lines_of("sources.rs", &[1, 3, 40]));
        let ranges: Vec<(u32, usize)> = found.iter().map(|of| (of.first, of.lines.len())).collect();
        assert_eq!(ranges, [(1, 7), (36, 9)]);
        assert!(found[0].lines[0].starts_with("//! Excerpts of the sources"));
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        assert_eq!(excerpts(&lines_of("nowhere.rs", &[1])), []);
        assert_eq!(excerpts(&lines_of("/dev/zero", &[1])), []);
        let beyond = excerpts(&lines_of("sources.rs", &[1_000_000]));
        assert_eq!(beyond, [], "the file is shorter now");
    }
}
