//! Sobeih (2008), chapter 6: ARQ.

use crate::experiment::About;
use crate::models::Setup;
use crate::search_table::{Figures, Part, Row, SearchTable, Space};
use everypath_explore::VisitedKind;

/// Milliseconds, space and events, averages over a hundred seeds.
const TABLE_6_1: [(&str, f64, f64, f64); 9] = [
    ("DFS-RS", 41.87, 29.35, 62.77),
    ("BFS-ACS", 73.27, 89.32, 125.34),
    ("DFS-ACS", 44.29, 41.62, 75.13),
    ("ARQ-1-BeFS-ACS", 62.96, 51.39, 99.58),
    ("ARQ-2-BeFS-ACS", 148.37, 191.57, 472.96),
    ("BFS-ANS", 76.38, 87.46, 125.34),
    ("DFS-ANS", 40.91, 40.78, 60.82),
    ("ARQ-1-BeFS-ANS", 62.63, 53.51, 99.06),
    ("ARQ-2-BeFS-ANS", 118.19, 148.00, 338.02),
];

/// Table 6.1: nine randomized strategies.
pub(crate) fn table_6_1() -> SearchTable {
    let rows = TABLE_6_1.map(|(label, milliseconds, space, events)| Row {
        label,
        nodes: None,
        max_depth: 10,
        paper: Some(Figures { seconds: milliseconds / 1e3, space, events }),
    });
    SearchTable {
        about: About {
            name: "table-6.1",
            title: "ARQ: finding the counterexample, averages over seeds",
            source: "Sobeih 2008, table 6.1",
        },
        replications: 100,
        space: Space::Stored,
        parts: vec![Part {
            title: "bug unchecked-ack",
            setup: Setup {
                model: "arq",
                bugs: &["unchecked-ack"],
                must_contain: None,
                disabled: &[],
                visited: VisitedKind::Relation,
            },
            rows: rows.into(),
        }],
    }
}
