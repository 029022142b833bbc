//! A trace as one HTML page that needs no network and no server.
//!
//! The page is three files of this folder put together, and the trace as data (`data.rs`) for the
//! script, which writes all of it as text and never as markup. Without scripts there is the report in
//! words.

#[cfg(test)]
mod browser;
mod data;

use crate::svg::Escaped;
use everypath_trace::Trace;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// The script in the order in which its files need each other.
const SCRIPT: [&str; 4] = [
    include_str!("model.js"),
    include_str!("chart.js"),
    include_str!("details.js"),
    include_str!("page.js"),
];

/// The page. `words` say the same as [`text`](crate::text()), and `replay` is the command that
/// replays the trace.
pub fn html(trace: &Trace, words: &str, replay: &str) -> String {
    let title = crate::heading(trace);
    let data = data::json(trace, &title, replay);
    let words: Vec<String> = words.lines().map(|line| Escaped(line).to_string()).collect();
    let parts = [
        ("title", Escaped(&title).to_string()),
        ("style", STYLE.into()),
        ("words", words.join("\n")),
        // No markup can begin in it: whatever a string contains.
        ("data", data.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")),
        ("script", SCRIPT.concat()),
    ];
    let mut page = String::with_capacity(data.len() + PAGE.len() + STYLE.len() + (64 << 10));
    let mut rest = PAGE;
    // One pass, so that what is put in is not looked at again.
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("the page has pairs of braces");
        let part = parts.iter().find(|(known, _)| *known == name);
        page += before;
        page += &part.expect("the page names parts that there are").1;
        rest = after;
    }
    page + rest
}

#[cfg(test)]
mod tests {
    use super::html;
    use crate::fixtures;

    #[test]
    fn nothing_loads_from_outside_and_nothing_is_markup() {
        let page =
            html(&fixtures::exchange(), "word <i> for word {{script}}", "everypath replay t");
        assert!(page.contains("word &lt;i&gt; for word {{script}}"), "it is put in as it is");
        assert_eq!(page.matches("<script").count(), 2, "the data and the script");
        assert_eq!(page.matches("</script").count(), 2);
        for outside in ["http://", "https://", "//cdn", "@import", "url("] {
            let known = "http://www.w3.org/2000/svg";
            assert!(!page.replace(known, "").contains(outside), "{outside}");
        }
    }

    /// 5,000 steps are less than 3 MB.
    #[test]
    fn long_traces_are_small() {
        let trace = fixtures::long(5000);
        let page = html(&trace, &crate::text(&trace, "everypath replay", "t.json"), "replay");
        assert!(page.len() < 3_000_000, "{}", page.len());
    }
}
