//! All complete deliveries of a number of packets.

use crate::channel::{Account, Channel, Next};
use crate::rules::Rules;
use alloc::vec;
use alloc::vec::{IntoIter, Vec};

/// How many packets a sequence may have whose deliveries are generated.
pub const MOST_PACKETS: usize = 64;

type Sequence = Channel<MOST_PACKETS>;

/// The deliveries of definition 5 of Sebih et al. (2015), each exactly once, generated when asked
/// for. Each is the numbers of the packets in the order of their arrival.
///
/// They come in the order in which [`Channel::options`] are to be explored, depth first: with 1 as
/// the first multiplicity, the first one is what was sent.
#[derive(Clone, Debug)]
pub struct Deliveries {
    rules: Rules,
    /// What was delivered on the way to where we are.
    delivered: Vec<u32>,
    /// What is left to try after each beginning of `delivered`.
    path: Vec<Place>,
}

#[derive(Clone, Debug)]
struct Place {
    channel: Sequence,
    account: Account,
    options: IntoIter<Next>,
}

impl Place {
    fn new(channel: Sequence, account: Account, rules: &Rules) -> Self {
        let options: Vec<Next> = channel.options(rules, &account).collect();
        Place { channel, account, options: options.into_iter() }
    }
}

impl Deliveries {
    /// The deliveries of `packets` packets, or `None` if these are more than [`MOST_PACKETS`].
    #[must_use]
    pub fn of(packets: usize, rules: Rules) -> Option<Self> {
        let mut channel = Sequence::EMPTY;
        for _ in 0..packets {
            channel.send()?;
        }
        let path = vec![Place::new(channel, Account::default(), &rules)];
        Some(Deliveries { rules, delivered: Vec::new(), path })
    }
}

impl Iterator for Deliveries {
    type Item = Vec<u32>;

    fn next(&mut self) -> Option<Vec<u32>> {
        loop {
            let place = self.path.last_mut()?;
            match place.options.next() {
                Some(Next::Nothing) => return Some(self.delivered.clone()),
                Some(next @ Next::Packet(number)) => {
                    let after = place.channel.after(next, &self.rules, &place.account);
                    if let Some((channel, account)) = after {
                        self.path.push(Place::new(channel, account, &self.rules));
                        self.delivered.push(number);
                    }
                }
                None => {
                    self.path.pop();
                    self.delivered.pop();
                }
            }
        }
    }
}
