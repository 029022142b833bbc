//! What a counterexample rests on, for its trace.

use everypath_trace::{Assumption, CheckConfig, MemoryName, TimeName};

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
    let entry = |id: &str, text: String| Assumption { id: id.into(), text };
    let always = [("virtual-time", Some(time.into())), ("memory-model", Some(memory.into()))];
    let sometimes = [("datagrams", network), ("connection-faults", faults), ("peers", peers)];
    always.into_iter().chain(sometimes).filter_map(|(id, text)| Some(entry(id, text?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
