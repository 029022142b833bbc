//! Real processes, real connections, exact counts.

use super::{Address, Cache, Options, PeerError, Peers, Statistics};
use crate::region::Shared;
use everypath_commtree::{End, Lookup, Memory, Name, Opening, Position, Reader, Sent, Take};
use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketType, bind, socket};
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

/// The program that plays all peers, compiled once.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let beside = std::env::current_exe().unwrap();
        let fresh = beside.with_file_name(format!("everypath-peer.{}", std::process::id()));
        let path = beside.with_file_name("everypath-peer");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/peer.c");
        let mut cc = Command::new("cc");
        let status = cc.args(["-O1", "-pthread", "-o"]).arg(&fresh).arg(source).status().unwrap();
        assert!(status.success());
        std::fs::rename(fresh, &path).unwrap();
        path
    })
}

/// A free port below those that the kernel gives away by itself. Nobody listens there to find out:
/// a process that another test is about to start might have a copy of the socket for a moment.
fn port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 20_000 + (std::process::id() % 500) as u16 * 20;
    loop {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed);
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        set_socket_reuseaddr(&socket, true).unwrap();
        if bind(&socket, &SocketAddr::from(([127, 0, 0, 1], port))).is_ok() {
            return port;
        }
    }
}

fn tcp(port: u16) -> Address {
    Address::Tcp(SocketAddr::from(([127, 0, 0, 1], port)))
}

fn command(role: &str, address: impl std::fmt::Display, text: &str) -> String {
    format!("{} {role} {address} '{text}'", program().display())
}

/// A program's side of things: its memory, its peers, and where it connects to.
struct Rig {
    memory: Shared<Memory>,
    peers: Peers,
    address: Address,
}

impl Rig {
    fn new(address: Address, options: Options) -> Self {
        Rig {
            memory: Shared::zeros(c"trees").unwrap(),
            peers: Peers::new(options).unwrap(),
            address,
        }
    }

    /// A program with one server.
    fn with(role: &str, options: Options) -> Self {
        let port = port();
        let commands = vec![command(role, port, "")];
        Rig::new(tcp(port), Options { commands, ..options })
    }

    fn connect(&mut self, number: u64) -> Result<Position, PeerError> {
        let name = Name([1, 0, 0, number]);
        match self.peers.connect(&self.memory, name, &self.address)? {
            Opening::Open(at) => Ok(at),
            Opening::Refused => panic!("the connection is refused"),
        }
    }

    fn accept(&mut self, number: usize) -> Result<Option<Position>, PeerError> {
        let name = Name([2, 0, 0, number as u64]);
        match self.peers.accept(&self.memory, name, &self.address, number)? {
            Opening::Open(at) => Ok(Some(at)),
            Opening::Refused => Ok(None),
        }
    }

    fn send(&mut self, from: Position, bytes: &[u8]) -> Result<Position, PeerError> {
        match self.memory.write(from, Sent::Bytes(bytes)) {
            Lookup::Hit(at) => Ok(at),
            Lookup::Miss => self.peers.send(&self.memory, from, Sent::Bytes(bytes)),
        }
    }

    /// Says nothing until the peer has said something by itself, or never will.
    fn say_nothing(&mut self, from: Position) -> Position {
        self.peers.send(&self.memory, from, Sent::Silence(u32::MAX)).unwrap()
    }

    /// All that was received.
    fn received(&self, at: Position) -> String {
        let mut bytes = vec![0; self.memory.received(at) as usize];
        self.memory.read(&mut Reader::default(), at, &mut bytes, Take::Read);
        String::from_utf8(bytes).unwrap()
    }

    fn counts(&self) -> (u64, u64) {
        let Statistics { connections, misses, .. } = self.peers.statistics();
        (connections, misses)
    }
}

/// Short, for what shall fail.
fn impatient() -> Options {
    Options { patience: Duration::from_millis(300), ..Options::default() }
}

fn message(result: Result<Position, PeerError>) -> String {
    result.unwrap_err().to_string()
}

/// Table IV of Artho et al. 2009: n connections and n·m misses, however often it is all repeated.
#[test]
fn alphabet_client() {
    for (n, m) in [(1, 1), (2, 3), (3, 5_u64)] {
        let mut rig = Rig::with("alphabet", Options::default());
        for _execution in 0..3 {
            for connection in 0..n {
                let mut at = rig.connect(connection).unwrap();
                for message in 0..m {
                    at = rig.send(at, format!("{message}").as_bytes()).unwrap();
                }
                assert_eq!(rig.received(at), "abcde"[..m as usize]);
            }
        }
        assert_eq!(rig.counts(), (n, n * m));
        assert_eq!(rig.peers.statistics().starts, 1);
        rig.peers.verify(&rig.memory).unwrap();
        let Statistics { misses, replayed, .. } = rig.peers.statistics();
        assert_eq!((misses, replayed), (2 * n * m, n * m));
        assert_eq!(rig.peers.assumptions().count(), 0);
    }
}

#[test]
fn daytime_client() {
    for n in [2, 3] {
        let mut rig = Rig::with("daytime", Options::default());
        for connection in 0..n {
            let at = rig.connect(connection).unwrap();
            assert_eq!(rig.received(at).len(), 30);
            assert_eq!(rig.memory.end(Reader(29), at), End::Open);
            assert_eq!(rig.memory.end(Reader(30), at), End::Closed);
        }
        assert_eq!(rig.counts(), (n, 30 * n));
    }
}

/// Section 2.3 of Artho et al. 2008.
#[test]
fn a_request_in_two_parts() {
    let mut rig = Rig::with("lines", Options::default());
    let root = rig.connect(0).unwrap();
    let whole = rig.send(root, b"GET\n").unwrap();
    assert_eq!(rig.received(whole), "page");
    let half = rig.send(root, b"GE").unwrap();
    assert_eq!(rig.received(half), "");
    let both = rig.send(half, b"T\n").unwrap();
    assert_eq!((both, rig.received(both)), (whole, "page".to_string()));
    // The half stands by itself: finding out what it is answered took a connection.
    assert_eq!(rig.counts(), (2, 4));
    // More than what is known, from before it.
    let more = rig.send(root, b"GET\nGET\n").unwrap();
    assert_eq!((rig.received(more), rig.counts()), ("pagepage".to_string(), (2, 8)));
}

#[test]
fn half_closing_reaches_the_peer() {
    let mut rig = Rig::with("lines", Options::default());
    let root = rig.connect(0).unwrap();
    let at = rig.send(root, b"GET\n").unwrap();
    let end = rig.peers.send(&rig.memory, at, Sent::End).unwrap();
    assert_eq!((rig.received(end), rig.memory.peer_end(end)), ("pagebye".into(), End::Closed));
    assert_eq!(rig.memory.write(at, Sent::End), Lookup::Hit(end));
    assert_eq!(rig.memory.peer_end(at), End::Open);
    // Nobody needs it any more, unless something else is sent from before the end.
    assert!(rig.peers.connections.is_empty());
    rig.send(at, b"GET\n").unwrap();
    assert_eq!((rig.peers.connections.len(), rig.peers.statistics().connections), (1, 2));
}

/// The peer answers, closes, and does not want what is sent then.
#[test]
fn sending_to_a_peer_that_closed() {
    let mut rig = Rig::with("goodbye", Options::default());
    let root = rig.connect(0).unwrap();
    let at = rig.send(root, b"x").unwrap();
    assert_eq!((rig.received(at), rig.memory.peer_end(at)), ("x".into(), End::Closed));
    let after = rig.send(at, b"y").unwrap();
    assert_eq!((rig.received(after), rig.memory.peer_end(after)), ("x".into(), End::Reset));
    rig.peers.verify(&rig.memory).unwrap();
}

#[test]
fn other_addresses() {
    let port = port();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let six = Address::Tcp(SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], port)));
    let addresses =
        [(six, format!(":{port}")), (Address::Path(path.clone()), path.display().to_string())];
    for (address, argument) in addresses {
        let commands = vec![command("alphabet", &argument, "")];
        let mut rig = Rig::new(address, Options { commands, ..Options::default() });
        for connection in 0..2 {
            let root = rig.connect(connection).unwrap();
            let at = rig.send(root, b"12").unwrap();
            assert_eq!(rig.received(at), "bc");
        }
        assert_eq!(rig.counts(), (2, 4));
        assert_eq!(rig.peers.assumptions().count(), 0);
    }
}

/// A client of the chat server says one letter; the server sends all letters to all, in the order
/// in which it got them. Each order is a branch of its own: n·n! connections and misses.
#[test]
fn chat_server() {
    let orders: [&[&[u8]]; 2] =
        [&[b"ab", b"ba"], &[b"abc", b"acb", b"bac", b"bca", b"cab", b"cba"]];
    for (n, orders) in [2, 3].into_iter().zip(orders) {
        let port = port();
        let says = ["a", "b", "c"];
        let commands = says[..n].iter().map(|letter| command("say", port, letter)).collect();
        let mut rig = Rig::new(tcp(port), Options { commands, ..Options::default() });
        for order in orders {
            let clients: Vec<_> = (0..n).map(|it| rig.accept(it).unwrap().unwrap()).collect();
            assert_eq!(rig.accept(n).unwrap(), None);
            for (client, letter) in clients.into_iter().zip(says) {
                assert_eq!(rig.received(client), letter);
                order.iter().fold(client, |at, &byte| rig.send(at, &[byte]).unwrap());
            }
        }
        let count = (n * orders.len()) as u64;
        assert_eq!(rig.counts(), (count, count));
        assert_eq!(rig.peers.statistics().starts, count);
    }
}

/// The same with the linear cache: it says where, what was expected and what came.
#[test]
fn the_linear_cache_refuses_the_chat_server() {
    let port = port();
    let commands = vec![command("say", port, "a")];
    let cache = Cache::Linear;
    let mut rig = Rig::new(tcp(port), Options { commands, cache, ..Options::default() });
    let client = rig.accept(0).unwrap().unwrap();
    let at = rig.send(client, b"1").unwrap();
    rig.send(at, b"22").unwrap();
    assert!(rig.send(client, b"122").is_ok());
    let refusal = message(rig.send(client, b"123"));
    assert!(refusal.contains("say") && refusal.contains("after 2 bytes"), "{refusal}");
    assert!(refusal.contains("\"2\" before and \"3\" now"), "{refusal}");
}

#[test]
fn a_second_connection_of_a_client() {
    let port = port();
    let commands = vec![command("twice", port, "")];
    let mut rig = Rig::new(tcp(port), Options { commands, ..Options::default() });
    let error = rig.accept(0).unwrap_err().to_string();
    assert!(error.contains("second connection"), "{error}");
}

#[test]
fn a_peer_that_answers_differently() {
    let mut rig = Rig::with("different", Options::default());
    let root = rig.connect(0).unwrap();
    let at = rig.send(root, b"x").unwrap();
    let _ = rig.send(at, b"y").unwrap();
    // Another branch after `x` needs another connection, and the answer to `x` is another.
    let error = message(rig.send(at, b"z"));
    assert!(error.contains("\"1\" before, \"2\" now"), "{error}");
    let mut rig = Rig::with("different", Options::default());
    let root = rig.connect(0).unwrap();
    rig.send(root, b"x").unwrap();
    let error = rig.peers.verify(&rig.memory).unwrap_err().to_string();
    assert!(error.contains("connection 1 to 127.0.0.1"), "{error}");
}

#[test]
fn peers_that_fail() {
    let talk = |role: &str, options: Options| {
        let mut rig = Rig::with(role, options);
        let root = rig.connect(0)?;
        rig.send(root, b"x")
    };
    let patient = || Options { max_answer: 1 << 16, ..Options::default() };
    let expected = [
        ("crash", patient(), "was ended by signal 6 (it printed: no such letter)"),
        ("flood", patient(), "more than 65536 bytes"),
        ("deaf", patient(), "does not listen on"),
        ("broken", patient(), "ended with exit code 3 (it printed: no configuration)"),
        ("asleep", impatient(), "does not listen on"),
        ("spin", impatient(), "still runs"),
    ];
    for (role, options, part) in expected {
        let error = message(talk(role, options));
        assert!(error.contains(part), "{role}: {error}");
    }
    let missing = Options { commands: vec!["/no/such/peer".into()], ..impatient() };
    let error = message(Rig::new(tcp(port()), missing).connect(0));
    assert!(error.contains("no such command"), "{error}");
    let quotes = Options { commands: vec!["peer 'x".into()], ..impatient() };
    assert!(Peers::new(quotes).unwrap_err().to_string().contains("quotes"));
    let far = Address::Tcp(SocketAddr::from(([192, 0, 2, 1], 80)));
    let error = message(Rig::new(far, impatient()).connect(0));
    assert!(error.contains("not on this machine"), "{error}");
}

/// A server that sleeps before it answers is one that answers after some time.
#[test]
fn an_answer_that_takes_its_time() {
    let mut rig = Rig::with("slow", Options::default());
    let root = rig.connect(0).unwrap();
    let at = rig.send(root, b"x").unwrap();
    let at = rig.say_nothing(at);
    assert_eq!(rig.received(at), "x");
}

/// Nobody listens there, and the peer listens elsewhere: that is an answer, too.
#[test]
fn a_refused_connection_is_remembered() {
    let mut rig = Rig::with("alphabet", Options::default());
    rig.connect(0).unwrap();
    let (name, nobody) = (Name([3; 4]), tcp(port()));
    for _ in 0..2 {
        let opening = rig.peers.connect(&rig.memory, name, &nobody).unwrap();
        assert_eq!(opening, Opening::Refused);
    }
    assert_eq!(rig.memory.find(name), Some(Opening::Refused));
    assert!(rig.peers.assumptions().next().unwrap().contains("nobody listens"));
}

/// With a bound of one open connection, everything is still answered, by repeating what was sent.
#[test]
fn a_bound_on_open_connections() {
    let options = Options { max_open: 1, ..Options::default() };
    let mut rig = Rig::with("alphabet", options);
    let roots = [rig.connect(0).unwrap(), rig.connect(1).unwrap()];
    let mut positions = roots;
    for _ in 0..3 {
        for at in &mut positions {
            *at = rig.send(*at, b"0").unwrap();
        }
    }
    assert_eq!(positions.map(|at| rig.received(at)), ["aaa", "aaa"]);
    assert_eq!(rig.peers.connections.len(), 1);
    let Statistics { connections, misses, replayed, starts } = rig.peers.statistics();
    assert_eq!((connections, misses, replayed, starts), (8, 12, 6, 1));
}

/// A server that serves one client at a time is given one at a time.
#[test]
fn a_server_without_threads() {
    let mut rig = Rig::with("sequential", Options::default());
    let first = rig.connect(0).unwrap();
    let first = rig.send(first, b"1").unwrap();
    let second = rig.connect(1).unwrap();
    let second = rig.send(second, b"2").unwrap();
    let first = rig.send(first, b"3").unwrap();
    assert_eq!([rig.received(first), rig.received(second)], ["bd", "c"]);
    assert_eq!(rig.counts().0, 3);
}

/// A server that ends after one connection is started again for the next.
#[test]
fn a_server_for_one_connection() {
    let mut rig = Rig::with("once", Options::default());
    for connection in 0..3 {
        let root = rig.connect(connection).unwrap();
        let at = rig.send(root, b"x").unwrap();
        let end = rig.peers.send(&rig.memory, at, Sent::End).unwrap();
        assert_eq!((rig.received(end), rig.memory.peer_end(end)), ("x".into(), End::Closed));
    }
    assert_eq!(rig.peers.statistics().starts, 3);
}

/// Without a cache, every execution starts its peers and asks for everything.
#[test]
fn without_a_cache() {
    let options = Options { cache: Cache::None, ..Options::default() };
    let mut rig = Rig::with("different", options);
    for _execution in 0..3 {
        rig.peers.begin_execution(&rig.memory);
        let root = rig.connect(0).unwrap();
        let at = rig.send(root, b"x").unwrap();
        assert_eq!(rig.received(at), "1");
    }
    let Statistics { connections, misses, starts, .. } = rig.peers.statistics();
    assert_eq!((connections, misses, starts), (3, 3, 3));
}

/// A process that ends when the test does, however that is.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A server that somebody else started is found and looked at; one that cannot be looked at is
/// given time, and that is said.
#[test]
fn a_server_that_runs_already() {
    let port = port();
    let mut server = Command::new(program());
    let server = server.args(["slow", &port.to_string()]).stdout(Stdio::piped()).spawn();
    let mut server = Ended(server.expect("it starts"));
    server.0.stdout.as_mut().unwrap().read_exact(&mut [0; 6]).expect("it gets ready");
    let options = Options { quiet: Duration::from_millis(200), ..Options::default() };
    let mut rig = Rig::new(tcp(port), options);
    let root = rig.connect(0).unwrap();
    let at = rig.send(root, b"x").unwrap();
    let at = rig.say_nothing(at);
    let assumptions: Vec<String> = rig.peers.assumptions().collect();
    assert_eq!((rig.received(at).as_str(), assumptions), ("x", vec![]), "{:?}", rig.peers.hosts);
    rig.peers.hosts.insert(tcp(port), super::Host::Hidden);
    let at = rig.send(at, b"y").unwrap();
    assert_eq!(rig.received(at), "xy");
    let assumption = rig.peers.assumptions().next().unwrap();
    assert!(assumption.contains("silent for 200ms"), "{assumption}");
}

fn processes_of(port: u16) -> Vec<String> {
    let wanted = format!("\0{port}\0");
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|it| std::fs::read(it.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).into_owned());
    lines.filter(|line| line.contains(&wanted)).collect()
}

/// Peers end with us, whatever they do to get away.
#[test]
fn nothing_is_left_behind() {
    for role in ["alphabet", "daemon"] {
        let port = port();
        let commands = vec![command(role, port, "x")];
        let mut rig = Rig::new(tcp(port), Options { commands, ..Options::default() });
        let root = rig.connect(0).unwrap();
        let at = rig.send(root, b"1").unwrap();
        assert_eq!(rig.received(at), "b");
        assert!(!processes_of(port).is_empty());
        drop(rig);
        assert_eq!(processes_of(port), Vec::<String>::new());
    }
}
