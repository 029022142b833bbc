use super::*;
use everypath_trace::{Config, SearchRecord, Step, Target, TraceStep, Violation};

fn at(order: usize) -> Moment {
    Moment { order, step: 10 * (order + 1) }
}

fn party(process: &str, address: &str) -> Party {
    Party { process: process.into(), address: address.into(), outside: false }
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
        violation: Violation {
            property: "p".into(),
            message: "<b> & so".into(),
            ..Violation::default()
        },
        steps: vec![TraceStep {
            step: Step { actor: 1, event: 2, param: 3 },
            actor: "node".into(),
            event: "timeout".into(),
            text: "the timer; fires".into(),
            ..TraceStep::default()
        }],
        messages,
        ..Trace::default()
    }
}

fn of_messages(trace: &Trace) -> Chart {
    Chart::of_messages(trace).expect("there are messages")
}

fn everything() -> Chart {
    of_messages(&trace(vec![
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

/// A reset connection, a crash: no message tells of them.
#[test]
fn faults_of_programs_stand_between_messages() {
    let messages = vec![message("a", 0, &[1]), answer("b", 2, &[3])];
    let step = trace(Vec::new()).steps.remove(0);
    let mut trace = Trace { steps: vec![step; 50], ..trace(messages) };
    trace.steps[24].fault = Some("connection reset".into());
    trace.steps[39].fault = Some("reordering".into());
    trace.steps[49].fault = Some("kill".into());
    let expected = r#"line  step  client :1                                   server :2
   1    20  |------------------- "a" ------------------>|
        25  |                                           |  connection reset (node)
   2    40  |<------------------ "b" -------------------|
        50  |                                           |  kill (node)
"#;
    assert_eq!(of_messages(&trace).text(9), expected);
    let last = of_messages(&trace).text(1);
    assert!(!last.contains("reset") && last.contains("kill"), "{last}");
}

#[test]
fn without_messages_there_is_no_chart() {
    assert_eq!(Chart::of_messages(&trace(vec![])), None);
}

#[test]
fn long_messages_are_cut_and_counted() {
    let long = Message { length: 512, ..message(&"x".repeat(96), 0, &[1]) };
    let text = of_messages(&trace(vec![long])).text(9);
    assert!(text.contains("xxxx…\" 512 bytes"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() < 80), "{text}");
    let escapes = Message { length: 512, ..message(&"\\x00".repeat(24), 0, &[1]) };
    let text = of_messages(&trace(vec![escapes])).text(9);
    assert!(text.contains(r"\x00…"), "{text}");
}

#[test]
fn sockets_of_a_program_are_one_lifeline_if_there_are_many() {
    let from = |port: usize| Message {
        from: party("client", &format!(":{port}")),
        ..message("a", 2 * port, &[2 * port + 1])
    };
    let few = of_messages(&trace((0..5).map(from).collect()));
    assert_eq!(few.lifelines.len(), 6);
    let many = of_messages(&trace((0..6).map(from).collect()));
    assert_eq!(many.lifelines, ["client", "server"]);
}
