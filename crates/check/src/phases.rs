//! The phases of a check, each watched by an observer: the search, then what is made of what it
//! found.

use crate::finding::Early;
use crate::observer::{Limits, Observer, Search};
use everypath_trace::{CheckConfig, Control};
use std::time::{Duration, Instant};

/// A search that was run.
pub(crate) struct Watched<R> {
    pub(crate) result: R,
    pub(crate) seconds: f64,
    /// Why it was stopped, if it was.
    pub(crate) stopped: Option<String>,
}

/// Runs a search.
pub(crate) fn watched<R>(
    config: &CheckConfig,
    observer: &mut dyn Observer,
    search: Search,
    work: impl FnOnce(&Control) -> R,
) -> Watched<R> {
    let ((result, seconds), stopped) =
        run(observer, search, Limits::of(config), |control| timed(|| work(control)));
    Watched { result, seconds, stopped }
}

impl<R> Watched<Result<R, Early>> {
    /// The same of a search that was made; or why there is none.
    pub(crate) fn successful(self) -> Result<Watched<R>, Early> {
        let Watched { result, seconds, stopped } = self;
        match (result, &stopped) {
            (Ok(result), _) => Ok(Watched { result, seconds, stopped }),
            (Err(early), Some(why)) if !early.is_internal() => Err(Early::inconclusive(why)),
            (Err(early), _) => Err(early),
        }
    }
}

impl<R> Watched<R> {
    /// Confirms, minimises and explains what the search found, in the time that is left. Of a search
    /// that was stopped, there is a moment to confirm what it found until then. Also returns why
    /// this was stopped, if it was.
    pub(crate) fn conclude<F>(
        &self,
        config: &CheckConfig,
        observer: &mut dyn Observer,
        work: impl FnOnce(&Control) -> F,
    ) -> (F, Option<String>) {
        let spent = Duration::try_from_secs_f64(self.seconds).unwrap_or_default();
        let limits = Limits { spent, is_over: self.stopped.is_some(), ..Limits::of(config) };
        let (found, stopped) = run(observer, Search::Counterexample, limits, work);
        let why = stopped.map(|why| self.stopped.clone().unwrap_or(why));
        (found, why)
    }
}

/// Runs something under the eyes of an observer; also returns why it was stopped, if it was.
fn run<R>(
    observer: &mut dyn Observer,
    search: Search,
    limits: Limits,
    work: impl FnOnce(&Control) -> R,
) -> (R, Option<String>) {
    let (mut work, mut done) = (Some(work), None);
    let stopped = observer.watch(search, limits, &mut |control| {
        if let Some(work) = work.take() {
            done = Some(work(control));
        }
    });
    (done.expect("an observer runs what it is given"), stopped)
}

fn timed<R>(work: impl FnOnce() -> R) -> (R, f64) {
    let started = now();
    let result = work();
    (result, started.elapsed().as_secs_f64())
}

#[expect(clippy::disallowed_methods, reason = "how long a search took is part of its report")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
