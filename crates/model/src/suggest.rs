//! Unknown names: the choices, and the closest match.

use crate::usage::Usage;

/// Finds `name` among `known`; if it is not there, says what is.
pub fn find<'a>(
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Result<usize, Usage> {
    let known: Vec<&str> = known.into_iter().collect();
    if let Some(at) = known.iter().position(|candidate| *candidate == name) {
        return Ok(at);
    }
    if known.is_empty() {
        return Err(Usage::new(format!("unknown {what} '{name}': there is none to choose")));
    }
    let closest = known
        .iter()
        .map(|candidate| (strsim::jaro_winkler(candidate, name), candidate))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = closest.map_or(String::new(), |(_, name)| format!(" (did you mean {name}?)"));
    Err(Usage::new(format!("unknown {what} '{name}'{hint}; choose from: {}", known.join(", "))))
}
