//! The pointers through which a module calls functions of libc.

use crate::PlanError;
use object::elf::{R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, STT_FUNC, STT_GNU_IFUNC};
use object::read::elf::{ElfFile64, ElfSymbol64};
use object::{
    Object, ObjectSymbol, ObjectSymbolTable, RelocationFlags, RelocationTarget, SymbolFlags,
};

/// A pointer to a function: its address in the file, and which of the names it is.
pub type LibcPointer = (u64, usize);

/// The pointers of a module to functions with these names.
pub fn libc_pointers(elf: &[u8], names: &[&str]) -> Result<Vec<LibcPointer>, PlanError> {
    let file = ElfFile64::<object::LittleEndian>::parse(elf)?;
    let (Some(relocations), Some(symbols)) =
        (file.dynamic_relocations(), file.dynamic_symbol_table())
    else {
        return Ok(Vec::new());
    };
    let of = |target| match target {
        RelocationTarget::Symbol(index) => {
            let symbol = symbols.symbol_by_index(index).ok().filter(|it| it.is_undefined())?;
            let name = symbol.name().ok()?;
            names.iter().position(|known| *known == name)
        }
        _ => None,
    };
    let is_pointer = |flags| {
        let RelocationFlags::Elf { r_type } = flags else { return false };
        matches!(r_type, R_X86_64_JUMP_SLOT | R_X86_64_GLOB_DAT | R_X86_64_64)
    };
    let pointers = relocations.filter(|(_, relocation)| is_pointer(relocation.flags()));
    Ok(pointers.filter_map(|(at, relocation)| Some((at, of(relocation.target())?))).collect())
}

/// The names of functions that a module expects others to define.
pub fn functions_called(elf: &[u8]) -> Result<Vec<String>, PlanError> {
    named_symbols(elf, |symbol| symbol.is_undefined())
}

/// The names of functions that a module defines for others.
pub fn functions_defined(elf: &[u8]) -> Result<Vec<String>, PlanError> {
    named_symbols(elf, |symbol| {
        let kind = match symbol.flags() {
            SymbolFlags::Elf { st_info, .. } => st_info & 0xf,
            _ => 0,
        };
        !symbol.is_undefined() && matches!(kind, STT_FUNC | STT_GNU_IFUNC)
    })
}

fn named_symbols(
    elf: &[u8],
    is_wanted: impl Fn(&ElfSymbol64<'_, '_, object::LittleEndian>) -> bool,
) -> Result<Vec<String>, PlanError> {
    let file = ElfFile64::<object::LittleEndian>::parse(elf)?;
    let symbols = file.dynamic_symbols().filter(is_wanted);
    Ok(symbols.filter_map(|symbol| Some(symbol.name().ok()?.to_string())).collect())
}
