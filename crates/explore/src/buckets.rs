//! States with equal keys, adjacent in memory, for visited sets with a simulation relation.

use crate::MultisetSketch;

/// What is looked at of a visited state before its bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) sketch: MultisetSketch,
    /// The smallest depth at which it was reached; 0 where that does not matter.
    pub(crate) depth: u32,
    /// Its number.
    pub(crate) number: u32,
}

/// Buckets of one or more members, numbered from 0.
///
/// A bucket fills a stretch of a power of two; when it is full, it moves to one twice as long, and
/// leaves the other to the next bucket that needs one of that length.
#[derive(Default)]
pub(crate) struct Buckets {
    places: Vec<Place>,
    members: Vec<Member>,
    /// Where free stretches begin, by the logarithm of their length.
    free: Vec<Vec<u32>>,
}

#[derive(Clone, Copy)]
struct Place {
    start: u32,
    len: u32,
}

impl Buckets {
    /// How many buckets there are.
    pub(crate) fn len(&self) -> u32 {
        self.places.len() as u32
    }

    /// How many bytes they take.
    pub(crate) fn bytes(&self) -> usize {
        let free: usize = self.free.iter().map(|starts| 4 * starts.capacity()).sum();
        size_of::<Place>() * self.places.capacity()
            + size_of::<Member>() * self.members.capacity()
            + free
    }

    /// Opens a bucket with its first member and returns its number.
    pub(crate) fn open(&mut self, member: Member) -> u32 {
        let start = self.stretch(0, member);
        self.places.push(Place { start, len: 1 });
        self.len() - 1
    }

    /// Adds a member to a bucket.
    pub(crate) fn add(&mut self, bucket: u32, member: Member) {
        let Place { start, len } = self.places[bucket as usize];
        if len.is_power_of_two() {
            let class = len.ilog2();
            let new = self.stretch(class + 1, member);
            self.members.copy_within(start as usize..(start + len) as usize, new as usize);
            self.free[class as usize].push(start);
            self.places[bucket as usize].start = new;
        }
        let place = &mut self.places[bucket as usize];
        self.members[(place.start + place.len) as usize] = member;
        place.len += 1;
    }

    /// The members of a bucket.
    #[inline(always)]
    pub(crate) fn members(&mut self, bucket: u32) -> &mut [Member] {
        let Place { start, len } = self.places[bucket as usize];
        &mut self.members[start as usize..(start + len) as usize]
    }

    /// A state of a bucket.
    #[inline(always)]
    pub(crate) fn any(&self, bucket: u32) -> u32 {
        self.members[self.places[bucket as usize].start as usize].number
    }

    /// Where a free stretch of `1 << class` members begins, filled with `member`.
    fn stretch(&mut self, class: u32, member: Member) -> u32 {
        let class = class as usize;
        if self.free.len() <= class {
            self.free.resize(class + 1, Vec::new());
        }
        if let Some(start) = self.free[class].pop() {
            self.members[start as usize] = member;
            return start;
        }
        let start = u32::try_from(self.members.len()).expect("the engine stops before this many");
        self.members.resize(self.members.len() + (1 << class), member);
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn members_stay_in_their_buckets(added in prop::collection::vec(0..20u32, 0..400)) {
            let mut buckets = Buckets::default();
            let mut expected: Vec<Vec<u32>> = Vec::new();
            for (number, bucket) in (0..).zip(added) {
                let member = Member { sketch: MultisetSketch::default(), depth: 0, number };
                if bucket < buckets.len() {
                    buckets.add(bucket, member);
                    expected[bucket as usize].push(number);
                } else {
                    prop_assert_eq!(buckets.open(member) as usize, expected.len());
                    expected.push(vec![number]);
                }
            }
            for (bucket, expected) in (0..).zip(&expected) {
                let members = buckets.members(bucket).iter().map(|member| member.number);
                prop_assert_eq!(&members.collect::<Vec<_>>(), expected);
                prop_assert_eq!(buckets.any(bucket), expected[0]);
            }
        }
    }
}
