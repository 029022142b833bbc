//! Code whose memory accesses nobody sees, by name.

use super::CopiedModule;
use crate::patching::Loaded;
use crate::symbols::{Module, Symbols};

/// The functions that stay as they are: `NAME in MODULE`, or where they are in the module.
pub(crate) fn unseen<'a>(
    copied: impl Iterator<Item = &'a CopiedModule>,
    loaded: &[Loaded],
) -> Vec<String> {
    let mut names = Vec::new();
    for module in copied.filter(|module| !module.copy.unseen.is_empty()) {
        let file = loaded.iter().find(|loaded| loaded.path == module.path);
        let place = Module { path: module.path.clone(), base: module.base };
        let symbols =
            Symbols::new(file.map(|file| (place, file.bytes.clone())).into_iter().collect());
        let short = module.path.file_name().unwrap_or(module.path.as_os_str()).to_string_lossy();
        names.extend(module.copy.unseen.iter().map(|&address| {
            let frames = symbols.frames(address.wrapping_add(module.base), false);
            match frames.last().and_then(|frame| frame.function.as_ref()) {
                Some(function) => format!("{function} in {short}"),
                None => format!("{short}+{address:#x}"),
            }
        }));
    }
    names
}
