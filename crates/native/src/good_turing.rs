//! Good–Turing estimate: the probability that the next sample shows a new class of executions.

/// The classes of so many executions are kept: of more, the estimate would hardly be better.
const MAX_KEPT: u64 = 1 << 17;

/// Classes of equivalent executions in a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GoodTuring {
    /// How many executions were looked at.
    pub executions: u64,
    /// How many classes they belong to.
    pub classes: u64,
    /// How many classes only one of them belongs to.
    pub once: u64,
}

impl GoodTuring {
    /// The variety of executions of these classes.
    pub(crate) fn of(mut classes: Vec<u64>) -> Self {
        classes.sort_unstable();
        let groups = classes.chunk_by(|a, b| a == b);
        let once = groups.clone().filter(|group| group.len() == 1).count();
        GoodTuring {
            executions: classes.len() as u64,
            classes: groups.count() as u64,
            once: once as u64,
        }
    }

    /// About how probable it is that one more execution belongs to a class that was not seen
    /// (I. J. Good: The Population Frequencies of Species, Biometrika 40, 1953, after Turing).
    pub fn unseen(&self) -> f64 {
        self.once as f64 / self.executions.max(1) as f64
    }

    /// A bound on that which holds with 95 % confidence (David McAllester, Robert Schapire: On the
    /// Convergence Rate of Good-Turing Estimators, COLT 2000).
    pub fn unseen_at_most(&self) -> f64 {
        const DOUBT: f64 = 0.05;
        let spread = (3.0 / DOUBT).ln() / self.executions.max(1) as f64;
        (self.unseen() + (2.0 * 2.0_f64.sqrt() + 3.0_f64.sqrt()) * spread.sqrt()).min(1.0)
    }
}

/// Room for the classes that are kept. All of it is touched now, so that nothing grows later.
pub(crate) fn room() -> Vec<u64> {
    let mut classes = vec![u64::MAX; MAX_KEPT as usize];
    classes.clear();
    classes
}

/// Adds the classes of executions from number `first` on; of the first ones only, whoever comes
/// first, so that the result is the same on any number of workers.
pub(crate) fn keep(classes: &mut Vec<u64>, first: u64, more: &[u64]) {
    let room = MAX_KEPT.saturating_sub(first).min(more.len() as u64);
    classes.extend_from_slice(&more[..room as usize]);
}

/// What probabilistic concurrency testing promises of each execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promise {
    /// How many steps must come in a certain order for the bug to show.
    pub depth: u32,
    /// How many threads an execution has at most.
    pub threads: u64,
    /// How many steps an execution may have for the promise to hold.
    pub steps: u64,
}

impl Promise {
    /// How probable it is, at least, that an execution meets a bug.
    pub fn each(&self) -> f64 {
        let orders = (self.steps as f64).powi(self.depth as i32 - 1);
        1.0 / (self.threads as f64 * orders).max(1.0)
    }

    /// How probable it is, at least, that one of so many executions does.
    pub fn together(&self, executions: u64) -> f64 {
        -(executions as f64 * (-self.each()).ln_1p()).exp_m1()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_that_were_seen_once_tell_of_those_that_were_not() {
        let variety = GoodTuring::of(vec![7, 3, 7, 9, 7]);
        assert_eq!(variety, GoodTuring { executions: 5, classes: 3, once: 2 });
        assert_eq!(variety.unseen(), 0.4);
        assert_eq!(GoodTuring::of(vec![]).unseen(), 0.0);
        assert_eq!(GoodTuring::of(vec![]).unseen_at_most(), 1.0);
        // 4.56 * sqrt(ln 60 / 10000)
        let many = GoodTuring { executions: 10_000, classes: 1, once: 0 };
        assert!((many.unseen_at_most() - 0.0923).abs() < 0.0005);
    }

    #[test]
    fn the_promise_is_the_published_one() {
        let promise = Promise { depth: 3, threads: 4, steps: 10 };
        assert_eq!(promise.each(), 1.0 / 400.0);
        assert!((promise.together(2) - (1.0 - (399.0_f64 / 400.0).powi(2))).abs() < 1e-12);
        assert_eq!(Promise { depth: 1, threads: 1, steps: 10 }.each(), 1.0);
    }
}
