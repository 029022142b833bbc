//! The slice of an item: everything that it reaches by name.

use crate::Source;
use crate::item::{Item, Kind, group_length, items};
use std::collections::BTreeSet;
use xxhash_rust::xxh3::Xxh3;

/// Traits through which text is made, which matters only where text is asked for.
const WORDING: [&str; 2] = ["Display", "Debug"];
/// The method and the macros by which text is asked for.
const TO_STRING: &str = "to_string";
const FORMATTING: [&str; 4] = ["format", "format_args", "write", "writeln"];

/// Source files, split into items, and what they were built with.
pub struct Program {
    items: Vec<Item>,
    /// Traits whose functions are reached by name only: those of a framework, which calls them.
    roots: Vec<&'static str>,
    switches: Vec<(&'static str, String)>,
}

/// A part of a program: everything that its roots reach.
pub struct Slice<'a> {
    program: &'a Program,
    reached: BTreeSet<usize>,
    /// Tokens that are in the slice beside whole items.
    parts: Vec<Vec<String>>,
}

impl Program {
    /// Splits files into items. The functions of the traits `roots` are called by a framework;
    /// `switches` are fields and their values.
    pub fn new(
        sources: &[Source],
        roots: &[&'static str],
        switches: Vec<(&'static str, String)>,
    ) -> Self {
        let items = sources.iter().flat_map(|source| items(source.text)).collect();
        Program { items, roots: roots.into(), switches }
    }

    /// An empty slice.
    pub fn slice(&self) -> Slice<'_> {
        Slice { program: self, reached: BTreeSet::new(), parts: Vec::new() }
    }

    /// Whether an item is the type that is switched: its fields are told apart by their uses.
    fn is_itself(&self, item: &Item) -> bool {
        let by_root = |other: &Item| other.by.as_deref().is_some_and(|by| self.roots.contains(&by));
        item.kind == Kind::Type
            && self
                .items
                .iter()
                .any(|other| other.of.as_ref() == Some(&item.name) && by_root(other))
    }

    /// The function of this name that implements one of the root traits.
    fn root(&self, name: &str) -> Option<usize> {
        let is_root = |item: &Item| item.by.as_deref().is_some_and(|by| self.roots.contains(&by));
        self.items.iter().position(|item| item.name == name && is_root(item))
    }

    /// The arm that `match` takes in a root function for a number: its tokens without the pattern.
    pub fn arm(&self, function: &str, number: usize) -> Option<Vec<String>> {
        let item = &self.items[self.root(function)?];
        let tokens: Vec<&str> = item.tokens.iter().map(String::as_str).collect();
        let start = tokens.iter().position(|token| *token == "match")?;
        let number = number.to_string();
        let fits = |arm: &&Arm| arm.pattern == [number.as_str()] || arm.pattern == ["_"];
        let arms = arms(&tokens[start + 2..]);
        let arm = arms.iter().find(fits)?;
        Some(tokens[start + 2..][arm.body.clone()].iter().map(ToString::to_string).collect())
    }
}

/// An arm of a `match`.
struct Arm<'a> {
    pattern: Vec<&'a str>,
    /// Where it is, and where its body is, counted from the brace that opens the arms.
    whole: std::ops::Range<usize>,
    body: std::ops::Range<usize>,
}

/// The arms of a `match`, of which `tokens` begin with the opening brace.
fn arms<'a>(tokens: &[&'a str]) -> Vec<Arm<'a>> {
    let end = group_length(tokens).saturating_sub(1);
    let mut arms = Vec::new();
    let mut at = 1;
    while at < end {
        let start = at;
        while at < end && !(tokens[at] == "=" && tokens.get(at + 1) == Some(&">")) {
            at += group_length(&tokens[at..]);
        }
        let pattern = tokens[start..at.min(end)].to_vec();
        at += 2;
        let body = at.min(end);
        if tokens.get(at) == Some(&"{") {
            at += group_length(&tokens[at..]);
        } else {
            while at < end && tokens[at] != "," {
                at += group_length(&tokens[at..]);
            }
        }
        at += usize::from(tokens.get(at) == Some(&","));
        arms.push(Arm { pattern, whole: start..at.min(end), body: body..at.min(end) });
    }
    arms
}

impl Slice<'_> {
    /// Adds a function that implements one of the root traits; whether there is one.
    pub fn add(&mut self, function: &str) -> bool {
        let root = self.program.root(function);
        if let Some(root) = root {
            self.reach(root);
        }
        root.is_some()
    }

    /// Adds a root function without those arms of its `match` on a parameter that cannot be taken
    /// if the value is one of the variants that `chosen` mentions: `Type::Variant`.
    pub fn add_for(&mut self, function: &str, chosen: &[String]) -> bool {
        let Some(root) = self.program.root(function) else { return false };
        let tokens: Vec<&str> =
            self.program.items[root].tokens.iter().map(String::as_str).collect();
        let left = prune(&tokens, &variants(chosen));
        self.add_tokens(left.into_iter().map(ToString::to_string).collect());
        true
    }

    /// Adds tokens that are not an item.
    pub fn add_tokens(&mut self, tokens: Vec<String>) {
        self.follow(&tokens, None);
        self.parts.push(tokens);
    }

    /// Adds the associated types of these names, and all that they are made of: types, and how
    /// they are written.
    pub fn add_types(&mut self, names: &[&str], writing: &str) {
        let items = &self.program.items;
        let associated = items.iter().enumerate().filter(|(_, item)| {
            item.kind == Kind::Associated && names.contains(&item.name.as_str())
        });
        let mut waiting: Vec<usize> = associated.map(|(number, _)| number).collect();
        while let Some(number) = waiting.pop() {
            if !self.reached.insert(number) {
                continue;
            }
            let mentioned = |name: &str| items[number].tokens.iter().any(|token| token == name);
            for (other, item) in items.iter().enumerate() {
                let own = matches!(item.kind, Kind::Type | Kind::Constant) && mentioned(&item.name);
                let of = items[number].name.as_str();
                let written = item.by.as_deref() == Some(writing) && item.of.as_deref() == Some(of);
                let called = item.kind == Kind::Call && item.tokens.iter().any(|t| t == of);
                if own || items[number].kind == Kind::Type && (written || called) {
                    waiting.push(other);
                }
            }
        }
    }

    /// A fingerprint of everything in the slice, and of the switches that it mentions.
    pub fn fingerprint(&self) -> u128 {
        let mut sum = Xxh3::new();
        let items = self.reached.iter().map(|number| &self.program.items[*number].tokens);
        // In an order that does not depend on where items stand.
        let mut texts: Vec<&Vec<String>> = items.chain(&self.parts).collect();
        texts.sort();
        for text in &texts {
            for token in *text {
                sum.update(token.as_bytes());
                sum.update(b"\n");
            }
            sum.update(b"\n\n");
        }
        // The fields of a type are no uses of a switch of the same name.
        let uses = self.reached.iter().map(|number| &self.program.items[*number]);
        let uses = uses.filter(|item| !matches!(item.kind, Kind::Type | Kind::Call));
        let uses: Vec<_> = uses.map(|item| &item.tokens).chain(&self.parts).collect();
        for (name, value) in &self.program.switches {
            if uses.iter().any(|text| text.iter().any(|token| token == name)) {
                sum.update(name.as_bytes());
                sum.update(b"=");
                sum.update(value.as_bytes());
                sum.update(b"\n");
            }
        }
        sum.digest128()
    }

    /// Whether the slice holds a function of this name, for those who wonder.
    pub fn holds(&self, function: &str) -> bool {
        self.reached.iter().any(|number| self.program.items[*number].name == function)
    }

    fn reach(&mut self, number: usize) {
        if self.reached.insert(number) {
            let item = &self.program.items[number];
            self.follow(&item.tokens, Some(item));
        }
    }

    /// Reaches whatever these tokens mention.
    fn follow(&mut self, tokens: &[String], from: Option<&Item>) {
        let items = &self.program.items;
        for (at, token) in tokens.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| tokens[at].as_str());
            let after = tokens.get(at + 1).map(String::as_str);
            for (number, item) in items.iter().enumerate() {
                if mentions(item, token, before, after) && !self.program.is_itself(item) {
                    self.reach(number);
                }
            }
            let formats = FORMATTING.contains(&token.as_str()) && after == Some("!");
            if formats || token == TO_STRING {
                self.reach_traits(|item| WORDING.contains(&item.by.as_deref().unwrap_or_default()));
            }
        }
        // A type may act through its traits without a word: comparing, dropping, iterating.
        if let Some(item) = from.filter(|item| item.kind == Kind::Type) {
            let roots = &self.program.roots;
            let name = item.name.clone();
            self.reach_traits(|item| {
                item.of.as_ref() == Some(&name)
                    && item
                        .by
                        .as_deref()
                        .is_some_and(|by| !roots.contains(&by) && !WORDING.contains(&by))
            });
        }
    }

    fn reach_traits(&mut self, wanted: impl Fn(&Item) -> bool) {
        let items = self.program.items.iter().enumerate();
        let numbers: Vec<usize> =
            items.filter(|(_, item)| wanted(item)).map(|(number, _)| number).collect();
        numbers.into_iter().for_each(|number| self.reach(number));
    }
}

/// Whether a token, standing where it does, may mean an item.
fn mentions(item: &Item, token: &str, before: Option<&str>, after: Option<&str>) -> bool {
    if item.name != token {
        return false;
    }
    match item.kind {
        Kind::Method if before == Some(".") => matches!(after, Some("(" | "::")),
        Kind::Method => before == Some("::"),
        Kind::Function | Kind::Type | Kind::Constant => before != Some("."),
        Kind::Macro => after == Some("!"),
        Kind::Call | Kind::Associated => false,
    }
}

/// The variants that a closure asks for, if it says `|x| matches!(x, Type::Variant…)` and no more.
fn variants(tokens: &[String]) -> Vec<(&str, &str)> {
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    let mut places = tokens.windows(4).enumerate().filter(|(_, w)| w[..3] == ["|", "matches", "!"]);
    let (Some((at, _)), None) = (places.next(), places.next()) else { return Vec::new() };
    let group = &tokens[at + 3..];
    let end = group_length(group);
    if !matches!(group.get(end), Some(&(")" | ","))) {
        return Vec::new();
    }
    let is_type = |word: &str| word.starts_with(|c: char| c.is_uppercase());
    let paths = group[..end].windows(3).filter(|path| path[1] == "::");
    paths
        .filter(|path| is_type(path[0]) && is_type(path[2]))
        .map(|path| (path[0], path[2]))
        .collect()
}

/// Leaves out the arms of a `match` on a bare parameter whose patterns are variants of a type of
/// which only others are chosen.
fn prune<'a>(tokens: &[&'a str], chosen: &[(&str, &str)]) -> Vec<&'a str> {
    let mut left = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        left.push(tokens[at]);
        at += 1;
        if tokens[at - 1] != "match" || tokens.get(at + 1) != Some(&"{") {
            continue;
        }
        let matched = tokens[at];
        // A parameter, by this name and no other value by the same.
        let declared = tokens.windows(2).any(|two| two == [matched, ":"]);
        let again = tokens.windows(2).any(|two| {
            matches!(two[0], "let" | "mut" | "ref" | "|" | "in" | "for") && two[1] == matched
        });
        if !declared || again {
            continue;
        }
        let open = at + 1;
        let end = open + group_length(&tokens[open..]);
        left.extend([matched, "{"]);
        let mut kept = open + 1;
        for arm in arms(&tokens[open..end]) {
            if !impossible(&arm.pattern, chosen) {
                left.extend(&tokens[open + arm.whole.start..open + arm.whole.end]);
            }
            kept = open + arm.whole.end;
        }
        at = kept;
    }
    left
}

/// Whether a pattern is made of variants of which none is chosen, of a type of which some are.
fn impossible(pattern: &[&str], chosen: &[(&str, &str)]) -> bool {
    let mut alternatives = vec![Vec::new()];
    let mut at = 0;
    while at < pattern.len() {
        let length = group_length(&pattern[at..]);
        match pattern[at] {
            "|" => alternatives.push(Vec::new()),
            "if" => break,
            _ => {
                if let Some(last) = alternatives.last_mut() {
                    last.extend_from_slice(&pattern[at..at + length]);
                }
            }
        }
        at += length;
    }
    alternatives.iter().all(|alternative| match alternative[..] {
        [type_, "::", variant, ..] => {
            chosen.iter().any(|(chosen, _)| *chosen == type_) && !chosen.contains(&(type_, variant))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
        pub struct P { quick: bool, loud: bool }
        impl Protocol for P {
            type Node = N;
            fn receive(&self, n: &mut N, packet: Packet) { self.take(n, packet); helper(1); }
            fn fire(&self, n: &mut N, timer: Timer) {
                match timer {
                    Timer::A(x) if self.quick => n.quicken(x),
                    Timer::A(x) => n.first(x),
                    Timer::B | Timer::C => { n.second() }
                    other => n.rest(other),
                }
            }
            fn action(event: u16) -> Action {
                match event {
                    0 => Action::Fire(|t| matches!(t, Timer::A(_))),
                    1 => Action::Fire(|t| matches!(t, Timer::B)),
                    _ => Action::Lose,
                }
            }
        }
        impl P { fn take(&self, n: &mut N, packet: Packet) { if self.loud { n.count = LIMIT; } } }
        const LIMIT: u32 = 3;
        fn helper(x: u32) -> u32 { x }
        struct N { count: u32, inner: Inner }
        struct Inner(u8);
        enum Timer { A(u8), B, C }
        struct Unrelated;
        impl N {
            fn first(&mut self, x: u8) {} fn second(&mut self) {} fn quicken(&mut self, x: u8) {}
            fn rest(&mut self, t: Timer) {}
            fn unused(&self) {}
        }
        impl Default for N { fn default() -> N { N { count: 0, inner: Inner(0) } } }
        impl Display for N { fn fmt(&self) {} }
        impl Canonical for Inner { fn write(&self) {} }
        canonical!(struct N { count, inner });
    ";

    fn program(text: &'static str, quick: bool) -> Program {
        let switches = vec![("quick", quick.to_string()), ("loud", "false".into())];
        Program::new(&[Source { file: "p.rs", text }], &["Protocol"], switches)
    }

    /// The fingerprints of receiving, of the two timers, and of the state.
    fn prints(text: &str, quick: bool) -> [u128; 4] {
        let program = program(text.to_string().leak(), quick);
        let fire = |event: usize| {
            let mut slice = program.slice();
            assert!(slice.add_for("fire", &program.arm("action", event).unwrap()));
            slice.fingerprint()
        };
        let mut receive = program.slice();
        assert!(receive.add("receive"));
        let mut state = program.slice();
        state.add_types(&["Node"], "Canonical");
        [receive.fingerprint(), fire(0), fire(1), state.fingerprint()]
    }

    /// Which of the four change if `old` becomes `new` in the text.
    fn changed(old: &str, new: &str) -> [bool; 4] {
        assert!(TEXT.contains(old), "{old}");
        let (before, after) = (prints(TEXT, false), prints(&TEXT.replace(old, new), false));
        std::array::from_fn(|at| before[at] != after[at])
    }

    #[test]
    fn a_change_touches_what_reaches_it() {
        assert_eq!(
            changed("fn helper(x: u32) -> u32 { x }", "fn helper(x: u32) -> u32 { x + 1 }"),
            [true, false, false, false]
        );
        assert_eq!(changed("LIMIT: u32 = 3", "LIMIT: u32 = 4"), [true, false, false, false]);
        assert_eq!(
            changed("fn first(&mut self, x: u8) {}", "fn first(&mut self, x: u8) { a() }"),
            [false, true, false, false]
        );
        assert_eq!(
            changed("fn second(&mut self) {}", "fn second(&mut self) { self.x() }"),
            [false, false, true, false]
        );
        assert_eq!(
            changed("fn rest(&mut self, t: Timer) {}", "fn rest(&mut self, t: Timer) {;}"),
            [false, true, true, false]
        );
        assert_eq!(changed("fn unused(&self) {}", "fn unused(&self) { 1 }"), [false; 4]);
        assert_eq!(changed("struct Unrelated;", "struct Unrelated(u8);"), [false; 4]);
        assert_eq!(changed("fn receive(", "/* now */ fn  receive("), [false; 4]);
    }

    #[test]
    fn a_type_that_is_reached_brings_its_traits_but_for_wording() {
        assert_eq!(changed("N { count: 0,", "N { count: 1,"), [true, true, true, false]);
        assert_eq!(changed("fn fmt(&self) {}", "fn fmt(&self) { 1 }"), [false; 4]);
    }

    #[test]
    fn the_state_is_its_types_and_how_they_are_written() {
        assert!(changed("struct Inner(u8)", "struct Inner(u16)")[3]);
        assert!(
            changed("canonical!(struct N { count, inner })", "canonical!(struct N { inner })")[3]
        );
        assert!(changed("fn write(&self) {}", "fn write(&self) { 1 }")[3]);
        assert!(!changed("fn quicken(&mut self, x: u8) {}", "fn quicken(&mut self, y: u8) {}")[3]);
    }

    #[test]
    fn a_switch_touches_what_mentions_it() {
        assert_eq!(changed("loud: bool }", "loud: bool, more: bool }"), [false; 4]);
        let (off, on) = (prints(TEXT, false), prints(TEXT, true));
        assert_eq!(std::array::from_fn(|at| off[at] != on[at]), [false, true, false, false]);
    }

    /// A value of the same name may be another one; then no arm is left out.
    #[test]
    fn arms_are_left_out_of_a_match_on_the_parameter_only() {
        let shadowed = TEXT.replace("match timer", "let timer = n.next(); match timer");
        let other = shadowed.replace("fn second(&mut self) {}", "fn second(&mut self) { 1 }");
        assert_ne!(prints(&shadowed, false)[1], prints(&other, false)[1]);
    }

    /// Only what is asked for as plainly as that is taken for all that can come.
    #[test]
    fn a_choice_that_is_not_plain_leaves_all_arms() {
        let second = "fn second(&mut self) {}";
        for choice in ["!matches!(t, Timer::B)", "matches!(t, Timer::A(_)) || odd(t)", "is_a(t)"] {
            let text = TEXT.replace("matches!(t, Timer::A(_))", choice);
            let other = text.replace(second, "fn second(&mut self) { 1 }");
            assert_ne!(prints(&text, false)[1], prints(&other, false)[1], "{choice}");
        }
    }

    #[test]
    fn a_function_that_is_not_there_is_told() {
        let program = program(TEXT, false);
        assert!(!program.slice().add("command"));
        assert!(program.arm("command", 0).is_none());
    }
}
