//! Search over executions: which schedules of a program must be run, and why a failing one fails.
//!
//! There are two searches, each with a loop of its own:
//!
//! - [`search`]: depth-first over *schedules*. Every execution runs from the start, and the schedule
//!   of the next one differs from it in its last choices. Nothing is stored but the present path.
//! - [`stateful`]: depth-first over *states*. A walker takes one step at a time and goes back to a
//!   snapshot; a state that was visited is not explored again.
//!
//! They share no loop, because a step of the first is a whole execution, and of the second a
//! transition. The search over the states of protocol models is a third one, in crate `explore`: its
//! states are bytes in memory, which it copies instead of executing anything again.
//!
//! What the search over schedules consists of:
//!
//! - [`executor`]: what the search asks for, and what it is told of an execution.
//! - [`frame`]: a state on the path, with the branches that are to be explored from it.
//! - [`reduction`]: which branches these are; a file for each published algorithm.
//! - [`happens_before`]: the partial order of an execution's steps, and its races.
//!
//! What is made of a counterexample:
//!
//! - [`mod@minimise`]: a failing schedule with fewer context switches and steps.
//! - [`critical_step`]: the step after which every continuation fails.
//!
//! Nothing here knows programs, processes or sockets: an [`Executor`] runs executions.

pub mod critical_step;
pub mod executor;
pub mod frame;
pub mod happens_before;
pub mod minimise;
pub mod reduction;
pub mod search;
pub mod stateful;

pub use executor::{Alternative, Executed, ExecutionEnd, Executor, Key, Run, Taken};
pub use happens_before::HappensBefore;
pub use reduction::Reduction;
pub use search::{ScheduleSearch, SearchEnd};
