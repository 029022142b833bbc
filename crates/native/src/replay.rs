//! Replaying one execution exactly, with stacks and source lines.

use crate::closed::System;
use crate::error::Error;
use crate::execution::Execution;
use crate::launch::Launch;
use crate::symbols::{Frame, Module, Registers, StepOrigin, Symbols, called, interesting};
use crate::worker::{Modules, Prepared, Worker};
use everypath_shim_abi::{
    Choice, Command, Object, ObjectKind, OperationKind, Outcome, Request, Setup, ThreadEntry,
    Waiting, text,
};
use std::collections::{BTreeMap, BTreeSet};

/// Beyond so many steps their source lines are not looked up: nobody would read them.
const MAX_PLACES: usize = 20_000;
/// Of so many objects it is found out where they were allocated.
const MAX_ALLOCATIONS: usize = 12;

/// An execution that was repeated, with words for its steps.
#[derive(Debug)]
pub struct Replayed {
    /// The execution.
    pub execution: Execution,
    /// Where in the program each step was made.
    pub places: Vec<Place>,
    /// The names that the program gave to its threads.
    pub(crate) thread_names: BTreeMap<u16, String>,
    /// The call of the heap that allocated each object that is in a block.
    allocations: BTreeMap<Object, u32>,
    /// Where these calls were made.
    pub(crate) allocated: BTreeMap<Object, HeapCall>,
    /// The stack of each thread at the end.
    pub stacks: Vec<Stack>,
    /// Where the block that was misused was allocated and freed.
    pub(crate) heap_calls: Vec<HeapCall>,
    /// The names of objects that are variables of the program.
    pub(crate) variables: Vec<(Object, String)>,
    /// The name of the variable at the address that goes with the end.
    pub(crate) raced: Option<String>,
    /// Which threads and objects are whose.
    pub(crate) system: System,
}

/// Where a step was made.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The stack, innermost frame first, without what is not the program's own.
    pub frames: Vec<Frame>,
    /// Whose step it is.
    pub origin: StepOrigin,
    /// The function of a library that the program called, if that accesses a word.
    pub called: Option<String>,
}

/// A thread's stack.
#[derive(Debug)]
pub struct Stack {
    /// The thread.
    pub thread: ThreadEntry,
    /// Its frames, innermost first, from the program's own code on.
    pub frames: Vec<Frame>,
}

/// A call that allocated or freed a block.
#[derive(Clone, Debug)]
pub(crate) struct HeapCall {
    /// What it did.
    pub(crate) what: &'static str,
    /// Who called.
    pub(crate) thread: u16,
    /// The stack, innermost frame first.
    pub(crate) frames: Vec<Frame>,
}

/// Repeats a schedule in a fresh process.
pub fn replay(launch: &Launch, schedule: &[Choice]) -> Result<Replayed, Error> {
    let setup = Setup { chronicle: true, ..launch.setup };
    let launch = Launch { setup, ..launch.clone() };
    let modules = Modules::default();
    let mut worker = Worker::start(&launch, &modules)?;
    let mut symbols = symbols_of(&worker);
    let mut seen = Seen::default();
    let pause_at = u32::from(!schedule.is_empty());
    let mut reply = worker.follow(schedule, Command { pause_at, ..Command::default() })?;
    let prefix = schedule.len() as u32;
    let request = Request::Continue;
    while reply.outcome == Outcome::Paused {
        let step = reply.steps as usize;
        let next = schedule.get(step).map(|choice| choice.thread);
        seen.at(step, next, &worker, &mut symbols);
        let more = step + 1 < schedule.len().min(MAX_PLACES);
        let pause_at = if more { reply.steps + 2 } else { 0 };
        reply = worker.ask(Command { request, pause_at, prefix, ..Command::default() })?;
    }
    let execution = Execution::of(&worker, &reply, 0);
    seen.places.resize(execution.events.len(), Place::default());
    execution.threads.iter().for_each(|thread| seen.thread(thread));
    let stacks = execution
        .threads
        .iter()
        .map(|&thread| Stack {
            thread,
            frames: interesting(&stack(&worker, &mut symbols, &thread)),
        })
        .collect();
    let system = worker.system.clone();
    let variable = |object: Object| match object.kind() {
        ObjectKind::Memory { process, address } => {
            symbols.get(usize::from(process))?.variable(address)
        }
        _ => None,
    };
    let objects = execution.events.iter().map(|event| event.object);
    let variables = objects.filter_map(|object| Some((object, variable(object)?))).collect();
    let heap_calls = heap_calls(&launch, &modules, &execution)?;
    let process = system.owner(execution.thread);
    let raced = symbols.get(process).and_then(|symbols| symbols.variable(execution.address));
    let Seen { places, thread_names, allocations } = seen;
    let allocated = BTreeMap::new();
    Ok(Replayed {
        execution,
        places,
        thread_names,
        allocations,
        allocated,
        stacks,
        heap_calls,
        variables,
        raced,
        system,
    })
}

/// What is seen while an execution is replayed step by step.
#[derive(Default)]
struct Seen {
    places: Vec<Place>,
    thread_names: BTreeMap<u16, String>,
    allocations: BTreeMap<Object, u32>,
}

impl Seen {
    /// The execution stands before a step of thread `next`. Steps without a choice are not stopped at.
    fn at(&mut self, step: usize, next: Option<u16>, worker: &Worker, symbols: &mut [Symbols]) {
        let threads = worker.threads();
        threads.iter().for_each(|thread| self.thread(thread));
        let thread = threads.into_iter().find(|entry| Some(entry.number) == next);
        let place = thread.map(|entry| {
            let frames = stack(worker, symbols, &entry);
            let is_word = is_word(entry.operation);
            let origin = match entry.operation {
                OperationKind::Start | OperationKind::Exit | OperationKind::ProcessExit => {
                    StepOrigin::Program
                }
                _ => StepOrigin::of(&frames, is_word),
            };
            let called = if is_word { called(&frames) } else { None };
            Place { frames: interesting(&frames), origin, called }
        });
        self.places.resize(step, Place::default());
        self.places.push(place.unwrap_or_default());
    }

    fn thread(&mut self, thread: &ThreadEntry) {
        let name = String::from_utf8_lossy(text(&thread.name)).into_owned();
        if !name.is_empty() {
            self.thread_names.insert(thread.number, name);
        }
        if thread.allocation != 0 {
            self.allocations.entry(thread.object).or_insert(thread.allocation);
        }
    }
}

/// Whether an operation is an access to a word.
fn is_word(operation: OperationKind) -> bool {
    matches!(
        operation,
        OperationKind::FutexWait
            | OperationKind::FutexWake
            | OperationKind::FutexRequeue
            | OperationKind::CompareExchange
            | OperationKind::Exchange
            | OperationKind::FetchModify
            | OperationKind::Load
            | OperationKind::Store
            | OperationKind::Fence
            | OperationKind::Pause
            | OperationKind::Spin
    )
}

/// Finds where the objects were allocated that steps of the program itself work on: the execution is
/// repeated up to each of these calls, so only for whom is shown the result.
pub fn find_allocations(launch: &Launch, replayed: &mut Replayed) {
    if replayed.execution.events.len() > MAX_PLACES {
        return;
    }
    let events = replayed.execution.events.iter().zip(&replayed.places);
    let own = events.filter(|(_, place)| place.origin == StepOrigin::Program);
    let objects: BTreeSet<Object> = own.map(|(event, _)| event.object).collect();
    let modules = Modules::default();
    for object in objects.into_iter().take(MAX_ALLOCATIONS) {
        let Some(&call) = replayed.allocations.get(&object) else { continue };
        // Without it there is a number for the object.
        let Ok(call) = heap_call(launch, &modules, &replayed.execution, ("allocated", call)) else {
            return;
        };
        replayed.allocated.insert(object, call);
    }
}

/// The calls that allocated and freed the block that goes with the end of an execution: it is repeated
/// up to each of them.
fn heap_calls(
    launch: &Launch,
    modules: &Modules,
    execution: &Execution,
) -> Result<Vec<HeapCall>, Error> {
    let [allocated, freed] = execution.heap_calls;
    let calls = [("allocated", allocated), ("freed", freed)];
    let calls = calls.into_iter().filter(|&(_, call)| call != 0);
    calls.map(|call| heap_call(launch, modules, execution, call)).collect()
}

/// One call of the heap, by its number: the execution is repeated up to it.
fn heap_call(
    launch: &Launch,
    modules: &Modules,
    execution: &Execution,
    (what, heap_stop): (&'static str, u32),
) -> Result<HeapCall, Error> {
    let setup = Setup { heap_stop, ..launch.setup };
    let mut worker = Worker::start(&Launch { setup, ..launch.clone() }, modules)?;
    let reply = worker.follow(&execution.schedule, Command::default())?;
    let mut symbols = symbols_of(&worker);
    let entry = worker.threads().into_iter().find(|entry| entry.number == reply.thread);
    let frames = entry.map(|entry| stack(&worker, &mut symbols, &entry)).unwrap_or_default();
    Ok(HeapCall { what, thread: reply.thread, frames: interesting(&frames) })
}

/// The symbols of each process.
fn symbols_of(worker: &Worker) -> Vec<Symbols> {
    let of_process = |prepared: &Prepared| {
        let modules = prepared.loaded.iter().map(|module| {
            let path = module.name().into();
            let place = Module { path, base: module.base };
            (place, module.bytes.clone())
        });
        Symbols::new(modules.collect())
    };
    worker.prepared().map(of_process).collect()
}

fn stack(worker: &Worker, symbols: &mut [Symbols], thread: &ThreadEntry) -> Vec<Frame> {
    let [rip, rsp, rbp] = thread.registers;
    let process = worker.system.owner(thread.number);
    let symbols = &mut symbols[process];
    let addresses =
        symbols.unwind(Registers { rip, rsp, rbp }, &mut |address| worker.word(process, address));
    addresses
        .iter()
        .enumerate()
        .flat_map(|(depth, &address)| symbols.frames(address, depth > 0))
        .collect()
}

/// An execution that stands at its end, for a debugger to look at.
#[derive(Debug)]
pub struct Standing {
    worker: Worker,
    last_thread: u16,
}

/// Repeats a schedule and leaves the program where it ended.
pub fn stand(launch: &Launch, schedule: &[Choice]) -> Result<Standing, Error> {
    let mut worker = Worker::start(launch, &Modules::default())?;
    let reply = worker.follow(schedule, Command::default())?;
    Ok(Standing { worker, last_thread: reply.thread })
}

impl Standing {
    /// The process.
    pub fn pid(&self) -> u32 {
        self.worker.pid()
    }

    /// The threads that have not ended: number, and instruction, stack and frame pointer.
    pub fn threads(&self) -> Vec<(u16, [u64; 3])> {
        let entries = self.worker.threads().into_iter();
        let alive = entries.filter(|entry| entry.waiting != Waiting::Ended);
        alive.map(|entry| (entry.number, entry.registers)).collect()
    }

    /// The thread that ended the execution.
    pub fn last_thread(&self) -> u16 {
        self.last_thread
    }

    /// Where the shim is loaded, and its file: a debugger cannot find it by its path.
    pub fn shim(&self) -> Option<(u64, &'static [u8])> {
        let mut loaded = self.worker.prepared().flat_map(|prepared| &prepared.loaded);
        let shim = loaded.find(|module| module.is_shim())?;
        Some((shim.base, crate::shim::SHIM))
    }
}
