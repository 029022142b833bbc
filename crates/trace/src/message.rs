//! What passed between those who take part.

/// A datagram, or a part of a stream that was sent by one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct Message {
    /// Who sent it.
    pub from: Party,
    /// Who was to receive it.
    pub to: Party,
    /// Its first bytes, those escaped that are no printable characters of ASCII.
    pub content: String,
    /// How many bytes it has.
    pub length: u64,
    /// How many of them `content` stands for.
    pub kept: u64,
    /// Whether it is a datagram.
    pub datagram: bool,
    /// When it was sent.
    pub sent: Moment,
    /// When it arrived: never, once, or several times if it was duplicated. Of a part of a stream,
    /// when its last byte was received.
    pub arrivals: Vec<Moment>,
    /// Whether the network lost it. What neither arrived nor is lost was not looked for.
    pub lost: bool,
}

/// When something passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct Moment {
    /// Its place among all that was sent and received. What is handed over has one of it.
    pub order: usize,
    /// In which step, counted from 1.
    pub step: usize,
}

/// One who takes part in a communication.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct Party {
    /// Its program.
    pub process: String,
    /// Its address.
    pub address: String,
    /// Whether it is a real process outside of the exploration, so that no step is its own.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub outside: bool,
}
