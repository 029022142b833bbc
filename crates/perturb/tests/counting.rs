//! How many deliveries there are, by a recurrence over the definition: far more packets than can be
//! delivered one way after the other.

use everypath_perturb::{Budget, Deliveries, Multiplicities, Rules};
use std::collections::BTreeMap;

/// A packet that may still arrive, or that others may be late for: how often it arrived, and which of
/// those before it arrived after it did for the first time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Packet {
    copies: u8,
    /// How many more may be late for it; none if it has not arrived.
    room: Option<usize>,
    /// Whether it can arrive again.
    is_over: bool,
    /// For each packet before it, whether that was late for it.
    late: Vec<bool>,
}

struct Counting {
    choices: Vec<u8>,
    capacity: usize,
    known: BTreeMap<Vec<Packet>, u64>,
}

impl Counting {
    /// The number of deliveries of so many packets.
    fn of(packets: usize, choices: &[u8], capacity: usize) -> u64 {
        let packet = |at| Packet { copies: 0, room: None, is_over: false, late: vec![false; at] };
        let sent: Vec<Packet> = (0..packets).map(packet).collect();
        let (choices, known) = (choices.to_vec(), BTreeMap::new());
        Counting { choices, capacity, known }.count(sent)
    }

    fn most(&self) -> u8 {
        self.choices.iter().copied().max().expect("there are some")
    }

    /// In how many ways a delivery goes on.
    fn count(&mut self, mut packets: Vec<Packet>) -> u64 {
        for at in 0..packets.len() {
            let is_over = packets[at].copies == self.most() || !fits(&packets, at);
            let was_over = std::mem::replace(&mut packets[at].is_over, is_over);
            if is_over && !was_over && !self.choices.contains(&packets[at].copies) {
                return 0;
            }
            packets[at].is_over |= was_over;
        }
        forget(&mut packets);
        if let Some(&known) = self.known.get(&packets) {
            return known;
        }
        let is_done = |it: &Packet| it.is_over || self.choices.contains(&it.copies);
        let is_over = packets.iter().all(is_done);
        let mut count = u64::from(is_over);
        for at in (0..packets.len()).filter(|&at| !packets[at].is_over) {
            count += self.count(self.after(&packets, at));
        }
        self.known.insert(packets, count);
        count
    }

    /// What is left after a packet arrived.
    fn after(&self, packets: &[Packet], at: usize) -> Vec<Packet> {
        let mut after = packets.to_vec();
        for later in &mut after[at + 1..] {
            if let Some(room) = later.room.as_mut().filter(|_| !later.late[at]) {
                *room -= 1;
                later.late[at] = true;
            }
        }
        after[at].copies += 1;
        after[at].room.get_or_insert(self.capacity - 1);
        after
    }
}

/// Whether a packet is not too late for any that arrived before.
fn fits(packets: &[Packet], at: usize) -> bool {
    packets[at + 1..].iter().all(|later| later.room != Some(0) || later.late[at])
}

/// Leaves out what makes no difference any more: packets that are over if all before them are, and
/// who was late among those that are.
fn forget(packets: &mut Vec<Packet>) {
    let first = packets.iter().position(|it| !it.is_over).unwrap_or(packets.len());
    packets.drain(..first);
    for packet in packets.iter_mut() {
        packet.late.drain(..first.min(packet.late.len()));
    }
    let over: Vec<bool> = packets.iter().map(|it| it.is_over).collect();
    for packet in packets.iter_mut() {
        let late = packet.late.iter_mut().zip(&over);
        late.for_each(|(late, &is_over)| *late |= is_over);
        if packet.is_over {
            // It only keeps others from coming.
            packet.copies = 0;
        }
    }
}

#[test]
fn as_many_as_are_generated() {
    let choices: [&[u8]; 7] = [&[1], &[0, 1], &[1, 2], &[0, 1, 2], &[2], &[0, 2], &[0, 1, 3]];
    for choices in choices {
        let multiplicities = Multiplicities::new(choices).unwrap();
        for packets in 0..=5 {
            for capacity in 1..=4 {
                let rules = Rules::new(multiplicities, capacity, Budget::UNLIMITED).unwrap();
                let generated = Deliveries::of(packets, rules).unwrap().take(20_000).count() as u64;
                let counted = Counting::of(packets, choices, capacity as usize);
                let what = format!("{packets} of {choices:?}, capacity {capacity}");
                assert_eq!(generated, counted.min(20_000), "{what}");
            }
        }
    }
}

/// More packets than are looked at in a small copy.
#[test]
fn of_many_packets() {
    for (packets, choices, capacity) in
        [(9, &[1][..], 2), (8, &[1], 7), (9, &[0, 1], 1), (8, &[0, 1], 2), (9, &[1, 2], 1)]
    {
        let rules = Rules::new(Multiplicities::new(choices).unwrap(), capacity, Budget::UNLIMITED);
        let generated = Deliveries::of(packets, rules.unwrap()).unwrap().count() as u64;
        assert_eq!(generated, Counting::of(packets, choices, capacity as usize));
    }
}

/// What the documentation says of the configurations of the paper's figure 9.
#[test]
fn of_nine_packets() {
    let rows = [(&[1][..], 1, 1), (&[1, 2], 1, 512), (&[0, 1], 1, 512), (&[1], 2, 256)];
    for (choices, capacity, count) in rows {
        assert_eq!(Counting::of(9, choices, capacity), count, "{choices:?}, {capacity}");
    }
    assert_eq!(Counting::of(8, &[0, 1, 2], 2), 2_305_819);
    assert_eq!(Counting::of(9, &[0, 1, 2], 2), 16_141_239);
    assert_eq!(Counting::of(9, &[1], 9), 362_880);
}
