//! A memory-mapped graph, searched in place.

use super::format::{
    GraphError, HEADER, Header, NO_TARGETS, NUMBER, PRINT, Places, ROW, STEP, UNKNOWN, home,
    read_u32, row_seal,
};
use super::{BEYOND, Counterexample, Meta, NOWHERE};
use crate::{Canonical, Fingerprint, Step};
use xxhash_rust::xxh3::xxh3_64;

/// A graph of safe transitions: the bytes of a file, checked and searched in place.
pub struct Graph<'a> {
    bytes: &'a [u8],
    header: Header,
    places: Places,
    pub(super) meta: Meta,
    /// The different steps, as they were numbered when the graph was written.
    pub(super) steps: Vec<Step>,
    /// The bytes of the number of a step.
    width: usize,
}

/// What a graph knows of a state.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    /// The numbers of its steps, in their order, and of the states to which they lead; none if all
    /// lead to the depth bound.
    steps: &'a [u8],
    targets: &'a [u8],
    /// How many steps are enabled in it, or [`UNKNOWN`].
    pub(super) enabled: u8,
}

impl Default for Row<'_> {
    fn default() -> Self {
        Row { steps: &[], targets: &[], enabled: UNKNOWN }
    }
}

impl<'a> Graph<'a> {
    /// Checks the header and the index of a file; the transitions are checked as they are used.
    ///
    /// # Errors
    ///
    /// If the bytes are not those of a graph, of another version, or not what was written.
    pub fn open(bytes: &'a [u8]) -> Result<Self, GraphError> {
        let (header, places) = Header::decode(bytes)?;
        if xxh3_64(&bytes[places.meta..]) != header.checksum {
            return Err(GraphError::Damaged("index"));
        }
        let mut meta = Meta::default();
        meta.read(&mut &bytes[places.meta..places.steps]);
        let steps = bytes[places.steps..places.ends].chunks_exact(STEP).map(|step| Step {
            event: u16::from_le_bytes([step[0], step[1]]),
            actor: u16::from_le_bytes([step[2], step[3]]),
            param: read_u32(&step[4..]),
        });
        let (steps, width) = (steps.collect(), header.step_width as usize);
        Ok(Graph { bytes, header, places, meta, steps, width })
    }

    /// How many states there are.
    pub fn states(&self) -> u64 {
        self.header.states
    }

    /// How many of them have their transitions in the graph.
    pub fn expanded(&self) -> u64 {
        self.header.expanded
    }

    /// How many transitions there are.
    pub fn transitions(&self) -> u64 {
        self.header.transitions
    }

    /// The counterexamples that were found when it was written. Steps of events that no model of
    /// today's names has are left to the caller to notice.
    pub fn counterexamples(&self, events: &[&str]) -> Vec<Counterexample> {
        let step = |(event, actor, param): &(String, u16, u32)| {
            let number = events.iter().position(|name| name == event)?;
            Some((event.clone(), Step { actor: *actor, event: number as u16, param: *param }))
        };
        let recorded = self.meta.counterexamples.iter();
        recorded
            .filter_map(|example| {
                let steps = example.steps.iter().map(step).collect::<Option<_>>()?;
                Some(Counterexample { property: example.property.clone(), steps })
            })
            .collect()
    }

    /// The fingerprint of a state.
    pub(crate) fn print(&self, number: u32) -> u128 {
        let at = self.places.prints + number as usize * PRINT;
        let print = self.bytes.get(at..).and_then(|bytes| bytes.first_chunk());
        print.map_or(0, |print| u128::from_le_bytes(*print))
    }

    /// The number of an expanded state.
    pub(crate) fn find(&self, Fingerprint(print): Fingerprint) -> Option<u32> {
        let mask = (1usize << self.header.index_bits) - 1;
        let mut at = home(print, self.header.index_bits);
        for _ in 0..=mask {
            let slot = read_u32(&self.bytes[self.places.index + at * NUMBER..]);
            let number = slot.checked_sub(1)?;
            if self.print(number) == print {
                return Some(number);
            }
            at = (at + 1) & mask;
        }
        None
    }

    /// What is known of a state; nothing if it was not expanded, `Err` if it is damaged.
    #[inline]
    pub(crate) fn row(&self, number: u32) -> Result<Row<'a>, GraphError> {
        if u64::from(number) >= self.header.expanded {
            return Ok(Row::default());
        }
        let row = &self.bytes[self.places.rows + number as usize * ROW..];
        let (listed, first, seal) = (read_u32(row), read_u32(&row[4..]), read_u32(&row[8..]));
        let steps = self.list(listed & !NO_TARGETS).ok_or(GraphError::Damaged("lists"))?;
        let count = if listed & NO_TARGETS == 0 { steps.len() / self.width } else { 0 };
        let start = HEADER + first as usize * NUMBER;
        let targets = self.bytes[..self.places.meta].get(start..start + count * NUMBER);
        let enabled = seal as u8;
        let intact =
            |targets: &&[u8]| row_seal(targets, (self.print(number), listed), enabled) == seal;
        let targets = targets.filter(intact).ok_or(GraphError::Damaged("transitions"))?;
        Ok(Row { steps, targets, enabled })
    }

    /// A list of steps.
    #[inline]
    fn list(&self, number: u32) -> Option<&'a [u8]> {
        let ends = &self.bytes[self.places.ends..self.places.lists];
        let end = |list: u32| {
            let end = ends.get(list as usize * NUMBER..)?.first_chunk()?;
            Some(u32::from_le_bytes(*end) as usize * self.width)
        };
        let start = if number == 0 { 0 } else { end(number - 1)? };
        self.bytes[self.places.lists..self.places.rows].get(start..end(number)?)
    }

    /// How many transitions a row has.
    #[inline]
    pub(super) fn count(&self, row: Row<'_>) -> usize {
        row.steps.len() / self.width
    }

    /// The number of the step of a transition of a row, and of the next state; [`BEYOND`] if that was
    /// not hashed, [`NOWHERE`] if there is none.
    #[inline]
    pub(super) fn transition(&self, row: Row<'_>, at: usize) -> (usize, u32) {
        let step = match &row.steps[at * self.width..][..self.width] {
            &[low, high] => usize::from(u16::from_le_bytes([low, high])),
            step => read_u32(step) as usize,
        };
        let next = row.targets.get(at * NUMBER..).map_or(BEYOND, |targets| match targets {
            [] => BEYOND,
            targets => read_u32(targets),
        });
        let is_known = u64::from(next) < self.header.states || next == BEYOND;
        (step, if is_known { next } else { NOWHERE })
    }

    /// The transitions of a row.
    #[inline]
    pub(super) fn transitions_of(&self, row: Row<'a>) -> impl Iterator<Item = (usize, u32)> {
        (0..self.count(row)).map(move |at| self.transition(row, at))
    }
}
