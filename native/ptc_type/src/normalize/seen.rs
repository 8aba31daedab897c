//! Memo of a long walk: results by the identity of the term. Parts of a term may be shared, and
//! a small term can stand for a huge one.

use ptc_term::spread::{spread, Spread};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Results are kept after this many units of work: about two milliseconds of a walk.
const LONG: usize = 1 << 18;

/// Number of kept terms whose parts have no parts: converting them again is cheap, and a table has millions
/// of them.
const FLAT: usize = 1024;

/// Results by term, empty until the walk is long.
pub(super) struct Converted<T> {
    units: usize,
    deep: HashMap<usize, T, BuildHasherDefault<Spread>>,
    /// A cache; the identity selects the index.
    flat: Vec<Option<(usize, T)>>,
}

impl<T> Default for Converted<T> {
    fn default() -> Self {
        Converted {
            units: 0,
            deep: HashMap::default(),
            flat: Vec::new(),
        }
    }
}

impl<T: Copy> Converted<T> {
    /// Counts work.
    #[inline]
    pub fn count(&mut self, units: usize) {
        self.units += units;
    }

    /// Whether results are kept.
    #[inline]
    pub fn is_long(&self) -> bool {
        self.units > LONG
    }

    /// The kept result of a term.
    #[inline]
    pub fn get(&self, identity: impl FnOnce() -> usize) -> Option<T> {
        if !self.is_long() {
            return None;
        }
        let identity = identity();
        match self.flat.get(place_of(identity)) {
            Some(Some((known, result))) if *known == identity => Some(*result),
            _ => self.deep.get(&identity).copied(),
        }
    }

    /// The kept result of the rest of a list, after its first `at` elements.
    #[inline]
    pub fn tail(&self, identity: impl FnOnce() -> usize, at: usize) -> Option<T> {
        match self.is_long() && at > 0 {
            true => Some(identity()).filter(|rest| keeps(*rest)),
            false => None,
        }
        .and_then(|rest| self.deep.get(&rest).copied())
    }

    /// Keeps the result of the rest of a list, if it is one of those that are kept.
    pub fn add_tail(&mut self, identity: usize, result: T) {
        if keeps(identity) {
            self.add(|| identity, result, true);
        }
    }

    /// Keeps a result; `deep`: the term has parts that have parts.
    #[inline]
    pub fn add(&mut self, identity: impl FnOnce() -> usize, result: T, deep: bool) {
        if !self.is_long() {
            return;
        }
        let identity = identity();
        if deep {
            self.deep.insert(identity, result);
            return;
        }
        self.flat.resize(FLAT, None);
        self.flat[place_of(identity)] = Some((identity, result));
    }
}

/// Whether the result of the rest of a list that begins with this cell is kept: one cell in sixteen, so
/// that a walk soon meets one.
fn keeps(identity: usize) -> bool {
    spread(identity as u64) >> 60 == 0
}

fn place_of(identity: usize) -> usize {
    spread(identity as u64) as usize >> 32 & (FLAT - 1)
}
