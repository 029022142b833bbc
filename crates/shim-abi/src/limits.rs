//! How much of everything there may be.

/// How many threads a program may have at one time.
pub const MAX_THREADS: usize = 128;
/// How many processes may be checked as one system.
pub const MAX_PROCESSES: usize = 16;
/// The length of what the processes of a system share, which is mostly never touched.
pub const SYSTEM_LENGTH: u64 = 1 << 32;
/// How many modules (the program and its libraries) may be loaded.
pub const MAX_MODULES: usize = 256;
/// How many bytes the list of libraries may take that are loaded before `main`.
pub const MAX_LIBRARIES: usize = 1 << 16;
/// How many steps an execution may have.
pub const MAX_EVENTS: usize = 1 << 20;
/// How many steps that could have been taken are written down in one execution.
pub const MAX_ALTERNATIVES: usize = 1 << 22;
/// How many executions of one command are told apart.
pub const MAX_BATCH: usize = 64;
/// The greatest depth of bugs that [`Policy::Pct`](crate::Policy::Pct) looks for.
pub const MAX_DEPTH: usize = 32;
/// How often in a row a thread may look in vain before others must move: a bound of fairness.
pub const MAX_LOOKS: u16 = 64;
/// So often in a row a thread locks the same mutex before others move that can.
pub const MAX_RELOCKS: u64 = 200;
/// How many output streams each process has of its own: standard output and standard error.
pub const OWN_OUTPUTS: usize = 2;
/// How many output streams there are: these, notes, and what passes between sockets.
pub const OUTPUTS: usize = OWN_OUTPUTS + 2;
/// The stream that notes are kept in, counted from 1; each ends with a zero.
pub const NOTES: usize = 3;
/// The first byte of a note that is an event, as a JSON object.
pub const EVENT: u8 = b'{';
/// How many bytes of each output stream are kept.
pub const MAX_OUTPUT: usize = 1 << 18;
/// How many contents may be known to be right.
pub const MAX_ACCEPTED: usize = 4096;
/// How many ports may have rules of their own for datagrams.
pub const MAX_PORTS: usize = 4;
/// How many bytes of instructions may be patched, trampolines included.
pub const MAX_PATCHES: usize = 1 << 27;
/// How many functions in which Rust's threads start are known.
pub const MAX_STARTS: usize = 4096;
/// The longest message, path or name.
pub const MAX_TEXT: usize = 512;
