//! Memo of a long walk: results by the address of the term. Parts of a term may be shared, and
//! a small term can stand for a huge one.

use crate::raw::Raw;
use crate::spread::{spread, Spread};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Results are kept after this many units of work: about two milliseconds of a walk.
const LONG: usize = 1 << 18;

/// Number of kept terms whose parts have no parts: converting them again is cheap, and a table has millions
/// of them.
const FLAT: usize = 1024;

/// Results by term, empty until the walk is long.
#[derive(Default)]
pub struct Converted<'a> {
    units: usize,
    deep: HashMap<usize, Raw<'a>, BuildHasherDefault<Spread>>,
    /// A cache; the address selects the index.
    flat: Vec<Option<(usize, Raw<'a>)>>,
}

impl<'a> Converted<'a> {
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
    pub fn get(&self, term: Raw<'a>) -> Option<Raw<'a>> {
        if !self.is_long() {
            return None;
        }
        let identity = term.identity();
        match self.flat.get(place_of(identity)) {
            Some(Some((known, result))) if *known == identity => Some(*result),
            _ => self.deep.get(&identity).copied(),
        }
    }

    /// The kept result of the rest of a list, after its first `at` elements.
    #[inline]
    pub fn tail(&self, rest: Raw<'a>, at: usize) -> Option<Raw<'a>> {
        match self.is_long() && at > 0 && self.keeps(rest) {
            true => self.deep.get(&rest.identity()).copied(),
            false => None,
        }
    }

    /// Whether the result of the rest of a list that begins with this cell is kept: one cell in sixteen, so
    /// that a walk soon meets one.
    pub fn keeps(&self, rest: Raw<'a>) -> bool {
        spread(rest.identity() as u64) >> 60 == 0
    }

    /// Keeps a result; `deep`: the term has parts that have parts.
    #[inline]
    pub fn add(&mut self, term: Raw<'a>, result: Raw<'a>, deep: bool) {
        if !self.is_long() {
            return;
        }
        let identity = term.identity();
        if deep {
            self.deep.insert(identity, result);
            return;
        }
        self.flat.resize(FLAT, None);
        self.flat[place_of(identity)] = Some((identity, result));
    }
}

fn place_of(identity: usize) -> usize {
    spread(identity as u64) as usize >> 32 & (FLAT - 1)
}
