//! States as canonical bytes: equal states, and only equal states, have equal bytes.
//!
//! The engine stores states as contiguous bytes in large blocks instead of one heap object each:
//! most of the cost of exploring a state made of vectors is allocating them. [`Canonical::read`]
//! therefore fills a state in place and reuses what it already owns.
//!
//! Integers wider than a byte are written as LEB128, seven bits a byte, signed ones zigzag-coded:
//! counters and node numbers are small. [`BitWriter`] packs more tightly where that matters.

use std::collections::{BTreeMap, BTreeSet};

/// A value with a unique byte representation.
///
/// Implement it with [`canonical!`](crate::canonical!) for structs and enums. By hand, keep two
/// promises: equal values write equal bytes, and `read` consumes exactly what `write` produced.
pub trait Canonical {
    /// The number of bytes that every value of this type writes, if they all write the same.
    ///
    /// States of a fixed size up to eight bytes are stored inside the visited set itself, which
    /// takes less memory and one cache miss less a lookup.
    const SIZE: Option<usize> = None;

    /// Appends the canonical bytes.
    fn write(&self, bytes: &mut Vec<u8>);
    /// Takes the value from the front of `bytes`, reusing the memory that `self` owns.
    fn read(&mut self, bytes: &mut &[u8]);
}

/// Splits `len` bytes off the front.
fn split<'a>(bytes: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (front, rest) = bytes.split_at(len);
    *bytes = rest;
    front
}

fn write_varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn read_varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = split(bytes, 1)[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
        shift += 7;
    }
}

impl Canonical for () {
    const SIZE: Option<usize> = Some(0);

    fn write(&self, _bytes: &mut Vec<u8>) {}
    fn read(&mut self, _bytes: &mut &[u8]) {}
}

impl Canonical for u8 {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(*self);
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        *self = split(bytes, 1)[0];
    }
}

impl Canonical for bool {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(*self));
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        *self = split(bytes, 1)[0] != 0;
    }
}

macro_rules! unsigned {
    ($($type:ty)*) => {$(
        impl Canonical for $type {
            fn write(&self, bytes: &mut Vec<u8>) {
                write_varint(*self as u64, bytes);
            }
            fn read(&mut self, bytes: &mut &[u8]) {
                *self = read_varint(bytes) as $type;
            }
        }
    )*};
}
unsigned!(u16 u32 u64 usize);

macro_rules! signed {
    ($($type:ty)*) => {$(
        impl Canonical for $type {
            fn write(&self, bytes: &mut Vec<u8>) {
                let value = *self as i64;
                write_varint(((value << 1) ^ (value >> 63)) as u64, bytes);
            }
            fn read(&mut self, bytes: &mut &[u8]) {
                let value = read_varint(bytes);
                *self = ((value >> 1) as i64 ^ -((value & 1) as i64)) as $type;
            }
        }
    )*};
}
signed!(i8 i16 i32 i64 isize);

impl<T: Canonical + Default> Canonical for Vec<T> {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.len().write(bytes);
        self.iter().for_each(|item| item.write(bytes));
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        let len = read_varint(bytes) as usize;
        self.resize_with(len, T::default);
        self.iter_mut().for_each(|item| item.read(bytes));
    }
}

impl<T: Canonical, const N: usize> Canonical for [T; N] {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.iter().for_each(|item| item.write(bytes));
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        self.iter_mut().for_each(|item| item.read(bytes));
    }
}

impl Canonical for String {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.len().write(bytes);
        bytes.extend_from_slice(self.as_bytes());
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        let len = read_varint(bytes) as usize;
        self.clear();
        self.push_str(str::from_utf8(split(bytes, len)).expect("written from a String"));
    }
}

impl<T: Canonical + Default> Canonical for Option<T> {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self.is_some()));
        self.iter().for_each(|value| value.write(bytes));
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        if split(bytes, 1)[0] == 0 {
            *self = None;
        } else {
            self.get_or_insert_default().read(bytes);
        }
    }
}

impl<K: Canonical + Default + Ord, V: Canonical + Default> Canonical for BTreeMap<K, V> {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.len().write(bytes);
        for (key, value) in self {
            key.write(bytes);
            value.write(bytes);
        }
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        self.clear();
        for _ in 0..read_varint(bytes) {
            let (mut key, mut value) = (K::default(), V::default());
            key.read(bytes);
            value.read(bytes);
            self.insert(key, value);
        }
    }
}

impl<T: Canonical + Default + Ord> Canonical for BTreeSet<T> {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.len().write(bytes);
        self.iter().for_each(|item| item.write(bytes));
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        self.clear();
        for _ in 0..read_varint(bytes) {
            let mut item = T::default();
            item.read(bytes);
            self.insert(item);
        }
    }
}

macro_rules! tuple {
    ($($name:ident)*) => {
        impl<$($name: Canonical),*> Canonical for ($($name,)*) {
            #[expect(non_snake_case, reason = "one letter serves as type and as binding")]
            fn write(&self, bytes: &mut Vec<u8>) {
                let ($($name,)*) = self;
                $($name.write(bytes);)*
            }
            #[expect(non_snake_case, reason = "one letter serves as type and as binding")]
            fn read(&mut self, bytes: &mut &[u8]) {
                let ($($name,)*) = self;
                $($name.read(bytes);)*
            }
        }
    };
}
tuple!(A B);
tuple!(A B C);
tuple!(A B C D);

/// Implements [`Canonical`] for a struct, or for an enum, by naming its fields.
///
/// An enum is written as the number of its variant followed by the variant's fields. Field types
/// of enums must be `Default`, because a field is filled in place after its variant is known. The items
/// of a variant without names are given some here.
///
/// ```
/// use everypath_explore::{Canonical, canonical};
///
/// #[derive(Debug, Default, PartialEq)]
/// struct Node { sequence: u32, inbox: Vec<Packet> }
/// #[derive(Debug, Default, PartialEq)]
/// enum Packet { #[default] Hello, Data { sequence: u32 }, Ack(u32) }
///
/// canonical!(struct Node { sequence, inbox });
/// canonical!(enum Packet { Hello, Data { sequence }, Ack(number) });
///
/// let node = Node { sequence: 7, inbox: vec![Packet::Ack(9), Packet::Hello] };
/// let mut bytes = Vec::new();
/// node.write(&mut bytes);
/// let mut copy = Node::default();
/// copy.read(&mut bytes.as_slice());
/// assert_eq!(copy, node);
/// ```
#[macro_export]
macro_rules! canonical {
    (struct $name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::Canonical for $name {
            fn write(&self, bytes: &mut Vec<u8>) {
                let $name { $($field),* } = self;
                $($crate::Canonical::write($field, bytes);)*
            }
            fn read(&mut self, bytes: &mut &[u8]) {
                let $name { $($field),* } = self;
                $($crate::Canonical::read($field, bytes);)*
            }
        }
    };
    (enum $name:ident {
        $($variant:ident $({ $($field:ident),* $(,)? })? $(( $($item:ident),* $(,)? ))?),* $(,)?
    }) => {
        impl $crate::Canonical for $name {
            #[expect(unused_assignments, reason = "the last variant's number is not used again")]
            fn write(&self, bytes: &mut Vec<u8>) {
                let mut number = 0u8;
                $(
                    if let $name::$variant $({ $($field),* })? $(( $($item),* ))? = self {
                        bytes.push(number);
                        $($($crate::Canonical::write($field, bytes);)*)?
                        $($($crate::Canonical::write($item, bytes);)*)?
                        return;
                    }
                    number += 1;
                )*
            }
            #[expect(unused_assignments, reason = "the last variant's number is not used again")]
            fn read(&mut self, bytes: &mut &[u8]) {
                let mut variant = 0u8;
                $crate::Canonical::read(&mut variant, bytes);
                let mut number = 0u8;
                $(
                    if variant == number {
                        $($(
                            let mut $field = Default::default();
                        )*)?
                        $($(
                            let mut $item = Default::default();
                        )*)?
                        *self = $name::$variant $({ $($field: {
                            $crate::Canonical::read(&mut $field, bytes);
                            $field
                        }),* })? $(( $({
                            $crate::Canonical::read(&mut $item, bytes);
                            $item
                        }),* ))?;
                        return;
                    }
                    number += 1;
                )*
                unreachable!("no variant {variant}: the bytes were not written by this type");
            }
        }
    };
}

/// Packs small numbers into a 64-bit word, lowest bits first.
///
/// ```
/// use everypath_explore::canonical::{BitReader, BitWriter};
///
/// let mut bits = BitWriter::default();
/// bits.put(5, 3);
/// bits.put(1, 1);
/// let mut reader = BitReader::new(bits.finish());
/// assert_eq!((reader.take(3), reader.take(1)), (5, 1));
/// ```
#[derive(Default)]
pub struct BitWriter {
    word: u64,
    used: u32,
}

impl BitWriter {
    /// Appends the lowest `width` bits of `value`, which must fit.
    pub fn put(&mut self, value: u64, width: u32) {
        debug_assert!(width < 64 && value >> width == 0 && self.used + width <= 64);
        self.word |= value << self.used;
        self.used += width;
    }

    /// The packed word.
    pub fn finish(self) -> u64 {
        self.word
    }
}

/// Takes numbers out of a word that a [`BitWriter`] packed, in the same order.
pub struct BitReader {
    word: u64,
}

impl BitReader {
    /// A reader of `word`.
    pub fn new(word: u64) -> Self {
        BitReader { word }
    }

    /// The next `width` bits.
    pub fn take(&mut self, width: u32) -> u64 {
        let value = self.word & ((1 << width) - 1);
        self.word >>= width;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes_of<T: Canonical>(value: &T) -> Vec<u8> {
        let mut bytes = Vec::new();
        value.write(&mut bytes);
        bytes
    }

    type Everything =
        (u64, Vec<Option<(i64, bool)>>, (BTreeMap<u16, Vec<u8>>, String), BTreeSet<i32>);

    proptest! {
        #[test]
        fn reading_gives_back_what_was_written(
            value: Everything,
            mut target: Everything,
        ) {
            let bytes = bytes_of(&value);
            let mut rest = bytes.as_slice();
            target.read(&mut rest);
            prop_assert_eq!(&target, &value);
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn different_values_have_different_bytes(a: Everything, b: Everything) {
            prop_assert_eq!(a == b, bytes_of(&a) == bytes_of(&b));
        }
    }
}
