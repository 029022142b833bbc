//! Source text as items: functions, types, constants, macros.

use crate::token::tokens;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A function that stands alone.
    Function,
    /// A function of a type or a trait.
    Method,
    /// A struct, enum, union or alias.
    Type,
    /// A constant or static.
    Constant,
    /// The definition of a macro.
    Macro,
    /// A macro that is called where items stand.
    Call,
    /// An associated type.
    Associated,
}

/// An item.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    /// The type that it belongs to, and the trait that the type implements by it.
    pub(crate) of: Option<String>,
    pub(crate) by: Option<String>,
    pub(crate) tokens: Vec<String>,
}

/// The items of a file, those for tests left out.
pub(crate) fn items(text: &str) -> Vec<Item> {
    let mut items = Vec::new();
    collect(&tokens(text), None, &mut items);
    items
}

/// What `impl` says: the type, and the trait if there is one.
#[derive(Clone)]
struct Impl {
    of: String,
    by: Option<String>,
}

fn collect(tokens: &[&str], context: Option<&Impl>, items: &mut Vec<Item>) {
    let mut at = 0;
    while at < tokens.len() {
        let rest = &tokens[at..];
        let length = item_length(rest);
        let (attributes, item) = rest[..length].split_at(attributes_length(&rest[..length]));
        if !attributes.windows(3).any(|three| three == ["cfg", "(", "test"]) {
            add(attributes, item, context, items);
        }
        at += length.max(1);
    }
}

/// How many tokens in front are attributes.
fn attributes_length(tokens: &[&str]) -> usize {
    let mut at = 0;
    while tokens.get(at) == Some(&"#") {
        at += 1 + usize::from(tokens.get(at + 1) == Some(&"!"));
        at += group_length(&tokens[at.min(tokens.len())..]);
    }
    at.min(tokens.len())
}

/// The length of a group in brackets of any kind; of a single token, if it opens none.
pub(crate) fn group_length(tokens: &[&str]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth <= 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The length of the item in front, its attributes included.
fn item_length(tokens: &[&str]) -> usize {
    let attributes = attributes_length(tokens);
    let mut at = attributes;
    // What ends with a semicolon may have braces before it.
    let mut until_semicolon = false;
    while let Some(token) = tokens.get(at) {
        match *token {
            ";" => return at + 1,
            "const" | "static" | "use" | "type" | "let" => {
                until_semicolon |= tokens.get(at + 1) != Some(&"fn");
                at += 1;
            }
            "fn" | "struct" | "enum" | "union" | "trait" | "impl" | "mod" | "macro_rules" => {
                until_semicolon = false;
                at += 1;
            }
            "{" if !until_semicolon => return at + group_length(&tokens[at..]),
            _ => at += group_length(&tokens[at..]),
        }
    }
    at
}

/// Adds the items that these tokens are.
fn add(attributes: &[&str], tokens: &[&str], context: Option<&Impl>, items: &mut Vec<Item>) {
    let keywords = ["fn", "struct", "enum", "union", "type", "const", "static", "trait", "impl"];
    let more = ["mod", "use", "macro_rules"];
    let is_key = |(at, token): (usize, &&str)| {
        // `impl Trait` and `const` generics come after the word that says what the item is, but
        // `const fn` does not.
        let key = keywords.contains(token) || more.contains(token);
        (key && !(*token == "const" && tokens.get(at + 1) == Some(&"fn"))).then_some(at)
    };
    if tokens.get(1) == Some(&"!") && tokens[0] != "macro_rules" {
        return items.push(item(Kind::Call, tokens[0], (attributes, tokens), context));
    }
    let Some(key) = tokens.iter().enumerate().find_map(is_key) else { return };
    let name = tokens.get(key + 1).copied().unwrap_or_default();
    let body = || {
        let open = tokens.iter().position(|token| *token == "{").map_or(tokens.len(), |at| at + 1);
        &tokens[open..open.max(tokens.len().saturating_sub(1))]
    };
    let kind = match tokens[key] {
        "fn" if context.is_some() => Kind::Method,
        "fn" => Kind::Function,
        "struct" | "enum" | "union" => Kind::Type,
        "type" if context.is_some() => Kind::Associated,
        "type" => Kind::Type,
        "const" | "static" => Kind::Constant,
        "impl" => {
            return collect(body(), Some(&implementation(&tokens[key + 1..])), items);
        }
        "trait" => {
            let of = Impl { of: name.into(), by: None };
            return collect(body(), Some(&of), items);
        }
        "mod" => return collect(body(), None, items),
        "macro_rules" => {
            let name = tokens.get(key + 2).copied().unwrap_or_default();
            return items.push(item(Kind::Macro, name, (attributes, tokens), context));
        }
        _ => return,
    };
    items.push(item(kind, name, (attributes, tokens), context));
}

fn item(kind: Kind, name: &str, text: (&[&str], &[&str]), context: Option<&Impl>) -> Item {
    Item {
        kind,
        name: name.into(),
        of: context.map(|of| of.of.clone()),
        by: context.and_then(|of| of.by.clone()),
        tokens: text.0.iter().chain(text.1).map(ToString::to_string).collect(),
    }
}

/// Reads `<…> Trait<…> for Type<…> where … {`: the last names of the paths.
fn implementation(header: &[&str]) -> Impl {
    let mut names: Vec<String> = vec![String::new()];
    let mut depth = 0;
    for (at, token) in header.iter().enumerate() {
        match *token {
            "<" => depth += 1,
            ">" if at > 0 && header[at - 1] != "-" => depth -= 1,
            "where" | "{" if depth == 0 => break,
            "for" if depth == 0 => names.push(String::new()),
            word if depth == 0 && word.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                if let Some(name) = names.last_mut() {
                    *name = word.into();
                }
            }
            _ => {}
        }
    }
    let of = names.pop().unwrap_or_default();
    Impl { of, by: names.pop() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(text: &str) -> Vec<String> {
        let show = |item: &Item| {
            let of = item.of.clone().unwrap_or_default();
            let by = item.by.clone().unwrap_or_default();
            format!("{:?} {} {of} {by}", item.kind, item.name).trim_end().to_string()
        };
        items(text).iter().map(show).collect()
    }

    #[test]
    fn items_are_found_where_they_stand() {
        let text = "
            //! A module.
            use a::{b, c};
            const X: [u8; 2] = [1; 2];
            const Y: S = S { a: 1 };
            #[derive(Clone)] pub(super) struct S { a: u8 }
            struct T(u8);
            enum E { A, B { x: u8 } }
            impl<'a, P: Q<u8>> fmt::Display for List<P> where P: X { fn fmt(&self) -> R { } }
            impl S { pub const fn new() -> Self { S { a: 0 } } fn f(&self) {} const Z: u8 = 1; }
            impl Protocol for A { type Node = S; fn g() -> impl Iterator<Item = u8> { x } }
            canonical!(struct S { a });
            macro_rules! m { () => {} }
            fn free(x: impl Fn() -> u8) { if x { } }
            mod inner { fn deep() {} }
            #[cfg(test)] mod tests { fn not_this() {} }
            static W: u8 = 1;
        ";
        assert_eq!(
            summary(text),
            [
                "Constant X",
                "Constant Y",
                "Type S",
                "Type T",
                "Type E",
                "Method fmt List Display",
                "Method new S",
                "Method f S",
                "Constant Z S",
                "Associated Node A Protocol",
                "Method g A Protocol",
                "Call canonical",
                "Macro m",
                "Function free",
                "Function deep",
                "Constant W",
            ]
        );
    }

    #[test]
    fn nonsense_is_no_reason_to_fail() {
        for text in ["}", "impl", "fn", "impl {", "# [", "macro_rules", "a !", "const", "struct S"]
        {
            summary(text);
        }
    }
}
