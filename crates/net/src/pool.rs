//! A network that may deliver packets in any order: a multiset.

use crate::{Canonical, Cloud, Envelope, Kind, MultisetSketch, NodeId, Options, PacketOrder};
use std::cmp::Ordering;
use std::marker::PhantomData;

/// Packets of which any may be delivered or lost next: a multiset.
///
/// They are kept as they are written, one after the other and in ascending order of their bytes:
/// a byte for the length of what follows, the receiver, the sender, the packet. Restoring a state
/// copies these bytes, and only the packet that is delivered is ever decoded. In front of them is
/// written how many bytes follow.
#[derive(Clone, Debug)]
pub struct Pool<P> {
    bytes: Vec<u8>,
    order: PacketOrder,
    /// Whether packets that are identical are one to choose.
    identical: bool,
    packets: PhantomData<fn() -> P>,
}

/// The packets in `bytes`, each with its length.
struct Items<'a>(&'a [u8]);

impl<'a> Iterator for Items<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let length = usize::from(*self.0.first()?) + 1;
        let (item, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(item)
    }
}

/// Whom a packet is for.
#[inline]
fn receiver(item: &[u8]) -> NodeId {
    match item[1] {
        near @ 0..0x80 => NodeId::from(near),
        _ => {
            let mut to = 0;
            NodeId::read(&mut to, &mut &item[1..]);
            to
        }
    }
}

fn decode<P: Canonical + Default>(item: &[u8]) -> Envelope<P> {
    let mut bytes = &item[1..];
    let mut envelope = Envelope::<P>::default();
    envelope.to.read(&mut bytes);
    envelope.from.read(&mut bytes);
    envelope.packet.read(&mut bytes);
    envelope
}

fn matches<P: Canonical + Default>(item: &[u8], to: NodeId, kind: &Kind<P>) -> bool {
    receiver(item) == to
        && match kind {
            Kind::Any => true,
            Kind::Where(test) => test(&decode(item).packet),
        }
}

impl<P: Canonical + Default> Pool<P> {
    /// Where in `bytes` a packet starts and ends.
    fn find(&self, to: NodeId, kind: &Kind<P>, choice: u32) -> Option<std::ops::Range<usize>> {
        let mut start = 0;
        let mut left = choice;
        let mut last: &[u8] = &[];
        for item in Items(&self.bytes) {
            let copy = self.identical && item == std::mem::replace(&mut last, item);
            if !copy && matches(item, to, kind) {
                if left == 0 {
                    return Some(start..start + item.len());
                }
                left -= 1;
            }
            start += item.len();
        }
        None
    }
}

impl<P: Canonical + Default> Cloud<P> for Pool<P> {
    const RELATED: bool = true;
    const COMMUTES: bool = true;

    fn new(options: &Options) -> Self {
        // Only in ascending order are copies next to each other.
        let identical = options.identical && options.order == PacketOrder::None;
        Pool { bytes: Vec::new(), order: options.order, identical, packets: PhantomData }
    }

    /// # Panics
    ///
    /// If the packet takes more than some 250 bytes.
    fn put(&mut self, from: NodeId, to: NodeId, packet: P) {
        let end = self.bytes.len();
        self.bytes.push(0);
        to.write(&mut self.bytes);
        from.write(&mut self.bytes);
        packet.write(&mut self.bytes);
        let length = self.bytes.len() - end;
        self.bytes[end] = u8::try_from(length - 1).expect("a packet of at most 255 bytes");
        if self.order == PacketOrder::None {
            let (before, new) = self.bytes.split_at(end);
            let smaller = Items(before).take_while(|item| *item <= new);
            let place = smaller.map(<[u8]>::len).sum::<usize>();
            self.bytes[place..].rotate_right(length);
        }
    }

    fn choices(&self, to: NodeId, kind: &Kind<P>) -> u32 {
        let mut last: &[u8] = &[];
        let mut choices = 0;
        for item in Items(&self.bytes) {
            let copy = self.identical && item == std::mem::replace(&mut last, item);
            choices += u32::from(!copy && matches(item, to, kind));
        }
        choices
    }

    fn look(&self, to: NodeId, kind: &Kind<P>, choice: u32) -> Option<Envelope<P>> {
        Some(decode(&self.bytes[self.find(to, kind, choice)?]))
    }

    fn take(&mut self, to: NodeId, kind: &Kind<P>, choice: u32) -> Option<Envelope<P>> {
        let place = self.find(to, kind, choice)?;
        let envelope = decode(&self.bytes[place.clone()]);
        self.bytes.drain(place);
        Some(envelope)
    }

    fn lose(&mut self, mut dead: impl FnMut(&Envelope<P>) -> bool) {
        let mut at = 0;
        while at < self.bytes.len() {
            let end = at + 1 + usize::from(self.bytes[at]);
            if dead(&decode(&self.bytes[at..end])) {
                self.bytes.drain(at..end);
            } else {
                at = end;
            }
        }
    }

    fn envelopes(&self) -> impl Iterator<Item = Envelope<P>> {
        Items(&self.bytes).map(decode)
    }

    #[inline]
    fn sketch(bytes: &[u8]) -> MultisetSketch {
        MultisetSketch::of(Items(packets(bytes)))
    }

    /// Both are in ascending order, so one walk along both decides.
    #[inline]
    fn includes(larger: &[u8], smaller: &[u8]) -> bool {
        if smaller.len() >= larger.len() {
            return smaller == larger;
        }
        let (larger, smaller) = (packets(larger), packets(smaller));
        let mut candidates = Items(larger);
        Items(smaller).all(|wanted| {
            let mut orders = candidates.by_ref().map(|item| item.cmp(wanted));
            orders.find(|order| order.is_ge()) == Some(Ordering::Equal)
        })
    }
}

/// The packets after the length.
#[inline]
fn packets(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    usize::read(&mut 0, &mut rest);
    rest
}

impl<P: Canonical + Default> Canonical for Pool<P> {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.bytes.len().write(bytes);
        bytes.extend_from_slice(&self.bytes);
    }
    fn read(&mut self, bytes: &mut &[u8]) {
        let mut length = 0usize;
        length.read(bytes);
        let (own, rest) = bytes.split_at(length);
        self.bytes.clear();
        self.bytes.extend_from_slice(own);
        *bytes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Topology;
    use proptest::prelude::*;

    type Sent = Vec<(NodeId, NodeId, u32)>;

    fn pool(order: PacketOrder, sent: &Sent) -> Pool<u32> {
        let options = Options { order, ..Options::new(Topology::chain(2)) };
        let mut pool = Pool::new(&options);
        sent.iter().for_each(|&(from, to, packet)| pool.put(from, to, packet));
        pool
    }

    fn bytes(pool: &Pool<u32>) -> Vec<u8> {
        let mut bytes = Vec::new();
        pool.write(&mut bytes);
        bytes
    }

    fn packets() -> impl Strategy<Value = Sent> {
        prop::collection::vec((0..300u16, prop_oneof![0..3u16, 120..400u16], 0..300u32), 0..8)
    }

    /// Inclusion as the textbooks define it.
    fn is_included(smaller: &Sent, larger: &Sent) -> bool {
        let count = |all: &Sent, one| all.iter().filter(|other| *other == one).count();
        smaller.iter().all(|one| count(smaller, one) <= count(larger, one))
    }

    proptest! {
        #[test]
        fn the_order_of_sending_leaves_no_trace_in_a_multiset(
            (sent, shuffled) in packets().prop_flat_map(|s| (Just(s.clone()), Just(s).prop_shuffle()))
        ) {
            prop_assert_eq!(bytes(&pool(PacketOrder::None, &sent)), bytes(&pool(PacketOrder::None, &shuffled)));
            let kept = pool(PacketOrder::Sent, &sent);
            let kept: Sent = kept.envelopes().map(|e| (e.from, e.to, e.packet)).collect();
            prop_assert_eq!(kept, sent);
        }

        #[test]
        fn inclusion_on_bytes_is_inclusion_of_multisets(
            (sent, kept, other) in packets().prop_flat_map(|s| {
                let most = s.len();
                (Just(s.clone()), prop::sample::subsequence(s, 0..=most), packets())
            })
        ) {
            for (larger, smaller) in [(&sent, &kept), (&kept, &sent), (&sent, &other)] {
                let [larger_bytes, smaller_bytes] =
                    [larger, smaller].map(|packets| bytes(&pool(PacketOrder::None, packets)));
                let included = Pool::<u32>::includes(&larger_bytes, &smaller_bytes);
                prop_assert_eq!(included, is_included(smaller, larger));
            }
        }

        #[test]
        fn every_packet_can_be_taken_and_only_once(sent in packets(), choice: prop::sample::Index) {
            let mut pool = pool(PacketOrder::None, &sent);
            for to in 0..3 {
                let kind = Kind::Where(|packet: &u32| packet.is_multiple_of(2));
                let choices = pool.choices(to, &kind);
                prop_assert_eq!(pool.look(to, &kind, choices), None);
                let Some(choice) = (choices > 0).then(|| choice.index(choices as usize)) else {
                    continue;
                };
                let looked = pool.look(to, &kind, choice as u32);
                let before = pool.envelopes().count();
                let taken = pool.take(to, &kind, choice as u32);
                prop_assert_eq!(&taken, &looked);
                prop_assert!(taken.is_some_and(|e| e.to == to && e.packet % 2 == 0));
                prop_assert_eq!(pool.choices(to, &kind), choices - 1);
                prop_assert_eq!(pool.envelopes().count(), before - 1);
            }
        }

        #[test]
        fn exactly_the_dead_are_lost(sent in packets()) {
            let mut pool = pool(PacketOrder::Sent, &sent);
            pool.lose(|envelope| envelope.packet > 100 || envelope.from == 3);
            let kept: Sent = pool.envelopes().map(|e| (e.from, e.to, e.packet)).collect();
            let living = |&(from, _, packet): &_| packet <= 100 && from != 3;
            prop_assert_eq!(kept, sent.into_iter().filter(living).collect::<Sent>());
        }

        #[test]
        fn reading_gives_back_what_was_written(sent in packets(), other in packets()) {
            let mut written = bytes(&pool(PacketOrder::None, &sent));
            written.push(7);
            let mut rest = &written[..];
            let mut read = pool(PacketOrder::None, &other);
            read.read(&mut rest);
            prop_assert_eq!(rest, &[7][..]);
            prop_assert!(read.envelopes().eq(pool(PacketOrder::None, &sent).envelopes()));
        }
    }
}
