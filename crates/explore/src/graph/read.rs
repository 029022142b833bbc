//! A memory-mapped graph, searched in place.

use super::format::{
    GraphError, HEADER, Header, NUMBER, PRINT, Places, ROW, STEP, UNKNOWN, home, read_u32, row_seal,
};
use super::{Counterexample, Meta, NOWHERE};
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
    /// The bytes of a transition.
    pub(super) width: usize,
}

/// What a graph knows of a state.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    /// Its transitions, in the order of their steps.
    pub(super) transitions: &'a [u8],
    /// How many steps are enabled in it, or [`UNKNOWN`].
    pub(super) enabled: u8,
}

impl Default for Row<'_> {
    fn default() -> Self {
        Row { transitions: &[], enabled: UNKNOWN }
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
        let steps = bytes[places.steps..places.rows].chunks_exact(STEP).map(|step| Step {
            event: u16::from_le_bytes([step[0], step[1]]),
            actor: u16::from_le_bytes([step[2], step[3]]),
            param: read_u32(&step[4..]),
        });
        let (steps, width) = (steps.collect(), header.step_width as usize + NUMBER);
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
        let (first, seal, end) = (read_u32(row), read_u32(&row[4..]), read_u32(&row[ROW..]));
        let place = |transition: u32| HEADER + transition as usize * self.width;
        let transitions = self.bytes[..self.places.meta].get(place(first)..place(end));
        let enabled = seal as u8;
        let intact = |row: &&[u8]| row_seal(row, self.print(number), enabled) == seal;
        let transitions = transitions.filter(intact).ok_or(GraphError::Damaged("transitions"))?;
        Ok(Row { transitions, enabled })
    }

    /// The step and the next state of a transition; [`NOWHERE`] if that is none.
    #[inline]
    pub(super) fn transition(&self, bytes: &[u8]) -> (usize, u32) {
        let (step, next) = bytes.split_at(self.width - NUMBER);
        let step = match step.len() {
            2 => usize::from(u16::from_le_bytes([step[0], step[1]])),
            _ => read_u32(step) as usize,
        };
        let next = read_u32(next);
        (step, if u64::from(next) < self.header.states { next } else { NOWHERE })
    }
}
