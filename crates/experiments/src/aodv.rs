//! Sobeih (2008), chapter 4: AODV.

use crate::experiment::About;
use crate::models::Setup;
use crate::search_table::{Paper, Part, SearchTable, Space, chain, rows};
use everypath_explore::VisitedKind;

/// Table 4.1, counterexample 1: seconds, space and events.
const TABLE_4_1_1: [Paper; 15] = [
    ("DFS-RS", 4.727, 971.09, 13566.29),
    ("BFS-ACS", 15.854, 15206.02, 21933.33),
    ("DFS-ACS", 4.751, 1018.12, 13542.06),
    ("AODV-1-BeFS-ACS", 1.246, 727.86, 4898.39),
    ("AODV-2-BeFS-ACS", 4.165, 908.16, 11102.91),
    ("AODV-3-BeFS-ACS", 1.030, 609.81, 3746.18),
    ("AODV-4-BeFS-ACS", 2.322, 1042.60, 9040.47),
    ("AODV-5-BeFS-ACS", 1.611, 1034.66, 6958.73),
    ("BFS-ANS", 79.759, 6430.43, 21933.33),
    ("DFS-ANS", 4.671, 979.60, 13268.05),
    ("AODV-1-BeFS-ANS", 1.463, 726.72, 4575.70),
    ("AODV-2-BeFS-ANS", 3.899, 888.96, 10373.95),
    ("AODV-3-BeFS-ANS", 1.202, 627.70, 3529.72),
    ("AODV-4-BeFS-ANS", 2.603, 913.52, 8372.29),
    ("AODV-5-BeFS-ANS", 2.207, 947.65, 6778.21),
];

/// Table 4.1, counterexample 2: seconds, space and events.
const TABLE_4_1_2: [Paper; 15] = [
    ("DFS-RS", 9.439, 1432.37, 20355.26),
    ("BFS-ACS", 17.280, 15928.23, 23030.89),
    ("DFS-ACS", 9.342, 1472.73, 20222.31),
    ("AODV-1-BeFS-ACS", 4.034, 866.31, 8997.88),
    ("AODV-2-BeFS-ACS", 6.974, 1174.64, 14738.62),
    ("AODV-3-BeFS-ACS", 3.557, 692.41, 7218.30),
    ("AODV-4-BeFS-ACS", 6.313, 1855.61, 17422.37),
    ("AODV-5-BeFS-ACS", 2.819, 1158.91, 8679.10),
    ("BFS-ANS", 82.658, 6712.08, 23030.89),
    ("DFS-ANS", 8.927, 1380.25, 19133.05),
    ("AODV-1-BeFS-ANS", 4.530, 852.34, 8772.99),
    ("AODV-2-BeFS-ANS", 6.881, 1175.56, 14076.26),
    ("AODV-3-BeFS-ANS", 3.892, 695.41, 7059.34),
    ("AODV-4-BeFS-ANS", 7.591, 1665.14, 16729.05),
    ("AODV-5-BeFS-ANS", 3.752, 1014.04, 8516.39),
];

/// Table 4.1, counterexample 3: seconds, space and events.
const TABLE_4_1_3: [Paper; 15] = [
    ("DFS-RS", 4.794, 967.88, 13916.49),
    ("BFS-ACS", 16.295, 15181.45, 22231.78),
    ("DFS-ACS", 4.435, 960.95, 12902.70),
    ("AODV-1-BeFS-ACS", 1.080, 582.81, 4119.79),
    ("AODV-2-BeFS-ACS", 3.353, 802.72, 9441.64),
    ("AODV-3-BeFS-ACS", 0.837, 459.12, 2968.35),
    ("AODV-4-BeFS-ACS", 1.911, 907.43, 7844.89),
    ("AODV-5-BeFS-ACS", 0.681, 506.62, 3043.93),
    ("BFS-ANS", 73.664, 6163.44, 22231.78),
    ("DFS-ANS", 3.973, 877.15, 11896.59),
    ("AODV-1-BeFS-ANS", 1.290, 568.49, 3909.00),
    ("AODV-2-BeFS-ANS", 3.085, 796.99, 8819.96),
    ("AODV-3-BeFS-ANS", 0.972, 453.03, 2797.03),
    ("AODV-4-BeFS-ANS", 2.159, 810.34, 7457.34),
    ("AODV-5-BeFS-ANS", 0.789, 465.90, 2993.95),
];

/// Table 4.2, counterexample 1: seconds, space and events.
const TABLE_4_2_1: [Paper; 7] = [
    ("BFS-AN", 111.371, 4699.0, 26303.0),
    ("DFS-R", 9.632, 1459.0, 21757.0),
    ("AODV-1-BeFS-AN", 1.012, 489.0, 4169.0),
    ("AODV-2-BeFS-AN", 0.545, 394.0, 1606.0),
    ("AODV-3-BeFS-AN", 0.363, 240.0, 1179.0),
    ("AODV-4-BeFS-AN", 2.225, 745.0, 8229.0),
    ("AODV-5-BeFS-AN", 1.531, 588.0, 6025.0),
];

/// Table 4.2, counterexample 2: seconds, space and events.
const TABLE_4_2_2: [Paper; 7] = [
    ("BFS-AN", 113.905, 4762.0, 26641.0),
    ("DFS-R", 10.074, 1502.0, 22364.0),
    ("AODV-1-BeFS-AN", 1.000, 485.0, 4116.0),
    ("AODV-2-BeFS-AN", 0.529, 389.0, 1562.0),
    ("AODV-3-BeFS-AN", 0.355, 240.0, 1140.0),
    ("AODV-4-BeFS-AN", 13.507, 2123.0, 25205.0),
    ("AODV-5-BeFS-AN", 10.412, 1809.0, 20976.0),
];

/// Table 4.2, counterexample 3: seconds, space and events.
const TABLE_4_2_3: [Paper; 7] = [
    ("BFS-AN", 97.083, 4310.0, 25211.0),
    ("DFS-R", 9.101, 1406.0, 21056.0),
    ("AODV-1-BeFS-AN", 0.972, 477.0, 4039.0),
    ("AODV-2-BeFS-AN", 0.516, 386.0, 1552.0),
    ("AODV-3-BeFS-AN", 0.344, 239.0, 1131.0),
    ("AODV-4-BeFS-AN", 2.196, 743.0, 8216.0),
    ("AODV-5-BeFS-AN", 1.473, 581.0, 5806.0),
];

/// Table 4.5, counterexample 1: seconds, space and events.
const TABLE_4_5_1: [Paper; 7] = [
    ("BFS-AN", 21.880, 70308.0, 283122.0),
    ("DFS-R", 21.365, 22908.0, 344333.0),
    ("AODV-1-BeFS-AN", 1.173, 1346.0, 10878.0),
    ("AODV-2-BeFS-AN", 5.706, 6491.0, 85977.0),
    ("AODV-3-BeFS-AN", 0.484, 569.0, 2560.0),
    ("AODV-4-BeFS-AN", 3.411, 4431.0, 45816.0),
    ("AODV-5-BeFS-AN", 1.834, 2398.0, 19525.0),
];

/// Table 4.5, counterexample 2: seconds, space and events.
const TABLE_4_5_2: [Paper; 7] = [
    ("BFS-AN", 21.957, 70551.0, 284689.0),
    ("DFS-R", 21.784, 23290.0, 350204.0),
    ("AODV-1-BeFS-AN", 1.138, 1302.0, 10524.0),
    ("AODV-2-BeFS-AN", 5.711, 6488.0, 85941.0),
    ("AODV-3-BeFS-AN", 0.457, 530.0, 2284.0),
    ("AODV-4-BeFS-AN", 12.129, 17004.0, 183929.0),
    ("AODV-5-BeFS-AN", 10.791, 15147.0, 159198.0),
];

/// Table 4.5, counterexample 3: seconds, space and events.
const TABLE_4_5_3: [Paper; 7] = [
    ("BFS-AN", 21.552, 69073.0, 280967.0),
    ("DFS-R", 21.286, 22767.0, 342585.0),
    ("AODV-1-BeFS-AN", 1.106, 1291.0, 10414.0),
    ("AODV-2-BeFS-AN", 5.670, 6473.0, 85779.0),
    ("AODV-3-BeFS-AN", 0.442, 529.0, 2275.0),
    ("AODV-4-BeFS-AN", 3.401, 4427.0, 45816.0),
    ("AODV-5-BeFS-AN", 1.796, 2384.0, 19166.0),
];

/// Table 4.3, counterexample 3: nodes, depth bound, seconds, space and events.
const TABLE_4_3: [(u32, u32, f64, f64, f64); 10] = [
    (3, 15, 0.138, 74.0, 155.0),
    (4, 20, 0.789, 402.0, 2235.0),
    (5, 25, 8.323, 1332.0, 12976.0),
    (6, 30, 1.514, 548.0, 3447.0),
    (7, 35, 1.793, 628.0, 2605.0),
    (8, 40, 3.154, 838.0, 2931.0),
    (9, 45, 22.371, 1578.0, 23658.0),
    (10, 50, 247.595, 3875.0, 118119.0),
    (11, 55, 342.591, 4294.0, 143401.0),
    (12, 60, 834.982, 6302.0, 257045.0),
];

/// Table 4.6: the same with hash codes.
const TABLE_4_6: [(u32, u32, f64, f64, f64); 5] = [
    (3, 15, 0.133, 86.0, 134.0),
    (4, 20, 0.462, 520.0, 1988.0),
    (5, 25, 5.897, 7094.0, 62206.0),
    (6, 30, 4.610, 3437.0, 42631.0),
    (7, 35, 11.185, 5269.0, 102833.0),
];

/// The three counterexamples: the simulation model's own fault, which is in all of the paper's
/// experiments, and two injected ones whose counterexamples must contain a route time-out.
fn setups(visited: VisitedKind) -> [(&'static str, Setup); 3] {
    let setup =
        |bugs, must_contain| Setup { model: "aodv", bugs, must_contain, disabled: &[], visited };
    [
        ("reboot-forgets", setup(&["reboot-forgets"], None)),
        ("stale-seqno", setup(&["reboot-forgets", "stale-seqno"], Some("route-timeout"))),
        ("delete-route", setup(&["reboot-forgets", "delete-route"], Some("route-timeout"))),
    ]
}

fn parts(visited: VisitedKind, tables: [&[Paper]; 3]) -> Vec<Part> {
    let parts = setups(visited).into_iter().zip(tables);
    parts.map(|((title, setup), table)| Part { title, setup, rows: rows(table, 3, 10) }).collect()
}

/// Table 4.1: fifteen randomized strategies, a chain of three nodes.
pub(crate) fn table_4_1() -> SearchTable {
    SearchTable {
        about: About {
            name: "table-4.1",
            title: "AODV: finding the counterexamples, averages over seeds",
            source: "Sobeih 2008, table 4.1",
        },
        replications: 100,
        space: Space::Stored,
        parts: parts(VisitedKind::Relation, [&TABLE_4_1_1, &TABLE_4_1_2, &TABLE_4_1_3]),
    }
}

/// Table 4.2: strategies with the simulation relation.
pub(crate) fn table_4_2() -> SearchTable {
    SearchTable {
        about: About {
            name: "table-4.2",
            title: "AODV: finding the counterexamples with the relation",
            source: "Sobeih 2008, table 4.2",
        },
        replications: 1,
        space: Space::Visited,
        parts: parts(VisitedKind::Relation, [&TABLE_4_2_1, &TABLE_4_2_2, &TABLE_4_2_3]),
    }
}

/// Table 4.5: the same with hash codes.
pub(crate) fn table_4_5() -> SearchTable {
    SearchTable {
        about: About {
            name: "table-4.5",
            title: "AODV: finding the counterexamples with hash codes",
            source: "Sobeih 2008, table 4.5",
        },
        replications: 1,
        space: Space::Visited,
        parts: parts(VisitedKind::Hash, [&TABLE_4_5_1, &TABLE_4_5_2, &TABLE_4_5_3]),
    }
}

/// Table 4.3: longer chains with the simulation relation.
pub(crate) fn table_4_3() -> SearchTable {
    let [_, _, (title, setup)] = setups(VisitedKind::Relation);
    SearchTable {
        about: About {
            name: "table-4.3",
            title: "AODV: longer chains with the relation",
            source: "Sobeih 2008, table 4.3",
        },
        replications: 1,
        space: Space::Visited,
        parts: vec![Part { title, setup, rows: chain("AODV-1-BeFS-AN", &TABLE_4_3, 20) }],
    }
}

/// Table 4.6: longer chains with hash codes.
pub(crate) fn table_4_6() -> SearchTable {
    let [_, _, (title, setup)] = setups(VisitedKind::Hash);
    SearchTable {
        about: About {
            name: "table-4.6",
            title: "AODV: longer chains with hash codes",
            source: "Sobeih 2008, table 4.6",
        },
        replications: 1,
        space: Space::Visited,
        parts: vec![Part { title, setup, rows: chain("AODV-1-BeFS-AN", &TABLE_4_6, 7) }],
    }
}
