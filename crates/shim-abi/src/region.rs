use crate::batch::{MAX_ORDERED, MAX_ORDERED_ALTERNATIVES, MAX_ORDERS, Order, Record};
use crate::notice::{MAX_NOTICES, Notice};
use crate::upcall::MAX_MESSAGE;
use crate::{
    Choice, EnabledStep, Event, Faults, Handoff, Object, OperationKind, Outcome, Phase, Splitmix,
    Upcall, Waiting,
};
use core::cell::Cell;
use core::sync::atomic::{AtomicU32, AtomicU64};
use everypath_perturb::Rules;

/// Changes whenever the layout or the meaning of anything here does.
pub const VERSION: u32 = 9;
/// How many threads a program may have at one time.
pub const MAX_THREADS: usize = 128;
/// How many processes may be checked as one system.
pub const MAX_PROCESSES: usize = 16;
/// The length of what the processes of a system share, which is mostly never touched.
pub const SYSTEM_LENGTH: u64 = 1 << 32;
/// How many modules (the program and its libraries) may be loaded.
pub const MAX_MODULES: usize = 256;
/// How many steps an execution may have.
pub const MAX_EVENTS: usize = 1 << 20;
/// How many steps that could have been taken are written down in one execution.
pub const MAX_ALTERNATIVES: usize = 1 << 22;
/// How many executions of one command are told apart.
pub const MAX_BATCH: usize = 64;
/// The greatest depth of bugs that [`Policy::Pct`] looks for.
pub const MAX_DEPTH: usize = 32;
/// How many output streams each process has of its own: standard output and standard error.
pub const OWN_OUTPUTS: usize = 2;
/// How many output streams there are: these, notes, and what passes between sockets.
pub const OUTPUTS: usize = OWN_OUTPUTS + 2;
/// How many bytes of each output stream are kept.
pub const MAX_OUTPUT: usize = 1 << 18;
/// How many contents may be known to be right.
pub const MAX_ACCEPTED: usize = 4096;
/// How many ports may have rules of their own for datagrams.
pub const MAX_PORTS: usize = 4;
/// How many bytes of instructions may be patched, trampolines included.
pub const MAX_PATCHES: usize = 1 << 24;
/// How many functions in which Rust's threads start are known.
pub const MAX_STARTS: usize = 4096;
/// The longest message, path or name.
pub const MAX_TEXT: usize = 512;

/// What carries the program's threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Backend {
    /// User-level fibers on one kernel thread.
    #[default]
    Fibers,
    /// A kernel thread each.
    Threads,
}

/// How the program is put back to its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Restart {
    /// `Copy`, or `Tracked` for a program with more than a megabyte of live memory.
    #[default]
    Automatic,
    /// All of its memory is copied back.
    Copy,
    /// Only the pages it wrote are copied back.
    Tracked,
    /// A fork runs each execution.
    Fork,
}

/// When a pending time-out may fire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum TimeMode {
    /// The earliest one, at any point.
    #[default]
    Ordered,
    /// The earliest one, once nothing else can run.
    Quiescent,
    /// Each, at any point.
    Any,
}

/// What it means that every thread waits for the network, and nothing more can come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum IdleMode {
    /// It is as it should be if the program listens.
    #[default]
    Automatic,
    /// It is as it should be.
    Fine,
    /// It is not.
    Violation,
}

/// What is fixed when the program starts.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Setup {
    /// What carries the threads.
    pub backend: Backend,
    /// How the program is put back.
    pub restart: Restart,
    /// When time-outs fire.
    pub time: TimeMode,
    /// Whether memory is kept canonical, so that equal states have equal hashes.
    pub canonical: bool,
    /// Whether output is a step: if not, its order between threads is not explored.
    pub output_steps: bool,
    /// Whether what passes between sockets is written down.
    pub chronicle: bool,
    /// Whether every execution enters [`Reply::digest`].
    pub digest: bool,
    /// What it means that nothing more can come.
    pub idle: IdleMode,
    /// What may go wrong with connections to peers.
    pub faults: Faults,
    /// Whether all connections to a server have one communication tree.
    pub one_tree: bool,
    /// Whether what is outside are programs that are explored on their own.
    pub joint: bool,
    /// Whether there are peers that may turn out to be clients.
    pub has_peers: bool,
    /// Whether what an execution leaves behind must be known to be right.
    pub judged: bool,
    /// The exit code that counts as success.
    pub exit_code: i32,
    /// How many steps an execution may have.
    pub max_steps: u32,
    /// Which process of a system this is.
    pub process: u16,
    /// How many processes the system has; 0 if the program is alone.
    pub processes: u16,
    /// How often one of the others may be killed.
    pub kills: u16,
    /// How often the network between two of them may be cut.
    pub partitions: Partitions,
    /// For each process, one more than the number of another one that is just like it, and that
    /// therefore is the first to use the network; 0 if there is none.
    pub leaders: [u8; MAX_PROCESSES],
    /// What becomes of datagrams on their way.
    pub datagrams: Datagrams,
}

/// Between which processes the network may be cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Partitions {
    /// How often in an execution.
    pub most: u16,
    /// For each process, a bit for each that it may be cut off from.
    pub severable: [u16; MAX_PROCESSES],
}

impl Partitions {
    /// Lets the network between two processes be cut.
    pub fn allow(&mut self, one: usize, other: usize) {
        self.severable[one] |= 1 << other;
        self.severable[other] |= 1 << one;
    }
}

/// What a network may do to datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Datagrams {
    /// Wherever nothing else is said.
    pub everywhere: Crossing,
    /// Instead, at single ports; 0 is none.
    pub at_ports: [(u16, Crossing); MAX_PORTS],
}

impl Datagrams {
    /// Both directions, wherever it is.
    pub fn all(&self) -> impl Iterator<Item = &Rules> {
        let ports = self.at_ports.iter().filter(|(port, _)| *port != 0);
        let crossings = [&self.everywhere].into_iter().chain(ports.map(|(_, crossing)| crossing));
        crossings.flat_map(|crossing| [&crossing.sent, &crossing.received])
    }

    /// What holds for a socket that has to do with some ports, the first of which is named counts;
    /// and the number of its account: the faults at one port are not counted elsewhere.
    pub fn at(&self, ports: [u16; 3]) -> (usize, Crossing) {
        let place = |port: u16| self.at_ports.iter().position(|(named, _)| *named == port);
        match ports.into_iter().filter(|&port| port != 0).find_map(place) {
            Some(at) => (at + 1, self.at_ports[at].1),
            None => (0, self.everywhere),
        }
    }
}

/// What a network may do to the datagrams of a socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Crossing {
    /// To those that the program sends to a peer.
    pub sent: Rules,
    /// To those that it receives, from a peer or from itself.
    pub received: Rules,
}

/// What the worker shall do next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Request {
    /// Nothing.
    #[default]
    None,
    /// Apply the patches and take the first snapshot.
    Begin,
    /// Run executions from the start until one is not as expected.
    Run,
    /// Go on from where the execution stands.
    Continue,
    /// Keep a copy of the state under the number `slot`.
    Save,
    /// Put the state `slot` back and go on from there.
    Resume,
}

/// How choices are made that no schedule gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Policy {
    /// At random.
    #[default]
    Random,
    /// The thread that runs goes on while it can, else the first that can; none that sleeps.
    First,
    /// By priorities that change a few times: probabilistic concurrency testing.
    Pct,
    /// By priorities of steps, drawn again for those that race: partial order sampling.
    Pos,
}

/// A request with what it needs.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Command {
    /// What to do.
    pub request: Request,
    /// How many choices of [`Region::schedule`] to follow.
    pub prefix: u32,
    /// Whether a choice that is not there is left out, instead of ending the execution.
    pub lenient: bool,
    /// For how many of them what else could be chosen need not be written down.
    pub known: u32,
    /// How choices are made after that.
    pub policy: Policy,
    /// With [`Policy::Pct`], the depth of the bugs to be found.
    pub depth: u32,
    /// With [`Policy::Pct`], how many steps an execution is expected to have at most.
    pub horizon: u32,
    /// Stop before the step with this number; 0 never.
    pub pause_at: u32,
    /// Which saved state.
    pub slot: u32,
    /// The seed of the search.
    pub seed: u64,
    /// The number of the first execution.
    pub first: u64,
    /// How many executions at most; up to [`MAX_BATCH`] if their classes are wanted. With
    /// [`Policy::First`] and more than one, they are those of [`Region::orders`].
    pub count: u64,
    /// Whether the next command will come soon, and somebody else has a processor meanwhile: then it
    /// is awaited without sleeping.
    pub attentive: bool,
}

/// What came of it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Reply {
    /// How the last execution ended.
    pub outcome: Outcome,
    /// The exit code, signal, thread or step that goes with it.
    pub detail: i32,
    /// The thread that ended the execution.
    pub thread: u16,
    /// How many steps it had.
    pub steps: u32,
    /// How many executions were run.
    pub executions: u64,
    /// The address that goes with a signal.
    pub address: u64,
    /// A hash over all executions since the start: choices, outcomes, output.
    pub digest: u64,
    /// The hash of what it left behind, if that is judged.
    pub contents: u128,
    /// How it ended, should that turn out to be right.
    pub ended: Outcome,
    /// The hash of the state, if the execution paused and memory is kept canonical.
    pub hash: u128,
    /// What went wrong, in words.
    pub text: [u8; MAX_TEXT],
}

impl Default for Reply {
    fn default() -> Self {
        Reply {
            outcome: Outcome::None,
            detail: 0,
            thread: 0,
            steps: 0,
            executions: 0,
            address: 0,
            digest: 0,
            contents: 0,
            ended: Outcome::None,
            hash: 0,
            text: [0; MAX_TEXT],
        }
    }
}

/// What was counted since the start.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Counters {
    /// Steps taken.
    pub steps: u64,
    /// Switches between threads.
    pub switches: u64,
    /// System calls that were trapped.
    pub traps: u64,
    /// Executions that were abandoned because an assumption was not met.
    pub abandoned: u64,
    /// Bytes that one restore puts back.
    pub restored: u64,
    /// Spans of memory in the first snapshot.
    pub spans: u64,
    /// Messages to peers whose answer was known.
    pub cache_hits: u64,
    /// The most steps that a sampled execution had.
    pub longest: u64,
    /// The most threads that a sampled execution had, those that ended included.
    pub threads: u64,
}

/// A loaded module: the program or a library.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ModuleEntry {
    /// What is added to the addresses in its file.
    pub base: u64,
    /// Where its trampolines may be placed, or 0 if it is not to be patched.
    pub trampolines: u64,
    /// Its path.
    pub path: [u8; MAX_TEXT],
}

/// A thread as it stands at the end of an execution.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct ThreadEntry {
    /// The thread's number.
    pub number: u16,
    /// What it does or did last.
    pub operation: OperationKind,
    /// Whether it asks or waits.
    pub phase: Phase,
    /// What it waits for.
    pub waiting: Waiting,
    /// What it waits on.
    pub object: Object,
    /// Who holds that, plus one; 0 if nobody does or it is not known.
    pub holder: u16,
    /// The other end of the socket that it waits at, if it is known.
    pub far: Object,
    /// One more than the process whose end that is; 0 if it is not known.
    pub across: u16,
    /// Instruction pointer, stack pointer and frame pointer.
    pub registers: [u64; 3],
    /// The top of its stack.
    pub stack_top: u64,
    /// Its name, as the program set it.
    pub name: [u8; 16],
}

/// One captured stream.
#[derive(Debug)]
#[repr(C)]
pub struct Output {
    /// How many bytes were written, of which the first [`MAX_OUTPUT`] are kept.
    pub length: Cell<u64>,
    /// The bytes.
    pub bytes: [Cell<u8>; MAX_OUTPUT],
}

/// What lies in lines of the processor's cache of its own: one side looks at it again and again while the
/// other one changes what would be beside it.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Apart<T>(T);

impl<T> core::ops::Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// The shared memory. It starts out as zeros.
#[derive(Debug)]
#[repr(C)]
pub struct Region {
    /// [`VERSION`], written by the checker.
    pub version: Cell<u32>,
    /// Whose turn it is.
    pub turn: Apart<Handoff>,
    /// Goes up while the program moves: the watchdog looks at it.
    pub progress: Apart<AtomicU64>,
    /// What is fixed at the start.
    pub setup: Apart<Cell<Setup>>,
    /// What the worker shall do.
    pub command: Cell<Command>,
    /// What came of it.
    pub reply: Cell<Reply>,
    /// What was counted.
    pub counters: Cell<Counters>,
    /// The generator as it stands.
    pub random: Cell<Splitmix>,
    /// Where the shim's routines for patched instructions are: for any, and for those in modules that
    /// use nothing but the lower halves of vector registers.
    pub atomics_entries: Cell<[u64; 2]>,
    /// How many modules there are.
    pub module_count: Cell<u32>,
    /// How many bytes of [`Region::patches`] are in use.
    pub patch_bytes: Cell<u32>,
    /// How many threads are described.
    pub thread_count: Cell<u32>,
    /// How many steps of [`Region::sleep`] must not be taken first after the given choices.
    pub sleep_count: Cell<u32>,
    /// How many choices [`Region::schedule`] holds.
    pub schedule_length: Cell<u32>,
    /// How many entries [`Region::thread_starts`] has.
    pub thread_start_count: Cell<u32>,
    /// How many entries [`Region::accepted`] has.
    pub accepted_count: Cell<u32>,
    /// Hashes of what executions may leave behind.
    pub accepted: [Cell<u128>; MAX_ACCEPTED],
    /// Where Rust's threads call what the program gave them: start and end of each function.
    pub thread_starts: [Cell<[u64; 2]>; MAX_STARTS],
    /// The modules.
    pub modules: [Cell<ModuleEntry>; MAX_MODULES],
    /// The threads at the end of the last execution.
    pub threads: [Cell<ThreadEntry>; MAX_THREADS],
    /// Standard output, standard error, what the program noted for whoever reads the trace, and
    /// each [`MessageEvent`](crate::MessageEvent). Those of the last two kinds are the first process's.
    pub output: [Output; OUTPUTS * MAX_PROCESSES],
    /// The class of each execution of the last command that sampled: executions with equal classes
    /// differ only in the order of independent steps.
    pub classes: [Cell<u64>; MAX_BATCH],
    /// The choices to follow.
    pub schedule: [Cell<Choice>; MAX_EVENTS],
    /// The steps taken.
    pub events: [Cell<Event>; MAX_EVENTS],
    /// What was explored before, from the state after the given choices.
    pub sleep: [Cell<EnabledStep>; 2 * MAX_THREADS],
    /// Where the alternatives of each step end.
    pub alternative_ends: [Cell<u32>; MAX_EVENTS],
    /// What could have been taken at each step that is not known.
    pub alternatives: [Cell<EnabledStep>; MAX_ALTERNATIVES],
    /// The executions that a command asks for if they are several.
    pub orders: [Cell<Order>; MAX_ORDERS],
    /// What they follow.
    pub ordered_choices: [Cell<Choice>; MAX_ORDERED],
    /// What sleeps after that.
    pub ordered_sleep: [Cell<EnabledStep>; MAX_ORDERS * 2 * MAX_THREADS],
    /// The worker shall return at once: the execution that it runs is not wanted now.
    pub hurry: Apart<AtomicU32>,
    /// How many of them have been run and kept.
    pub recorded: Apart<AtomicU32>,
    /// What came of each.
    pub records: [Cell<Record>; MAX_ORDERS],
    /// Their steps.
    pub recorded_events: [Cell<Event>; MAX_ORDERED],
    /// Where the alternatives of each step end that was not known, counted from the first of its
    /// execution.
    pub recorded_ends: [Cell<u32>; MAX_ORDERED],
    /// What could have been taken.
    pub recorded_alternatives: [Cell<EnabledStep>; MAX_ORDERED_ALTERNATIVES],
    /// How many entries [`Region::notices`] has.
    pub notice_count: Cell<u32>,
    /// What was strange in the executions of the last command.
    pub notices: [Cell<Notice>; MAX_NOTICES],
    /// What the program asks.
    pub question: Cell<Upcall>,
    /// The bytes that it would send.
    pub message: [Cell<u8>; MAX_MESSAGE],
    /// What to write where: see `native`'s `patching`.
    pub patches: [Cell<u8>; MAX_PATCHES],
}

impl Setup {
    /// How many threads each process may have: the numbers of its threads follow each other.
    pub fn threads_each(&self) -> usize {
        MAX_THREADS / usize::from(self.processes).next_power_of_two().min(MAX_PROCESSES)
    }

    /// Whether an execution that ended so is as it should be.
    pub fn expects(&self, outcome: Outcome, detail: i32) -> bool {
        match outcome {
            Outcome::Exited => detail == self.exit_code,
            Outcome::Idle => match self.idle {
                IdleMode::Automatic => detail == 1,
                IdleMode::Fine => true,
                IdleMode::Violation => false,
            },
            Outcome::Abandoned => true,
            _ => false,
        }
    }
}

/// The text in a field of fixed size, up to its first zero.
pub fn text(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    &bytes[..end]
}
