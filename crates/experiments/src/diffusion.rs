//! Sobeih (2008), chapter 5: directed diffusion.

use crate::experiment::About;
use crate::models::Setup;
use crate::search_table::{Paper, Part, SearchTable, Space, chain, rows};
use everypath_explore::VisitedKind;

/// Table 5.1, counterexample 1: seconds, space and events; NAN where the paper has none.
const TABLE_5_1_1: [Paper; 8] = [
    ("BFS-AN", 809.701, 16735.0, 115698.0),
    ("DFS-R", 319.243, 8306.0, 173823.0),
    ("DD-1-BeFS-AN", 0.563, 513.0, 1042.0),
    ("DD-2-BeFS-AN", 0.599, 501.0, 1279.0),
    ("DD-3-BeFS-AN", 128.526, 5638.0, 113342.0),
    ("DD-4-BeFS-AN", 0.309, 284.0, 474.0),
    ("DD-5-BeFS-AN", 542.764, 14284.0, 175807.0),
    ("DD-6-BeFS-AN", 320.229, 12985.0, 95036.0),
];

/// Table 5.1, counterexample 2: seconds, space and events; NAN where the paper has none.
const TABLE_5_1_2: [Paper; 8] = [
    ("BFS-AN", 6410.453, 44348.0, 425181.0),
    ("DFS-R", 262.659, 8027.0, 179112.0),
    ("DD-1-BeFS-AN", 306.545, 18063.0, 92820.0),
    ("DD-2-BeFS-AN", 469.543, 20435.0, 132382.0),
    ("DD-3-BeFS-AN", 2059.233, 21670.0, 521326.0),
    ("DD-4-BeFS-AN", 21.882, 3574.0, 18373.0),
    ("DD-5-BeFS-AN", f64::NAN, f64::NAN, f64::NAN),
    ("DD-6-BeFS-AN", 5218.443, 55336.0, 508048.0),
];

/// Table 5.2, counterexample 1: seconds, space and events; NAN where the paper has none.
const TABLE_5_2_1: [Paper; 12] = [
    ("DD-1-BeFS-ACS", 0.377, 342.00, 869.60),
    ("DD-2-BeFS-ACS", 0.450, 342.75, 1193.05),
    ("DD-3-BeFS-ACS", 371.231, 9834.05, 201005.30),
    ("DD-4-BeFS-ACS", 0.271, 259.30, 501.55),
    ("DD-5-BeFS-ACS", 699.670, 20092.55, 267022.60),
    ("DD-6-BeFS-ACS", 102.341, 18474.80, 97758.20),
    ("DD-1-BeFS-ANS", 0.507, 418.75, 799.45),
    ("DD-2-BeFS-ANS", 0.599, 407.15, 1164.00),
    ("DD-3-BeFS-ANS", 209.151, 6605.30, 128465.25),
    ("DD-4-BeFS-ANS", 0.309, 257.25, 407.80),
    ("DD-5-BeFS-ANS", 539.620, 12997.50, 182186.60),
    ("DD-6-BeFS-ANS", 335.397, 13540.45, 97930.55),
];

/// Table 5.2, counterexample 2: seconds, space and events; NAN where the paper has none.
const TABLE_5_2_2: [Paper; 12] = [
    ("DD-1-BeFS-ACS", 160.366, 30520.25, 139185.10),
    ("DD-2-BeFS-ACS", 238.152, 24498.70, 160739.35),
    ("DD-3-BeFS-ACS", 2524.681, 24204.90, 573942.50),
    ("DD-4-BeFS-ACS", 12.150, 7152.05, 29264.55),
    ("DD-5-BeFS-ACS", 3246.824, 43810.45, 615142.75),
    ("DD-6-BeFS-ACS", 2427.339, 76540.25, 587570.10),
    ("DD-1-BeFS-ANS", 373.419, 19406.85, 105669.10),
    ("DD-2-BeFS-ANS", 400.639, 17972.30, 119599.00),
    ("DD-3-BeFS-ANS", 821.720, 11919.45, 250433.75),
    ("DD-4-BeFS-ANS", 23.176, 3709.15, 20537.90),
    ("DD-5-BeFS-ANS", f64::NAN, f64::NAN, f64::NAN),
    ("DD-6-BeFS-ANS", 5599.007, 57866.75, 527568.95),
];

/// Table 5.3, counterexample 1: nodes, depth bound, seconds, space and events.
const TABLE_5_3: [(u32, u32, f64, f64, f64); 9] = [
    (4, 15, 0.252, 247.0, 474.0),
    (5, 20, 14.667, 2289.0, 27826.0),
    (6, 25, 38.848, 3604.0, 51341.0),
    (7, 30, 31.679, 4503.0, 51649.0),
    (8, 35, 101.222, 8506.0, 110540.0),
    (9, 40, 205.121, 13839.0, 172912.0),
    (10, 45, 689.344, 24105.0, 347204.0),
    (11, 50, 1332.193, 33422.0, 495318.0),
    (12, 55, 3721.432, 51666.0, 867921.0),
];

/// The two counterexamples. Both of the paper's faults are in both; in the second, caches keep
/// their data, and a node must reboot.
fn setups() -> [(&'static str, Setup); 2] {
    let visited = VisitedKind::Relation;
    let model = "diffusion";
    let first = Setup {
        model,
        bugs: &["cache-timeout", "reboot"],
        must_contain: None,
        disabled: &[],
        visited,
    };
    let second = Setup {
        model,
        bugs: &["reboot"],
        must_contain: Some("reboot"),
        disabled: &["data-cache-timeout"],
        visited,
    };
    [("cache-timeout", first), ("reboot", second)]
}

fn parts(tables: [(&[Paper], u32); 2]) -> Vec<Part> {
    let parts = setups().into_iter().zip(tables);
    parts
        .map(|((title, setup), (table, depth))| Part { title, setup, rows: rows(table, 4, depth) })
        .collect()
}

/// Table 5.1: strategies on a chain of four nodes.
pub(crate) fn table_5_1() -> SearchTable {
    SearchTable {
        about: About {
            name: "table-5.1",
            title: "directed diffusion: finding the counterexamples",
            source: "Sobeih 2008, table 5.1",
        },
        replications: 1,
        space: Space::Stored,
        parts: parts([(&TABLE_5_1_1, 15), (&TABLE_5_1_2, 20)]),
    }
}

/// Table 5.2: randomized best-first strategies.
pub(crate) fn table_5_2() -> SearchTable {
    SearchTable {
        about: About {
            name: "table-5.2",
            title: "directed diffusion: best-first search, averages over seeds",
            source: "Sobeih 2008, table 5.2",
        },
        replications: 20,
        space: Space::Stored,
        parts: parts([(&TABLE_5_2_1, 15), (&TABLE_5_2_2, 20)]),
    }
}

/// Table 5.3: longer chains.
pub(crate) fn table_5_3() -> SearchTable {
    let [(title, setup), _] = setups();
    SearchTable {
        about: About {
            name: "table-5.3",
            title: "directed diffusion: longer chains",
            source: "Sobeih 2008, table 5.3",
        },
        replications: 1,
        space: Space::Stored,
        parts: vec![Part { title, setup, rows: chain("DD-4-BeFS-AC", &TABLE_5_3, 16) }],
    }
}
