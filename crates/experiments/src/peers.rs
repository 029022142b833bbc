//! Artho et al. (2008, 2009): programs that talk to real processes, without a cache, with the
//! linear and with the branching one.
//!
//! Each row is a check in a process of its own, so that its time and memory are its own. Ours are the executions of a search of schedules, reduced, and the states of a search of
//! states; the paper's states are JPF's.

use crate::checks::{self, beside, outcome, seconds};
use crate::experiment::{About, Experiment, ExperimentError, Host, Rows};
use crate::sources::Source;
use serde_json::{Value, json};
use std::path::Path;

/// A table of one of the papers.
pub(crate) struct PeerTable {
    about: About,
    rows: &'static [Row],
}

/// A program with its parameters and the paper's figures.
struct Row {
    application: Application,
    /// Connections or clients.
    threads: u16,
    /// Messages on each of them.
    messages: u16,
    /// Whether small versions include it.
    quick: bool,
    /// For the linear and the branching cache: minutes and seconds as the paper writes them, states
    /// and what the cache did.
    paper: [Option<Paper>; 2],
}

#[derive(Clone, Copy)]
struct Paper {
    time: &'static str,
    /// Distinct states.
    states: &'static str,
    hits: &'static str,
    misses: &'static str,
    connections: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Application {
    Daytime,
    HttpClient,
    PageCounter,
    Download,
    AlphabetClient,
    AlphabetServer,
    Chat,
    AbstractChat,
}

macro_rules! source {
    ($file:literal) => {
        Source { file: $file, text: include_str!(concat!("../../../programs/tcp/", $file)) }
    };
}

const ALL_SOURCES: [Source; 9] = [
    source!("daytime_client.rs"),
    source!("daytime_server.rs"),
    source!("http_client.rs"),
    source!("http_server.rs"),
    source!("download.rs"),
    source!("alphabet_client.c"),
    source!("alphabet_server.c"),
    source!("chat_client.rs"),
    source!("chat_server.c"),
];

impl Application {
    fn title(self) -> &'static str {
        match self {
            Application::Daytime => "daytime client",
            Application::HttpClient => "HTTP client",
            Application::PageCounter => "HTTP server/counter",
            Application::Download => "download client",
            Application::AlphabetClient => "alphabet client",
            Application::AlphabetServer => "alphabet server",
            Application::Chat => "chat server, full",
            Application::AbstractChat => "chat, abstracted",
        }
    }

    fn sources(self) -> [&'static str; 2] {
        match self {
            Application::Daytime => ["daytime_client", "daytime_server"],
            Application::HttpClient | Application::PageCounter => ["http_client", "http_server"],
            Application::Download => ["download", "http_server"],
            Application::AlphabetClient | Application::AlphabetServer => {
                ["alphabet_client", "alphabet_server"]
            }
            Application::Chat | Application::AbstractChat => ["chat_client", "chat_server"],
        }
    }

    /// The commands of the peers, and the program's words.
    fn commands(self, port: u16, threads: u16, messages: u16) -> (Vec<String>, Vec<String>) {
        let each = |client: &dyn Fn(u16) -> String| (0..threads).map(client).collect();
        let name = |which: u16| char::from(b'a' + which as u8);
        let (peers, program): (Vec<String>, String) = match self {
            Application::Daytime => (
                vec![format!("./daytime_server {port} 100000 fixed")],
                format!("./daytime_client {port} {threads}"),
            ),
            Application::HttpClient => {
                (vec![format!("./http_server {port}")], format!("./http_client {port} {threads}"))
            }
            Application::PageCounter => (
                each(&|_| format!("./http_client {port} 1")),
                format!("./http_server {port} {threads} counter"),
            ),
            Application::Download => {
                (vec![format!("./http_server {port}")], format!("./download {port} {threads}"))
            }
            Application::AlphabetClient => (
                vec![format!("./alphabet_server {port}")],
                format!("./alphabet_client {port} {threads} {messages}"),
            ),
            Application::AlphabetServer => (
                each(&|_| format!("./alphabet_client {port} 1 {messages}")),
                format!("./alphabet_server {port} {threads}"),
            ),
            Application::Chat => (
                each(&|which| format!("./chat_client {port} {threads} {}", name(which))),
                format!("./chat_server {port} {threads}"),
            ),
            Application::AbstractChat => (
                each(&|which| format!("./chat_client {port} {threads} {} anonymous", name(which))),
                format!("./chat_server {port} {threads}"),
            ),
        };
        (peers, program.split(' ').map(Into::into).collect())
    }
}

/// All experiments of this kind.
pub(crate) fn all() -> [PeerTable; 3] {
    [
        PeerTable {
            about: About {
                name: "table-2",
                title: "Programs with real peers: time and states of the linear cache",
                source: "Artho et al. 2008, table 2",
            },
            rows: TABLE_2,
        },
        PeerTable {
            about: About {
                name: "table-III",
                title: "Programs with real peers: time and states of both caches",
                source: "Artho et al. 2009, table III",
            },
            rows: TABLE_III,
        },
        PeerTable {
            about: About {
                name: "table-IV",
                title: "Programs with real peers: what the branching cache saves",
                source: "Artho et al. 2009, table IV",
            },
            rows: TABLE_IV,
        },
    ]
}

/// A row of a table: the program, threads, messages, whether it is small; then the paper's figures.
const fn row(
    application: Application,
    (threads, messages): (u16, u16),
    quick: bool,
    paper: [Option<Paper>; 2],
) -> Row {
    Row { application, threads, messages, quick, paper }
}

/// What the paper says of time and states.
const fn took(time: &'static str, states: &'static str) -> Option<Paper> {
    Some(Paper { time, states, hits: "", misses: "", connections: "" })
}

/// What the paper says of the cache.
const fn used(
    hits: &'static str,
    misses: &'static str,
    connections: &'static str,
) -> [Option<Paper>; 2] {
    [None, Some(Paper { time: "", states: "", hits, misses, connections })]
}

/// Only the linear cache, which is what there was.
const TABLE_2: &[Row] = &[
    row(Application::Daytime, (2, 1), true, [took("0:01", "204"), None]),
    row(Application::Daytime, (3, 1), false, [took("0:03", "2,140"), None]),
    row(Application::Download, (3, 1), false, [took("0:50", "31,015"), None]),
    row(Application::AlphabetClient, (2, 1), true, [took("0:04", "3,631"), None]),
    row(Application::AlphabetClient, (3, 1), false, [took("4:42", "226,646"), None]),
    row(Application::AlphabetClient, (3, 3), false, [took("113:38", "5,017,624"), None]),
    row(Application::AlphabetServer, (2, 1), true, [took("0:02", "102"), None]),
    row(Application::AlphabetServer, (3, 5), false, [took("0:28", "30,579"), None]),
    row(Application::AbstractChat, (2, 1), true, [took("0:08", "4,100"), None]),
];

const TABLE_III: &[Row] = &[
    row(Application::Daytime, (2, 1), true, [took("0:01", "300"), took("0:01", "300")]),
    row(Application::Daytime, (3, 1), false, [took("0:25", "55,200"), took("0:36", "55,200")]),
    row(Application::HttpClient, (2, 1), false, [took("0:10", "900"), took("0:12", "900")]),
    row(Application::PageCounter, (2, 1), true, [took("mismatch", ""), took("2:13", "137,000")]),
    row(Application::Download, (3, 1), false, [took("0:15", "5,200"), took("0:16", "4,800")]),
    row(
        Application::AlphabetClient,
        (2, 5),
        false,
        [took("0:09", "11,200"), took("0:09", "10,500")],
    ),
    row(Application::AlphabetClient, (3, 1), true, [took("0:06", "6,100"), took("0:06", "6,100")]),
    row(
        Application::AlphabetClient,
        (3, 5),
        false,
        [took("19:37", "1,267,600"), took("16:50", "1,113,700")],
    ),
    row(Application::AlphabetServer, (3, 5), false, [took("0:08", "7,000"), took("0:13", "7,000")]),
    row(Application::AbstractChat, (2, 1), false, [took("0:03", "1,100"), took("0:06", "1,500")]),
    row(Application::Chat, (2, 1), false, [took("mismatch", ""), took("0:10", "1,500")]),
    row(Application::Chat, (3, 1), false, [took("mismatch", ""), took("0:57", "46,500")]),
    row(Application::Chat, (4, 1), false, [took("mismatch", ""), took("24:25", "2,718,000")]),
];

const TABLE_IV: &[Row] = &[
    row(Application::Daytime, (2, 1), true, used("10,710", "60", "2")),
    row(Application::Daytime, (3, 1), false, used("4,788,180", "90", "3")),
    row(Application::HttpClient, (2, 1), false, used("95,940", "533", "2")),
    row(Application::PageCounter, (2, 1), true, used("109,584", "142", "4")),
    row(Application::Download, (3, 1), false, used("3,284", "124", "3")),
    row(Application::AlphabetClient, (2, 1), true, used("254", "2", "2")),
    row(Application::AlphabetClient, (2, 5), false, used("15,370", "10", "2")),
    row(Application::AlphabetClient, (3, 5), false, used("2,397,147", "15", "3")),
    row(Application::AlphabetServer, (2, 1), true, used("14", "2", "2")),
    row(Application::AlphabetServer, (3, 5), false, used("8,084", "15", "3")),
    row(Application::AlphabetServer, (4, 5), false, used("310,039", "20", "4")),
    row(Application::AbstractChat, (2, 1), false, used("229", "2", "2")),
    row(Application::Chat, (2, 1), true, used("229", "4", "4")),
    row(Application::Chat, (3, 1), true, used("11,207", "18", "18")),
    row(Application::Chat, (4, 1), false, used("873,089", "96", "96")),
];

/// How long a search may take, in seconds: what takes longer is told as far as it came.
const PATIENCE: u32 = 60;
const QUICK_PATIENCE: u32 = 3;
/// The port that programs and peers meet at.
const PORT: u16 = 7900;

/// How a program is explored.
#[derive(Clone, Copy)]
struct Way {
    cache: &'static str,
    /// Whether states are searched, or else schedules.
    matches: bool,
    /// Whose figures of the paper go with it.
    paper: Option<usize>,
}

/// Not a cache: peers are under control as well, as programs that were centralised are in the papers.
const CENTRALISED: &str = "central";

const WAYS: [Way; 6] = [
    Way { cache: CENTRALISED, matches: false, paper: None },
    Way { cache: "none", matches: false, paper: None },
    Way { cache: "linear", matches: false, paper: Some(0) },
    Way { cache: "branching", matches: false, paper: Some(1) },
    Way { cache: "linear", matches: true, paper: Some(0) },
    Way { cache: "branching", matches: true, paper: Some(1) },
];

impl Experiment for PeerTable {
    fn about(&self) -> About {
        self.about
    }

    fn run(&self, host: &Host<'_>) -> Result<Rows, ExperimentError> {
        let rows = self.run_rows(host).map_err(ExperimentError::Missing)?;
        Ok(Rows { rows, stopped: None })
    }
}

impl PeerTable {
    /// Runs all rows, or says in one line what is missing.
    fn run_rows(&self, host: &Host<'_>) -> Result<Vec<Value>, String> {
        (host.print)(&format!("{} ({})\n\n", self.about.title, self.about.source));
        let folder =
            tempfile::tempdir().map_err(|error| format!("cannot make a folder: {error}"))?;
        let rows = || self.rows.iter().filter(|row| row.quick || !host.quick);
        for source in ALL_SOURCES {
            if rows().any(|row| row.application.sources().contains(&source.name())) {
                source.compile(folder.path())?;
            }
        }
        (host.print)(&header());
        let mut results = Vec::new();
        for row in rows() {
            for way in WAYS {
                let result = check(host, folder.path(), row, way)?;
                (host.print)(&line(row, way, &result));
                results.push(in_json(row, way, &result));
            }
        }
        (host.print)("\n");
        Ok(results)
    }
}

/// What a check says, as JSON.
fn check(host: &Host<'_>, folder: &Path, row: &Row, way: Way) -> Result<Value, String> {
    let (peers, program) = row.application.commands(PORT, row.threads, row.messages);
    // Small versions only show that it takes longer.
    let is_short = host.quick && way.cache == CENTRALISED;
    let patience = if is_short { QUICK_PATIENCE } else { PATIENCE }.to_string();
    let mut arguments = vec!["--max-seconds", &patience];
    let peer = match way.cache {
        CENTRALISED => "--with",
        cache => {
            arguments.extend(["--cache", cache]);
            "--peer"
        }
    };
    if way.matches {
        arguments.push("--state-matching");
    }
    arguments.extend(peers.iter().flat_map(|command| [peer, command]));
    arguments.push("--");
    arguments.extend(program.iter().map(String::as_str));
    checks::check(host, folder, arguments)
}

/// The names of the columns: the paper's figures are in brackets.
fn header() -> String {
    format!(
        "{:32}{:10}{:>11}{:>11}{:>10}{:>22}{:>20}{:>14}{:>14}{:>18}{:>7}\n",
        "",
        "cache",
        "result",
        "executions",
        "redundant",
        "states",
        "hits",
        "misses",
        "connections",
        "seconds",
        "MB"
    )
}

fn line(row: &Row, way: Way, result: &Value) -> String {
    let name = format!("{}, {} x {}", row.application.title(), row.threads, row.messages);
    let (stats, cache) = (&result["stats"], &result["stats"]["cache"]);
    let none = Paper { time: "", states: "", hits: "", misses: "", connections: "" };
    let paper = way.paper.and_then(|which| row.paper[which]).unwrap_or(none);
    let megabytes = stats["peak_rss_bytes"].as_u64().unwrap_or(0) / 1_000_000;
    let seconds = seconds(stats, paper.time);
    format!(
        "{name:32}{:10}{:>11}{:>11}{:>10}{:>22}{:>20}{:>14}{:>14}{seconds:>18}{megabytes:>7}\n",
        way.cache,
        outcome(result),
        beside(&stats["executions"], ""),
        beside(&stats["redundant_executions"], ""),
        beside(&stats["states"], if way.matches { paper.states } else { "" }),
        beside(&cache["hits"], paper.hits),
        beside(&cache["misses"], paper.misses),
        beside(&cache["connections"], paper.connections),
    )
}

fn in_json(row: &Row, way: Way, result: &Value) -> Value {
    let paper = way.paper.and_then(|which| row.paper[which]).map(|paper| {
        json!({"time": paper.time, "states": paper.states, "hits": paper.hits,
               "misses": paper.misses, "connections": paper.connections})
    });
    json!({
        "program": row.application.title(),
        "threads": row.threads,
        "messages": row.messages,
        "cache": way.cache,
        "state_matching": way.matches,
        "outcome": outcome(result),
        "paper": paper,
        "stats": result["stats"],
    })
}
