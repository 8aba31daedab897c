//! Finds the fields of a type in objects of texts.
//!
//! The rows of a table have the same keys in the same order. So each type keeps the keys of its last object, and the places of its
//! fields among them: from the next row, the keys are compared with these, and the fields are known.

use crate::term::{Place, Term};
use crate::wrapper::Lazy;
use ptc_index::Tree;
use ptc_term::class::Classed;
use ptc_term::heap::{Heap, Kind};
use ptc_term::names::{rank, KeyKind, Matching};
use ptc_type::values::{Found, Rows, ABSENT};
use ptc_type::{Fields, TypeId, Types, Values};
use std::collections::HashMap;

/// The most members of an object whose values have slots.
const FLAT: usize = 32;
/// The most bytes of the keys of one object, which are read in one go.
const MOST_KEY_BYTES: usize = 1 << 18;
/// No place among the members.
const NOWHERE: u32 = u32::MAX;
/// Fuel to find the fields that a key may name, and bytes of it that are read for one unit of fuel.
const FUEL_A_KEY: usize = 4;
const BYTES_A_UNIT: usize = 8;

/// An open object: a value of a text.
#[derive(Debug, Clone, Copy)]
pub struct OpenedObject {
    place: Place,
    id: TypeId,
    /// The number of its members.
    members: usize,
}

/// A key of the last object: where it is, and its length with quotes.
#[derive(Debug, Clone, Copy)]
struct Key {
    at: u32,
    length: u32,
}

/// The last object of a type.
#[derive(Debug, Clone, Default)]
struct Last {
    place: Option<Place>,
    /// Keys that are written like those of the object.
    keys: Vec<Key>,
    /// The keys and values of the object, as they are in its text.
    members: Vec<(u32, u32)>,
    /// The number of members that are fields.
    covered: usize,
}

/// The last objects of all types.
pub struct ObjectRows {
    matching: Matching,
    /// By type.
    last: Vec<Last>,
    /// By field: the place of its key among the members, and the rank of that key.
    slots: Vec<u32>,
    ranks: Vec<u8>,
    /// See [`Rows::take_fuel`].
    fuel: usize,
}

impl<'t, H: Values> Rows<Lazy<'t, H>> for ObjectRows {
    type Open = OpenedObject;

    fn new(_heap: &Lazy<'t, H>, types: &Types, matching: Matching) -> Self {
        ObjectRows {
            matching,
            last: vec![Last::default(); types.all().len()],
            slots: vec![NOWHERE; types.field_count()],
            ranks: vec![u8::MAX; types.field_count()],
            fuel: 0,
        }
    }

    /// Opens an object of a text. No map of the inner heap is in a text. An object whose keys are too long to be read in one go is not
    /// opened, so that it has no type with fields.
    fn open(
        &mut self,
        heap: &Lazy<'t, H>,
        types: &Types,
        id: TypeId,
        fields: Fields,
        map: Term<H::Term>,
    ) -> Option<OpenedObject> {
        let Term::Node(place) = map else {
            return None;
        };
        if heap.kind(map) != Kind::Map {
            return None;
        }
        let last = &mut self.last[id.index()];
        if last.place != Some(place) {
            let is_same = last.read(heap.source(place.text)?.tree(), place)?;
            self.fuel += last.members.len();
            if !is_same {
                self.find_fields(heap, types, id, fields, place.text);
            }
        }
        let members = self.last[id.index()].members.len();
        Some(OpenedObject { place, id, members })
    }

    #[inline]
    fn take_fuel(&mut self) -> usize {
        std::mem::take(&mut self.fuel)
    }

    #[inline]
    fn is_struct(&self, _heap: &Lazy<'t, H>, _id: TypeId, _open: OpenedObject) -> bool {
        false
    }

    #[inline]
    fn find(
        &mut self,
        heap: &Lazy<'t, H>,
        _types: &Types,
        open: OpenedObject,
        field: usize,
    ) -> Option<Found<Term<H::Term>>> {
        let slot = self.slots[field];
        let members = &self.last[open.id.index()].members;
        let (key, value) = *members.get(slot as usize)?;
        Some(Found {
            slot: u8::try_from(slot).unwrap_or(ABSENT),
            key: heap.node(open.place.text, key),
            value: heap.node(open.place.text, value),
        })
    }

    #[inline]
    fn is_flat(open: OpenedObject) -> bool {
        open.members <= FLAT
    }

    fn each_value(
        &self,
        heap: &Lazy<'t, H>,
        open: OpenedObject,
        mut visit: impl FnMut(Term<H::Term>),
    ) {
        for (_, value) in &self.last[open.id.index()].members {
            visit(heap.node(open.place.text, *value));
        }
    }

    fn undeclared(
        &mut self,
        heap: &Lazy<'t, H>,
        _types: &Types,
        _id: TypeId,
        fields: Fields,
        open: OpenedObject,
    ) -> Vec<Term<H::Term>> {
        let last = &self.last[open.id.index()];
        if last.covered == last.members.len() {
            return Vec::new();
        }
        let declared = self.declared(fields, open);
        let is_other = |key: &Term<H::Term>| match key {
            Term::Node(key) => !declared.contains_key(&key.at),
            Term::Real(_) | Term::Rest(_) => true,
        };
        // A repeated key is not one more.
        let keys = heap
            .members(open.place)
            .into_iter()
            .map(|(key, _value)| key);
        keys.filter(is_other).collect()
    }

    fn remake(
        &mut self,
        heap: &mut Lazy<'t, H>,
        _types: &Types,
        _id: TypeId,
        fields: Fields,
        (map, open): (Term<H::Term>, OpenedObject),
        changed: Option<&[Term<H::Term>]>,
    ) -> Term<H::Term> {
        let declared = self.declared(fields, open);
        let changes = match <Self as Rows<Lazy<'t, H>>>::is_flat(open) {
            true => HashMap::new(),
            false => (changed.unwrap_or_default().chunks_exact(3))
                .map(|change| (change[0].packed(), change[2]))
                .collect(),
        };
        let all = heap.members(open.place);
        let mut is_same = true;
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for (key, old) in all {
            let slot = match key {
                Term::Node(place) => declared.get(&place.at),
                Term::Real(_) | Term::Rest(_) => None,
            };
            let Some(slot) = slot else {
                is_same = false;
                continue;
            };
            let new = match <Self as Rows<Lazy<'t, H>>>::is_flat(open) {
                true => changed.and_then(|all| all.get(*slot).copied()),
                false => changes.get(&key.packed()).copied(),
            };
            is_same &= new.is_none_or(|new| heap.same(new, old));
            keys.push(key);
            values.push(new.unwrap_or(old));
        }
        match is_same {
            true => map,
            false => heap.make_map(&keys, &values),
        }
    }
}

impl ObjectRows {
    /// Returns the keys that are fields, with their places among the members.
    fn declared(&self, fields: Fields, open: OpenedObject) -> HashMap<u32, usize> {
        let members = &self.last[open.id.index()].members;
        let slots = self.slots[fields.range()].iter();
        let slots = slots.map(|slot| *slot as usize);
        let declared = slots.filter_map(|slot| Some((members.get(slot)?.0, slot)));
        declared.collect()
    }

    /// Finds the fields of a type among the keys of its last object.
    fn find_fields<H: Values>(
        &mut self,
        heap: &Lazy<H>,
        types: &Types,
        id: TypeId,
        fields: Fields,
        text: u32,
    ) {
        let (slots, ranks, matching) = (&mut self.slots, &mut self.ranks, self.matching);
        slots[fields.range()].fill(NOWHERE);
        ranks[fields.range()].fill(u8::MAX);
        let last = &mut self.last[id.index()];
        for (slot, (key, _value)) in last.members.iter().enumerate() {
            let key = Term::Node(Place { text, at: *key });
            let name = heap.bytes(key).unwrap_or_default();
            self.fuel += FUEL_A_KEY + name.len() / BYTES_A_UNIT;
            types.each_candidate(fields, name, |index, field| {
                // Of equal keys the first one counts.
                if let Some(rank) = rank(field.name, name, KeyKind::String, matching) {
                    if rank < ranks[index] {
                        (ranks[index], slots[index]) = (rank, slot as u32);
                    }
                }
            });
        }
        let mut covered: Vec<u32> = slots[fields.range()].to_vec();
        covered.retain(|slot| *slot != NOWHERE);
        covered.sort_unstable();
        covered.dedup();
        last.covered = covered.len();
        self.fuel += fields.range().len() / BYTES_A_UNIT;
    }
}

impl Last {
    /// Reads the members of another object; returns whether its keys are those of the object before. `None` if they are too long.
    fn read(&mut self, tree: Tree, place: Place) -> Option<bool> {
        let before = self.place.replace(place);
        let mut is_same = before.is_some_and(|before| before.text == place.text);
        if !is_same {
            self.keys.clear();
        }
        self.members.clear();
        let mut bytes = 0;
        let mut next = tree.first_child(place.at);
        while let Some(key) = next {
            let value = tree.value(key);
            let at = self.members.len();
            if is_same
                && !self
                    .keys
                    .get(at)
                    .is_some_and(|known| known.is_at(tree, key))
            {
                self.keys.truncate(at);
                is_same = false;
            }
            if !is_same {
                let length = tree.key(key).range.end + 1 - key as usize;
                let length = length as u32;
                self.keys.push(Key { at: key, length });
            }
            bytes += self.keys.get(at).map_or(0, |key| key.length as usize);
            if bytes > MOST_KEY_BYTES {
                *self = Last::default();
                return None;
            }
            self.members.push((key, value));
            next = tree.next_sibling(value);
        }
        if is_same && self.members.len() < self.keys.len() {
            self.keys.truncate(self.members.len());
            is_same = false;
        }
        Some(is_same)
    }
}

impl Key {
    /// Returns whether the key at an offset is written like this one.
    #[inline]
    fn is_at(&self, tree: Tree, at: u32) -> bool {
        let written = |at: u32| {
            let at = at as usize;
            tree.text().get(at..at + self.length as usize)
        };
        written(self.at) == written(at)
    }
}
