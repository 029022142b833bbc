//! Sebih et al. (2015): programs over UDP, whose packets are lost, duplicated and reordered.
//!
//! `tables.rs` has the tables and the figures, row by row. Most rows are checks with the real server
//! as a peer; some are executed as they are, as the paper does, to see that nothing goes wrong then.
//! Our transitions are steps of threads in a reduced search; the paper's are JPF's. Its numbers of
//! I/O operations, which we do not count, are in the JSON.

mod tables;

use crate::checks::{self, beside, outcome, seconds};
use crate::experiment::{About, Experiment, ExperimentError, Host, Rows};
use crate::sources::Source;
use everypath_report::{Caption, Curve, Curves};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, Command, Stdio};

pub(crate) use tables::all;

/// A table of the paper, or its figures.
pub(crate) struct UdpTable {
    about: About,
    /// Whether its rows are points of curves.
    is_figure: bool,
    rows: Vec<Row>,
}

/// A program, what may happen to its packets, and the paper's figures.
struct Row {
    /// What the row is about; rows of the same label grow.
    label: String,
    /// Requests on each connection, for clients that have a choice.
    requests: Option<u16>,
    program: Program,
    /// What the client is given after the port.
    arguments: String,
    /// The options of the check; none if the program is executed without one.
    options: Option<String>,
    /// Whether small versions include it.
    quick: bool,
    paper: Paper,
}

/// What the paper has, as it writes it; empty where it has nothing.
#[derive(Clone, Copy, Default)]
struct Paper {
    fault: &'static str,
    time: &'static str,
    megabytes: &'static str,
    operations: &'static str,
    transitions: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Program {
    TcpAlphabet,
    UdpAlphabet,
    Files,
}

macro_rules! source {
    ($file:literal) => {{
        let text = include_str!(concat!("../../../../programs/", $file));
        // All that is before the name is `tcp/` or `udp/`.
        Source { file: $file.split_at(4).1, text }
    }};
}

impl Program {
    const ALL: [Program; 3] = [Program::TcpAlphabet, Program::UdpAlphabet, Program::Files];

    /// Where it is compiled: programs of two protocols have the same names.
    fn folder(self) -> &'static str {
        match self {
            Program::TcpAlphabet => "tcp",
            Program::UdpAlphabet | Program::Files => "udp",
        }
    }

    /// The server, then the client.
    fn sources(self) -> [Source; 2] {
        match self {
            Program::TcpAlphabet => {
                [source!("tcp/alphabet_server.c"), source!("tcp/alphabet_client.c")]
            }
            Program::UdpAlphabet => {
                [source!("udp/alphabet_server.rs"), source!("udp/alphabet_client.c")]
            }
            Program::Files => [source!("udp/file_server.rs"), source!("udp/file_client.rs")],
        }
    }
}

/// How long a program may take, in seconds: what takes longer is told as far as it came.
const PATIENCE: &str = "20";

/// A port for a program and its server to meet at, which nobody else uses.
fn free_port() -> Result<u16, String> {
    let address = UdpSocket::bind(("127.0.0.1", 0)).and_then(|socket| socket.local_addr());
    address.map(|address| address.port()).map_err(|error| format!("no port is free: {error}"))
}

impl Experiment for UdpTable {
    fn about(&self) -> About {
        self.about
    }

    fn run(&self, host: &Host<'_>) -> Result<Rows, ExperimentError> {
        let rows = self.run_rows(host).map_err(ExperimentError::Missing)?;
        Ok(Rows { rows, stopped: None })
    }

    fn is_figure(&self) -> bool {
        self.is_figure
    }

    fn plot(&self, rows: &[Value]) -> Option<String> {
        let About { title: subtitle, source, .. } = self.about;
        let title = format!("Our times, as in {source}");
        let caption = Caption { title: &title, subtitle, unit: "seconds" };
        self.is_figure.then(|| Curves { below: "requests", curves: &curves(rows) }.plot(&caption))
    }
}

impl UdpTable {
    /// Runs all rows, or says in one line what is missing.
    fn run_rows(&self, host: &Host<'_>) -> Result<Vec<Value>, String> {
        (host.print)(&format!("{} ({})\n\n", self.about.title, self.about.source));
        let failed = |error| format!("cannot make a folder: {error}");
        let folder = tempfile::tempdir().map_err(failed)?;
        let rows = || self.rows.iter().filter(|row| row.quick || !host.quick);
        for program in Program::ALL {
            if rows().any(|row| row.program == program) {
                let folder = folder.path().join(program.folder());
                std::fs::create_dir_all(&folder).map_err(failed)?;
                for source in program.sources() {
                    source.compile(&folder)?;
                }
            }
        }
        (host.print)(&header());
        let (mut results, mut unfinished) = (Vec::new(), "");
        for row in rows() {
            // What grows on from there does not finish either.
            let result = if row.label == unfinished {
                json!({"verdict": "left out"})
            } else {
                row.run(host, &folder.path().join(row.program.folder()))?
            };
            if outcome(&result) == "unfinished" {
                unfinished = &row.label;
            }
            (host.print)(&row.line(&result));
            results.push(row.in_json(&result));
        }
        (host.print)("\n");
        Ok(results)
    }
}

/// The points of the searches that came to their end: requests and seconds.
fn curves(rows: &[Value]) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for row in
        rows.iter().filter(|row| matches!(row["outcome"].as_str(), Some("holds" | "violated")))
    {
        let label = row["label"].as_str().unwrap_or_default();
        if curves.last().is_none_or(|curve| curve.name != label) {
            curves.push(Curve { name: label.into(), points: Vec::new() });
        }
        let point = row["requests"].as_f64().zip(row["stats"]["seconds"].as_f64());
        if let Some(curve) = curves.last_mut() {
            curve.points.extend(point);
        }
    }
    curves
}

/// The names of the columns: the paper's figures are in brackets.
fn header() -> String {
    format!(
        "{:32}{:>8}{:>16}{:>12}{:>22}{:>20}{:>11}\n",
        "", "requests", "result", "executions", "transitions", "seconds", "MB"
    )
}

impl Row {
    /// What a check says in this folder, or, without one, the program itself.
    fn run(&self, host: &Host<'_>, folder: &Path) -> Result<Value, String> {
        let [server, client] = self.program.sources().map(|source| format!("./{}", source.name()));
        let port = free_port()?;
        let client = format!("{client} {port} {}", self.arguments);
        let server = format!("{server} {port}");
        match &self.options {
            None => execute(host, folder, &server, &client),
            Some(options) => {
                let options = options.split_whitespace();
                let limits = ["--max-seconds", PATIENCE, "--peer", &server, "--"];
                let words = options.chain(limits).chain(client.split_whitespace());
                checks::check(host, folder, words)
            }
        }
    }

    fn line(&self, result: &Value) -> String {
        let (stats, paper) = (&result["stats"], &self.paper);
        let requests = self.requests.map_or(String::new(), |requests| requests.to_string());
        let found = match paper.fault {
            "" => outcome(result).to_string(),
            fault => format!("{} [{fault}]", outcome(result)),
        };
        let megabytes = stats["peak_rss_bytes"].as_u64().map(|bytes| bytes / 1_000_000);
        let seconds = if stats.is_null() { "–".into() } else { seconds(stats, paper.time) };
        format!(
            "{:32}{requests:>8}{found:>16}{:>12}{:>22}{seconds:>20}{:>11}\n",
            self.label,
            beside(&stats["executions"], ""),
            beside(&stats["transitions"], paper.transitions),
            beside(&json!(megabytes), paper.megabytes),
        )
    }

    fn in_json(&self, result: &Value) -> Value {
        let paper = &self.paper;
        json!({
            "label": self.label,
            "requests": self.requests,
            "checked": self.options.is_some(),
            "outcome": outcome(result),
            "paper": {
                "fault": paper.fault, "time": paper.time, "megabytes": paper.megabytes,
                "operations": paper.operations, "transitions": paper.transitions,
            },
            "stats": result["stats"],
        })
    }
}

/// Executes a client with its server, without a check: whether it ends well, and how long it takes.
fn execute(host: &Host<'_>, folder: &Path, server: &str, client: &str) -> Result<Value, String> {
    let failed = |error: std::io::Error| format!("cannot execute {client}: {error}");
    let server = Server::start(folder, server).map_err(failed)?;
    let start = (host.clock)();
    let mut command = Command::new("timeout");
    command.arg(PATIENCE).args(client.split_whitespace()).current_dir(folder);
    let output = command.output().map_err(failed)?;
    let seconds = host.seconds_since(start);
    drop(server);
    let verdict = match output.status.code() {
        Some(0) => "passes",
        Some(124) => "hangs",
        _ => "fails",
    };
    Ok(json!({"verdict": verdict, "stats": {"seconds": seconds}}))
}

/// A server that is there as long as this.
struct Server(Child);

impl Server {
    /// Starts it and waits until it listens.
    fn start(folder: &Path, command: &str) -> std::io::Result<Server> {
        let mut words = command.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).current_dir(folder).stdout(Stdio::piped());
        let mut server = Server(command.spawn()?);
        let output = server.0.stdout.take().into_iter().map(BufReader::new);
        match output.flat_map(BufRead::lines).next() {
            Some(said) => said.map(|_| server),
            None => Err(std::io::Error::other("its server does not listen")),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, which the client has noticed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
