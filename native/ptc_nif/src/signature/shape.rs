//! Finds the fields of a type in maps.
//!
//! Only the keys of a map decide which key a field refers to, and rows of one table have their keys
//! in the same order, mostly at the same address. So each type caches the keys of its last map and the
//! positions of its fields among them: from the next row, only the values are read.

use super::atom_text;
use super::map_out::{large, Key};
use crate::heap::Beam;
use crate::map_view::{view, MapView};
use crate::names::{keyword_text, make_keyword};
use crate::raw::{Raw, TermKind, Terms};
use ptc_term::heap::Heap;
use ptc_term::names::{candidates, is_hyphened, rank, KeyKind, Matching};
use ptc_type::values::{Found, Rows, ABSENT};
use ptc_type::{Fields, TypeId, Types};
use rustler::types::atom::__struct__;
use rustler::Encoder;
use std::collections::HashSet;

/// A map whose fields are read.
#[derive(Clone, Copy)]
pub enum Opened<'a> {
    /// Small: the values; its keys are the last keys of the type.
    Flat(&'a [Raw<'a>]),
    /// Large: read key by key.
    Large(Raw<'a>),
}

/// The keys of the last map of a type.
#[derive(Clone, Copy, Default)]
struct Last<'a> {
    keys: &'a [Raw<'a>],
    /// Whether there was a map.
    met: bool,
    /// Index of `__struct__`.
    struct_at: u8,
    /// The indices of the fields, as bits.
    covered: u32,
    /// Whether they are all indices.
    whole: bool,
    /// The fuel to compare other keys with these.
    fuel: u32,
}

/// The caches of all types in one call.
pub struct Shapes<'a> {
    terms: Terms<'a>,
    struct_key: Raw<'a>,
    matching: Matching,
    /// By type.
    last: Vec<Last<'a>>,
    /// By field: the index of its key, and the rank of that key.
    slots: Vec<u8>,
    ranks: Vec<u8>,
    /// By field: its possible keys, best first; filled for the first large map.
    large_keys: Vec<Option<Box<[Raw<'a>]>>>,
    /// See [`Rows::take_fuel`].
    fuel: usize,
}

/// Fuel to look up a key, and bytes of it that are read for one unit of fuel.
const FUEL_A_KEY: usize = 4;
const BYTES_A_UNIT: usize = 8;

impl<'a> Rows<Beam<'a>> for Shapes<'a> {
    type Open = Opened<'a>;

    fn new(heap: &Beam<'a>, types: &Types, matching: Matching) -> Self {
        // To fill no bytes, at the address of an empty vector, would take 50 ns.
        let fields = types.field_count().max(1);
        Shapes {
            terms: heap.terms,
            struct_key: __struct__().encode(heap.terms.env).into(),
            matching,
            last: vec![Last::default(); types.all().len()],
            slots: vec![ABSENT; fields],
            ranks: vec![ABSENT; fields],
            large_keys: Vec::new(),
            fuel: 0,
        }
    }

    #[inline]
    fn open(
        &mut self,
        _heap: &Beam<'a>,
        types: &Types,
        id: TypeId,
        fields: Fields,
        map: Raw<'a>,
    ) -> Option<Opened<'a>> {
        match view(self.terms, map) {
            MapView::NotAMap => None,
            MapView::Large => Some(Opened::Large(map)),
            MapView::Flat(flat) => {
                let last = &self.last[id.index()];
                if !last.met || last.keys.as_ptr() != flat.keys.as_ptr() {
                    self.keep_keys(types, id, fields, flat.keys);
                }
                Some(Opened::Flat(flat.values))
            }
        }
    }

    #[inline(always)]
    fn take_fuel(&mut self) -> usize {
        std::mem::take(&mut self.fuel)
    }

    #[inline(always)]
    fn is_struct(&self, _heap: &Beam<'a>, id: TypeId, open: Opened<'a>) -> bool {
        let at = self.last[id.index()].struct_at;
        (at != ABSENT || !Self::is_flat(open)) && self.has_module(at, open)
    }

    #[inline]
    fn find(
        &mut self,
        _heap: &Beam<'a>,
        types: &Types,
        open: Opened<'a>,
        field: usize,
    ) -> Option<Found<Raw<'a>>> {
        match open {
            Opened::Flat(values) => {
                let slot = self.slots[field];
                let value = *values.get(slot as usize)?;
                Some(Found {
                    slot,
                    key: value,
                    value,
                })
            }
            Opened::Large(map) => self.find_large(types, map, field),
        }
    }

    #[inline(always)]
    fn is_flat(open: Opened<'a>) -> bool {
        matches!(open, Opened::Flat(_))
    }

    #[inline]
    fn each_value(&self, _heap: &Beam<'a>, open: Opened<'a>, visit: impl FnMut(Raw<'a>)) {
        if let Opened::Flat(values) = open {
            values.iter().copied().for_each(visit);
        }
    }

    fn undeclared(
        &mut self,
        heap: &Beam<'a>,
        types: &Types,
        id: TypeId,
        fields: Fields,
        open: Opened<'a>,
    ) -> Vec<Raw<'a>> {
        match open {
            Opened::Flat(_) => {
                let Last { keys, covered, .. } = self.last[id.index()];
                let free = |at: &usize| covered >> at & 1 == 0;
                let places = (0..keys.len()).filter(free);
                places.map(|at| keys[at]).collect()
            }
            Opened::Large(map) => {
                let mut declared = HashSet::new();
                for field in fields.range() {
                    if let Some(found) = self.find(heap, types, open, field) {
                        declared.insert(Key::of(self.terms, found.key));
                    }
                }
                let mut undeclared = Vec::new();
                self.terms.each_entry(map, |key, _| {
                    if !declared.contains(&Key::of(self.terms, key)) {
                        undeclared.push(key);
                    }
                });
                undeclared
            }
        }
    }

    #[inline(always)]
    fn remake(
        &mut self,
        heap: &mut Beam<'a>,
        _types: &Types,
        id: TypeId,
        _fields: Fields,
        (map, open): (Raw<'a>, Opened<'a>),
        changed: Option<&[Raw<'a>]>,
    ) -> Raw<'a> {
        let last = &self.last[id.index()];
        match (open, changed) {
            (Opened::Flat(_), None) if last.whole => map,
            (Opened::Flat(values), changed) => remake_flat(heap, last, (map, values), changed),
            (Opened::Large(_), changed) => large(self.terms, map, changed.unwrap_or_default()),
        }
    }
}

/// Makes a small map with these values, without the keys that are no fields.
#[inline(never)]
fn remake_flat<'a>(
    heap: &mut Beam<'a>,
    last: &Last<'a>,
    (map, values): (Raw<'a>, &'a [Raw<'a>]),
    changed: Option<&[Raw<'a>]>,
) -> Raw<'a> {
    let (keys, covered) = (last.keys, last.covered);
    if let (true, Some(changed)) = (last.whole, changed) {
        return heap.remake_map(map, keys, values, changed);
    }
    let of_fields = |terms: &[Raw<'a>]| -> Vec<Raw<'a>> {
        let places = (0..keys.len()).filter(|at| covered >> at & 1 == 1);
        places.map(|at| terms[at]).collect()
    };
    let values = of_fields(changed.unwrap_or(values));
    heap.remake_map(map, &of_fields(keys), &[], &values)
}

impl<'a> Shapes<'a> {
    #[cold]
    fn has_module(&self, at: u8, open: Opened<'a>) -> bool {
        let module = match open {
            Opened::Flat(values) => values.get(at as usize).copied(),
            Opened::Large(map) => self.terms.map_get(map, self.struct_key),
        };
        module.is_some_and(|module| is_atom(self.terms, module))
    }

    #[cold]
    fn find_large(&mut self, types: &Types, map: Raw<'a>, field: usize) -> Option<Found<Raw<'a>>> {
        if self.large_keys.is_empty() {
            self.large_keys.resize_with(types.field_count(), || None);
        }
        let (terms, matching) = (self.terms, self.matching);
        let keys = self.large_keys[field].get_or_insert_with(|| {
            let declared = types.field(field).name;
            let spelled = matching == Matching::Spelled;
            let kinds = |name: Vec<u8>| {
                KeyKind::ALL.map(|kind| match kind {
                    _ if spelled && is_hyphened(declared, &name, kind) => None,
                    KeyKind::Atom => atom_text::existing(terms, &name),
                    KeyKind::String => Some(terms.make_binary(&name)),
                    KeyKind::Keyword => make_keyword(terms, &name),
                })
            };
            let names = candidates(declared, matching);
            names.into_iter().flat_map(kinds).flatten().collect()
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

    /// Finds the fields among keys at a new address.
    fn keep_keys(&mut self, types: &Types, id: TypeId, fields: Fields, keys: &'a [Raw<'a>]) {
        let last = &mut self.last[id.index()];
        self.fuel += last.fuel as usize;
        if last.met && same_keys(self.terms, last.keys, keys) {
            last.keys = keys;
            return;
        }
        let is_struct_key = |key: &Raw| key.word() == self.struct_key.word();
        let struct_at = keys.iter().position(is_struct_key);
        *last = Last {
            keys,
            met: true,
            struct_at: struct_at.map_or(ABSENT, |at| at as u8),
            covered: 0,
            whole: false,
            fuel: 0,
        };
        self.place(types, id, fields, keys);
    }

    fn place(&mut self, types: &Types, id: TypeId, fields: Fields, keys: &'a [Raw<'a>]) {
        self.slots[fields.range()].fill(ABSENT);
        self.ranks[fields.range()].fill(ABSENT);
        let mut bytes = 0;
        for (at, key) in keys.iter().enumerate() {
            let (key, terms, at) = (*key, self.terms, at as u8);
            if let Some(name) = terms.bytes(key) {
                bytes += name.len();
                self.take(types, fields, at, name, KeyKind::String);
            } else if is_atom(terms, key) {
                atom_text::with_name(terms, key, |name| {
                    self.take(types, fields, at, name, KeyKind::Atom)
                });
            } else if let Some(name) = keyword_text(terms, key) {
                self.take(types, fields, at, name, KeyKind::Keyword);
            }
        }
        let fuel = FUEL_A_KEY * keys.len() + bytes / BYTES_A_UNIT;
        self.fuel += fuel + fields.count as usize / BYTES_A_UNIT;
        let bit = |slot: &u8| 1u32.checked_shl((*slot).into()).unwrap_or(0);
        let slots = &self.slots[fields.range()];
        let last = &mut self.last[id.index()];
        last.fuel = (fuel / BYTES_A_UNIT) as u32;
        last.covered = slots.iter().map(bit).fold(0, |all, bit| all | bit);
        last.whole = last.covered.count_ones() as usize == keys.len();
    }

    /// Assigns a key to the fields for which it ranks best so far.
    fn take(&mut self, types: &Types, fields: Fields, at: u8, name: &[u8], kind: KeyKind) {
        let (ranks, slots, matching) = (&mut self.ranks, &mut self.slots, self.matching);
        types.each_candidate(fields, name, |index, field| {
            if let Some(rank) = rank(field.name, name, kind, matching) {
                if rank < ranks[index] {
                    ranks[index] = rank;
                    slots[index] = at;
                }
            }
        });
    }
}

/// Whether two maps have equal keys in the same order.
fn same_keys<'a>(terms: Terms<'a>, some: &'a [Raw<'a>], others: &'a [Raw<'a>]) -> bool {
    let same = |(a, b): (&Raw<'a>, &Raw<'a>)| terms.identical(*a, *b);
    some.len() == others.len() && some.iter().zip(others).all(same)
}

fn is_atom<'a>(terms: Terms<'a>, term: Raw<'a>) -> bool {
    terms.kind(term) == TermKind::Atom
}
