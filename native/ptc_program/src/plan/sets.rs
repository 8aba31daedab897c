//! Sets of parts of the data. Equal sets have one number.

use super::sources::{SourceId, SourceRoot, SourceTree};
use crate::analysis::names::{Hash, Index};
use std::cmp::Ordering;
use std::mem::take;

/// How much of a part counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Extent {
    /// How many items it has, because there is a list with as many items.
    Items,
    /// How many items it has, and of what kind it is.
    Count,
    /// All of it.
    Whole,
}

/// A part of the data in a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref {
    /// The part.
    pub source: SourceId,
    /// How much of it counts.
    pub extent: Extent,
}

/// The number of a set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// Empty between two unions.
    buffer: Vec<Ref>,
}

/// Number of unions that are remembered: a power of two.
const UNIONS: usize = 64;

/// Maximum number of parts in a set. Of a larger one only the roots count, and of too many of these nothing is known.
pub(super) const MOST_REFS: usize = 64;

impl Default for Sets {
    fn default() -> Self {
        Sets {
            refs: Vec::with_capacity(64),
            ends: vec![0],
            index: Index::default(),
            unions: vec![(SetId::EMPTY, SetId::EMPTY, SetId::EMPTY); UNIONS],
            buffer: Vec::with_capacity(2 * MOST_REFS),
        }
    }
}

impl Sets {
    /// Forgets all sets, and keeps the memory. Returns the words of that.
    pub(super) fn clear(&mut self) -> usize {
        self.refs.clear();
        self.ends.truncate(1);
        self.index.clear();
        let none = (SetId::EMPTY, SetId::EMPTY, SetId::EMPTY);
        self.unions.fill(none);
        let index = self.index.room() + 2 * self.unions.len();
        self.refs.capacity() + self.ends.capacity() / 2 + index
    }

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
    pub fn one(&mut self, source: SourceId, extent: Extent) -> SetId {
        self.intern(&[Ref { source, extent }])
    }

    /// Returns the set for a list whose number of items comes from these parts.
    pub fn items(&mut self, id: SetId) -> SetId {
        let is_count = |part: &Ref| part.extent == Extent::Count;
        if !self.get(id).iter().any(is_count) {
            return id;
        }
        let mut all = self.get(id).to_vec();
        for part in all.iter_mut().filter(|part| is_count(part)) {
            part.extent = Extent::Items;
        }
        all.sort_unstable();
        all.dedup();
        self.intern(&all)
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
            let mut all = take(&mut self.buffer);
            merge(self.get(a), self.get(b), &mut all);
            let union = self.of(&mut all, tree);
            all.clear();
            self.buffer = all;
            union
        };
        self.unions[place] = (a, b, union);
        union
    }

    /// Returns the set of these parts, which are in ascending order.
    fn of(&mut self, all: &mut Vec<Ref>, tree: &mut SourceTree) -> SetId {
        if all.len() > MOST_REFS {
            for part in &mut *all {
                *part = Ref {
                    source: tree.root_id(part.source),
                    extent: Extent::Whole,
                };
            }
            all.sort_unstable();
            all.dedup();
        }
        if all.len() > MOST_REFS {
            all.clear();
            all.push(Ref {
                source: tree.root(SourceRoot::Unknown),
                extent: Extent::Whole,
            });
        }
        self.intern(all)
    }

    /// Returns the set of these parts, in any order.
    pub fn of_parts(&mut self, mut all: Vec<Ref>, tree: &mut SourceTree) -> SetId {
        all.sort_unstable();
        all.dedup();
        self.of(&mut all, tree)
    }

    fn intern(&mut self, refs: &[Ref]) -> SetId {
        if refs.is_empty() {
            return SetId::EMPTY;
        }
        let mut hash = Hash::begin();
        // They are in ascending order.
        let parts = refs.iter();
        hash.add_all(parts.map(|part| (u64::from(part.source.0), part.extent as u64)));
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
