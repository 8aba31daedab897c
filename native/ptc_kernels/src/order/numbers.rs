//! Columns of numbers, as integers without a sign that compare as they do.

use std::cmp::Ordering;

/// The first bit of a number.
const SIGN: u64 = 1 << 63;

/// A column of numbers, and whether the greatest comes first.
#[derive(Clone, Copy)]
pub(super) struct Numbers<'k> {
    pub keys: &'k [u64],
    pub descending: bool,
}

impl Numbers<'_> {
    /// Returns a number of the column, so that the first one is the least.
    #[inline]
    fn key(&self, place: u32) -> u64 {
        let key = self.keys[place as usize];
        match self.descending {
            true => !key,
            false => key,
        }
    }

    #[inline]
    pub fn order(&self, a: u32, b: u32) -> Ordering {
        self.key(a).cmp(&self.key(b))
    }

    /// Sorts indices by their numbers, and those of equal numbers by themselves.
    pub fn sort(&self, places: &mut [u32]) {
        let pair = |place: &u32| u128::from(self.key(*place)) << 32 | u128::from(*place);
        let mut pairs: Vec<u128> = places.iter().map(pair).collect();
        pairs.sort_unstable();
        for (place, pair) in places.iter_mut().zip(pairs) {
            *place = pair as u32;
        }
    }
}

/// Returns an integer as one without a sign.
#[inline]
pub(super) fn of_integer(key: i64) -> u64 {
    key as u64 ^ SIGN
}

/// Returns a finite float as an integer without a sign. Both zeros are one number.
#[inline]
pub(super) fn of_float(key: f64) -> u64 {
    let bits = (key + 0.0).to_bits();
    match bits & SIGN {
        0 => bits | SIGN,
        _ => !bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_compare_as_numbers() {
        let keys = [i64::MIN, -2, -1, 0, 1, 2, i64::MAX];
        assert!(keys.map(of_integer).is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn floats_compare_as_numbers_and_both_zeros_are_one() {
        let least = f64::from_bits(1);
        let keys = [f64::MIN, -2.5, -1.0, -least, 0.0, least, 1.0, 2.5, f64::MAX];
        assert!(keys.map(of_float).is_sorted_by(|a, b| a < b));
        assert_eq!(of_float(-0.0), of_float(0.0));
    }

    #[test]
    fn equal_numbers_keep_their_order() {
        let keys = [3, 1, 3, 2, 1].map(of_integer);
        let sorted = |descending| {
            let mut places = [0, 1, 2, 3, 4];
            Numbers {
                keys: &keys,
                descending,
            }
            .sort(&mut places);
            places
        };
        assert_eq!(sorted(false), [1, 4, 3, 0, 2]);
        assert_eq!(sorted(true), [0, 2, 3, 1, 4]);
    }
}
