//! ARQ against the figures of Sobeih (2008).

use everypath_explore::{
    Add, Control, Exploration, Model as _, Order, Search, Task, VisitedKind, explore,
};
use everypath_net::Config;
use everypath_protocols::arq::Model;

fn run(bugs: &[&str], rank: &str, search: &Search) -> Exploration {
    let bugs = bugs.iter().map(ToString::to_string).collect();
    let model = Model::build(&Config { nodes: 2, bugs });
    let ranks = model.ranks();
    let task = Task {
        system: &model,
        properties: &model.properties(),
        rank: ranks.iter().find(|candidate| candidate.name == rank),
        search,
    };
    explore(&task, &Control::default())
}

#[test]
fn facts() {
    for depth in [30, 35] {
        let r = run(
            &[],
            "1",
            &Search {
                max_depth: Some(depth),
                ..Search::default()
            },
        );
        println!("{:?}", r.counts);
        let r = run(
            &["unchecked-ack"],
            "1",
            &Search {
                max_depth: Some(depth),
                keep_going: true,
                ..Search::default()
            },
        );
        println!(
            "{:?} {}",
            r.counts,
            r.counts.safe as f64 / r.counts.events as f64
        );
    }
    for s in Search::fourteen(1) {
        let s = Search {
            max_depth: Some(10),
            ..s
        };
        let r = run(&["unchecked-ack"], "1", &s);
        println!(
            "{:?} {} {:?} {:?} stored {} events {} depth {}",
            s.order,
            s.add,
            s.shuffle,
            r.ended,
            r.counts.stored,
            r.counts.events,
            r.found[0].schedule.len()
        );
        if s.order == Order::Befs {
            let r = run(&["unchecked-ack"], "2", &s);
            println!(
                "rank2 {:?} {} {:?} {:?} stored {} events {} depth {}",
                s.order,
                s.add,
                s.shuffle,
                r.ended,
                r.counts.stored,
                r.counts.events,
                r.found[0].schedule.len()
            );
        }
    }
}
