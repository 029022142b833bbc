//! Models explored by several processes: against one process, with faults, with wrong host files.

use serde_json::Value;
use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

const EVERYPATH: &str = env!("CARGO_BIN_EXE_everypath");
const SEARCH: &str = "model aodv --topology ring --nodes 4 --max-depth 6";
const BUG: &str = "model aodv --bug delete-route --max-depth 9";

fn everypath(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(EVERYPATH);
    command.args(arguments.split(' ')).current_dir(folder).stdin(Stdio::null());
    for name in ["SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"] {
        command.env_remove(name);
    }
    command
}

fn result(output: &Output) -> (i32, Value) {
    let mut result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {output:?}"));
    result["stats"]["seconds"] = Value::Null;
    result["stats"]["peak_rss_bytes"] = Value::Null;
    (output.status.code().unwrap(), result)
}

fn run(folder: &Path, arguments: &str) -> (i32, Value) {
    result(&everypath(folder, &format!("{arguments} --json - --quiet")).output().unwrap())
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A host file with addresses on this machine that nobody has.
fn host_file(folder: &TempDir, count: usize) -> Vec<String> {
    let listeners: Vec<_> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let address = |listener: &TcpListener| listener.local_addr().unwrap().to_string();
    let hosts: Vec<String> = listeners.iter().map(address).collect();
    fs::write(folder.path().join("hosts"), hosts.join("\n")).unwrap();
    hosts
}

fn start(folder: &TempDir, arguments: &str, process: usize) -> Child {
    let arguments = format!("{arguments} --hosts hosts --process {process} --threads 1");
    let mut command = everypath(folder.path(), &arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn any_number_of_processes_counts_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for search in [SEARCH, "model arq --keep-going --bug unchecked-ack --max-depth 9"] {
        let (code, one) = run(folder.path(), &format!("{search} --visited hash"));
        for processes in ["1 --threads 1", "2 --threads 1", "3 --threads 2"] {
            let several = run(folder.path(), &format!("{search} --processes {processes}"));
            assert_eq!(several.0, code, "{search}: {}", several.1);
            for part in ["verdict", "coverage", "stats", "violations", "event_counts"] {
                assert_eq!(several.1[part], one[part], "{search} --processes {processes}: {part}");
            }
            assert_eq!(several.1["violation"]["depth"], one["violation"]["depth"]);
        }
    }
}

#[test]
fn a_counterexample_is_a_shortest_one_and_the_same_for_any_number_of_processes() {
    let folder = tempfile::tempdir().unwrap();
    let (_, one) = run(folder.path(), &format!("{BUG} --visited hash"));
    let mut traces = Vec::new();
    for processes in ["1 --threads 1", "1 --threads 3", "3 --threads 1"] {
        let (code, several) = run(folder.path(), &format!("{BUG} --processes {processes}"));
        assert_eq!((code, &several["violation"]["depth"]), (1, &one["violation"]["depth"]));
        assert_eq!(several["violation"]["property"], one["violation"]["property"]);
        let replayed = everypath(folder.path(), "replay everypath-trace.json").output().unwrap();
        assert_eq!(replayed.status.code(), Some(1), "{replayed:?}");
        traces.push(fs::read(folder.path().join("everypath-trace.json")).unwrap());
    }
    assert!(traces.iter().all(|trace| *trace == traces[0]));
}

#[test]
fn processes_of_a_host_file_search_together() {
    let folder = tempfile::tempdir().unwrap();
    let (code, one) = run(folder.path(), &format!("{SEARCH} --visited hash"));
    host_file(&folder, 2);
    let search = format!("{SEARCH} --json - --quiet");
    // As Slurm starts them; what comes later is waited for.
    let mut second = everypath(folder.path(), &format!("{search} --hosts hosts --threads 1"));
    let second = second.env("SLURM_PROCID", "1").stdout(Stdio::piped()).spawn().unwrap();
    let first = result(&start(&folder, &search, 0).wait_with_output().unwrap());
    assert_eq!((first.0, &first.1["stats"]), (code, &one["stats"]));
    let second = second.wait_with_output().unwrap();
    assert_eq!((second.status.code(), second.stdout.as_slice()), (Some(code), &b""[..]));
}

/// Neither a wrong verdict nor a hang.
#[test]
fn a_process_that_is_killed_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for killed in [0, 1] {
        host_file(&folder, 2);
        let search = SEARCH.replace("depth 6", "depth 40");
        let mut processes = [0, 1].map(|process| start(&folder, &search, process));
        // Both are at work when both have taken some time of the processor.
        for process in &processes {
            while ticks(process.id()) < 20 {
                std::thread::yield_now();
            }
        }
        processes[killed].kill().unwrap();
        let [first, second] = processes.map(|process| process.wait_with_output().unwrap());
        let left = if killed == 0 { second } else { first };
        assert_eq!(left.status.code(), Some(3), "{left:?}");
        if killed == 1 {
            let text = String::from_utf8_lossy(&left.stdout);
            assert!(text.starts_with("INCONCLUSIVE: process 1 at 127.0.0.1:"), "{text}");
            assert!(text.contains("is gone: "), "{text}");
        }
    }
}

/// A host that is stopped for a while only makes the search take longer.
#[test]
fn a_process_that_is_slow_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let search = SEARCH.replace("depth 6", "depth 7");
    let (code, one) = run(folder.path(), &format!("{search} --visited hash"));
    host_file(&folder, 2);
    let search = format!("{search} --json - --quiet");
    let [first, second] = [0, 1].map(|process| start(&folder, &search, process));
    while progress(first.id()).is_none_or(|states| states < 1000) {
        std::thread::yield_now();
    }
    signal(&second, "-STOP");
    // The first one waits for it at the end of a level.
    let mut seen = progress(first.id());
    loop {
        let now = progress(first.id());
        if now.is_none() || now == seen {
            break;
        }
        seen = now;
    }
    signal(&second, "-CONT");
    let first = result(&first.wait_with_output().unwrap());
    assert_eq!((first.0, &first.1["stats"]), (code, &one["stats"]));
    assert_eq!(second.wait_with_output().unwrap().status.code(), Some(code));
}

/// A host that is not heard of any more, as when its network is gone, ends the search with its name.
#[test]
fn a_process_that_has_vanished_is_named() {
    let folder = tempfile::tempdir().unwrap();
    host_file(&folder, 2);
    let search = format!("{} --host-timeout 2", SEARCH.replace("depth 6", "depth 40"));
    let [first, mut second] = [0, 1].map(|process| start(&folder, &search, process));
    while progress(first.id()).is_none_or(|states| states < 1000) {
        std::thread::yield_now();
    }
    signal(&second, "-STOP");
    let first = first.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&first.stdout);
    assert_eq!(first.status.code(), Some(3), "{first:?}");
    assert!(text.starts_with("INCONCLUSIVE: process 1 at 127.0.0.1:"), "{text}");
    assert!(text.contains("is gone: nothing is heard of it any more"), "{text}");
    second.kill().unwrap();
    second.wait().unwrap();
}

fn signal(process: &Child, name: &str) {
    assert!(
        Command::new("kill").args([name, &process.id().to_string()]).status().unwrap().success()
    );
}

/// How many states a process says that all have, to those who ask it for its progress.
fn progress(id: u32) -> Option<u64> {
    let address = SocketAddr::from_abstract_name(format!("everypath-progress-{id}")).unwrap();
    let mut line = String::new();
    UnixStream::connect_addr(&address).ok()?.read_to_string(&mut line).ok()?;
    let line: Value = serde_json::from_str(&line).ok()?;
    line["states"].as_u64()
}

/// One line for a search, however many processes make it: it has the states of all.
#[test]
fn progress_is_that_of_all_processes() {
    let folder = tempfile::tempdir().unwrap();
    let search = SEARCH.replace("depth 6", "depth 40");
    let mut command = everypath(folder.path(), &format!("{search} --processes 2 --threads 1"));
    let process = command.env("TMPDIR", folder.path()).stdout(Stdio::piped()).spawn().unwrap();
    while progress(process.id()).is_none_or(|states| states < 1000) {
        std::thread::yield_now();
    }
    let names = fs::read_to_string("/proc/net/unix").unwrap();
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", process.id()));
    for child in children.unwrap().split_whitespace() {
        assert!(!names.contains(&format!("@everypath-progress-{child}")), "{child}: {names}");
    }
    signal(&process, "-INT");
    assert_eq!(process.wait_with_output().unwrap().status.code(), Some(3));
}

/// How much time of the processor a process has taken.
fn ticks(id: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(") ").unwrap();
    rest.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

/// Processes that were started by another end with it.
#[test]
fn nothing_is_left_of_a_search_that_is_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let search = SEARCH.replace("depth 6", "depth 40");
    let mut command = everypath(folder.path(), &format!("{search} --processes 3 --threads 1"));
    let process = command.env("TMPDIR", folder.path()).stdout(Stdio::piped()).spawn().unwrap();
    while ticks(process.id()) < 20 {
        std::thread::yield_now();
    }
    let mark = folder.path().display().to_string();
    assert_eq!(those_with(&mark).len(), 2);
    let id = process.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("INCONCLUSIVE: interrupted"), "{text}");
    assert_eq!(those_with(&mark), Vec::<String>::new());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// The processes with some text in their command lines.
fn those_with(text: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let lines = entries.filter_map(|path| fs::read(path.join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(text)).collect()
}

#[test]
fn processes_that_search_something_else_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (other, why) in [
        (SEARCH.replace("ring", "chain"), "links: "),
        (SEARCH.replace("depth 6", "depth 7"), "depth bound: 7"),
        (SEARCH.replace("aodv", "aodv --bug delete-route"), "bugs: delete-route"),
    ] {
        host_file(&folder, 2);
        let (first, second) = (start(&folder, SEARCH, 0), start(&folder, &other, 1));
        let [first, second] = [first, second].map(|process| process.wait_with_output().unwrap());
        assert_eq!((first.status.code(), second.status.code()), (Some(2), Some(2)));
        let said = said(&first);
        assert!(said.contains("process 1 searches something else: its "), "{said}");
        assert!(said.contains(why), "{said}");
    }
}

/// Another build may have another model, other threads make other partitions, other host files other
/// processes.
#[test]
fn processes_that_are_not_alike_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("another");
    // Written by another process: nobody who is started at the same time holds it open.
    let script = "cp \"$0\" another && echo another build >> another";
    let mut shell = Command::new("sh");
    assert!(shell.args(["-c", script, EVERYPATH]).current_dir(&folder).status().unwrap().success());
    for (other, options, why) in [
        (program.as_path(), "--hosts hosts --threads 1", "program: build "),
        (EVERYPATH.as_ref(), "--hosts hosts --threads 2", "threads of each process: 2"),
        (EVERYPATH.as_ref(), "--hosts more --threads 1", "processes: "),
    ] {
        let hosts = host_file(&folder, 3);
        fs::write(folder.path().join("hosts"), hosts[..2].join("\n")).unwrap();
        fs::write(folder.path().join("more"), hosts.join("\n")).unwrap();
        let first = start(&folder, SEARCH, 0);
        let second = Command::new(other)
            .args(SEARCH.split(' ').chain(options.split(' ')).chain(["--process", "1"]))
            .current_dir(folder.path())
            .stderr(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let [first, second] = [first, second].map(|process| process.wait_with_output().unwrap());
        assert_eq!((first.status.code(), second.status.code()), (Some(2), Some(2)), "{second:?}");
        let said = said(&first);
        assert!(said.contains("process 1 searches something else: its "), "{said}");
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn wrong_host_files_and_hosts_that_are_not_there_are_said_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = host_file(&folder, 2);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    fs::write(folder.path().join("twice"), "a:1\nb:1\na:1\n").unwrap();
    fs::write(folder.path().join("words"), "a host\n").unwrap();
    // No name has an empty part, so nobody is asked for it.
    fs::write(folder.path().join("unknown"), format!("{}\nno..where:2101\n", hosts[0])).unwrap();
    fs::write(folder.path().join("taken"), format!("{taken}\n{}\n", hosts[0])).unwrap();
    let gone = format!("process 0 at {} could not be reached within 0.2 seconds", hosts[0]);
    for (options, why) in [
        ("--hosts nowhere --process 0", "cannot read nowhere"),
        ("--hosts twice --process 0", "lines 1 and 3 are both a:1"),
        ("--hosts words --process 0", "line 1: write host:port, not a host"),
        ("--hosts hosts", "needs --process"),
        ("--hosts hosts --process 2", "there are 2 processes, numbered from 0"),
        ("--hosts hosts --process 0 --processes 3", "hosts names 2 hosts"),
        ("--hosts hosts --process 1 --host-timeout 0.2", gone.as_str()),
        ("--hosts hosts --process 0 --host-timeout 0.2", "process 1 at"),
        ("--hosts taken --process 0", "cannot listen at"),
        ("--hosts unknown --process 0", "process 1: no..where:2101 is not known: "),
        ("--hosts unknown --process 1", "process 1: no..where:2101 is not known: "),
        ("--hosts . --process 0", "cannot read ."),
        ("--process 1", "--hosts"),
        ("--processes 0", "0"),
        ("--processes 2 --strategy dfs", "a --strategy other than bfs"),
        ("--processes 2 --visited relation", "leave --visited out"),
        ("--processes 2 --checkpoint states", "--checkpoint"),
        ("--host-timeout 5", "--host-timeout needs --processes or --hosts"),
    ] {
        let output = everypath(folder.path(), &format!("model arq {options}")).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{options}: {output:?}");
        assert!(said(&output).contains(why), "{options}: {}", said(&output));
    }
}
