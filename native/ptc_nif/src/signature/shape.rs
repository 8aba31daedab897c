//! Where the fields of a type stand in the maps at hand.
//!
//! Which key of a map is meant by a field depends on the map's keys alone, and rows of one table
//! have their keys in the same order, mostly in the very same memory. So a type remembers the keys
//! it met last and where its fields stood among them: of the next row only the values are read.

use super::atom_text;
use super::kind::{kind, Kind};
use crate::map_view::{look, value_of, View};
use crate::raw::{Raw, Terms};
use ptc_core::signature::names::{candidates, rank, Matching};
use ptc_core::signature::{Fields, TypeId, Types};
use rustler::sys::ErlNifTerm;

/// The place of a key that is not there.
pub const ABSENT: u8 = u8::MAX;

/// A map that a type looks into.
#[derive(Clone, Copy)]
pub enum Opened<'a> {
    /// Small: the values; its keys are those that the type met last.
    Flat(&'a [ErlNifTerm]),
    /// Asked key by key.
    Large(Raw<'a>),
}

/// The keys that a type met last.
#[derive(Clone, Copy)]
struct Last<'a> {
    keys: &'a [ErlNifTerm],
    /// There were some.
    met: bool,
    /// Where `__struct__` stands.
    struct_at: u8,
    /// The places of the fields, as bits.
    covered: u32,
}

/// A field that was found.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    /// Its place in a small map.
    pub slot: u8,
    /// Its key; of a small map only the place counts.
    pub key: Raw<'a>,
    pub value: Raw<'a>,
}

/// What all types of a call know about the maps they met.
pub struct Shapes<'a> {
    terms: Terms<'a>,
    struct_key: Raw<'a>,
    matching: Matching,
    /// By type.
    last: Vec<Last<'a>>,
    /// By field: its place, and how well the key there fits.
    slots: Vec<u8>,
    ranks: Vec<u8>,
    /// By field: its possible keys, best first, once a large map was seen.
    large_keys: Vec<Option<Box<[Raw<'a>]>>>,
}

impl<'a> Shapes<'a> {
    pub fn new(
        terms: Terms<'a>,
        struct_key: Raw<'a>,
        types: &Types<'a>,
        matching: Matching,
    ) -> Self {
        let nothing = Last {
            keys: &[],
            met: false,
            struct_at: ABSENT,
            covered: 0,
        };
        Shapes {
            terms,
            struct_key,
            matching,
            last: vec![nothing; types.all().len()],
            slots: vec![ABSENT; types.field_count()],
            ranks: vec![ABSENT; types.field_count()],
            large_keys: Vec::new(),
        }
    }

    /// Looks at a map for the type with these fields; nothing for what is no map. Until the type is
    /// done with the map, it must not look at another one.
    #[inline]
    pub fn open(
        &mut self,
        types: &Types<'a>,
        id: TypeId,
        fields: Fields,
        map: Raw<'a>,
    ) -> Option<Opened<'a>> {
        match look(self.terms, map) {
            View::NotAMap => None,
            View::Large => Some(Opened::Large(map)),
            View::Flat(flat) => {
                let last = &self.last[id.index()];
                if !last.met || last.keys.as_ptr() != flat.keys.as_ptr() {
                    self.meet(types, id, fields, flat.keys);
                }
                Some(Opened::Flat(flat.values))
            }
        }
    }

    /// The module of a struct.
    #[inline]
    pub fn module(&self, id: TypeId, map: Opened<'a>) -> Option<Raw<'a>> {
        let module = match map {
            Opened::Flat(values) => {
                let at = self.last[id.index()].struct_at;
                value_of(self.terms, *values.get(at as usize)?)
            }
            Opened::Large(map) => self.terms.map_get(map, self.struct_key)?,
        };
        (kind(self.terms, module) == Kind::Atom).then_some(module)
    }

    /// The keys of the small map that the type has opened.
    pub fn keys(&self, id: TypeId) -> &'a [ErlNifTerm] {
        self.last[id.index()].keys
    }

    /// The places of the fields in a small map, as bits.
    pub fn covered(&self, id: TypeId) -> u32 {
        self.last[id.index()].covered
    }

    /// The field with that index in the map that its type has opened.
    #[inline]
    pub fn find(&mut self, types: &Types<'a>, map: Opened<'a>, field: usize) -> Option<Found<'a>> {
        match map {
            Opened::Flat(values) => {
                let slot = self.slots[field];
                let value = value_of(self.terms, *values.get(slot as usize)?);
                Some(Found {
                    slot,
                    key: value,
                    value,
                })
            }
            Opened::Large(map) => self.find_large(types, map, field),
        }
    }

    #[cold]
    fn find_large(&mut self, types: &Types<'a>, map: Raw<'a>, field: usize) -> Option<Found<'a>> {
        if self.large_keys.is_empty() {
            self.large_keys.resize_with(types.field_count(), || None);
        }
        let (terms, matching) = (self.terms, self.matching);
        let keys = self.large_keys[field].get_or_insert_with(|| {
            let both = |name: Vec<u8>| {
                [
                    atom_text::existing(terms, &name),
                    Some(terms.make_binary(&name)),
                ]
            };
            let names = candidates(types.field(field).name, matching);
            names.into_iter().flat_map(both).flatten().collect()
        });
        keys.iter().find_map(|key| {
            let value = terms.map_get(map, *key)?;
            Some(Found {
                slot: ABSENT,
                key: *key,
                value,
            })
        })
    }

    /// Finds the fields among keys at another place than the last ones.
    fn meet(&mut self, types: &Types<'a>, id: TypeId, fields: Fields, keys: &'a [ErlNifTerm]) {
        let last = &mut self.last[id.index()];
        let same_words = last.met && last.keys == keys;
        if same_words || (last.met && same_keys(self.terms, last.keys, keys)) {
            last.keys = keys;
            return;
        }
        let struct_key = self.struct_key.word();
        let struct_at = keys.iter().position(|key| *key == struct_key);
        *last = Last {
            keys,
            met: true,
            struct_at: struct_at.map_or(ABSENT, |at| at as u8),
            covered: 0,
        };
        if fields.count > 0 {
            self.place(types, id, fields, keys);
        }
    }

    fn place(&mut self, types: &Types<'a>, id: TypeId, fields: Fields, keys: &'a [ErlNifTerm]) {
        self.slots[fields.range()].fill(ABSENT);
        self.ranks[fields.range()].fill(ABSENT);
        for (at, key) in keys.iter().enumerate() {
            let key = value_of(self.terms, *key);
            if let Some(name) = self.terms.bytes(key) {
                self.take(types, fields, at as u8, name, false);
            } else if kind(self.terms, key) == Kind::Atom {
                let terms = self.terms;
                atom_text::with_name(terms, key, |name| {
                    self.take(types, fields, at as u8, name, true)
                });
            }
        }
        let bit = |slot: &u8| 1u32.checked_shl((*slot).into()).unwrap_or(0);
        let slots = &self.slots[fields.range()];
        self.last[id.index()].covered = slots.iter().map(bit).fold(0, |all, bit| all | bit);
    }

    /// Gives a key to the fields that it fits best so far.
    fn take(&mut self, types: &Types<'a>, fields: Fields, at: u8, name: &[u8], is_atom: bool) {
        let start = fields.start as usize;
        for (index, field) in types.fields(fields).iter().enumerate() {
            if let Some(rank) = rank(field.name, name, is_atom, self.matching) {
                if rank < self.ranks[start + index] {
                    self.ranks[start + index] = rank;
                    self.slots[start + index] = at;
                }
            }
        }
    }
}

/// Whether two maps have equal keys at equal places.
fn same_keys<'a>(terms: Terms<'a>, some: &'a [ErlNifTerm], others: &'a [ErlNifTerm]) -> bool {
    let same = |(a, b): (&ErlNifTerm, &ErlNifTerm)| {
        a == b || terms.identical(value_of(terms, *a), value_of(terms, *b))
    };
    some.len() == others.len() && some.iter().zip(others).all(same)
}
