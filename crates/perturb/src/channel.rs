//! A channel step by step: which packet a receiver can get next.
//!
//! Write L(x) for the packets that were sent before x and delivered after x was for the first time.
//! Definition 5 of Sebih et al. (2015) allows a delivery if every packet arrives a number of times
//! that is in M, and |L(x)| is smaller than the capacity for every x that arrives.
//!
//! A beginning can be completed if and only if the packets that must still arrive, because the
//! number of their copies is not in M, fit into all those sets: deliver them in the order of
//! sending, and no other set grows. That is all there is to look at before a packet is delivered.
//!
//! Faults are counted when they are certain. A packet that was overtaken and has not arrived will
//! cost a loss or a reordering, we do not know which; it is *owed*, and an [`Account`] has room for
//! everything that is owed. The account is shared by all channels of an execution, and what one
//! channel owes is not spent by another.

use crate::rules::{Budget, Rules};

/// What a receiver sees next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This packet, or another copy of it.
    Packet(u32),
    /// Nothing any more of what was sent up to now.
    Nothing,
}

/// The faults of an execution, on all its channels. All zeros is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Account {
    /// Packets that never arrive.
    pub lost: u32,
    /// Copies of packets that had arrived already.
    pub duplicated: u32,
    /// Packets, or copies of them, that arrived after a packet that was sent later.
    pub reordered: u32,
    promised: Promises,
}

/// Faults that are certain to come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
struct Promises {
    /// Overtaken packets that have not arrived and need not: each is a loss or a reordering.
    owed: u32,
    /// How many of these cannot but be lost, since the network could not hold them all.
    doomed: u32,
    /// Copies that must arrive and will be late.
    forced: u32,
}

impl Account {
    fn promise(&mut self, before: Promises, now: Promises) {
        let promised = &mut self.promised;
        promised.owed = promised.owed - before.owed + now.owed;
        promised.doomed = promised.doomed - before.doomed + now.doomed;
        promised.forced = promised.forced - before.forced + now.forced;
    }

    fn is_within(&self, budget: &Budget) -> bool {
        let Promises { owed, doomed, forced } = self.promised;
        let late = self.reordered.saturating_add(forced);
        let lost_or_late = self.lost.saturating_add(late).saturating_add(owed);
        self.lost.saturating_add(doomed) <= budget.loss
            && self.duplicated <= budget.duplication
            && late <= budget.reordering
            && lost_or_late <= budget.loss.saturating_add(budget.reordering)
            && lost_or_late.saturating_add(self.duplicated) <= budget.total
    }
}

/// A packet that may still arrive, or that others may not be too late for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
struct Packet {
    /// The size of L of this packet.
    overtook: u32,
    /// When it arrived for the first and for the last time; zero if never.
    first: u32,
    last: u32,
    /// How often it arrived.
    copies: u8,
}

impl Packet {
    /// Whether this packet, sent before `other`, arrived after it.
    fn is_late_for(&self, other: &Packet) -> bool {
        self.last > other.first
    }
}

/// As many packets as are seldom exceeded: what may become of these is found out on a small copy.
const FEW: usize = 6;

/// Packets in flight from one end to the other; at most `N` at a time. All zeros is none.
///
/// Packets are numbered from 0 in the order of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Channel<const N: usize> {
    /// The number of the first packet in `packets`; all before it are over.
    oldest: u32,
    len: u32,
    /// How many deliveries there were.
    now: u32,
    promised: Promises,
    packets: [Packet; N],
}

impl<const N: usize> Default for Channel<N> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<const N: usize> Channel<N> {
    /// Nothing was sent.
    pub const EMPTY: Self = Channel {
        oldest: 0,
        len: 0,
        now: 0,
        promised: Promises { owed: 0, doomed: 0, forced: 0 },
        packets: [Packet { overtook: 0, first: 0, last: 0, copies: 0 }; N],
    };

    /// The oldest packet that is not over. Those before it never arrive again.
    #[must_use]
    pub fn oldest(&self) -> u32 {
        self.oldest
    }

    /// How many packets were sent.
    #[must_use]
    pub fn sent(&self) -> u32 {
        self.oldest + self.len
    }

    /// Sends a packet and returns its number, or `None` if there is no room for another.
    #[must_use]
    pub fn send(&mut self) -> Option<u32> {
        let place = self.packets.get_mut(self.len as usize)?;
        *place = Packet::default();
        self.len += 1;
        Some(self.oldest + self.len - 1)
    }

    /// What can be seen next, in the order in which it is to be explored: first the packets that
    /// lack copies by the multiplicity that comes first for them, then nothing, then further
    /// packets.
    pub fn options<'a>(
        &'a self,
        rules: &'a Rules,
        account: &'a Account,
    ) -> impl Iterator<Item = Next> + 'a {
        let packets = |wanted: bool| {
            let numbered = (self.oldest..).zip(self.live());
            numbered.filter_map(move |(number, packet)| {
                let lacks = rules.multiplicities.preferred(packet.copies) > Some(packet.copies);
                (lacks == wanted).then_some(Next::Packet(number))
            })
        };
        packets(true)
            .chain([Next::Nothing])
            .chain(packets(false))
            .filter(|&next| self.allows(next, rules, account))
    }

    /// Whether a receiver that polls now gets one of the sent packets, for the first time,
    /// and so it would be if more had been sent: after `more` packets that the channel does not know
    /// of. The faults of an execution must not be limited.
    #[must_use]
    pub fn is_certain(&self, more: u32, rules: &Rules) -> bool {
        let most = rules.multiplicities.most();
        let may_come_again = |packet: &Packet| (1..most).contains(&packet.copies);
        let is_awaited = more > 0 || self.live().iter().any(|packet| packet.copies == 0);
        let may_be_lost = rules.multiplicities.contains(0);
        is_awaited && !may_be_lost && !self.live().iter().any(may_come_again)
    }

    /// The next packet of a receiver if the network is reliable.
    #[must_use]
    pub fn undisturbed(&self) -> Next {
        let fresh = self.live().iter().position(|packet| packet.copies == 0);
        fresh.map_or(Next::Nothing, |at| Next::Packet(self.oldest + at as u32))
    }

    /// Whether a receiver can see this next.
    #[must_use]
    pub fn allows(&self, next: Next, rules: &Rules, account: &Account) -> bool {
        let mut account = *account;
        let seen = match self.resized::<FEW>() {
            Some(mut few) => few.advance(next, rules, &mut account),
            None => self.after(next, rules, &account).map(|_| ()),
        };
        seen.is_some()
    }

    /// The channel and the account after a receiver saw this, or `None` if it cannot.
    #[must_use]
    pub fn after(&self, next: Next, rules: &Rules, account: &Account) -> Option<(Self, Account)> {
        let (mut channel, mut account) = (*self, *account);
        channel.advance(next, rules, &mut account)?;
        Some((channel, account))
    }

    /// Goes on to where a receiver has seen this. If it is `None`, it cannot, and channel and account
    /// are of no use any more.
    #[must_use]
    pub fn advance(&mut self, next: Next, rules: &Rules, account: &mut Account) -> Option<()> {
        match next {
            Next::Packet(number) => self.deliver(number, rules, account)?,
            Next::Nothing => self.settle(self.len as usize, rules, account)?,
        }
        let before = self.promised;
        self.promised = self.promises(rules)?;
        account.promise(before, self.promised);
        account.is_within(&rules.budget).then_some(())
    }

    /// The same with room for more or fewer packets, if there is enough.
    fn resized<const M: usize>(&self) -> Option<Channel<M>> {
        let Channel { oldest, len, now, promised, .. } = *self;
        let mut packets = [Packet::default(); M];
        packets.get_mut(..self.live().len())?.copy_from_slice(self.live());
        Some(Channel { oldest, len, now, promised, packets })
    }

    fn live(&self) -> &[Packet] {
        &self.packets[..self.len as usize]
    }

    fn deliver(&mut self, number: u32, rules: &Rules, account: &mut Account) -> Option<()> {
        let at = number.checked_sub(self.oldest)? as usize;
        let (earlier, later) = self.packets[..self.len as usize].split_at_mut_checked(at + 1)?;
        let packet = &mut earlier[at];
        rules.multiplicities.least(packet.copies.checked_add(1)?)?;
        account.duplicated += u32::from(packet.copies > 0);
        account.reordered += u32::from(later.iter().any(|other| other.copies > 0));
        for other in later.iter_mut().filter(|other| other.copies > 0) {
            other.overtook += u32::from(!packet.is_late_for(other));
            (other.overtook < rules.capacity).then_some(())?;
        }
        self.now += 1;
        packet.last = self.now;
        if packet.copies == 0 {
            packet.first = self.now;
        }
        packet.copies += 1;
        while self.is_over(rules) {
            self.settle(1, rules, account)?;
        }
        Some(())
    }

    /// Whether the oldest packet can never arrive again.
    fn is_over(&self, rules: &Rules) -> bool {
        let Some((packet, later)) = self.live().split_first() else { return false };
        packet.copies >= rules.multiplicities.most()
            || later.iter().any(|other| {
                other.copies > 0
                    && other.overtook + 1 >= rules.capacity
                    && !packet.is_late_for(other)
            })
    }

    /// Gives up the oldest packets. They must have arrived often enough.
    fn settle(&mut self, count: usize, rules: &Rules, account: &mut Account) -> Option<()> {
        for packet in &self.live()[..count] {
            rules.multiplicities.contains(packet.copies).then_some(())?;
            account.lost += u32::from(packet.copies == 0);
        }
        self.packets[..self.len as usize].copy_within(count.., 0);
        self.oldest += count as u32;
        self.len -= count as u32;
        self.packets[self.len as usize..][..count].fill(Packet::default());
        Some(())
    }

    /// What is certain to come, or `None` if there is no way on.
    fn promises(&self, rules: &Rules) -> Option<Promises> {
        let (multiplicities, spare) = (&rules.multiplicities, rules.capacity - 1);
        let arrived = |packet: &&Packet| packet.copies > 0;
        let mut promises = Promises::default();
        for (at, packet) in self.live().iter().enumerate() {
            let earlier = &self.live()[..at];
            if arrived(&packet) {
                let must = earlier.iter().filter(|packet| !multiplicities.contains(packet.copies));
                let must = must.filter(|other| !other.is_late_for(packet)).count() as u32;
                let may = earlier.iter().filter(|other| !arrived(other)).count() as u32;
                let may = if multiplicities.contains(0) { may } else { 0 };
                let room = spare.checked_sub(packet.overtook)?.checked_sub(must)?;
                promises.doomed = promises.doomed.max(may.saturating_sub(room));
            }
            if self.live()[at + 1..].iter().any(|other| arrived(&other)) {
                let lacking = multiplicities.least(packet.copies)? - packet.copies;
                promises.forced += u32::from(lacking);
                promises.owed += u32::from(packet.copies == 0 && lacking == 0);
            }
        }
        Some(promises)
    }
}
