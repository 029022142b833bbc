//! One module: a file and where it is loaded.

use super::Module;
use super::debug::Debug;
use super::frame::Frame;
use super::table::Table;
use everypath_shim_abi::preload;
use object::{Object, ObjectSegment, ObjectSymbol, SegmentFlags, SymbolKind, elf};
use std::cell::OnceCell;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A module and what was found out about it so far.
pub(super) struct Loaded {
    name: String,
    pub(super) base: u64,
    pub(super) bytes: Arc<[u8]>,
    /// The addresses in the file that are loaded.
    pub(super) range: Range<u64>,
    functions: OnceCell<Table>,
    variables: OnceCell<Table>,
    debug: OnceCell<Option<Debug>>,
    instrumentation: Instrumentation,
}

/// Whether a module was built with `-fsanitize=thread`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instrumentation {
    None,
    /// It was: its atomic accesses are calls, and all others plain.
    ThreadSanitizer,
    /// It has the functions that these calls lead to.
    Runtime,
}

impl Instrumentation {
    fn of(module: &Module, file: &object::File<'_>) -> Self {
        let is_called = |symbol: &object::Symbol<'_, '_>| {
            symbol.is_undefined() && symbol.name() == Ok("__tsan_func_entry")
        };
        if module.path == Path::new(preload::TSAN_PATH) {
            Instrumentation::Runtime
        } else if file.dynamic_symbols().any(|symbol| is_called(&symbol)) {
            Instrumentation::ThreadSanitizer
        } else {
            Instrumentation::None
        }
    }
}

impl Loaded {
    pub(super) fn new(module: Module, bytes: Arc<[u8]>) -> Option<Self> {
        let file = object::File::parse(&*bytes).ok()?;
        let start = file.segments().map(|segment| segment.address()).min()?;
        let ends = file.segments().map(|segment| segment.address().saturating_add(segment.size()));
        let range = start..ends.max()?;
        let instrumentation = Instrumentation::of(&module, &file);
        let name = match module.path.file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => module.path.display().to_string(),
        };
        Some(Loaded {
            name,
            base: module.base,
            bytes,
            range,
            functions: OnceCell::new(),
            variables: OnceCell::new(),
            debug: OnceCell::new(),
            instrumentation,
        })
    }

    pub(super) fn file(&self) -> object::File<'_> {
        object::File::parse(&*self.bytes)
            .unwrap_or_else(|_| unreachable!("the file was parsed when it was given"))
    }

    pub(super) fn contains(&self, address: u64) -> bool {
        self.range.contains(&address.wrapping_sub(self.base))
    }

    /// Whether the instruction at an address of the file is certainly not atomic.
    pub(super) fn is_plain(&self, offset: u64) -> bool {
        match self.instrumentation {
            Instrumentation::None => {}
            Instrumentation::ThreadSanitizer => return !self.is_of_rust(offset),
            Instrumentation::Runtime => return false,
        }
        let debug = self.debug.get_or_init(|| Debug::new(&self.file(), &self.bytes));
        let functions = debug.as_ref().and_then(|debug| debug.functions(offset));
        functions.is_some_and(|(language, names)| language.is_plain(&names))
    }

    /// Whether an instruction is of Rust's own libraries, which are compiled beforehand, and not for
    /// ThreadSanitizer: their atomic accesses are instructions.
    fn is_of_rust(&self, offset: u64) -> bool {
        let libraries = ["std::", "core::", "alloc::", "<std::", "<core::", "<alloc::"];
        let frames = self.frames(offset.wrapping_add(self.base));
        let mut functions = frames.into_iter().filter_map(|frame| frame.function);
        functions.next().is_some_and(|name| libraries.iter().any(|start| name.starts_with(start)))
    }

    /// Whether the instruction at an address of the file belongs to an atomic access.
    pub(super) fn is_atomic(&self, offset: u64) -> bool {
        let debug = self.debug.get_or_init(|| Debug::new(&self.file(), &self.bytes));
        let functions = debug.as_ref().and_then(|debug| debug.functions(offset));
        functions.is_some_and(|(_, names)| names.iter().any(|name| name.contains("atomic")))
    }

    pub(super) fn frames(&self, address: u64) -> Vec<Frame> {
        let offset = address.wrapping_sub(self.base);
        let empty = Frame {
            function: None,
            file: None,
            directory: String::new(),
            is_dependency: false,
            line: None,
            module: self.name.clone(),
            offset,
        };
        let debug = self.debug.get_or_init(|| Debug::new(&self.file(), &self.bytes));
        let mut frames = debug.as_ref().map_or_else(Vec::new, |debug| debug.frames(offset, &empty));
        if frames.is_empty() {
            frames.push(empty);
        }
        // The outermost frame is a function of its own, and may have a symbol.
        if let Some(outermost) = frames.last_mut().filter(|frame| frame.function.is_none()) {
            let functions =
                self.functions.get_or_init(|| Table::new(&self.file(), SymbolKind::Text));
            outermost.function = functions.find(offset).map(|(name, _)| name);
        }
        frames
    }

    pub(super) fn variable(&self, address: u64) -> Option<String> {
        let offset = address.wrapping_sub(self.base);
        let variables = self.variables.get_or_init(|| Table::new(&self.file(), SymbolKind::Data));
        match variables.find(offset) {
            Some((name, 0)) => Some(name),
            Some((name, inside)) => Some(format!("{name}+{inside}")),
            None => self.is_data(offset).then(|| format!("{}+{offset:#x}", self.name)),
        }
    }

    fn is_data(&self, offset: u64) -> bool {
        self.file().segments().any(|segment| {
            let SegmentFlags::Elf { p_flags } = segment.flags() else { return false };
            let range = segment.address()..segment.address().saturating_add(segment.size());
            range.contains(&offset) && p_flags & elf::PF_X == 0
        })
    }
}
