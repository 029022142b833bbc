//! A counterexample as a self-contained HTML page.

use crate::chart::Chart;
use crate::svg::Escaped;
use everypath_trace::Trace;

const STYLE: &str = "body{font-family:system-ui,sans-serif;margin:2rem;color:#1f2933}\
     pre{background:#f5f7fa;padding:1rem;overflow-x:auto}svg{max-width:100%;height:auto}";

/// The page: the chart, and below it `words`, which say the same as [`text`](crate::text()).
pub fn html(trace: &Trace, words: &str) -> String {
    let title = crate::heading(trace);
    let (title, why) = (Escaped(&title), Escaped(&trace.violation.message));
    let chart = Chart::new(trace).svg();
    let words: Vec<String> = words.lines().map(|line| Escaped(line).to_string()).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
         <p>{why}</p>\n{chart}<h2>In words</h2>\n<pre>{}</pre>\n</body>\n</html>\n",
        words.join("\n")
    )
}
