//! The paper's figures: Sobeih (2008), tables 8.1 to 8.15.

use super::{
    Flagged, IncrementalTable, Observed, PaperFlagged, PaperVersion, Part, Searched, Version,
    Versions,
};
use crate::experiment::About;
use crate::models::Setup;
use everypath_explore::VisitedKind;

/// The events that are said to be modified in the columns of tables 8.1 to 8.5: T3, T4, T0, T2, T5.
const AODV_MODIFIED: &[&[&str]] = &[
    &[],
    &["route-timeout"],
    &["route-timeout", "deliver"],
    &["route-timeout", "deliver", "request"],
    &["route-timeout", "deliver", "request", "broadcast-id-timeout"],
    &["route-timeout", "deliver", "request", "broadcast-id-timeout", "lose"],
];

/// And of tables 8.8 to 8.10: T4, T2.
const DIFFUSION_MODIFIED: &[&[&str]] = &[&[], &["deliver"], &["deliver", "gradient-timeout"]];

const A: &[&str] = &["reboot-forgets"];
const B: &[&str] = &["reboot-forgets", "stale-seqno"];
const C: &[&str] = &["reboot-forgets", "delete-route"];

/// A search that is run with events flagged as modified: what is wrong with the model, its bugs;
/// strategy, nodes and depth; then the paper's figures: seconds, savings in percent, megabytes,
/// overhead in percent, share of tree events.
type Row<const N: usize> = (
    (&'static str, &'static [&'static str]),
    (&'static str, u32, u32),
    (f64, [f64; N], f64, [f64; N], f64),
);

/// Tables 8.1 and 8.3.
const TABLE_8_1: [Row<6>; 12] = [
    (
        ("no counterexample", A),
        ("BFS-ANS", 3, 9),
        (
            125.344,
            [74.11, 73.6, 50.07, 40.42, 33.36, 14.75],
            75.569,
            [15.1, 15.0, 12.45, 11.26, 10.34, 7.76],
            0.0698,
        ),
    ),
    (
        ("no counterexample", A),
        ("DFS-ANS", 3, 9),
        (
            127.905,
            [76.26, 75.33, 51.4, 41.14, 34.2, 13.24],
            3.633,
            [332.83, 330.62, 273.6, 246.49, 226.38, 168.73],
            0.0704,
        ),
    ),
    (
        ("no counterexample", A),
        ("AODV-3-BeFS-ANS", 3, 9),
        (
            129.359,
            [75.76, 75.11, 50.46, 40.37, 33.37, 13.77],
            4.16,
            [288.41, 286.51, 237.28, 213.76, 196.39, 146.63],
            0.0706,
        ),
    ),
    (
        ("stale-seqno", B),
        ("BFS-ANS", 3, 9),
        (
            63.444,
            [62.12, 61.38, 42.55, 33.54, 28.31, 12.27],
            75.573,
            [7.08, 7.03, 5.91, 5.34, 4.92, 3.79],
            0.1635,
        ),
    ),
    (
        ("stale-seqno", B),
        ("DFS-ANS", 3, 9),
        (
            35.912,
            [74.67, 73.41, 50.1, 39.92, 33.23, 13.86],
            1.325,
            [261.93, 260.38, 218.77, 198.45, 183.14, 141.2],
            0.0766,
        ),
    ),
    (
        ("stale-seqno", B),
        ("AODV-3-BeFS-ANS", 3, 9),
        (
            5.078,
            [65.32, 63.42, 43.78, 33.19, 26.02, 10.92],
            0.987,
            [65.35, 64.93, 58.74, 55.31, 52.39, 46.21],
            0.2094,
        ),
    ),
    (
        ("delete-route", C),
        ("BFS-ANS", 3, 9),
        (
            60.141,
            [60.66, 60.18, 41.32, 32.27, 26.43, 9.87],
            74.193,
            [6.92, 6.88, 5.78, 5.22, 4.82, 3.71],
            0.1687,
        ),
    ),
    (
        ("delete-route", C),
        ("DFS-ANS", 3, 9),
        (
            36.188,
            [74.11, 73.46, 50.14, 39.17, 32.17, 12.93],
            1.353,
            [258.88, 257.29, 216.04, 195.81, 181.04, 139.3],
            0.0755,
        ),
    ),
    (
        ("delete-route", C),
        ("AODV-3-BeFS-ANS", 3, 9),
        (
            5.076,
            [65.66, 64.24, 44.54, 34.24, 27.22, 10.35],
            0.97,
            [66.0, 65.63, 59.46, 56.02, 53.03, 46.7],
            0.2094,
        ),
    ),
    (
        ("delete-route", C),
        ("AODV-3-BeFS-ANS", 3, 15),
        (
            0.568,
            [14.2, 12.38, 9.25, 7.56, 5.14, 2.43],
            1.02,
            [25.71, 25.48, 25.46, 25.49, 25.34, 25.34],
            0.5492,
        ),
    ),
    (
        ("delete-route", C),
        ("AODV-3-BeFS-ANS", 4, 20),
        (
            1.521,
            [25.16, 18.68, 12.81, 11.56, 7.17, 3.51],
            3.577,
            [9.32, 8.36, 8.25, 8.2, 8.07, 7.96],
            0.4832,
        ),
    ),
    (
        ("delete-route", C),
        ("AODV-3-BeFS-ANS", 5, 25),
        (
            14.046,
            [49.15, 41.96, 31.34, 30.81, 20.24, 10.99],
            35.723,
            [2.7, 2.43, 2.21, 2.19, 1.95, 1.73],
            0.3991,
        ),
    ),
];

/// Tables 8.4 and 8.5.
const TABLE_8_4: [Row<6>; 6] = [
    (
        ("stale-seqno", B),
        ("BFS-ANS", 3, 9),
        (
            124.656,
            [74.04, 73.06, 49.62, 39.5, 32.43, 13.23],
            75.572,
            [15.1, 15.0, 12.45, 11.26, 10.34, 7.76],
            0.0698,
        ),
    ),
    (
        ("stale-seqno", B),
        ("DFS-ANS", 3, 9),
        (
            128.636,
            [76.37, 75.47, 51.53, 41.11, 33.99, 14.56],
            3.642,
            [332.66, 330.46, 273.42, 246.3, 226.23, 168.56],
            0.0704,
        ),
    ),
    (
        ("stale-seqno", B),
        ("AODV-3-BeFS-ANS", 3, 9),
        (
            128.365,
            [75.73, 74.86, 50.4, 39.61, 32.44, 11.81],
            4.185,
            [286.75, 284.86, 235.93, 212.53, 195.27, 145.78],
            0.0706,
        ),
    ),
    (
        ("delete-route", C),
        ("BFS-ANS", 3, 9),
        (
            121.825,
            [74.0, 73.09, 49.32, 39.57, 32.0, 13.18],
            74.192,
            [15.19, 15.09, 12.52, 11.32, 10.4, 7.8],
            0.0696,
        ),
    ),
    (
        ("delete-route", C),
        ("DFS-ANS", 3, 9),
        (
            126.452,
            [76.2, 75.34, 51.29, 40.52, 32.61, 12.24],
            3.534,
            [338.61, 336.36, 278.15, 250.62, 230.27, 171.42],
            0.0703,
        ),
    ),
    (
        ("delete-route", C),
        ("AODV-3-BeFS-ANS", 3, 9),
        (
            129.367,
            [76.24, 75.25, 51.09, 40.18, 33.99, 13.34],
            4.105,
            [288.73, 286.83, 237.44, 213.94, 196.62, 146.67],
            0.0705,
        ),
    ),
];

/// Tables 8.8 and 8.10.
const TABLE_8_8: [Row<3>; 4] = [
    (
        ("cache-timeout", &["cache-timeout", "reboot"]),
        ("DD-4-BeFS-ANS", 4, 15),
        (5.159, [52.74, 36.85, 28.14], 9.392, [11.36, 10.44, 9.6], 0.1888),
    ),
    (
        ("cache-timeout", &["cache-timeout", "reboot"]),
        ("DD-4-BeFS-ANS", 5, 20),
        (13.397, [64.37, 48.78, 32.44], 34.772, [6.1, 5.38, 4.57], 0.1927),
    ),
    (
        ("cache-timeout", &["cache-timeout", "reboot"]),
        ("DD-4-BeFS-ANS", 6, 25),
        (60.453, [75.03, 56.23, 37.98], 158.955, [5.13, 4.38, 3.48], 0.1693),
    ),
    (
        ("reboot", &["reboot"]),
        ("DD-4-BeFS-ANS", 4, 20),
        (174.896, [72.05, 47.41, 37.08], 317.64, [9.72, 7.98, 6.99], 0.0972),
    ),
];

/// Seconds for each operation; executing includes the copying of states.
const TABLE_8_2: &[(&str, &[f64])] = &[
    ("execute events", &[74.075, 8.262, 9.045, 30.121, 38.722, 44.953, 60.778]),
    ("write and hash states", &[16.311, 0.097, 0.297, 5.1, 7.253, 8.963, 13.036]),
    ("check properties", &[7.554, 0.001, 0.113, 2.218, 3.126, 3.877, 5.907]),
    ("load and search the graph", &[0.0, 4.117, 4.013, 3.152, 2.691, 2.337, 1.419]),
    ("add visited states", &[0.901, 1.206, 1.118, 1.046, 0.991, 1.034, 0.989]),
    ("search visited states", &[1.074, 0.947, 0.874, 0.935, 0.993, 1.029, 1.015]),
    ("list enabled events", &[4.628, 4.943, 4.816, 5.131, 4.545, 4.486, 4.498]),
    ("add states to explore", &[3.519, 4.002, 3.923, 3.81, 3.887, 3.628, 3.523]),
    ("everything", &[125.344, 32.448, 33.092, 62.582, 74.675, 83.528, 106.851]),
];

/// Seconds for each operation; executing includes the copying of states.
const TABLE_8_9: &[(&str, &[f64])] = &[
    ("execute events", &[93.245, 11.66, 41.345, 52.199]),
    ("write and hash states", &[15.379, 0.019, 4.748, 7.177]),
    ("check properties", &[22.468, 0.0, 7.331, 10.505]),
    ("load and search the graph", &[0.0, 7.707, 5.783, 5.18]),
    ("add visited states", &[1.196, 1.367, 1.187, 1.172]),
    ("search visited states", &[3.13, 2.921, 2.976, 3.012]),
    ("list enabled events", &[2.852, 3.499, 3.036, 2.858]),
    ("add states to explore", &[5.161, 6.197, 5.53, 5.464]),
    ("rank states", &[0.906, 0.965, 0.872, 0.869]),
    ("everything", &[174.896, 48.882, 91.98, 110.046]),
];

/// The same; what is added to the visited states and searched there is small here.
const TABLE_8_14: &[(&str, &[f64])] = &[
    ("execute events", &[9.762, 9.895]),
    ("write and hash states", &[3.611, 3.497]),
    ("check properties", &[1.767, 1.76]),
    ("load and search the graph", &[0.0, 1.112]),
    ("add visited states", &[0.792, 0.793]),
    ("search visited states", &[1.748, 1.747]),
    ("list enabled events", &[1.911, 1.954]),
    ("add states to explore", &[1.071, 1.097]),
    ("everything", &[30.134, 31.581]),
];

/// The correct version of table 8.13, with the graph of the other.
const CORRECT_ARQ: [Row<1>; 1] = [(
    ("version A with the graph of version B", &[]),
    ("BFS-ANS", 2, 35),
    (30.134, [-4.80], 27.921, [30.31], 0.2517),
)];

/// A version: its name and bugs; the paper's seconds and megabytes, from scratch and incremental,
/// and p and q, or v for the first.
type Evolved = (&'static str, &'static [&'static str], [f64; 2], [f64; 2], Observed);

const fn found(p: f64, q: f64) -> Observed {
    Observed::Found { p, q }
}

/// Table 8.6, case I, and 8.7.
const EACH_C_B_A: [Evolved; 3] = [
    ("C", C, [121.738, 133.209], [74.193, 77.657], Observed::Safe(0.999960)),
    ("B", B, [123.976, 40.375], [75.572, 86.873], found(0.9403, 0.0108)),
    ("A", A, [123.646, 40.293], [75.569, 87.582], found(0.9404, 0.0108)),
];

/// Table 8.6, case I, and 8.7.
const EACH_B_C_A: [Evolved; 3] = [
    ("B", B, [123.976, 136.166], [75.572, 79.064], Observed::Safe(0.999972)),
    ("C", C, [121.738, 38.563], [74.193, 85.647], found(0.9521, 0.0109)),
    ("A", A, [123.646, 40.406], [75.569, 87.582], found(0.9404, 0.0108)),
];

/// Table 8.6, case II, and 8.7.
const FIRST_C_B_A: [Evolved; 3] = [
    ("C", C, [121.738, 133.236], [74.193, 77.657], Observed::Safe(0.999960)),
    ("B", B, [123.976, 38.914], [75.572, 86.767], found(0.9403, 0.0108)),
    ("A", A, [123.646, 38.942], [75.569, 86.764], found(0.9403, 0.0108)),
];

/// Table 8.6, case II, and 8.7.
const FIRST_B_C_A: [Evolved; 3] = [
    ("B", B, [123.976, 136.232], [75.572, 79.065], Observed::Safe(0.999972)),
    ("C", C, [121.738, 37.183], [74.193, 85.532], found(0.9521, 0.0109)),
    ("A", A, [123.646, 38.875], [75.569, 86.908], found(0.9404, 0.0108)),
];

const UNCHECKED: &[&str] = &["unchecked-ack"];

/// Table 8.13, case I, and 8.15.
const ARQ_EACH_30: [Evolved; 2] = [
    ("B", UNCHECKED, [7.478, 8.283], [7.459, 10.375], Observed::Safe(0.923905)),
    ("A", &[], [10.111, 11.542], [8.97, 15.065], found(0.0500, 0.2498)),
];

/// Table 8.13, case I, and 8.15.
const ARQ_EACH_35: [Evolved; 2] = [
    ("B", UNCHECKED, [22.351, 24.304], [22.665, 31.31], Observed::Safe(0.929023)),
    ("A", &[], [30.134, 34.742], [27.921, 47.675], found(0.0239, 0.2499)),
];

/// Table 8.13, case II, and 8.15.
const ARQ_FIRST_30: [Evolved; 2] = [
    ("B", UNCHECKED, [7.478, 8.283], [7.459, 10.375], Observed::Safe(0.923905)),
    ("A", &[], [10.111, 10.495], [8.97, 11.856], found(0.0500, 0.2498)),
];

/// Table 8.13, case II, and 8.15.
const ARQ_FIRST_35: [Evolved; 2] = [
    ("B", UNCHECKED, [22.351, 24.304], [22.665, 31.31], Observed::Safe(0.929023)),
    ("A", &[], [30.134, 31.581], [27.921, 36.383], found(0.0239, 0.2499)),
];

/// Tables 8.11 and 8.12: what is switched off in the two versions, and the figures.
type Addition = (&'static str, [&'static [&'static str]; 2], [[f64; 4]; 2], (f64, f64));

const TABLE_8_11: [Addition; 4] = [
    (
        "example 1: gradient-timeout is added",
        [&["gradient-timeout"], &[]],
        [[20.373, 21.937, 34.328, 35.667], [30.228, 16.461, 47.666, 51.527]],
        (0.7505, 0.1321),
    ),
    (
        "example 2: gradient-timeout is added, without data-cache-timeout",
        [&["gradient-timeout", "data-cache-timeout"], &["data-cache-timeout"]],
        [[18.933, 20.532, 31.676, 32.958], [27.732, 15.093, 44.141, 47.710]],
        (0.7545, 0.1326),
    ),
    (
        "example 3: lose is added",
        [&["lose"], &[]],
        [[18.291, 19.337, 36.507, 37.599], [30.392, 18.534, 47.666, 51.085]],
        (0.7623, 0.2783),
    ),
    (
        "example 4: lose is added, without data-cache-timeout",
        [&["lose", "data-cache-timeout"], &["data-cache-timeout"]],
        [[16.485, 17.628, 33.513, 34.555], [27.707, 17.558, 44.141, 47.256]],
        (0.7576, 0.2866),
    ),
];

fn setup(model: &'static str, bugs: &'static [&'static str]) -> Setup {
    let visited = VisitedKind::Hash;
    Setup { model, bugs, must_contain: None, disabled: &[], visited }
}

/// In all of the paper's experiments with AODV, counterexamples must contain a route timeout.
fn aodv(bugs: &'static [&'static str]) -> Setup {
    Setup { must_contain: Some("route-timeout"), ..setup("aodv", bugs) }
}

fn flagged<const N: usize>(
    rows: &'static [Row<N>],
    model: fn(&'static [&'static str]) -> Setup,
    modified: &'static [&'static [&'static str]],
    keep_going: bool,
) -> Vec<Part> {
    let part = |((title, bugs), (label, nodes, max_depth), paper): &'static Row<N>| {
        let (seconds, savings, megabytes, overhead, tree) = paper;
        Part::Flagged(Flagged {
            title,
            setup: model(bugs),
            search: Searched { label, nodes: *nodes, max_depth: *max_depth, keep_going },
            modified,
            paper: PaperFlagged {
                seconds: *seconds,
                savings,
                megabytes: *megabytes,
                overhead,
                tree: *tree,
            },
            breakdown: &[],
            graph_of: None,
        })
    };
    rows.iter().map(part).collect()
}

/// One row with where its time goes.
fn broken_down(
    mut parts: Vec<Part>,
    breakdown: &'static [(&'static str, &'static [f64])],
) -> Vec<Part> {
    for part in &mut parts {
        if let Part::Flagged(flagged) = part {
            flagged.breakdown = breakdown;
        }
    }
    parts
}

/// Rows that read the graph of another version of the model.
fn reading(mut parts: Vec<Part>, version: &Setup) -> Vec<Part> {
    for part in &mut parts {
        if let Part::Flagged(flagged) = part {
            flagged.graph_of = Some(version.clone());
        }
    }
    parts
}

fn evolved(
    title: &'static str,
    rows: &[Evolved],
    (model, search): (fn(&'static [&'static str]) -> Setup, Searched),
    write_each: bool,
) -> Part {
    let version = |&(name, bugs, seconds, megabytes, observed): &Evolved| Version {
        name,
        setup: model(bugs),
        paper: PaperVersion { seconds, megabytes, observed },
    };
    Part::Versions(Versions {
        title,
        search,
        write_each,
        versions: rows.iter().map(version).collect(),
    })
}

fn diffusion(bugs: &'static [&'static str]) -> Setup {
    let setup = setup("diffusion", bugs);
    match bugs {
        // The second counterexample: caches keep their data, and a node must reboot.
        ["reboot"] => {
            Setup { must_contain: Some("reboot"), disabled: &["data-cache-timeout"], ..setup }
        }
        _ => setup,
    }
}

fn added((title, disabled, figures, (p, q)): &'static Addition) -> Part {
    let version = |at: usize, name: &'static str, observed: Observed| {
        let [scratch, incremental, memory, more] = figures[at];
        Version {
            name,
            setup: Setup {
                disabled: disabled[at],
                ..setup("diffusion", &["cache-timeout", "reboot"])
            },
            paper: PaperVersion {
                seconds: [scratch, incremental],
                megabytes: [memory, more],
                observed,
            },
        }
    };
    Part::Versions(Versions {
        title,
        search: Searched { label: "BFS-ANS", nodes: 4, max_depth: 10, keep_going: true },
        write_each: false,
        versions: vec![
            version(0, "B", Observed::Safe(1.0)),
            version(1, "A", Observed::Found { p: *p, q: *q }),
        ],
    })
}

fn table(
    name: &'static str,
    title: &'static str,
    (source, replications): (&'static str, u64),
    parts: Vec<Part>,
) -> IncrementalTable {
    IncrementalTable { about: About { name, title, source }, replications, parts }
}

/// The experiments, in the order of the chapter.
pub(super) fn all() -> Vec<IncrementalTable> {
    let three = (aodv as fn(_) -> _, bfs(3, 9));
    let mut all = vec![
        table(
            "table-8.1",
            "AODV: events flagged as modified, to the first violation; time and memory",
            ("Sobeih 2008, tables 8.1 and 8.3", 10),
            flagged(&TABLE_8_1, aodv, AODV_MODIFIED, false),
        ),
        table(
            "table-8.2",
            "AODV: where the time goes",
            ("Sobeih 2008, table 8.2", 10),
            broken_down(flagged(&TABLE_8_1[..1], aodv, AODV_MODIFIED, false), TABLE_8_2),
        ),
        table(
            "table-8.4",
            "AODV: events flagged as modified, going on after violations; time and memory",
            ("Sobeih 2008, tables 8.4 and 8.5", 10),
            flagged(&TABLE_8_4, aodv, AODV_MODIFIED, true),
        ),
        table(
            "table-8.6",
            "AODV: three versions of the route timeout; time and memory",
            ("Sobeih 2008, tables 8.6 and 8.7", 10),
            vec![
                evolved("C, B, A", &EACH_C_B_A, three, true),
                evolved("B, C, A", &EACH_B_C_A, three, true),
                evolved("C, B, A", &FIRST_C_B_A, three, false),
                evolved("B, C, A", &FIRST_B_C_A, three, false),
            ],
        ),
        table(
            "table-8.8",
            "directed diffusion: events flagged as modified; time and memory",
            ("Sobeih 2008, tables 8.8 and 8.10", 10),
            flagged(&TABLE_8_8, diffusion, DIFFUSION_MODIFIED, false),
        ),
        table(
            "table-8.9",
            "directed diffusion: where the time goes",
            ("Sobeih 2008, table 8.9", 10),
            broken_down(flagged(&TABLE_8_8[3..], diffusion, DIFFUSION_MODIFIED, false), TABLE_8_9),
        ),
        table(
            "table-8.11",
            "directed diffusion: an event is added; time and memory",
            ("Sobeih 2008, tables 8.11 and 8.12", 10),
            TABLE_8_11.iter().map(added).collect(),
        ),
    ];
    all.extend(arq());
    all
}

fn bfs(nodes: u32, max_depth: u32) -> Searched {
    Searched { label: "BFS-ANS", nodes, max_depth, keep_going: true }
}

/// The experiments with ARQ.
fn arq() -> [IncrementalTable; 2] {
    let arq = |max_depth| ((|bugs| setup("arq", bugs)) as fn(_) -> _, bfs(2, max_depth));
    [
        table(
            "table-8.13",
            "ARQ: two versions of the acknowledgement; time and memory",
            ("Sobeih 2008, tables 8.13 and 8.15", 100),
            vec![
                evolved("B, A", &ARQ_EACH_30, arq(30), true),
                evolved("B, A", &ARQ_EACH_35, arq(35), true),
                evolved("B, A", &ARQ_FIRST_30, arq(30), false),
                evolved("B, A", &ARQ_FIRST_35, arq(35), false),
            ],
        ),
        table(
            "table-8.14",
            "ARQ: where the time goes",
            ("Sobeih 2008, table 8.14", 100),
            broken_down(
                reading(
                    flagged(&CORRECT_ARQ, |bugs| setup("arq", bugs), &[&["deliver-ack"]], true),
                    &setup("arq", UNCHECKED),
                ),
                TABLE_8_14,
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::strategy;

    #[test]
    fn every_search_has_a_readable_name_and_every_column_a_figure() {
        for experiment in all() {
            for part in &experiment.parts {
                let label = match part {
                    Part::Flagged(flagged) => {
                        assert_eq!(flagged.modified.len(), flagged.paper.savings.len());
                        for (operation, paper) in flagged.breakdown {
                            assert_eq!(paper.len(), flagged.modified.len() + 1, "{operation}");
                        }
                        flagged.search.label
                    }
                    Part::Versions(versions) => versions.search.label,
                };
                assert!(strategy(label).is_ok(), "{label}");
            }
        }
    }
}
