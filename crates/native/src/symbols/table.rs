//! The symbols of one kind of a module, by address.

use object::{Object, ObjectSymbol, SymbolKind};

struct Entry {
    start: u64,
    size: u64,
    name: String,
}

/// Symbols that have a size, sorted by their addresses in the file; one for each address.
pub(super) struct Table(Vec<Entry>);

impl Table {
    pub(super) fn new(file: &object::File<'_>, kind: SymbolKind) -> Self {
        let symbols = file.symbols().chain(file.dynamic_symbols());
        let sized = symbols
            .filter(|symbol| symbol.kind() == kind && symbol.size() > 0 && !symbol.is_undefined());
        let mut entries: Vec<Entry> = sized
            .filter_map(|symbol| {
                let name = symbol.name().ok()?.to_string();
                Some(Entry { start: symbol.address(), size: symbol.size(), name })
            })
            .collect();
        // Of several names for one thing, the one people use has the fewest underscores.
        entries.sort_by_cached_key(|entry| {
            let underscores = entry.name.len() - entry.name.trim_start_matches('_').len();
            (entry.start, u64::MAX - entry.size, underscores, entry.name.clone())
        });
        entries.dedup_by_key(|entry| entry.start);
        Table(entries)
    }

    /// The symbol that the address is in, demangled, and how far into it the address is.
    pub(super) fn find(&self, address: u64) -> Option<(String, u64)> {
        let index = self.0.partition_point(|entry| entry.start <= address);
        let entry = self.0.get(index.checked_sub(1)?)?;
        let offset = address - entry.start;
        let name = || match entry.name.starts_with('_') {
            true => addr2line::demangle_auto(entry.name.as_str().into(), None).into_owned(),
            // A variable of C called x would become the type that x stands for in C++.
            false => entry.name.clone(),
        };
        (offset < entry.size).then(|| (name(), offset))
    }
}
