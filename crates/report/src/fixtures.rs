//! Traces for the tests of this crate: a deadlock, an exchange of messages, and a long one.

use everypath_trace::{
    Assumption, CheckConfig, Excerpt, Explanation, FoundStep, Frame, Line, Message, Moment, Party,
    Place, RacingStep, Span, SpanKind, Step, Target, Trace, TraceStep, Violation,
};

/// A payload that must not become markup, nor move a cursor, nor turn text around.
pub(crate) const NASTY: &str = "</script><script>window.hacked=1</script>\u{1b}[2J\u{202e}gnp";

fn target(program: &str) -> Target {
    Target::Native {
        hash: "0f".into(),
        script: Vec::new(),
        armed: Vec::new(),
        config: Box::new(CheckConfig::new(program)),
    }
}

fn frame(function: &str, file: &str, line: u32) -> Frame {
    Frame { function: function.into(), file: Some(file.into()), line: Some(line) }
}

fn step(actor: u16, name: &str, event: &str, what: &str, stack: Vec<Frame>) -> TraceStep {
    let place = stack.first().map(|frame| {
        let (file, line) = (frame.file.as_deref().unwrap_or_default(), frame.line.unwrap_or(0));
        format!(", {} at {file}:{line}", frame.function)
    });
    TraceStep {
        step: Step { actor, event: 0, param: 0 },
        actor: name.into(),
        event: event.into(),
        text: format!("{what}{}", place.unwrap_or_default()),
        stack,
        ..TraceStep::default()
    }
}

fn span(kind: SpanKind, actor: &str, object: &str, (from, to): (usize, Option<usize>)) -> Span {
    let (actor, object) = (actor.into(), object.into());
    Span { kind, actor, object, from, to, awaits: None }
}

/// Three philosophers, each with one fork.
#[expect(clippy::too_many_lines, clippy::type_complexity, reason = "one table")]
pub(crate) fn deadlock() -> Trace {
    let names = ["main", "thread 1", "thread 2", "thread 3"];
    let (main, dine) = ("main", "dine");
    let lines: [(u16, &str, &str, Option<&str>, &str, u32); 13] = [
        (0, "create", "creates a thread", None, main, 35),
        (0, "create", "creates a thread", None, main, 35),
        (0, "create", "creates a thread", None, main, 35),
        (0, "join", "joins thread 1", Some("thread 1"), main, 36),
        (2, "start", "starts", None, dine, 15),
        (2, "mutex-lock", "locks mutex forks[1]", Some("mutex forks[1]"), dine, 18),
        (1, "start", "starts", None, dine, 15),
        (1, "mutex-lock", "locks mutex forks[0]", Some("mutex forks[0]"), dine, 18),
        (1, "mutex-lock", "locks mutex forks[1]", Some("mutex forks[1]"), dine, 19),
        (3, "start", "starts", None, dine, 15),
        (3, "mutex-lock", "locks mutex forks[2]", Some("mutex forks[2]"), dine, 18),
        (3, "mutex-lock", "locks mutex forks[0]", Some("mutex forks[0]"), dine, 19),
        (2, "mutex-lock", "locks mutex forks[2]", Some("mutex forks[2]"), dine, 19),
    ];
    let mut steps: Vec<TraceStep> = lines
        .iter()
        .map(|&(actor, event, what, object, function, line)| TraceStep {
            object: object.map(Into::into),
            ..step(
                actor,
                names[usize::from(actor)],
                event,
                what,
                vec![frame(function, "philosophers.c", line)],
            )
        })
        .collect();
    steps[6].preempts = true;
    for (at, after) in [(4, 2), (6, 1), (8, 6), (9, 3), (11, 8), (12, 11)] {
        steps[at].after = vec![after];
    }
    steps[12].state = vec![Line::new("thread 1", "waits for mutex forks[1], held by thread 2")];
    let wait = |actor: &str, object: &str, from, awaits: &str| Span {
        awaits: Some(awaits.into()),
        ..span(SpanKind::Wait, actor, object, (from, None))
    };
    let spans = vec![
        wait("main", "thread 1", 4, "thread 1"),
        span(SpanKind::Hold, "thread 2", "mutex forks[1]", (6, None)),
        span(SpanKind::Hold, "thread 1", "mutex forks[0]", (8, None)),
        wait("thread 1", "mutex forks[1]", 9, "thread 2"),
        span(SpanKind::Hold, "thread 3", "mutex forks[2]", (11, None)),
        wait("thread 3", "mutex forks[0]", 12, "thread 1"),
        wait("thread 2", "mutex forks[2]", 13, "thread 3"),
    ];
    let source = [
        "static void *dine(void *seat) {",
        "    int left = (intptr_t)seat;",
        "    int right = (left + 1) % seats;",
        "",
        "    /* take both forks, the left one first */",
        "    pthread_mutex_lock(&forks[left]);",
        "    pthread_mutex_lock(&forks[right]);",
        "    meals++;",
    ];
    let racing = |number: usize, actor: &str, text: &str| RacingStep {
        number: Some(number),
        actor: actor.into(),
        text: text.into(),
        stack: vec!["dine at philosophers.c:18".into()],
    };
    let found = steps.iter().map(|step| FoundStep {
        step: step.step,
        actor: step.actor.clone(),
        text: step.text.clone(),
        preempts: false,
    });
    let places =
        [("thread 1", 19), ("thread 2", 19), ("thread 3", 19)].map(|(actor, line)| Place {
            actor: actor.into(),
            text: "waits for a mutex".into(),
            stack: vec![frame("dine", "philosophers.c", line)],
        });
    Trace {
        target: target("./philosophers"),
        violation: Violation {
            property: "deadlock".into(),
            message: "thread 1 waits for mutex forks[1], held by thread 2; thread 2 waits for mutex \
                      forks[2], held by thread 3; thread 3 waits for mutex forks[0], held by thread 1"
                .into(),
            places: places.into(),
        },
        found: found.rev().collect(),
        steps,
        explanation: Some(Explanation {
            critical_step: 11,
            exact: true,
            race: vec![
                racing(11, "thread 3", "locks mutex forks[2]"),
                racing(13, "thread 2", "locks mutex forks[2]"),
            ],
        }),
        spans,
        sources: vec![Excerpt {
            file: "philosophers.c".into(),
            first: 13,
            lines: source.map(Into::into).into(),
        }],
        assumptions: vec![Assumption {
            id: "virtual-time".into(),
            text: "Time is virtual.".into(),
        }],
        ..Trace::default()
    }
}

fn message(content: &str, to_server: bool, sent: usize, arrivals: &[(usize, usize)]) -> Message {
    let client = Party { process: "client".into(), address: ":5000".into(), outside: false };
    let server = Party { process: "server".into(), address: ":7000".into(), outside: true };
    let (from, to) = if to_server { (client, server) } else { (server, client) };
    Message {
        from,
        to,
        content: content.into(),
        length: content.len() as u64,
        kept: content.len() as u64,
        datagram: true,
        sent: Moment { order: 10 * sent, step: sent },
        arrivals: arrivals.iter().map(|&(order, step)| Moment { order, step }).collect(),
        lost: false,
    }
}

/// A client of two threads and its server: a request, an answer, one that is lost, one that is late and
/// duplicated, and one with a payload of a villain.
pub(crate) fn exchange() -> Trace {
    let names = ["main", "thread 1 (worker)"];
    let step = |actor: u16, event: &str, what: &str, line: u32| {
        let long = "a/very/long/path/to/the/sources/of/a/client/which/goes/on/and/on/client.rs";
        step(actor, names[usize::from(actor)], event, what, vec![frame("serve", long, line)])
    };
    let mut steps = vec![
        step(0, "send", "sends to socket #1", 10),
        step(0, "receive", "receives from socket #1", 11),
        step(0, "create", "creates a thread", 12),
        step(1, "start", "starts", 30),
        step(1, "send", "sends to socket #1", 31),
        step(1, "send", "sends to socket #1", 32),
        step(1, "deliver", "receives packet 2 from the network", 33),
        step(0, "deliver", "receives packet 1 from the network (reordered, late)", 14),
        step(0, "deliver", "receives packet 1 from the network again (duplicate)", 14),
        step(1, "cond-wait", "times out waiting for condition ready", 35),
    ];
    steps[7].fault = Some("reordering".into());
    steps[8].fault = Some("duplication".into());
    steps[5].fault = Some("loss".into());
    steps[9].timeout = true;
    steps[3].after = vec![3];
    steps[7].preempts = true;
    let messages = vec![
        message("GET /a", true, 1, &[(10, 1)]),
        message("200 OK", false, 1, &[(20, 2)]),
        Message { lost: true, ..message("lost one", true, 6, &[]) },
        message("slow", false, 5, &[(80, 8), (90, 9)]),
        Message { length: 400, ..message(NASTY, false, 6, &[(70, 7)]) },
    ];
    Trace {
        target: target("./client"),
        violation: Violation {
            property: "assertion".into(),
            message: format!("got {NASTY}"),
            places: Vec::new(),
        },
        steps,
        messages,
        ..Trace::default()
    }
}

/// So many steps of eight threads that take locks and send messages.
pub(crate) fn long(steps: usize) -> Trace {
    let step = |at: usize| {
        let actor = (at / 7 % 8) as u16;
        let stack = (0..6).map(|depth| frame("work", "src/work.rs", (at % 97) as u32 + depth + 1));
        let name = format!("thread {actor}");
        TraceStep {
            object: Some(format!("mutex m[{}]", at % 5)),
            preempts: at % 50 == 49,
            after: if at > 9 { vec![at - 8] } else { Vec::new() },
            ..step(actor, &name, "mutex-lock", "locks mutex m", stack.collect())
        }
    };
    let hold = |at: usize| {
        let actor = format!("thread {}", at / 7 % 8);
        span(SpanKind::Hold, &actor, "mutex m[0]", (at + 1, Some(at + 4)))
    };
    Trace {
        target: target("./long"),
        violation: Violation {
            property: "deadlock".into(),
            message: "stuck".into(),
            places: Vec::new(),
        },
        steps: (0..steps).map(step).collect(),
        spans: (0..steps).step_by(7).map(hold).collect(),
        messages: (1..steps.saturating_sub(20))
            .step_by(40)
            .map(|sent| message("ping", false, sent, &[(10 * sent + 90, sent + 9)]))
            .collect(),
        ..Trace::default()
    }
}
