//! What a verdict rests on, and what a counterexample does, for its trace.

use crate::finding::{Counted, assumption};
use crate::launch;
use everypath_native::quiet::{MOST_PERIODS, SECONDS, STEPS};
use everypath_trace::{Assumption, CheckConfig, MemoryName, RacesName, TimeName};

/// So many functions are named in a sentence.
const NAMED: usize = 5;

/// What a verdict takes for granted; each text continues "assumes that". Whatever it is, memory is
/// sequentially consistent.
pub(crate) fn of_verdict(config: &CheckConfig, counted: &Counted) -> Vec<Assumption> {
    let sees_memory = config.sees_memory();
    let plain = "there are no data races: plain loads and stores are not scheduling points";
    let races = "data races do no harm";
    let states = "accesses conflict only where a few random schedules have shown it";
    let calls = "a call of libc or the kernel which nothing orders with an access of another thread \
                 is one step";
    let fairness = counted.looks.map(|looks| fairness(looks, launch::spins(config)));
    let unseen =
        "what could not be recorded accesses no memory that other threads access without a lock";
    let sometimes = [
        ("plain-accesses", (!sees_memory).then(|| plain.into())),
        ("data-races", (sees_memory && config.races == RacesName::Ignore).then(|| races.into())),
        ("suppressed-races", suppressed(config)),
        ("conflicts", (sees_memory && config.state_matching).then(|| states.into())),
        ("libc-functions", libc_functions(&counted.unsummarised)),
        ("libc-steps", counted.unordered_calls.then(|| calls.into())),
        ("fairness", fairness),
        ("idle", counted.quiet.then(|| idle(config))),
        ("unseen-code", named(&counted.unseen).map(|functions| format!("{unseen}: {functions}"))),
    ];
    let sometimes = sometimes.into_iter().chain(budgets(config));
    let own = sometimes.into_iter().filter_map(|(id, text)| Some(assumption(id, text?)));
    own.chain(counted.assumptions.iter().cloned()).collect()
}

/// What executions have no more of, and when time passes.
fn budgets(config: &CheckConfig) -> [(&'static str, Option<String>); 3] {
    let quiescent = config.time == TimeName::Quiescent;
    let time = "a timeout fires only when nothing else can happen (--time quiescent)";
    let most = config.kill;
    let kills =
        format!("no more than {most} of the other programs crash in one execution (--kill)");
    let cuts = "the network is partitioned no more often than --partition allows";
    [
        ("timeouts", quiescent.then(|| time.into())),
        ("crashes", (most > 0).then_some(kills)),
        ("partitions", config.partition.is_some().then(|| cuts.into())),
    ]
}

fn fairness(looks: u16, spins: Option<u16>) -> String {
    let most = match spins {
        Some(0) => ", and that no spin gives up before that (--spins)".into(),
        Some(1) => ", and that one spin of an execution gives up before that (--spins)".into(),
        Some(most) => {
            format!(", and that {most} spins of an execution give up before that (--spins)")
        }
        None => String::new(),
    };
    format!("a thread which spins looks at most {looks} times in vain before others move{most}")
}

/// What becomes of executions in which nothing but time passes.
fn idle(config: &CheckConfig) -> String {
    let is_search = !config.strategy.is_sampling() && config.time != TimeName::Quiescent;
    let times = match config.early_timeouts() {
        1 => "once".into(),
        most => format!("{most} times in a row"),
    };
    let early = match is_search {
        true => format!(
            ", and that a thread's timeout fires at most {times} before others move and something \
             happens at a socket (--early-timeouts)"
        ),
        false => String::new(),
    };
    format!(
        "a program that waits for clients does nothing new after {SECONDS} virtual seconds, \
         {STEPS} steps or {MOST_PERIODS} timer periods in which nothing visible happened{early}"
    )
}

fn suppressed(config: &CheckConfig) -> Option<String> {
    let named = named(&config.suppress_races).filter(|_| config.sees_memory())?;
    Some(format!("data races in {named}, which are explored, are no mistakes (--suppress-races)"))
}

fn libc_functions(functions: &[String]) -> Option<String> {
    let verb = if functions.len() == 1 { "accesses" } else { "access" };
    let named = named(functions)?;
    Some(format!("{named} {verb} no memory that other threads access without a lock"))
}

/// Some names, and how many more there are.
fn named(names: &[String]) -> Option<String> {
    let (last, rest) = names.split_last()?;
    Some(match names.len() {
        1 => last.clone(),
        count if count <= NAMED => format!("{} and {last}", rest.join(", ")),
        count => format!("{} and {} more", names[..NAMED].join(", "), count - NAMED),
    })
}

/// What a violation that was replayed takes for granted, by the options of its check.
pub(crate) fn assumptions(config: &CheckConfig) -> Vec<Assumption> {
    let time = match config.time {
        TimeName::Ordered => "Time is virtual: timers fire in the order of their deadlines.",
        TimeName::Quiescent => {
            "Time is virtual: a timer fires only when nothing else can happen (--time quiescent)."
        }
        TimeName::Any => "Time is virtual: any pending timer may fire at any moment (--time any).",
    };
    let memory = match config.memory {
        Some(MemoryName::Off) => {
            "Memory is sequentially consistent, and plain loads and stores are no scheduling points \
             (--memory off)."
        }
        _ => "Memory is sequentially consistent.",
    };
    let network = (!config.udp_options().is_empty()).then(|| {
        format!("Datagrams fare no worse than {} allows.", config.udp_options().join(" "))
    });
    let faults = config.tcp_faults.map(|faults| {
        format!("No more than {faults} goes wrong with connections in one execution.")
    });
    let peers = (!config.peer.is_empty())
        .then(|| "Peers are real processes, whose answers were recorded when first asked.".into());
    let always = [("virtual-time", Some(time.into())), ("memory-model", Some(memory.into()))];
    let sometimes = [("datagrams", network), ("connection-faults", faults), ("peers", peers)];
    always
        .into_iter()
        .chain(sometimes)
        .filter_map(|(id, text)| Some(assumption(id, text?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_said() {
        let ids = |config: &CheckConfig| -> Vec<&'static str> {
            budgets(config).into_iter().filter_map(|(id, text)| text.map(|_| id)).collect()
        };
        assert!(ids(&CheckConfig::new("x")).is_empty());
        let config = CheckConfig { kill: 1, time: TimeName::Quiescent, ..CheckConfig::new("x") };
        assert_eq!(ids(&config), ["timeouts", "crashes"]);
    }

    #[test]
    fn what_was_asked_for_is_said() {
        let ids = |config: &CheckConfig| -> Vec<String> {
            assumptions(config).into_iter().map(|assumption| assumption.id).collect()
        };
        assert_eq!(ids(&CheckConfig::new("x")), ["virtual-time", "memory-model"]);
        let config = CheckConfig { peer: vec!["./server".into()], ..CheckConfig::new("x") };
        assert_eq!(ids(&config), ["virtual-time", "memory-model", "peers"]);
    }
}
