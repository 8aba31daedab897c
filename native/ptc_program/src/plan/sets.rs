//! Sets of parts of the data. Equal sets have one number.

use super::sources::{SourceId, SourceRoot, SourceTree};
use crate::typing::names::{Hash, Index};
use std::cmp::Ordering;

/// A part of the data in a set: whether all of it counts, or only how many items it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref {
    /// The part.
    pub source: SourceId,
    /// Whether all of it counts.
    pub whole: bool,
}

/// The number of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetId(pub u32);

impl SetId {
    /// The set without parts.
    pub const EMPTY: SetId = SetId(0);
}

/// All sets.
#[derive(Debug)]
pub struct Sets {
    refs: Vec<Ref>,
    /// The end of each set in `refs`.
    ends: Vec<u32>,
    index: Index,
    /// Pairs of sets with their unions, each in the place of its hash.
    unions: Vec<(SetId, SetId, SetId)>,
}

/// Number of unions that are remembered: a power of two.
const UNIONS: usize = 64;

/// Maximum number of parts in a set. Of a larger one only the roots count, and of too many of these nothing is known.
const MOST_REFS: usize = 64;

impl Default for Sets {
    fn default() -> Self {
        Sets {
            refs: Vec::with_capacity(64),
            ends: vec![0],
            index: Index::default(),
            unions: vec![(SetId::EMPTY, SetId::EMPTY, SetId::EMPTY); UNIONS],
        }
    }
}

impl Sets {
    /// Returns the parts in a set, in ascending order.
    #[inline]
    pub fn get(&self, id: SetId) -> &[Ref] {
        let at = id.0 as usize;
        let start = match at {
            0 => 0,
            _ => self.ends[at - 1] as usize,
        };
        &self.refs[start..self.ends[at] as usize]
    }

    /// Returns the set of one part.
    pub fn one(&mut self, source: SourceId, whole: bool) -> SetId {
        self.intern(&[Ref { source, whole }])
    }

    /// Returns the set of the parts in either set.
    pub fn union(&mut self, a: SetId, b: SetId, tree: &mut SourceTree) -> SetId {
        if a == b || b == SetId::EMPTY {
            return a;
        }
        if a == SetId::EMPTY {
            return b;
        }
        let place = (a.0.wrapping_mul(31) ^ b.0) as usize % UNIONS;
        let (first, second, known) = self.unions[place];
        if (first, second) == (a, b) {
            return known;
        }
        let (few, many) = (self.get(b), self.get(a));
        let union = if few.iter().all(|part| many.binary_search(part).is_ok()) {
            a
        } else {
            let mut all = Vec::with_capacity(few.len() + many.len());
            merge(many, few, &mut all);
            self.of(all, tree)
        };
        self.unions[place] = (a, b, union);
        union
    }

    /// Returns the set of these parts, which are in ascending order.
    fn of(&mut self, mut all: Vec<Ref>, tree: &mut SourceTree) -> SetId {
        if all.len() > MOST_REFS {
            for part in &mut all {
                *part = Ref {
                    source: tree.root_id(part.source),
                    whole: true,
                };
            }
            all.sort_unstable();
            all.dedup();
        }
        if all.len() > MOST_REFS {
            all = vec![Ref {
                source: tree.root(SourceRoot::Unknown),
                whole: true,
            }];
        }
        self.intern(&all)
    }

    /// Returns the set of these parts, in any order.
    pub fn of_parts(&mut self, mut all: Vec<Ref>, tree: &mut SourceTree) -> SetId {
        all.sort_unstable();
        all.dedup();
        self.of(all, tree)
    }

    fn intern(&mut self, refs: &[Ref]) -> SetId {
        if refs.is_empty() {
            return SetId::EMPTY;
        }
        let mut hash = Hash::begin();
        for part in refs {
            hash.add(u64::from(part.source.0) << 1 | u64::from(part.whole));
        }
        let hash = hash.finish();
        let found = self.index.find(hash, |at| self.get(SetId(at)) == refs);
        if let Some(at) = found {
            return SetId(at);
        }
        let id = self.ends.len() as u32;
        self.refs.extend_from_slice(refs);
        self.ends.push(self.refs.len() as u32);
        self.index.add(hash, id);
        SetId(id)
    }

    /// Returns the words that they take.
    pub fn words(&self) -> usize {
        self.refs.len() + 2 * self.ends.len()
    }
}

fn merge(a: &[Ref], b: &[Ref], into: &mut Vec<Ref>) {
    let (mut at, mut of) = (0, 0);
    while at < a.len() && of < b.len() {
        match a[at].cmp(&b[of]) {
            Ordering::Less => {
                into.push(a[at]);
                at += 1;
            }
            Ordering::Greater => {
                into.push(b[of]);
                of += 1;
            }
            Ordering::Equal => {
                into.push(a[at]);
                (at, of) = (at + 1, of + 1);
            }
        }
    }
    into.extend_from_slice(&a[at..]);
    into.extend_from_slice(&b[of..]);
}
