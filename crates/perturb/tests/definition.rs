//! What is generated is what the definition says, sequence by sequence.

use crate::reference::{Faults, is_delivery, sequences};
use everypath_perturb::{Account, Budget, Channel, Deliveries, Multiplicities, Next, Rules};
use std::collections::BTreeSet;

fn rules(choices: &[u8], capacity: u32, budget: Budget) -> Rules {
    Rules::new(Multiplicities::new(choices).unwrap(), capacity, budget).unwrap()
}

/// All subsets of 0 to 3 but the empty one.
fn multiplicities() -> impl Iterator<Item = Vec<u8>> {
    (1..16_u8).map(|set| (0..4).filter(|choice| set & (1 << choice) != 0).collect())
}

/// The elements, each of which must have come once.
fn distinct<T: Ord + std::fmt::Debug>(elements: impl Iterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    for element in elements {
        let again = format!("{element:?} came twice");
        assert!(set.insert(element), "{again}");
    }
    set
}

#[test]
fn as_many_as_the_paper_defines() {
    let expected: [(usize, &[u8], u32, usize); 12] = [
        (2, &[0, 1, 2], 2, 19),
        (2, &[1, 2], 2, 14),
        (2, &[0, 1], 2, 5),
        (3, &[1], 2, 4),
        (3, &[0, 1], 2, 14),
        (3, &[0, 1], 3, 16),
        (3, &[0, 1, 2], 1, 27),
        (3, &[0, 1, 2], 2, 135),
        (3, &[0, 1, 2], 3, 271),
        (3, &[1, 2], 3, 222),
        (4, &[0, 1], 3, 59),
        (4, &[1, 2], 2, 518),
    ];
    for (packets, choices, capacity, count) in expected {
        let rules = rules(choices, capacity, Budget::UNLIMITED);
        let generated = Deliveries::of(packets, rules).unwrap().count();
        assert_eq!(generated, count, "{packets} packets, {choices:?}, capacity {capacity}");
    }
}

#[test]
fn every_set_is_the_defined_one() {
    let mut compared = 0;
    for choices in multiplicities() {
        let most = *choices.iter().max().unwrap();
        for packets in 0..=6 {
            let Some(sequences) = sequences(packets, most) else { continue };
            for capacity in 1..=packets + 1 {
                let rules = rules(&choices, capacity, Budget::UNLIMITED);
                let generated = distinct(Deliveries::of(packets as usize, rules).unwrap());
                let defined = sequences
                    .iter()
                    .filter(|sequence| is_delivery(sequence, packets, &choices, capacity))
                    .cloned()
                    .collect();
                assert_eq!(generated, defined, "{packets} of {choices:?}, capacity {capacity}");
                compared += generated.len();
            }
        }
    }
    assert!(compared > 100_000, "only {compared} deliveries were compared");
}

#[test]
fn a_budget_keeps_the_deliveries_with_few_faults() {
    let budgets = ["loss=1", "dup=1", "reorder=1", "total=1", "loss=1,reorder=0", "total=2,dup=1"];
    let rows: [&[u8]; 6] = [&[1], &[0, 1], &[1, 2], &[1, 0, 2], &[1, 2, 3], &[0, 1, 2, 3]];
    for choices in rows {
        let most = *choices.iter().max().unwrap();
        for (packets, capacity) in (0..=4).flat_map(|packets| (1..=4).map(move |c| (packets, c))) {
            let Some(sequences) = sequences(packets, most) else { continue };
            for text in budgets {
                let budget: Budget = text.parse().unwrap();
                let rules = rules(choices, capacity, budget);
                let generated = distinct(Deliveries::of(packets as usize, rules).unwrap());
                let defined = sequences
                    .iter()
                    .filter(|sequence| is_delivery(sequence, packets, choices, capacity))
                    .filter(|sequence| Faults::of(sequence, packets).are_within(&budget))
                    .cloned()
                    .collect();
                assert_eq!(generated, defined, "{packets}, {choices:?}, {capacity}, {text}");
            }
        }
    }
}

/// Two channels with packets, and what was delivered on each.
#[derive(Clone, Default)]
struct Pair {
    channels: [Channel<4>; 2],
    account: Account,
    delivered: [Vec<u32>; 2],
}

/// Empties the channels in every order; every way leads to an end.
fn empty(pair: &Pair, rules: &Rules, open: &[usize], ends: &mut BTreeSet<[Vec<u32>; 2]>) {
    if open.is_empty() {
        ends.insert(pair.delivered.clone());
    }
    for &which in open {
        let options: Vec<Next> = pair.channels[which].options(rules, &pair.account).collect();
        assert!(!options.is_empty(), "{:?} leads nowhere", pair.delivered);
        for next in options {
            let mut after = pair.clone();
            (after.channels[which], after.account) =
                pair.channels[which].after(next, rules, &pair.account).unwrap();
            let mut open = open.to_vec();
            match next {
                Next::Packet(number) => after.delivered[which].push(number),
                Next::Nothing => open.retain(|&other| other != which),
            }
            empty(&after, rules, &open, ends);
        }
    }
}

#[test]
fn channels_share_a_budget() {
    for text in ["loss=1,reorder=1", "total=1", "loss=0,reorder=2", "loss=2,reorder=0,dup=1"] {
        for (choices, capacity) in [(&[0, 1][..], 2), (&[0, 1], 3), (&[0, 1, 2], 1), (&[1], 2)] {
            let budget: Budget = text.parse().unwrap();
            let rules = rules(choices, capacity, budget);
            let (packets, most) = ([3, 2], *choices.iter().max().unwrap());
            let mut pair = Pair::default();
            for (channel, packets) in pair.channels.iter_mut().zip(packets) {
                (0..packets).for_each(|number| assert_eq!(channel.send(), Some(number)));
            }
            let mut ends = BTreeSet::new();
            empty(&pair, &rules, &[0, 1], &mut ends);
            let of = |packets| {
                let mut sequences = sequences(packets, most).unwrap();
                sequences.retain(|sequence| is_delivery(sequence, packets, choices, capacity));
                sequences
            };
            let mut defined = BTreeSet::new();
            for (one, other) in of(3)
                .iter()
                .flat_map(|one| of(2).into_iter().map(move |other| (one.clone(), other)))
            {
                let faults = Faults::of(&one, 3) + Faults::of(&other, 2);
                if faults.are_within(&budget) {
                    defined.insert([one, other]);
                }
            }
            assert_eq!(ends, defined, "{text}, {choices:?}, capacity {capacity}");
        }
    }
}

/// All deliveries when packets are sent while others are received: one before each delivery.
fn meanwhile(pair: &Pair, packets: u32, rules: &Rules, ends: &mut Vec<Vec<u32>>) {
    let Pair { channels: [mut channel, _], account, .. } = pair.clone();
    if channel.sent() < packets {
        channel.send().unwrap();
    }
    for next in channel.options(rules, &account).collect::<Vec<_>>() {
        let mut after = pair.clone();
        (after.channels[0], after.account) = channel.after(next, rules, &account).unwrap();
        match next {
            Next::Packet(number) => {
                after.delivered[0].push(number);
                meanwhile(&after, packets, rules, ends);
            }
            Next::Nothing if channel.sent() == packets => ends.push(pair.delivered[0].clone()),
            // Giving up what was sent is for a receiver that saw nothing; this one always does.
            Next::Nothing => {}
        }
    }
}

#[test]
fn what_is_sent_later_arrives_later() {
    for choices in [&[0, 1][..], &[1], &[1, 2], &[1, 0, 2], &[2], &[0, 2]] {
        for (packets, capacity) in (1..=4).flat_map(|packets| (1..=4).map(move |c| (packets, c))) {
            let rules = rules(choices, capacity, Budget::UNLIMITED);
            let mut ends = Vec::new();
            meanwhile(&Pair::default(), packets, &rules, &mut ends);
            let generated = distinct(ends.into_iter());
            let most = *choices.iter().max().unwrap();
            let Some(mut sequences) = sequences(packets, most) else { continue };
            sequences.retain(|sequence| {
                let sent = (0..).zip(sequence).all(|(at, &number)| number <= at);
                let all_sent = sequence.len() + 1 >= packets as usize;
                sent && all_sent && is_delivery(sequence, packets, choices, capacity)
            });
            let defined = sequences.into_iter().collect();
            assert_eq!(generated, defined, "{packets} of {choices:?}, capacity {capacity}");
        }
    }
}
