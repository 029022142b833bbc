//! Sobeih (2008), chapter 6: ARQ.

use super::{Experiment, Figures, Row, Setup, Space};
use everypath_explore::{Add, Order, VisitedKind};

/// Table 6.1: nine randomized strategies on the bug `unchecked-ack`.
pub(super) fn table_6_1() -> Experiment {
    let setup = Setup {
        model: "arq",
        nodes: None,
        bugs: &["unchecked-ack"],
        max_depth: 10,
        visited: VisitedKind::Relation,
    };
    let row = |label, order, add, rank, (milliseconds, space, events): (f64, f64, f64)| Row {
        label,
        setup: setup.clone(),
        order,
        add,
        shuffle: true,
        rank,
        paper: Figures { seconds: milliseconds / 1e3, space, events },
    };
    Experiment {
        name: "table-6.1",
        title: "ARQ: finding the counterexample, averages over seeds",
        source: "Sobeih 2008, table 6.1",
        replications: 100,
        quick_replications: 5,
        space: Space::Stored,
        rows: vec![
            row("DFS-RS", Order::DfsRecursive, Add::Next, None, (41.87, 29.35, 62.77)),
            row("BFS-ACS", Order::Bfs, Add::Current, None, (73.27, 89.32, 125.34)),
            row("DFS-ACS", Order::Dfs, Add::Current, None, (44.29, 41.62, 75.13)),
            row("ARQ-1-BeFS-ACS", Order::Befs, Add::Current, Some("1"), (62.96, 51.39, 99.58)),
            row("ARQ-2-BeFS-ACS", Order::Befs, Add::Current, Some("2"), (148.37, 191.57, 472.96)),
            row("BFS-ANS", Order::Bfs, Add::Next, None, (76.38, 87.46, 125.34)),
            row("DFS-ANS", Order::Dfs, Add::Next, None, (40.91, 40.78, 60.82)),
            row("ARQ-1-BeFS-ANS", Order::Befs, Add::Next, Some("1"), (62.63, 53.51, 99.06)),
            row("ARQ-2-BeFS-ANS", Order::Befs, Add::Next, Some("2"), (118.19, 148.00, 338.02)),
        ],
    }
}
