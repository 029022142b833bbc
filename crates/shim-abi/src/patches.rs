//! Patches: what the checker tells the shim to write into the program before it starts.
//!
//! They lie in `Region::patches` as records that follow each other: a [`PatchHeader`], its bytes, and
//! zeros up to the next multiple of eight bytes.

/// A number that stands for nothing that this version knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownNumber(pub u32);

/// What is to be done with the bytes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PatchKind {
    /// Stubs, to be written into the trampolines of a module.
    Stubs = 1,
    /// Instructions, to be written over the program's.
    Text,
    /// The table of [`Site`](crate::Site)s.
    Sites,
    /// The table of [`Trap`](crate::Trap)s, in the order of their addresses.
    Traps,
    /// The armed granules, ascending: addresses divided by eight.
    Granules,
    /// A pointer to a function, to be written over that through which a module calls it.
    Pointer,
}

impl TryFrom<u32> for PatchKind {
    type Error = UnknownNumber;

    fn try_from(number: u32) -> Result<Self, UnknownNumber> {
        let all = [
            PatchKind::Stubs,
            PatchKind::Text,
            PatchKind::Sites,
            PatchKind::Traps,
            PatchKind::Granules,
            PatchKind::Pointer,
        ];
        all.into_iter().find(|&kind| kind as u32 == number).ok_or(UnknownNumber(number))
    }
}

/// The head of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatchHeader {
    /// What to do with the bytes that follow.
    pub kind: PatchKind,
    /// How many they are.
    pub length: u32,
    /// Where they go in the program; 0 for tables, which stay where they are.
    pub address: u64,
}

impl PatchHeader {
    /// How long it is.
    pub const LENGTH: usize = 16;

    /// As it lies in memory.
    pub fn to_bytes(self) -> [u8; PatchHeader::LENGTH] {
        let mut bytes = [0; PatchHeader::LENGTH];
        bytes[..4].copy_from_slice(&(self.kind as u32).to_le_bytes());
        bytes[4..8].copy_from_slice(&self.length.to_le_bytes());
        bytes[8..].copy_from_slice(&self.address.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; PatchHeader::LENGTH]) -> Result<Self, UnknownNumber> {
        let [a, b, c, d, e, f, g, h, address @ ..] = *bytes;
        let kind = u32::from_le_bytes([a, b, c, d]).try_into()?;
        let length = u32::from_le_bytes([e, f, g, h]);
        Ok(PatchHeader { kind, length, address: u64::from_le_bytes(address) })
    }
}

/// How many zeros follow so many bytes of a record.
pub const fn padding(length: usize) -> usize {
    length.next_multiple_of(8) - length
}

/// The records in these bytes. The last one is an error if it is cut off or of an unknown kind.
pub fn patch_records(
    mut bytes: &[u8],
) -> impl Iterator<Item = Result<(PatchHeader, &[u8]), UnknownNumber>> {
    core::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let read = first_record(bytes);
        bytes = read.map_or(&[], |(_, _, rest)| rest);
        Some(read.map(|(header, content, _)| (header, content)))
    })
}

/// The first record, its bytes, and what follows.
fn first_record(bytes: &[u8]) -> Result<(PatchHeader, &[u8], &[u8]), UnknownNumber> {
    let cut_off = UnknownNumber(0);
    let (head, rest) = bytes.split_first_chunk().ok_or(cut_off)?;
    let header = PatchHeader::from_bytes(head)?;
    let length = header.length as usize;
    let (content, rest) = rest.split_at_checked(length).ok_or(cut_off)?;
    Ok((header, content, rest.get(padding(length)..).ok_or(cut_off)?))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn written(records: &[(PatchKind, u64, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for &(kind, address, content) in records {
            bytes.extend(PatchHeader { kind, length: content.len() as u32, address }.to_bytes());
            bytes.extend(content);
            bytes.resize(bytes.len() + padding(content.len()), 0);
        }
        bytes
    }

    #[test]
    fn records_are_read_as_they_were_written() {
        let records: [(_, _, &[u8]); 4] = [
            (PatchKind::Stubs, 0x1000, &[1; 13]),
            (PatchKind::Text, 0x2001, &[0xcc]),
            (PatchKind::Sites, 0, &[]),
            (PatchKind::Traps, 0, &[7; 16]),
        ];
        let bytes = written(&records);
        let read: Result<Vec<_>, _> = patch_records(&bytes).collect();
        let read = read.unwrap().into_iter();
        let read = read.map(|(header, content)| (header.kind, header.address, content));
        assert_eq!(read.collect::<Vec<_>>(), records);
    }

    #[test]
    fn what_is_no_record_is_an_error() {
        let mut bytes = written(&[(PatchKind::Text, 0, &[1]), (PatchKind::Text, 8, &[2])]);
        assert!(patch_records(&bytes[..30]).last().unwrap().is_err());
        bytes[24] = 9;
        let read: Vec<_> = patch_records(&bytes).map(|record| record.map(drop)).collect();
        assert_eq!(read, [Ok(()), Err(UnknownNumber(9))]);
    }
}
