//! Landing pads of exceptions: the call-site table of `.gcc_except_table`.
//!
//! The format is that of the Itanium C++ ABI, "Exception Handling Tables", as GCC and LLVM write
//! it for every language.

use gimli::constants::{
    DW_EH_PE_omit, DW_EH_PE_sdata4, DW_EH_PE_udata2, DW_EH_PE_udata4, DW_EH_PE_uleb128,
};
use gimli::{DwEhPe, EndianSlice, LittleEndian, Reader};

/// The addresses where the function's exceptions are caught, from the table at the start of
/// `data`; `None` if the table is in a form that compilers do not use.
pub(crate) fn landing_pads(data: &[u8], function: u64) -> Option<Vec<u64>> {
    let mut reader = EndianSlice::new(data, LittleEndian);
    // The base of the landing pads is left out by all compilers: it is the function.
    if DwEhPe(reader.read_u8().ok()?) != DW_EH_PE_omit {
        return None;
    }
    if DwEhPe(reader.read_u8().ok()?) != DW_EH_PE_omit {
        reader.read_uleb128().ok()?;
    }
    let encoding = DwEhPe(reader.read_u8().ok()?);
    let length = usize::try_from(reader.read_uleb128().ok()?).ok()?;
    let mut table = reader.split(length).ok()?;
    let mut pads = Vec::new();
    while !table.is_empty() {
        let _start = offset(&mut table, encoding)?;
        let _length = offset(&mut table, encoding)?;
        let pad = offset(&mut table, encoding)?;
        table.read_uleb128().ok()?;
        if pad != 0 {
            pads.push(function.wrapping_add(pad));
        }
    }
    Some(pads)
}

fn offset(reader: &mut EndianSlice<'_, LittleEndian>, encoding: DwEhPe) -> Option<u64> {
    if encoding == DW_EH_PE_uleb128 {
        reader.read_uleb128().ok()
    } else if encoding == DW_EH_PE_udata2 {
        reader.read_u16().ok().map(u64::from)
    } else if encoding == DW_EH_PE_udata4 || encoding == DW_EH_PE_sdata4 {
        reader.read_u32().ok().map(u64::from)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::landing_pads;

    #[test]
    fn pads_are_relative_to_the_function() {
        // @LPStart omitted, no types, uleb128; two call sites, the first without a pad.
        let table = [0xFF, 0xFF, 0x01, 8, 0, 5, 0, 0, 5, 4, 0x20, 1];
        assert_eq!(landing_pads(&table, 0x1000), Some(vec![0x1020]));
        // The same with a table of types after it, and four-byte offsets.
        let table =
            [0xFF, 0x9B, 0x21, 0x03, 13, 0, 0, 0, 0, 9, 0, 0, 0, 0x30, 0, 0, 0, 1, 0xAA, 0xBB];
        assert_eq!(landing_pads(&table, 0x1000), Some(vec![0x1030]));
    }

    #[test]
    fn a_table_in_another_form_is_refused() {
        assert_eq!(landing_pads(&[0x1B, 0, 0, 0, 0, 0xFF, 1, 0], 0x1000), None);
        assert_eq!(landing_pads(&[0xFF, 0xFF, 0x50, 3, 0, 0, 0], 0x1000), None);
        assert_eq!(landing_pads(&[0xFF, 0xFF, 0x01, 200, 0], 0x1000), None);
    }
}
