//! A browser that tests use as a person would: headless Chromium, driven by its DevTools protocol over
//! a pair of pipes.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// How the browser is called, in this order of preference.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A running browser with one page.
pub struct Browser {
    process: Child,
    commands: File,
    answers: BufReader<File>,
    session: String,
    next: u64,
    /// The addresses of everything that pages asked for.
    requests: Vec<String>,
    _folder: TempDir,
}

impl Browser {
    /// Starts the browser; none, after a line that says so, if there is none on this machine.
    ///
    /// # Panics
    ///
    /// If there is none and `EVERYPATH_REQUIRE_ALL` is set.
    pub fn start() -> Result<Option<Self>> {
        let is_there = |name: &&&str| {
            let found = Command::new("sh").args(["-c", &format!("command -v {name}")]).output();
            found.is_ok_and(|output| output.status.success())
        };
        let Some(name) = NAMES.iter().find(is_there) else {
            skip("no browser: install Debian's package chromium to run this test");
            return Ok(None);
        };
        Browser::launch(name).map(Some)
    }

    fn launch(name: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let (input, output) = (folder.path().join("in"), folder.path().join("out"));
        ensure!(Command::new("mkfifo").args([&input, &output]).status()?.success(), "no pipes");
        // A shell opens the descriptors that the browser reads and writes. Each end waits for the
        // other, so both sides open them in the same order.
        let script = format!(
            "exec {name} --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run \
             --disable-background-networking --disable-component-update --disable-extensions \
             --disable-dev-shm-usage --remote-debugging-pipe --user-data-dir=\"$0\" \
             3<\"$1\" 4>\"$2\""
        );
        let process = Command::new("sh")
            .args(["-c", &script])
            .args([folder.path(), input.as_path(), output.as_path()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let commands = OpenOptions::new().write(true).open(&input)?;
        let answers = BufReader::new(File::open(&output)?);
        let mut browser = Browser {
            process,
            commands,
            answers,
            session: String::new(),
            next: 0,
            requests: Vec::new(),
            _folder: folder,
        };
        let created = browser.ask("Target.createTarget", json!({ "url": "about:blank" }))?;
        let attach = json!({ "targetId": created["targetId"], "flatten": true });
        let attached = browser.ask("Target.attachToTarget", attach)?;
        browser.session = attached["sessionId"].as_str().context("a session")?.into();
        for domain in ["Page.enable", "Runtime.enable", "Network.enable"] {
            browser.ask(domain, json!({}))?;
        }
        Ok(browser)
    }

    /// Sends a command and waits for its answer.
    fn ask(&mut self, method: &str, parameters: Value) -> Result<Value> {
        self.next += 1;
        let mut command = json!({ "id": self.next, "method": method, "params": parameters });
        if !self.session.is_empty() {
            command["sessionId"] = json!(self.session);
        }
        self.commands.write_all(command.to_string().as_bytes())?;
        self.commands.write_all(&[0])?;
        loop {
            let message = self.message()?;
            if message["id"] != json!(self.next) {
                continue;
            }
            ensure!(message["error"].is_null(), "{method}: {}", message["error"]);
            return Ok(message["result"].clone());
        }
    }

    fn message(&mut self) -> Result<Value> {
        let mut bytes = Vec::new();
        self.answers.read_until(0, &mut bytes)?;
        ensure!(bytes.pop() == Some(0), "the browser has ended");
        let message: Value = serde_json::from_slice(&bytes)?;
        if message["method"] == "Network.requestWillBeSent"
            && let Some(address) = message["params"]["request"]["url"].as_str()
        {
            self.requests.push(address.into());
        }
        Ok(message)
    }

    /// Opens an address and waits until it is loaded.
    pub fn open(&mut self, address: &str) -> Result<()> {
        self.requests.clear();
        let opened = self.ask("Page.navigate", json!({ "url": address }))?;
        if let Some(error) = opened["errorText"].as_str() {
            bail!("{address}: {error}");
        }
        let loaded = "new Promise(done => document.readyState === 'complete' ? done(true) : \
                      addEventListener('load', () => done(true)))";
        self.evaluate(loaded).map(drop)
    }

    /// Opens a file.
    pub fn open_file(&mut self, path: &Path) -> Result<()> {
        self.open(&format!("file://{}", path.display()))
    }

    /// What an expression of the page's script is, promises awaited.
    pub fn evaluate(&mut self, expression: &str) -> Result<Value> {
        let parameters =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.ask("Runtime.evaluate", parameters)?;
        ensure!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {}",
            answer["exceptionDetails"]
        );
        Ok(answer["result"]["value"].take())
    }

    /// Waits until an expression is true, in whatever page is then open.
    pub fn wait_until(&mut self, expression: &str) -> Result<()> {
        let until = format!(
            "new Promise((done, fail) => {{ const end = Date.now() + 60000; (function look() {{ \
             if ({expression}) done(true); else if (Date.now() > end) fail('timed out'); \
             else setTimeout(look, 10); }})(); }})"
        );
        // A page that is left takes its promises along: the next one is asked again.
        let is_left = |error: &anyhow::Error| {
            let text = error.to_string();
            ["navigated", "context was destroyed", "Cannot find"].iter().any(|it| text.contains(it))
        };
        loop {
            match self.evaluate(&until) {
                Err(error) if is_left(&error) => {}
                answer => return answer.map(drop),
            }
        }
    }

    /// The text of the first element that a selector names, as a person sees it.
    pub fn text(&mut self, selector: &str) -> Result<String> {
        let quoted = json!(selector);
        let text = self.evaluate(&format!("document.querySelector({quoted}).innerText"))?;
        Ok(text.as_str().unwrap_or_default().into())
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str) -> Result<()> {
        let text = if key.chars().count() == 1 { key } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            self.ask(
                "Input.dispatchKeyEvent",
                json!({ "type": kind, "key": key, "text": text, "unmodifiedText": text }),
            )?;
        }
        Ok(())
    }

    /// Types into what has the focus.
    pub fn type_text(&mut self, text: &str) -> Result<()> {
        self.ask("Input.insertText", json!({ "text": text })).map(drop)
    }

    /// Clicks the first element that a selector names, if a person could: it is in view and nothing
    /// covers its middle. All in one go, since what loads meanwhile may move it.
    pub fn click(&mut self, selector: &str) -> Result<()> {
        let quoted = json!(selector);
        let hit = self.evaluate(&format!(
            "(() => {{ const it = document.querySelector({quoted}); \
             it.scrollIntoView({{block: 'nearest'}}); const box = it.getBoundingClientRect(); \
             const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2); \
             if (!it.contains(top)) return top ? top.outerHTML : 'nothing'; \
             setTimeout(() => it.click()); return true; }})()"
        ))?;
        ensure!(hit == json!(true), "{selector} is covered by {hit}");
        Ok(())
    }

    /// Makes the window so large, in pixels of the page, with a light or a dark scheme.
    pub fn resize(&mut self, (width, height): (u32, u32), is_dark: bool) -> Result<()> {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500
        });
        self.ask("Emulation.setDeviceMetricsOverride", size)?;
        let scheme = if is_dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.ask("Emulation.setEmulatedMedia", media).map(drop)
    }

    /// Writes what the window shows as PNG.
    pub fn screenshot(&mut self, path: &Path) -> Result<()> {
        let shot = self.ask("Page.captureScreenshot", json!({ "format": "png" }))?;
        let encoded = shot["data"].as_str().context("a picture")?;
        std::fs::write(path, decoded(encoded))?;
        Ok(())
    }

    /// The addresses of everything that was asked for since the page was opened.
    pub fn requests(&self) -> &[String] {
        &self.requests
    }
}

/// Bytes of their encoding as Base64.
fn decoded(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bits, mut count, mut bytes) = (0u32, 0, Vec::new());
    for value in text.bytes().filter_map(value) {
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    bytes
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.ask("Browser.close", json!({}));
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Says that a test is left out, and why, unless all are required.
///
/// # Panics
///
/// If `EVERYPATH_REQUIRE_ALL` is set.
#[expect(clippy::disallowed_methods, reason = "the caller says what may be left out")]
#[expect(clippy::print_stdout, reason = "what is left out must be seen")]
pub fn skip(reason: &str) {
    assert!(std::env::var_os("EVERYPATH_REQUIRE_ALL").is_none(), "{reason}");
    println!("skipped: {reason}");
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn base64_is_decoded() {
        assert_eq!(decoded("aGVsbG8="), b"hello");
        assert_eq!(decoded("AP+/"), [0, 255, 191]);
    }
}
