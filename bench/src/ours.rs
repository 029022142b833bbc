//! Everypath's own rows.
//!
//! Empty until the engine exists. To plug it in:
//!
//! 1. add the engine's crates to `bench/Cargo.toml` (`path = "../crates/…"`);
//! 2. implement the engine's system trait here for a type that holds [`crate::model::Bounds`],
//!    with [`crate::model::Arq`] as state: `Arq::initial`, `Arq::enabled` and `Arq::apply` are all
//!    that is needed, `Arq::pack` and `Arq::unpack` give canonical bytes, and the property is
//!    `state.in_order`;
//! 3. write one `fn(&Bounds) -> Outcome` for each configuration and add it to [`ROWS`], such as
//!    `Contender::sequential("everypath-bfs-equality", bfs_equality)` or
//!    `Contender::parallel("everypath-bfs-hash-cores", bfs_hash_cores)`.
//!
//! The harness then runs each row in a process of its own and checks its counts. `transitions`
//! and `levels` of the outcome may be `None` where the engine does not report them (a depth-first
//! search has no levels); reported numbers must be exact.

use crate::contender::Contender;

/// The rows: bfs and dfs, by equality and by hash, on one thread and on all cores.
pub const ROWS: &[Contender] = &[];
