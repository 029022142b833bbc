//! Where in a program something happens, and what its source says there.

/// One function of a stack, and the line that it is at, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct Frame {
    /// The demangled name of the function; where that is unknown, the module and the offset in it.
    pub function: String,
    /// The source file, relative to the folder it was compiled in if it is in there.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Option::is_none"))]
    pub file: Option<String>,
    /// The line in the file, counted from 1.
    #[cfg_attr(feature = "file", serde(default, skip_serializing_if = "Option::is_none"))]
    pub line: Option<u32>,
}

/// Some lines of a source file, as they were when the trace was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct Excerpt {
    /// The file, named as in [`Frame::file`].
    pub file: String,
    /// The number of the first line, counted from 1.
    pub first: u32,
    /// The lines, in order.
    pub lines: Vec<String>,
}

/// Where an actor is when a property is violated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "file", serde(deny_unknown_fields))]
pub struct Place {
    /// The actor's name.
    pub actor: String,
    /// What it does or waits for there, in words.
    pub text: String,
    /// Its stack, innermost frame first.
    pub stack: Vec<Frame>,
}
