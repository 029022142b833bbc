//! Options with a few named values. Names are those of the variants, in kebab case, wherever they are
//! written or read.

/// Derives what every choice has: its names in files and on the command line.
macro_rules! choice {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$about:meta])* $variant:ident,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[cfg_attr(feature = "file", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "file", serde(rename_all = "kebab-case"))]
        #[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
        pub enum $name { $($(#[$about])* $variant,)* }
    };
}

choice! {
    /// How schedules are chosen.
    pub enum Strategy {
        /// Every schedule, depth-first, up to equivalence
        #[default]
        Dfs,
        /// Every schedule without preemptions, then with one, with two and so on; if a limit ends that,
        /// the verdict is bounded
        Icb,
        /// Every choice is random; the verdict is sampled
        Random,
        /// PCT: random thread priorities that change a few times (--pct-depth); sampled, with a bound
        Pct,
        /// POS: random priorities of steps, drawn again for those that race; sampled
        Pos,
    }
}

impl Strategy {
    /// Whether schedules are chosen at random.
    pub fn is_sampling(self) -> bool {
        match self {
            Strategy::Dfs | Strategy::Icb => false,
            Strategy::Random | Strategy::Pct | Strategy::Pos => true,
        }
    }
}

choice! {
    /// Which schedules are left out because they are equivalent to others.
    pub enum ReductionName {
        /// Optimal DPOR: one schedule of each equivalence class
        #[default]
        Dpor,
        /// Source DPOR: simpler, and some executions are redundant
        #[cfg_attr(feature = "clap", value(hide = true))]
        SourceDpor,
        /// Sleep sets: each class once, but many executions are begun in vain; simple, to compare with
        Sleep,
        /// No reduction
        None,
    }
}

choice! {
    /// Whether memory accesses are seen.
    pub enum MemoryName {
        /// They are not: threads are assumed to be free of data races
        #[default]
        Off,
        /// Every access is recorded, and those that conflict become scheduling points
        On,
    }
}

choice! {
    /// What becomes of data races.
    pub enum RacesName {
        /// They are violations where it is certain that an access is not atomic
        #[default]
        Violation,
        /// What may follow from them is explored
        Explore,
        /// They are taken to do no harm
        Ignore,
    }
}

choice! {
    /// When a pending timeout may fire.
    pub enum TimeName {
        /// The earliest one, at any point
        #[default]
        Ordered,
        /// The earliest one, once nothing else can run
        Quiescent,
        /// Each, at any point
        Any,
    }
}

choice! {
    /// The verdict when all threads block on input that can no longer arrive.
    pub enum IdleName {
        /// The execution ends as expected
        Ok,
        /// The execution is a violation
        #[default]
        Violation,
    }
}

choice! {
    /// The cache of what peers answered.
    pub enum CacheName {
        /// Every answer; another message is another branch
        #[default]
        Branching,
        /// Every answer; the program must send the same in every schedule
        Linear,
        /// No cache: peers are restarted for every execution
        None,
    }
}

choice! {
    /// What has a tree of answers of its own.
    pub enum PeerTree {
        /// Every connection to a server, the same one in every schedule
        #[default]
        Connection,
        /// Every server, which must answer all connections alike
        Destination,
    }
}

choice! {
    /// When answers of peers become visible.
    pub enum PeerAnswers {
        /// At any time: calls that do not wait, or not for ever, may come too early
        #[default]
        Any,
        /// As soon as the program has sent the request
        Prompt,
    }
}

choice! {
    /// What a peer is that fails because of what the program sent.
    pub enum PeerFailure {
        /// A violation, if it is repeated with fresh peers
        #[default]
        Violation,
        /// No verdict
        Inconclusive,
    }
}

choice! {
    /// How threads run.
    pub enum ThreadBackend {
        /// As fibers on one kernel thread
        #[default]
        Fibers,
        /// On a kernel thread each
        Threads,
    }
}

choice! {
    /// How state is restored between executions.
    pub enum RestoreMethod {
        /// By copying, or by tracking dirty pages above a megabyte
        #[default]
        Automatic,
        /// All memory is copied from the snapshot
        Copy,
        /// Only dirty pages are copied from the snapshot
        Tracked,
        /// A fork of the process runs each execution
        Fork,
        /// A new process runs each execution
        Exec,
    }
}
