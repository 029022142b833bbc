use super::*;
use everypath_trace::{Config, SearchRecord, Step, Target, TraceStep, Violation};

fn at(order: usize) -> Moment {
    Moment { order, step: 10 * (order + 1) }
}

fn party(process: &str, address: &str) -> Party {
    Party { process: process.into(), address: address.into() }
}

fn message(content: &str, sent: usize, arrivals: &[usize]) -> Message {
    Message {
        from: party("client", ":1"),
        to: party("server", ":2"),
        content: content.into(),
        length: content.len() as u64,
        kept: content.len() as u64,
        datagram: true,
        sent: at(sent),
        arrivals: arrivals.iter().map(|&order| at(order)).collect(),
        lost: false,
    }
}

fn answer(content: &str, sent: usize, arrivals: &[usize]) -> Message {
    let Message { from, to, .. } = message("", 0, &[]);
    Message { from: to, to: from, ..message(content, sent, arrivals) }
}

fn trace(messages: Vec<Message>) -> Trace {
    Trace {
        target: Target::Model { name: "m".into(), config: Config::new(1) },
        search: SearchRecord::default(),
        violation: Violation { property: "p".into(), message: "<b> & so".into() },
        initial: vec![],
        initial_fingerprint: String::new(),
        steps: vec![TraceStep {
            step: Step { actor: 1, event: 2, param: 3 },
            actor: "node".into(),
            event: "timeout".into(),
            text: "the timer; fires".into(),
            state: vec![],
            fingerprint: None,
            preempts: false,
        }],
        explanation: None,
        messages,
    }
}

fn everything() -> Chart {
    Chart::new(&trace(vec![
        message("plain", 0, &[1]),
        answer("back", 2, &[2]),
        Message { lost: true, ..message("lost", 3, &[]) },
        message("twice", 4, &[5, 8]),
        message("overtaken", 6, &[9]),
        message("fast", 7, &[7]),
        message("ignored", 10, &[]),
    ]))
}

#[test]
fn every_fate_can_be_told_from_the_text() {
    let expected = r#"line  step  client :1                                   server :2
   1    20  |----------------- "plain" ---------------->|
   2    30  |<----------------- "back" -----------------|
   3    40  |------------------ "lost" ----------------x|  lost
   4    60  |----------------- "twice" ---------------->|
   5    70  |--------------- "overtaken" --------------~|
   6    80  |------------------ "fast" ---------------->|
   7    90  |~---------------- "twice" ---------------->|  again: sent in line 4
   8   100  |~-------------- "overtaken" -------------->|  late: sent in line 5
   9   110  |---------------- "ignored" ---------------o|  not read
"#;
    assert_eq!(everything().text(usize::MAX), expected);
}

#[test]
fn only_the_last_rows_are_shown_if_there_are_many() {
    let text = everything().text(2);
    assert!(text.contains("… 7 earlier") && text.contains("ignored"), "{text}");
    assert!(!text.contains("twice"), "{text}");
}

#[test]
fn a_picture_slants_what_is_late_and_crosses_what_is_lost() {
    let chart = everything();
    let svg = chart.svg();
    let count = |what: &str| svg.matches(what).count();
    // Five messages arrive, one of them twice.
    assert_eq!(count("<polygon"), 6, "{svg}");
    // Two lifelines; what arrives, is lost or is ignored; the two strokes of a cross.
    assert_eq!(count("<line"), 2 + 8 + 2, "{svg}");
    assert!(svg.contains("lost&quot; lost") && svg.contains("twice&quot; again"), "{svg}");
    let line = |row: usize, other: usize| {
        let height = |row: usize| picture::tests::height_of(row);
        format!("y1=\"{}\" x2=\"320\" y2=\"{}\"", height(row), height(other))
    };
    assert!(svg.contains(&line(4, 7)), "overtaken goes down: {svg}");
    assert!(svg.contains(&line(0, 0)), "plain is level: {svg}");
}

#[test]
fn other_tools_are_told_the_same() {
    let mermaid = everything().mermaid();
    for line in [
        "    participant p0 as client :1",
        "    p0->>p1: 1. #34;plain#34;",
        "    p0-xp1: 3. #34;lost#34; (lost)",
        "    p0-->>p1: 7. #34;twice#34; (again: sent in 4)",
        "    p0->>p1: 8. #34;overtaken#34; (late: sent in 5)",
    ] {
        assert!(mermaid.lines().any(|found| found == line), "{line}\n{mermaid}");
    }
    let plantuml = everything().plantuml();
    for line in [
        "    participant \"client :1\" as p0",
        "    p0->p1: 1. <U+0022>plain<U+0022>",
        "    p0->x p1: 3. <U+0022>lost<U+0022> (lost)",
        "    p0-->p1: 7. <U+0022>twice<U+0022> (again: sent in 4)",
        "    p0->p1: 8. <U+0022>overtaken<U+0022> (late: sent in 5)",
    ] {
        assert!(plantuml.lines().any(|found| found == line), "{line}\n{plantuml}");
    }
    assert!(plantuml.starts_with("@startuml\n") && plantuml.ends_with("@enduml\n"), "{plantuml}");
    let dot = everything().dot();
    assert!(dot.contains(r#"e0_0 -> e1_0 [label="\"plain\"", style=solid];"#), "{dot}");
    assert!(dot.contains("style=dashed"), "{dot}");
}

#[test]
fn without_messages_the_steps_are_drawn() {
    let chart = Chart::new(&trace(vec![]));
    assert!(chart.svg().contains("the timer; fires"));
    assert!(chart.mermaid().contains("Note over p0: 1. the timer#59; fires"));
    assert!(chart.dot().contains("1. the timer; fires"));
    assert_eq!(Chart::of_messages(&trace(vec![])), None);
}

#[test]
fn long_messages_are_cut_and_counted() {
    let long = Message { length: 512, ..message(&"x".repeat(96), 0, &[1]) };
    let text = Chart::new(&trace(vec![long])).text(9);
    assert!(text.contains("xxxx…\" 512 bytes"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() < 80), "{text}");
    let escapes = Message { length: 512, ..message(&"\\x00".repeat(24), 0, &[1]) };
    let text = Chart::new(&trace(vec![escapes])).text(9);
    assert!(text.contains(r"\x00…"), "{text}");
}

#[test]
fn sockets_of_a_program_are_one_lifeline_if_there_are_many() {
    let from = |port: usize| Message {
        from: party("client", &format!(":{port}")),
        ..message("a", 2 * port, &[2 * port + 1])
    };
    let few = Chart::new(&trace((0..5).map(from).collect()));
    assert_eq!(few.lifelines.len(), 6);
    let many = Chart::new(&trace((0..6).map(from).collect()));
    assert_eq!(many.lifelines, ["client", "server"]);
}

#[test]
fn a_page_holds_chart_and_words_and_no_markup_of_others() {
    let page = crate::html(&trace(vec![message("<script>", 0, &[1])]), "word <i> for word");
    assert!(page.contains("<svg") && page.contains("word &lt;i&gt; for word"), "{page}");
    assert!(page.contains("&lt;b&gt; &amp; so") && !page.contains("<script>"), "{page}");
}
