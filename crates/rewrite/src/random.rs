//! `rdrand` and `rdseed`: random numbers of the processor, which no replay could repeat. Neither the kernel
//! nor the shim can make them fault, so another instruction takes their place.

use iced_x86::{Instruction, Mnemonic};

/// The number that they give: the same each time. What programs make of it is a seed.
const NUMBER: u64 = 0x9e37_79b9_7f4a_7c15;
/// Sets the carry flag: a number was available.
const STC: u8 = 0xf9;

/// The bytes that load the number instead, if it is one of these instructions.
pub(crate) fn replacement(instruction: &Instruction) -> Option<Vec<u8>> {
    if !matches!(instruction.mnemonic(), Mnemonic::Rdrand | Mnemonic::Rdseed) {
        return None;
    }
    let register = instruction.op0_register();
    let (number, size) = (register.number() as u8, register.size());
    let wide = if size == 8 { 0x48 } else { 0x40 };
    let prefix = wide | number >> 3;
    let mut bytes = Vec::new();
    // `mov register, NUMBER`
    bytes.extend((size == 2).then_some(0x66));
    bytes.extend((prefix != 0x40).then_some(prefix));
    bytes.push(0xb8 | number & 7);
    bytes.extend(&NUMBER.to_le_bytes()[..size]);
    bytes.push(STC);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    fn decode(bytes: &[u8]) -> Vec<Instruction> {
        Decoder::with_ip(64, bytes, 0x1000, DecoderOptions::NONE).into_iter().collect()
    }

    /// Every register and size of both, against what a disassembler makes of the replacement.
    #[test]
    fn every_register_is_loaded() {
        let both = [0xf0u8, 0xf8];
        for (opcode, number) in both.into_iter().flat_map(|it| (0..16u8).map(move |n| (it, n))) {
            for (size, prefixes) in [
                (8, vec![0x48 | number >> 3]),
                (4, vec![0x40 | number >> 3]),
                (2, vec![0x66, 0x40 | number >> 3]),
            ] {
                let bytes = [prefixes, vec![0x0f, 0xc7, opcode | number & 7]].concat();
                let random = decode(&bytes)[0];
                let replaced = decode(&replacement(&random).expect("it is one of them"));
                assert_eq!(replaced.len(), 2);
                assert_eq!(replaced[0].mnemonic(), Mnemonic::Mov);
                assert_eq!(replaced[0].op0_register(), random.op0_register());
                assert_eq!(replaced[0].op0_register().size(), size);
                let mask = u64::MAX >> (64 - 8 * size as u32);
                assert_eq!(replaced[0].immediate(1) & mask, NUMBER & mask);
                assert_eq!(replaced[1].mnemonic(), Mnemonic::Stc);
            }
        }
        assert_eq!(replacement(&decode(&[0x90])[0]), None);
    }
}
