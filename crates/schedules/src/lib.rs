//! Search over executions: which schedules of a program must be run, and what a failing one means.
//!
//! - [`reduction`]: the searches, with and without partial-order reduction.
//! - [`mod@minimise`]: a failing schedule with fewer context switches and steps.
//! - [`critical_step`]: the step after which every continuation fails.
//!
//! Nothing here knows programs, processes or sockets: an [`reduction::Executor`] runs executions.
//! The search over the states of protocol models is another crate, `explore`; the two share no
//! loop, because executions are replayed from the start and states are stored.

pub mod critical_step;
pub mod minimise;
pub mod reduction;
