//! Replaying one execution exactly, with stacks and source lines.

use crate::closed::System;
use crate::error::Error;
use crate::execution::Execution;
use crate::symbols::{Frame, Module, Registers, Symbols, interesting};
use crate::worker::{Launch, Modules, Prepared, Worker};
use everypath_shim_abi::{
    Choice, Command, Object, ObjectKind, Outcome, Request, Setup, ThreadEntry, Waiting,
};

/// Beyond so many steps their source lines are not looked up: nobody would read them.
const MAX_PLACES: usize = 20_000;

/// An execution that was repeated, with words for its steps.
#[derive(Debug)]
pub struct Replayed {
    /// The execution.
    pub execution: Execution,
    /// Where in the program each step was made: the stack, innermost frame first.
    pub places: Vec<Vec<Frame>>,
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

/// A thread's stack.
#[derive(Debug)]
pub struct Stack {
    /// The thread.
    pub thread: ThreadEntry,
    /// Its frames, innermost first, from the program's own code on.
    pub frames: Vec<Frame>,
}

/// A call that allocated or freed a block.
#[derive(Debug)]
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
    let mut places = Vec::new();
    let pause_at = u32::from(!schedule.is_empty());
    let mut reply = worker.follow(schedule, Command { pause_at, ..Command::default() })?;
    while reply.outcome == Outcome::Paused {
        let step = reply.steps as usize;
        let next = schedule.get(step).map(|choice| choice.thread);
        let thread = worker.threads().into_iter().find(|entry| Some(entry.number) == next);
        // Steps without a choice are not stopped at.
        places.resize(step, Vec::new());
        places.push(thread.map(|entry| stack(&worker, &mut symbols, &entry)).unwrap_or_default());
        let more = step + 1 < schedule.len().min(MAX_PLACES);
        let pause_at = if more { reply.steps + 2 } else { 0 };
        let prefix = schedule.len() as u32;
        let command =
            Command { request: Request::Continue, pause_at, prefix, ..Command::default() };
        reply = worker.ask(command)?;
    }
    let execution = Execution::of(&worker, &reply, 0);
    places.resize(execution.events.len(), Vec::new());
    let stacks = execution
        .threads
        .iter()
        .map(|&thread| Stack { thread, frames: stack(&worker, &mut symbols, &thread) })
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
    Ok(Replayed { execution, places, stacks, heap_calls, variables, raced, system })
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
    let mut found = Vec::new();
    for (what, heap_stop) in calls.into_iter().filter(|&(_, call)| call != 0) {
        let setup = Setup { heap_stop, ..launch.setup };
        let mut worker = Worker::start(&Launch { setup, ..launch.clone() }, modules)?;
        let reply = worker.follow(&execution.schedule, Command::default())?;
        let mut symbols = symbols_of(&worker);
        let entry = worker.threads().into_iter().find(|entry| entry.number == reply.thread);
        let frames = entry.map(|entry| stack(&worker, &mut symbols, &entry)).unwrap_or_default();
        found.push(HeapCall { what, thread: reply.thread, frames });
    }
    Ok(found)
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
    let frames: Vec<Frame> = addresses
        .iter()
        .enumerate()
        .flat_map(|(depth, &address)| symbols.frames(address, depth > 0))
        .collect();
    interesting(&frames).to_vec()
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
