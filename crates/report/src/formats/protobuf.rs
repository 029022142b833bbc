//! The wire format of Protocol Buffers, as far as a Perfetto trace needs it.
//!
//! A few kinds of fields in six messages: a crate with generated code for them, and the compiler that it
//! needs, would be larger than this.

/// A message under construction.
#[derive(Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH_DELIMITED: u64 = 2;

impl Message {
    /// Adds a field of a variable-length integer.
    pub(super) fn number(&mut self, field: u64, value: u64) -> &mut Self {
        self.varint(field << 3 | VARINT);
        self.varint(value);
        self
    }

    /// Adds a field of eight bytes.
    pub(super) fn fixed(&mut self, field: u64, value: u64) -> &mut Self {
        self.varint(field << 3 | FIXED64);
        self.bytes.extend(value.to_le_bytes());
        self
    }

    /// Adds a field of text.
    pub(super) fn text(&mut self, field: u64, text: &str) -> &mut Self {
        self.delimited(field, text.as_bytes())
    }

    /// Adds a field that is a message.
    pub(super) fn message(&mut self, field: u64, message: &Message) -> &mut Self {
        self.delimited(field, &message.bytes)
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn delimited(&mut self, field: u64, bytes: &[u8]) -> &mut Self {
        self.varint(field << 3 | LENGTH_DELIMITED);
        self.varint(bytes.len() as u64);
        self.bytes.extend(bytes);
        self
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}
