//! What this machine says of this process: memory in use, by it and by all that it has started.

mod memory;

pub use memory::{available_memory, memory, peak_memory};
