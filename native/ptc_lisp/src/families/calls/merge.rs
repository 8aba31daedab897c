//! A merge sort that asks one question at a time: does one item stand before another one, or with it?
//!
//! It sorts places, which are plain numbers, so nothing is frozen of it.

use ptc_term::stop::Stop;

/// Places per unit of fuel that are copied without a question.
const PLACES_A_UNIT: usize = 8;

/// The state of a sort.
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    /// The places, in sorted runs of this width.
    places: Vec<u32>,
    width: usize,
    /// The result of merging pairs of runs, so far.
    merged: Vec<u32>,
    /// The next place in each of the two runs that are being merged.
    left: usize,
    right: usize,
}

impl Merge {
    /// A sort of so many items.
    pub fn of(count: usize) -> Self {
        Merge {
            places: (0..count as u32).collect(),
            width: 1,
            merged: Vec::with_capacity(count),
            left: 0,
            right: 1,
        }
    }

    /// Returns the words of native memory for so many items.
    pub fn words(count: usize) -> usize {
        count
    }

    /// Returns the places in order, once there is no further question.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// Returns the next question: whether the first of these places stands before the second, or with it. None is left once
    /// all are in order.
    pub fn question(
        &mut self,
        mut count: impl FnMut(usize) -> Result<(), Stop>,
    ) -> Result<Option<(usize, usize)>, Stop> {
        let length = self.places.len();
        while self.width < length {
            let done = self.merged.len();
            if done == length {
                std::mem::swap(&mut self.places, &mut self.merged);
                self.merged.clear();
                self.width *= 2;
                (self.left, self.right) = (0, self.width.min(length));
                continue;
            }
            let start = done / (2 * self.width) * (2 * self.width);
            let middle = length.min(start + self.width);
            let end = length.min(start + 2 * self.width);
            if self.left < middle && self.right < end {
                let places = (self.places[self.left], self.places[self.right]);
                return Ok(Some((places.0 as usize, places.1 as usize)));
            }
            let rest = match self.left < middle {
                true => self.left..middle,
                false => self.right..end,
            };
            count(rest.len() / PLACES_A_UNIT)?;
            self.merged.extend_from_slice(&self.places[rest]);
            (self.left, self.right) = (end, length.min(end + self.width));
        }
        Ok(None)
    }

    /// Answers the last question.
    pub fn answer(&mut self, first: bool) {
        let from = match first {
            true => &mut self.left,
            false => &mut self.right,
        };
        self.merged.push(self.places[*from]);
        *from += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(keys: &[u32], before: impl Fn(u32, u32) -> bool) -> (Vec<u32>, usize) {
        let (mut merge, mut asked) = (Merge::of(keys.len()), 0);
        while let Some((a, b)) = merge.question(|_| Ok(())).expect("no limit") {
            merge.answer(before(keys[a], keys[b]));
            asked += 1;
        }
        (merge.places().to_vec(), asked)
    }

    #[test]
    fn it_is_stable_and_asks_no_more_than_needed() {
        for length in 0..70u32 {
            let keys: Vec<u32> = (0..length).map(|n| n * 7 % 5).collect();
            let mut expected: Vec<u32> = (0..length).collect();
            expected.sort_by_key(|place| keys[*place as usize]);
            let (places, asked) = sorted(&keys, |a, b| a <= b);
            assert_eq!(places, expected);
            assert!(asked <= (length * length.max(2).ilog2() + length) as usize);
        }
    }

    #[test]
    fn a_comparator_that_is_false_for_equal_items_reverses_them() {
        let keys = [1, 1, 2, 1, 2];
        assert_eq!(sorted(&keys, |a, b| a > b).0, [4, 2, 3, 1, 0]);
        assert_eq!(sorted(&keys, |a, b| a < b).0, [3, 1, 0, 4, 2]);
        assert_eq!(sorted(&keys, |_, _| true).0, [0, 1, 2, 3, 4]);
    }
}
