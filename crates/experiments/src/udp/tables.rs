//! The tables and figures.
//!
//! The figures are drawn, not written: of their curves only those points are beside ours that the
//! tables or the text have, too.

use super::{Paper, Program, Row, UdpTable};
use crate::experiment::About;

/// All experiments of this kind.
pub(crate) fn all() -> [UdpTable; 6] {
    [
        UdpTable {
            about: About {
                name: "udp-table-2",
                title: "Alphabet client over TCP and UDP, 3 connections, executed without a check",
                source: "Sebih et al. 2015, table 2",
            },
            is_figure: false,
            rows: table_2(),
        },
        UdpTable {
            about: About {
                name: "udp-table-3",
                title: "Alphabet client over TCP and UDP, 3 connections, without and with loss",
                source: "Sebih et al. 2015, table 3",
            },
            is_figure: false,
            rows: table_3(),
        },
        UdpTable {
            about: About {
                name: "udp-table-4",
                title: "File transfer client, files of 2 and 3 packets, with duplicates and reordering",
                source: "Sebih et al. 2015, table 4",
            },
            is_figure: false,
            rows: table_4(),
        },
        UdpTable {
            about: About {
                name: "udp-figure-8",
                title: "Alphabet client, 3 connections, 1 to 8 requests",
                source: "Sebih et al. 2015, figure 8",
            },
            is_figure: true,
            rows: figure_8(),
        },
        UdpTable {
            about: About {
                name: "udp-figure-9",
                title: "Alphabet client, 1 connection, 1 to 9 requests: what may happen to packets",
                source: "Sebih et al. 2015, figure 9",
            },
            is_figure: true,
            rows: figure_9(),
        },
        UdpTable {
            about: About {
                name: "udp-figure-10",
                title: "Alphabet client, 1 connection, 1 to 9 requests: in which direction",
                source: "Sebih et al. 2015, figure 10",
            },
            is_figure: true,
            rows: figure_10(),
        },
    ]
}

/// What the paper has: whether a fault was found, time, memory, I/O operations and transitions.
const fn paper(
    fault: &'static str,
    time: &'static str,
    megabytes: &'static str,
    operations: &'static str,
    transitions: &'static str,
) -> Paper {
    Paper { fault, time, megabytes, operations, transitions }
}

/// An alphabet client over TCP or UDP, with or without its assertion, under these options.
struct Alphabet {
    label: &'static str,
    program: Program,
    connections: u16,
    checked: bool,
    options: Option<&'static str>,
}

impl Alphabet {
    fn row(&self, requests: u16, quick: bool, paper: Paper) -> Row {
        let unchecked = if self.checked { "" } else { " unchecked" };
        Row {
            label: self.label.into(),
            requests: Some(requests),
            program: self.program,
            arguments: format!("{} {requests}{unchecked}", self.connections),
            options: self.options.map(Into::into),
            quick,
            paper,
        }
    }

    /// A curve, with what the paper tells of it.
    fn curve(&self, requests: u16, quick: u16, told: &[(u16, &'static str)]) -> Vec<Row> {
        let time = |requests| told.iter().find(|told| told.0 == requests).map_or("", |told| told.1);
        let paper = |requests| Paper { time: time(requests), ..Paper::default() };
        (1..=requests).map(|n| self.row(n, n <= quick, paper(n))).collect()
    }
}

const TCP: Alphabet = Alphabet {
    label: "TCP",
    program: Program::TcpAlphabet,
    connections: 3,
    checked: true,
    options: Some(""),
};
const UDP: Alphabet = Alphabet { label: "UDP", program: Program::UdpAlphabet, ..TCP };
/// A client that waits for what was lost waits for ever, which is not the question.
const LOSSY: Alphabet =
    Alphabet { label: "UDP, loss", options: Some("--idle ok --udp-multiply 1,0"), ..UDP };
const LOSSY_UNCHECKED: Alphabet =
    Alphabet { label: "UDP, loss, no assertion", checked: false, ..LOSSY };

fn table_2() -> Vec<Row> {
    let [tcp, udp] = [TCP, UDP].map(|alphabet| Alphabet { options: None, ..alphabet });
    let times = [("0.082", "0.078", "15"), ("0.082", "0.079", "21"), ("0.083", "0.080", "27")];
    let rows = |(requests, (tcp_time, udp_time, operations))| {
        let paper = |fault, time| paper(fault, time, "2.6", operations, "");
        let quick = requests == 1;
        [
            tcp.row(requests, quick, paper("", tcp_time)),
            udp.row(requests, quick, paper("no", udp_time)),
        ]
    };
    (1..).zip(times).flat_map(rows).collect()
}

/// With version 2 of the paper's cache: version 1 knows TCP alone.
fn table_3() -> Vec<Row> {
    vec![
        TCP.row(1, true, paper("", "0:00:06", "77", "1,158", "2,143")),
        UDP.row(1, true, paper("no", "0:00:03", "77", "1,158", "2,146")),
        LOSSY.row(1, true, paper("no", "0:00:13", "77", "2,406", "5,734")),
        TCP.row(2, true, paper("", "0:00:25", "77", "5,190", "7,807")),
        UDP.row(2, true, paper("no", "0:00:19", "110", "5,190", "7,810")),
        LOSSY.row(2, true, paper("yes", "<0:00:01", "77", "23", "49")),
        LOSSY_UNCHECKED.row(2, true, paper("no", "0:05:40", "77", "42,855", "90,493")),
        TCP.row(3, false, paper("", "0:01:12", "110", "17,346", "23,440")),
        UDP.row(3, false, paper("no", "0:01:00", "77", "17,346", "23,443")),
        LOSSY.row(3, true, paper("yes", "<0:00:01", "61", "29", "61")),
        LOSSY_UNCHECKED.row(3, false, paper("no", "1:54:18", "110", "828,501", "1,637,530")),
    ]
}

fn table_4() -> Vec<Row> {
    let file = |label: &str, options: Option<String>, is_buggy, paper| Row {
        label: format!("{label}, {}", if is_buggy { "seeded bug" } else { "corrected" }),
        requests: None,
        program: Program::Files,
        arguments: if is_buggy { "3 buggy" } else { "3" }.into(),
        options,
        quick: true,
        paper,
    };
    let executed =
        |is_buggy| file("without a check", None, is_buggy, paper("no", "0.12", "1", "14", ""));
    let checked = |multiply: &str, window: u32, is_buggy, paper| {
        let network = format!("--udp-multiply {multiply} --udp-window {window}");
        let options = format!("--time quiescent --udp-direction receive {network}");
        file(&format!("M = {{{multiply}}}, c = {window}"), Some(options), is_buggy, paper)
    };
    vec![
        executed(true),
        executed(false),
        checked("1", 1, true, paper("no", "0.29", "77", "14", "15")),
        checked("1", 1, false, paper("no", "0.29", "77", "14", "15")),
        checked("1", 2, true, paper("no", "2.38", "77", "22", "31")),
        checked("1", 2, false, paper("no", "2.38", "77", "22", "31")),
        checked("2", 1, true, paper("yes", "0.29", "77", "14", "18")),
        checked("2", 1, false, paper("no", "0.29", "77", "14", "19")),
        checked("2", 2, true, paper("yes", "2.34", "77", "16", "25")),
        checked("2", 2, false, paper("no", "2.87", "77", "64", "233")),
        checked("1,2", 1, true, paper("yes", "0.42", "77", "21", "45")),
        checked("1,2", 1, false, paper("no", "0.44", "77", "22", "55")),
        checked("1,2", 2, true, paper("yes", "2.96", "77", "59", "234")),
        checked("1,2", 2, false, paper("no", "4.50", "110", "236", "1253")),
    ]
}

fn figure_8() -> Vec<Row> {
    let curves = [
        TCP.curve(8, 2, &[(1, "0:00:06"), (2, "0:00:25"), (3, "0:01:12"), (8, "1:28:00")]),
        UDP.curve(8, 2, &[(1, "0:00:03"), (2, "0:00:19"), (3, "0:01:00")]),
        LOSSY.curve(8, 2, &[(1, "0:00:13"), (2, "<0:00:01"), (3, "<0:00:01")]),
        LOSSY_UNCHECKED.curve(8, 2, &[(2, "0:05:40"), (3, "1:54:18")]),
    ];
    curves.into_iter().flatten().collect()
}

/// Curves of a client with one connection and no assertion, whose packets fare as options say.
fn alone<const N: usize>(curves: [(&'static str, &'static str); N]) -> Vec<Row> {
    let curve = |(label, options)| {
        let alone = Alphabet { connections: 1, label, options: Some(options), ..LOSSY_UNCHECKED };
        alone.curve(9, 2, &[])
    };
    curves.into_iter().flat_map(curve).collect()
}

fn figure_9() -> Vec<Row> {
    alone([
        ("M = {1}, c = 1", "--idle ok --udp-direction send --udp-multiply 1 --udp-window 1"),
        ("M = {1,2}, c = 1", "--idle ok --udp-direction send --udp-multiply 1,2 --udp-window 1"),
        ("M = {1}, c = 2", "--idle ok --udp-direction send --udp-multiply 1 --udp-window 2"),
        ("M = {1,0}, c = 1", "--idle ok --udp-direction send --udp-multiply 1,0 --udp-window 1"),
        (
            "M = {1,0,2}, c = 2",
            "--idle ok --udp-direction send --udp-multiply 1,0,2 --udp-window 2",
        ),
        ("M = {1}, c = 9", "--idle ok --udp-direction send --udp-multiply 1 --udp-window 9"),
    ])
}

fn figure_10() -> Vec<Row> {
    alone([
        ("send", "--idle ok --udp-direction send --udp-multiply 1,0,2 --udp-window 2"),
        ("receive", "--idle ok --udp-direction receive --udp-multiply 1,0,2 --udp-window 2"),
        ("both", "--idle ok --udp-direction both --udp-multiply 1,0,2 --udp-window 2"),
    ])
}
