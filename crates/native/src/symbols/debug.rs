//! The debug information of a module.

use super::frame::Frame;
use super::plain;
use gimli::{EndianArcSlice, LittleEndian};
use object::{CompressionFormat, Object, ObjectSection};
use std::sync::Arc;

type Reader = EndianArcSlice<LittleEndian>;

/// Functions and lines, from DWARF.
pub(super) struct Debug(addr2line::Context<Reader>);

impl Debug {
    /// `None` if there is none that we can read.
    pub(super) fn new(file: &object::File<'_>, bytes: &Arc<[u8]>) -> Option<Self> {
        let whole = EndianArcSlice::new(Arc::clone(bytes), LittleEndian);
        let empty = whole.range(0..0);
        let load = |id: gimli::SectionId| -> Result<Reader, gimli::Error> {
            let range = file.section_by_name(id.name()).and_then(|section| {
                let range = section.compressed_file_range().ok()?;
                let start = usize::try_from(range.offset).ok()?;
                let end = start.checked_add(usize::try_from(range.uncompressed_size).ok()?)?;
                let plain = range.format == CompressionFormat::None && end <= bytes.len();
                plain.then_some(start..end)
            });
            Ok(range.map_or_else(|| empty.clone(), |range| whole.range(range)))
        };
        let dwarf = gimli::Dwarf::load(load).ok()?;
        addr2line::Context::from_dwarf(dwarf).ok().map(Debug)
    }

    /// The functions at an address of the file, innermost first. `empty` is the frame that they
    /// fill in.
    pub(super) fn frames(&self, address: u64, empty: &Frame) -> Vec<Frame> {
        let directory = self.directory(address);
        let mut found = Vec::new();
        let Ok(mut frames) = self.0.find_frames(address).skip_all_loads() else { return found };
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.as_ref().and_then(|name| name.demangle().ok());
            let file = frame.location.as_ref().and_then(|location| location.file);
            let dependency = file.and_then(dependency);
            found.push(Frame {
                function: function.map(std::borrow::Cow::into_owned),
                file: file.map(|file| {
                    dependency.unwrap_or_else(|| relative(file, &directory)).to_string()
                }),
                is_dependency: dependency.is_some(),
                directory: directory.clone(),
                line: frame.location.and_then(|location| location.line).filter(|&line| line > 0),
                ..empty.clone()
            });
        }
        found
    }

    /// The names of the functions at an address of the file, innermost first, if all of them are of one
    /// language of which [`plain`](super::plain) knows how atomic accesses look.
    pub(super) fn functions(&self, address: u64) -> Option<(plain::Language, Vec<String>)> {
        let mut frames = self.0.find_frames(address).skip_all_loads().ok()?;
        let (mut language, mut names) = (None, Vec::new());
        while let Ok(Some(frame)) = frames.next() {
            // Where compilers merge instructions they keep what these have in common: a function around
            // those that were inlined, and no line.
            frame.location?.line.filter(|&line| line > 0)?;
            let function = frame.function?;
            language = Some(plain::Language::of(function.language?)?);
            names.push(function.demangle().ok()?.into_owned());
        }
        Some((language?, names))
    }

    /// The folder that the code at an address was compiled in.
    fn directory(&self, address: u64) -> String {
        let unit = self.0.find_dwarf_and_unit(address).skip_all_loads();
        let directory = unit.and_then(|unit| {
            let directory = unit.unit.comp_dir.clone()?;
            Some(String::from_utf8_lossy(directory.bytes()).into_owned())
        });
        directory.unwrap_or_default()
    }
}

/// The file as seen from the folder it was compiled in, if it is in there.
fn relative<'a>(file: &'a str, directory: &str) -> &'a str {
    let inside = file.strip_prefix(directory).filter(|_| !directory.is_empty());
    match inside.and_then(|file| file.strip_prefix('/')) {
        Some(file) => file.trim_start_matches("./"),
        None => file,
    }
}

/// The file of a crate that cargo fetched, from the crate's own folder on.
fn dependency(file: &str) -> Option<&str> {
    let fetched = ["/registry/src/", "/git/checkouts/"].into_iter().find_map(|folder| {
        let (_, inside) = file.split_once(folder)?;
        Some(inside.split_once('/')?.1)
    });
    fetched.filter(|_| file.ends_with(".rs"))
}

#[cfg(test)]
mod tests {
    use super::{dependency, relative};

    #[test]
    fn crates_of_others_are_told_from_the_program() {
        let tokio =
            "/home/me/.cargo/registry/src/index.crates.io-0123/tokio-1.48.0/src/task/mod.rs";
        assert_eq!(dependency(tokio), Some("tokio-1.48.0/src/task/mod.rs"));
        let git = "/home/me/.cargo/git/checkouts/mio-01/ab12/src/poll.rs";
        assert_eq!(dependency(git), Some("ab12/src/poll.rs"));
        assert_eq!(dependency("/home/me/bank/src/registry/src.rs"), None);
    }

    #[test]
    fn files_are_relative_to_their_folder() {
        assert_eq!(relative("/home/me/bank/src/main.rs", "/home/me/bank"), "src/main.rs");
        assert_eq!(relative("/home/me/bank/./main.c", "/home/me/bank"), "main.c");
        assert_eq!(relative("/home/me/banking/main.c", "/home/me/bank"), "/home/me/banking/main.c");
        assert_eq!(
            relative("/rustc/0123/library/core/src/a.rs", ""),
            "/rustc/0123/library/core/src/a.rs"
        );
    }
}
