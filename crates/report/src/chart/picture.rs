//! Sequence charts as SVG.

use super::{Arrow, Chart, End, Place, cut};
use crate::svg::Svg;

const LEFT: u32 = 60;
const TOP: u32 = 84;
const ROW: u32 = 34;
const COLUMN: u32 = 260;
/// How much space words beside the last lifeline have.
const RIGHT: u32 = 300;
/// So many characters fit between two lifelines.
const LABEL: usize = 30;

const INK: &str = "#1f2933";
const QUIET: &str = "#7b8794";
/// What went wrong on the way, and what came once more.
const LOST: &str = "#c0392b";
const AGAIN: &str = "#b35c00";

impl Chart {
    /// The chart as a drawing.
    pub fn svg(&self) -> String {
        let columns = self.lifelines.len().max(1) as u32;
        let width = LEFT + (columns - 1) * COLUMN + RIGHT;
        let height = TOP + (self.rows as u32 + 1) * ROW;
        let mut svg = Svg::new(width, height, &self.title);
        svg.text(&self.title, &[("x", &LEFT), ("y", &24), ("font-size", &14), ("fill", &INK)]);
        for (number, name) in self.lifelines.iter().enumerate() {
            let x = column(number);
            svg.text(
                &cut(name, LABEL),
                &[
                    ("x", &x),
                    ("y", &(TOP - 30)),
                    ("font-size", &13),
                    ("font-weight", &"bold"),
                    ("text-anchor", &if number == 0 { "start" } else { "middle" }),
                    ("fill", &INK),
                ],
            );
            line(&mut svg, (x, TOP - 20), (x, height - ROW / 2), (QUIET, ""));
        }
        self.arrows.iter().for_each(|arrow| draw(&mut svg, arrow));
        svg.finish()
    }
}

fn column(number: usize) -> u32 {
    LEFT + number as u32 * COLUMN
}

fn height(place: Place) -> u32 {
    TOP + place.row as u32 * ROW + ROW / 2
}

fn line(svg: &mut Svg, from: (u32, u32), to: (u32, u32), (color, dashes): (&str, &str)) {
    let (x1, y1, x2, y2) = (from.0, from.1, to.0, to.1);
    svg.element(
        "line",
        &[
            ("x1", &x1),
            ("y1", &y1),
            ("x2", &x2),
            ("y2", &y2),
            ("stroke", &color),
            ("stroke-width", &1.5),
            ("stroke-dasharray", &dashes),
        ],
    );
}

fn draw(svg: &mut Svg, arrow: &Arrow) {
    let (x, y) = (column(arrow.from), height(arrow.begins));
    let (color, dashes, note) = look(arrow.end);
    if arrow.from == arrow.to {
        return at_one_lifeline(svg, arrow);
    }
    number(svg, arrow.begins);
    let far = column(arrow.to);
    // What does not arrive ends before the lifeline.
    let short = if far > x { far - COLUMN / 4 } else { far + COLUMN / 4 };
    let (end, is_first) = match arrow.end {
        End::Arrives { at, copies, .. } => {
            number(svg, at);
            ((far, height(at)), copies == 0)
        }
        _ => ((short, y), true),
    };
    line(svg, (x, y), end, (color, dashes));
    match arrow.end {
        End::Lost => {
            line(svg, (end.0 - 6, y - 6), (end.0 + 6, y + 6), (color, ""));
            line(svg, (end.0 - 6, y + 6), (end.0 + 6, y - 6), (color, ""));
        }
        End::Unread | End::Here => {}
        End::Arrives { .. } => head(svg, (x, y), end, color),
    }
    let text = format!("{}{note}", arrow.content.within(LABEL));
    // Copies are named where they arrive, so that they do not cover each other.
    let (left, right) = (x.min(far), x.max(far));
    let (at, anchor) = match (is_first, far > x) {
        (true, true) => ((left + 12, y - 5), "start"),
        (true, false) => ((right - 12, y - 5), "end"),
        (false, true) => ((right - 16, end.1 - 7), "end"),
        (false, false) => ((left + 16, end.1 - 7), "start"),
    };
    label(svg, &text, at, (anchor, color));
}

/// The color of an arrow, its dashes, and what is said beside its content.
fn look(end: End) -> (&'static str, &'static str, &'static str) {
    match end {
        End::Lost => (LOST, "", " lost"),
        End::Unread => (QUIET, "2 4", " not read"),
        End::Arrives { copies: 1.., .. } => (AGAIN, "6 4", " again"),
        End::Arrives { is_late: true, .. } => (AGAIN, "", " late"),
        End::Arrives { .. } | End::Here => (INK, "", ""),
    }
}

/// Something that leads nowhere else: a dot where it begins, and one where it arrives.
fn at_one_lifeline(svg: &mut Svg, arrow: &Arrow) {
    let (x, (color, _, note)) = (column(arrow.from), look(arrow.end));
    let words = arrow.content.within(80);
    let mut dot = |place: Place, text: &str, color: &str| {
        number(svg, place);
        let y = height(place);
        svg.element("circle", &[("cx", &x), ("cy", &y), ("r", &3), ("fill", &color)]);
        label(svg, text, (x + 10, y + 4), ("start", color));
    };
    match arrow.end {
        End::Arrives { at, copies, .. } if at.row != arrow.begins.row => {
            if copies == 0 {
                dot(arrow.begins, &words, INK);
            }
            dot(at, &format!("{words} arrives{note}"), color);
        }
        _ => dot(arrow.begins, &format!("{words}{note}"), color),
    }
}

/// The tip of an arrow.
fn head(svg: &mut Svg, from: (u32, u32), to: (u32, u32), color: &str) {
    let (dx, dy) = (f64::from(to.0) - f64::from(from.0), f64::from(to.1) - f64::from(from.1));
    let length = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    let point = |back: f64, aside: f64| {
        let x = f64::from(to.0) - ux * back - uy * aside;
        let y = f64::from(to.1) - uy * back + ux * aside;
        format!("{x:.1},{y:.1}")
    };
    let points = [point(0.0, 0.0), point(10.0, 4.0), point(10.0, -4.0)].join(" ");
    svg.element("polygon", &[("points", &points), ("fill", &color)]);
}

fn label(svg: &mut Svg, text: &str, (x, y): (u32, u32), (anchor, color): (&str, &str)) {
    svg.text(
        text,
        &[
            ("x", &x),
            ("y", &y),
            ("font-size", &12),
            ("font-family", &"ui-monospace, 'DejaVu Sans Mono', monospace"),
            ("text-anchor", &anchor),
            ("fill", &color),
        ],
    );
}

/// The number of a row.
fn number(svg: &mut Svg, place: Place) {
    label(svg, &(place.row + 1).to_string(), (LEFT - 14, height(place) + 4), ("end", QUIET));
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::chart) fn height_of(row: usize) -> u32 {
        height(Place { row, step: 0 })
    }
}
