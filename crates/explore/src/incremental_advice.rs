//! Whether an old graph pays: Sobeih (2008), section 7.3.

use crate::{Costs, Counts, Reuse};
use std::time::Duration;

/// The quantities of table 7.2: shares of events, and average times in nanoseconds. `None` if
/// something was not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Quantities {
    /// The share of unmodified events that were found in the graph.
    pub p: f64,
    /// The share of explored events that are modified.
    pub q: f64,
    /// The share of events that lead to a new state.
    pub t: f64,
    /// The share of events that lead to a safe state.
    pub v: f64,
    /// The share of events at the depth bound.
    pub d: f64,
    /// Executing an event.
    #[cfg_attr(feature = "serde", serde(rename = "X"))]
    pub x: Option<f64>,
    /// Hashing a state.
    #[cfg_attr(feature = "serde", serde(rename = "H"))]
    pub h: Option<f64>,
    /// Checking the properties.
    #[cfg_attr(feature = "serde", serde(rename = "Y"))]
    pub y: Option<f64>,
    /// Searching the visited set.
    #[cfg_attr(feature = "serde", serde(rename = "A"))]
    pub a: Option<f64>,
    /// Searching the graph.
    #[cfg_attr(feature = "serde", serde(rename = "L"))]
    pub l: Option<f64>,
    /// Loading the graph; the share of an event.
    #[cfg_attr(feature = "serde", serde(rename = "F"))]
    pub f: f64,
    /// Ranking a state.
    #[cfg_attr(feature = "serde", serde(rename = "U"))]
    pub u: Option<f64>,
    /// Adding to the visited set.
    #[cfg_attr(feature = "serde", serde(rename = "R"))]
    pub r: Option<f64>,
    /// Adding to the frontier.
    #[cfg_attr(feature = "serde", serde(rename = "N"))]
    pub n: Option<f64>,
    /// Listing the enabled events; the share of an event. Not in the paper's condition.
    #[cfg_attr(feature = "serde", serde(rename = "E"))]
    pub e: Option<f64>,
}

/// The third necessary condition: F/(p(1-q)) + L/p < H + Y + (1-t)X.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Condition {
    /// Whether it holds.
    pub holds: bool,
    /// What using the graph costs, in nanoseconds for an event that is found; `None` is infinite.
    pub left: Option<f64>,
    /// What it can save.
    pub right: f64,
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl Quantities {
    /// What a search and the time it took to load the graph say.
    pub fn new(counts: &Counts, reuse: &Reuse, costs: &Costs, load: Duration) -> Self {
        let added = costs.add_visited.mean().zip(costs.search_visited.mean());
        Quantities {
            p: reuse.p(),
            q: reuse.q(),
            t: share(counts.tree, counts.events),
            v: share(counts.safe, counts.events),
            d: share(counts.deepest, counts.events),
            x: costs.execute.mean(),
            h: costs.hash.mean(),
            y: costs.check.mean(),
            a: costs.search_visited.mean(),
            l: costs.search_graph.mean(),
            f: load.as_nanos() as f64 / counts.events.max(1) as f64,
            u: costs.rank.mean(),
            r: added.map(|(added, searched)| (added - searched).max(0.0)),
            n: costs.add_frontier.mean(),
            e: costs.enabled.mean(),
        }
    }

    /// The necessary condition; `None` if too little was measured to tell.
    pub fn condition(&self) -> Option<Condition> {
        let right = self.h? + self.y? + (1.0 - self.t) * self.x?;
        let found = self.p * (1.0 - self.q);
        if found == 0.0 {
            return Some(Condition { holds: false, left: None, right });
        }
        let left = self.f / found + self.l? / self.p;
        Some(Condition { holds: left < right, left: Some(left), right })
    }

    /// How many times as fast as from scratch the search should be, by the times of sections
    /// 7.3.1 and 7.3.2. States at the depth bound are not hashed here, and a graph also spares
    /// the listing of enabled events.
    pub fn speedup(&self) -> Option<f64> {
        let below = 1.0 - self.d;
        let add = self.u.unwrap_or(0.0) + self.r.unwrap_or(0.0) + self.n.unwrap_or(0.0);
        let (x, a) = (self.x?, self.a.unwrap_or(0.0));
        let scratch = self.e? + x + self.y? + self.v * (below * (self.h? + a) + self.t * add);
        let hit = self.t * (x + self.h? + a + add);
        let other = (1.0 - self.p) * scratch;
        let incremental =
            self.f + self.q * scratch + (1.0 - self.q) * (self.l? + other + self.p * hit);
        (incremental > 0.0).then(|| scratch / incremental)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's own figures of section 8.3: the condition is violated for ARQ.
    #[test]
    fn the_condition_is_the_papers() {
        let arq = Quantities {
            p: 0.0239,
            q: 0.2499,
            t: 0.2517,
            v: 1.0,
            x: Some(31.08),
            h: Some(11.88),
            y: Some(5.55),
            l: Some(8.77),
            f: 2.95,
            ..Quantities::default()
        };
        let condition = arq.condition().unwrap();
        assert!(!condition.holds);
        assert!((condition.left.unwrap() - 531.5).abs() < 0.5, "{condition:?}");
        assert!((condition.right - 40.69).abs() < 0.01, "{condition:?}");
        let found = Quantities { p: 0.999, q: 0.0, ..arq };
        assert!(found.condition().unwrap().holds);
        let nothing = Quantities { p: 0.0, ..arq };
        assert_eq!(nothing.condition().unwrap().left, None);
        assert_eq!(Quantities { x: None, ..arq }.condition(), None);
    }

    #[test]
    fn nothing_found_gains_nothing() {
        let all = Quantities {
            t: 0.1,
            v: 1.0,
            x: Some(100.0),
            h: Some(50.0),
            y: Some(10.0),
            a: Some(10.0),
            l: Some(5.0),
            e: Some(20.0),
            ..Quantities::default()
        };
        assert!(all.speedup().unwrap() < 1.0);
        assert!(Quantities { p: 1.0, ..all }.speedup().unwrap() > 4.0);
        assert!(Quantities { p: 1.0, q: 1.0, ..all }.speedup().unwrap() <= 1.0);
    }
}
