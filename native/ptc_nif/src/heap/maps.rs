//! New maps: of keys that may repeat, and like another map.

use super::Beam;
use crate::raw::Raw;
use ptc_term::heap::Heap;
use ptc_term::repeated::first_of_equal;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// A map with at most this many changed values is updated value by value, so that it shares its keys.
const FEW: usize = 4;

impl<'a> Beam<'a> {
    /// Makes a map in which the first of several equal keys counts.
    #[cold]
    pub(super) fn make_map_of_repeated(&mut self, keys: &[Raw<'a>], values: &[Raw<'a>]) -> Raw<'a> {
        let seed = RandomState::new().build_hasher().finish();
        let map = match first_of_equal(self, keys, seed) {
            None => self.terms.make_map(keys, values),
            Some(first) => {
                let kept = |terms: &[Raw<'a>]| -> Vec<Raw<'a>> {
                    let terms = terms.iter().zip(&first).filter(|(_, first)| **first);
                    terms.map(|(term, _)| *term).collect()
                };
                self.terms.make_map(&kept(keys), &kept(values))
            }
        };
        map.unwrap_or(self.nil)
    }

    /// See [`Heap::remake_map`].
    pub(super) fn make_map_like(
        &mut self,
        map: Raw<'a>,
        keys: &[Raw<'a>],
        old: &[Raw<'a>],
        values: &[Raw<'a>],
    ) -> Raw<'a> {
        let terms = self.terms;
        let others = || (0..keys.len()).filter(|at| values[*at].word() != old[*at].word());
        if self.map_size(map) == Some(keys.len()) && others().take(FEW + 1).count() <= FEW {
            let update =
                |map, at: usize| terms.map_update(map, keys[at], values[at]).unwrap_or(map);
            return others().fold(map, update);
        }
        terms.make_map(keys, values).unwrap_or(map)
    }
}
