//! The sequence chart of a trace as SVG: lanes on the left, what happens on the right.
//!
//! Nothing is written across lanes but the contents of messages, which are cut to the room between
//! two of them; the words of a step stand in a column of their own, its source line below them.
//! Colours follow the reader's light or dark scheme.

mod layout;

use crate::expansion::Expanded;
use crate::svg::Svg;
use crate::timeline::{Fate, Flight, Timeline, content, location, shortened};
use everypath_trace::{SpanKind, Trace};
use layout::{HEAD, Layout, ROW, Row};
use std::collections::BTreeSet;

/// How wide the column of words is, in pixels and in characters.
const WORDS: u32 = 520;
const WORDS_FIT: usize = 70;
/// The width of a character, about.
const CHARACTER: u32 = 7;

const STYLE: &str = "\
svg{--bg:#fff;--ink:#1c2733;--dim:#5d6f80;--line:#c9d3dc;--bad:#b92525;--badbg:#fdecec;--warn:#96500a;\
--warnbg:#fff4e2;--c0:#4c5b6b;--c1:#1b62c4;--c2:#0d7450;--c3:#8a30b0;--c4:#a8480b;--c5:#0b7285;\
--c6:#a61e4d;--c7:#5f6f0c}\
@media(prefers-color-scheme:dark){svg{--bg:#11161c;--ink:#e4ebf2;--dim:#9fb0c0;--line:#3a4754;\
--bad:#ff8080;--badbg:#3a1d1f;--warn:#f0a94b;--warnbg:#33270f;--c0:#a9b7c5;--c1:#7fb1ff;--c2:#5fd0a5;\
--c3:#d79bf3;--c4:#ffa36b;--c5:#66d9e8;--c6:#ff8fab;--c7:#c9dc5f}}\
text{fill:var(--ink);font-size:13px}.dim{fill:var(--dim);font-size:11.5px}\
.mono{font-family:ui-monospace,'DejaVu Sans Mono',monospace}.bad{fill:var(--bad)}\
.warn{fill:var(--warn)}.name{font-weight:600}.life{stroke:var(--line);stroke-width:1.5}\
.wait{stroke:var(--bad);stroke-width:2.5;stroke-dasharray:4 4}.arrow{stroke-width:1.6;fill:none}\
.race{stroke:var(--bad);stroke-width:1.6;stroke-dasharray:2 4;fill:none}";

/// The chart as a drawing.
pub fn svg(trace: &Trace) -> String {
    let expanded = Expanded::of(trace);
    let timeline = Timeline::of(&expanded);
    let layout = Layout::of(&timeline);
    let why = match trace.is_passing() {
        true => Vec::new(),
        false => wrapped(&crate::text::plain(&trace.violation.message), 110),
    };
    let height = HEAD + layout.height() + 40 + why.len() as u32 * 18;
    let words = layout.words();
    let width = (words + WORDS).max(840);
    let title = crate::heading(trace);
    let mut svg = Svg::styled((width, height), &title, STYLE);
    svg.text(&shortened(&title, 110), &[("x", &20), ("y", &28), ("class", &"name")]);
    svg.text(&legend(trace), &[("x", &20), ("y", &50), ("class", &"dim")]);
    let drawing = Drawing { timeline: &timeline, layout: &layout };
    drawing.bands(&mut svg, width);
    drawing.lanes(&mut svg);
    drawing.spans(&mut svg);
    drawing.race(&mut svg);
    let mut labelled = BTreeSet::new();
    for flight in &timeline.flights {
        drawing.flight(&mut svg, flight);
        // Of messages that are sent in one row, the first has its content between two lanes.
        let (from, to) = (flight.from.lane, flight.to.lane);
        let gap = if to > from { from } else { from.saturating_sub(1) };
        if from != to && flight.fate != Fate::Again && labelled.insert((flight.from.step, gap)) {
            drawing.label(&mut svg, flight);
        }
    }
    drawing.rows(&mut svg);
    let end = HEAD + layout.height() + 14;
    if why.is_empty() {
        return svg.finish();
    }
    svg.element(
        "rect",
        &[
            ("x", &12),
            ("y", &end),
            ("width", &(width - 24)),
            ("height", &(why.len() as u32 * 18 + 14)),
            ("rx", &6),
            ("fill", &"var(--badbg)"),
        ],
    );
    for (line, y) in why.iter().zip((end + 20..).step_by(18)) {
        svg.text(line, &[("x", &22), ("y", &y), ("class", &"bad")]);
    }
    svg.finish()
}

fn legend(trace: &Trace) -> String {
    let mut parts = vec!["● step"];
    let has = |kind| trace.spans.iter().any(|span| span.kind == kind);
    if has(SpanKind::Hold) {
        parts.push("bar: holds a lock");
    }
    if has(SpanKind::Wait) {
        parts.push("dashed: blocked");
    }
    if !trace.messages.is_empty() {
        parts.push("arrow: message; ✕ lost");
    }
    parts.join("  ·  ")
}

/// A sentence in lines of so many characters, broken between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is one");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(shortened(word, width));
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&shortened(word, width));
        }
    }
    lines
}

struct Drawing<'a> {
    timeline: &'a Timeline<'a>,
    layout: &'a Layout,
}

impl Drawing<'_> {
    fn color(lane: usize) -> String {
        format!("var(--c{})", lane % 8)
    }

    fn flight_color(flight: &Flight<'_>) -> String {
        match flight.fate {
            Fate::Lost => "var(--bad)".into(),
            Fate::Again | Fate::Late => "var(--warn)".into(),
            Fate::Unread => "var(--dim)".into(),
            Fate::Arrives => Self::color(flight.from.lane),
        }
    }

    /// The background of the steps that decide.
    fn bands(&self, svg: &mut Svg, width: u32) {
        let race = self.timeline.race();
        let critical = self.timeline.critical();
        for step in critical.into_iter().chain(race.into_iter().filter(|at| Some(*at) != critical))
        {
            let fill = if critical == Some(step) { "var(--badbg)" } else { "var(--warnbg)" };
            let y = self.layout.y(step).saturating_sub(ROW / 2);
            let attributes: [(&str, &dyn std::fmt::Display); 6] = [
                ("x", &12),
                ("y", &y),
                ("width", &(width - 24)),
                ("height", &ROW),
                ("rx", &6),
                ("fill", &fill),
            ];
            svg.element("rect", &attributes);
        }
    }

    fn lanes(&self, svg: &mut Svg) {
        let bottom = HEAD + self.layout.height();
        for (number, lane) in self.timeline.lanes.iter().enumerate() {
            let x = self.layout.x(number);
            // Names stand on two heights in turn, so that they have the room of two lanes.
            let y = if number % 2 == 0 { HEAD - 32 } else { HEAD - 14 };
            let room = (2 * self.layout.lane_width / CHARACTER).saturating_sub(1) as usize;
            let name = shortened(&lane.name, room.max(6));
            let (anchor, at) = if number == 0 { ("start", x - 12) } else { ("middle", x) };
            let color = Self::color(number);
            svg.text(
                &name,
                &[
                    ("x", &at),
                    ("y", &y),
                    ("text-anchor", &anchor),
                    ("class", &"name"),
                    ("style", &format_args!("fill:{color}")),
                ],
            );
            let dashes = if lane.is_outside { "1 5" } else { "" };
            svg.element(
                "line",
                &[
                    ("x1", &x),
                    ("y1", &(HEAD - 8)),
                    ("x2", &x),
                    ("y2", &bottom),
                    ("class", &"life"),
                    ("stroke-dasharray", &dashes),
                ],
            );
        }
    }

    fn spans(&self, svg: &mut Svg) {
        let mut slots: Vec<Vec<usize>> = vec![Vec::new(); self.timeline.lanes.len()];
        for span in &self.timeline.trace.spans {
            let Some(lane) = self.timeline.actor(&span.actor) else { continue };
            let (x, top) = (self.layout.x(lane), self.layout.y(span.from.saturating_sub(1)));
            let end = span.to.map(|to| self.layout.y(to.saturating_sub(1)));
            let bottom = end.unwrap_or(HEAD + self.layout.height()).max(top);
            let title = format!("{} {}", verb(span.kind), crate::text::plain(&span.object));
            if span.kind == SpanKind::Wait {
                svg.titled(
                    "line",
                    &title,
                    &[("x1", &x), ("y1", &top), ("x2", &x), ("y2", &bottom), ("class", &"wait")],
                );
                continue;
            }
            // Locks that are held together stand side by side.
            let until = span.to.unwrap_or(usize::MAX);
            let free = slots[lane].iter().position(|&busy| busy <= span.from);
            let slot = free.unwrap_or(slots[lane].len());
            if slot == slots[lane].len() {
                slots[lane].push(until);
            } else {
                slots[lane][slot] = until;
            }
            let left = (x + 7 * slot.min(4) as u32).saturating_sub(6);
            svg.titled(
                "rect",
                &title,
                &[
                    ("x", &left),
                    ("y", &top),
                    ("width", &12),
                    ("height", &(bottom - top).max(4)),
                    ("rx", &3),
                    ("fill", &Self::color(lane)),
                    ("opacity", &0.28),
                ],
            );
        }
    }

    /// A line between the two steps whose order decides.
    fn race(&self, svg: &mut Svg) {
        let [one, other] = self.timeline.race()[..] else { return };
        let point = |step: usize| {
            let lane = self.timeline.lane_of.get(step).copied().unwrap_or(0);
            (self.layout.x(lane), self.layout.y(step))
        };
        let ((x1, y1), (x2, y2)) = (point(one), point(other));
        let bend = x1.max(x2) + self.layout.lane_width / 2;
        let path = format!("M{x1} {y1}C{bend} {y1} {bend} {y2} {x2} {y2}");
        svg.titled("path", "racing pair", &[("d", &path), ("class", &"race")]);
    }

    fn flight(&self, svg: &mut Svg, flight: &Flight<'_>) {
        let (x1, y1) = (self.layout.x(flight.from.lane), self.layout.y(flight.from.step));
        let (far, y2) = (self.layout.x(flight.to.lane), self.layout.y(flight.to.step));
        let color = Self::flight_color(flight);
        let title = format!("{} {}", content(flight.message, 90), flight.fate.note());
        if flight.from.lane == flight.to.lane {
            // To itself: a loop beside the lane.
            let (x, bend) = (x1, x1 + self.layout.lane_width / 3);
            let y2 = if y2 == y1 { y1 + ROW / 3 } else { y2 };
            let path = format!("M{x} {y1}C{bend} {y1} {bend} {y2} {} {y2}", x + 8);
            let attributes: [(&str, &dyn std::fmt::Display); 3] =
                [("d", &path), ("class", &"arrow"), ("stroke", &color)];
            return svg.titled("path", &title, &attributes);
        }
        let x2 = match flight.fate.arrives() {
            true => far,
            // What does not arrive ends halfway.
            false => (x1 + far) / 2,
        };
        let dashes = match flight.fate {
            Fate::Again => "6 4",
            Fate::Unread => "2 4",
            _ => "",
        };
        svg.titled(
            "line",
            &title,
            &[
                ("x1", &x1),
                ("y1", &y1),
                ("x2", &x2),
                ("y2", &y2),
                ("class", &"arrow"),
                ("stroke", &color),
                ("stroke-dasharray", &dashes),
            ],
        );
        if flight.fate == Fate::Lost {
            let (left, right, up, down) = (x2 - 6, x2 + 6, y1 - 6, y1 + 6);
            let cross = format!("M{left} {up}L{right} {down}M{left} {down}L{right} {up}");
            svg.element("path", &[("d", &cross), ("stroke", &color), ("stroke-width", &2.5)]);
        } else if flight.fate.arrives() {
            head(svg, (x1, y1), (x2, y2), &color);
        }
    }

    /// The content of a message above its arrow, if there is room between the lanes.
    fn label(&self, svg: &mut Svg, flight: &Flight<'_>) {
        let (x1, x2) = (self.layout.x(flight.from.lane), self.layout.x(flight.to.lane));
        let (y, color) = (self.layout.y(flight.from.step), Self::flight_color(flight));
        let room = (self.layout.lane_width.saturating_sub(20) / CHARACTER) as usize;
        if room < 9 {
            return;
        }
        let (anchor, x) = if x2 > x1 { ("start", x1 + 10) } else { ("end", x1 - 10) };
        svg.text(
            &content(flight.message, room),
            &[
                ("x", &x),
                ("y", &(y - 5)),
                ("text-anchor", &anchor),
                ("class", &"dim mono"),
                ("style", &format_args!("fill:{color}")),
            ],
        );
    }

    fn rows(&self, svg: &mut Svg) {
        let words = self.layout.words();
        for (row, y) in self.layout.rows() {
            let number = match row {
                Row::Step(step) => step,
                Row::Folded { first, count } => {
                    let text = format!("⋯ {count} steps ({} to {})", first + 1, first + count);
                    let place: [(&str, &dyn std::fmt::Display); 3] =
                        [("x", &words), ("y", &(y + 4)), ("class", &"dim")];
                    svg.text(&text, &place);
                    continue;
                }
            };
            let (step, lane) = (&self.timeline.trace.steps[number], self.timeline.lane_of[number]);
            let place: [(&str, &dyn std::fmt::Display); 4] =
                [("x", &40), ("y", &(y + 4)), ("text-anchor", &"end"), ("class", &"dim")];
            svg.text(
                &self.timeline.number(number).map(|it| it.to_string()).unwrap_or_default(),
                &place,
            );
            let color = Self::color(lane);
            let dot: [(&str, &dyn std::fmt::Display); 4] =
                [("cx", &self.layout.x(lane)), ("cy", &y), ("r", &5), ("fill", &color)];
            svg.element("circle", &dot);
            let tags = self.tags(number);
            let room = WORDS_FIT.saturating_sub(tags.chars().count());
            let text = shortened(
                &format!("{} {}", self.timeline.lanes[lane].name, self.timeline.action(step)),
                room,
            );
            let class =
                if tags.contains("critical") || tags.contains("fault") { "bad" } else { "" };
            svg.text(
                &format!("{text}{tags}"),
                &[("x", &words), ("y", &(y + 1)), ("class", &class)],
            );
            let beside = self.beside(number);
            let place: [(&str, &dyn std::fmt::Display); 3] =
                [("x", &words), ("y", &(y + 14)), ("class", &"dim mono")];
            svg.text(&beside, &place);
        }
    }

    /// What is special about a step.
    fn tags(&self, number: usize) -> String {
        self.timeline.marks(number).iter().map(|mark| format!("  [{mark}]")).collect()
    }

    /// The messages that a step sends and receives, and its source line.
    fn beside(&self, number: usize) -> String {
        let flights = self.timeline.flights_at(number);
        let mut parts: Vec<String> = Vec::new();
        let mut seen = Vec::new();
        for flight in flights {
            let is_outside = |lane: usize| self.timeline.lanes[lane].is_outside;
            let sends = flight.from.step == number && !is_outside(flight.from.lane);
            let receives = flight.to.step == number && flight.fate.arrives();
            if sends && !seen.contains(&flight.number) {
                seen.push(flight.number);
                parts.push(format!("→ {} {}", content(flight.message, 40), flight.fate.note()));
            } else if receives && !is_outside(flight.to.lane) {
                parts.push(format!("← {} {}", content(flight.message, 40), flight.fate.note()));
            }
        }
        let said = parts.iter().map(|part| part.trim_end()).collect::<Vec<_>>().join("  ");
        let said = shortened(&said, WORDS_FIT * 2 / 3);
        let Some(place) = location(&self.timeline.trace.steps[number]) else { return said };
        let gap = if said.is_empty() { "" } else { "  " };
        let room = WORDS_FIT.saturating_sub(said.chars().count() + gap.len());
        format!("{said}{gap}{}", ending(&place, room))
    }
}

/// The end of a path in so many characters: the file and the line matter most.
fn ending(path: &str, width: usize) -> String {
    let count = path.chars().count();
    if count <= width {
        return path.into();
    }
    ['…'].into_iter().chain(path.chars().skip(count + 1 - width.max(1))).collect()
}

fn verb(kind: SpanKind) -> &'static str {
    match kind {
        SpanKind::Hold => "holds",
        SpanKind::Wait => "waits for",
    }
}

/// The tip of an arrow.
fn head(svg: &mut Svg, from: (u32, u32), to: (u32, u32), color: &str) {
    let (dx, dy) = (f64::from(to.0) - f64::from(from.0), f64::from(to.1) - f64::from(from.1));
    let length = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    // The tip does not hide the dot of the step.
    let tip = (f64::from(to.0) - ux * 5.0, f64::from(to.1) - uy * 5.0);
    let point = |back: f64, aside: f64| {
        let x = tip.0 - ux * back - uy * aside;
        let y = tip.1 - uy * back + ux * aside;
        format!("{x:.1},{y:.1}")
    };
    let points = [point(0.0, 0.0), point(9.0, 4.0), point(9.0, -4.0)].join(" ");
    svg.element("polygon", &[("points", &points), ("fill", &color)]);
}

#[cfg(test)]
mod tests {
    use super::svg;
    use crate::fixtures;

    #[test]
    fn locks_waits_the_race_and_the_violation_are_drawn() {
        let drawn = svg(&fixtures::deadlock());
        for what in [
            "<title>holds mutex forks[1]</title>",
            "<title>waits for mutex forks[0]</title>",
            "<title>racing pair</title>",
            "[critical step]",
            "[preemption]",
            "philosophers.c:18",
            "held by thread 2; thread 2 waits",
        ] {
            assert!(drawn.contains(what), "{what}: {drawn}");
        }
    }

    #[test]
    fn messages_are_arrows_and_what_is_lost_ends_in_a_cross() {
        let drawn = svg(&fixtures::exchange());
        let count = |what: &str| drawn.matches(what).count();
        assert_eq!(count("<polygon"), 5, "those that arrive: {drawn}");
        assert_eq!(count("stroke-width=\"2.5\""), 1, "a cross: {drawn}");
        assert!(drawn.contains("→ &quot;GET /a&quot;") && drawn.contains("&quot;slow&quot; late"));
        assert!(drawn.contains("[fault: duplication]") && drawn.contains("[time-out]"), "{drawn}");
        assert!(drawn.contains("client.rs:14"), "the line of a long path is seen: {drawn}");
    }

    #[test]
    fn what_comes_from_programs_is_no_markup() {
        let drawn = svg(&fixtures::exchange());
        assert!(
            !drawn.contains("<script") && !drawn.contains('\u{202e}') && !drawn.contains('\u{1b}')
        );
    }

    #[test]
    fn long_traces_are_folded() {
        let drawn = svg(&fixtures::long(1000));
        assert!(drawn.contains("⋯ "), "{}", drawn.len());
        assert!(drawn.matches("<circle").count() < 400);
    }
}
