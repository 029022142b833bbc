//! Reports: a trace in, bytes out. Nothing here runs or re-runs anything.
//!
//! - [`text()`]: a counterexample of a model as text, for a terminal.
//! - [`native`]: a counterexample of a native program as text.
//! - [`Chart`]: what passed between programs, as text, as SVG and for other tools; [`html()`]: a page.
//! - [`Replications`], [`Distribution`], [`Curves`]: measurements as SVG plots.
//! - [`grouped`], [`percent`], [`significant`]: numbers that people can read.

mod chart;
mod html;
pub mod native;
mod plot;
mod scale;
mod svg;
mod text;

pub use chart::Chart;
pub use html::html;
pub use plot::{Caption, Curve, Curves, Distribution, Replications, significant};
pub use text::{built, grouped, heading, percent, text};
