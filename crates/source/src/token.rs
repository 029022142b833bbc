//! Source text as tokens, without comments.

use std::iter::Peekable;
use std::str::CharIndices;

/// Splits source text into tokens: names, numbers, literals and single signs. A path separator is
/// one token, and so is a lifetime.
pub(crate) fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, first)) = chars.next() {
        let rest = &text[start..];
        let end = if first.is_whitespace() {
            continue;
        } else if rest.starts_with("//") {
            skip_to(&mut chars, start + rest.find('\n').unwrap_or(rest.len()));
            continue;
        } else if rest.starts_with("/*") {
            skip_to(&mut chars, start + block_comment(rest));
            continue;
        } else if let Some(length) = raw_string(rest) {
            start + length
        } else if first == '"' || rest.starts_with("b\"") || rest.starts_with("c\"") {
            start + quoted(rest)
        } else if first == '\'' || rest.starts_with("b'") {
            start + character_or_lifetime(rest)
        } else if first.is_alphanumeric() || first == '_' {
            start + word(rest)
        } else if rest.starts_with("::") {
            start + 2
        } else {
            start + first.len_utf8()
        };
        skip_to(&mut chars, end);
        tokens.push(&text[start..end]);
    }
    tokens
}

fn skip_to(chars: &mut Peekable<CharIndices<'_>>, end: usize) {
    while chars.next_if(|(at, _)| *at < end).is_some() {}
}

fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// The length of a comment, in which there may be others.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at.min(text.len())
}

/// The length of a raw string, if there is one.
fn raw_string(text: &str) -> Option<usize> {
    let rest = ["br", "cr", "r"].iter().find_map(|prefix| text.strip_prefix(prefix))?;
    let inner = rest.trim_start_matches('#');
    let hashes = rest.len() - inner.len();
    if !inner.starts_with('"') {
        return None;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    let end = inner[1..].find(&close).map_or(inner.len(), |at| 1 + at + close.len());
    Some(text.len() - inner.len() + end)
}

/// The length of a string.
fn quoted(text: &str) -> usize {
    let open = text.find('"').unwrap_or(0);
    let mut escaped = false;
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at <= open) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a character, or of a lifetime.
fn character_or_lifetime(text: &str) -> usize {
    let open = text.find('\'').unwrap_or(0) + 1;
    let inner = &text[open..];
    if inner.starts_with('\\') {
        let close = inner[2.min(inner.len())..].find('\'');
        return close.map_or(text.len(), |at| open + 2 + at + 1);
    }
    let first = inner.chars().next().map_or(0, char::len_utf8);
    if inner[first..].starts_with('\'') { open + first + 1 } else { open + word(inner) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_layout_do_not_count() {
        let a = tokens("fn f() {\n    // why\n    a::b(1) /* /* nested */ */ + 2\n}");
        assert_eq!(a, tokens("fn f(){a :: b( 1 )+2}"));
        assert_eq!(a.join(" "), "fn f ( ) { a :: b ( 1 ) + 2 }");
    }

    #[test]
    fn literals_are_one_token_whatever_is_in_them() {
        let check = |text: &str, expected: &[&str]| assert_eq!(tokens(text), expected, "{text}");
        check(r#"x("a // \" }", b"{")"#, &["x", "(", r#""a // \" }""#, ",", "b\"{\"", ")"]);
        check("r#\"}\" //\"# y", &["r#\"}\" //\"#", "y"]);
        check(
            r"'{' '\'' '\u{7f}' &'a str b'x'",
            &["'{'", r"'\''", r"'\u{7f}'", "&", "'a", "str", "b'x'"],
        );
        check("r#type 1_000u32 é", &["r", "#", "type", "1_000u32", "é"]);
    }

    #[test]
    fn text_that_ends_too_early_is_no_reason_to_fail() {
        for text in ["\"abc", "/* abc", "'", "'\\", "r#\"abc", "b\"", "r"] {
            assert!(tokens(text).len() <= 2, "{text}");
        }
    }
}
