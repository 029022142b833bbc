//! The server, asked by hand and by a browser.

use super::*;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::oneshot;
use xtask::browser::Browser;

/// A counter that must not become two.
struct Counter;

impl Models for Counter {
    fn list(&self) -> Value {
        json!([{ "name": "counter", "about": "counts, and must never come to two, however often", "bugs": ["twice"] }])
    }

    fn state(&self, model: &str, bugs: &[String], steps: &[usize]) -> Result<Value, String> {
        if model != "counter" {
            return Err(format!("there is no model {model}"));
        }
        let by = if bugs.is_empty() { 1 } else { 2 };
        let count = by * steps.len();
        let violated = if count == 2 { json!([["small", "it is two"]]) } else { json!([]) };
        let state = json!([["counter", format!("n={count}")], ["other", "<b>same</b>"]]);
        Ok(json!({ "state": state, "enabled": ["increment", "reset"], "violated": violated }))
    }
}

struct Running {
    access: Access,
    folder: TempDir,
    end: Option<oneshot::Sender<()>>,
    server: Option<thread::JoinHandle<()>>,
}

impl Running {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let trace = everypath_trace::Trace {
            violation: everypath_trace::Violation {
                property: "deadlock".into(),
                message: "stuck <script>window.hacked=1</script>".into(),
                ..Default::default()
            },
            steps: vec![everypath_trace::TraceStep { actor: "main".into(), ..Default::default() }],
            ..Default::default()
        };
        let bytes = everypath_trace::file::to_bytes(&trace);
        fs::write(folder.path().join("trace.json"), &bytes).unwrap();
        fs::write(folder.path().join("cut.json"), &bytes[..bytes.len() / 2]).unwrap();
        let result = r#"{"tool": "everypath", "target": "./bank", "verdict": "holds"}"#;
        fs::write(folder.path().join("result.json"), result).unwrap();
        let listener = Site::listen(0).unwrap();
        let access = Access::new(listener.local_addr().unwrap().port()).unwrap();
        let site = Site {
            access: access.clone(),
            named: vec![folder.path().into()],
            prefix: format!("everypath-nobody-{}-", std::process::id()),
            replay: "everypath replay".into(),
            models: Box::new(Counter),
        };
        let (end, ended) = oneshot::channel();
        let server = thread::spawn(move || {
            let until = async {
                let _ = ended.await;
            };
            site.serve_until(listener, until).unwrap();
        });
        Running { access, folder, end: Some(end), server: Some(server) }
    }

    /// The status line and the body of an answer.
    fn ask(&self, path: &str, headers: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.access.port)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.into()))
    }

    fn own_host(&self) -> String {
        format!("Host: 127.0.0.1:{}\r\n", self.access.port)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.end.take());
        self.server.take().unwrap().join().unwrap();
    }
}

#[test]
fn only_the_page_itself_may_ask() {
    let running = Running::start();
    let (token, host) = (&running.access.token, running.own_host());
    let list = format!("/{token}/api/results");
    assert_eq!(running.ask(&list, &host).0, 200);
    assert_eq!(running.ask("/0123/api/results", &host).0, 403, "without the token");
    assert_eq!(running.ask("/", &host).0, 403);
    let rebound = format!("Host: evil.example:{}\r\n", running.access.port);
    assert_eq!(running.ask(&list, &rebound).0, 403, "by a name that was rebound");
    let foreign = format!("{host}Origin: http://evil.example\r\n");
    assert_eq!(running.ask(&list, &foreign).0, 403, "from a page of others");
    let doubled = format!("{host}{rebound}");
    assert_ne!(running.ask(&list, &doubled).0, 200, "two hosts");
}

#[test]
fn results_are_listed_and_only_those_are_opened() {
    let running = Running::start();
    let (token, host) = (&running.access.token, running.own_host());
    let list = || -> Vec<(String, String)> {
        let (_, list) = running.ask(&format!("/{token}/api/results"), &host);
        let word = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let listed: Vec<Value> = serde_json::from_str(&list).unwrap();
        listed.iter().map(|it| (word(&it["kind"]), word(&it["reason"]))).collect()
    };
    let has = |kind: &str| list().iter().filter(|(known, _)| known == kind).count();
    assert_eq!([has("result"), has("trace"), has("unreadable")], [1, 1, 1]);
    let reasons = list().into_iter().map(|(_, reason)| reason).collect::<String>();
    assert!(reasons.contains("cut off"), "{reasons}");
    // What has changed is read again, and stands first.
    let newest = running.folder.path().join("result.json");
    let later = fs::metadata(&newest).unwrap().modified().unwrap() + Duration::from_secs(9);
    fs::write(&newest, r#"{"tool": "everypath", "reason": "changed\u001b"}"#).unwrap();
    File::options().append(true).open(&newest).unwrap().set_modified(later).unwrap();
    assert_eq!(list()[0], ("result".into(), "changed\\u{1b}".into()));
    let open = |file: &str| running.ask(&format!("/{token}/trace?file={file}"), &host).0;
    let folder = running.folder.path().display();
    assert_eq!(open(&format!("{folder}/trace.json")), 200);
    assert_eq!(open(&format!("{folder}/cut.json")), 422);
    assert_eq!(open("/etc/passwd"), 404);
    assert_eq!(open(&format!("{folder}/../../etc/passwd")), 404);
}

#[test]
fn a_browser_opens_a_trace_and_steps_through_a_model() {
    let running = Running::start();
    let Some(mut browser) = Browser::start().unwrap() else { return };
    for size in [(1280, 900), (390, 844)] {
        browser.resize(size, false).unwrap();
        browser.open(&running.access.address()).unwrap();
        browser.wait_until("document.querySelectorAll('#enabled button').length === 2").unwrap();
        browser.click("#enabled button").unwrap();
        browser.wait_until("document.getElementById('state').innerText.includes('n=1')").unwrap();
        browser.click("#enabled button").unwrap();
        browser
            .wait_until("document.getElementById('violated').innerText.includes('two')")
            .unwrap();
        assert_eq!(browser.text("#taken").unwrap().lines().count(), 2);
        assert!(browser.text("#state").unwrap().contains("<b>same</b>"), "it is text");
        browser.click("#back").unwrap();
        browser.wait_until("document.getElementById('state').innerText.includes('n=1')").unwrap();
        browser.wait_until("document.querySelector('a.trace') !== null").unwrap();
        let width = browser.evaluate("document.documentElement.scrollWidth").unwrap();
        assert_eq!(width, size.0, "nothing is cut off");
        browser.click("a.trace").unwrap();
        browser.wait_until("document.getElementById('head') !== null").unwrap();
        assert!(browser.text("#head").unwrap().contains("stuck <script>"));
        assert_eq!(browser.evaluate("typeof window.hacked").unwrap(), "undefined");
        let own = format!("http://127.0.0.1:{}/", running.access.port);
        let others = browser.requests().iter().filter(|address| !address.starts_with(&own));
        assert_eq!(others.count(), 0);
    }
}
