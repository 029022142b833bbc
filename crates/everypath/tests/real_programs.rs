//! Programs that nobody here wrote, against servers that nobody here wrote.

use crate::support::skip;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether all of these are installed; if not, says so, or fails where nothing may be left out.
#[expect(clippy::disallowed_methods, reason = "the caller says what may be left out")]
fn are_installed(tools: &[&str]) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let is_installed =
        |tool: &&&str| std::env::split_paths(&folders).any(|folder| folder.join(tool).is_file());
    let Some(missing) = tools.iter().find(|tool| !is_installed(tool)) else { return true };
    let message = format!("{missing} is not installed (apt-get install {missing})");
    skip(&message);
    false
}

/// Downloads a page by a program under control and compares it with `page.txt`; the exit code and
/// what was said.
fn download(folder: &Path, page: &str, port: u16, command: &[&str]) -> (Option<i32>, String) {
    let original = folder.join("page.txt");
    fs::write(&original, "every path\n".repeat(500)).unwrap();
    fs::write(folder.join("other.txt"), "another\n").unwrap();
    let server = format!("python3 -m http.server {port} --bind 127.0.0.1");
    let output = Command::new(env!("CARGO_BIN_EXE_everypath"))
        // A server that is too slow for all timeouts of a program is none of its faults.
        .args(["check", "--time", "quiescent", "--peer", &server, "--oracle"])
        .arg(format!("cmp copy.txt {}", original.display()))
        .arg("--")
        .args(command)
        .arg(format!("http://127.0.0.1:{port}/{page}"))
        .current_dir(folder)
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn downloads_are_equal_to_the_original() {
    if !are_installed(&["curl", "wget", "python3"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (port, command) in
        [(17_121, ["curl", "-s", "-o", "copy.txt"]), (17_122, ["wget", "-q", "-O", "copy.txt"])]
    {
        let (code, said) = download(folder, "page.txt", port, &command);
        assert!(code == Some(0) && said.starts_with("HOLDS (exhaustive)"), "{said}");
        assert!(said.contains("1 connection to peers"), "{said}");
    }
    // The oracle really looks.
    let curl = ["curl", "-s", "-o", "copy.txt"];
    let (code, said) = download(folder, "other.txt", 17_123, &curl);
    assert!(code == Some(1) && said.starts_with("VIOLATED: oracle"), "{said}");
}

/// Runs a command in a folder; the exit code and what was said.
fn everypath(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_everypath"));
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A file of `studies/`.
fn of_studies(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies").join(name)
}

/// Checks a scenario of `studies/`; the exit code and what was said.
fn study(name: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    everypath(folder.path(), &["check", &of_studies(name).to_string_lossy()])
}

/// A chart without the numbers of steps, which other versions of libc change.
fn without_steps(text: &str) -> Vec<String> {
    let parts =
        |line: &str| [line.get(..4), line.get(10..)].map(Option::unwrap_or_default).concat();
    text.lines().map(parts).collect()
}

/// Checks a scenario of `studies/datagrams` that is violated as the chart in its README shows it.
fn is_violated_as_drawn(scenario: &str) {
    let folder = tempfile::tempdir().unwrap();
    let scenario = of_studies("datagrams").join(scenario);
    let (code, said) = everypath(folder.path(), &["check", &scenario.to_string_lossy()]);
    assert!(code == Some(1) && said.starts_with("VIOLATED: oracle"), "{said}");
    let (_, shown) = everypath(folder.path(), &["show", "everypath-trace.json"]);
    let chart = shown.split("Sent and received:\n").nth(1).expect("there is a chart");
    let chart = without_steps(chart.split("\n\n").next().unwrap());
    let readme = fs::read_to_string(of_studies("datagrams/README.md")).unwrap();
    let readme = without_steps(&readme);
    assert!(readme.windows(chart.len()).any(|lines| lines == chart), "{chart:#?}");
}

#[test]
fn studies_of_downloads() {
    for (scenario, tool, expected) in [
        ("curl", "curl", "HOLDS (exhaustive)"),
        ("wget", "wget", "HOLDS (exhaustive)"),
        // It has threads, and libraries with functions that cannot be copied.
        ("axel", "axel", "HOLDS (exhaustive but for code that was not seen)"),
        ("axel-parts", "axel", "HOLDS (sampled)"),
    ] {
        if are_installed(&[tool, "python3"]) {
            let (code, said) = study(&format!("downloads/{scenario}.toml"));
            assert!(code == Some(0) && said.starts_with(expected), "{scenario}: {said}");
        }
    }
}

#[test]
fn studies_of_datagrams() {
    for (study, tool, server) in
        [("atftp", "atftp", "/usr/sbin/in.tftpd"), ("kdig", "kdig", "/usr/sbin/dnsmasq")]
    {
        if are_installed(&[tool, server]) {
            let (code, said) = self::study(&format!("datagrams/{study}.toml"));
            assert!(code == Some(0) && said.starts_with("HOLDS (exhaustive"), "{said}");
            assert!(!said.contains("\n1 execution\n"), "{said}");
        }
    }
}

/// Exit code 0, and a block is missing in what the server stored.
#[test]
fn a_duplicate_makes_curl_lose_a_block() {
    if are_installed(&["curl", "/usr/sbin/in.tftpd"]) {
        is_violated_as_drawn("curl.toml");
    }
}

/// The Sorcerer's Apprentice: one duplicate doubles all that follows.
#[test]
fn a_duplicate_makes_atftpd_send_everything_twice() {
    let unpacked = of_studies("datagrams/atftpd");
    if are_installed(&["tftp", &unpacked.to_string_lossy()]) {
        is_violated_as_drawn("atftpd.toml");
    }
}

#[test]
fn memcached_counts_right() {
    if !are_installed(&["memcached", "python3"]) {
        return;
    }
    let (code, said) = study("memcached/scenario.toml");
    assert!(code == Some(0) && said.starts_with("HOLDS (sampled)"), "{said}");
    assert!(!said.contains("found wrong"), "{said}");
}
