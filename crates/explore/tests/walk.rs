//! Random walks: what they find is there, and what is there they find.

use everypath_explore::{
    Control, Ended, Property, Search, Step, System, Walk, WalkChoice, Walked, walk,
};

/// Two actors that count to three; event 0 counts, event 1 (of actor 1) resets its own counter.
struct Counters;

impl System for Counters {
    type State = (u8, u8);

    fn initial(&self) -> (u8, u8) {
        (0, 0)
    }

    fn enabled(&self, state: &(u8, u8), steps: &mut Vec<Step>) {
        if state.0 < 3 {
            steps.push(Step { actor: 0, event: 0, param: 0 });
        }
        if state.1 < 3 {
            steps.push(Step { actor: 1, event: 0, param: 0 });
            steps.push(Step { actor: 1, event: 1, param: 0 });
        }
    }

    fn take(&self, state: &mut (u8, u8), step: Step) {
        match (step.actor, step.event) {
            (0, _) => state.0 += 1,
            (_, 0) => state.1 += 1,
            _ => state.1 = 0,
        }
    }
}

fn walked(choice: WalkChoice, seed: u64, property: Property<(u8, u8)>) -> Walked {
    let how = Walk { walks: 200, depth: 20, seed, choice };
    walk(&Counters, &[property], (&Search::default(), &how), &Control::default())
}

fn choices() -> [WalkChoice; 3] {
    [WalkChoice::Weighted(vec![]), WalkChoice::Weighted(vec![3, 1]), WalkChoice::Pct(3)]
}

#[test]
fn a_seed_is_a_set_of_walks_and_all_states_are_met() {
    for choice in choices() {
        let holds = || Property::new("small", |_: &(u8, u8)| Ok(()));
        let first = walked(choice.clone(), 7, holds());
        assert_eq!(first, walked(choice.clone(), 7, holds()));
        assert_ne!(first, walked(choice.clone(), 8, holds()));
        assert_eq!((&first.exploration.ended, first.walks), (&Ended::Complete, 200));
        if choice != WalkChoice::Pct(3) {
            assert_eq!(first.exploration.counts.states, 16);
        }
        assert!(first.unseen() < 0.01);
        assert_eq!(first.exploration.by_event.iter().sum::<u64>(), first.exploration.counts.events);
    }
}

#[test]
fn violations_are_found_and_repeated() {
    for choice in choices() {
        let far = Property::new("not (3, 0)", |state: &(u8, u8)| match state {
            (3, 0) => Err("there".into()),
            _ => Ok(()),
        });
        let walked = walked(choice, 1, far);
        assert_eq!(walked.exploration.ended, Ended::Violation);
        let found = &walked.exploration.found[0];
        assert_eq!(found.message, "there");
        let acts = |actor| found.schedule.iter().filter(|step| step.actor == actor).count();
        assert_eq!(acts(0), 3);
    }
}

#[test]
fn an_event_of_weight_zero_never_happens_while_others_can() {
    let holds = Property::new("small", |_: &(u8, u8)| Ok(()));
    let walked = walked(WalkChoice::Weighted(vec![1, 0]), 3, holds);
    assert_eq!(walked.exploration.by_event.len(), 1);
}
