//! Sleep sets: partial-order reduction that leaves out steps, and no state.
//!
//! After P. Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems*, LNCS 1032,
//! Springer 1996, chapter 5. If two steps commute, one of their two orders is taken: a step that was taken
//! from a state sleeps in what the later ones lead to, until a step comes that depends on it. Properties
//! may look at every part of a state, so every step may be visible, and persistent or stubborn sets, which
//! leave out states, would not be sound; sleep sets visit every state.
//!
//! Where we depart from him: the search is breadth-first, level by level, so that a state that is met
//! again needs no second exploration. What sleeps in a state is what sleeps on *all* of its shortest paths
//! that the search takes. Every state is met at its least depth: of the shortest paths to it, take the one
//! that is first in the order of [`Letter`]s. If the search left out one of its steps, that step would
//! commute with all steps since a state in which it is enabled and comes before the step that was taken
//! there; moved there, it would give a path to the same state, as short, and before the first one.
//!
//! Properties of steps are not preserved, since steps are left out, and neither is liveness.

use crate::confirm::violated_at_end;
use crate::expand::{deadlocks, violations};
use crate::property::Kind;
use crate::states::States;
use crate::table::{Lookup, Table};
use crate::{
    Canonical, Control, Counts, Ended, Exploration, Found, Limit, Model, PANIC, Progress, Step,
    Task, panic_capture,
};
use xxhash_rust::xxh3::xxh3_64;

/// What a step is, in whichever state it is taken. Steps of different actors that have letters commute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Letter {
    actor: u16,
    key: u128,
}

/// In how many states it is tested that steps commute.
const SAMPLE: u32 = 100;

/// How many states are expanded before somebody may stop the search.
const BATCH: u32 = 64;

/// A breadth-first search with sleep sets.
struct Sleeping<'a, M: Model> {
    task: &'a Task<'a, M>,
    states: States,
    table: Table,
    /// Of each state the one from which it was first reached, and the step.
    parents: Vec<Option<(u32, Step)>>,
    /// The depth of the level that is expanded.
    depth: u32,
    /// What sleeps in each state of the next level, in ascending order, and the first of that level.
    sleep: Vec<Vec<Letter>>,
    next_level: u32,
    found: Exploration,
    /// The witnessed properties, by number.
    wanted: Vec<usize>,
}

/// Explores a model with sleep sets. The search must be breadth-first, by equality, without
/// [`Search::must_contain`](crate::Search), and stop at the first violation.
pub(crate) fn explore_with_sleep_sets<M: Model>(
    task: &Task<'_, M>,
    control: &Control,
) -> Exploration {
    let is_sometimes = |number: &usize| matches!(task.properties[*number].kind, Kind::Sometimes(_));
    let wanted: Vec<usize> = (0..task.properties.len()).filter(is_sometimes).collect();
    let name = |number: &usize| (task.properties[*number].name.clone(), None);
    let counts = Counts { by_property: vec![0; task.properties.len() + 1], ..Counts::default() };
    let witnesses = wanted.iter().map(name).collect();
    let mut search = Sleeping {
        task,
        states: States::default(),
        table: Table::default(),
        parents: Vec::new(),
        depth: 0,
        sleep: Vec::new(),
        next_level: 0,
        found: Exploration {
            counts,
            found: Vec::new(),
            checked_depth: 0,
            ended: Ended::Complete,
            by_event: Vec::new(),
            witnesses,
        },
        wanted,
    };
    if let Err(ended) = search.run(control) {
        search.found.ended = ended;
    }
    search.found.counts.states = u64::from(search.states.len());
    search.found.counts.stored = search.found.counts.states;
    search.found
}

impl<M: Model> Sleeping<'_, M> {
    fn run(&mut self, control: &Control) -> Result<(), Ended> {
        let model = self.task.system;
        let mut work = (model.initial(), model.initial());
        self.arrive(&work.0, None, Vec::new())?;
        let mut first = 0;
        while first < self.states.len() && !self.is_deepest(self.depth) {
            self.next_level = self.states.len();
            let asleep = std::mem::take(&mut self.sleep);
            for (number, asleep) in (first..self.next_level).zip(asleep) {
                if number % BATCH == 0 {
                    self.limit(control)?;
                    self.publish(control, number);
                }
                self.expand(number, asleep, &mut work)?;
            }
            (first, self.depth) = (self.next_level, self.depth + 1);
            self.found.checked_depth = self.depth;
        }
        Ok(())
    }

    /// Whether states of this depth are at the bound.
    fn is_deepest(&self, depth: u32) -> bool {
        self.task.search.max_depth.is_some_and(|bound| depth >= bound)
    }

    fn publish(&self, control: &Control, number: u32) {
        control.publish(Progress {
            states: u64::from(self.states.len()),
            events: self.found.counts.events,
            depth: u64::from(self.depth),
            frontier: u64::from(self.states.len() - number),
            ..Progress::default()
        });
    }

    fn limit(&self, control: &Control) -> Result<(), Ended> {
        if control.stopped() {
            return Err(Ended::Stopped);
        }
        let (states, executions) = (u64::from(self.states.len()), self.found.counts.executions());
        let full = u64::from(u32::MAX / 2);
        if states >= self.task.search.max_states.unwrap_or(full).min(full) {
            return Err(Ended::Limit(Limit::States(states)));
        }
        match self.task.search.max_executions {
            Some(most) if executions >= most => Err(Ended::Limit(Limit::Executions(executions))),
            _ => Ok(()),
        }
    }

    /// The steps enabled in a state, in the order of their letters.
    fn steps(&self, state: &M::State) -> Vec<(Option<Letter>, Step)> {
        let model = self.task.system;
        let mut steps = Vec::new();
        model.enabled(state, &mut steps);
        steps.retain(|step| !self.task.search.disabled.contains(&step.event));
        let letter = |step: Step| {
            let key = model.letter(state, step);
            (key.map(|key| Letter { actor: step.actor, key }), step)
        };
        let mut steps: Vec<_> = steps.into_iter().map(letter).collect();
        steps.sort_by_key(|(letter, _)| *letter);
        steps
    }

    /// Takes the steps of a state that do not sleep.
    fn expand(
        &mut self,
        number: u32,
        mut asleep: Vec<Letter>,
        (state, next): &mut (M::State, M::State),
    ) -> Result<(), Ended> {
        let model = self.task.system;
        let own = self.states.get(number).to_vec();
        let listed = panic_capture::run(|| {
            state.read(&mut &own[..]);
            self.steps(state)
        });
        let at = self.parents[number as usize];
        let steps = listed.map_err(|_| self.violated(at))?;
        if steps.is_empty() {
            self.found.counts.dead_ends += 1;
            if !deadlocks(self.task.properties, state).is_empty() {
                return Err(self.violated(at));
            }
        }
        if number < SAMPLE {
            self.test(&own, &steps, next)?;
        }
        for (letter, step) in steps {
            if letter.is_some_and(|letter| asleep.contains(&letter)) {
                continue;
            }
            self.count(step.event);
            let came = Some((number, step));
            let taken = panic_capture::run(|| {
                model.restore(state, &own, next);
                model.take(next, step);
            });
            taken.map_err(|_| self.violated(came))?;
            let commutes = |other: &&Letter| letter.is_some_and(|own| own.actor != other.actor);
            let passed = asleep.iter().filter(commutes).copied().collect();
            self.arrive(next, came, passed)?;
            asleep.extend(letter);
        }
        Ok(())
    }

    fn count(&mut self, event: u16) {
        let Exploration { counts, by_event, .. } = &mut self.found;
        counts.events += 1;
        by_event.resize(by_event.len().max(usize::from(event) + 1), 0);
        by_event[usize::from(event)] += 1;
    }

    /// Checks a state that a step leads to, and stores it if it is new.
    fn arrive(
        &mut self,
        state: &M::State,
        came: Option<(u32, Step)>,
        passed: Vec<Letter>,
    ) -> Result<(), Ended> {
        let depth = if came.is_some() { self.depth + 1 } else { 0 };
        self.found.counts.depth = self.found.counts.depth.max(depth);
        let properties = self.task.properties;
        let holds = panic_capture::run(|| violations(properties, None, state).is_empty());
        if holds != Ok(true) {
            return Err(self.violated(came));
        }
        self.witness(state, came)?;
        self.found.counts.safe += u64::from(came.is_some());
        if came.is_some() && self.is_deepest(depth) {
            self.found.counts.deepest += 1;
            return Ok(());
        }
        let mut bytes = Vec::new();
        state.write(&mut bytes);
        let hash = xxh3_64(&bytes);
        let states = &mut self.states;
        self.table.reserve(states.len(), |number| xxh3_64(states.get(number)));
        match self.table.find(hash, |number| states.get(number) == bytes) {
            Lookup::Found(number) => {
                self.found.counts.non_tree += 1;
                if let Some(at) = number.checked_sub(self.next_level) {
                    self.sleep[at as usize].retain(|letter| passed.contains(letter));
                }
            }
            Lookup::Vacant(slot) => {
                let number = states.push(&bytes);
                self.table.fill(slot, hash, number);
                self.parents.push(came);
                self.sleep.push(passed);
                self.found.counts.tree += u64::from(came.is_some());
            }
        }
        Ok(())
    }

    /// The steps from the initial state.
    fn path(&self, mut came: Option<(u32, Step)>) -> Vec<Step> {
        let mut path = Vec::new();
        while let Some((before, step)) = came {
            path.push(step);
            came = self.parents[before as usize];
        }
        path.reverse();
        path
    }

    /// Keeps the path to a state that satisfies a property for the first time.
    fn witness(&mut self, state: &M::State, came: Option<(u32, Step)>) -> Result<(), Ended> {
        let properties = self.task.properties;
        let is = |number: usize| match &properties[number].kind {
            Kind::Sometimes(is) => is(state),
            _ => false,
        };
        for at in 0..self.wanted.len() {
            if self.found.witnesses[at].1.is_some() {
                continue;
            }
            let Ok(is) = panic_capture::run(|| is(self.wanted[at])) else {
                return Err(self.violated(came));
            };
            if is {
                self.found.witnesses[at].1 = Some(self.path(came));
            }
        }
        Ok(())
    }

    /// Takes the steps to a violation again; what comes out is what is reported.
    fn violated(&mut self, came: Option<(u32, Step)>) -> Ended {
        let Task { system, properties, search, .. } = *self.task;
        let schedule = self.path(came);
        let again = violated_at_end(system, properties, &search.disabled, &schedule);
        let violated = match again {
            Ok(violated) => violated,
            Err(error) => return Ended::Unconfirmed(error.to_string()),
        };
        let Some((number, message)) = violated.into_iter().next() else {
            return Ended::Unconfirmed("a violation could not be repeated".into());
        };
        let counts = &mut self.found.counts;
        counts.unsafe_events += u64::from(came.is_some());
        counts.violations += 1;
        counts.by_property[number] += 1;
        let property = properties.get(number).map_or(PANIC, |property| &property.name).into();
        self.found.found.push(Found { property, message, schedule, loop_start: None });
        Ended::Violation
    }

    /// Tests that steps of a state which have letters commute if others take them.
    fn test(
        &self,
        own: &[u8],
        steps: &[(Option<Letter>, Step)],
        scratch: &mut M::State,
    ) -> Result<(), Ended> {
        let lettered: Vec<(Letter, Step)> =
            steps.iter().filter_map(|(letter, step)| Some(((*letter)?, *step))).collect();
        let mut both = |first: (Letter, Step), second: Letter| -> Option<Vec<u8>> {
            let model = self.task.system;
            scratch.read(&mut &own[..]);
            model.take(scratch, first.1);
            let after = self.steps(scratch);
            let (_, second) = after.into_iter().find(|(letter, _)| *letter == Some(second))?;
            model.take(scratch, second);
            let mut bytes = Vec::new();
            scratch.write(&mut bytes);
            Some(bytes)
        };
        for (at, &one) in lettered.iter().enumerate() {
            for &other in lettered[at + 1..].iter().filter(|other| other.0.actor != one.0.actor) {
                // A panic is found by the search itself, with a counterexample.
                let commute = panic_capture::run(|| {
                    let together = both(one, other.0);
                    together.is_some() && together == both(other, one.0)
                });
                if commute == Ok(false) {
                    let name = |step: Step| {
                        let event = M::EVENTS[usize::from(step.event)].name;
                        format!("{event} at {}", self.task.system.actor(step.actor))
                    };
                    let (one, other) = (name(one.1), name(other.1));
                    return Err(Ended::NotIndependent(format!("{one} and {other} do not commute")));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Config, EventKind, Line, NodeRange, Property, Search, System, VisitedKind, explore,
    };
    use proptest::prelude::*;

    /// Actors with a state of their own each, and steps that look at all of them.
    struct Automata {
        actors: usize,
        table: Vec<u8>,
        globals: Vec<u8>,
        bad: Vec<u8>,
        /// Whether a step that looks at all is said to commute.
        lies: bool,
    }

    const LOCALS: u8 = 3;
    const WAYS: u8 = 3;

    impl Automata {
        /// Where an actor goes from a state in one of several ways, if it does.
        fn target(&self, actor: u16, local: u8, way: u8) -> Option<u8> {
            let at = (usize::from(actor) * 3 + usize::from(local)) * 3 + usize::from(way);
            Some(self.table[at % self.table.len()] % (LOCALS + 2)).filter(|to| *to < LOCALS)
        }

        /// What a step of all does: if two actors are in certain states, a third goes to another.
        fn global(&self, way: u8) -> [(usize, u8); 3] {
            let digit = |at: usize| self.globals[(at + 6 * usize::from(way)) % self.globals.len()];
            [0, 2, 4].map(|at| (usize::from(digit(at)) % self.actors, digit(at + 1) % LOCALS))
        }
    }

    impl System for Automata {
        type State = Vec<u8>;

        fn initial(&self) -> Vec<u8> {
            vec![0; self.actors]
        }

        fn enabled(&self, state: &Vec<u8>, steps: &mut Vec<Step>) {
            for (actor, &local) in (0..).zip(state) {
                let ways = (0..WAYS).filter(|way| self.target(actor, local, *way).is_some());
                steps.extend(ways.map(|way| Step { actor, event: 0, param: way.into() }));
            }
            let may = |way: &u8| {
                let [one, other, _] = self.global(*way);
                state[one.0] == one.1 && state[other.0] == other.1
            };
            let ways = (0..2).filter(may);
            steps.extend(ways.map(|way| Step { actor: 0, event: 1, param: way.into() }));
        }

        fn take(&self, state: &mut Vec<u8>, step: Step) {
            let way = step.param as u8;
            if step.event == 1 {
                let [_, _, (whom, to)] = self.global(way);
                state[whom] = to;
            } else {
                let actor = usize::from(step.actor);
                state[actor] = self.target(step.actor, state[actor], way).unwrap();
            }
        }
    }

    impl Model for Automata {
        const NAME: &'static str = "automata";
        const ABOUT: &'static str = "for tests";
        const NODES: NodeRange = NodeRange::exactly(3);
        const EVENTS: &'static [EventKind] = &[
            EventKind { name: "local", about: "of one" },
            EventKind { name: "global", about: "of all" },
        ];

        fn build(_: &Config) -> Self {
            Automata {
                actors: 3,
                table: vec![0; 9],
                globals: vec![0; 6],
                bad: Vec::new(),
                lies: false,
            }
        }

        fn properties(&self) -> Vec<Property<Vec<u8>>> {
            let bad = self.bad.clone();
            let good =
                move |state: &Vec<u8>| if *state == bad { Err("bad".into()) } else { Ok(()) };
            vec![Property::new("good", good)]
        }

        fn letter(&self, state: &Vec<u8>, step: Step) -> Option<u128> {
            let local = u128::from(state[usize::from(step.actor)]) * 16 + u128::from(step.param);
            (step.event == 0 || self.lies).then_some(local + u128::from(step.event) * 256)
        }

        fn describe_step(&self, _: &Vec<u8>, _: Step) -> String {
            String::new()
        }

        fn describe_state(&self, _: &Vec<u8>) -> Vec<Line> {
            Vec::new()
        }
    }

    fn both(model: &Automata, max_depth: Option<u32>) -> [Exploration; 2] {
        let visited = VisitedKind::Equality;
        let search = &Search { visited, max_depth, ..Search::default() };
        let properties = &model.properties();
        let task = Task { system: model, properties, rank: None, search };
        let control = &Control::default();
        [explore(&task, control), explore_with_sleep_sets(&task, control)]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        /// No state is left out, none is found later, and no verdict changes.
        #[test]
        fn every_state_is_visited(
            table in proptest::collection::vec(0..30u8, 9..40),
            globals in proptest::collection::vec(0..30u8, 12),
            bad in proptest::collection::vec(0..LOCALS, 4),
            actors in 2..=4usize,
            max_depth in prop_oneof![Just(None), (1..6u32).prop_map(Some)],
        ) {
            let model = Automata { actors, table, globals, bad: bad[..actors].into(), lies: false };
            let [plain, reduced] = both(&model, max_depth);
            prop_assert_eq!(&plain.ended, &reduced.ended);
            let length = |of: &Exploration| of.found.first().map(|found| found.schedule.len());
            prop_assert_eq!(length(&plain), length(&reduced));
            if plain.ended == Ended::Complete {
                prop_assert!(reduced.counts.events <= plain.counts.events);
                prop_assert_eq!(plain.counts.states, reduced.counts.states);
                prop_assert!(reduced.counts.depth <= plain.counts.depth);
                prop_assert_eq!(plain.counts.dead_ends, reduced.counts.dead_ends);
            }
        }
    }

    /// Three actors that go their ways: of the six orders of their steps one is taken.
    #[test]
    fn steps_that_commute_are_taken_in_one_order() {
        // From state 0 to 1, and nowhere else.
        let mut table = vec![4; 27];
        (0..3).for_each(|actor| table[actor * 9] = 1);
        let model = Automata {
            actors: 3,
            table,
            globals: vec![0, 0, 1, 1, 2, 2],
            bad: Vec::new(),
            lies: false,
        };
        let mut search = Search { visited: VisitedKind::Equality, ..Search::default() };
        search.disabled.push(1);
        let task = Task { system: &model, properties: &[], rank: None, search: &search };
        let control = Control::default();
        let events = |explored: Exploration| (explored.counts.states, explored.counts.events);
        assert_eq!(events(explore(&task, &control)), (8, 12));
        assert_eq!(events(explore_with_sleep_sets(&task, &control)), (8, 7));
    }

    /// A step of all, which is possible only before a step that sleeps, wakes it.
    #[test]
    fn a_step_without_a_letter_wakes_all_others() {
        let mut table = vec![4; 27];
        (0..2).for_each(|actor| table[actor * 9] = 1);
        // While actor 0 is in state 0 and actor 1 in state 1, actor 2 may go to state 2.
        let globals = vec![0, 0, 1, 1, 2, 2];
        let model = Automata { actors: 3, table, globals, bad: vec![1, 1, 2], lies: false };
        let [plain, reduced] = both(&model, None);
        assert_eq!((plain.ended, reduced.ended), (Ended::Violation, Ended::Violation));
    }

    #[test]
    fn steps_that_do_not_commute_are_found_out() {
        let table = (0..27).map(|at| (at * 7 % 3) as u8).collect();
        let model = Automata {
            actors: 3,
            table,
            globals: vec![0, 0, 1, 1, 2, 2],
            bad: Vec::new(),
            lies: true,
        };
        let [_, reduced] = both(&model, None);
        assert!(matches!(reduced.ended, Ended::NotIndependent(_)), "{:?}", reduced.ended);
    }
}
