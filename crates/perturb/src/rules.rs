//! The settings: multiplicities, window of reordering, budget of faults.

use core::fmt::{self, Display, Formatter};
use core::str::FromStr;

/// How many different multiplicities there may be.
const MOST_CHOICES: usize = 16;

/// How often a packet may be delivered: a set of numbers, in the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Multiplicities {
    // Only the first `len` count; never none, never one twice.
    order: [u8; MOST_CHOICES],
    len: u8,
}

impl Multiplicities {
    /// Every packet arrives exactly once.
    pub const ONCE: Self = Multiplicities { order: [1; MOST_CHOICES], len: 1 };

    /// A set of multiplicities, in the order in which they are to be tried.
    pub fn new(choices: &[u8]) -> Result<Self, BadRules> {
        if choices.is_empty() {
            return Err(BadRules::NoMultiplicity);
        }
        let mut order = [0; MOST_CHOICES];
        for (at, &choice) in choices.iter().enumerate() {
            if choices[..at].contains(&choice) {
                return Err(BadRules::Twice(choice));
            }
            *order.get_mut(at).ok_or(BadRules::TooManyMultiplicities)? = choice;
        }
        #[expect(clippy::cast_possible_truncation, reason = "there are at most MOST_CHOICES")]
        Ok(Multiplicities { order, len: choices.len() as u8 })
    }

    /// The multiplicities, in the order in which they are tried.
    #[must_use]
    pub fn choices(&self) -> &[u8] {
        &self.order[..usize::from(self.len)]
    }

    /// Whether a packet may be delivered exactly so many times.
    pub(crate) fn contains(&self, copies: u8) -> bool {
        self.choices().contains(&copies)
    }

    /// How often a packet that arrived so many times is delivered in the end, by preference.
    pub(crate) fn preferred(&self, copies: u8) -> Option<u8> {
        self.choices().iter().copied().find(|&choice| choice >= copies)
    }

    /// How often a packet that arrived so many times is delivered in the end, at least.
    pub(crate) fn least(&self, copies: u8) -> Option<u8> {
        self.choices().iter().copied().filter(|&choice| choice >= copies).min()
    }

    /// The largest multiplicity.
    pub(crate) fn most(&self) -> u8 {
        self.choices().iter().copied().max().unwrap_or(0)
    }

    /// Whether one copy is enough, and so is any number of further copies up to the largest.
    fn one_is_enough(&self) -> bool {
        self.most() > 0 && (1..=self.most()).all(|copies| self.contains(copies))
    }
}

impl Display for Multiplicities {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, choice) in self.choices().iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{choice}")?;
        }
        Ok(())
    }
}

impl FromStr for Multiplicities {
    type Err = BadRules;

    /// Reads a list such as `1,0,2`.
    fn from_str(text: &str) -> Result<Self, BadRules> {
        let mut choices = [0; MOST_CHOICES];
        let mut len = 0;
        for word in text.split(',') {
            let choice = word.trim().parse().map_err(|_| BadRules::NotAMultiplicity)?;
            *choices.get_mut(len).ok_or(BadRules::TooManyMultiplicities)? = choice;
            len += 1;
        }
        Multiplicities::new(&choices[..len])
    }
}

/// How many faults there may be in one execution; `u32::MAX` is as many as the other rules allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Budget {
    /// Packets that never arrive.
    pub loss: u32,
    /// Copies of packets that arrived already.
    pub duplication: u32,
    /// Packets, or copies of them, that arrive after a packet that was sent later.
    pub reordering: u32,
    /// All of these together.
    pub total: u32,
}

impl Budget {
    /// No limit but those of multiplicities and capacity.
    pub const UNLIMITED: Self =
        Budget { loss: u32::MAX, duplication: u32::MAX, reordering: u32::MAX, total: u32::MAX };
}

impl Display for Budget {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for (key, number) in [
            ("loss", self.loss),
            ("dup", self.duplication),
            ("reorder", self.reordering),
            ("total", self.total),
        ] {
            if number != u32::MAX {
                write!(f, "{comma}{key}={number}")?;
                comma = ",";
            }
        }
        Ok(())
    }
}

impl FromStr for Budget {
    type Err = BadRules;

    /// Reads a list such as `loss=2,dup=1`; the keys are `loss`, `dup`, `reorder` and `total`.
    /// What is not named is not limited.
    fn from_str(text: &str) -> Result<Self, BadRules> {
        let mut budget = Budget::UNLIMITED;
        for word in text.split(',') {
            let (key, number) = word.split_once('=').ok_or(BadRules::NotABudget)?;
            let place = match key.trim() {
                "loss" => &mut budget.loss,
                "dup" => &mut budget.duplication,
                "reorder" => &mut budget.reordering,
                "total" => &mut budget.total,
                _ => return Err(BadRules::NotABudget),
            };
            *place = number.trim().parse().map_err(|_| BadRules::NotABudget)?;
        }
        Ok(budget)
    }
}

/// Which packets of a program are perturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Those that it sends.
    Send,
    /// Those that it receives.
    Receive,
    /// All of them.
    Both,
}

impl Display for Direction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Send => "send",
            Direction::Receive => "receive",
            Direction::Both => "both",
        })
    }
}

impl FromStr for Direction {
    type Err = BadRules;

    fn from_str(text: &str) -> Result<Self, BadRules> {
        match text {
            "send" => Ok(Direction::Send),
            "receive" => Ok(Direction::Receive),
            "both" => Ok(Direction::Both),
            _ => Err(BadRules::NotADirection),
        }
    }
}

/// What a network may do to packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Rules {
    pub(crate) multiplicities: Multiplicities,
    pub(crate) capacity: u32,
    pub(crate) budget: Budget,
}

impl Rules {
    /// Every packet arrives exactly once, and in the order of sending.
    pub const RELIABLE: Self =
        Rules { multiplicities: Multiplicities::ONCE, capacity: 1, budget: Budget::UNLIMITED };

    /// The rules of a network that holds at most `capacity` packets at a time. A packet can be
    /// overtaken by another only while both are on the network; so 1 keeps their order.
    ///
    /// A budget goes with multiplicities only if a packet may arrive once: otherwise no packet
    /// could be sent any more once it is spent.
    pub fn new(
        multiplicities: Multiplicities,
        capacity: u32,
        budget: Budget,
    ) -> Result<Self, BadRules> {
        if capacity == 0 {
            return Err(BadRules::NoCapacity);
        }
        if budget != Budget::UNLIMITED && !multiplicities.one_is_enough() {
            return Err(BadRules::BudgetWithoutOne);
        }
        Ok(Rules { multiplicities, capacity, budget })
    }

    /// Whether every packet arrives exactly once, and in the order of sending.
    #[must_use]
    pub fn is_reliable(&self) -> bool {
        self.multiplicities.choices() == [1] && self.capacity == 1
    }

    /// Whether a packet may never arrive.
    #[must_use]
    pub fn may_lose(&self) -> bool {
        self.multiplicities.choices().contains(&0)
    }

    /// Whether a packet may arrive more than once.
    #[must_use]
    pub fn may_duplicate(&self) -> bool {
        self.multiplicities.choices().iter().any(|&times| times > 1)
    }

    /// Whether packets arrive in the order of sending.
    #[must_use]
    pub fn keeps_order(&self) -> bool {
        self.capacity == 1
    }

    /// Whether there is a limit to the faults of an execution.
    #[must_use]
    pub fn is_budgeted(&self) -> bool {
        self.budget != Budget::UNLIMITED
    }
}

impl Default for Rules {
    fn default() -> Self {
        Rules::RELIABLE
    }
}

/// Why rules are no rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadRules {
    /// The set of multiplicities is empty.
    NoMultiplicity,
    /// A multiplicity is given twice.
    Twice(u8),
    /// There are more multiplicities than we keep.
    TooManyMultiplicities,
    /// Text is not a list of multiplicities.
    NotAMultiplicity,
    /// A network that holds no packet.
    NoCapacity,
    /// Text is not a budget.
    NotABudget,
    /// A budget with multiplicities that rule out a packet that arrives once.
    BudgetWithoutOne,
    /// Text is not a direction.
    NotADirection,
}

impl Display for BadRules {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMultiplicity => f.write_str("there must be at least one multiplicity"),
            Self::Twice(choice) => write!(f, "the multiplicity {choice} is given twice"),
            Self::TooManyMultiplicities => {
                write!(f, "there are more than {MOST_CHOICES} multiplicities")
            }
            Self::NotAMultiplicity => {
                f.write_str("multiplicities are numbers from 0 to 255, as in 1,0,2")
            }
            Self::NoCapacity => f.write_str("the window must be at least 1, which keeps the order"),
            Self::NotABudget => {
                f.write_str("a budget is a list of loss, dup, reorder or total, as in loss=2,dup=1")
            }
            Self::BudgetWithoutOne => f.write_str(
                "a budget needs multiplicities that contain 1 and all numbers from there to the \
                 largest",
            ),
            Self::NotADirection => f.write_str("a direction is send, receive or both"),
        }
    }
}

impl core::error::Error for BadRules {}
