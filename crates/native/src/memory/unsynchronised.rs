//! Pairs of accesses that nothing orders, and of which nobody knows whether they are atomic.

use super::{Armed, Instruction};
use crate::symbols::{Module, Symbols};
use everypath_rewrite::is_locked;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// The pairs whose accesses were scheduling points because they conflict, each access as a place in the
/// source. Left out are those with an access that is certainly atomic, and those of which the other is in
/// the same line.
pub fn unsynchronised(armed: &Armed) -> Vec<[String; 2]> {
    let modules: BTreeSet<&Path> =
        armed.pairs.iter().flatten().map(|access| access.module.as_path()).collect();
    let modules: BTreeMap<&Path, (Arc<[u8]>, Symbols)> = modules
        .into_iter()
        .filter_map(|path| {
            let bytes: Arc<[u8]> = std::fs::read(path).ok()?.into();
            let place = Module { path: path.into(), base: 0 };
            Some((path, (Arc::clone(&bytes), Symbols::new(vec![(place, bytes)]))))
        })
        .collect();
    let place = |access: &Instruction| {
        let (bytes, symbols) = modules.get(access.module.as_path())?;
        let is_atomic =
            symbols.is_atomic(access.address) || is_locked(bytes, access.address).unwrap_or(false);
        (!is_atomic).then(|| in_words(symbols, access))
    };
    let places = |[one, other]: &[Instruction; 2]| {
        let mut places = [place(one)?, place(other)?];
        places.sort();
        Some(places)
    };
    armed.pairs.iter().filter_map(places).collect::<BTreeSet<_>>().into_iter().collect()
}

fn in_words(symbols: &Symbols, access: &Instruction) -> String {
    let frames = symbols.frames(access.address, false);
    // Whose code it is says more than which function of a library was inlined there.
    let frame = frames.iter().find(|frame| !frame.is_dependency).or(frames.first());
    let Some(frame) = frame else { return access.to_string() };
    let function = frame.function.as_deref().unwrap_or("a function");
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!("{function} at {file}:{line}"),
        _ => format!("{function} at {access}"),
    }
}
