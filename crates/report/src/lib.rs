//! Reports: a trace in, bytes out. Nothing here runs or re-runs anything.
//!
//! - [`text()`]: a counterexample of a model as text, for a terminal.
//! - [`native`]: a counterexample of a native program as text.
//! - [`Chart`]: what passed between programs, as text.
//! - [`html()`]: a trace as one page; [`svg()`] as a drawing, [`mermaid`], [`plantuml`] and [`dot`]
//!   for other tools.
//! - [`perfetto`], [`shiviz`]: a trace for viewers of others; [`junit`], [`sarif`], [`annotations`]:
//!   a [`CheckResult`] for CI systems and editors.
//! - [`itf()`]: a trace for the tools of Apalache and Quint.
//! - [`Replications`], [`Distribution`], [`Curves`], [`Swept`]: measurements as SVG plots.
//! - [`grouped`], [`percent`], [`significant`]: numbers that people can read.

mod chart;
mod diagram;
mod drawing;
mod expansion;
#[cfg(test)]
mod fixtures;
mod formats;
#[cfg(test)]
mod golden;
mod graph;
mod itf;
pub mod native;
mod page;
mod plot;
mod scale;
mod svg;
mod text;
mod timeline;

pub use chart::Chart;
pub use diagram::{mermaid, plantuml};
pub use drawing::svg;
pub use formats::{CheckResult, annotations, junit, perfetto, sarif, shiviz};
pub use graph::dot;
pub use itf::itf;
pub use page::html;
pub use plot::{
    Caption, Curve, Curves, Distribution, Replications, Swept, SweptCurve, significant,
};
pub use text::{
    built, grouped, heading, memory_reached, percent, plain, printable, quoted, text, time_reached,
};
pub use timeline::shortened;
