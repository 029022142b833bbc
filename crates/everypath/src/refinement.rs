//! `--refines`: the events of a native program, compared with a model of the catalog.

use crate::usage::Usage;
use everypath_check::{Compared, Specification};
use everypath_model::Catalog;
use everypath_model::refinement;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

/// A model, and what was compared with it.
#[derive(Debug)]
struct Refined {
    specification: refinement::Specification,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    /// Hashes of the sequences of events; they are only counted.
    logs: BTreeSet<u64>,
    events: u64,
}

/// The model that the events of a program are compared with, if one is named.
pub(crate) fn specification(
    catalog: &Catalog,
    words: Option<&str>,
) -> Result<Option<Arc<dyn Specification>>, Usage> {
    let Some(words) = words else { return Ok(None) };
    let specification = refinement::Specification::new(catalog, words)?;
    Ok(Some(Arc::new(Refined { specification, counts: Mutex::default() })))
}

impl Specification for Refined {
    fn judge(&self, events: &[&str]) -> Result<Option<String>, String> {
        if !events.is_empty() {
            let mut hash = DefaultHasher::new();
            events.hash(&mut hash);
            let mut counts = self.counts.lock().expect("nobody panics while holding it");
            if counts.logs.insert(hash.finish()) {
                counts.events += events.len() as u64;
            }
        }
        self.specification.judge(events)
    }

    fn compared(&self) -> Compared {
        let counts = self.counts.lock().expect("nobody panics while holding it");
        Compared {
            model: self.specification.name().into(),
            logs: counts.logs.len() as u64,
            events: counts.events,
        }
    }
}
