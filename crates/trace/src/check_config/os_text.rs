//! Paths and arguments in a file: Linux knows no encoding of them. One that is UTF-8 is text, any other
//! `{"bytes": [112, 255]}`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written<'a> {
    Text(Cow<'a, str>),
    #[serde(rename_all = "lowercase")]
    Raw {
        bytes: Cow<'a, [u8]>,
    },
}

fn written(text: &OsStr) -> Written<'_> {
    match text.to_str() {
        Some(text) => Written::Text(text.into()),
        None => Written::Raw { bytes: text.as_bytes().into() },
    }
}

fn read(written: Written<'_>) -> OsString {
    match written {
        Written::Text(text) => OsString::from(text.into_owned()),
        Written::Raw { bytes } => OsString::from_vec(bytes.into_owned()),
    }
}

/// A path.
pub(super) mod path {
    use super::{Deserialize, Deserializer, Serialize, Serializer, read, written};
    use std::path::{Path, PathBuf};

    pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        written(path.as_os_str()).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(source: D) -> Result<PathBuf, D::Error> {
        Ok(read(Deserialize::deserialize(source)?).into())
    }
}

/// A path that may be missing.
pub(super) mod maybe_path {
    use super::{Deserialize, Deserializer, Serialize, Serializer, Written, read, written};
    use std::path::PathBuf;

    pub(crate) fn serialize<S: Serializer>(
        path: &Option<PathBuf>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        path.as_ref().map(|path| written(path.as_os_str())).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        source: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        let path: Option<Written<'_>> = Deserialize::deserialize(source)?;
        Ok(path.map(|path| read(path).into()))
    }
}

/// The arguments of a program.
pub(super) mod words {
    use super::{Deserialize, Deserializer, OsString, Serializer, Written, read, written};

    pub(crate) fn serialize<S: Serializer>(
        words: &[OsString],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(words.iter().map(|word| written(word)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        source: D,
    ) -> Result<Vec<OsString>, D::Error> {
        let words: Vec<Written<'_>> = Deserialize::deserialize(source)?;
        Ok(words.into_iter().map(read).collect())
    }
}
