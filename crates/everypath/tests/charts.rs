//! Counterexamples of programs that use the network are drawn: who sent what to whom, and what became
//! of it.

use crate::support::Programs;
use std::fs;
use std::net::UdpSocket;

/// Runs a command that says something.
fn said(programs: &Programs, command: &str) -> String {
    let output = programs.everypath(command);
    assert_eq!(output.status.code(), Some(0), "{command}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The lines of the chart of a counterexample.
fn chart(programs: &Programs, options: &str) -> Vec<String> {
    let (code, result) = programs.check(options);
    assert_eq!(code, 1, "{options}: {result}");
    let shown = said(programs, "show everypath-trace.json");
    let chart = shown.split("Sent and received:\n").nth(1).expect("there is a chart");
    chart.lines().take_while(|line| !line.is_empty()).map(Into::into).collect()
}

#[test]
fn what_the_network_did_to_datagrams_is_drawn() {
    let programs = Programs::new(&["../crates/everypath/tests/programs/packets.c"]);
    for (seen, note) in
        [("1", "lost"), ("001", "again: sent in line 1"), ("10", "late: sent in line 1")]
    {
        let oracle = format!("--oracle 'read -r seen; [ \"$seen\" != {seen} ]'");
        let network = "--udp-multiply 1,0,2 --udp-window 2";
        let chart = chart(&programs, &format!("{oracle} {network} -- ./packets 2"));
        let noted: Vec<_> = chart.iter().filter(|line| line.contains(note)).collect();
        assert!(noted.len() == 1 && noted[0].contains("\"0\""), "{seen}: {chart:#?}");
    }
}

/// The seeded mistake of the papers: a copy of a packet becomes a part of another file. The size of a
/// file comes over a connection.
#[test]
fn the_copy_that_breaks_a_file_transfer_is_drawn() {
    let programs = Programs::new(&["udp/file_server.rs", "udp/file_client.rs"]);
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let peer = format!("--time quiescent --udp-budget dup=1 --peer './file_server {port}'");
    let chart = chart(&programs, &format!("{peer} -- ./file_client {port} 3 buggy"));
    let server = format!("file_server :{port}");
    assert!(chart[0].contains("file_client :") && chart[0].contains(&server), "{chart:#?}");
    let has = |what: &str| chart.iter().any(|line| line.contains(what));
    assert!(has("\"\\x02\"") && has("again: sent in line"), "{chart:#?}");
    let lifelines = chart[0].matches(" :").count();
    assert_eq!(lifelines, 4, "a socket for datagrams, two connections, the server: {chart:#?}");
    let (svg, page) = (programs.folder.path().join("chart.svg"), "chart.html");
    let shown = said(&programs, "show everypath-trace.json --svg chart.svg --html chart.html");
    assert_eq!(shown, "", "files are not printed");
    let svg = fs::read_to_string(svg).unwrap();
    assert!(
        svg.contains("[fault: duplication]") && svg.contains("stroke-dasharray=\"6 4\""),
        "{svg}"
    );
    let page = fs::read_to_string(programs.folder.path().join(page)).unwrap();
    assert!(
        page.contains("fault\":\"duplication") && page.contains("Sent and received:"),
        "{page}"
    );
    let mermaid = said(&programs, "show everypath-trace.json --mermaid");
    assert!(mermaid.contains("-->>p") && mermaid.contains("(duplicate: sent in"), "{mermaid}");
    let dot = said(&programs, "show everypath-trace.json --dot");
    assert!(dot.contains("color=orange"), "{dot}");
    let text = said(&programs, "show everypath-trace.json --text");
    fs::remove_file(programs.folder.path().join("chart.svg")).unwrap();
    let all = said(&programs, "show everypath-trace.json --dot --svg chart.svg --text --mermaid");
    assert_eq!(all, [text, mermaid, dot].join("\n"), "several forms are printed in one order");
    assert_eq!(fs::read_to_string(programs.folder.path().join("chart.svg")).unwrap(), svg);
}

#[test]
fn programs_of_a_closed_system_are_lifelines() {
    let programs = Programs::new(&["udp/arq.rs"]);
    let chart =
        chart(&programs, "--exit-code 9 --with './arq receive 7000 1 0' -- ./arq send 7000 1 0");
    assert!(chart[0].contains("arq 1 :") && chart[0].contains("arq 2 :7000"), "{chart:#?}");
    assert!(chart.iter().any(|line| line.contains("\"\\x00\\x00\"")), "{chart:#?}");
}

#[test]
fn a_file_is_for_one_form() {
    let programs = Programs::new(&["philosophers.c"]);
    assert_eq!(programs.check("-- ./philosophers").0, 1);
    for forms in ["--svg a --html a", "--svg a --html -", "--svg -"] {
        let output = programs.everypath(&format!("show everypath-trace.json {forms}"));
        assert_eq!(output.status.code(), Some(2), "{forms}: {output:?}");
        assert!(!programs.folder.path().join("a").exists(), "{forms}: nothing was written");
    }
}
