//! Traces in the Informal Trace Format of Apalache and Quint.
//!
//! Apalache, ADR 15: *Informal Trace Format in JSON*, <https://apalache-mc.org/docs/adr/015adr-trace.html>.
//! A state has a variable for each part of the system, with its text, and the variables `action` and
//! `actor`, which tell the step that led to it. Of a trace that repeats for ever, `loop` is the number
//! of the state that it goes back to.

use everypath_trace::{Line, Target, Trace};
use serde_json::{Map, Value, json};

/// The trace as a file of this format.
pub fn itf(trace: &Trace) -> String {
    let vars = variables(trace);
    let first = state(0, (&trace.initial, "init", ""), &vars);
    let later = trace.steps.iter().enumerate().filter(|(_, step)| step.fingerprint.is_some());
    let later = later
        .map(|(number, step)| state(number + 1, (&step.state, &step.event, &step.actor), &vars));
    let states: Vec<Value> = [first].into_iter().chain(later).collect();
    let steps = ["action", "actor"].map(String::from);
    let names: Vec<String> = vars.iter().map(|(_, name)| name.clone()).chain(steps).collect();
    let is_violation = !trace.violation.property.is_empty();
    let mut file = json!({
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "source": source(trace),
            "status": if is_violation { "violation" } else { "ok" },
            "description": format!("{}: {}", trace.violation.property, trace.violation.message),
        },
        "params": [],
        "vars": names,
        "states": states,
    });
    if let (Some(first), Some(fields)) = (trace.repeats_from, file.as_object_mut()) {
        fields.insert("loop".into(), json!(first.saturating_sub(1)));
    }
    serde_json::to_string_pretty(&file).expect("it has string keys") + "\n"
}

fn source(trace: &Trace) -> String {
    match &trace.target {
        Target::Model { name, .. } => name.clone(),
        Target::Native { .. } => "a native program".into(),
        Target::Unconfigured { program } => program.clone(),
    }
}

/// The parts of the system in the order in which they appear, and their names as identifiers.
fn variables(trace: &Trace) -> Vec<(String, String)> {
    let mut known: Vec<(String, String)> = Vec::new();
    for line in trace.initial.iter().chain(trace.steps.iter().flat_map(|step| &step.state)) {
        if known.iter().all(|(part, _)| *part != line.part) {
            let mut name = identifier(&line.part);
            while ["action", "actor"].contains(&name.as_str())
                || known.iter().any(|(_, other)| *other == name)
            {
                name.push('_');
            }
            known.push((line.part.clone(), name));
        }
    }
    known
}

/// Letters, digits and underscores, and no digit in front.
fn identifier(part: &str) -> String {
    let mut name: String =
        part.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert_str(0, "v_");
    }
    name
}

/// A state; a part that is described in several lines has all of them.
fn state(
    index: usize,
    (lines, action, actor): (&[Line], &str, &str),
    vars: &[(String, String)],
) -> Value {
    let mut fields = Map::new();
    fields.insert("#meta".into(), json!({ "index": index }));
    for (part, name) in vars {
        let texts: Vec<&str> =
            lines.iter().filter(|line| line.part == *part).map(|line| line.text.as_str()).collect();
        fields.insert(name.clone(), json!(texts.join("\n")));
    }
    fields.insert("action".into(), json!(action));
    fields.insert("actor".into(), json!(actor));
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq, serde::Deserialize)]
    struct State {
        node_1: String,
        action_: String,
        action: String,
        actor: String,
    }

    impl State {
        fn new((node_1, action_, action, actor): (&str, &str, &str, &str)) -> Self {
            let [node_1, action_, action, actor] = [node_1, action_, action, actor].map(Into::into);
            State { node_1, action_, action, actor }
        }
    }

    /// Two steps of a model, which goes round for ever.
    fn lasso() -> Trace {
        let step = |event: &str, text: &str| everypath_trace::TraceStep {
            step: everypath_trace::Step::default(),
            actor: "node 1".into(),
            event: event.into(),
            text: String::new(),
            state: vec![Line::new("node 1", text)],
            fingerprint: Some("1".into()),
            ..everypath_trace::TraceStep::default()
        };
        Trace {
            target: Target::Model { name: "m".into(), config: everypath_trace::Config::new(1) },
            search: everypath_trace::SearchRecord::default(),
            violation: everypath_trace::Violation {
                property: "p".into(),
                message: "no".into(),
                ..everypath_trace::Violation::default()
            },
            initial: vec![Line::new("node 1", "x"), Line::new("action", "y")],
            steps: vec![step("send", "z"), step("back", "x")],
            repeats_from: Some(1),
            ..Trace::default()
        }
    }

    /// The reader of the crate `itf`, which others wrote.
    #[test]
    fn the_reader_of_others_reads_it() {
        let text = itf(&lasso());
        let read = ::itf::trace_from_str::<State>(&text).unwrap();
        assert_eq!(read.meta.format.as_deref(), Some("ITF"));
        assert_eq!(read.meta.description.as_deref(), Some("p: no"));
        assert_eq!(read.loop_index, Some(0));
        assert_eq!(read.vars, ["node_1", "action_", "action", "actor"]);
        let states: Vec<State> = read.states.iter().map(|state| state.value.clone()).collect();
        let expected =
            [("x", "y", "init", ""), ("z", "", "send", "node 1"), ("x", "", "back", "node 1")];
        assert_eq!(states, expected.map(State::new));
        assert_eq!(read.states[2].meta.index, Some(2));
    }

    #[test]
    fn parts_become_variables_and_a_loop_its_first_state() {
        let trace = lasso();
        let file: Value = serde_json::from_str(&itf(&trace)).unwrap();
        assert_eq!(file["#meta"]["format"], "ITF");
        assert_eq!(file["loop"], 0);
        let vars = file["vars"].as_array().unwrap();
        let states = file["states"].as_array().unwrap();
        assert_eq!(states.len(), trace.steps.len() + 1);
        for (index, state) in states.iter().enumerate() {
            assert_eq!(state["#meta"]["index"], index);
            assert!(vars.iter().all(|var| state[var.as_str().unwrap()].is_string()));
        }
        assert_eq!(states[1]["action"], trace.steps[0].event.as_str());
    }

    #[test]
    fn names_are_identifiers() {
        assert_eq!(identifier("node 0 (sink)"), "node_0__sink_");
        assert_eq!(identifier("0"), "v_0");
    }
}
