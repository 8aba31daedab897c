//! The search for values, names and structs in terms: whether they are compared by their meaning, and which
//! texts and numbers are read as values.

use crate::context::Context;
use crate::cost::HASH;
use ptc_term::heap::{Heap, Kind};
use ptc_term::parts::Parts;
use ptc_term::stop::Stop;
use ptc_term::value::{hash_of_text, Coefficient, Decimal, Form, KindSet, Value};
use std::collections::BTreeMap;

/// The position of terms that are in no field.
const TOP: u64 = 0;
/// The seed of hashes of field names. A collision puts two fields into one position.
pub(super) const NAMES: u64 = 1;

/// What a search found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Kinds {
    /// The kinds of values at each position.
    at: BTreeMap<u64, KindSet>,
    terms: Mix,
    keys: Mix,
    /// Whether there are structs that are maps of their fields, or nil.
    structs: bool,
}

/// The kinds of terms to which names have another order than their strings have.
#[derive(Debug, Clone, PartialEq, Default)]
struct Mix {
    names: bool,
    /// All kinds but numbers, which come before atoms and before strings.
    others: bool,
}

impl Mix {
    fn is_mixed(&self) -> bool {
        self.names && self.others
    }

    fn add<H: Heap>(&mut self, heap: &H, term: H::Term) {
        match heap.kind(term) {
            Kind::Number => {}
            Kind::Other if heap.is_name(term) => self.names = true,
            _ => self.others = true,
        }
    }
}

impl Kinds {
    /// Returns whether the heap orders and hashes the terms as their meaning demands.
    pub fn is_empty(&self) -> bool {
        self.at.is_empty() && !self.terms.is_mixed() && !self.keys.is_mixed() && !self.structs
    }

    /// Returns the kinds of the terms themselves.
    pub fn at_top(&self) -> KindSet {
        self.at.get(&TOP).copied().unwrap_or_default()
    }

    /// Returns the kinds at the position below this field.
    pub(super) fn below<H: Heap>(&self, heap: &H, field: Option<H::Term>) -> KindSet {
        if self.at.is_empty() {
            return KindSet::default();
        }
        self.at
            .get(&position(heap, field))
            .copied()
            .unwrap_or_default()
    }

    fn add(&mut self, position: u64, kinds: KindSet) {
        let here = self.at.entry(position).or_default();
        *here = here.with(kinds);
    }
}

fn position<H: Heap>(heap: &H, field: Option<H::Term>) -> u64 {
    field.map_or(TOP, |field| hash_of_text(heap, field, NAMES) | 1)
}

/// Returns nil instead of an association that is not loaded.
#[inline(never)]
pub(super) fn loaded<H: Heap>(heap: &H, term: H::Term) -> H::Term {
    match heap.kind(term) {
        Kind::Map if heap.form(term) == Form::Unloaded => heap.nil(),
        _ => term,
    }
}

/// Returns the entries of a map; those of a struct are its fields.
pub(super) fn fields<H: Heap>(heap: &H, map: H::Term) -> Vec<(H::Term, H::Term)> {
    let mut entries = heap.entries(map);
    if heap.form(map) == Form::Struct {
        entries.retain(|(key, _)| !heap.is_hidden(*key));
    }
    entries
}

impl<H: Heap> Context<'_, H> {
    /// Adds the kinds of the values in a term. Counts the walk, and the cost of the values.
    pub fn search(&mut self, kinds: &mut Kinds, term: H::Term) -> Result<(), Stop> {
        match self.heap.kind(term) {
            Kind::Number => Ok(()),
            Kind::Nil | Kind::Bool | Kind::String => {
                kinds.terms.others = true;
                Ok(())
            }
            _ => self.search_parts(kinds, term),
        }
    }

    fn search_parts(&mut self, kinds: &mut Kinds, term: H::Term) -> Result<(), Stop> {
        let mut todo = vec![(term, None)];
        while let Some((term, field)) = todo.pop() {
            self.consume_fuel(1)?;
            kinds.terms.add(self.heap, term);
            match self.heap.kind(term) {
                Kind::Nil | Kind::Bool | Kind::Number | Kind::String => {}
                Kind::Map if self.heap.form(term) == Form::Value => {
                    let value = self.heap.value(term);
                    if let Value::Decimal {
                        coefficient: Coefficient::Integer(digits),
                        ..
                    } = value
                    {
                        let limbs = self.heap.limbs(digits);
                        self.consume_fuel_at_once(Decimal::cost_of(limbs))?;
                    }
                    let found = value.kinds();
                    if let Some(field) = field {
                        let cost = self.weigh(field)?;
                        self.consume_fuel_at_once(HASH * cost)?;
                    }
                    if !found.is_empty() {
                        kinds.add(position(self.heap, field), found);
                    }
                }
                Kind::Map => {
                    self.consume_fuel(2 * self.heap.map_size(term).unwrap_or(0))?;
                    kinds.structs |= self.heap.form(term) != Form::Plain;
                    for (key, value) in fields(self.heap, term) {
                        kinds.keys.add(self.heap, key);
                        todo.push((value, Some(key)));
                    }
                }
                kind @ (Kind::List | Kind::Other) => {
                    let Context { heap, meter, .. } = &mut *self;
                    let heap = &**heap;
                    let count = |parts| meter.consume_fuel(parts, heap);
                    Parts::of(heap, term, kind, count)?.each(|part| todo.push((part, field)));
                }
            }
        }
        Ok(())
    }

    /// Searches the terms that `key` gives for the items of a list for values, unless no struct is a
    /// value. The walk over the list is in `rest`; improper lists are for the operation to refuse.
    pub fn search_items(
        &mut self,
        rest: &mut H::Term,
        kinds: &mut Kinds,
        key: impl Fn(&mut Self, H::Term) -> Result<H::Term, Stop>,
    ) -> Result<(), Stop> {
        while let Some((item, tail)) = self.heap.uncons(*rest) {
            self.consume_fuel(1)?;
            let key = key(self, item)?;
            self.search(kinds, key)?;
            *rest = tail;
            self.meter.advanced();
        }
        Ok(())
    }
}
