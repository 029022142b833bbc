//! The ELF image of a module: its functions, its code, its data.

use crate::PlanError;
use gimli::{BaseAddresses, CieOrFde, EhFrame, EndianSlice, LittleEndian, Pointer, UnwindSection};
use iced_x86::{Decoder, DecoderOptions, Instruction};
use object::elf::{EM_X86_64, PF_W, PT_GNU_RELRO, PT_LOAD, SHF_ALLOC, SHF_EXECINSTR};
use object::read::elf::{ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind};
use std::ops::Range;

/// What Rust's std keeps for itself, in the words of its symbols: how many threads panic, which
/// every lock looks at and which poisons no lock but that of the thread that panics; and the locks
/// of the list of stacks, which every thread takes when it ends; and the key by which destructors are
/// called, which the first thread makes that needs it. The order in which threads come by
/// there is nothing that a program can see, but each would multiply the schedules.
const LEFT_OUT: [&str; 3] =
    ["GLOBAL_PANIC_COUNT", "stack_overflow11thread_info", "thread_local5guard3key6enable5DTORS"];

/// Bytes of the file and where they are loaded, without the load base.
pub(crate) struct Section<'a> {
    pub(crate) address: u64,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Section<'a> {
    pub(crate) fn range(&self) -> Range<u64> {
        self.address..self.address + self.bytes.len() as u64
    }

    fn from(&self, address: u64) -> Option<&'a [u8]> {
        self.bytes.get(usize::try_from(address.checked_sub(self.address)?).ok()?..)
    }

    fn part(&self, range: Range<u64>) -> Option<Self> {
        let size = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
        Some(Section { address: range.start, bytes: self.from(range.start)?.get(..size)? })
    }
}

/// What is known of a module from its file.
pub(crate) struct Image<'a> {
    pub(crate) code: Vec<Section<'a>>,
    pub(crate) data: Vec<Section<'a>>,
    /// Every function, cut where the next one starts; sorted.
    pub(crate) functions: Vec<Range<u64>>,
    /// Addresses of all symbols in code: also of labels, which have no size.
    pub(crate) labels: Vec<u64>,
    /// Static variables that are left alone although they are changed atomically.
    pub(crate) left_out: Vec<u64>,
    /// Static variables that say whether others are initialised: C++ looks at them plainly, and
    /// changes them in functions of its library.
    pub(crate) guards: Vec<u64>,
    /// Memory that is not written while the program runs: segments without write permission, and what
    /// the loader protects after relocation.
    read_only: Vec<Range<u64>>,
    /// Code by which the linker connects modules.
    linkage: Vec<Range<u64>>,
    /// The functions that catch exceptions, and the table that says where.
    pub(crate) exception_tables: Vec<(Range<u64>, u64)>,
}

impl<'a> Image<'a> {
    pub(crate) fn parse(elf: &'a [u8]) -> Result<Self, PlanError> {
        let file = ElfFile64::<object::LittleEndian>::parse(elf)?;
        if file.elf_header().e_machine(object::LittleEndian) != EM_X86_64 {
            return Err(PlanError::Architecture);
        }
        let mut image = Image {
            code: Vec::new(),
            data: Vec::new(),
            functions: Vec::new(),
            labels: Vec::new(),
            left_out: Vec::new(),
            guards: Vec::new(),
            read_only: Vec::new(),
            linkage: Vec::new(),
            exception_tables: Vec::new(),
        };
        image.read_sections(&file)?;
        image.read_segments(&file)?;
        let mut ranges = image.symbols(&file);
        ranges.extend(image.unwind_entries(&file)?);
        image.functions = cut(ranges);
        image.functions.retain_mut(|function| {
            let section = image.code.iter().find(|code| code.range().contains(&function.start));
            section.is_some_and(|section| {
                function.end = function.end.min(section.range().end);
                true
            })
        });
        Ok(image)
    }

    /// The code that is in no function.
    pub(crate) fn gaps(&self) -> Vec<Section<'a>> {
        let mut gaps = Vec::new();
        for section in &self.code {
            let range = section.range();
            let first = self.functions.partition_point(|function| function.start < range.start);
            let inside = self.functions[first..].iter();
            let inside = inside.take_while(|function| function.start < range.end);
            let mut start = range.start;
            for function in inside {
                gaps.extend(section.part(start..function.start));
                start = function.end;
            }
            gaps.extend(section.part(start..range.end));
        }
        gaps
    }

    fn read_sections(
        &mut self,
        file: &ElfFile64<'a, object::LittleEndian>,
    ) -> Result<(), PlanError> {
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
            let bytes = section.data()?;
            if sh_flags & u64::from(SHF_ALLOC) == 0 || bytes.is_empty() {
                continue;
            }
            let loaded = Section { address: section.address(), bytes };
            let name = section.name().unwrap_or_default();
            if name.starts_with(".plt") || matches!(name, ".init" | ".fini") {
                self.linkage.push(loaded.range());
            }
            match sh_flags & u64::from(SHF_EXECINSTR) {
                0 => self.data.push(loaded),
                _ => self.code.push(loaded),
            }
        }
        Ok(())
    }

    fn read_segments(
        &mut self,
        file: &ElfFile64<'a, object::LittleEndian>,
    ) -> Result<(), PlanError> {
        let endian = object::LittleEndian;
        for segment in file.elf_header().program_headers(endian, file.data())? {
            let start = segment.p_vaddr(endian);
            let constant = segment.p_type(endian) == PT_LOAD && segment.p_flags(endian) & PF_W == 0;
            if constant || segment.p_type(endian) == PT_GNU_RELRO {
                self.read_only.push(start..start.saturating_add(segment.p_memsz(endian)));
            }
        }
        Ok(())
    }

    /// The functions that have symbols.
    fn symbols(&mut self, file: &ElfFile64<'a, object::LittleEndian>) -> Vec<Range<u64>> {
        let mut functions = Vec::new();
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let left_out = |name: &str| LEFT_OUT.iter().any(|part| name.contains(part));
            if symbol.name().is_ok_and(left_out) {
                self.left_out.push(symbol.address());
            }
            if symbol.name().is_ok_and(|name| name.starts_with("_ZGV")) && !symbol.is_undefined() {
                self.guards.push(symbol.address());
            }
            if symbol.is_undefined() || !self.is_code(symbol.address()) {
                continue;
            }
            self.labels.push(symbol.address());
            if symbol.kind() == SymbolKind::Text && symbol.size() > 0 {
                functions.push(symbol.address()..symbol.address().saturating_add(symbol.size()));
            }
        }
        functions
    }

    /// The functions that have unwind entries, which are all that a compiler made.
    fn unwind_entries(
        &mut self,
        file: &ElfFile64<'a, object::LittleEndian>,
    ) -> Result<Vec<Range<u64>>, PlanError> {
        let Some(section) = file.section_by_name(".eh_frame") else { return Ok(Vec::new()) };
        let address_of = |name| file.section_by_name(name).map_or(0, |section| section.address());
        let bases = BaseAddresses::default()
            .set_eh_frame(section.address())
            .set_text(address_of(".text"))
            .set_got(address_of(".got"));
        let mut frames = EhFrame::new(section.data()?, LittleEndian);
        frames.set_address_size(8);
        let mut functions = Vec::new();
        let mut entries = frames.entries(&bases);
        while let Some(entry) = entries.next()? {
            let CieOrFde::Fde(entry) = entry else { continue };
            let entry = entry.parse(EhFrame::<EndianSlice<'_, _>>::cie_from_offset)?;
            let start = entry.initial_address();
            let function = start..start.saturating_add(entry.len());
            if let Some(Pointer::Direct(table)) = entry.lsda() {
                self.exception_tables.push((function.clone(), table));
            }
            functions.push(function);
        }
        Ok(functions)
    }

    pub(crate) fn is_code(&self, address: u64) -> bool {
        self.code.iter().any(|section| section.range().contains(&address))
    }

    /// Whether an address is in a function.
    pub(crate) fn is_in_function(&self, address: u64) -> bool {
        let index = self.functions.partition_point(|function| function.end <= address);
        self.functions.get(index).is_some_and(|found| found.contains(&address))
    }

    /// Whether nobody writes to an address while the program runs.
    pub(crate) fn is_read_only(&self, address: u64) -> bool {
        self.read_only.iter().any(|range| range.contains(&address))
    }

    /// Whether an address is in code by which the linker connects modules.
    pub(crate) fn is_linkage(&self, address: u64) -> bool {
        self.linkage.iter().any(|range| range.contains(&address))
    }

    /// The bytes of a function.
    pub(crate) fn code_of(&self, function: &Range<u64>) -> Option<&'a [u8]> {
        let section = self.code.iter().find(|code| code.range().contains(&function.start))?;
        Some(section.part(function.clone())?.bytes)
    }

    /// The data from the address to the end of its section.
    pub(crate) fn data_from(&self, address: u64) -> Option<&'a [u8]> {
        self.data.iter().find(|section| section.range().contains(&address))?.from(address)
    }

    /// The instructions from the address to the end of its function, as they are after `base`
    /// was added to all addresses. Ends before bytes that are no instruction.
    pub(crate) fn decode(&self, address: u64, base: u64) -> impl Iterator<Item = Instruction> {
        let mut decoder = Decoder::with_ip(
            64,
            self.function_from(address).unwrap_or_default(),
            address + base,
            DecoderOptions::NONE,
        );
        std::iter::from_fn(move || {
            decoder.can_decode().then(|| decoder.decode()).filter(|decoded| !decoded.is_invalid())
        })
    }

    /// The code from the address to the end of its function.
    fn function_from(&self, address: u64) -> Option<&'a [u8]> {
        let index = self.functions.partition_point(|function| function.end <= address);
        let function = self.functions.get(index).filter(|found| found.contains(&address))?;
        let section = self.code.iter().find(|section| section.range().contains(&address))?;
        section.from(address)?.get(..usize::try_from(function.end - address).ok()?)
    }
}

/// The union of the ranges, cut wherever one starts: decoding restarts there, so that what is
/// between two functions cannot put it out of step.
fn cut(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    ranges.retain(|range| !range.is_empty());
    let mut cut: Vec<Range<u64>> = Vec::new();
    let mut reach = 0;
    for range in ranges {
        if let Some(last) = cut.last_mut() {
            if last.start == range.start {
                cut.pop();
            } else {
                last.end = reach.min(range.start);
            }
        }
        reach = reach.max(range.end);
        cut.push(range.start..reach);
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn ranges_are_cut_where_others_start() {
        assert_eq!(cut(vec![8..12, 0..4, 0..6]), [0..6, 8..12]);
        assert_eq!(cut(vec![0..10, 4..6]), [0..4, 4..10]);
        assert_eq!(cut(vec![0..10, 4..12, 4..4, 20..24]), [0..4, 4..12, 20..24]);
    }
}
