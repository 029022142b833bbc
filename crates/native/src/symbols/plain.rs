//! Which memory accesses are certainly not atomic.
//!
//! The same instruction is an atomic load in one place and a plain one in another. Rust and C++ have
//! functions for atomic accesses, of which debug information knows where they were inlined; C has none.

use gimli::DwLang;

/// A language in which atomic accesses are functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    CPlusPlus,
}

impl Language {
    pub(super) fn of(language: DwLang) -> Option<Self> {
        const C_PLUS_PLUS: [DwLang; 4] = [
            gimli::DW_LANG_C_plus_plus,
            gimli::DW_LANG_C_plus_plus_03,
            gimli::DW_LANG_C_plus_plus_11,
            gimli::DW_LANG_C_plus_plus_14,
        ];
        if language == gimli::DW_LANG_Rust {
            return Some(Language::Rust);
        }
        C_PLUS_PLUS.contains(&language).then_some(Language::CPlusPlus)
    }

    /// Whether an access in these functions, innermost first, is certainly not atomic.
    pub(super) fn is_plain(self, functions: &[String]) -> bool {
        // Locks of the languages' libraries look before they lock; volatile accesses are meant to race.
        let doubtful: &[&str] = match self {
            Language::Rust => {
                &["std::", "<std::", "core::sync::", "<core::sync::", "core::intrinsics"]
            }
            Language::CPlusPlus => &["std::", "__gnu_cxx::", "__gthread", "__atomic"],
        };
        let is_doubtful = |name: &String| {
            doubtful.iter().any(|start| name.starts_with(start))
                || name.contains("volatile")
                || name.contains("atomic")
        };
        !functions.is_empty() && !functions.iter().any(is_doubtful)
    }
}

#[cfg(test)]
mod tests {
    use super::Language;

    #[test]
    fn only_what_is_certain_is_plain() {
        let plain = |language: Language, names: &[&str]| {
            language.is_plain(&names.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert!(plain(Language::Rust, &["core::ptr::write", "program::main::{{closure}}"]));
        assert!(!plain(Language::Rust, &["core::sync::atomic::atomic_load", "program::main"]));
        assert!(!plain(Language::Rust, &["core::ptr::read_volatile", "program::main"]));
        assert!(!plain(Language::Rust, &["std::sys::sync::mutex::futex::Mutex::lock"]));
        assert!(plain(Language::CPlusPlus, &["Account::deposit(int)"]));
        assert!(!plain(Language::CPlusPlus, &["std::__atomic_base<int>::load", "main"]));
        assert!(!plain(Language::CPlusPlus, &[]));
    }
}
